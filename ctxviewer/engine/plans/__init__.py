"""What a user can do to a task, each as a Plan: a value to look at, and to commit if the user says so."""

from ctxviewer.engine.plans.context import plan_decide, plan_optimize, plan_truncate
from ctxviewer.engine.plans.repair import can_repair, plan_repair
from ctxviewer.engine.plans.rollback import plan_rollback, plan_rollback_to_message

__all__ = [
    "can_repair",
    "plan_decide",
    "plan_optimize",
    "plan_repair",
    "plan_rollback",
    "plan_rollback_to_message",
    "plan_truncate",
]
