"""The sources and the store as jobs call them: loaded by the first job that needs them, off the GUI thread.

What takes long to load must not stand between the start of the program and the first paint of its window.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ctxviewer.domain.finding import Finding
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.snapshot import Snapshot, TaskRef
from ctxviewer.services.paths import exists

if TYPE_CHECKING:
    from ctxviewer.sources.change import Change
    from ctxviewer.sources.discover import Found
    from ctxviewer.sources.store.store import Store
    from ctxviewer.sources.store.values import Entry, Outcome, Recovered


def read(ref: TaskRef, /, *, previous: Snapshot | None, generation: int, window_override: int | None) -> Snapshot:
    """`sources.registry.read`."""
    from ctxviewer.sources import registry  # noqa: PLC0415 - see above

    return registry.read(ref, previous=previous, generation=generation, window_override=window_override)


def change_for(snapshot: Snapshot, plan: Plan, now_ms: int) -> Change:
    """`sources.registry.change_for`."""
    from ctxviewer.sources import registry  # noqa: PLC0415 - see above

    return registry.change_for(snapshot, plan, now_ms)


def open_path(path: Path, tell: Callable[[Finding], None]) -> tuple[TaskRef, ...]:
    """`sources.registry.open_path`."""
    from ctxviewer.sources import registry  # noqa: PLC0415 - see above

    return registry.open_path(path, tell)


def look_around(extra: Sequence[Path]) -> Found:
    """`sources.discover.look_around`: the usual places, and these."""
    from ctxviewer.sources.discover import look_around as look  # noqa: PLC0415 - see above

    return look(extra)


def look_at_given(paths: Sequence[Path]) -> Found:
    """Only these folders, none of the usual places: for the demo."""
    from ctxviewer.sources import registry  # noqa: PLC0415 - see above
    from ctxviewer.sources.discover import Found  # noqa: PLC0415 - see above

    tasks = [task for path in paths if exists(path) for task in registry.open_path(path)]
    return Found(registry.unique(tasks), (), ())


def load_all() -> None:
    """Load what the window needs soon; for a job that runs while the window is painted for the first time."""
    import numpy as np  # noqa: PLC0415, F401 - see above

    from ctxviewer.engine import (  # noqa: PLC0415 - see above
        composition,  # noqa: F401
        difference,  # noqa: F401
        explain,  # noqa: F401
        facts,  # noqa: F401
        losses,  # noqa: F401
        matrix,  # noqa: F401
        plans,  # noqa: F401
        replay_check,  # noqa: F401
        stepper,  # noqa: F401
        timeline,  # noqa: F401
    )
    from ctxviewer.sources import discover, registry, store  # noqa: PLC0415, F401 - see above
    from ctxviewer.tokens import calibration  # noqa: PLC0415, F401 - see above


class LateStore:
    """`sources.store.Store`, made by the first job that needs it."""

    def __init__(self, data_folder: Path) -> None:
        self._folder = data_folder
        self._lock = threading.Lock()
        self._made: Store | None = None

    def commit(self, change: Change, *, consent_open: bool = False) -> Outcome:
        """Write it all, or nothing."""
        return self._store().commit(change, consent_open=consent_open)

    def undo(self, task_dir: Path, *, looks_open: Sequence[str] = (), consent_open: bool = False) -> Outcome:
        """Take back the newest change of a task."""
        return self._store().undo(task_dir, looks_open=looks_open, consent_open=consent_open)

    def redo(self, task_dir: Path, *, looks_open: Sequence[str] = (), consent_open: bool = False) -> Outcome:
        """Do again what was undone last."""
        return self._store().redo(task_dir, looks_open=looks_open, consent_open=consent_open)

    def history(self, task_dir: Path) -> tuple[Entry, ...]:
        """Entries of a task, newest last."""
        return self._store().history(task_dir)

    def recover(self) -> tuple[Recovered, ...]:
        """Finish or revert what was interrupted."""
        return self._store().recover()

    def _store(self) -> Store:
        from ctxviewer.sources.store.store import Store  # noqa: PLC0415 - see above

        with self._lock:
            if self._made is None:
                self._made = Store(self._folder)
            return self._made
