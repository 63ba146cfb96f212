"""What the store tells: entries of the history, outcomes, what start-up put right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.snapshot import FileRole, FileStamp


class Action(StrEnum):
    """What a transaction does with an entry."""

    COMMIT = "commit"
    UNDO = "undo"
    REDO = "redo"


class EntryState(StrEnum):
    """Where an entry of the history stands."""

    DONE = "done"
    UNDONE = "undone"
    ABANDONED = "abandoned"
    """Undone, and then something else was done: it cannot be redone any more."""
    REVERTED = "reverted"
    """It failed half-way and every file was put back."""
    INTERRUPTED = "interrupted"
    """It was interrupted, and a file was written by somebody else before it could be put right; nothing was touched."""
    PENDING = "pending"
    """It was interrupted and waits for `recover`, or is being written this moment."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One change of one task, as the history panel shows it."""

    id: str
    title: str
    task_dir: Path
    when_ms: int
    """Milliseconds since the epoch."""
    state: EntryState
    roles: tuple[FileRole, ...]
    """Of the files that it wrote, in the order of writing."""
    paths: tuple[Path, ...]
    can_undo: bool = False
    undo_reason: str = ""
    """Why it cannot be undone now; '' when it can. Whether the files still are as it left them shows at the undo."""
    can_redo: bool = False
    redo_reason: str = ""
    backup_dir: Path | None = None
    """Where the old and the new content lie; None when they were removed."""
    backup_bytes: int = 0
    note: str = ""
    """A sentence on what became of it, for the states that need one."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a commit, an undo or a redo did."""

    entry_id: str
    """The entry that was made (commit), undone or redone."""
    title: str
    action: Action
    stamps: tuple[FileStamp, ...]
    """Of the written files as they are now (INDEX: the digest is that of the task's own item)."""
    touched: tuple[FileRole, ...]


class RecoveredKind(StrEnum):
    """What `recover` found."""

    FINISHED = "finished"
    """An interrupted write is now complete."""
    REVERTED = "reverted"
    """An interrupted write was taken back; every file is as before it."""
    LEFT = "left"
    """Somebody else wrote a file after the interruption; nothing was touched, the backup is kept."""
    WAITING = "waiting"
    """It cannot be put right now (folder away, disk read-only); it is tried again at the next start."""
    DAMAGED = "damaged"
    """Lines of the journal cannot be read; they are kept in the file."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """One thing that start-up put right, or could not."""

    kind: RecoveredKind
    task_dir: Path
    entry_id: str
    """'' for DAMAGED."""
    sentence: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class BackupUsage:
    """How much the backups of all tasks take."""

    used_bytes: int
    limit_bytes: int
    """The newest entry of each task is kept even beyond it."""
    entries: int
    """Entries that still have their backup."""


class UnfinishedError(CtxError):
    """A write failed half-way and the files already written could not be put back; `recover` tries again."""
