"""What a source asks the store to write: whole contents of files, as bytes. A description, it writes nothing itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ctxviewer.domain.snapshot import FileRole, FileStamp


@dataclass(frozen=True, slots=True)
class FileEffect:
    """The new content of one file, or of the task's own item in the index."""

    role: FileRole
    path: Path
    content: bytes | None
    """The whole new file; for INDEX the raw bytes of the task's own item. None: remove the file (the item)."""
    item_id: str = ""
    """For INDEX: the `id` of the item. It is spliced into the index as it is at the time of writing."""


@dataclass(frozen=True, slots=True)
class Change:
    """Everything one action writes to one task, with what it was computed from."""

    task_dir: Path
    title: str
    """What was done, as a menu shows it: 'truncate to half (messages 2–41)'."""
    expected: tuple[FileStamp, ...]
    """The files that the preview was computed from. The store refuses when one of them differs by content."""
    effects: tuple[FileEffect, ...]
    looks_open: tuple[str, ...] = ()
    """Reasons to believe that the agent still has the task open. The store then wants a second consent."""
