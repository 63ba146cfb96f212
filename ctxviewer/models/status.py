"""Short sentences about what is shown: the quiet line at the bottom, the title, the outcome of a search. No Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxviewer.domain.projection import Projection
from ctxviewer.domain.snapshot import Agent, Snapshot, TaskRef
from ctxviewer.models.numbers import counted, grouped
from ctxviewer.models.tasks import AGENT_NAMES, one_line

if TYPE_CHECKING:  # numpy and the engine load with them
    from ctxviewer.engine.sage.streaming import StreamReading
    from ctxviewer.tokens import TokenSums


def title_words(task: TaskRef | None, snapshot: Snapshot | None) -> str:
    """'fix-login — Cline — claude-sonnet-4', or the program's name."""
    if task is None:
        return "ctxviewer"
    name = one_line(task.title, 60) or task.task_id
    model = one_line(snapshot.model.model_id, 60) if snapshot is not None else ""
    parts = (name, AGENT_NAMES.get(Agent(task.agent), str(task.agent)), model)
    return " — ".join(part for part in parts if part)


def status_words(projection: Projection | None, sums: TokenSums | None) -> str:
    """'40 of 592 messages sent · 552 not sent · 52,310 tokens estimated'. '' when nothing is shown."""
    if projection is None:
        return ""
    parts = [f"{grouped(projection.sent_count)} of {counted(projection.stored, 'message')} sent"]
    hidden, later = projection.until - projection.sent_count, projection.stored - projection.until
    if hidden:
        parts.append(f"{grouped(hidden)} not sent")
    if later > 0:
        parts.append(f"{grouped(later)} later")
    if updates := projection.updates_sent:
        parts.append(f"{counted(updates, 'update')} in force")
    if sums is not None and sums.known_share > 0:
        share = "" if sums.known_share >= 1 else f", {sums.known_share:.0%} counted so far"
        parts.append(f"{grouped(sums.sent)} tokens estimated{share}")
        if sums.pictures:
            parts.append(f"{counted(sums.pictures, 'image')} not counted")
    if not projection.exact:
        parts.append("approximate")
    return " · ".join(parts)


def stream_words(request: int, reading: StreamReading, *, finished: bool) -> str:
    """'answer to request 12: 512 tokens so far, estimated · 38 per second · first after 1.2 s'."""
    tokens = counted(reading.output_tokens, "token") + ("" if finished else " so far")
    parts = [f"answer to request {grouped(request + 1)}: {tokens}, estimated"]
    if finished and reading.elapsed:
        parts.append(f"in {reading.elapsed:,.1f} s")
    if reading.tokens_per_second and reading.output_tokens:
        parts.append(f"{reading.tokens_per_second:,.0f} per second")
    if reading.first_output_delay is not None:
        parts.append(f"first after {reading.first_output_delay:,.1f} s")
    elif reading.elapsed is not None:
        parts.append(f"waiting for {reading.elapsed:,.0f} s")
    return " · ".join(parts)


def find_words(*, total: int, messages: int, current: int | None, share: float, complete: bool, problem: str) -> str:
    """'3 of 17 in 9 messages'; what is known so far while the search goes on."""
    if problem:
        return problem
    if not complete and not total:
        return f"looking… {share:.0%}"
    if not total:
        return "not found"
    place = f"{grouped(current)} of " if current is not None else ""
    so_far = "" if complete else f", {share:.0%} looked through"
    return f"{place}{grouped(total)} in {counted(messages, 'message')}{so_far}"
