"""What every plan needs: the state it starts from, the characters it saves, the reasons not to apply it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Messages
from ctxviewer.domain.log import Prefix
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.snapshot import FileRole
from ctxviewer.domain.updates import Update
from ctxviewer.engine.cline.optimize import Optimization, optimize_file_reads
from ctxviewer.engine.cline.savings import count_characters
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.state import State
from ctxviewer.engine.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Passes:
    """The two passes over the whole history that plans need. Callers who know more about a task bring quicker ones;
    results are the same."""

    optimize: Callable[[State], Optimization]
    """`optimize_file_reads` from a state."""
    characters: Callable[[State, Projection, ContextHistory], int]
    """`characters` of the state's messages."""


def project_with(timeline: Timeline, deleted: Range | None, history: ContextHistory, until: int) -> Projection:
    """The projection of a state that a plan leads to."""
    return timeline.project(deleted, history.in_force(), until)


def characters(messages: Messages, projection: Projection, history: ContextHistory) -> int:
    """UTF-16 units as the engine's savings count them (texts and inline images), 0 where damage stops the count.

    `messages` are the stored ones, at least as many as the projection knows.
    """
    if projection.until < 2:
        return 0
    try:
        total = count_characters(Prefix(messages, projection.until), projection.resume, history).total
    except BrokenInputError:
        return 0
    return int(total) if isinstance(total, (int, float)) and not isinstance(total, bool) and total == total else 0  # noqa: PLR0124 - NaN


def _optimize(state: State) -> Optimization:
    return optimize_file_reads(state.messages, state.deleted_range, state.history, state.timestamp)


def _characters(state: State, projection: Projection, history: ContextHistory) -> int:
    return characters(state.messages, projection, history)


PLAIN = Passes(_optimize, _characters)


def refusal(timeline: Timeline) -> str:
    """Why no plan on this task can be applied, or ''."""
    snapshot = timeline.snapshot
    if not snapshot.has_messages:
        return "The API history is missing or unreadable, so nothing can be changed safely."
    if snapshot.updates_text is not None and ContextHistory.problem(snapshot.updates_text):
        return (
            "context_history.json is damaged: writing would lose what it holds. "
            "Set the file right or move it away first."
        )
    if snapshot.index_item is None and any(finding.code == "index-damaged" for finding in snapshot.findings):
        return (
            "The task index cannot be read. The deleted range is kept only there, so a change could not take effect. "
            "Set the index right first, or look at the plan as a what-if."
        )
    if snapshot.index_item is None:
        return (
            "The task index does not list this task. The deleted range is kept only there, so a change could not "
            "take effect. Open the task once in its editor, or look at the plan as a what-if."
        )
    return ""


def has_file(timeline: Timeline, role: FileRole) -> bool:
    """Whether a file of the task existed when it was read."""
    return any(stamp.role is role and stamp.exists for stamp in timeline.snapshot.files)


def new_updates(before: ContextHistory, after: ContextHistory) -> tuple[Update, ...]:
    """Updates of `after` that `before` does not have, in stored order."""
    known = {(update.message, update.block, update.ordinal) for update in before.updates()}
    return tuple(update for update in after.updates() if (update.message, update.block, update.ordinal) not in known)
