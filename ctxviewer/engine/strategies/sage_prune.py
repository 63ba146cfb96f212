"""Sage's strategy Prune: the oldest messages go until half of the window is met."""

from ctxviewer.domain.plan import Plan
from ctxviewer.engine.sage.config import OverflowStrategy
from ctxviewer.engine.strategies.base import Job, Strategy
from ctxviewer.engine.strategies.carried import ActionKind
from ctxviewer.engine.strategies.sage_carried import SageCarried
from ctxviewer.engine.strategies.sage_prepare import CONTEXT_SETTINGS, prepare_plan, prepare_start
from ctxviewer.engine.strategies.sage_rules import AGENT, SOURCE


def _make(job: Job) -> Plan:
    return prepare_plan(job, OverflowStrategy.PRUNE, "Prune")


def _start(job: Job) -> SageCarried:
    return prepare_start(job, OverflowStrategy.PRUNE, ActionKind.PRUNE)


PRUNE = Strategy(
    key="sage-prune",
    agent=AGENT,
    name="Prune",
    meaning="At the threshold: removes the oldest messages until half of the window is met or only recent ones remain.",
    source=SOURCE,
    make=_make,
    start=_start,
    settings=CONTEXT_SETTINGS,
)
