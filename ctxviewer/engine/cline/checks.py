"""The yes-or-no check for compaction and the numbers of the telemetry: readings of one request, nothing changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json
from ctxviewer.engine.cline.js import UNDEFINED, JsValue, Number, at_least, get, truthy
from ctxviewer.engine.cline.totals import request_total
from ctxviewer.engine.cline.window import Api, compaction_threshold, window_info


@dataclass(frozen=True, slots=True)
class ContextTelemetry:
    """What the telemetry reports about a request."""

    tokens_used: JsValue
    """As `request_total` gives it."""
    max_context_window: Number


def request_entry(ui_messages: Sequence[Json], index: int) -> JsValue:
    """The display entry at `index`, UNDEFINED where there is none."""
    return ui_messages[index] if 0 <= index < len(ui_messages) else UNDEFINED


def request_text(ui_messages: Sequence[Json], index: int) -> JsValue:
    """The text of the display entry at `index`, UNDEFINED where there is none."""
    entry = request_entry(ui_messages, index)
    return UNDEFINED if entry is None or entry is UNDEFINED else get(entry, "text")


def should_compact(ui_messages: Sequence[Json], api: Api, previous_index: int, fraction: float | None = None) -> bool:
    """Whether the request at `previous_index` reached the limit, or `fraction` of the window if that is less.

    False where there is no such entry, no text, or a broken one.
    """
    text = request_text(ui_messages, previous_index)
    if not truthy(text):
        return False
    try:
        return at_least(request_total(text), compaction_threshold(window_info(api), fraction))
    except BrokenInputError:
        return False


def context_telemetry(
    ui_messages: Sequence[Json], api: Api, trigger_index: int | None = None
) -> ContextTelemetry | None:
    """Numbers of the entry at `trigger_index`, or of the last but one request; None where there are none.

    Requests are found by their `say` alone. Fails only if an entry is null.
    """
    if trigger_index is None:
        requests = [index for index, entry in enumerate(ui_messages) if get(entry, "say") == "api_req_started"]
        trigger_index = requests[-2] if len(requests) > 1 else -1
    text = request_text(ui_messages, trigger_index)
    if not truthy(text):
        return None
    try:
        return ContextTelemetry(request_total(text), window_info(api).window)
    except BrokenInputError:
        return None
