"""Follows the open task and the storage roots, and tells in single quiet events that something may have changed.

Notifications of the system bring most changes within milliseconds. What they miss (a network disk, a file behind a
symbolic link, a directory that was replaced, an exhausted limit) the sweep finds: it compares time, size and inode of
the open task's files every two seconds and of the roots every twenty. When notifications are not to be had at all, the
sweep works alone, and `told` hears why.

One thread of ours classifies, waits for quiet, sweeps, and calls the callback; watchdog has its own.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from ctxviewer.sources.watch.events import EventKind, WatchEvent, WatchLimit
from ctxviewer.sources.watch.folders import Folders, ignored
from ctxviewer.sources.watch.targets import RootTarget, TaskLook, TaskTarget, task_target

_YOUNG_LIMIT: Final = 16
_YOUNG_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How long the watcher waits, in seconds."""

    quiet: float = 0.02
    """After the last event of the open task."""
    longest: float = 0.4
    """From the first event of the open task, when they do not end."""
    roots_quiet: float = 0.1
    roots_longest: float = 0.5
    task_sweep: float = 2.0
    roots_sweep: float = 20.0


@dataclass(slots=True)
class _Due:
    first: float
    at: float


@dataclass(slots=True)
class _Young:
    """A directory that just appeared under a root: its first files make it a task."""

    root: Path
    until: float
    names: set[str]


def _tell_nobody(_limit: WatchLimit) -> None:
    """Default of `told`."""


class Watcher:
    """Calls `callback` on its own thread, one call at a time. `close` when done."""

    def __init__(
        self,
        callback: Callable[[WatchEvent], None],
        *,
        told: Callable[[WatchLimit], None] = _tell_nobody,
        pace: Pace | None = None,
        make_observer: Callable[[], BaseObserver] = Observer,
    ) -> None:
        """`told` hears, also on the watcher's thread, when notifications are missing; each sentence once."""
        self._callback = callback
        self._told = told
        self._pace = pace or Pace()
        self._wake = threading.Condition()
        self._closed = False
        self._changed = False
        """The wanted directories are new, and the worker does not know yet."""
        self._task: TaskTarget | None = None
        self._roots: tuple[RootTarget, ...] = ()
        self._young: dict[Path, _Young] = {}
        self._due: dict[tuple[EventKind, Path], _Due] = {}
        # Only the worker touches what follows.
        self._folders = Folders(self._seen, make_observer)
        self._looked: TaskTarget | None = None
        self._look: TaskLook | None = None
        self._root_looks: dict[Path, object] = {}
        self._task_sweep_at = time.monotonic() + self._pace.task_sweep
        self._roots_sweep_at = time.monotonic() + self._pace.roots_sweep
        self._said: set[str] = set()
        self._thread = threading.Thread(target=self._work, name="ctxviewer-watch", daemon=True)
        self._thread.start()

    def watch_roots(self, paths: Iterable[Path]) -> None:
        """Watch these storage roots instead of those before. They need not exist. Returns at once."""
        with self._wake:
            self._roots = tuple(RootTarget(path) for path in dict.fromkeys(paths))
            self._young.clear()
            self._due = {key: due for key, due in self._due.items() if key[0] is not EventKind.ROOTS_TOUCHED}
            self._changed = True
            self._wake.notify()

    def watch_task(self, directory: Path | None, files: Iterable[Path] = ()) -> None:
        """Watch this task closely instead of the one before, or none. Returns at once.

        `files` are those that it is read from; all others in the directory count too. A newly watched task is touched
        once, because it may have changed since it was read; one whose directory has gone since is told as gone.
        """
        target = None if directory is None else task_target(directory, tuple(files))
        with self._wake:
            if self._task is None or target is None or self._task.directory != target.directory:
                self._due = {key: due for key, due in self._due.items() if key[0] is EventKind.ROOTS_TOUCHED}
            self._task = target
            self._changed = True
            self._wake.notify()

    def close(self) -> None:
        """End all threads. No call comes after it (but the one that is under way on the watcher's own thread)."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _seen(self, folder: Path, name: str, is_directory: bool) -> None:
        """A name in a watched directory came, went or was written. On watchdog's thread."""
        now = time.monotonic()
        with self._wake:
            before = len(self._due)
            if self._task is not None and self._task.concerns(folder, name):
                self._mark(EventKind.TASK_TOUCHED, self._task.directory, now)
            for root in self._roots:
                if root.concerns(folder, name, is_directory):
                    self._mark(EventKind.ROOTS_TOUCHED, root.path, now)
                    if name and root.is_task_folder(folder):
                        self._add_young(root.path, folder / name, now)
            young = self._young.get(folder)
            if young is not None and name not in young.names:
                young.names.add(name)
                self._mark(EventKind.ROOTS_TOUCHED, young.root, now)
            if len(self._due) > before or self._changed:
                self._wake.notify()  # an event that only moves a time is seen when the worker wakes for the old one

    def _mark(self, kind: EventKind, path: Path, now: float) -> None:
        roots = kind is EventKind.ROOTS_TOUCHED
        quiet = self._pace.roots_quiet if roots else self._pace.quiet
        longest = self._pace.roots_longest if roots else self._pace.longest
        due = self._due.setdefault((kind, path), _Due(now, now))
        due.at = min(now + quiet, due.first + longest)

    def _add_young(self, root: Path, folder: Path, now: float) -> None:
        self._young.pop(folder, None)
        self._young[folder] = _Young(root, now + _YOUNG_S, {""})
        while len(self._young) > _YOUNG_LIMIT:
            del self._young[next(iter(self._young))]
        self._changed = True

    def _work(self) -> None:
        try:
            while True:
                with self._wake:
                    while not self._closed and not self._changed and (wait := self._patience()) > 0:
                        self._wake.wait(wait)
                    if self._closed:
                        return
                    changed, self._changed = self._changed, False
                    ripe = self._take_ripe()
                if changed:
                    self._retarget()
                for kind, path in ripe:
                    self._settle(kind, path)
                self._sweep()
        finally:
            self._folders.close()

    def _patience(self) -> float:
        """Seconds until there is something to do."""
        times = [due.at for due in self._due.values()]
        times.append(self._roots_sweep_at)
        if self._task is not None:
            times.append(self._task_sweep_at)
        return min(times) - time.monotonic()

    def _take_ripe(self) -> list[tuple[EventKind, Path]]:
        now = time.monotonic()
        ripe = [key for key, due in self._due.items() if due.at <= now]
        for key in ripe:
            del self._due[key]
        return ripe

    def _settle(self, kind: EventKind, path: Path) -> None:
        """An event is over."""
        if kind is EventKind.ROOTS_TOUCHED:
            self._reconcile()
            self._root_looks[path] = RootTarget(path).look()
            self._say(kind, path)
        else:
            self._check_task(force=True)

    def _retarget(self) -> None:
        """Take up new targets."""
        with self._wake:
            task, roots = self._task, self._roots
        self._reconcile()
        self._root_looks = {root.path: self._root_looks.get(root.path, root.look()) for root in roots}
        before, self._looked = self._looked, task
        look = None if task is None else task.look()
        if task is None or before is None or before.directory != task.directory:
            self._look = look
            self._task_sweep_at = time.monotonic() + self._pace.task_sweep
            if task is not None:
                self._say(EventKind.TASK_TOUCHED if look is not None else EventKind.TASK_GONE, task.directory)
        elif look is not None and self._look is not None:
            self._look = look.after(self._look)

    def _reconcile(self) -> None:
        """Watch the wanted directories that are there."""
        with self._wake:
            wanted = [folder for root in self._roots for folder in root.folders]
            wanted += self._task.folders if self._task is not None else ()
            wanted += self._young
        fresh = self._folders.reconcile(dict.fromkeys(wanted))
        now = time.monotonic()
        for folder in fresh:
            with self._wake:
                young = self._young.get(folder)
                if young is not None:
                    names = {name for name in _names(folder) if not ignored(name)} - young.names
                    if names:  # they came before we watched
                        young.names |= names
                        self._mark(EventKind.ROOTS_TOUCHED, young.root, now)
        problem = self._folders.problem
        if problem is not None:
            self._tell(problem)

    def _sweep(self) -> None:
        """Find what no notification told."""
        now = time.monotonic()
        if self._looked is not None and now >= self._task_sweep_at:
            self._check_task(force=False)
            self._task_sweep_at = time.monotonic() + self._pace.task_sweep
        if now >= self._roots_sweep_at:
            self._reconcile()
            for path, before in list(self._root_looks.items()):
                look = RootTarget(path).look()
                self._root_looks[path] = look
                if look != before:
                    self._say(EventKind.ROOTS_TOUCHED, path)
            with self._wake:
                self._young = {folder: young for folder, young in self._young.items() if young.until > now}
            self._roots_sweep_at = time.monotonic() + self._pace.roots_sweep

    def _check_task(self, *, force: bool) -> None:
        """Compare the task with the last look and tell the difference; `force`: an event says that there is one."""
        task, before = self._looked, self._look
        if task is None:
            return
        look = task.look()
        self._look = look
        if look is None or before is None or look.inode != before.inode:
            self._reconcile()  # the directory came, went, or is another one
        if look is None:
            if before is not None:
                self._say(EventKind.TASK_GONE, task.directory)
        elif before is None:
            self._say(EventKind.TASK_BACK, task.directory)
        elif force or look != before:
            self._say(EventKind.TASK_TOUCHED, task.directory)

    def _say(self, kind: EventKind, path: Path) -> None:
        with self._wake:
            stale = self._closed
            if kind is not EventKind.ROOTS_TOUCHED:
                stale = stale or self._task is None or self._task.directory != path
        if not stale:
            self._callback(WatchEvent(kind, path))

    def _tell(self, problem: OSError) -> None:
        limit = _limit(problem)
        if limit.sentence not in self._said:
            self._said.add(limit.sentence)
            self._told(limit)


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names, not paths
    except OSError:
        return []


def _limit(problem: OSError) -> WatchLimit:
    by_looking = "Changes are noticed by looking every few seconds instead of at once."
    if problem.errno == errno.EMFILE:
        return WatchLimit(
            f"The system gives out no more change notifications. {by_looking}",
            "Close other programs that watch files, or raise fs.inotify.max_user_instances.",
        )
    if problem.errno == errno.ENOSPC:
        return WatchLimit(
            f"The system watches no more folders. {by_looking}",
            "Close other programs that watch files, or raise fs.inotify.max_user_watches.",
        )
    return WatchLimit(f"The system gives no change notifications ({problem.strerror or problem}). {by_looking}")
