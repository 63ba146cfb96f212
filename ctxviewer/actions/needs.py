"""Why an action cannot be carried out now: the sentence that its tooltip shows. Pure functions over a Situation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ctxviewer.actions.spec import Need


@dataclass(frozen=True, slots=True)
class Situation:
    """What the needs look at; made by `ActionSet` from the services."""

    has_task: bool = False
    reading: bool = False
    readable: bool = False
    unreadable_reason: str = ""
    requests: int = 0
    request: int | None = None
    event_requests: tuple[int, ...] = ()
    """Requests at which the context was changed, ascending."""
    message: int | None = None
    checkpoints: int = 0
    has_plan: bool = False
    plan_refusal: str = ""
    plan_writes: bool = False
    writing: bool = False
    undo_reason: str = ""
    """'' = there is something to undo."""
    redo_reason: str = ""
    steps_done: int = 0
    """Of the lab's plan."""
    steps_ahead: bool = True
    """True also while there is no plan: the first move makes one."""
    samples: bool = True


def reason(need: Need, now: Situation) -> str:
    """Why the need is not met; '' when it is."""
    if need is not Need.SAMPLES and need is not Need.IDLE and not now.has_task:
        return "Open a task first."
    if need is Need.CHECKABLE:
        return "" if now.requests and not now.reading else reason(Need.READABLE, now)
    position = now.requests if now.request is None else now.request
    answers = {
        Need.TASK: "",
        Need.READABLE: "The task is still being read."
        if now.reading
        else ""
        if now.readable
        else now.unreadable_reason or "The task's messages cannot be read.",
        Need.REQUESTS: "" if now.requests else "The task has no requests.",
        Need.EARLIER: "" if position > 0 else "This is the first request.",
        Need.LATER: "" if now.request is not None else "This is the newest state already.",
        Need.PINNED: "" if now.request is not None else "The newest state is shown already.",
        Need.EVENT_BEFORE: "" if any(number < position for number in now.event_requests) else _no_event("before"),
        Need.EVENT_AFTER: "" if any(number > position for number in now.event_requests) else _no_event("after"),
        Need.MESSAGE: "" if now.message is not None else "Choose a message first.",
        Need.CHECKPOINT: "" if now.checkpoints else "The task has no checkpoints.",
        Need.PLAN: "" if now.has_plan else "There is no what-if. Start an action to get one.",
        Need.WRITABLE_PLAN: ""
        if now.has_plan and now.plan_writes and not now.plan_refusal
        else now.plan_refusal or "The what-if changes nothing.",
        Need.IDLE: "" if not now.writing else "A change is being written. Wait for it to end.",
        Need.UNDO: now.undo_reason,
        Need.REDO: now.redo_reason,
        Need.STEP_BACK: "" if now.steps_done else "No step has been done.",
        Need.STEP_ON: "" if now.steps_ahead else "All steps are done.",
        Need.SAMPLES: "" if now.samples else "The samples are not installed.",
    }
    return answers[need]


def first_reason(needs: Iterable[Need], now: Situation) -> str:
    """The first need that is not met, as a sentence; '' when all are."""
    return next((why for need in needs if (why := reason(need, now))), "")


def _no_event(where: str) -> str:
    return f"The context was not changed {where} this request."
