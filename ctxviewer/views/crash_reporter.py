"""Bugs that reach the event loop: each is logged, and shown once in one dialog with a report to copy."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QObject, QThread, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from ctxviewer.actions.diagnostics import versions
from ctxviewer.views.dialogs.crash import CrashDialog

_log = logging.getLogger(__name__)

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


class CrashReporter(QObject):
    """Stands in for `sys.excepthook` while it is installed. The same bug opens the dialog once."""

    _met = Signal(object)  # str

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._seen: dict[tuple[str, str], int] = {}
        self._dialog: CrashDialog | None = None
        self._before: Hook | None = None
        self._met.connect(self._show)

    @property
    def dialog(self) -> CrashDialog | None:
        """The dialog while it is open."""
        return self._dialog

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each bug was met."""
        return tuple(self._seen.values())

    def install(self) -> None:
        """Take over the hook."""
        self._before = sys.excepthook
        sys.excepthook = self.handle

    def remove(self) -> None:
        """Give the hook back."""
        if self._before is not None:
            sys.excepthook = self._before
            self._before = None

    def handle(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Log a bug, and show it if it is new. Safe on every thread."""
        if issubclass(kind, KeyboardInterrupt):
            QGuiApplication.quit()
            return
        frames = traceback.extract_tb(trace)
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "nowhere"
        key = (kind.__name__, place)
        self._seen[key] = self._seen.get(key, 0) + 1
        if self._seen[key] > 1:
            return
        _log.error("a bug at %s", place, exc_info=(kind, error, trace))
        self._met.emit(report_of(kind, trace))

    def _show(self, report: str) -> None:
        if QThread.currentThread() is not self.thread():
            return
        if self._dialog is not None:
            self._dialog.add(report)
            return
        self._dialog = CrashDialog(report, self._window)
        self._dialog.copy_wanted.connect(self._copy)
        self._dialog.finished.connect(self._forget)
        self._dialog.show()

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)

    def _forget(self, _result: int = 0) -> None:
        self._dialog = None


def report_of(kind: type[BaseException], trace: TracebackType | None) -> str:
    """Where it happened and with which versions. Not the words of the exception: they may hold text of a task."""
    frames = traceback.extract_tb(trace)
    lines = [f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in frames]
    return "\n".join((f"{kind.__module__}.{kind.__qualname__}", *lines, "", *versions()))
