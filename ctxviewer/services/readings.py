"""Readings of the open task: how one is made, how it stands to the one before, whether it is of a half-written file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ctxviewer.domain.log import JsonLog
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.snapshot import Snapshot, TaskRef

if TYPE_CHECKING:  # the engine loads with it; at run time jobs load it, off the GUI thread
    from ctxviewer.engine.timeline import Timeline


class Reader(Protocol):
    """How a task is read; `sources.registry.read` outside of tests."""

    def __call__(
        self, ref: TaskRef, /, *, previous: Snapshot | None, generation: int, window_override: int | None
    ) -> Snapshot:
        """One reading. Raises UnreadableTaskError when nothing can be shown."""
        ...


Remake = Callable[["Timeline"], Plan]
"""Makes a plan again on a newer timeline of the same task."""


@dataclass(frozen=True, slots=True)
class SnapshotChange:
    """A new reading of the open task."""

    snapshot: Snapshot
    timeline: Timeline
    previous: Snapshot | None
    """The reading before, None for the first one of a task."""
    same_task: bool
    """True when the reading before was of this task, so that selection and scroll position still mean something."""
    grown: bool
    """True when every message of the reading before is still there, unchanged, under its number."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a job brings back: a reading with its timeline."""

    snapshot: Snapshot
    timeline: Timeline
    grown: bool


def is_grown(old: JsonLog, new: JsonLog) -> bool:
    """True when `new` begins with all of `old`, byte for byte."""
    if len(new) < len(old):
        return False
    return all(
        old.byte_size(index) == new.byte_size(index) and old.raw(index) == new.raw(index)
        for index in range(new.shared_with(old), len(old))
    )


def differs(old: Snapshot, new: Snapshot) -> bool:
    """True when the new reading says something else than the old one, apart from its number."""
    return (
        old.files != new.files
        or old.model != new.model
        or old.looks_open != new.looks_open
        or old.findings != new.findings
        or old.task != new.task
    )


def looks_half_written(old: Snapshot, new: Snapshot) -> bool:
    """True when a part that could be read before cannot be read now although its file is there."""
    lost_messages = old.has_messages and not new.has_messages
    lost_timeline = old.has_timeline and not new.has_timeline
    if not (lost_messages or lost_timeline):
        return False
    return any(stamp.exists and stamp.role.value in _parts(lost_messages, lost_timeline) for stamp in new.files)


def _parts(messages: bool, timeline: bool) -> tuple[str, ...]:
    return (("messages",) if messages else ()) + (("timeline",) if timeline else ())
