"""The decisions of past requests made again by the rules, and how they fit what the task recorded."""

from __future__ import annotations

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.log import Prefix
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.prepare import Decision, decide
from ctxviewer.engine.cline.truncation import Keep, next_range
from ctxviewer.engine.cline.window import WindowInfo
from ctxviewer.engine.events import Event
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import plural, span


def decision_of(timeline: Timeline, number: int, info: WindowInfo, total: float, doubts: list[str]) -> Decision | None:
    """What the rules make of a total that reached the limit; None, and a doubt, where that cannot be worked out."""
    snapshot = timeline.snapshot
    if not snapshot.has_messages:
        doubts.append("The API history is missing, so the decision cannot be worked out.")
        return None
    moment = timeline.moments[number]
    try:
        return decide(
            Prefix(snapshot.messages, moment.until),
            info,
            timeline.requests[number].range_before,
            timeline.history_before(number),
            total=total,
            timestamp=timeline.requests[number - 1].ts,
        )
    except BrokenInputError as err:
        doubts.append(f"The rules fail on this history: {err.sentence}")
        return None


def repeated(timeline: Timeline, number: int, info: WindowInfo, first: Decision) -> Decision | None:
    """The decision made again on top of `first`, if only that leads to the recorded range; None if not.

    When a task is resumed, a request that was in flight is deleted from the timeline, but what its management did
    stays; the next request meets the same total and decides anew.
    """
    recorded = timeline.moments[number].deleted_range
    if recorded == first.range_after:
        return None
    messages = Prefix(timeline.snapshot.messages, timeline.moments[number].until)
    try:
        again = decide(
            messages, info, first.range_after, first.history_after, total=first.total, timestamp=first.timestamp
        )
    except BrokenInputError:
        return None
    return again if again.range_after == recorded else None


def compare(
    timeline: Timeline,
    number: int,
    decision: Decision,
    events: tuple[Event, ...],
    doubts: list[str],
    *,
    several: bool,
) -> None:
    """Add what does not fit the rules. With several attempts at one request, updates of all of them share a time."""
    recorded = timeline.moments[number].deleted_range
    if recorded != decision.range_after:
        what = ", ".join(event.sentence for event in events) or "no event"
        doubts.append(
            f"By the rules the range would be {span(decision.range_after)}; recorded is {span(recorded)} ({what}). "
            "Likely another window or version, a request that was repeated, or a condense in between."
        )
    stamp = timeline.requests[number - 1].ts
    by_rules = {update.message for update in decision.history_after.updates() if update.timestamp == stamp}
    stored = {update.message for update in timeline.updates if update.timestamp == stamp}
    if by_rules != stored and recorded == decision.range_after and not several:
        doubts.append(
            f"By the rules {plural(len(by_rules), 'message')} would carry an update made now; "
            f"recorded are {len(stored)}."
        )


def compare_forced(timeline: Timeline, number: int, decision: Decision, refusals: int, doubts: list[str]) -> None:
    """The same where the provider refused the request so many times, each followed by a cut that keeps a quarter."""
    moment = timeline.moments[number]
    messages = Prefix(timeline.snapshot.messages, moment.until)
    found: Range | None = decision.range_after
    for _ in range(refusals):
        found = next_range(messages, found, Keep.QUARTER)
    if found != moment.deleted_range:
        doubts.append(
            f"After the decision and {plural(refusals, 'refusal')} the range would be {span(found)}; recorded is "
            f"{span(moment.deleted_range)}."
        )
