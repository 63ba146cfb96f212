"""Notifications of the system for a changing set of directories, by watchdog. One observer for all of them.

Directories are watched one by one, not recursively: a storage root holds repositories and caches with many thousand
files that nobody asks for. Only finished changes are let through (created, closed after writing, moved, deleted), so
our own reading makes no events.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

log = logging.getLogger(__name__)

Seen = Callable[[Path, str, bool], None]
"""(directory as given, name in it or '' for itself, whether the name is a directory). Called on watchdog's thread."""

_FILTER: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileClosedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]
_KINDS = frozenset({"created", "closed", "moved", "deleted"})


def ignored(name: str) -> bool:
    """True for names that nobody waits for: hidden ones, and helper files of an agent's or our own atomic writes."""
    return name.startswith(".") or name.endswith(".tmp") or ".tmp." in name


class Folders:
    """Keeps the watched directories equal to the wanted ones. For one thread, apart from `seen`."""

    def __init__(self, seen: Seen, make_observer: Callable[[], BaseObserver] = Observer) -> None:
        self._seen = seen
        self._make = make_observer
        self._observer: BaseObserver | None = None
        self._watched: dict[Path, _Watched] = {}
        self._failed: dict[Path, OSError] = {}
        self._no_observer: OSError | None = None

    @property
    def problem(self) -> OSError | None:
        """Why some directories are not watched; None when all are."""
        return self._no_observer or next(iter(self._failed.values()), None)

    def reconcile(self, wanted: Iterable[Path]) -> tuple[Path, ...]:
        """Watch exactly these directories, as far as they are there. A directory that was replaced is watched anew.

        Returns those that are newly watched.
        """
        places = {path: _place(path) for path in wanted}
        for path, watched in list(self._watched.items()):
            if places.get(path) != watched.place:
                self._let_go(path, watched)
        self._failed = {path: error for path, error in self._failed.items() if places.get(path) is not None}
        fresh = [path for path, place in places.items() if place is not None and path not in self._watched]
        return tuple(path for path in fresh if self._watch(path, places[path]))

    def close(self) -> None:
        """End watchdog's threads."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
        self._observer = None
        self._watched.clear()

    def _watch(self, path: Path, place: _Place | None) -> bool:
        observer = self._started()
        if observer is None or place is None:
            return False
        try:
            watch = observer.schedule(_Handler(path, place.real, self._seen), place.real, event_filter=_FILTER)
        except OSError as error:
            if place == _place(path):  # not just gone this moment
                if path not in self._failed:
                    log.warning("%s is not watched: %s", path, error)
                self._failed[path] = error
            return False
        self._failed.pop(path, None)
        self._watched[path] = _Watched(place, watch)
        return True

    def _let_go(self, path: Path, watched: _Watched) -> None:
        del self._watched[path]
        if self._observer is not None and all(other.watch != watched.watch for other in self._watched.values()):
            self._observer.unschedule(watched.watch)

    def _started(self) -> BaseObserver | None:
        if self._observer is None and self._no_observer is None:
            try:
                observer = self._make()
                observer.start()
            except OSError as error:
                log.warning("no notifications of the system: %s", error)
                self._no_observer = error
            else:
                self._observer = observer
        return self._observer


@dataclass(frozen=True, slots=True)
class _Place:
    """A directory that is there: a replaced one has another identity."""

    real: str
    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class _Watched:
    place: _Place
    watch: ObservedWatch


def _place(path: Path) -> _Place | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Place(os.path.realpath(path), found.st_dev, found.st_ino) if path.is_dir() else None


class _Handler(FileSystemEventHandler):
    """Turns watchdog's events of one directory into names. A move counts at both ends."""

    def __init__(self, folder: Path, real: str, seen: Seen) -> None:
        self._folder = folder
        self._real = real
        self._seen = seen

    def dispatch(self, event: FileSystemEvent) -> None:
        """Called by watchdog on its own thread."""
        if event.event_type not in _KINDS:
            return
        for path in (event.src_path, event.dest_path):
            place = os.fsdecode(path)
            if place == self._real:
                self._seen(self._folder, "", True)
            elif place and os.path.dirname(place) == self._real:  # noqa: PTH120 - text in, text out, for each event
                name = os.path.basename(place)  # noqa: PTH119 - as above
                if not ignored(name):
                    self._seen(self._folder, name, event.is_directory)
