"""Copying what is selected: at once when it is little, in slices between events when it is much."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from ctxviewer.models.visible import for_clipboard

AT_ONCE_SECONDS = 0.05
SLICE_SECONDS = 0.008


@dataclass(frozen=True, slots=True)
class CopyState:
    """How far copying has come."""

    share: float
    """0 to 1, by messages."""
    characters: int
    done: bool
    cancelled: bool = False


class Copying(QObject):
    """Collects texts and puts them on the clipboard as one."""

    progressed = Signal(object)  # CopyState

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._texts: Iterator[tuple[int, str]] | None = None
        self._parts: list[str] = []
        self._characters = 0
        self._first, self._rows, self._row = 0, 1, 0
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._slice)

    @property
    def is_busy(self) -> bool:
        """True while texts are still collected."""
        return self._texts is not None

    def start(self, texts: Iterator[tuple[int, str]], first: int, last: int) -> None:
        """Copy the texts of rows first to last, given as (row, text) in order. Ends any copying under way."""
        self.cancel()
        self._texts, self._first, self._row, self._rows = texts, first, first, max(1, last - first + 1)
        self._work(AT_ONCE_SECONDS)
        if self._texts is not None:
            self._timer.start()

    def cancel(self) -> bool:
        """Stop; the clipboard stays as it was. True if there was something to stop."""
        was_busy = self._texts is not None
        self._timer.stop()
        self._texts = None
        self._parts = []
        if was_busy:
            self.progressed.emit(CopyState(self._share, self._characters, done=True, cancelled=True))
        self._characters = 0
        return was_busy

    @property
    def _share(self) -> float:
        return (self._row - self._first) / self._rows

    def _slice(self) -> None:
        self._work(SLICE_SECONDS)

    def _work(self, seconds: float) -> None:
        until = time.perf_counter() + seconds
        while self._texts is not None:
            item = next(self._texts, None)
            if item is None:
                self._finish()
                return
            self._row = item[0]
            self._parts.append(for_clipboard(item[1]))
            self._characters += len(item[1])
            if time.perf_counter() >= until:
                self.progressed.emit(CopyState(self._share, self._characters, done=False))
                return

    def _finish(self) -> None:
        self._timer.stop()
        text = "".join(self._parts)
        self._texts, self._parts = None, []
        if text:
            _put(text)
        self.progressed.emit(CopyState(1.0, len(text), done=True))


def _put(text: str) -> None:
    """By `setText`: a QMimeData made in Python and left on the clipboard crashes the process at its end."""
    QGuiApplication.clipboard().setText(text)
