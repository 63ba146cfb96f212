"""Model calls of a task, their reported usage, and the points a task can be rolled back to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ctxviewer.domain.ranges import Range


@dataclass(frozen=True, slots=True)
class Usage:
    """Reported token counts of one request, disjoint. Fields that the file does not give are 0."""

    tokens_in: float = 0
    tokens_out: float = 0
    cache_writes: float = 0
    cache_reads: float = 0
    cost: float | None = None
    """US dollars, or None when not reported."""

    @property
    def total(self) -> float:
        """Sum of the four counts: the size of the context that the next decision compares with the limit."""
        return self.tokens_in + self.tokens_out + self.cache_writes + self.cache_reads

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost is None and other.cost is None else (self.cost or 0) + (other.cost or 0)
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.cache_writes + other.cache_writes,
            self.cache_reads + other.cache_reads,
            cost,
        )


class RequestState(StrEnum):
    """How a request ended."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Request:
    """One model call, as the task's display timeline records it (Cline: `say: api_req_started`)."""

    number: int
    """From 0 in order of time. People see number + 1."""
    ui_index: int
    """Number of its entry in the UI file, or -1 where requests were derived from the API history."""
    ts: int
    """Milliseconds since the epoch; 0 if absent."""
    usage: Usage
    usage_reported: bool
    """False if the entry has no usable numbers (in flight, broken text)."""
    state: RequestState
    last_message: int | None
    """`conversationHistoryIndex`: last message before the request's own; -1 at first; None if absent."""
    range_before: Range | None
    """The range recorded on the entry itself: in force before this request's own context management."""
    model_id: str
    provider_id: str
    failure: str
    """Text of a failure or the reason of a cancellation, else ''."""


class CheckpointKind(StrEnum):
    """What recorded the checkpoint."""

    CHECKPOINT = "checkpoint"
    COMPLETION = "completion"
    MESSAGE = "message"
    """Any other entry of the timeline that the conversation can be rolled back to."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A point that the task can be rolled back to."""

    ui_index: int
    ts: int
    kind: CheckpointKind
    hash: str
    """Commit in the shadow repository, or '' (the conversation can still be rolled back)."""
    last_message: int | None
    """`conversationHistoryIndex` of the entry; a rollback keeps that number + 2 messages."""
    deleted_range: Range | None
    """The range in force when the entry was made."""
    request: int | None
    """Number of the last request at or before this point, None before the first."""
    title: str
