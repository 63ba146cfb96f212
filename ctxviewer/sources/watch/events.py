"""What the watcher says. Events carry no data: they mean 'look again'."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class EventKind(StrEnum):
    """What happened."""

    TASK_TOUCHED = "task_touched"
    """A file of the open task, or its index, may have changed."""
    TASK_GONE = "task_gone"
    """The directory of the open task is not there any more."""
    TASK_BACK = "task_back"
    """It is there again."""
    ROOTS_TOUCHED = "roots_touched"
    """A task directory came or went under this root, its index changed, or the root itself came or went."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One quiet event, after the storm of single file events is over."""

    kind: EventKind
    path: Path
    """The task's directory, or the root, as it was given."""


@dataclass(frozen=True, slots=True)
class WatchLimit:
    """Why changes are only noticed by looking from time to time."""

    sentence: str
    hint: str = ""
