"""A task at one moment: what a rule starts from, whether that is the present or any earlier request."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ctxviewer.domain.json import Messages
from ctxviewer.domain.log import Prefix
from ctxviewer.domain.projection import Cut, Projection
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.events import cuts_until
from ctxviewer.engine.timeline import Timeline, bounds_of


@dataclass(frozen=True, slots=True)
class State:
    """Before the context management of one request (or of the next one) runs."""

    timeline: Timeline
    request: int | None
    """The request whose management is looked at; None = the next one, from the present state."""
    until: int
    """Messages 0 … until - 1 exist."""
    deleted_range: Range | None
    history: ContextHistory
    total: float | None
    """Reported tokens of the previous request, None when it reported none."""
    total_request: int | None
    """Which request reported it."""
    timestamp: int | None
    """Time of the previous request: the stamp of updates made now; a later restore then drops them (formats §9.8)."""
    decoded: Messages | None = None
    """All stored messages, where somebody holds them decoded; None = they are decoded from the file's bytes."""

    @property
    def messages(self) -> Messages:
        """The messages that exist, decoded when asked for."""
        messages = self.timeline.snapshot.messages if self.decoded is None else self.decoded
        return messages if self.until >= len(messages) else Prefix(messages, self.until)

    @property
    def projection(self) -> Projection:
        """What would be sent if nothing were done."""
        if self.request is None:
            return self.timeline.projection(None)
        return self.project(self.deleted_range, self.history)

    def project(self, deleted: Range | None, history: ContextHistory) -> Projection:
        """What is sent from this moment's messages with another range and other updates.

        What is hidden already keeps the request that it was hidden for; what is hidden beyond it has none.
        """
        projection = self.timeline.project(deleted, history.in_force(), self.until)
        return projection if self.request is None else replace(projection, cuts=self._cuts(projection))

    def _cuts(self, projection: Projection) -> tuple[Cut, ...]:
        """The hidden stretch, without what was recorded for requests after this one."""
        first, resume = projection.first_pair, projection.resume
        known = min(resume, max(first, bounds_of(self.deleted_range, self.until).resume))
        cuts = cuts_until(self.timeline.events, first, known, self.request)
        return (*cuts, Cut(known, resume - 1, None)) if known < resume else cuts


def state_now(timeline: Timeline) -> State:
    """The task as its files stand: where the next request starts from."""
    snapshot = timeline.snapshot
    reported = [request for request in timeline.requests if request.usage_reported]
    last = reported[-1] if reported else None
    return State(
        timeline,
        None,
        len(snapshot.messages),
        snapshot.range_now,
        timeline.history,
        last.usage.total if last else None,
        last.number if last else None,
        timeline.requests[-1].ts if timeline.requests else None,
    )


def state_before(timeline: Timeline, number: int) -> State:
    """The task as request `number` (from 0) found it, before its own management. IndexError for no such request."""
    if not 0 <= number < len(timeline.requests):
        raise IndexError(f"there is no request {number + 1}; the task has {len(timeline.requests)}")
    previous = timeline.requests[number - 1] if number else None
    reported = previous is not None and previous.usage_reported
    return State(
        timeline,
        number,
        min(timeline.moments[number].until, len(timeline.snapshot.messages)),
        timeline.requests[number].range_before,
        timeline.history_before(number),
        previous.usage.total if previous is not None and reported else None,
        number - 1 if reported else None,
        previous.ts if previous is not None else None,
    )


def state_at(timeline: Timeline, number: int | None) -> State:
    """`state_before` of a request, `state_now` for None."""
    return state_now(timeline) if number is None else state_before(timeline, number)
