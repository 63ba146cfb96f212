"""What a request (or a plan) sends, as facts about stored messages. Cheap to make for every request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ctxviewer.domain.message import Block
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.updates import Update


class Standing(StrEnum):
    """How a stored message stands to a request."""

    SENT = "sent"
    NOT_SENT = "not sent"
    LATER = "later"


class RepairKind(StrEnum):
    """What pairing of calls and results did to a message as sent."""

    STRIPPED = "results removed after the cut"
    ADDED = "missing result added"
    MOVED = "results moved to the front"
    DROPPED = "unknown result dropped"
    WORDS_LOST = "text replaced by made-up results"


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair. It exists only as sent."""

    kind: RepairKind
    message: int
    tool_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """One truncation: a stretch that is not sent, and since when."""

    first: int
    last: int
    """Inclusive."""
    since_request: int | None
    """Number of the first request that went without it; None when it is not known or lies in a plan."""


@dataclass(frozen=True, slots=True)
class Projection:
    """What one request sends of the stored messages.

    Sent are messages 0 and 1 and all from `resume` up to, not including, `until`; the rest up to `until` is hidden.
    """

    stored: int
    """How many messages the history holds now."""
    until: int
    """Messages at or after this number did not exist yet: they are LATER."""
    deleted_range: Range | None
    """The deleted range as recorded; may be empty or odd."""
    resume: int
    """First stored message that is sent after the first pair; 2 when nothing is cut. Never below 0."""
    updates: Mapping[tuple[int, int], Update] = field(default_factory=dict)
    """The update in force by (message, block); it may be without effect on damaged blocks."""
    repairs: tuple[Repair, ...] = ()
    cuts: tuple[Cut, ...] = ()
    """The hidden stretch split by the truncation that took it, in order; together they cover 2 … resume - 1."""
    request: int | None = None
    """The request's number; None for a plan and for 'now'."""
    exact: bool = True
    doubts: tuple[str, ...] = ()
    """Why the picture is approximate; empty when exact."""
    first_pair: int = 2
    """Messages always sent: 2; 1 for tasks of versions 3.1 to 3.9.2, whose ranges start at 1."""
    repeated: tuple[int, ...] = ()
    """Messages sent a second time, behind the first pair: the reference does so for ranges that end below 1."""
    repairs_known: bool = True
    """False while `repairs` has not been looked for yet (it needs a pass over the history)."""

    def standing(self, message: int) -> Standing:
        """How stored message `message` stands to this request."""
        if message >= self.until:
            return Standing.LATER
        if message < self.first_pair or message >= self.resume:
            return Standing.SENT
        return Standing.NOT_SENT

    @property
    def hidden(self) -> range:
        """Numbers of the messages that are not sent, contiguous."""
        return range(self.first_pair, max(self.first_pair, min(self.resume, self.until)))

    @property
    def sent_count(self) -> int:
        """How many stored messages are sent."""
        return self.until - len(self.hidden)


class BlockChange(StrEnum):
    """How a block as sent stands to the stored one."""

    SAME = "same"
    REWRITTEN = "rewritten"
    ADDED = "added"
    MOVED = "moved"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class SentBlock:
    """One block of a message as sent, or a stored block that is left out of it."""

    change: BlockChange
    sent: Block | None
    """As sent; its index is the position as sent. None when REMOVED."""
    stored: Block | None
    """As stored; None when ADDED."""
    update: Update | None = None
    """The update that REWRITTEN it."""
    label: str = ""
    """Names the rule in a few words: 'duplicate read of src/a.py', 'truncation notice', 'missing result added'."""
