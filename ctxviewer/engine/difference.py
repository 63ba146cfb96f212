"""The difference of two requests: which messages entered, left, came back, were rewritten or repaired.

Worked out from the two projections, in runs of messages, so that it follows stepping through requests: only messages
that can have changed are looked at. Texts, tokens and files are separate questions about a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ctxviewer.domain.message import Block
from ctxviewer.domain.projection import BlockChange, Inserted, Projection, SentBlock
from ctxviewer.engine.events import RANGE_KINDS, Event
from ctxviewer.engine.line_difference import Difference as LineDifference
from ctxviewer.engine.line_difference import line_difference
from ctxviewer.engine.spans import Span, clipped, covers, length, merged, minus
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import plural, request_name

EVERY = 64
"""A check is made each time so many messages were looked at."""
MOST_LABELS = 4


class RowKind(StrEnum):
    """How a run of messages differs between the two."""

    SAME = "unchanged"
    NEITHER = "sent by neither"
    ENTERED = "entered"
    """Did not exist for the first one."""
    RETURNED = "came back"
    """Existed for the first one, which did not send it."""
    LEFT = "left"
    REWRITTEN = "rewritten"
    REPAIRED = "repaired"


QUIET = frozenset({RowKind.SAME, RowKind.NEITHER})
"""Rows that a view folds."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run of messages to which the same happened. Rewritten and repaired messages have a row each."""

    kind: RowKind
    first: int
    last: int
    """Inclusive."""
    sentence: str = ""
    """Why, where something happened."""
    event: Event | None = None
    """What let them leave or come back, where it is recorded."""

    @property
    def count(self) -> int:
        """How many messages."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class RequestDifference:
    """What changes from one projection to another."""

    before: Projection
    after: Projection
    rows: tuple[Row, ...]
    """Every message up to the longer of the two, each in one row, in order."""
    made: tuple[Inserted, ...] = ()
    """Messages made up for the second one only; strategies have some."""
    unmade: tuple[Inserted, ...] = ()
    """Made up for the first one only."""

    @property
    def changes(self) -> tuple[Row, ...]:
        """Rows in which something happened."""
        return tuple(row for row in self.rows if row.kind not in QUIET)

    @property
    def is_empty(self) -> bool:
        """True when both send the same."""
        return not self.changes and not self.made and not self.unmade

    def count(self, *kinds: RowKind) -> int:
        """How many messages are in rows of these kinds."""
        return sum(row.count for row in self.rows if row.kind in kinds)


@dataclass(frozen=True, slots=True)
class BlockText:
    """The texts of one block in both requests; None where one does not send it."""

    block: int | None
    """As stored; None for a made-up result."""
    label: str
    before: str | None
    after: str | None

    def lines(self) -> LineDifference:
        """The difference by lines; worked out anew at each call."""
        return line_difference(self.before or "", self.after or "")


def _never() -> None:
    return None


def difference_of(
    timeline: Timeline, before: int | None, after: int | None, check: Callable[[], None] = _never
) -> RequestDifference:
    """From one request to another; None = the present state. IndexError for a request that does not exist."""
    return difference(timeline, timeline.projection(before), timeline.projection(after), check)


def difference(
    timeline: Timeline, before: Projection, after: Projection, check: Callable[[], None] = _never
) -> RequestDifference:
    """From one projection to another of the same timeline. `check` may raise to cancel."""
    old, new = sent_spans(before), sent_spans(after)
    both = minus(old, minus(old, new))
    rows: list[Row] = [*_left(timeline, minus(old, new), after), *_came(timeline, minus(new, old), before, after)]
    changed: list[Span] = []
    for count, message in enumerate(sorted(_suspects(before, after))):
        if count % EVERY == 0:
            check()
        if covers(both, message):
            row = _compared(timeline, before, after, message)
            if row is not None:
                rows.append(row)
                changed.append((message, message))
    everything = ((0, max(before.until, after.until) - 1),)
    rows.extend(Row(RowKind.SAME, first, last) for first, last in minus(both, changed))
    rows.extend(Row(RowKind.NEITHER, first, last) for first, last in minus(everything, (*old, *new)))
    return RequestDifference(
        before,
        after,
        tuple(sorted(rows, key=lambda row: row.first)),
        tuple(one for one in after.inserted if one not in before.inserted),
        tuple(one for one in before.inserted if one not in after.inserted),
    )


def sent_spans(projection: Projection) -> tuple[Span, ...]:
    """Numbers of the stored messages that are sent, in runs."""
    head = min(projection.first_pair, projection.until)
    spans = merged([(0, head - 1), (max(projection.resume, head), projection.until - 1)])
    return minus(spans, ((number, number) for number in projection.gone)) if projection.gone else spans


def _left(timeline: Timeline, spans: tuple[Span, ...], after: Projection) -> Iterator[Row]:
    for first, last in clipped(spans, after.until, max((last for _, last in spans), default=0)):
        yield Row(RowKind.LEFT, first, last, "They do not exist for the second one.")
    rest = clipped(spans, 0, after.until - 1)
    for cut in after.cuts:
        for first, last in clipped(rest, cut.first, cut.last):
            event = _event_of(timeline, cut.since_request, last)
            yield Row(RowKind.LEFT, first, last, event.sentence if event else "Left out by the deleted range.", event)
    for first, last in minus(rest, ((cut.first, cut.last) for cut in after.cuts)):
        yield Row(RowKind.LEFT, first, last, "Left out.")


def _event_of(timeline: Timeline, since: int | None, message: int) -> Event | None:
    """The event that cut a message off at a request, or that is only in force now."""
    return next(
        (
            event
            for event in timeline.events
            if event.request == since
            and event.kind in RANGE_KINDS
            and event.range_after is not None
            and event.range_after.end >= message
        ),
        None,
    )


def _came(timeline: Timeline, spans: tuple[Span, ...], before: Projection, after: Projection) -> Iterator[Row]:
    backwards = _order(after.request) < _order(before.request)
    for first, last in clipped(spans, 0, before.until - 1):
        event = _event_between(timeline, before, after, last, cuts=backwards)
        if event is None:
            sentence = "They were not sent before."
        else:
            sentence = f"Later: {event.sentence}" if backwards else event.sentence
        yield Row(RowKind.RETURNED, first, last, sentence, event)
    for first, last in clipped(spans, before.until, after.until - 1):
        yield Row(RowKind.ENTERED, first, last, f"{plural(last - first + 1, 'new message')}.")


def _event_between(
    timeline: Timeline, before: Projection, after: Projection, message: int, *, cuts: bool
) -> Event | None:
    """The newest event between two requests that cut a message off, or (`cuts` False) that gave it back."""
    low, high = sorted((_order(before.request), _order(after.request)))
    for event in reversed(timeline.events):
        if event.kind in RANGE_KINDS and low < _order(event.request) <= high:
            was, now = (one.end if one is not None else 1 for one in (event.range_before, event.range_after))
            if (was < message <= now) if cuts else (now < message <= was):
                return event
    return None


def _order(request: int | None) -> float:
    return float("inf") if request is None else request


def _suspects(before: Projection, after: Projection) -> set[int]:
    """Messages that both may send in another form."""
    found = {before.resume, after.resume}
    found.update(message for message, _ in before.gone_blocks ^ after.gone_blocks)
    old, new = set(before.repairs), set(after.repairs)
    found.update(repair.message for repair in old ^ new)
    if (before.until <= 1) is not (after.until <= 1):
        found.add(0)
    if before.updates is not after.updates:
        found.update(_changed_places(before.updates, after.updates))
    return found


def _changed_places(before: Mapping[tuple[int, int], object], after: Mapping[tuple[int, int], object]) -> Iterator[int]:
    for place, update in before.items():
        if after.get(place) is not update:
            yield place[0]
    for place in after:
        if place not in before:
            yield place[0]


def _compared(timeline: Timeline, before: Projection, after: Projection, message: int) -> Row | None:
    """The row of a message that both send; None when they send the same."""
    old, new = timeline.blocks(before, message), timeline.blocks(after, message)
    if _raws(old) == _raws(new):
        return None
    labels = [block.label for block in new if block.label and block.change is not BlockChange.SAME]
    fresh = [label for label in dict.fromkeys(labels) if label not in {block.label for block in old}]
    sentence = "; ".join(fresh[:MOST_LABELS]) + ("; …" if len(fresh) > MOST_LABELS else "")
    kind = RowKind.REWRITTEN if _updates(old) != _updates(new) else RowKind.REPAIRED
    restored = "as stored again" if kind is RowKind.REWRITTEN else "paired in another way"
    return Row(kind, message, message, _sentence(sentence or restored))


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith('…') else '.'}"


def _raws(blocks: tuple[SentBlock, ...]) -> list[object]:
    return [block.sent.raw for block in blocks if block.sent is not None]


def _updates(blocks: tuple[SentBlock, ...]) -> list[int]:
    return [id(block.update) for block in blocks if block.sent is not None and block.update is not None]


def text_changes(timeline: Timeline, found: RequestDifference, message: int) -> tuple[BlockText, ...]:
    """The blocks of a message that differ between the two, with both texts. IndexError if there is no such message."""
    old = _texts(timeline, found.before, message)
    new = _texts(timeline, found.after, message)
    rows: list[BlockText] = []
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        was, now = (None if one is None or one.sent is None else _shown(one.sent) for one in (before, after))
        if was != now:
            label = next((one.label for one in (after, before) if one is not None and one.label), "")
            rows.append(BlockText(key if key >= 0 else None, label, was, now))
    return tuple(rows)


def _texts(timeline: Timeline, projection: Projection, message: int) -> dict[int, SentBlock]:
    """Blocks by stored number, made-up ones below 0; nothing for a message that is not sent."""
    if not covers(sent_spans(projection), message):
        return {}
    blocks = timeline.blocks(projection, message)
    return {block.stored.index if block.stored is not None else -1 - place: block for place, block in enumerate(blocks)}


def _shown(block: Block) -> str:
    return f"{block.name} {block.text}" if block.kind == "tool_use" else block.text


def summary(found: RequestDifference) -> tuple[str, ...]:
    """What happened, one sentence a kind, in plain words; () when both send the same."""
    sentences: list[str] = []
    names = {
        RowKind.ENTERED: ("is new", "are new"),
        RowKind.RETURNED: ("is sent again", "are sent again"),
        RowKind.LEFT: ("is no longer sent", "are no longer sent"),
        RowKind.REWRITTEN: ("is sent with other words", "are sent with other words"),
        RowKind.REPAIRED: ("is sent with other results", "are sent with other results"),
    }
    for kind, (one, many) in names.items():
        count = found.count(kind)
        if count:
            spans = merged((row.first, row.last) for row in found.rows if row.kind is kind)
            listed = numbers(spans)
            stop = "" if listed.endswith("…") else "."
            sentences.append(f"{plural(count, 'message')} {one if count == 1 else many}: {listed}{stop}")
    return tuple(sentences)


def numbers(spans: tuple[Span, ...], most: int = 6) -> str:
    """'2–25, 40'; long lists end in '…'."""
    parts = [str(first) if first == last else f"{first}–{last}" for first, last in spans]
    return ", ".join(parts[:most]) + (" …" if len(parts) > most else "")


def title(found: RequestDifference) -> str:
    """'request 30 → request 31'."""
    names = ["now" if one.request is None else request_name(one.request) for one in (found.before, found.after)]
    return " \N{RIGHTWARDS ARROW} ".join(names)


def unchanged_share(found: RequestDifference) -> float:
    """Share of the messages of the second one that the first one sends in the same form; 1 when it sends none."""
    sent = length(sent_spans(found.after))
    return found.count(RowKind.SAME) / sent if sent else 1.0
