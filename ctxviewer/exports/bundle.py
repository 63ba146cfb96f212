"""A bug report: the smallest task folder that still shows one event, with every word replaced and secrets blotted out.

What came after the event is cut off. What its request does not send any more loses its texts. Lengths, roles, times,
token counts, ranges, checkpoints and the places of updates stay, so that the rules decide as they did.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.json import Json, JsonObject, as_int, is_object
from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Request
from ctxviewer.domain.snapshot import WindowSource
from ctxviewer.engine.events import Event
from ctxviewer.engine.explain import explain
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, plural
from ctxviewer.exports.bundle_files import SHORT, compact, entry_for_bundle, message_for_bundle, updates_for_bundle
from ctxviewer.exports.bundle_readme import Shown, facts, readme
from ctxviewer.exports.disguise import Disguise
from ctxviewer.exports.secrets import Mask

API, UI, UPDATES, METADATA, INDEX = (
    "api_conversation_history.json",
    "ui_messages.json",
    "context_history.json",
    "task_metadata.json",
    "state/taskHistory.json",
)
README, FACTS = "README.md", "event.json"
OWN_FAILURES = frozenset({"streaming failed", "user cancelled", "retries exhausted", "its end is not recorded"})
"""Reasons in the agent's or ctxviewer's own words."""


@dataclass(frozen=True, slots=True)
class BundleFile:
    """One file of the bundle."""

    name: str
    """With slashes, inside the bundle's folder."""
    content: bytes


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files, and what they show."""

    files: tuple[BundleFile, ...]
    shown: Shown
    task_id: str
    masked: Mask
    complete: bool
    """False if the cut task does not show the event, which should not happen; a note says so."""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(len(file.content) for file in self.files)


@dataclass(frozen=True, slots=True)
class _Cut:
    """How much of a task is kept."""

    entries: int
    """Entries of the timeline."""
    messages: int
    until_ts: float
    """Updates later than this are dropped."""
    unseen: range
    """Messages whose texts are left out."""


def make_bundle(timeline: Timeline, number: int, key: bytes, mask: Mask) -> Bundle:
    """The bundle of event `number` (from 0, as in `timeline.events`). `key` decides the words; it is to be thrown away.

    CtxError for an event that does not exist.
    """
    events = timeline.events
    if not 0 <= number < len(events):
        count = plural(len(events), "event")
        raise CtxError(
            f"There is no event {number + 1}; the task has {count}.", hint="`ctxviewer report` lists them, from 1."
        )
    event, snapshot = events[number], timeline.snapshot
    cut = _cut(timeline, event)
    disguise = Disguise(key, mask)
    updates = _updates(timeline, event, cut, disguise)
    messages: list[Json] = [
        message_for_bundle(value, disguise, unseen=index in cut.unseen)
        for index, value in enumerate(islice(snapshot.messages, cut.messages))
    ]
    entries: list[Json] = [entry_for_bundle(value, disguise) for value in islice(snapshot.ui_items, cut.entries)]
    folder = f"tasks/{snapshot.task.task_id}/"
    files = [BundleFile(folder + METADATA, _metadata(timeline, cut))]
    if snapshot.has_messages:
        files.append(BundleFile(folder + API, compact(messages)))
    if snapshot.has_timeline:
        files.append(BundleFile(folder + UI, compact(entries)))
    if updates is not None:
        files.append(BundleFile(folder + UPDATES, updates))
    if snapshot.index_item is not None:
        files.append(BundleFile(INDEX, compact(_index(timeline, event, cut, disguise))))
    # What the texts say is worked out from the disguised task, so that no word of the original gets into them.
    result = Timeline(
        replace(
            snapshot,
            messages=PlainLog(messages),
            ui_items=PlainLog(entries),
            ui=snapshot.ui[: cut.entries],
            updates_text=None if updates is None else updates.decode(),
            range_now=_range_now(timeline, event, cut),
            requests=tuple(_requests(timeline, cut, disguise)),
        )
    )
    same = next((one for one in result.events if likeness(one) == likeness(event)), None)
    notes = _notes(timeline, event)
    if same is None:
        notes.append("The event could not be kept: the cut task does not show it. Please report this as a fault.")
    shown = Shown(
        same if same is not None else replace(event, sentence=str(event.kind).capitalize()),
        explain(result, same.request) if same is not None and same.request is not None else None,
        tuple(notes),
        model=snapshot.model,
        messages=(cut.messages, len(snapshot.messages)),
        entries=(cut.entries, len(snapshot.ui)),
        unseen=cut.unseen,
        masked=mask.sentence,
    )
    texts = (BundleFile(README, readme(shown).encode("utf-8", "backslashreplace")), BundleFile(FACTS, facts(shown)))
    return Bundle((*texts, *files), shown, snapshot.task.task_id, mask, complete=same is not None)


def likeness(event: Event) -> tuple[object, ...]:
    """What an event of a task and the event that its bundle shows have in common."""
    places = tuple((update.message, update.block, update.timestamp, update.edit_type) for update in event.updates)
    return event.kind, event.request, event.range_before, event.range_after, event.keep, places


def _requests(timeline: Timeline, cut: _Cut, disguise: Disguise) -> Iterator[Request]:
    """The requests that are left, as a reader of the bundle finds them."""
    for request in timeline.requests:
        if request.ui_index < cut.entries and (request.ui_index >= 0 or _answer(request) < cut.messages):
            failure = request.failure
            told = failure if failure in OWN_FAILURES else disguise.text(failure[:SHORT])
            yield replace(request, failure=told)


def _answer(request: Request) -> int:
    return (request.last_message if request.last_message is not None else -2) + 2


def _cut(timeline: Timeline, event: Event) -> _Cut:
    snapshot = timeline.snapshot
    stored, entries = len(snapshot.messages), len(snapshot.ui)
    if event.request is None or (snapshot.has_timeline and timeline.requests[event.request].ui_index < 0):
        return _Cut(entries, stored, float("inf"), _unseen(timeline, event))
    number = event.request
    if not snapshot.has_timeline:  # requests are the answers; the answer itself must stay
        return _Cut(0, min(stored, timeline.moments[number].until + 1), float("inf"), _unseen(timeline, event))
    start = timeline.requests[number].ui_index
    moment = timeline.moments[number]
    following = timeline.requests[number + 1].ui_index if number + 1 < len(timeline.requests) else entries
    streamed = next(
        (entry.index for entry in snapshot.ui[start + 1 : following] if entry.ts == moment.streamed_ts),
        min(following, entries - 1),
    )
    last = max(event.ui_index, streamed)
    needed = [moment.until + 1, event.length, *(update.message + 1 for update in event.updates)]
    if last == following:
        needed.append(timeline.moments[number + 1].until)
    messages = min(stored, max(needed))
    return _Cut(last + 1, messages, max(snapshot.ui[last].ts, event.ts), _unseen(timeline, event))


def _unseen(timeline: Timeline, event: Event) -> range:
    """Messages that were left out already before the event and stay so: no rule looks at their texts."""
    ranges: list[Range | None] = [timeline.snapshot.range_now]
    if event.request is not None:
        request, moment = timeline.requests[event.request], timeline.moments[event.request]
        ranges = [request.range_before if request.ui_index >= 0 else moment.deleted_range, moment.deleted_range]
        if event.request:
            ranges.append(timeline.moments[event.request - 1].deleted_range)
    if event.range_after is not None or event.range_before is not None:
        ranges.extend((event.range_before, event.range_after))
    ends = [one.end if one is not None and one.start >= 2 and not one.is_empty else 1 for one in ranges]
    return range(2, max(2, min(ends) + 1))


def _updates(timeline: Timeline, event: Event, cut: _Cut, disguise: Disguise) -> bytes | None:
    text = timeline.snapshot.updates_text
    if text is None:
        return None
    own = {(update.message, update.block, update.timestamp) for update in event.updates}
    start = timeline.requests[event.request].ts if event.request is not None else None

    def keep(message: int, block: int, time: Json) -> bool:
        if message >= cut.messages and timeline.snapshot.has_messages:
            return False
        when = time if isinstance(time, (int, float)) and not isinstance(time, bool) else 0
        is_own = not isinstance(time, (list, dict)) and (message, block, time) in own
        if is_own or start is None:
            return True
        return when <= cut.until_ts and when != start

    return updates_for_bundle(text, disguise, keep)


def _metadata(timeline: Timeline, cut: _Cut) -> bytes:
    known = timeline.snapshot.metadata or {}
    listed = known.get("model_usage")
    usages: list[Json] = [
        {key: item[key] for key in ("ts", "model_id", "model_provider_id", "mode") if key in item}
        for item in (listed if isinstance(listed, list) else [])
        if is_object(item) and (as_int(item.get("ts")) or 0) <= cut.until_ts
    ]
    value: JsonObject = {"files_in_context": [], "model_usage": usages}
    return json.dumps(value, indent=2).encode()


def _index(timeline: Timeline, event: Event, cut: _Cut, disguise: Disguise) -> Json:
    """The whole index: the task's own item."""
    snapshot = timeline.snapshot
    known = snapshot.index_item or {}
    last = snapshot.ui[cut.entries - 1] if 0 < cut.entries <= len(snapshot.ui) else None
    item: JsonObject = {
        "id": snapshot.task.task_id,
        "ts": last.ts if last is not None else known.get("ts", 0),
        "task": disguise.text(snapshot.task.title[:200]) or "Bug report",
        **dict.fromkeys(("tokensIn", "tokensOut", "totalCost"), 0),
    }
    if "modelId" in known:
        item["modelId"] = known["modelId"]
    deleted = _range_now(timeline, event, cut)
    if deleted is not None:
        item["conversationHistoryDeletedRange"] = [deleted.start, deleted.end]
    return [item]


def _range_now(timeline: Timeline, event: Event, cut: _Cut) -> Range | None:
    """The range after the last entry that is kept."""
    snapshot = timeline.snapshot
    if event.request is None or not 0 < cut.entries <= len(snapshot.ui):
        return snapshot.range_now
    return snapshot.ui[cut.entries - 1].deleted_range


def _notes(timeline: Timeline, event: Event) -> list[str]:
    snapshot = timeline.snapshot
    notes = []
    if event.request is not None:
        request = timeline.requests[event.request]
        if request.model_id and request.model_id != snapshot.model.model_id:
            notes.append(
                f"The task went on with another model. Open this with the window of {grouped(snapshot.model.window)} "
                f"tokens (`--window {snapshot.model.window}`) to see the same numbers."
            )
    if snapshot.model.window_source is WindowSource.OVERRIDE:
        notes.append(f"The window of {grouped(snapshot.model.window)} tokens was set by hand (`--window`).")
    if not snapshot.has_messages:
        notes.append("The API history was missing already in the original.")
    if not snapshot.has_timeline:
        notes.append("The timeline was missing already in the original.")
    return notes
