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
class Inserted:
    """A message that a strategy makes up: a boundary with a summary."""

    before: int
    """It is sent right before this stored message; `until` = behind the last."""
    role: str
    title: str
    text: str


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
    """Stretches that are not sent, in order: those of the deleted range, split by the truncation that took each part
    (together they cover 2 … resume - 1), and the runs of `gone`."""
    request: int | None = None
    """The request's number; None for a plan and for 'now'."""
    exact: bool = True
    doubts: tuple[str, ...] = ()
    """Why the picture is approximate; empty when exact."""
    first_pair: int = 2
    """Messages always sent: 2; 1 for tasks of versions 3.1 to 3.9.2, whose ranges start at 1."""
    repeated: tuple[int, ...] = ()
    """Messages sent a second time, behind the first pair: the reference does so for ranges that end below 1."""
    gone: frozenset[int] = frozenset()
    """Further stored messages that are not sent, anywhere in the history; only strategies that prune have any."""
    gone_blocks: frozenset[tuple[int, int]] = frozenset()
    """(message, block) of single stored blocks that are not sent although their message is."""
    inserted: tuple[Inserted, ...] = ()
    """Made-up messages that are sent in between, in order."""
    repairs_known: bool = True
    """False while `repairs` has not been looked for yet (it needs a pass over the history)."""
    what_if_at: int | None = None
    """For a what-if on an earlier request: that request's number. `request` is None then, since nothing was sent so."""

    def standing(self, message: int) -> Standing:
        """How stored message `message` stands to this request."""
        if message >= self.until:
            return Standing.LATER
        if message in self.gone or self.first_pair <= message < self.resume:
            return Standing.NOT_SENT
        return Standing.SENT

    @property
    def hidden(self) -> range:
        """Numbers of the messages that the deleted range hides, contiguous; `gone` has the others."""
        return range(self.first_pair, max(self.first_pair, min(self.resume, self.until)))

    @property
    def from_the_end(self) -> bool:
        """True for a range that ends below -1: the reference then counts what it sends from the end of the history.

        It takes no results out of the first message there, and its updates do not reach any message from there on.
        """
        return self.deleted_range is not None and self.deleted_range.end < -1

    @property
    def updates_sent(self) -> int:
        """How many of `updates` are on messages that are sent; those on others change nothing."""
        return sum(1 for message, _ in self.updates if message >= 0 and self.standing(message) is Standing.SENT)

    @property
    def sent_count(self) -> int:
        """How many stored messages are sent."""
        hidden = self.hidden
        others = sum(1 for message in self.gone if message not in hidden and message < self.until)
        return self.until - len(hidden) - others


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
