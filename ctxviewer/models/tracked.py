"""Pinned facts as lists: the facts themselves, and what happened to one of them through the requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from PySide6.QtCore import Qt

from ctxviewer.engine.facts import Carrier, Fact, FileQuestion, MessageQuestion, Part, Question, Turn, TurnKind
from ctxviewer.engine.movements import when
from ctxviewer.engine.spans import Span, covers
from ctxviewer.models.listing import Index, Listing, ListingRole, RowWords, joined
from ctxviewer.models.numbers import counted, grouped
from ctxviewer.models.visible import one_line

LETTERS: Final = "ABCDEFGHIJKLMNOP"
LONG: Final = 400
_TURNS: Final = {
    TurnKind.CAME: ("added", "added", "First sent"),
    TurnKind.LEFT: ("hidden", "event", "Not sent any more"),
    TurnKind.CUT: ("rewritten", "rewritten", "Only a part is left"),
    TurnKind.RETURNED: ("sent", "accent", "Sent again"),
}


class FactRole(IntEnum):
    """What the delegate of the facts asks for besides the ListingRoles."""

    PLACE = ListingRole.QUIET + 1
    """int: which colour and pattern."""
    STRIP = ListingRole.QUIET + 2
    """Strip, or None."""


class Mark(NamedTuple):
    """A pinned fact that stands in a message."""

    place: int
    """Which colour and pattern."""
    carried: bool
    """True if what is shown sends it through this message."""


@dataclass(frozen=True, slots=True)
class Strip:
    """In which requests a fact was sent, for painting."""

    place: int
    """Which colour and pattern."""
    title: str
    requests: int
    """How many the task has; column `requests` is the present state."""
    spans: tuple[Span, ...]
    partly: tuple[Span, ...]

    def sentence(self, column: int) -> str:
        """What the strip says of one column."""
        how = "sent" if covers(self.spans, column) else "partly sent" if covers(self.partly, column) else "not sent"
        where = f"in request {column + 1:,}" if column < self.requests else "now"
        return f"{letter(self.place)} {self.title}: {how} {where}"


def letter(place: int) -> str:
    """The letter of a pinned fact."""
    return LETTERS[place % len(LETTERS)]


@dataclass(frozen=True, slots=True)
class FactRow:
    """One pinned fact as it is shown."""

    place: int
    question: Question
    fact: Fact | None
    """None while it is looked for, or when it cannot be."""
    problem: str = ""
    """Why it cannot."""

    @property
    def title(self) -> str:
        """What is looked for, in few words."""
        if self.fact is not None:
            return self.fact.title
        question = self.question
        if isinstance(question, FileQuestion):
            return question.path
        return f"message {question.message}" if isinstance(question, MessageQuestion) else f"“{question.text}”"

    @property
    def strip(self) -> Strip | None:
        """For the timeline."""
        fact = self.fact
        if fact is None:
            return None
        return Strip(self.place, one_line(fact.title, 60), fact.requests, fact.spans, fact.partly)


class FactsModel(Listing[FactRow]):
    """The pinned facts, in the order of pinning."""

    def words(self, item: FactRow) -> RowWords:
        """What is looked for; how often it was sent, first and last."""
        title = one_line(item.title, LONG)
        if item.fact is None:
            return RowWords(title, item.problem or "looking…", tone="error" if item.problem else "muted")
        return RowWords(title, fact_words(item.fact), tooltip=item.title)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See FactRole and ListingRole."""
        if role in {FactRole.PLACE, FactRole.STRIP} and index.isValid() and index.row() < len(self.items):
            item = self.item(index.row())
            return item.place if role == FactRole.PLACE else item.strip
        if role == Qt.ItemDataRole.AccessibleTextRole and index.isValid() and index.row() < len(self.items):
            return f"{letter(self.item(index.row()).place)}, {super().data(index, role)}"
        return super().data(index, role)


def fact_words(fact: Fact) -> str:
    """'in 14 of 48 requests, 3 to 16 · not sent now'."""
    if not fact.spans:
        where = "no request sent it"
    elif fact.first is None or fact.last is None:
        where = "no request has sent it yet"
    elif fact.sent_in == fact.requests:
        where = f"in all {counted(fact.requests, 'request')}"
    else:
        reach = f"{fact.first + 1:,} to {fact.last + 1:,}" if fact.last > fact.first else f"{fact.first + 1:,}"
        where = f"in {grouped(fact.sent_in)} of {counted(fact.requests, 'request')}, {reach}"
    now = "sent now" if fact.sent_now else "partly sent now" if covers(fact.partly, fact.requests) else "not sent now"
    return joined(where, now)


@dataclass(frozen=True, slots=True)
class FactNews:
    """One line about a fact: a change of it, what carried it, or what a rewrite left of it."""

    value: Turn | Carrier | Part | int
    """int: a message that holds it and was never sent with it."""

    @property
    def message(self) -> int:
        """Where to look."""
        return self.value if isinstance(self.value, int) else self.value.message

    @property
    def block(self) -> int | None:
        """Where in the message; None = the whole of it, or nowhere in particular."""
        return None if isinstance(self.value, int) else self.value.block

    @property
    def is_turn(self) -> bool:
        """True for a change, which belongs to a request."""
        return isinstance(self.value, Turn)

    @property
    def request(self) -> int | None:
        """The request of a change, None = now."""
        return self.value.request if isinstance(self.value, Turn) else None


class FactNewsModel(Listing[FactNews]):
    """What happened to one fact, then through which messages it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self._requests = 0

    def show(self, fact: Fact | None) -> None:
        """Show a fact; None = no fact is chosen."""
        self._requests = fact.requests if fact is not None else 0
        self.set_items(tuple(_news(fact)) if fact is not None else ())

    def words(self, item: FactNews) -> RowWords:
        """The sentence of a change; message, block and words of a carrier."""
        value = item.value
        if isinstance(value, Turn):
            icon, tone, happened = _TURNS[value.kind]
            since = "now" if value.request is None else f"from request {value.request + 1:,} on"
            _, _, why = value.sentence.partition(when(value.request))
            detail = one_line(why.lstrip(" :") or value.sentence, LONG)
            return RowWords(f"{happened} {since}", detail[:1].upper() + detail[1:], icon, tone, value.sentence)
        if isinstance(value, int):
            return RowWords(f"Message {value} holds it", "but was never sent with it", "later", "faint")
        block = f", block {value.block}" if value.block is not None else ""
        where = f"message {value.message}{block}"
        requests = self._requests_words(value.spans)
        if isinstance(value, Part):
            title = f"A part ({value.share:.0%}) through {where}"
            return RowWords(title, joined(requests, one_line(value.text, LONG)), "rewritten", "rewritten", value.text)
        title = f"Through {where}" + (f" · {one_line(value.how, 80)}" if value.how else "")
        return RowWords(title, joined(requests, one_line(value.excerpt, LONG)), "jump", "muted", value.excerpt)

    def _requests_words(self, spans: Iterable[Span]) -> str:
        parts = []
        for first, last in spans:
            end = min(last, self._requests - 1)
            if first < self._requests:
                parts.append(f"{first + 1:,}–{end + 1:,}" if end > first else f"{first + 1:,}")
            if last >= self._requests:
                parts.append("now")
        shown = ", ".join(parts[:6]) + (" …" if len(parts) > 6 else "")
        return f"requests {shown}" if shown != "now" else shown


def _news(fact: Fact) -> Iterator[FactNews]:
    yield from (FactNews(turn) for turn in fact.turns)
    yield from (FactNews(carrier) for carrier in fact.carriers)
    yield from (FactNews(part) for part in fact.parts)
    yield from (FactNews(message) for message in fact.never_sent)


def tracked_rows(facts: Iterable[tuple[int, Fact]], column: int) -> Mapping[int, tuple[Mark, ...]]:
    """By stored message the facts that some request sent through it, by place; and whether this column does."""
    found: dict[int, dict[int, bool]] = {}
    for place, fact in facts:
        ones: tuple[Carrier | Part, ...] = (*fact.carriers, *fact.parts)
        for one in ones:
            marks = found.setdefault(one.message, {})
            marks[place] = marks.get(place, False) or covers(one.spans, column)
        for message in fact.never_sent:
            found.setdefault(message, {}).setdefault(place, False)
    return {message: tuple(Mark(*mark) for mark in sorted(marks.items())) for message, marks in found.items()}
