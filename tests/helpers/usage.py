"""Requests and tasks for the usage graph, without files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from ctxviewer.domain.request import Checkpoint, CheckpointKind, Request, RequestState, Usage
from ctxviewer.domain.snapshot import Agent, Snapshot, TaskRef
from ctxviewer.engine.events import Event, EventKind


def request(number, total=None, *, parts=None, state=RequestState.DONE, cost=0.01):
    """A request; `total` becomes cache reads, `parts` is (input, cache read, cache write, output), neither: no numbers."""
    reported = total is not None or parts is not None
    put, read, write, out = parts or (0, total or 0, 0, 0)
    usage = Usage(tokens_in=put, tokens_out=out, cache_writes=write, cache_reads=read, cost=cost if reported else None)
    return Request(number, number, 1_000 * number, usage, reported, state, 2 * number - 1, None, "m", "p", "")


def requests(*totals):
    """Requests with these totals; None = no numbers."""
    return tuple(request(number, total) for number, total in enumerate(totals))


def event(kind, number, sentence="it happened"):
    return Event(EventKind(kind), number, 1_000.0 * (number or 0), sentence)


def checkpoint(number, title="after it", kind=CheckpointKind.CHECKPOINT):
    return Checkpoint(number or 0, 0, kind, "abc", None, None, number, title)


@dataclass(frozen=True)
class UsageTask:
    """Stands in for an engine.timeline.Timeline where only usage is looked at."""

    requests: tuple[Request, ...]
    events: tuple[Event, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    name: str = "t"

    @property
    def snapshot(self):
        place = PurePosixPath("/nowhere")
        task = TaskRef(Agent.CLINE, self.name, place / self.name, place, "", self.name, 0, 0, 0, in_index=True)
        return Snapshot(task, 1, requests=self.requests, checkpoints=self.checkpoints)
