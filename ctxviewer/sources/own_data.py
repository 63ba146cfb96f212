"""Where ctxviewer keeps its own data: backups, the journal, caches. Never inside a task."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

VARIABLE = "CTXVIEWER_DATA_DIR"


def data_dir() -> Path:
    """The user's data folder for ctxviewer, or the folder that CTXVIEWER_DATA_DIR names. It may not exist yet."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen:
        return Path(os.path.abspath(os.path.expanduser(chosen)))  # noqa: PTH100, PTH111 - Path raises for '~nobody'
    return platformdirs.user_data_path("ctxviewer", appauthor=False)
