"""A task, or a request as sent, as one JSON object; the usage of all requests as CSV. Secrets masked."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime

from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.engine.explain import explain
from ctxviewer.engine.timeline import Timeline
from ctxviewer.exports.document import Document, MessageText, make_document
from ctxviewer.exports.report import explanation_json, report, task_json
from ctxviewer.exports.secrets import Mask
from ctxviewer.exports.values import SCHEMA, projection_json, request_number

COLUMNS = (
    "request", "ts", "time", "state", "model", "input", "cache_read", "cache_write", "output", "total", "cost",
    "window", "share", "messages", "sent", "not_sent", "range_start", "range_end", "updates", "repairs", "estimated",
    "events",
)  # fmt: skip
"""In order; described in docs/cli.md."""


def task_export(timeline: Timeline, mask: Mask) -> JsonObject:
    """The report of a task with every stored message, as sent next and as stored.

    UnreadableTaskError where the API history is missing.
    """
    document = make_document(timeline, None, mask)
    messages: list[Json] = [_message(item) for item in document.messages() if isinstance(item, MessageText)]
    facts = mask.json(report(timeline, None))
    whole: JsonObject = dict(facts) if isinstance(facts, dict) else {}
    whole["messages_as_sent"] = messages
    whole["masked"] = masked_json(mask)
    return whole


def request_export(timeline: Timeline, number: int | None, mask: Mask) -> JsonObject:
    """One request (from 0; None = the next one): the messages exactly as sent but for what is masked, and why."""
    document: Document = make_document(timeline, number, mask)
    sent = mask.json(timeline.sent_by(document.projection))
    return {
        "schema": SCHEMA,
        "task": mask.json(task_json(timeline.snapshot.task)),
        "request": request_number(number),
        "projection": projection_json(document.projection),
        "why": mask.json(explanation_json(explain(timeline, number))),
        "sent": sent,
        "masked": masked_json(mask),
    }


def masked_json(mask: Mask) -> JsonObject:
    """What was masked so far."""
    return {
        "kept": mask.keep,
        "count": mask.count,
        "kinds": [{"kind": row.kind, "count": row.places, "different": row.different} for row in mask.kinds],
    }


def _message(message: MessageText) -> JsonObject:
    return {
        "message": message.number,
        "role": message.role,
        "standing": str(message.standing),
        "blocks": [
            {
                "title": block.title,
                "change": str(block.change),
                "label": block.label,
                "text": block.text,
                "stored": block.stored,
            }
            for block in message.blocks
        ],
    }


def usage_csv(
    timeline: Timeline, mask: Mask, window: float | None = None, estimated: Sequence[float | None] = ()
) -> str:
    """One row a request. Numbers without grouping, unknown ones empty; texts that a table program would run are quoted.

    `estimated` by request number: tokens of the messages as sent.
    """
    timeline.find_repairs()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    events: dict[int | None, list[str]] = {}
    for event in timeline.events:
        events.setdefault(event.request, []).append(str(event.kind))
    size = window if window is not None else timeline.snapshot.model.window
    for request in timeline.requests:
        projection, usage = timeline.projection(request.number), request.usage
        deleted, known = projection.deleted_range, request.usage_reported
        total = usage.total if known else None
        row: list[float | str | None] = [
            request.number + 1,
            request.ts or None,
            _time(request.ts),
            str(request.state),
            mask.text(request.model_id),
            *(
                (usage.tokens_in, usage.cache_reads, usage.cache_writes, usage.tokens_out)
                if known
                else (None, None, None, None)
            ),
            total,
            usage.cost,
            size,
            None if total is None or not size else round(total / size, 6),
            projection.until,
            projection.sent_count,
            projection.until - projection.sent_count,
            deleted.start if deleted is not None else None,
            deleted.end if deleted is not None else None,
            len(projection.updates),
            len(projection.repairs),
            estimated[request.number] if request.number < len(estimated) else None,
            " ".join(name.replace(" ", "-") for name in events.get(request.number, [])),
        ]
        writer.writerow([cell(value) for value in row])
    return text.getvalue()


def cell(value: float | str | None) -> str:
    """A cell: whole numbers without a point, '' for None, and texts that begin like a formula after an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
    return str(int(value)) if float(value).is_integer() else repr(value)


def _time(ts: int) -> str:
    """Milliseconds as a time of UTC; '' where there is none, or where it is beyond the calendar."""
    if ts <= 0 or ts > 253_402_300_799_000:
        return ""
    return datetime.fromtimestamp(ts / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
