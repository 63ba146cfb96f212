"""Usage sums as the reference computes them: of one request, of removed entries, of a whole task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.engine.cline import js_json
from ctxviewer.engine.cline.js import (
    UNDEFINED,
    JsValue,
    Number,
    add,
    as_double,
    get,
    is_number,
    map_key,
    to_string,
    truthy,
)

_COUNTS: Final = ("tokensIn", "tokensOut", "cacheWrites", "cacheReads")
_WITH_USAGE: Final = ("api_req_started", "deleted_api_reqs", "subagent_usage")


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """Sums over entries. Only values that are numbers count."""

    tokens_in: Number = 0
    tokens_out: Number = 0
    cache_writes: Number | None = None
    """None when no entry gave any."""
    cache_reads: Number | None = None
    """None when no entry gave any."""
    cost: Number = 0
    """US dollars, added as floats in order."""

    def as_text(self) -> str:
        """The text of a totals entry (`say: deleted_api_reqs`): compact JSON, absent counts left out."""
        fields: dict[str, Json] = {"tokensIn": self.tokens_in, "tokensOut": self.tokens_out}
        if self.cache_writes is not None:
            fields["cacheWrites"] = self.cache_writes
        if self.cache_reads is not None:
            fields["cacheReads"] = self.cache_reads
        fields["cost"] = self.cost
        return js_json.stringify(fields)


def request_total(text: JsValue) -> JsValue:
    """Context size of a request from the text of its entry: the four counts, added by a script's `+`.

    A number in healthy data. Counts that are texts, lists or objects join to a text: "9" and 8000 to "9800000".
    Fails on broken JSON and on `null`.
    """
    value = js_json.parse(to_string(text))
    counts = [get(value, name) for name in _COUNTS]
    total: JsValue = counts[0] if truthy(counts[0]) else 0
    for count in counts[1:]:
        total = add(total, count if truthy(count) else 0)
    return total


def usage_totals(entries: Sequence[Json]) -> UsageTotals:
    """Sums over display entries: requests (with their legacy finish merged in), earlier totals, subagent usage.

    Fails if a request, or the finish that follows it, holds broken JSON. A broken totals or subagent entry counts
    nothing. Two requests with one time stamp both count as the first.
    """
    shown = [entry for entry in entries if not _is_command_output(entry)]
    merged = _merged_requests(shown)
    counts: dict[str, Number | None] = dict.fromkeys((*_COUNTS, "cost"))
    for entry in shown:
        if not isinstance(entry, dict) or entry.get("type") != "say" or entry.get("say") not in _WITH_USAGE:
            continue
        stamp = map_key(entry.get("ts", UNDEFINED))
        is_merged = entry["say"] == "api_req_started" and stamp in merged
        values = merged[stamp] if is_merged else _values(entry)
        if isinstance(values, dict):
            for name, known in counts.items():
                value = values.get(name)
                if isinstance(value, (int, float)) and is_number(value):
                    counts[name] = as_double((known or 0) + as_double(value))
    return UsageTotals(
        counts["tokensIn"] or 0,
        counts["tokensOut"] or 0,
        counts["cacheWrites"],
        counts["cacheReads"],
        counts["cost"] or 0,
    )


def task_totals(ui_messages: Sequence[Json]) -> UsageTotals:
    """Sums of a whole task: all display entries but the first. Fails as `usage_totals` does."""
    return usage_totals(ui_messages[1:])


def _is_command_output(entry: Json) -> bool:
    return get(entry, "ask") == "command_output" or get(entry, "say") == "command_output"


def _values(entry: JsonObject) -> Json:
    """What the text of an entry holds; None if there is nothing usable."""
    text = entry.get("text")
    if not truthy(text):
        return None
    try:
        return js_json.parse(to_string(text))
    except BrokenInputError:
        return None


def _merged_requests(entries: Sequence[Json]) -> dict[object, Json]:
    """Values of each request by time stamp, first of a stamp; not of one between another and its finish."""
    merged: dict[object, Json] = {}
    finishes = [index for index, entry in enumerate(entries) if _says(entry, "api_req_finished")]
    finishes.reverse()
    skip_until = -1
    for index, entry in enumerate(entries):
        if index <= skip_until or not isinstance(entry, dict) or not _says(entry, "api_req_started"):
            continue
        started = js_json.parse(_request_text(entry))
        while finishes and finishes[-1] <= index:
            finishes.pop()
        values = started
        if finishes:
            skip_until = finishes[-1]
            finish = entries[skip_until]
            finished = js_json.parse(_request_text(finish))
            values = {**_finite(started), **_finite(finished)}
        elif not truthy(entry.get("text")):
            values = None
        merged.setdefault(map_key(entry.get("ts", UNDEFINED)), values)
    return merged


def _request_text(entry: Json) -> str:
    text = get(entry, "text")
    return to_string(text) if truthy(text) else "{}"


def _finite(value: Json) -> JsonObject:
    """The fields of an object as they come back from being written and read; nothing of other values."""
    if not isinstance(value, dict):
        return {}
    return {key: None if isinstance(item, float) and not math.isfinite(item) else item for key, item in value.items()}


def _says(entry: Json, say: str) -> bool:
    return isinstance(entry, dict) and entry.get("type") == "say" and entry.get("say") == say
