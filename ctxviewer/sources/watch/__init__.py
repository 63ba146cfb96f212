"""Tells when something in a task or a storage root may have changed. Threads, no Qt. See `watcher.Watcher`."""

from __future__ import annotations

from ctxviewer.sources.watch.events import EventKind, WatchEvent, WatchLimit
from ctxviewer.sources.watch.watcher import Watcher

__all__ = ["EventKind", "WatchEvent", "WatchLimit", "Watcher"]
