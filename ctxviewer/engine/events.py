"""What changed the context of a task, and when, read off the recorded timeline and updates (formats §1.7.1)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from ctxviewer.domain.json import as_text, is_object
from ctxviewer.domain.projection import Cut
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.snapshot import Snapshot, UiEntry
from ctxviewer.domain.updates import Update
from ctxviewer.engine.cline.moments import Moment, UpdatesByTime, role_of
from ctxviewer.engine.cline.truncation import Keep, removed_count, resume_index


class EventKind(StrEnum):
    """Kinds of changes of the context."""

    OPTIMIZE = "optimize"
    TRUNCATE = "truncate"
    FORCED_TRUNCATE = "forced truncate"
    CONDENSE = "condense"
    SUMMARIZE = "summarize"
    ROLLBACK = "rollback"


RANGE_KINDS = frozenset(set(EventKind) - {EventKind.OPTIMIZE})
"""Events that change the deleted range."""


@dataclass(frozen=True, slots=True)
class Event:
    """One change of the context."""

    kind: EventKind
    request: int | None
    """Number of the first request that it is in force for; None = no request has been made since."""
    ts: float
    """When it was recorded, milliseconds."""
    sentence: str
    range_before: Range | None = None
    range_after: Range | None = None
    updates: tuple[Update, ...] = ()
    keep: str = ""
    """'half', 'quarter', 'none', 'lastTwo', or several joined by ' or ', where the recorded range fits; else ''."""
    length: int = 0
    """How many messages existed when a range was changed; 0 for other events."""
    ui_index: int = -1
    """The timeline entry that shows it first, -1 if none does."""


def find_events(snapshot: Snapshot, moments: tuple[Moment, ...], by_time: UpdatesByTime) -> tuple[Event, ...]:
    """Every event of a task, by request and then by time; optimisations before the cut of the same request."""
    events = [*_optimisations(snapshot, by_time), *_range_changes(snapshot, moments, by_time)]
    last = len(snapshot.requests)
    return tuple(sorted(events, key=lambda event: (last if event.request is None else event.request, event.ts)))


def _optimisations(snapshot: Snapshot, by_time: UpdatesByTime) -> Iterator[Event]:
    times = [request.ts for request in snapshot.requests]
    groups: dict[float, list[Update]] = {}
    for update in by_time.between(float("-inf"), float("inf")):
        if update.edit_type in {2, 3, 4}:
            groups.setdefault(update.timestamp or 0, []).append(update)
    for when, updates in groups.items():
        following = bisect_right(times, when)
        request = following if following < len(times) else None
        messages = sorted({update.message for update in updates})
        noun = "block" if len(updates) == 1 else "blocks"
        where = ", ".join(str(number) for number in messages[:6]) + (" …" if len(messages) > 6 else "")
        where = f"message{'s' if len(messages) > 1 else ''} {where}"
        sentence = f"Optimised {len(updates)} {noun}: older copies of files replaced ({where})"
        yield Event(EventKind.OPTIMIZE, request, when, sentence, updates=tuple(updates))


def _range_changes(snapshot: Snapshot, moments: tuple[Moment, ...], by_time: UpdatesByTime) -> Iterator[Event]:
    current: Range | None = None
    request = -1
    since_request: list[UiEntry] = []
    starts = {entry.ui_index: entry.number for entry in snapshot.requests}
    for entry in snapshot.ui:
        started = starts.get(entry.index)
        rolled_back = entry.kind == "deleted_api_reqs"
        if entry.deleted_range != current or rolled_back:
            yield _range_change(snapshot, moments, by_time, entry, current, request, since_request, rolled_back)
            current = entry.deleted_range
        if started is not None:
            request = started
            since_request = []
        since_request.append(entry)
    if snapshot.range_now != current and snapshot.has_timeline:
        length = len(snapshot.messages)
        keep = _keep_of(snapshot, current, snapshot.range_now, length)
        last_ts = snapshot.ui[-1].ts if snapshot.ui else 0
        shrunk = _end(snapshot.range_now) < _end(current)
        kind = EventKind.ROLLBACK if shrunk else EventKind.TRUNCATE
        sentence = _sentence(kind, current, snapshot.range_now, keep) + " (recorded in the task index only)"
        notices = _notices(by_time.between(snapshot.requests[-1].ts if snapshot.requests else 0, float("inf")))
        yield Event(kind, None, last_ts, sentence, current, snapshot.range_now, notices, keep, length)


def _range_change(
    snapshot: Snapshot,
    moments: tuple[Moment, ...],
    by_time: UpdatesByTime,
    entry: UiEntry,
    before: Range | None,
    request: int,
    since_request: list[UiEntry],
    rolled_back: bool,
) -> Event:
    after = entry.deleted_range
    length = (entry.last_message if entry.last_message is not None else -1) + 1
    keep = _keep_of(snapshot, before, after, length)
    shrunk = rolled_back or _end(after) < _end(before)
    # What a rollback leaves holds from the next request on, also where a cut made before that was sent hides more.
    start = request + 1 if rolled_back else max(request, 0)
    first = next(
        (
            k
            for k in range(start, len(moments))
            if _end(moments[k].deleted_range) == _end(after)
            or ((rolled_back or not shrunk) and _end(moments[k].deleted_range) > _end(after))
        ),
        None,
    )
    previous = snapshot.requests[first - 1].ts if first else 0
    updates = by_time.between(previous - 1, entry.ts)
    kind = EventKind.ROLLBACK if shrunk else _kind_of(snapshot, entry, since_request, updates)
    sentence = _sentence(kind, before, after, keep)
    return Event(kind, first, entry.ts, sentence, before, after, _notices(updates), keep, length, entry.index)


def _kind_of(
    snapshot: Snapshot, entry: UiEntry, since_request: list[UiEntry], updates: tuple[Update, ...]
) -> EventKind:
    """What cut the history, by what stands beside the change in the timeline."""
    nearby = [*since_request, entry]
    if any(item.type == "ask" and item.kind == "condense" for item in nearby):
        return EventKind.CONDENSE
    if any(item.kind == "tool" and _is_summary(snapshot, item) for item in nearby):
        return EventKind.SUMMARIZE
    failed = any(item.kind in {"api_req_failed", "error_retry"} for item in nearby)
    first_replaced = any(update.message == 0 for update in updates)
    return EventKind.FORCED_TRUNCATE if failed or first_replaced else EventKind.TRUNCATE


def _is_summary(snapshot: Snapshot, entry: UiEntry) -> bool:
    item = snapshot.ui_items[entry.index]
    return is_object(item) and '"summarizeTask"' in as_text(item.get("text"))[:4096]


def _notices(updates: tuple[Update, ...]) -> tuple[Update, ...]:
    return tuple(update for update in updates if update.edit_type == 0)


def _end(deleted: Range | None) -> int:
    return deleted.end if deleted is not None else 1


def _keep_of(snapshot: Snapshot, before: Range | None, after: Range | None, length: int) -> str:
    """Which of the four modes yields the recorded range from the one before, on `length` messages."""
    if after is None or not snapshot.has_messages:
        return ""
    first = resume_index(before)
    fitting = []
    for keep in (Keep.HALF, Keep.QUARTER, Keep.LAST_TWO, Keep.NONE):
        end = first + removed_count(length - first, keep) - 1
        if 0 <= end < length and role_of(snapshot, end) not in {"assistant", ""}:
            end -= 1
        if end == after.end:
            fitting.append(str(keep))
    return " or ".join(fitting)


def _sentence(kind: EventKind, before: Range | None, after: Range | None, keep: str) -> str:
    if kind is EventKind.ROLLBACK:
        if after == before:
            return "Rolled back: later messages were removed"
        return f"Rolled back: the deleted range is {after or 'none'} again, it was {before or 'none'}"
    if after is None or after.is_empty:
        return f"The deleted range became {after or 'none'}: nothing more is left out"
    words = {
        EventKind.TRUNCATE: "Truncated",
        EventKind.FORCED_TRUNCATE: "Truncated after the provider refused the request",
        EventKind.CONDENSE: "Condensed",
        EventKind.SUMMARIZE: "Summarised",
        EventKind.OPTIMIZE: "Optimised",
    }[kind]
    fresh = Range(_end(before) + 1, after.end)
    mode = f" ({keep})" if keep else ""
    return f"{words}{mode}: messages {fresh} are no longer sent ({fresh.length} messages)"


def cuts_until(events: tuple[Event, ...], first_pair: int, resume: int, request: int | None) -> tuple[Cut, ...]:
    """The hidden stretch `first_pair` … resume - 1, split by the event that took each part.

    `request` None = all events count. A part whose event is not known has `since_request` None.
    """
    cuts: list[Cut] = []
    for event in events:
        if event.kind not in RANGE_KINDS:
            continue
        if request is not None and (event.request is None or event.request > request):
            continue
        end = event.range_after.end if event.range_after is not None else first_pair - 1
        cuts = [Cut(cut.first, min(cut.last, end), cut.since_request) for cut in cuts if cut.first <= end]
        covered = cuts[-1].last if cuts else first_pair - 1
        if end > covered:
            cuts.append(Cut(covered + 1, end, event.request))
    cuts = [Cut(cut.first, min(cut.last, resume - 1), cut.since_request) for cut in cuts if cut.first < resume]
    covered = cuts[-1].last if cuts else first_pair - 1
    if covered < resume - 1:
        cuts.append(Cut(covered + 1, resume - 1, None))
    return tuple(cuts)
