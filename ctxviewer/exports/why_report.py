"""Why: explanations of events and requests, as stable JSON and as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ctxviewer.domain.json import JsonObject
from ctxviewer.engine.explain import Explanation, explain, explain_event
from ctxviewer.engine.timeline import Timeline
from ctxviewer.exports.report import explanation_json
from ctxviewer.exports.values import SCHEMA, event_json


def why_json(timeline: Timeline, number: int | None, window: float | None = None) -> JsonObject:
    """Every event with its explanation and what is ahead; with a request, that one alone."""
    if number is not None:
        found = explain(timeline, number, window)
        return {
            "schema": SCHEMA,
            "events": [event_json(event) for event in found.events],
            "why": explanation_json(found),
        }
    return {
        "schema": SCHEMA,
        "events": [
            {**event_json(event), "why": explanation_json(explain_event(timeline, event, window))}
            for event in timeline.events
        ],
        "ahead": explanation_json(explain(timeline, None, window)),
    }


def why_text(timeline: Timeline, number: int | None, window: float | None = None) -> str:
    """The same for people; events of one request are told together."""
    return "\n".join(_lines(timeline, number, window)) + "\n"


def _lines(timeline: Timeline, number: int | None, window: float | None) -> Iterator[str]:
    if number is not None:
        yield f"Request {number + 1} of {len(timeline.requests)}"
        yield from explanation_lines(explain(timeline, number, window))
        return
    told: set[int | None] = set()
    for event in timeline.events:
        if event.request is None or event.request not in told:
            told.add(event.request)
            yield f"Request {event.request + 1}" if event.request is not None else f"Now: {event.sentence}"
            yield from explanation_lines(explain_event(timeline, event, window))
            yield ""
    if not told:
        yield "Events: none; every message was sent with every request."
        yield ""
    yield "Ahead"
    yield from explanation_lines(explain(timeline, None, window))


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """Sentences, what changed (+), what does not fit (?)."""
    yield from (f"  {sentence}" for sentence in explanation.sentences)
    yield from (f"  + {change}" for change in explanation.changes)
    yield from (f"  ? {doubt}" for doubt in explanation.doubts)
