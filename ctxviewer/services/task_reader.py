"""Reads the open task on the runner, one reading at a time; what looks half written is read again a little later."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.snapshot import Snapshot, TaskRef
from ctxviewer.services.readings import Reader, Reading, is_grown, looks_half_written
from ctxviewer.services.runner import CancelToken, Runner

if TYPE_CHECKING:  # the engine loads with it; at run time jobs load it, off the GUI thread
    from ctxviewer.engine.timeline import Timeline

_log = logging.getLogger(__name__)

RETRIES_MS = (60, 120, 250)
"""Waits before a file that looks half-written is read again."""


class TaskReader(QObject):
    """GUI thread only. Knows nothing of what is made of a reading."""

    begun = Signal()
    ended = Signal()
    """A reading has ended, well or badly; what came of it is told next."""
    taken = Signal(object)  # Reading
    failed = Signal(object)  # CtxError
    wanted = Signal()
    """The files are to be looked at now: whoever holds the newest reading calls `start`."""

    def __init__(
        self,
        runner: Runner,
        read: Reader,
        window_override: Callable[[TaskRef], int | None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runner, self._read, self._window_override = runner, read, window_override
        self._generation = 0
        self._previous: Snapshot | None = None
        """What the reading under way follows; nothing is held between readings."""
        self._is_reading = False
        self._token: CancelToken | None = None
        self._again = False
        self._retry = 0
        self._retry_timer = QTimer(self)
        self._retry_timer.setSingleShot(True)
        self._retry_timer.timeout.connect(self.ask)

    @property
    def is_reading(self) -> bool:
        """True while a reading is under way."""
        return self._is_reading

    @property
    def generation(self) -> int:
        """Number of the newest reading that was begun, or of the newest change of the task."""
        return self._generation

    def turn(self) -> None:
        """Another task is open now, or none: what was asked for before is not told any more."""
        self._generation += 1
        self._runner.generation = self._generation

    def ask(self) -> None:
        """Look at the files again. While a reading is under way, one more follows it."""
        if self._is_reading:
            self._again = True
        else:
            self.wanted.emit()

    def drop(self) -> None:
        """Read nothing any more."""
        self._retry_timer.stop()
        if self._token is not None:
            self._token.cancel()
        self._is_reading, self._token, self._previous = False, None, None
        self._again, self._retry = False, 0

    def start(self, ref: TaskRef, previous: Snapshot | None, previous_timeline: Timeline | None) -> None:
        """Begin a reading, after `previous` with its timeline if the task was read before."""
        self._generation += 1
        generation, read, override = self._generation, self._read, self._window_override(ref)
        name = ref.title.strip().splitlines()[0][:40] if ref.title.strip() else ref.task_id
        size = f" ({ref.size / 1e6:,.1f} MB)" if ref.size else ""
        title = f"Reading {name}{size}" if previous is None else ""

        def work(token: CancelToken) -> Reading:
            from ctxviewer.engine.timeline import Timeline  # noqa: PLC0415 - as above

            snapshot = read(ref, previous=previous, generation=generation, window_override=override)
            token.check()
            if snapshot is previous and previous_timeline is not None:
                return Reading(snapshot, previous_timeline, grown=True)
            timeline = Timeline(snapshot, previous_timeline)
            grown = previous is not None and is_grown(previous.messages, snapshot.messages)
            return Reading(snapshot, timeline, grown)

        self._is_reading, self._previous = True, previous
        self.begun.emit()
        token = self._runner.read(work, done=self._take, failed=self._fail, generation=generation, title=title)
        self._token = token if self._is_reading else None  # it may have ended already

    def _take(self, reading: Reading) -> None:
        previous = self._previous
        self._is_reading, self._token, self._previous = False, None, None
        self.ended.emit()
        if reading.snapshot is not previous:
            if previous is not None and self._waits(previous, reading.snapshot):
                return
            self._retry = 0
            self.taken.emit(reading)
        self._go_on()

    def _fail(self, error: CtxError) -> None:
        self._is_reading, self._token, self._previous = False, None, None
        self.ended.emit()
        self.failed.emit(error)
        self._go_on()

    def _go_on(self) -> None:
        if self._again:
            self._again = False
            self.wanted.emit()

    def _waits(self, previous: Snapshot, snapshot: Snapshot) -> bool:
        """True when a file of the task seems to be in the middle of being written: it is read again soon."""
        if not looks_half_written(previous, snapshot):
            return False
        if self._retry >= len(RETRIES_MS):
            return False
        self._retry_timer.start(RETRIES_MS[self._retry])
        self._retry += 1
        self._again = False
        _log.info("a file of the task looks half-written; looking again (%d)", self._retry)
        return True
