"""The answer that a live task is writing: tokens so far, how fast, how soon the first. All estimated by Sage's counter.

A task counts as live once it has been seen to grow; what an agent that died left unfinished is not a stream.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal

from ctxviewer.domain.json import as_text, is_object
from ctxviewer.domain.request import Request, RequestState
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.services.session import Session, SnapshotChange

if TYPE_CHECKING:  # the engine loads with it; the first growing task loads it
    from ctxviewer.engine.sage.streaming import StreamingTokenCounter, StreamReading

TICK_MS: Final = 500
STALE_S: Final = 60.0
"""An answer that has not grown for so long is written by nobody."""
SHOWN_S: Final = 12.0
"""A finished answer is shown so long."""
_WRITTEN: Final = frozenset({"text", "reasoning"})
"""Entries that hold words of the model; others hold what the agent made of them."""


@dataclass(frozen=True, slots=True)
class Stream:
    """What is known of one answer."""

    request: int
    """Number of the request that it answers."""
    reading: StreamReading
    finished: bool = False


class Streaming(QObject):
    """Follows the newest request of the open task. GUI thread only."""

    changed = Signal(object)  # Stream | None

    def __init__(self, session: Session, clock: Callable[[], float] = time.time, parent: QObject | None = None) -> None:
        """`clock`: seconds since the epoch, as the task's own times."""
        super().__init__(parent)
        self._clock = clock
        self._at = 0.0
        self._counter: StreamingTokenCounter | None = None
        self._request: int | None = None
        self._seen: dict[int, str] = {}
        """By number of an entry its text as far as it was counted."""
        self._grown_at = 0.0
        self._current: Stream | None = None
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self.refresh)
        session.task_changed.connect(self._leave)
        session.snapshot_changed.connect(self._follow)

    @property
    def current(self) -> Stream | None:
        """The answer that is being written, or was until a moment ago."""
        return self._current

    def refresh(self) -> None:
        """Work out the figures of this moment."""
        current, now = self._current, self._clock()
        if current is None:
            return
        if now - self._grown_at > (SHOWN_S if current.finished else STALE_S):
            self._show(None)
        elif not current.finished and self._counter is not None:
            self._show(Stream(current.request, self._reading(self._counter)))

    def close(self) -> None:
        """Follow nothing any more."""
        self._tick.stop()

    # -- inside

    def _follow(self, change: SnapshotChange) -> None:
        snapshot = change.snapshot
        request = snapshot.requests[-1] if snapshot.requests else None
        if request is None or request.ui_index < 0:
            self._forget()
            return
        if request.number != self._request:
            self._begin(snapshot, request)
        counter = self._counter
        if counter is None:
            return
        grew = self._count(snapshot, request, counter)
        if grew or not self._grown_at:
            self._grown_at = self._clock()
        current = self._current if self._current is not None and self._current.request == request.number else None
        live = change.same_task and change.previous is not None and (grew or _is_new(change.previous, request))
        if request.state is RequestState.RUNNING or _is_partial(snapshot, request):
            if live or current is not None:
                self._show(Stream(request.number, self._reading(counter)))
            else:
                self._show(None)
        elif current is None:
            self._show(None)
        elif not current.finished:
            self._at = self._grown_at = self._clock()
            self._show(Stream(request.number, counter.finish(), finished=True))

    def _begin(self, snapshot: Snapshot, request: Request) -> None:
        from ctxviewer.engine.sage.estimator import TokenEstimator  # noqa: PLC0415 - as above
        from ctxviewer.engine.sage.streaming import StreamingTokenCounter  # noqa: PLC0415

        self._request, self._seen, self._grown_at = request.number, {}, 0.0
        self._at = request.ts / 1_000 if request.ts else self._clock()
        estimator = TokenEstimator.for_provider(snapshot.model.provider_id.lower())
        self._counter = StreamingTokenCounter(estimator, clock=self._time)

    def _count(self, snapshot: Snapshot, request: Request, counter: StreamingTokenCounter) -> bool:
        """Give the counter what has been written since; True if there was something."""
        grew = False
        for number, ts, text in _written(snapshot, request):
            before = self._seen.get(number, "")
            piece = text[len(before) :] if text.startswith(before) else _behind_common(before, text)
            if piece:
                self._at = ts / 1_000 if ts else self._clock()
                counter.record_output(piece)
                grew = True
            self._seen[number] = text
        return grew

    def _reading(self, counter: StreamingTokenCounter) -> StreamReading:
        self._at = self._clock()
        return counter.reading()

    def _time(self) -> float:
        """The counter's clock: the moment that what it is told belongs to."""
        return self._at

    def _show(self, stream: Stream | None) -> None:
        if stream is None:
            self._tick.stop()
        elif not self._tick.isActive():
            self._tick.start()
        if stream != self._current:
            self._current = stream
            self.changed.emit(stream)

    def _forget(self) -> None:
        self._counter = self._request = None
        self._seen = {}
        self._show(None)

    def _leave(self, _task: object) -> None:
        self._forget()


def _written(snapshot: Snapshot, request: Request) -> Iterator[tuple[int, int, str]]:
    """(number, time, text) of the entries behind the request's that hold words of the model."""
    for entry in snapshot.ui[request.ui_index + 1 :]:
        if entry.type == "say" and entry.kind in _WRITTEN:
            item = snapshot.ui_items[entry.index]
            yield entry.index, entry.ts, as_text(item.get("text")) if is_object(item) else ""


def _is_partial(snapshot: Snapshot, request: Request) -> bool:
    return any(entry.partial for entry in snapshot.ui[request.ui_index + 1 :])


def _is_new(previous: Snapshot, request: Request) -> bool:
    """True when the request was not there in the reading before."""
    return request.number >= len(previous.requests)


def _behind_common(before: str, text: str) -> str:
    """What is new of a text that was written anew: all behind the common beginning."""
    common = 0
    for one, other in zip(before, text, strict=False):
        if one != other:
            break
        common += 1
    return text[common:]
