"""Tracked facts, as stable JSON and as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.engine.facts import Fact, FileQuestion, MessageQuestion, Question, Sending
from ctxviewer.engine.spans import Span, clipped
from ctxviewer.engine.words import percent, plural
from ctxviewer.exports.report import one_line
from ctxviewer.exports.values import SCHEMA, event_json, request_number

MOST_CARRIERS = 20
"""Carriers that a terminal shows."""
STRIP_WIDTH = 72
MARKS = {Sending.WHOLE: "█", Sending.PARTLY: "▒", Sending.ABSENT: "·"}


def fact_json(fact: Fact) -> JsonObject:
    """Requests count from 1; spans are inclusive and hold past requests only."""
    return {
        "schema": SCHEMA,
        "question": _question_json(fact.question),
        "title": fact.title,
        "requests": fact.requests,
        "sent": _spans(fact, fact.spans),
        "partly": _spans(fact, fact.partly),
        "sent_in": fact.sent_in,
        "first": request_number(fact.first),
        "last": request_number(fact.last),
        "now": str(fact.sending(None)),
        "turns": [
            {
                "kind": str(turn.kind),
                "request": request_number(turn.request),
                "message": turn.message,
                "block": turn.block,
                "event": None if turn.event is None else event_json(turn.event),
                "sentence": turn.sentence,
            }
            for turn in fact.turns
        ],
        "carriers": [
            {
                "message": one.message,
                "block": one.block,
                "how": one.how,
                "sent": _spans(fact, one.spans),
                "excerpt": one.excerpt,
            }
            for one in fact.carriers
        ],
        "parts": [
            {
                "message": one.message,
                "block": one.block,
                "text": one.text,
                "share": one.share,
                "sent": _spans(fact, one.spans),
            }
            for one in fact.parts
        ],
        "never_sent": list(fact.never_sent),
    }


def _question_json(question: Question) -> JsonObject:
    if isinstance(question, FileQuestion):
        return {"file": question.path}
    if isinstance(question, MessageQuestion):
        return {"message": question.message, "block": question.block}
    return {"text": question.text, "regex": question.regex, "ignore_case": question.ignore_case}


def _spans(fact: Fact, spans: tuple[Span, ...]) -> list[Json]:
    return [[first + 1, last + 1] for first, last in clipped(spans, 0, fact.requests - 1)]


def fact_text(fact: Fact) -> str:
    """The same for people, with a strip of all requests."""
    return "\n".join(_lines(fact)) + "\n"


def _lines(fact: Fact) -> Iterator[str]:
    yield f"{one_line(fact.title)}"
    if fact.first is None:
        verdict = "the next request would send it" if fact.sent_now else "no request sent it"
        yield f"  {verdict[:1].upper()}{verdict[1:]}."
    else:
        last = fact.last or 0
        yield (
            f"  Sent in {fact.sent_in} of {plural(fact.requests, 'request')}, first with request {fact.first + 1}, "
            f"last with request {last + 1}; now {fact.sending(None)}."
        )
    if fact.requests:
        yield f"  {strip(fact)}"
    for turn in fact.turns:
        yield f"  {turn.sentence}"
    if fact.carriers:
        yield ""
        yield f"Through {plural(len(fact.carriers), 'place')}"
        for one in fact.carriers[:MOST_CARRIERS]:
            block = "" if one.block is None else f".{one.block}"
            where = f"{one.message}{block}"
            excerpt = f": {one_line(one.excerpt, 120)}" if one.excerpt else ""
            yield f"  {where:>9}  {_requests(fact, one.spans):16}  {one.how}{excerpt}"
        if len(fact.carriers) > MOST_CARRIERS:
            yield f"             … and {len(fact.carriers) - MOST_CARRIERS} more"
    for part in fact.parts:
        yield (
            f"  message {part.message}: only {percent(part.share)} is left in {_requests(fact, part.spans)}: "
            f"{one_line(part.text, 60)}"
        )
    if fact.never_sent:
        shown = ", ".join(str(number) for number in fact.never_sent[:MOST_CARRIERS])
        yield f"  Never sent with it: message {shown}"


def strip(fact: Fact) -> str:
    """One character a request, or one for several of them (the most that any of them sent)."""
    size = -(-fact.requests // STRIP_WIDTH)
    marks = []
    for start in range(0, fact.requests, size):
        states = {fact.sending(number) for number in range(start, min(start + size, fact.requests))}
        best = next(state for state in (Sending.WHOLE, Sending.PARTLY, Sending.ABSENT) if state in states)
        marks.append(MARKS[best])
    scale = f" ({size} requests a character)" if size > 1 else ""
    return "".join(marks) + scale


def _requests(fact: Fact, spans: tuple[Span, ...]) -> str:
    parts = [
        f"{first + 1}" if first == last else f"{first + 1}–{last + 1}"
        for first, last in clipped(spans, 0, fact.requests - 1)
    ]
    words = f"requests {', '.join(parts[:4])}{' …' if len(parts) > 4 else ''}" if parts else ""
    now = "now" if spans and spans[-1][1] == fact.requests else ""
    return ", ".join(part for part in (words, now) if part)
