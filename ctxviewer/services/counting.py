"""Counts the tokens of the open task in the background: visible messages first, slices of 64, all *estimated*.

One job at a time. It hands over slices through a signal, so that numbers appear while it runs, and it stops within a
slice when the task changes. Equal texts are counted once: the cache is by content and is kept on disk.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from ctxviewer.domain.message import parse_message
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.domain.updates import Update
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import SnapshotChange

if TYPE_CHECKING:  # numpy and tiktoken load with these: after the window is shown
    from ctxviewer.engine.timeline import Timeline
    from ctxviewer.tokens import CachedCounter, MessageCount, TokenSums, TokenTable

_log = logging.getLogger(__name__)

SLICE = 64
KEPT_SUMS = 4
"""Several panes ask for the same few projections: the one that is shown, and what a plan begins with."""


@dataclass(frozen=True, slots=True)
class _Slice:
    """What the job hands over while it runs."""

    generation: int
    messages: Mapping[int, MessageCount]
    updates: Mapping[str, int]


@dataclass(slots=True)
class _Wish:
    """Which messages are looked at: written by the GUI thread, read by the job. One reference, replaced whole."""

    first: int = 0


class Counting(QObject):
    """Owns the table of counts of the open task. GUI thread only, but for the job itself."""

    counts_changed = Signal(object)  # TokenTable | None
    _counted = Signal(object)  # _Slice

    def __init__(
        self,
        runner: Runner,
        cache_folder: Path | None = None,
        *,
        patience_ms: int = 0,
        parent: QObject | None = None,
    ) -> None:
        """`cache_folder`: where counts by content are kept between runs; None = only in memory.

        `patience_ms`: how long a new reading is left alone, so that it is painted before it is counted.
        """
        super().__init__(parent)
        self._runner, self._folder = runner, cache_folder
        self._counters: dict[str, CachedCounter] = {}
        self._snapshot: Snapshot | None = None
        self._timeline: Timeline | None = None
        self._table: TokenTable | None = None
        self._token: CancelToken | None = None
        self._generation = 0
        self._wish = _Wish()
        self._sentence = ""
        self._sums: deque[tuple[Projection, TokenTable, TokenSums]] = deque(maxlen=KEPT_SUMS)
        self._counted.connect(self._take)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(patience_ms)
        self._patience.timeout.connect(self._start)

    @property
    def table(self) -> TokenTable | None:
        """Counts as far as they are known, None without a task."""
        return self._table

    @property
    def waiting(self) -> bool:
        """True while a reading is left alone before it is counted."""
        return self._patience.isActive()

    @property
    def sentence(self) -> str:
        """How the counts are made: 'counted with o200k_base, the encoding of …'; '' before the first count."""
        return self._sentence

    def sums(self, projection: Projection) -> TokenSums | None:
        """Estimated tokens of a projection, None without a task."""
        table = self._table
        if table is None:
            return None
        for of, by, known in self._sums:
            if of is projection and by is table:
                return known
        sums = table.sums(projection)
        self._sums.appendleft((projection, table, sums))
        return sums

    def prefer(self, first: int) -> None:
        """Count from this stored message on next, because it is visible."""
        self._wish.first = max(0, first)

    def forget(self) -> None:
        """The task is gone."""
        self._stop()
        had = self._table
        self._sums.clear()
        self._snapshot = self._timeline = self._table = None
        if had is not None:
            self.counts_changed.emit(None)

    def follow(self, change: SnapshotChange) -> None:
        """A new reading: keep the counts of messages that are unchanged, count the rest."""
        from ctxviewer.tokens import TokenTable  # noqa: PLC0415 - loads numpy, which must not delay the first window

        self._stop()
        snapshot, length = change.snapshot, len(change.snapshot.messages)
        if self._table is not None and change.same_task and change.grown and change.previous is not None:
            self._table = self._table.resized(length, len(change.previous.messages))
        else:
            self._table = TokenTable(length)
            self._wish.first = 0
        self._snapshot, self._timeline = snapshot, change.timeline
        self.counts_changed.emit(self._table)
        if self._patience.interval():
            self._patience.start()
        else:
            self._start()

    def count_plan(self, plan: Plan | None) -> None:
        """Count the texts that a plan adds, replacements and what it makes up, so that its sums are right."""
        table = self._table
        if plan is None or table is None:
            return
        made_up = tuple(Update(row.before, 0, None, row.text, 0, None, 0) for row in plan.after.inserted)
        unknown = tuple(update for update in (*plan.added_updates, *made_up) if table.update(update.text) is None)
        if unknown:
            self._count_updates(unknown)

    def close(self) -> None:
        """Stop counting."""
        self._stop()

    def _stop(self) -> None:
        self._patience.stop()
        self._generation += 1
        if self._token is not None:
            self._token.cancel()
            self._token = None

    def _counter(self, model_id: str) -> CachedCounter:
        """The counter for a model; runs in a job and may take half a second the first time."""
        from ctxviewer.tokens import CachedCounter, CountCache, encoding_for, load_counter, load_counts  # noqa: PLC0415

        choice = encoding_for(model_id)
        counter = self._counters.get(choice.encoding)
        if counter is None:
            cache, inner = CountCache(), load_counter(choice.encoding)
            if self._folder is not None and inner.exact:
                load_counts(cache, self._folder, inner.name)
            counter = CachedCounter(inner, cache)
            self._counters[choice.encoding] = counter
        self._sentence = choice.sentence if counter.exact else counter.reason
        return counter

    def _start(self) -> None:
        table, snapshot, timeline = self._table, self._snapshot, self._timeline
        if table is None or snapshot is None or timeline is None:
            return
        missing = list(table.missing)
        unknown = tuple(update for update in timeline.updates if table.update(update.text) is None)
        if not missing and not unknown:
            return
        messages, model, generation, wish = snapshot.messages, snapshot.model.model_id, self._generation, self._wish
        folder, counted = self._folder, self._counted

        def work(token: CancelToken) -> None:
            from ctxviewer.tokens import count_message, count_updates, save_counts  # noqa: PLC0415 - as above

            counter = self._counter(model)
            counted.emit(_Slice(generation, {}, count_updates(counter, unknown)))
            total = len(missing)
            while missing:
                numbers = _take_slice(missing, wish.first)
                slice_counts: dict[int, MessageCount] = {}
                for number in numbers:
                    token.check()
                    slice_counts[number] = count_message(counter, parse_message(number, messages[number]))
                counted.emit(_Slice(generation, slice_counts, {}))
                token.report(total - len(missing), total)
            if folder is not None and total and counter.exact:
                try:
                    save_counts(counter.cache, folder, counter.name)
                except OSError as error:
                    _log.info("token counts are not kept: %s", error)

        self._token = self._runner.read(work, done=self._finish, title="Counting tokens (messages)")

    def _count_updates(self, updates: tuple[Update, ...]) -> None:
        snapshot, generation, counted = self._snapshot, self._generation, self._counted
        model = snapshot.model.model_id if snapshot is not None else ""

        def work(_token: CancelToken) -> None:
            from ctxviewer.tokens import count_updates  # noqa: PLC0415 - as above

            counted.emit(_Slice(generation, {}, count_updates(self._counter(model), updates)))

        self._runner.read(work, done=self._finish)

    def _finish(self, _nothing: object) -> None:
        self._token = None

    def _take(self, part: _Slice) -> None:
        if part.generation != self._generation or self._table is None:
            return
        if part.updates:
            self._table = self._table.with_updates(part.updates)
        if part.messages:
            self._table = self._table.with_messages(part.messages)
        if part.updates or part.messages:
            self.counts_changed.emit(self._table)


def _take_slice(missing: list[int], start: int) -> list[int]:
    """Take up to 64 numbers out of the ascending list, from `start` on, else from the beginning."""
    at = bisect_left(missing, start)
    at = 0 if at == len(missing) else at
    taken = missing[at : at + SLICE]
    del missing[at : at + SLICE]
    return taken
