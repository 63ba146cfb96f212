"""What a source package offers to the registry: one value with functions, so that an agent is one row of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ctxviewer.domain.plan import Plan
from ctxviewer.domain.snapshot import Agent, Snapshot, TaskRef
from ctxviewer.sources.change import Change
from ctxviewer.sources.places import Places, Root


class ReadTask(Protocol):
    """Reads one task; UnreadableTaskError only when nothing of it can be shown."""

    def __call__(
        self, ref: TaskRef, *, previous: Snapshot | None = None, generation: int = 0, window_override: int | None = None
    ) -> Snapshot: ...


@dataclass(frozen=True, slots=True)
class Folder:
    """What a folder is to an agent."""

    tasks: tuple[TaskRef, ...] = ()
    """The task that the folder is, or the tasks of the root that it is."""
    matches: bool = False
    """True when the folder is a task or a root, even an empty one."""
    reason: str = ""
    """Why it is not, where it looks like one; '' where it does not."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """One agent's format."""

    agent: Agent
    name: str
    """As people call it."""
    roots: Callable[[Places], tuple[Root, ...]]
    """Existing roots on this machine."""
    list_root: Callable[[Path, str], tuple[TaskRef, ...]]
    """Tasks of a root, newest first; UnreadableTaskError when it may not be listed."""
    look_at: Callable[[Path], Folder]
    """What a folder is. Raises OSError or UnreadableTaskError when it may not be read."""
    file_names: frozenset[str]
    """Names of files that lie in a task's folder."""
    look_at_file: Callable[[Path], Folder]
    """What a file of a known name, or an index, belongs to. Raises OSError or UnreadableTaskError."""
    index_names: frozenset[str]
    """Names of files that list tasks."""
    read: ReadTask
    change_for: Callable[[Snapshot, Plan, int], Change]
    """A plan as bytes; RefusedError when it cannot be written. The last argument is the time in ms."""
