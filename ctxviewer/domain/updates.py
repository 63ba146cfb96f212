"""A stored, time-stamped replacement text for one block: an entry of context_history.json."""

from __future__ import annotations

from dataclasses import dataclass

from ctxviewer.domain.json import Json


@dataclass(frozen=True, slots=True)
class Update:
    """One update. Its picture in the window is an overlay."""

    message: int
    """Stored message number; may lie beyond the history."""
    block: int
    """Block number in the stored content."""
    timestamp: int | float | None
    """Milliseconds; an optimisation carries the time of the request *before* the one it first applies to."""
    text: str
    """Complete replacement text of the block."""
    edit_type: int
    """Cline: 0 notice, 1 none, 2 read result, 3 edit result, 4 file mention."""
    metadata: Json
    ordinal: int
    """Position among that block's updates, from 0, oldest first."""


@dataclass(frozen=True, slots=True)
class Unapplied:
    """A stored update that the agent does not apply. While it is the newest of its block, older ones are not either."""

    message: int
    block: int
    timestamp: int | float | None
    """As `Update.timestamp`; None where there is no number."""
    edit_type: Json
    change: Json
    """The whole update as stored."""
    ordinal: int


StoredUpdate = Update | Unapplied
