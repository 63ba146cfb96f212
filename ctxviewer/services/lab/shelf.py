"""The facts of the newest reading, read once and lent to one job of the lab at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ctxviewer.engine.strategies import Facts
from ctxviewer.engine.timeline import Timeline
from ctxviewer.services.collector import collector_paused
from ctxviewer.services.runner import CancelToken

_WAIT_S = 0.05


class Shelf:
    """Made at once; jobs on any thread borrow from it. They hold every message decoded: forget them when unused."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._facts: Facts | None = None

    @contextmanager
    def borrow(self, timeline: Timeline, token: CancelToken) -> Iterator[Facts]:
        """The facts of a timeline, while no other job has them. Raises CancelledWorkError when asked to stop."""
        while not self._lock.acquire(timeout=_WAIT_S):
            token.check()
        try:
            token.check()
            facts = self._facts
            if facts is not None and facts.timeline is timeline:
                yield facts
                return
            facts = self._facts = Facts(timeline)
            with collector_paused():  # the first job decodes the history
                yield facts
        finally:
            self._lock.release()

    def forget(self) -> None:
        """The task is gone, or nobody looks any more: let go of its messages. A job that has them keeps them."""
        self._facts = None
