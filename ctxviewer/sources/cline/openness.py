"""Does Cline still have a task open? There is no certain test; these are the signs that there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from ctxviewer.domain.request import Request, RequestState
from ctxviewer.domain.snapshot import UiEntry
from ctxviewer.sources.cline import layout
from ctxviewer.sources.sqlite_ro import query

RECENT_MS = 5 * 60 * 1000
"""A timeline written within this time is a sign."""


def signs_of_life(
    directory: Path, root: Path, timeline_ms: int, ui: Sequence[UiEntry], requests: Sequence[Request], now_ms: int
) -> tuple[str, ...]:
    """Reasons, as clauses, to believe that the task is open. `timeline_ms` is when the timeline was last written."""
    signs = []
    age = now_ms - timeline_ms
    if timeline_ms and age < RECENT_MS:
        signs.append(f"its timeline was written {_ago(age)}")
    if ui and ui[-1].partial:
        signs.append("the last entry of its timeline is unfinished")
    if requests and requests[-1].state is RequestState.RUNNING:
        signs.append("its last request has no end yet")
    if is_locked(directory, root):
        signs.append("Cline's locks.db names its folder")
    return tuple(signs)


def is_locked(directory: Path, root: Path) -> bool:
    """True when the standalone Cline holds a lock on the task's folder. An unreadable database says nothing."""
    try:
        rows = query(root / layout.LOCKS, "SELECT lock_target FROM locks WHERE lock_type IN ('file', 'folder')")
    except (OSError, sqlite3.Error):
        return False
    own = {str(directory), str(directory.resolve())}
    return any(isinstance(target, str) and any(_names(target, folder) for folder in own) for (target,) in rows)


def _names(target: str, folder: str) -> bool:
    return target == folder or target.startswith((f"{folder}/", f"{folder}\\"))


def _ago(milliseconds: int) -> str:
    seconds = max(0, milliseconds) // 1000
    if seconds < 60:
        return f"{seconds} second{'' if seconds == 1 else 's'} ago"
    minutes = seconds // 60
    return f"{minutes} minute{'' if minutes == 1 else 's'} ago"
