"""What is watched: the open task, the storage roots; which name in which directory means what; how they stand now."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ctxviewer.sources.fingerprint import Signature, signature
from ctxviewer.sources.places import is_dir
from ctxviewer.sources.watch.folders import ignored

_INDEX = ("state", "taskHistory.json")
_TASKS = "tasks"
_INDEX_FOLDER = "state"


@dataclass(frozen=True, slots=True)
class TaskTarget:
    """The open task: its directory, and further files (the index) that it is read from."""

    directory: Path
    others: frozenset[Path]
    """Files outside the directory."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """Directories to watch; the parent shows the directory itself coming and going."""
        return (self.directory, self.directory.parent, *sorted({path.parent for path in self.others}))

    def concerns(self, folder: Path, name: str) -> bool:
        """True when this name in this directory is a file of the task, or the task's directory itself."""
        return folder == self.directory or folder / name in self.others or folder / name == self.directory

    def look(self) -> TaskLook | None:
        """How its files stand now; None when the directory is not there."""
        found: dict[str, Signature] = {}
        inode = 0
        try:
            inode = self.directory.stat().st_ino
            with os.scandir(self.directory) as entries:
                for entry in entries:
                    state = _state(entry) if not ignored(entry.name) else None
                    if state is not None:
                        found[entry.name] = (state.st_mtime_ns, state.st_size, state.st_ino)
        except OSError:  # the directory went while we looked, or may not be looked into
            if not is_dir(self.directory):
                return None
        return TaskLook(inode, found, {path: _quiet_signature(path) for path in self.others})


def _state(entry: os.DirEntry[str]) -> os.stat_result | None:
    """How a file stands; None for a folder, a file that went while we looked, and a link that leads nowhere."""
    try:
        return None if entry.is_dir() else entry.stat()
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class TaskLook:
    """Signatures of the task's files at one moment."""

    inode: int
    """Of the directory."""
    inside: dict[str, Signature]
    outside: dict[Path, Signature | None]

    def after(self, older: TaskLook) -> TaskLook:
        """The older look, with the files outside that this one knows: what changed between both is still to be told."""
        outside = {path: older.outside.get(path, found) for path, found in self.outside.items()}
        return TaskLook(older.inode, older.inside, outside)


@dataclass(frozen=True, slots=True)
class RootTarget:
    """A storage root: `tasks/` and `state/taskHistory.json` in it, or task directories right in it."""

    path: Path

    @property
    def folders(self) -> tuple[Path, ...]:
        """Directories to watch, as far as they are there."""
        return (self.path, self.path / _TASKS, self.path / _INDEX_FOLDER)

    def concerns(self, folder: Path, name: str, is_directory: bool) -> bool:
        """True when this name means that the list of tasks may have changed."""
        if self.is_task_folder(folder):
            return is_directory
        return folder / name == self.path.joinpath(*_INDEX)

    def is_task_folder(self, folder: Path) -> bool:
        """True for a directory that may hold task directories."""
        return folder in {self.path, self.path / _TASKS}

    def look(self) -> tuple[Signature | None, ...]:
        """How it stands now. A directory's time changes when something in it comes or goes."""
        return tuple(_quiet_signature(path) for path in (*self.folders, self.path.joinpath(*_INDEX)))


def task_target(directory: Path, files: tuple[Path, ...]) -> TaskTarget:
    """The target for a task; `files` may lie anywhere."""
    return TaskTarget(directory, frozenset(path for path in files if path.parent != directory))


def _quiet_signature(path: Path) -> Signature | None:
    try:
        return signature(path)
    except OSError:
        return None
