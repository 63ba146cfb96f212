"""Questions about the past and their answers, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from ctxviewer.engine.events import Event
from ctxviewer.engine.search import TextQuestion
from ctxviewer.engine.spans import Span, clipped, covers, length


@dataclass(frozen=True, slots=True)
class FileQuestion:
    """A file: in which requests its content was sent."""

    path: str
    """As the conversation names it, or the end of exactly one such name."""


@dataclass(frozen=True, slots=True)
class MessageQuestion:
    """A stored message, or one block of it."""

    message: int
    block: int | None = None


Question: TypeAlias = TextQuestion | FileQuestion | MessageQuestion


class Sending(StrEnum):
    """How much of a fact a request sends."""

    ABSENT = "not sent"
    PARTLY = "partly sent"
    WHOLE = "sent"


class TurnKind(StrEnum):
    """What happened to a fact at a request."""

    CAME = "came"
    LEFT = "left"
    CUT = "cut down"
    """Only a part is still sent."""
    RETURNED = "came back"


@dataclass(frozen=True, slots=True)
class Carrier:
    """One block (or message) through which a fact was sent."""

    message: int
    block: int | None
    """As stored; None for the whole message, and for a made-up result."""
    how: str
    """'text', 'read', 'mention', …; the rule's label where the text is that of an update."""
    spans: tuple[Span, ...]
    """Columns in which it carried the whole fact."""
    excerpt: str = ""
    """Words around the first hit in one line; the size of a file's content."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a rewritten block still sends of a fact."""

    message: int
    block: int | None
    text: str
    """The longest part that is left."""
    share: float
    """Of the characters of the fact."""
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A change of the strip."""

    kind: TurnKind
    request: int | None
    """The first request for which it holds; None = now."""
    message: int
    """Where to look: what carried the fact last, or carries it again."""
    block: int | None
    event: Event | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Fact:
    """The answer to one question."""

    question: Question
    title: str
    requests: int
    """How many requests the task has. Column number `requests` of the spans is the present state."""
    spans: tuple[Span, ...]
    """Columns that send the fact whole."""
    partly: tuple[Span, ...]
    """Columns that send a part of it only."""
    carriers: tuple[Carrier, ...]
    """By message."""
    parts: tuple[Part, ...]
    turns: tuple[Turn, ...]
    """In order."""
    never_sent: tuple[int, ...] = ()
    """Messages that hold the fact and were never sent with it."""

    @property
    def first(self) -> int | None:
        """The first request that sent it; None if none did."""
        return self.spans[0][0] if self.spans and self.spans[0][0] < self.requests else None

    @property
    def last(self) -> int | None:
        """The last request that sent it; None if none did."""
        past = clipped(self.spans, 0, self.requests - 1)
        return past[-1][1] if past else None

    @property
    def sent_now(self) -> bool:
        """Whether the next request would start with it."""
        return covers(self.spans, self.requests)

    @property
    def sent_in(self) -> int:
        """How many requests sent it whole."""
        return length(clipped(self.spans, 0, self.requests - 1))

    def sending(self, request: int | None) -> Sending:
        """How much of it a request sends; None = the present state."""
        column = self.requests if request is None else request
        if covers(self.spans, column):
            return Sending.WHOLE
        return Sending.PARTLY if covers(self.partly, column) else Sending.ABSENT


@dataclass(slots=True)
class Found:
    """What carries a fact, while it is being collected."""

    carriers: list[Carrier]
    parts: list[Part]
    never_sent: list[int]
