"""One reading of one task: everything the files say, nothing decided. Swapped whole when the files change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath

from ctxviewer.domain.finding import Finding
from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.domain.log import EMPTY_LOG, JsonLog
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Checkpoint, Request


class Agent(StrEnum):
    """Which program wrote the task."""

    CLINE = "cline"


class FileRole(StrEnum):
    """Files of a task by what they hold. The order is the order of writing (formats §9): the index comes last."""

    MESSAGES = "messages"
    UPDATES = "updates"
    TIMELINE = "timeline"
    METADATA = "metadata"
    INDEX = "index"


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Fingerprint of a file at the time of reading."""

    role: FileRole
    path: PurePath
    exists: bool
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    digest: str = ""
    """blake2b-128 of the content (INDEX: of the task's own item), '' when the file does not exist."""


class WindowSource(StrEnum):
    """Where the number of the context window comes from. Cline stores it nowhere."""

    OVERRIDE = "set by you for this task"
    TABLE = "from the model table"
    DETAILS = "read from the environment details of the task"
    DEFAULT = "assumed, because the model is not known"


@dataclass(frozen=True, slots=True)
class ModelFact:
    """The model in use and its window."""

    model_id: str
    provider_id: str
    window: int
    """Tokens."""
    window_source: WindowSource


class RangeSource(StrEnum):
    """Where the range now in force was found."""

    INDEX = "the task index"
    TIMELINE = "the last entry of ui_messages.json, because the index does not list the task"
    NOWHERE = "nowhere: no range is recorded"


@dataclass(frozen=True, slots=True)
class UiEntry:
    """One entry of the display timeline (Cline: a `ClineMessage`), without its text; `Snapshot.ui_items` has all."""

    index: int
    ts: int
    type: str
    """'say' or 'ask'."""
    kind: str
    """The value of `say` or `ask`."""
    last_message: int | None
    """`conversationHistoryIndex`."""
    deleted_range: Range | None
    checkpoint_hash: str
    partial: bool
    model_id: str
    provider_id: str


@dataclass(frozen=True, slots=True)
class TaskRef:
    """Where a task is and what is known of it without reading it whole."""

    agent: Agent
    task_id: str
    directory: PurePath
    root: PurePath
    """The storage root (holds `tasks/` and `state/`), or the parent of a directory that stands alone."""
    host: str
    """'Code', 'Cursor', 'standalone' …, or '' for a folder that the user gave."""
    title: str
    created_ms: int
    updated_ms: int
    size: int
    """Bytes in the directory as the index says, 0 if unknown."""
    in_index: bool
    total_tokens: float = 0
    total_cost: float = 0
    favourite: bool = False
    problem: str = ""
    """'' or a short sentence why it cannot be opened."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One reading of one task. Frozen; a change on disk brings a new one with a higher generation."""

    task: TaskRef
    generation: int
    messages: JsonLog = EMPTY_LOG
    ui_items: JsonLog = EMPTY_LOG
    """The display timeline as stored, for rules that read it."""
    ui: tuple[UiEntry, ...] = ()
    """The typed view of `ui_items`, same numbering."""
    updates_text: str | None = None
    """Text of context_history.json, None when there is no file."""
    range_now: Range | None = None
    range_source: RangeSource = RangeSource.NOWHERE
    requests: tuple[Request, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    """Every entry of the timeline that the task can be rolled back to, oldest first."""
    model: ModelFact = ModelFact("", "", 128_000, WindowSource.DEFAULT)
    metadata: JsonObject | None = None
    """task_metadata.json, None when absent or unreadable."""
    index_item: JsonObject | None = None
    """The task's entry in the index, None when it has none."""
    findings: tuple[Finding, ...] = ()
    files: tuple[FileStamp, ...] = ()
    looks_open: tuple[str, ...] = ()
    """Reasons to believe that the agent still has the task open; empty when there is none."""
    has_messages: bool = True
    """False when the API history is missing or unreadable: projections are then disabled."""
    has_timeline: bool = True
    """False when the UI file is missing or unreadable: requests are then the assistant messages."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Further facts of a source, by name."""
