"""Keeps Python's collector from stopping the window while a job makes very many values that live on."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pausing = 0


@contextmanager
def collector_paused() -> Iterator[None]:
    """No collection while this lasts.

    For jobs that decode whole histories: a million values that live on, which collections would walk through for up to
    a tenth of a second, again and again while there are ever more of them. Afterwards they are walked through once.
    """
    global _pausing  # noqa: PLW0603 - the collector is one for the whole process
    with _lock:
        _pausing += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _pausing -= 1
            if not _pausing:
                gc.enable()
