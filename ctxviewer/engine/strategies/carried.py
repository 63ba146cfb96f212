"""Rules with a memory: what a replay asks before each request, and what it is told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ctxviewer.domain.projection import Inserted
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.updates import Update


class ActionKind(StrEnum):
    """What was done to the context."""

    OPTIMIZE = "optimise"
    TRUNCATE = "truncate"
    PRUNE = "prune"
    SUMMARIZE = "summarise"
    COMPACT = "compact"
    NOTHING = "nothing"
    """The limit was reached, and the rules could free nothing."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that was done before a request, and what was lost by it."""

    kind: ActionKind
    sentence: str
    """With its numbers."""
    lost: tuple[Range, ...] = ()
    """Stored messages that are sent no more from here on, as runs, both ends inclusive."""
    lost_blocks: tuple[tuple[int, int], ...] = ()
    """(message, block) of single stored blocks whose content is sent no more."""
    updates: tuple[Update, ...] = ()
    """Replacement texts that were put on blocks."""
    inserted: tuple[Inserted, ...] = ()
    """Messages that were made up."""
    deleted_range: Range | None = None
    """The deleted range afterwards; rules that know none leave it None."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One request of a replay, before it is sent."""

    number: int
    until: int
    """Messages 0 … until - 1 exist; never fewer than at the request before."""
    total: float | None
    """Tokens of the previous request under these rules; None when nothing was reported for it."""
    timestamp: int | None
    """Time of the previous request."""


@dataclass(frozen=True, slots=True)
class Sending:
    """What the rules send with one request."""

    tokens: int
    """Estimated, by the facts' counts: comparable between strategies."""
    compared: float | None
    """What the rules compared with their threshold; None when they had nothing to compare."""
    threshold: float
    actions: tuple[Action, ...] = ()


class Carried(Protocol):
    """The rules with a memory."""

    def send(self, turn: Turn) -> Sending:
        """Manage the context as the rules do before this request. Turns come in order, each once.

        An error that is raised leaves the memory as it was before the turn.
        """


def runs(numbers: list[int] | tuple[int, ...]) -> tuple[Range, ...]:
    """Ascending numbers as contiguous runs, both ends inclusive."""
    found: list[Range] = []
    for number in numbers:
        if found and found[-1].end == number - 1:
            found[-1] = Range(found[-1].start, number)
        else:
            found.append(Range(number, number))
    return tuple(found)
