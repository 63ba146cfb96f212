"""The report of a task: what the window shows, as one JSON object and as text for a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from ctxviewer.domain.finding import Finding
from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.domain.request import Checkpoint, CheckpointKind, Usage
from ctxviewer.domain.snapshot import TaskRef
from ctxviewer.engine.cline.window import window_info
from ctxviewer.engine.explain import Explanation, api_of, explain
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, percent, plural, short, span, updates_in_force
from ctxviewer.exports.values import (
    SCHEMA,
    checkpoint_json,
    event_json,
    finding_json,
    projection_json,
    range_json,
    request_json,
    request_number,
    usage_json,
)

LAST_MS = 253_402_214_400_000
"""The last day of the year 9999; later times are no times."""
SHOWN_CHECKPOINTS = 8
"""So many of the newest checkpoints stand in a report for people."""


def report(timeline: Timeline, number: int | None, window: float | None = None) -> JsonObject:
    """The report at request `number` (from 0), or at the present state for None. IndexError for no such request."""
    snapshot = timeline.snapshot
    timeline.find_repairs()
    explanation = explain(timeline, number, window)
    kinds: dict[str, int] = {}
    for update in timeline.updates:
        kinds[str(update.edit_type)] = kinds.get(str(update.edit_type), 0) + 1
    points = [point for point in snapshot.checkpoints if point.kind is not CheckpointKind.MESSAGE]
    info = window_info(api_of(snapshot.model, window))
    return {
        "schema": SCHEMA,
        "task": task_json(snapshot.task),
        "model": {
            "id": snapshot.model.model_id,
            "provider": snapshot.model.provider_id,
            "window": info.window,
            "window_source": explanation.window_source,
            "limit": info.limit,
        },
        "messages": len(snapshot.messages),
        "range": range_json(snapshot.range_now),
        "range_source": str(snapshot.range_source),
        "updates": {"count": len(timeline.updates), "by_kind": dict(sorted(kinds.items()))},
        "usage": usage_json(_sum(timeline)),
        "requests": [request_json(request) for request in timeline.requests],
        "events": [event_json(event) for event in timeline.events],
        "checkpoints": [checkpoint_json(place + 1, point) for place, point in enumerate(points)],
        "at": {
            "request": request_number(number),
            "projection": projection_json(timeline.projection(number)),
            "why": explanation_json(explanation),
        },
        "findings": [finding_json(finding) for finding in snapshot.findings],
        "looks_open": list(snapshot.looks_open),
    }


def task_json(task: TaskRef) -> JsonObject:
    """What is known of a task without reading it."""
    return {
        "id": task.task_id,
        "agent": str(task.agent),
        "host": task.host,
        "title": task.title,
        "directory": str(task.directory),
        "in_index": task.in_index,
        "created_ms": task.created_ms,
        "updated_ms": task.updated_ms,
        "problem": task.problem,
    }


def explanation_json(explanation: Explanation) -> JsonObject:
    """An explanation with its numbers."""
    return {
        "request": request_number(explanation.request),
        "sentences": list(explanation.sentences),
        "changes": list(explanation.changes),
        "doubts": list(explanation.doubts),
        "compared": explanation.compared,
        "compared_request": request_number(explanation.compared_request),
        "window": explanation.window,
        "limit": explanation.limit,
        "window_source": explanation.window_source,
        "saved_share": explanation.saved_share,
        "saved_characters": explanation.saved_characters,
        "total_characters": explanation.total_characters,
        "keep": explanation.keep,
        "range_before": range_json(explanation.range_before),
        "range_after": range_json(explanation.range_after),
        "growth": explanation.growth,
        "expected": explanation.expected,
    }


def _sum(timeline: Timeline) -> Usage:
    total = Usage()
    for request in timeline.requests:
        total = total + request.usage
    return total


def report_text(timeline: Timeline, number: int | None, window: float | None = None) -> str:
    """The report for people on a terminal. Every number says whether it is reported or estimated."""
    return "\n".join(_lines(timeline, number, window)) + "\n"


def _lines(timeline: Timeline, number: int | None, window: float | None) -> Iterator[str]:
    snapshot = timeline.snapshot
    task, model = snapshot.task, snapshot.model
    timeline.find_repairs()
    explanation = explain(timeline, number, window)
    info = window_info(api_of(model, window))
    host = f" · {task.host}" if task.host else ""
    yield f"{one_line(task.title) or task.task_id}"
    yield f"  {task.task_id} · {task.agent}{host} · {one_line(model.model_id) or 'model not known'}"
    yield f"  window {grouped(info.window)} ({explanation.window_source}), managed from {grouped(info.limit)} tokens on"
    requests, messages = len(timeline.requests), len(snapshot.messages)
    kept = f"{plural(requests, 'request')}, {plural(messages, 'message')}, {plural(len(timeline.updates), 'update')}"
    yield f"  {kept}, deleted range {span(snapshot.range_now)} (from {snapshot.range_source})"
    for reason in snapshot.looks_open:
        yield f"  looks open: {reason}"
    yield ""
    yield from _usage_lines(timeline, number, info.window)
    yield ""
    if timeline.events:
        yield "Events"
        for place, event in enumerate(timeline.events, 1):
            where = "now" if event.request is None else f"request {event.request + 1}"
            yield f"{place:>5}  {where:<12} {event.sentence}"
    else:
        yield "Events: none; every message was sent with every request."
    yield ""
    points = [point for point in snapshot.checkpoints if point.kind is not CheckpointKind.MESSAGE]
    yield from _checkpoint_lines(points, len(snapshot.messages))
    projection = timeline.projection(number)
    yield "Next request" if number is None else f"Request {number + 1} of {requests}"
    hidden = projection.hidden
    stretch = f", not sent {hidden[0]}–{hidden[-1]}" if hidden else ", nothing left out"
    yield f"  sends {projection.sent_count} of {plural(projection.until, 'message')}{stretch}"
    yield f"  {updates_in_force(projection)}, {plural(len(projection.repairs), 'repair')}"
    yield from (f"  {sentence}" for sentence in explanation.sentences)
    yield from (f"  ? {doubt}" for doubt in (*explanation.doubts, *projection.doubts) if doubt)
    if snapshot.findings:
        yield ""
        yield "Findings"
        yield from finding_lines(snapshot.findings)


def _usage_lines(timeline: Timeline, number: int | None, window: float) -> Iterator[str]:
    reported = [request for request in timeline.requests if request.usage_reported]
    if not reported:
        yield "Usage: no request has reported its tokens."
        return
    total = _sum(timeline)
    cost = f", ${total.cost:,.2f}" if total.cost is not None else ""
    yield (
        f"Usage (reported): input {short(total.tokens_in)}, cache read {short(total.cache_reads)}, cache write "
        f"{short(total.cache_writes)}, output {short(total.tokens_out)}{cost}"
    )
    largest = max(reported, key=lambda request: request.usage.total)
    yield (
        f"  largest request {largest.number + 1}: {grouped(largest.usage.total)} tokens, "
        f"{percent(largest.usage.total / window)} of the window"
    )
    if number is not None and timeline.requests[number].usage_reported:
        usage = timeline.requests[number].usage
        yield f"  request {number + 1}: {grouped(usage.total)} tokens, {percent(usage.total / window)} of the window"


def _checkpoint_lines(points: Sequence[Checkpoint], stored: int) -> Iterator[str]:
    """The newest checkpoints with the numbers that `--checkpoint` takes, and a blank line; nothing without any."""
    if not points:
        return
    yield "Checkpoints"
    earlier = max(0, len(points) - SHOWN_CHECKPOINTS)
    if earlier:
        yield f"       {plural(earlier, 'earlier one')}: `report --json` lists all"
    for place, point in enumerate(points[earlier:], earlier + 1):
        where = "at the start" if point.request is None else f"request {point.request + 1}"
        last = min((point.last_message if point.last_message is not None else 0) + 1, stored - 1)
        kept = f"  keeps messages 0–{last}" if last > 0 else "  keeps message 0" if stored else ""
        title = "" if point.title == "Checkpoint" else f"  {one_line(point.title, 60)}"
        yield f"{place:>5}  {where:<12}{kept}{title}" + ("" if point.hash else "  (no commit)")
    yield ""


def finding_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """One line a finding, and one for its advice."""
    for finding in findings:
        place = " · ".join(part for part in (finding.file, finding.place) if part)
        yield f"  {str(finding.severity).upper():7} {finding.code}: {finding.sentence}" + (
            f" [{place}]" if place else ""
        )
        if finding.advice:
            yield f"          {finding.advice}"


def one_line(text: str, limit: int = 100) -> str:
    """Text of a task for one line of a terminal: control characters and line ends become blanks."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text[: limit * 4]).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def tasks_text(tasks: tuple[TaskRef, ...]) -> str:
    """A list of tasks, newest first."""
    rows = []
    for task in sorted(tasks, key=lambda task: task.updated_ms, reverse=True):
        problem = f"  ! {task.problem}" if task.problem else ""
        day = time.strftime("%Y-%m-%d", time.localtime(task.updated_ms / 1000)) if 0 < task.updated_ms < LAST_MS else ""
        rows.append(f"{task.task_id:>16}  {day:10}  {one_line(task.title, 80) or '(no title)'}{problem}")
    return "\n".join(rows) + "\n"


def tasks_json(tasks: tuple[TaskRef, ...]) -> JsonObject:
    """A list of tasks."""
    items: list[Json] = [task_json(task) for task in tasks]
    return {"schema": SCHEMA, "tasks": items}
