"""Brings what the file watcher saw on its own threads to the GUI thread, as quiet signals without data.

Events only say "look again"; whether something really changed is decided by reading. Our own reads make no events and
our own writes lead to one reading that finds nothing new, so nothing loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from ctxviewer.domain.snapshot import Snapshot

if TYPE_CHECKING:  # watchdog loads with it
    from ctxviewer.sources.watch import WatchEvent, WatchLimit


class TaskWatcher(Protocol):
    """What is asked of `sources.watch.Watcher`."""

    def watch_roots(self, paths: Iterable[Path], /) -> None:
        """Watch for tasks that come, change and go."""
        ...

    def watch_task(self, directory: Path | None, files: Iterable[Path], /) -> None:
        """Watch one task closely."""
        ...

    def close(self) -> None:
        """End all threads."""
        ...


MakeWatcher = Callable[[Callable[["WatchEvent"], None], Callable[["WatchLimit"], None]], TaskWatcher]


def make_watcher(callback: Callable[[WatchEvent], None], told: Callable[[WatchLimit], None]) -> TaskWatcher:
    """The real watcher. Both callables are called on its threads."""
    from ctxviewer.sources.watch import Watcher  # noqa: PLC0415 - watchdog must not delay the first window

    return Watcher(callback, told=told)


class WatchBridge(QObject):
    """One watcher for the window. It starts with the first `watch_…` call; the owner calls `close`."""

    task_touched = Signal(object)  # Path of the task's directory
    task_gone = Signal(object)  # Path
    task_back = Signal(object)  # Path
    roots_touched = Signal(object)  # Path
    limited = Signal(object)  # tuple[str, str]: why changes are noticed late, and what helps
    _seen = Signal(object)  # WatchEvent
    _told = Signal(object)  # WatchLimit

    def __init__(self, make: MakeWatcher = make_watcher, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._watcher: TaskWatcher | None = None
        self._closed = False
        self._seen.connect(self._pass_on)
        self._told.connect(self._pass_limit)

    def watch_roots(self, paths: Iterable[Path]) -> None:
        """Watch these storage roots instead of those before."""
        if (watcher := self._started()) is not None:
            watcher.watch_roots(tuple(paths))

    def watch_task(self, snapshot: Snapshot | None) -> None:
        """Watch the files of this task closely, or with None no task."""
        if snapshot is None:
            if self._watcher is not None:
                self._watcher.watch_task(None, ())
        elif (watcher := self._started()) is not None:
            watcher.watch_task(Path(snapshot.task.directory), tuple(Path(stamp.path) for stamp in snapshot.files))

    def close(self) -> None:
        """End the watcher's threads."""
        self._closed = True
        if self._watcher is not None:
            self._watcher.close()
            self._watcher = None

    def _started(self) -> TaskWatcher | None:
        if self._watcher is None and not self._closed:
            self._watcher = self._make(self._seen.emit, self._told.emit)
        return self._watcher

    def _pass_on(self, event: WatchEvent) -> None:
        if self._closed:
            return
        signal = {
            "task_touched": self.task_touched,
            "task_gone": self.task_gone,
            "task_back": self.task_back,
            "roots_touched": self.roots_touched,
        }[str(event.kind)]
        signal.emit(event.path)

    def _pass_limit(self, limit: WatchLimit) -> None:
        if not self._closed:
            self.limited.emit((limit.sentence, limit.hint))
