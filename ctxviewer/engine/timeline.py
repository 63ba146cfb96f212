"""Every request of a task as a Projection, every change of the context as an Event.

Nothing here is kept per request but a few numbers: a projection is made when it is asked for, so that stepping through
thousands of requests costs the same as looking at one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from ctxviewer.domain.json import Json, is_object
from ctxviewer.domain.log import Prefix
from ctxviewer.domain.message import Message, parse_message
from ctxviewer.domain.projection import Projection, Repair, SentBlock
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Request
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.domain.updates import StoredUpdate, Unapplied, Update
from ctxviewer.engine.cline import pairs_of
from ctxviewer.engine.cline.moments import Moment, UpdatesByTime, find_moments
from ctxviewer.engine.cline.project import project
from ctxviewer.engine.cline.sent_blocks import sent_blocks
from ctxviewer.engine.cline.updates import ContextHistory, HistoryDraft
from ctxviewer.engine.events import Event, cuts_until, find_events

SMALL = 2_000
"""Up to so many messages, repairs are looked for at once; beyond, `find_repairs` is for a background job."""

OLD_RANGE_START = 1
"""Versions 3.1 to 3.9.2 kept only message 0; their ranges start at 1."""


def _never() -> None:
    return None


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Repairs between neighbours of the stored history, by message number, ascending."""

    numbers: tuple[int, ...]
    repairs: tuple[tuple[Repair, ...], ...]

    def within(self, first: int, end: int) -> tuple[Repair, ...]:
        low, high = bisect_left(self.numbers, first), bisect_left(self.numbers, end)
        return tuple(repair for group in self.repairs[low:high] for repair in group)


class Bounds(NamedTuple):
    """Messages 0 … first_pair - 1 and resume … until - 1 are sent."""

    first_pair: int
    start: int
    """First message behind the deleted range; below `first_pair` where that sends messages twice."""
    resume: int
    until: int
    from_the_end: bool = False
    """As `Projection.from_the_end`: nothing is stripped at `resume`, and no update reaches a message from there on."""

    @property
    def hides(self) -> bool:
        """True when a stretch between the first pair and `resume` is not sent."""
        return min(self.resume, self.until) > self.first_pair


def _pairs_before(snapshot: Snapshot, earlier: Timeline | None) -> tuple[_Pairs, int]:
    """Repairs that an earlier timeline found between messages that are the same now, and where to look on from."""
    if earlier is None or earlier._pairs is None:  # noqa: SLF001 - another one of our own
        return _Pairs((), ()), 0
    pairs = earlier._pairs  # noqa: SLF001 - another one of our own
    start = max(0, snapshot.messages.shared_with(earlier.snapshot.messages) - 1)
    count = bisect_left(pairs.numbers, start + 1)
    return _Pairs(pairs.numbers[:count], pairs.repairs[:count]), start


def bounds_of(deleted: Range | None, until: int) -> Bounds:
    """What a deleted range leaves of the first `until` messages, by the reference's slicing."""
    first_pair = 1 if deleted is not None and deleted.start == OLD_RANGE_START else 2
    start = deleted.end + 1 if deleted is not None else first_pair
    from_the_end = start < 0  # the reference slices from the end
    start = min(max(0, until + start) if from_the_end else start, until)
    return Bounds(first_pair, start, max(first_pair, start), until, from_the_end)


class Timeline:
    """The past of one snapshot. Immutable but for the repairs, which `find_repairs` adds once."""

    history: ContextHistory
    """The stored updates as the rules take them."""
    updates: tuple[Update, ...]
    """All stored updates that make sense, in stored order."""
    _by_time: UpdatesByTime

    def __init__(self, snapshot: Snapshot, earlier: Timeline | None = None) -> None:
        """`earlier` may be the timeline of the reading before: what has not changed is taken over from it."""
        self.snapshot = snapshot
        if earlier is not None and earlier.snapshot.updates_text == snapshot.updates_text:
            self.history, self.updates = earlier.history, earlier.updates
            self._by_time = earlier._by_time  # noqa: SLF001 - another one of our own
        else:
            self.history = ContextHistory.parse(snapshot.updates_text)
            stored = tuple(self.history.stored_updates())
            self.updates = tuple(update for update in stored if isinstance(update, Update))
            self._by_time = UpdatesByTime(stored)
        self.moments: tuple[Moment, ...] = find_moments(snapshot)
        self._pairs: _Pairs | None = None
        self._known_pairs, self._pairs_from = _pairs_before(snapshot, earlier)
        if len(snapshot.messages) - self._pairs_from <= SMALL:
            self.find_repairs()

    @property
    def requests(self) -> tuple[Request, ...]:
        """The snapshot's requests."""
        return self.snapshot.requests

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """What changed the context, in order of time."""
        return find_events(self.snapshot, self.moments, self._by_time)

    def projection(self, number: int | None) -> Projection:
        """What request `number` sent; None = what the next request would start from, as the files stand now.

        IndexError for a request that does not exist.
        """
        in_force = self.updates_at(number)
        if number is None:
            return self.project(self.snapshot.range_now, in_force, len(self.snapshot.messages))
        moment = self.moments[number]
        return self.project(moment.deleted_range, in_force, moment.until, request=number, doubts=moment.doubts)

    def updates_at(self, number: int | None) -> Mapping[tuple[int, int], Update]:
        """The update in force of every block at a request, None = now; also for messages that did not exist yet.

        Requests between which nothing changed share one mapping. IndexError for a request that does not exist.
        """
        if number is None:
            return self.history.in_force()
        if not 0 <= number < len(self.moments):
            raise IndexError(f"there is no request {number + 1}; the task has {len(self.moments)}")
        request = self.requests[number]
        if request.ui_index < 0:
            return self.history.in_force()
        return self._by_time.at(request.ts, self.moments[number].streamed_ts)

    def updates_sent(self, number: int | None) -> Mapping[tuple[int, int], Update]:
        """`updates_at` without those that reach no message because the range counts from the end."""
        in_force, bounds = self.updates_at(number), self.bounds(number)
        if not bounds.from_the_end:
            return in_force
        return {place: update for place, update in in_force.items() if place[0] < bounds.first_pair}

    def bounds(self, number: int | None) -> Bounds:
        """Which messages a request sends, None = now. Much cheaper than its projection. IndexError as there."""
        stored = len(self.snapshot.messages)
        if number is None:
            return bounds_of(self.snapshot.range_now, stored)
        moment = self.moments[number]
        return bounds_of(moment.deleted_range, min(moment.until, stored))

    def project(
        self,
        deleted: Range | None,
        in_force: Mapping[tuple[int, int], Update],
        until: int,
        *,
        request: int | None = None,
        doubts: tuple[str, ...] = (),
    ) -> Projection:
        """The projection of any state of this task: a range, updates in force, and how many messages exist.

        Sizes: `until` is exclusive. Updates that reach no message are left out: those at or beyond `until`, and for a
        range that counts from the end all behind the first pair.
        """
        first_pair, start, resume, until, from_the_end = bounds_of(deleted, min(until, len(self.snapshot.messages)))
        reached = first_pair if from_the_end else until
        repeated = tuple(range(start, min(first_pair, until))) if until > 1 else ()
        if repeated:
            twice = ", ".join(str(number) for number in repeated)
            doubts = (*doubts, f"the deleted range ends at {start - 1}, so the reference sends message {twice} twice")
        projection = Projection(
            stored=len(self.snapshot.messages),
            until=until,
            deleted_range=deleted,
            resume=resume,
            updates=in_force
            if reached == len(self.snapshot.messages)
            else {place: update for place, update in in_force.items() if place[0] < reached},
            cuts=cuts_until(self.events, first_pair, resume, request),
            request=request,
            exact=not doubts,
            doubts=doubts,
            first_pair=first_pair,
            repeated=repeated,
            repairs_known=self._pairs is not None,
        )
        return replace(projection, repairs=self._repairs(projection)) if self._pairs is not None else projection

    def find_repairs(self, check: Callable[[], None] = _never) -> None:
        """Look for repairs in the whole history, once. `check` is called every 64 messages and may raise to cancel.

        May run on another thread; projections made before simply do not have them.
        """
        if self._pairs is None:
            found = pairs_of.find_pair_repairs(self.snapshot.messages, check, self._pairs_from)
            known = self._known_pairs
            self._pairs = _Pairs((*known.numbers, *found), (*known.repairs, *found.values()))

    def _repairs(self, projection: Projection) -> tuple[Repair, ...]:
        pairs = self._pairs
        if pairs is None:
            return ()
        if not projection.hidden:
            return pairs.within(1, projection.until)
        start = projection.resume
        head = pairs.within(1, projection.first_pair)
        seam: tuple[Repair, ...] = ()
        if start < projection.until:
            seam = pairs_of.seam_repairs(self.snapshot.messages, projection)
        return (*head, *seam, *pairs.within(start + 1, projection.until))

    def blocks(self, projection: Projection, message: int) -> tuple[SentBlock, ...]:
        """Message `message` as this projection sends it, block by block, with what is left out. Exact.

        For a message that is not sent, or later: as it is stored, with its updates applied.
        """
        return sent_blocks(self.snapshot.messages, projection, message)

    def message(self, number: int) -> Message:
        """The typed view of a stored message."""
        return parse_message(number, self.snapshot.messages[number])

    def history_at(self, projection: Projection) -> ContextHistory:
        """The updates of a projection as the value that the engine's rules take."""
        if projection.request is None and projection.updates is self.history.in_force():
            return self.history
        return history_of(projection.updates.values())

    def history_before(self, number: int) -> ContextHistory:
        """The updates that request `number` started from, before its own context management ran."""
        if number == 0:
            return ContextHistory()
        return history_of(self._by_time.before(self.requests[number - 1].ts, self.requests[number].ts))

    def sent(self, number: int | None) -> list[Json]:
        """The exact message list that request `number` (None = now) sends. It is to be read only."""
        return self.sent_by(self.projection(number))

    def sent_by(self, projection: Projection) -> list[Json]:
        """The exact message list of a projection, with what a strategy left out or made up."""
        messages = Prefix(self.snapshot.messages, projection.until)
        if projection.first_pair == OLD_RANGE_START:
            stored = [*range(min(1, projection.until)), *range(projection.resume, projection.until)]
            sent = [messages[number] for number in stored]
        else:
            found = project(messages, projection.deleted_range, self.history_at(projection))
            stored, sent = found.stored, found.messages
        if not (projection.gone or projection.gone_blocks or projection.inserted):
            return sent
        return list(self._thinned(projection, zip(stored, sent, strict=True)))

    def _thinned(self, projection: Projection, sent: Iterable[tuple[int, Json]]) -> Iterator[Json]:
        """What a strategy leaves of the messages, with the ones that it made up."""
        partly = {message for message, _ in projection.gone_blocks}
        made = list(projection.inserted)
        for number, value in sent:
            while made and made[0].before <= number:
                row = made.pop(0)
                yield {"role": row.role, "content": row.text}
            if number in projection.gone:
                continue
            if number in partly and is_object(value):
                kept = [block.sent.raw for block in self.blocks(projection, number) if block.sent is not None]
                yield {**value, "content": kept}
            else:
                yield value
        for row in made:
            yield {"role": row.role, "content": row.text}


def history_of(updates: Iterable[StoredUpdate]) -> ContextHistory:
    """A history that holds just these updates, each block's in the order given."""
    draft = HistoryDraft(ContextHistory())
    for update in updates:
        if isinstance(update, Unapplied):
            draft.append(update.message, update.block, update.edit_type, update.change)
            continue
        draft.push(update.message, update.block, update.edit_type, update.timestamp, update.text, update.metadata)
    return draft.freeze()
