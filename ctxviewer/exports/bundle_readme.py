"""The two texts of a bug report: what it shows, for people and for programs. They hold no word of the task."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ctxviewer import __version__
from ctxviewer.domain.json import JsonObject
from ctxviewer.domain.snapshot import ModelFact
from ctxviewer.engine.events import Event
from ctxviewer.engine.explain import Explanation
from ctxviewer.engine.words import grouped, percent, span
from ctxviewer.exports.report import explanation_json
from ctxviewer.exports.values import SCHEMA, event_json

MOST_PLACES = 20


@dataclass(frozen=True, slots=True)
class Shown:
    """What a bundle shows, in the numbers of the original task."""

    event: Event
    explanation: Explanation | None
    """Of the event's request; None where no request has been made since."""
    notes: tuple[str, ...]
    """What a reader must know, such as the window to open it with."""
    model: ModelFact
    messages: tuple[int, int]
    """Kept, and stored in the original."""
    entries: tuple[int, int]
    """The same of the timeline."""
    unseen: range
    """Messages whose texts were left out."""
    masked: str
    """A sentence about secrets."""


def readme(shown: Shown) -> str:
    """README.md of a bundle."""
    return "\n".join(_lines(shown)) + "\n"


def facts(shown: Shown) -> bytes:
    """event.json of a bundle: the event and its explanation as `report --json` gives them."""
    value: JsonObject = {
        "schema": SCHEMA,
        "ctxviewer": __version__,
        "event": event_json(shown.event),
        "why": explanation_json(shown.explanation) if shown.explanation is not None else None,
        "notes": list(shown.notes),
        "masked": shown.masked,
    }
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace") + b"\n"


def _lines(shown: Shown) -> Iterator[str]:
    event, model = shown.event, shown.model
    number = None if event.request is None else event.request + 1
    where = "no request has been made since" if number is None else f"first in force for request {number}"
    command = "ctxviewer report ." if number is None else f"ctxviewer report . --request {number}"
    yield f"# Bug report: {event.kind}"
    yield f"\n{event.sentence}; {where}."
    yield f"\nOpen it with `{command}`, or in the window with `ctxviewer .`"
    yield "\n## What it shows\n"
    yield f"- event: {event.kind}, {where}"
    yield f"- deleted range: {span(event.range_before)} before, {span(event.range_after)} after"
    yield f"- updates of the event: {_places(event)}"
    yield f"- model {model.model_id or 'not known'}, window {grouped(model.window)} ({model.window_source})"
    if shown.explanation is not None:
        yield "\n## Why, by the rules\n"
        yield from (f"- {sentence}" for sentence in shown.explanation.sentences)
        yield from (f"- what does not fit: {doubt}" for doubt in shown.explanation.doubts)
        if shown.explanation.saved_share is not None:
            yield f"- saved by replacing older copies: {percent(shown.explanation.saved_share)}"
    yield "\n## How it was made\n"
    messages, entries = (f"{kept:,} of {stored:,}" for kept, stored in (shown.messages, shown.entries))
    yield f"- kept: messages {messages}, entries of the timeline {entries}; what came after the event is cut off"
    if shown.unseen:
        yield f"- messages {shown.unseen[0]}–{shown.unseen[-1]} are not sent any more, so their texts were left out"
    yield "- every word was replaced by another one of the same length, always the same; it cannot be found out which"
    yield "- lengths, times, token counts, ranges, roles, names of tools and models and file extensions stay"
    yield "- pictures gave way to as many other characters; texts of the timeline were cut short"
    yield f"- secrets: {shown.masked}"
    yield from (f"- {note}" for note in shown.notes)
    yield f"\nMade by ctxviewer {__version__}."


def _places(event: Event) -> str:
    places = [f"message {update.message} block {update.block}" for update in event.updates]
    return ", ".join(places[:MOST_PLACES]) + (" …" if len(places) > MOST_PLACES else "") if places else "none"
