"""Find in the task: all rows are looked through in short slices between events, so that nothing freezes.

Only numbers of hits are kept, one a row; where the hits are is worked out again for what is shown. Decodes row by row
and keeps none of it.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from ctxviewer.models.conversation import ConversationModel
from ctxviewer.models.segments import Body
from ctxviewer.views.conversation.matching import BadPatternError, Matcher, Query, Span, make_matcher
from ctxviewer.views.conversation.selection import Spot

SLICE_SECONDS = 0.006
TELL_SECONDS = 0.05
KEPT_SPANS = 600
_UNKNOWN = -1


class Hit(NamedTuple):
    """One place that was found."""

    row: int
    section: int
    start: int
    end: int
    """Characters of the section's raw text, end exclusive."""

    @property
    def spot(self) -> Spot:
        """Where it starts."""
        return Spot(self.row, self.section, self.start)


@dataclass(frozen=True, slots=True)
class FindState:
    """How far a search has come. All numbers are of what was looked through so far."""

    query: Query | None = None
    """None when nothing is looked for."""
    total: int = 0
    messages: int = 0
    """Messages with hits."""
    current: int | None = None
    """Number of the current hit from 1, None while it is not known or there is none."""
    share: float = 1.0
    """Share of the messages that were looked through, 0 to 1."""
    complete: bool = True
    wrapped: bool = False
    """True if the last step went over the end, or over the beginning."""
    gave_up: int = 0
    """Stretches of text that were too costly for the pattern and may hold more."""
    problem: str = ""
    """Why the pattern cannot be used; '' if it can."""


class Finder(QObject):
    """Looks for one query at a time."""

    progressed = Signal(object)  # FindState
    hit_changed = Signal(object)  # Hit | None: another place is the current one

    def __init__(self, model: ConversationModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._matcher: Matcher | None = None
        self._query: Query | None = None
        self._counts = np.zeros(0, dtype=np.int64)
        self._hit: Hit | None = None
        self._wrapped = False
        self._problem = ""
        self._told = 0.0
        self._place_in_row: tuple[Hit, int] | None = None
        self._spans: OrderedDict[tuple[int, int, int], tuple[Span, ...]] = OrderedDict()
        self._seek: Iterator[Hit | None] | None = None
        self._count: Iterator[None] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._work)

    # -- asking

    @property
    def hit(self) -> Hit | None:
        """The current place."""
        return self._hit

    @property
    def query(self) -> Query | None:
        """What is looked for."""
        return self._query

    @property
    def state(self) -> FindState:
        """How far the search has come."""
        known = self._counts[self._counts >= 0]
        done = self._seek is None and self._count is None
        return FindState(
            query=self._query,
            total=int(known.sum()),
            messages=int((known > 0).sum()),
            current=self._ordinal(),
            share=len(known) / len(self._counts) if len(self._counts) else 1.0,
            complete=done,
            wrapped=self._wrapped,
            gave_up=self._matcher.gave_up if self._matcher is not None else 0,
            problem=self._problem,
        )

    def start(self, query: Query, at: Spot, *, backwards: bool = False) -> None:
        """Look for something else, from a place on; an empty text looks for nothing."""
        self.clear(quiet=True)
        self._query = query if query.text else None
        if self._query is not None:
            try:
                self._matcher = make_matcher(query)
            except BadPatternError as error:
                self._problem = error.sentence
            else:
                self._counts = np.full(self._model.rowCount(), _UNKNOWN, dtype=np.int64)
                self._seek = self._seeking(at, backwards=backwards)
                self._count = self._counting(at.row)
                self._timer.start()
        self.progressed.emit(self.state)

    def step(self, *, backwards: bool = False, at: Spot | None = None) -> None:
        """Go to the next place, or the one before: from `at`, else from the current one."""
        if self._matcher is None:
            return
        if at is None:
            at = self._hit.spot if self._hit is not None else Spot(0, 0, 0)
            if self._hit is not None and not backwards:
                at = at._replace(offset=self._hit.end)
        self._seek = self._seeking(at, backwards=backwards)
        self._work()
        if self._seek is not None:
            self._timer.start()

    def clear(self, *, quiet: bool = False) -> None:
        """Look for nothing."""
        self._timer.stop()
        self._matcher = self._query = self._seek = self._count = None
        self._counts = np.zeros(0, dtype=np.int64)
        self._problem, self._wrapped = "", False
        self._spans.clear()
        had, self._hit = self._hit, None
        if had is not None:
            self.hit_changed.emit(None)
        if not quiet:
            self.progressed.emit(self.state)

    def spans(self, row: int, section: int, text: str, low: int, high: int) -> tuple[Span, ...]:
        """Hits that touch the characters from `low` to `high` of a section that is shown."""
        if self._matcher is None:
            return ()
        key = (row, section, low)
        found = self._spans.get(key)
        if found is None:
            found = self._spans[key] = tuple(self._matcher.spans(text, low, high))
            while len(self._spans) > KEPT_SPANS:
                self._spans.popitem(last=False)
        return found

    # -- the model changes

    def rows_changed(self, first: int, end: int) -> None:
        """Texts of rows first to end - 1 may be others now: they are looked through again."""
        if self._matcher is None:
            return
        self._counts[first:end] = _UNKNOWN
        for key in [key for key in self._spans if first <= key[0] < end]:
            del self._spans[key]
        if self._hit is not None and first <= self._hit.row < end:
            self._hit = None
            self.hit_changed.emit(None)
        self._resume()

    def row_count_changed(self) -> None:
        """Rows were added or removed at the end."""
        if self._matcher is None:
            return
        rows = self._model.rowCount()
        old = self._counts[:rows]
        self._counts = np.concatenate((old, np.full(rows - len(old), _UNKNOWN, dtype=np.int64)))
        if self._hit is not None and self._hit.row >= rows:
            self._hit = None
            self.hit_changed.emit(None)
        self._resume()

    def _resume(self) -> None:
        self._count = self._counting(self._hit.row if self._hit is not None else 0)
        self._timer.start()

    # -- working

    def _work(self) -> None:
        """One slice."""
        until = time.perf_counter() + SLICE_SECONDS
        moved = False
        while self._seek is not None and time.perf_counter() < until:
            try:
                hit = next(self._seek)
            except StopIteration:
                self._seek = None
                break
            if hit is not None:
                self._seek, self._hit, moved = None, hit, True
                self.hit_changed.emit(hit)
        while self._seek is None and self._count is not None and time.perf_counter() < until:
            try:
                next(self._count)
            except StopIteration:
                self._count = None
        done = self._seek is None and self._count is None
        if done:
            self._timer.stop()
        now = time.perf_counter()
        if done or moved or now - self._told >= TELL_SECONDS:
            self._told = now
            self.progressed.emit(self.state)

    def _counting(self, start: int) -> Iterator[None]:
        """Count the hits of all rows that are not counted, from a row on; may stop at each `yield`."""
        rows = len(self._counts)
        for row in (*range(start, rows), *range(min(start, rows))):
            if row < len(self._counts) and self._counts[row] == _UNKNOWN:
                yield from self._count_row(row)
                yield

    def _count_row(self, row: int) -> Iterator[None]:
        matcher, total = self._matcher, 0
        if matcher is None:
            return
        for part in self._body(row).sections:
            for number in matcher.counts(part.text):
                total += number
                yield
        if row < len(self._counts):
            self._counts[row] = total

    def _seeking(self, at: Spot, *, backwards: bool) -> Iterator[Hit | None]:
        """The next hit from a place on, over the end of the task if need be; None where one may stop in between."""
        rows = len(self._counts)
        self._wrapped = False
        if not rows:
            return
        start = min(at.row, rows - 1)
        hit = self._hit_in(start, at, backwards=backwards)
        if hit is not None:
            yield hit
            return
        step = -1 if backwards else 1
        for distance in range(1, rows + 1):
            row = start + step * distance
            wrapped = not 0 <= row < rows
            row %= rows
            if row >= len(self._counts):
                continue
            if self._counts[row] == _UNKNOWN:
                for _ in self._count_row(row):
                    yield None
            if self._counts[row]:
                self._wrapped = wrapped
                yield self._hit_in(row, None, backwards=backwards)
                return
            yield None

    def _hit_in(self, row: int, at: Spot | None, *, backwards: bool) -> Hit | None:
        """The first hit of a row at or behind a place, or the last one before it; None as place = anywhere."""
        matcher = self._matcher
        if matcher is None:
            return None
        sections = list(enumerate(self._body(row).sections))
        for number, part in reversed(sections) if backwards else sections:
            text = part.text
            span: Span | None
            if backwards:
                limit = at.offset if at is not None and at.section == number else len(text)
                skip = at is not None and number > at.section
                span = None if skip else matcher.last(text, limit)
            else:
                begin = at.offset if at is not None and at.section == number else 0
                skip = at is not None and number < at.section
                span = None if skip else matcher.first(text, begin)
            if span is not None:
                return Hit(row, number, *span)
        return None

    def _ordinal(self) -> int | None:
        """The number of the current hit among all, None while rows before it are not counted."""
        hit, matcher = self._hit, self._matcher
        if hit is None or matcher is None or hit.row >= len(self._counts):
            return None
        before = self._counts[: hit.row]
        if (before < 0).any():
            return None
        if self._place_in_row is None or self._place_in_row[0] != hit:
            self._place_in_row = (hit, self._count_before(hit, matcher))
        return int(before.sum()) + self._place_in_row[1] + 1

    def _count_before(self, hit: Hit, matcher: Matcher) -> int:
        """Hits in the same row before this one."""
        number = 0
        for index, part in enumerate(self._body(hit.row).sections[: hit.section + 1]):
            text = part.text[: hit.start] if index == hit.section else part.text
            number += sum(matcher.counts(text))
        return number

    def _body(self, row: int) -> Body:
        return self._model.passing_body(row)
