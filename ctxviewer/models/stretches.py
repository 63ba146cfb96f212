"""Lines between messages: one above each stretch that is not sent, one above what came later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ctxviewer.domain.projection import Cut, Projection
from ctxviewer.models.changed import intervals
from ctxviewer.models.numbers import counted, short_tokens


class StretchKind(StrEnum):
    """What a stretch of messages has in common."""

    NOT_SENT = "not sent"
    LATER = "later"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages next to each other that are not part of the request, with the line above them."""

    kind: StretchKind
    first: int
    last: int
    """Inclusive."""
    since_request: int | None
    """First request that went without it, from 0; None when unknown or not a truncation."""
    title: str
    """'2–25 not sent since request 31'."""
    details: str
    """'24 messages · 61k'."""

    @property
    def length(self) -> int:
        """How many messages."""
        return self.last - self.first + 1

    @property
    def sentence(self) -> str:
        """The whole line."""
        return f"{self.title} · {self.details}"


TokensOf = Callable[[int, int], int | None]
"""Estimated tokens of messages first to last, both inclusive, as stored; None when they are not counted."""


def stretches_of(projection: Projection, stored: int, tokens_of: TokensOf) -> tuple[Stretch, ...]:
    """All stretches of a projection over `stored` messages, in order of messages, none empty, none overlapping."""
    found: list[Stretch] = []
    hidden = projection.hidden
    start, end = hidden.start, min(hidden.stop, stored)
    for cut in (*projection.cuts, Cut(start, end - 1, None)):
        first, last = max(cut.first, start), min(cut.last, end - 1)
        if first <= last:
            if first > start:
                found.append(_not_sent(Cut(start, first - 1, None), projection, tokens_of))
            found.append(_not_sent(Cut(first, last, cut.since_request), projection, tokens_of))
            start = last + 1
    if projection.gone:
        others = (row for row in projection.gone if row not in hidden and 0 <= row < min(projection.until, stored))
        found += [_not_sent(Cut(first, end - 1, None), projection, tokens_of) for first, end in intervals(others)]
        found.sort(key=_first)
    if projection.until < stored:
        found.append(_later(max(0, projection.until), stored - 1, projection, tokens_of))
    return tuple(found)


def _first(stretch: Stretch) -> int:
    return stretch.first


def _not_sent(cut: Cut, projection: Projection, tokens_of: TokensOf) -> Stretch:
    title = f"{span(cut.first, cut.last)} not sent"
    if cut.since_request is not None:
        title += f" since request {cut.since_request + 1}"
    elif projection.request is not None:
        title += f" in request {projection.request + 1}"
    return Stretch(
        StretchKind.NOT_SENT, cut.first, cut.last, cut.since_request, title, _details(cut.first, cut.last, tokens_of)
    )


def _later(first: int, last: int, projection: Projection, tokens_of: TokensOf) -> Stretch:
    request = projection.request if projection.request is not None else projection.what_if_at
    what = f"later than request {request + 1}" if request is not None else "removed by this plan"
    return Stretch(
        StretchKind.LATER, first, last, None, f"{span(first, last)} {what}", _details(first, last, tokens_of)
    )


def _details(first: int, last: int, tokens_of: TokensOf) -> str:
    words = counted(last - first + 1, "message")
    tokens = tokens_of(first, last)
    return words if tokens is None else f"{words} · {short_tokens(tokens)}"


def span(first: int, last: int) -> str:
    """2–25, or 7 for a single message."""
    return str(first) if first == last else f"{first}–{last}"
