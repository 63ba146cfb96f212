"""Work off the GUI thread: reads side by side on two threads, changes one after another on a third.

Every result comes back through one long-lived QObject, so `done` and `failed` always run on the GUI thread.
Jobs must not touch a QObject; they may call `check` and `report` of their token.
"""

from __future__ import annotations

import itertools
import logging
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal

from ctxviewer.domain.errors import CancelledWorkError, CtxError

_log = logging.getLogger(__name__)

REPORTS_PER_SECOND = 10


class CancelToken:
    """Given to a job: how it learns that it should stop, and how it tells how far it is. Safe on every thread."""

    __slots__ = ("_event", "_last", "_progress")

    def __init__(self, progress: Callable[[int, int], None] | None = None) -> None:
        self._event = threading.Event()
        self._progress = progress
        self._last = 0.0

    @property
    def cancelled(self) -> bool:
        """True once somebody asked to stop."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Ask the job to stop. Its result will not be delivered, even if it has finished in the meantime."""
        self._event.set()

    def check(self) -> None:
        """Raise CancelledWorkError when asked to stop. Loops call it every 64 messages or so."""
        if self._event.is_set():
            raise CancelledWorkError("The work was cancelled.")

    def report(self, done: int, total: int) -> None:
        """Tell how much is done; `total` 0 = nobody knows. Raises like `check`; passed on ten times a second."""
        self.check()
        now = time.monotonic()
        if self._progress is not None and (now - self._last >= 1 / REPORTS_PER_SECOND or done == total):
            self._last = now
            self._progress(done, total)


Work = Callable[[CancelToken], Any]
Done = Callable[[Any], None]
Failed = Callable[[CtxError], None]


class Executor(Protocol):
    """Where jobs run. `InlineExecutor` serves tests."""

    def submit(self, fn: Callable[[], None], /) -> object:
        """Run `fn` sometime."""
        ...

    def shutdown(self, *, wait: bool = True, cancel_futures: bool = False) -> None:
        """Take no more jobs; with `wait`, return when the last has ended."""
        ...


class InlineExecutor:
    """Runs every job at once in the calling thread, so that tests need not wait."""

    def submit(self, fn: Callable[[], None], /) -> None:
        """Run `fn` now."""
        fn()

    def shutdown(self, *, wait: bool = True, cancel_futures: bool = False) -> None:
        """Nothing to end."""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work under way, as the progress strip shows it."""

    ticket: int
    title: str
    """What is done, in words: 'Reading fix-login (2.4 MB)'."""
    started: float
    """time.monotonic() when it was asked for."""
    done: int = 0
    total: int = 0
    """0 = unknown."""
    cancellable: bool = True


@dataclass(frozen=True, slots=True)
class _Settled:
    ticket: int
    value: object = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class _Waiting:
    token: CancelToken
    done: Done
    failed: Failed | None
    generation: int | None
    title: str


class Runner(QObject):
    """Two pools and one letter box. The owner calls `close` before the application ends."""

    jobs_changed = Signal(object)  # tuple[Job, ...]
    _settled = Signal(object)  # _Settled
    _progressed = Signal(object)  # tuple[int, int, int]: ticket, done, total

    def __init__(
        self, parent: QObject | None = None, *, read: Executor | None = None, change: Executor | None = None
    ) -> None:
        super().__init__(parent)
        self._read = ThreadPoolExecutor(2, thread_name_prefix="ctx-read") if read is None else read
        self._change = ThreadPoolExecutor(1, thread_name_prefix="ctx-change") if change is None else change
        self._tickets = itertools.count(1)
        self._waiting: dict[int, _Waiting] = {}
        self._jobs: dict[int, Job] = {}
        self._closed = False
        self.generation = 0
        """Results of reads that were stamped with an older generation are dropped."""
        self._settled.connect(self._deliver)
        self._progressed.connect(self._note_progress)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Titled jobs under way, oldest first. Cancelled ones may still run, but nobody waits for them."""
        return tuple(job for ticket, job in self._jobs.items() if not self._waiting[ticket].token.cancelled)

    @property
    def busy_changing(self) -> bool:
        """True while a change is queued or running."""
        return any(not job.cancellable for job in self._jobs.values())

    def read(
        self, work: Work, *, done: Done, failed: Failed | None = None, generation: int | None = None, title: str = ""
    ) -> CancelToken:
        """Run `work(token)` beside other reads. Jobs without a title are not shown."""
        return self._submit(self._read, work, _Waiting(CancelToken(), done, failed, generation, title), True)

    def change(self, work: Work, *, done: Done, failed: Failed | None = None, title: str = "Writing") -> CancelToken:
        """Run `work(token)` after all changes asked for before. Once it runs it is not interrupted."""
        return self._submit(self._change, work, _Waiting(CancelToken(), done, failed, None, title), False)

    def cancel(self, ticket: int) -> None:
        """The user cancels a read by the ticket of its Job: `failed` is told at once with a CancelledWorkError.

        Changes are left alone: they end wholly or not at all.
        """
        waiting, job = self._waiting.get(ticket), self._jobs.get(ticket)
        if waiting is not None and job is not None and job.cancellable:
            waiting.token.cancel()
            self._forget(ticket)
            if waiting.failed is not None:
                waiting.failed(CancelledWorkError(f"{job.title}: cancelled."))

    def cancel_reads(self) -> None:
        """Cancel every titled read, as Esc on the progress strip does."""
        for ticket in [job.ticket for job in self.jobs if job.cancellable]:
            self.cancel(ticket)

    def close(self) -> None:
        """Cancel all reads, let the changes end, join the threads. No result is delivered afterwards."""
        if self._closed:
            return
        self._closed = True
        for waiting in self._waiting.values():
            waiting.token.cancel()
        self._read.shutdown(wait=True, cancel_futures=True)
        self._change.shutdown(wait=True, cancel_futures=False)
        self._waiting.clear()
        self._jobs.clear()

    def _submit(self, executor: Executor, work: Work, waiting: _Waiting, cancellable: bool) -> CancelToken:
        ticket = next(self._tickets)
        settled, progressed = self._settled, self._progressed
        token = CancelToken(lambda done, total: progressed.emit((ticket, done, total)))
        if self._closed:
            token.cancel()
            return token
        waiting = replace(waiting, token=token)

        def call() -> None:
            try:
                if cancellable:
                    token.check()
                result = _Settled(ticket, value=work(token))
            except BaseException as err:  # noqa: BLE001 - whatever ends a job must reach the GUI thread, panics of libraries too
                result = _Settled(ticket, error=err)
            settled.emit(result)

        self._waiting[ticket] = waiting
        if waiting.title:
            self._jobs[ticket] = Job(ticket, waiting.title, time.monotonic(), cancellable=cancellable)
            self.jobs_changed.emit(self.jobs)
        executor.submit(call)
        return token

    def _forget(self, ticket: int) -> None:
        shown = self._jobs.pop(ticket, None)
        self._waiting.pop(ticket, None)
        if shown is not None:
            self.jobs_changed.emit(self.jobs)

    def _note_progress(self, news: tuple[int, int, int]) -> None:
        ticket, done, total = news
        job = self._jobs.get(ticket)
        if job is not None:
            self._jobs[ticket] = replace(job, done=done, total=total)
            self.jobs_changed.emit(self.jobs)

    def _deliver(self, settled: _Settled) -> None:
        waiting = self._waiting.get(settled.ticket)
        self._forget(settled.ticket)
        if waiting is None or self._closed:
            return
        error = settled.error
        if waiting.token.cancelled or isinstance(error, CancelledWorkError):
            return
        if waiting.generation is not None and waiting.generation < self.generation:
            _log.debug("a result of generation %d came late", waiting.generation)
            return
        if error is None:
            waiting.done(settled.value)
        elif isinstance(error, CtxError):
            if waiting.failed is not None:
                waiting.failed(error)
        else:
            if waiting.failed is not None:
                waiting.failed(CtxError(f"{waiting.title or 'Work'} failed unexpectedly: {type(error).__name__}."))
            sys.excepthook(type(error), error, error.__traceback__)
