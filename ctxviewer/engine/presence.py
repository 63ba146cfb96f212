"""In which requests every stored message was sent, and in which form: worked out once for a whole timeline.

A message is sent in few forms: as stored, with the updates of some time, as the first message behind the hidden
stretch. So a question about two thousand requests is one about a handful of forms, each with the runs of requests that
sent it. Requests are columns 0 … `now` - 1; column `now` is what the next request would start from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctxviewer.domain.projection import BlockChange, Projection, SentBlock
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.updates import Update
from ctxviewer.engine.spans import Span, covers, merged, minus
from ctxviewer.engine.timeline import Bounds, Timeline

_Numbers = npt.NDArray[np.int32]
EVERY = 64
"""A check is made each time so many requests were looked at."""
CALL_MARK = b'"tool_use"'
"""Stands in the JSON of every message with a native tool call."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which a message was sent: the same blocks in every column of its spans."""

    message: int
    spans: tuple[Span, ...]
    """Columns, in order."""
    updates: tuple[Update, ...] = ()
    """In force on its blocks, by block number; some may be without effect."""
    seam: int = 0
    """Length of the first pair, if the message was the first one sent behind the hidden stretch; else 0."""
    from_the_end: bool = False
    """Of a seam: the range counted from the end, so that no results were taken out."""

    @property
    def as_stored(self) -> bool:
        """True when nothing but the pairing of calls and results can have changed it."""
        return not self.updates and not self.seam


@dataclass(frozen=True, slots=True)
class Version:
    """The text of one block as it was sent in some columns: the stored one, or that of an update."""

    message: int
    block: int
    """As stored."""
    update: Update | None
    """None = as stored."""
    spans: tuple[Span, ...]


def _never() -> None:
    return None


class Presence:
    """When every message was sent. Immutable once made; may be asked from any thread."""

    def __init__(self, timeline: Timeline, check: Callable[[], None] = _never) -> None:
        """Work it out; takes milliseconds for thousands of requests. `check` may raise to cancel."""
        self.timeline = timeline
        self.now = len(timeline.requests)
        """The column of the present state; also the number of requests."""
        bounds: list[Bounds] = []
        for column in range(self.now + 1):
            if column % EVERY == 0:
                check()
            bounds.append(timeline.bounds(self._number(column)))
        self.bounds = tuple(bounds)
        """What each column sends."""
        self._offsets, self._firsts, self._lasts = _intervals(self.bounds, len(timeline.snapshot.messages))
        self._seams = _seams(self.bounds)
        self._updates = self._find_updates(check)
        self._plain = Projection(len(timeline.snapshot.messages), len(timeline.snapshot.messages) + 2, None, 2)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def _number(self, column: int) -> int | None:
        return column if column < self.now else None

    def column(self, request: int | None) -> int:
        """The column of a request, `now` for None. IndexError for a request that does not exist."""
        if request is None:
            return self.now
        if not 0 <= request < self.now:
            raise IndexError(f"there is no request {request + 1}; the task has {self.now}")
        return request

    def spans(self, message: int) -> tuple[Span, ...]:
        """Columns in which the message was sent, in whatever form. IndexError for a message that does not exist."""
        if not 0 <= message < len(self):
            raise IndexError(f"there is no message {message}; the history has {len(self)}")
        place = slice(self._offsets[message], self._offsets[message + 1])
        return tuple(zip(self._firsts[place].tolist(), self._lasts[place].tolist(), strict=True))

    def is_sent(self, message: int, column: int) -> bool:
        """Whether the column sends the message; False also for a message that does not exist."""
        found = self.bounds[column]
        return 0 <= message < min(found.first_pair, found.until) or found.resume <= message < found.until

    def forms(self, message: int) -> tuple[Form, ...]:
        """Every form in which the message was sent, by its first column; () if it never was. IndexError as `spans`."""
        spans = self.spans(message)
        changes, seams = self._updates.get(message), self._seams.get(message)
        if changes is None and seams is None:
            return (Form(message, spans),) if spans else ()
        found: dict[tuple[object, ...], tuple[list[Span], tuple[Update, ...], tuple[int, bool]]] = {}
        for first, last in _split(spans, changes or (), seams or ()):
            updates = _at(changes or (), first)
            seam = next((seam for start, end, seam in seams or () if start <= first <= end), (0, False))
            key = (seam, *(id(update) for update in updates))
            found.setdefault(key, ([], updates, seam))[0].append((first, last))
        return tuple(Form(message, merged(pieces), updates, *seam) for pieces, updates, seam in found.values())

    def form_at(self, message: int, column: int) -> Form | None:
        """The form in which a column sends the message; None if it does not, or if there is no such message."""
        if not self.is_sent(message, column):
            return None
        return next((form for form in self.forms(message) if covers(form.spans, column)), None)

    def blocks(self, form: Form) -> tuple[SentBlock, ...]:
        """The message in this form, block by block, as `Timeline.blocks` gives it for each of its columns."""
        return self.timeline.blocks(self.projection(form), form.message)

    def untouched(self, form: Form) -> bool:
        """True if the blocks of the form are the stored ones: nothing rewrote them, no call before them needs a result.

        Quick: looks at bytes. False may still mean that nothing changed.
        """
        calls = form.message > 0 and CALL_MARK in self.timeline.snapshot.messages.raw(form.message - 1)
        return form.as_stored and not calls

    def projection(self, form: Form) -> Projection:
        """A projection that sends the message in this form; of the other messages it says nothing."""
        if form.as_stored:
            return self._plain
        stored = self._plain.stored
        updates = {(form.message, update.block): update for update in form.updates}
        resume = form.message if form.seam else 2
        deleted = Range(2, -2) if form.from_the_end else None
        return Projection(stored, stored + 2, deleted, resume, updates, first_pair=form.seam or 2)

    def versions(self, message: int) -> tuple[Version, ...]:
        """Every text of every stored block of the message, with the columns that sent it; IndexError as `spans`.

        Blocks that a repair takes out of a form are not sent by it; made-up blocks have no stored number and no row.
        """
        found: dict[tuple[int, int], tuple[Update | None, list[Span]]] = {}
        for form in self.forms(message):
            for block in self.blocks(form):
                if block.change is not BlockChange.REMOVED and block.stored is not None:
                    update = block.update if block.change is BlockChange.REWRITTEN else None
                    key = (block.stored.index, -1 if update is None else update.ordinal)
                    found.setdefault(key, (update, []))[1].extend(form.spans)
        return tuple(
            Version(message, block, update, merged(spans)) for (block, _), (update, spans) in sorted(found.items())
        )

    def _find_updates(self, check: Callable[[], None]) -> Mapping[int, list[tuple[int, tuple[Update, ...]]]]:
        """By message: the columns from which on other updates are in force, with those updates."""
        found: dict[int, list[tuple[int, tuple[Update, ...]]]] = {}
        before: Mapping[int, tuple[Update, ...]] = {}
        known: object = None
        for column in range(self.now + 1):
            if column % EVERY == 0:
                check()
            # With one message or none, no update is applied.
            alone = self.bounds[column].until <= 1
            in_force = {} if alone else self.timeline.updates_sent(self._number(column))
            if in_force is known or (alone and not before):
                continue
            known = in_force
            after = _by_message(in_force)
            for message in before.keys() | after.keys():
                old, new = before.get(message, ()), after.get(message, ())
                if len(old) != len(new) or any(one is not other for one, other in zip(old, new, strict=True)):
                    found.setdefault(message, []).append((column, new))
            before = after
        return found


def _by_message(in_force: Mapping[tuple[int, int], Update]) -> dict[int, tuple[Update, ...]]:
    """Updates of each message, by block number."""
    found: dict[int, tuple[Update, ...]] = {}
    for (message, _), update in sorted(in_force.items(), key=lambda item: item[0]):
        found[message] = (*found.get(message, ()), update)
    return found


def _sent(bounds: Bounds) -> tuple[Span, ...]:
    head = min(bounds.first_pair, bounds.until)
    return merged([(0, head - 1), (max(bounds.resume, head), bounds.until - 1)])


def _intervals(bounds: tuple[Bounds, ...], stored: int) -> tuple[_Numbers, _Numbers, _Numbers]:
    """By message: where its intervals begin in the other two arrays; first and last column of every interval."""
    since = np.full(stored, -1, dtype=np.int32)
    closed: list[tuple[_Numbers, _Numbers, _Numbers]] = []
    before: tuple[Span, ...] = ()
    for column, found in enumerate((*bounds, None)):
        after = _sent(found) if found is not None else ()
        if after == before:
            continue
        for first, last in minus(before, after):
            numbers = np.arange(first, last + 1, dtype=np.int32)
            closed.append((numbers, since[first : last + 1].copy(), np.full(len(numbers), column - 1, dtype=np.int32)))
        for first, last in minus(after, before):
            since[first : last + 1] = column
        before = after
    empty = np.zeros(0, dtype=np.int32)
    messages, firsts, lasts = (
        (np.concatenate(column) for column in zip(*closed, strict=True)) if closed else (empty, empty, empty)
    )
    order = np.argsort(messages, kind="stable")
    offsets = np.searchsorted(messages[order], np.arange(stored + 1)).astype(np.int32)
    return offsets, firsts[order], lasts[order]


_Seam = tuple[int, int, tuple[int, bool]]
"""First column, last column, (length of the first pair, whether the range counts from the end)."""


def _seams(bounds: tuple[Bounds, ...]) -> dict[int, list[_Seam]]:
    """By message: where it is the first one after the cut."""
    found: dict[int, list[_Seam]] = {}
    for column, one in enumerate(bounds):
        if not one.hides or one.resume >= one.until:
            continue
        places, seam = found.setdefault(one.resume, []), (one.first_pair, one.from_the_end)
        if places and places[-1][1] == column - 1 and places[-1][2] == seam:
            places[-1] = (places[-1][0], column, seam)
        else:
            places.append((column, column, seam))
    return found


def _split(
    spans: tuple[Span, ...],
    changes: tuple[()] | list[tuple[int, tuple[Update, ...]]],
    seams: tuple[()] | list[_Seam],
) -> list[Span]:
    """The spans, cut wherever the form may change."""
    cuts = sorted({column for column, _ in changes} | {at for first, last, _ in seams for at in (first, last + 1)})
    pieces: list[Span] = []
    for first, last in spans:
        starts = [first, *(cut for cut in cuts if first < cut <= last)]
        pieces.extend((start, end - 1) for start, end in zip(starts, [*starts[1:], last + 1], strict=True))
    return pieces


def _at(changes: tuple[()] | list[tuple[int, tuple[Update, ...]]], column: int) -> tuple[Update, ...]:
    found: tuple[Update, ...] = ()
    for start, updates in changes:
        if start > column:
            break
        found = updates
    return found
