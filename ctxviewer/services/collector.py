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
    """No collection while this lasts; what was made meanwhile is not looked at afterwards either.

    For jobs that decode whole histories: values that hold no cycles, a million of them, which a collection would walk
    through for a tenth of a second, again and again. Their memory is given back as ever when nobody holds them.
    `gc.unfreeze` brings all into view again.
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
                gc.freeze()
                gc.enable()
