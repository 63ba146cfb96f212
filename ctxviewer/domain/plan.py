"""The complete effect of an action as a value: what changes, what it saves, why it may be refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ctxviewer.domain.json import Json
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Checkpoint, Usage
from ctxviewer.domain.updates import Update


class PlanKind(StrEnum):
    """What the user asked for."""

    TRUNCATE = "truncate"
    OPTIMIZE = "optimize"
    DECIDE = "decide"
    ROLLBACK = "rollback"
    REPAIR = "repair"
    """Set right what a finding names."""
    STRATEGY = "strategy"
    """Rules that are looked at only: another agent's, or those of conversations that are not stored."""


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of a plan, small enough for one sentence."""

    sentence: str
    """With its numbers: 'read of src/a.py in message 14 replaced: −8,213 characters'."""
    shown: Projection | Callable[[], Projection]
    """What `after` gives, or how it is made: plans of thousands of steps make their projections when asked."""
    numbers: Mapping[str, float | int | str | None] = field(default_factory=dict)
    touched: tuple[tuple[int, int | None], ...] = ()
    """(message, block or None for the whole message) that this step changed."""

    @property
    def after(self) -> Projection:
        """What is sent once this step is done. Ask once and keep it: it may be made anew each time."""
        return self.shown if isinstance(self.shown, Projection) else self.shown()


@dataclass(frozen=True, slots=True)
class Effects:
    """What must stand on disk after the plan, in terms of the task; a source turns it into bytes."""

    updates_text: str | None = None
    """New text of the updates file; None = not written."""
    keep_messages: int | None = None
    """Keep the first so many messages; None = the history is not written."""
    keep_ui: int | None = None
    """Keep the first so many timeline entries; None = the timeline is not written."""
    append_ui: tuple[Mapping[str, Json], ...] = ()
    """Entries added behind the kept ones. Their `ts` is 0 and is set to the time of the commit."""
    set_range: bool = False
    """True = the index gets `deleted_range` (None removes it)."""
    deleted_range: Range | None = None
    totals: Usage | None = None
    """New totals for the index; None = unchanged."""

    @property
    def writes_nothing(self) -> bool:
        """True for a plan without effect."""
        return self.updates_text is None and self.keep_messages is None and self.keep_ui is None and not self.set_range


@dataclass(frozen=True, slots=True)
class Plan:
    """The complete effect of an action on one snapshot. Looked at, it is a what-if; committed, it is an edit."""

    kind: PlanKind
    title: str
    """What the Edit menu shows: 'Truncate to half (messages 2–41)'."""
    task_id: str
    generation: int
    """Of the snapshot that it was made from; a plan of an older one is stale."""
    before: Projection
    after: Projection
    steps: tuple[Step, ...]
    effects: Effects
    added_updates: tuple[Update, ...] = ()
    removed_updates: tuple[Update, ...] = ()
    lost_messages: range = range(0)
    """Stored messages that a rollback removes for good (until undone)."""
    lost_requests: range = range(0)
    lost_checkpoints: tuple[Checkpoint, ...] = ()
    characters_before: int = 0
    """UTF-16 units of text as sent, before and after; what the engine's own savings use."""
    characters_after: int = 0
    warnings: tuple[str, ...] = ()
    """What the user should know before applying."""
    differs_from_reference: tuple[str, ...] = ()
    """Where the agent's own action would leave something else."""
    refusal: str = ""
    """Not empty: this plan cannot be applied, and why."""
    settings: Mapping[str, Json] = field(default_factory=dict)
