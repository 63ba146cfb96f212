"""The pieces of the stable JSON (docs/cli.md): domain values as plain objects. Numbers of requests count from 1."""

from __future__ import annotations

import json
import math

from ctxviewer.domain.finding import Finding
from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Checkpoint, Request, Usage
from ctxviewer.domain.updates import Update
from ctxviewer.engine.events import Event
from ctxviewer.engine.strategies.carried import runs

SCHEMA = 1
"""Raised when a field is renamed or taken away; new fields do not count."""


def json_text(value: Json, *, plain: bool = False) -> str:
    """A JSON text. Infinity and NaN, which are no JSON, become null, as for the agents. `plain` = only ASCII."""
    try:
        return json.dumps(value, ensure_ascii=plain, indent=2, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=plain, indent=2, allow_nan=False)


def _finite(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def range_json(deleted: Range | None) -> Json:
    """[start, end], both inclusive, or null."""
    return None if deleted is None else [deleted.start, deleted.end]


def span_json(numbers: range) -> Json:
    """[first, last], both inclusive, or null when empty."""
    return [numbers[0], numbers[-1]] if numbers else None


def request_number(number: int | None) -> Json:
    """As people count, from 1."""
    return None if number is None else number + 1


def usage_json(usage: Usage) -> JsonObject:
    """Reported tokens and cost."""
    return {
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "cache_writes": usage.cache_writes,
        "cache_reads": usage.cache_reads,
        "total": usage.total,
        "cost": usage.cost,
        "source": "reported",
    }


def update_json(update: Update) -> JsonObject:
    """One update without its text."""
    return {
        "message": update.message,
        "block": update.block,
        "ts": update.timestamp,
        "kind": update.edit_type,
        "characters": len(update.text),
    }


def event_json(event: Event) -> JsonObject:
    """One event."""
    return {
        "kind": str(event.kind),
        "request": request_number(event.request),
        "ts": event.ts,
        "sentence": event.sentence,
        "range_before": range_json(event.range_before),
        "range_after": range_json(event.range_after),
        "keep": event.keep,
        "updates": [update_json(update) for update in event.updates],
    }


def checkpoint_json(number: int | None, checkpoint: Checkpoint) -> JsonObject:
    """One checkpoint; `number` counts from 1 and is what `--checkpoint` takes, None where it has none."""
    return {
        "number": number,
        "ts": checkpoint.ts,
        "kind": str(checkpoint.kind),
        "hash": checkpoint.hash,
        "request": request_number(checkpoint.request),
        "last_message": checkpoint.last_message,
        "range": range_json(checkpoint.deleted_range),
        "title": checkpoint.title,
    }


def finding_json(finding: Finding) -> JsonObject:
    """One finding."""
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "sentence": finding.sentence,
        "file": finding.file,
        "place": finding.place,
        "advice": finding.advice,
        "message": finding.message,
        "request": request_number(finding.request),
    }


def request_json(request: Request) -> JsonObject:
    """One request without what it sent."""
    return {
        "number": request.number + 1,
        "ts": request.ts,
        "state": str(request.state),
        "usage": usage_json(request.usage) if request.usage_reported else None,
        "model": request.model_id,
        "failure": request.failure,
    }


def projection_json(projection: Projection) -> JsonObject:
    """What is sent, as numbers of stored messages."""
    return {
        "messages": projection.until,
        "sent": projection.sent_count,
        "not_sent": span_json(projection.hidden),
        "range": range_json(projection.deleted_range),
        "updates": [update_json(update) for update in projection.updates.values()],
        "repairs": [
            {"message": repair.message, "kind": str(repair.kind), "tool_ids": list(repair.tool_ids)}
            for repair in projection.repairs
        ],
        "sent_twice": list(projection.repeated),
        "gone": [[run.start, run.end] for run in runs(sorted(projection.gone))],
        "gone_blocks": [list(place) for place in sorted(projection.gone_blocks)],
        "inserted": [
            {"before": row.before, "role": row.role, "title": row.title, "text": row.text}
            for row in projection.inserted
        ],
        "exact": projection.exact,
        "doubts": list(projection.doubts),
    }
