"""Messages, updates and timeline entries for a bug report: disguised, and without what no rule looks at."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from ctxviewer.domain.json import Json, JsonObject, as_text, is_object
from ctxviewer.exports.disguise import Disguise

LEFT_OUT = "(left out)"
SHORT = 120
"""Characters of a timeline text that are kept; no rule looks at them."""
COUNTS = ("tokensIn", "tokensOut", "cacheWrites", "cacheReads", "cost")
_ENTRY_KEYS = (
    "ts", "type", "ask", "say", "text", "partial", "lastCheckpointHash", "isCheckpointCheckedOut",
    "conversationHistoryIndex", "conversationHistoryDeletedRange", "modelInfo",
)  # fmt: skip
_MODEL_KEYS = ("modelId", "providerId", "mode")
_USAGES = frozenset({"api_req_started", "api_req_finished", "deleted_api_reqs", "subagent_usage"})


def compact(value: Json) -> bytes:
    """As the agent writes JSON; halves of surrogate pairs as escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def message_for_bundle(value: Json, disguise: Disguise, *, unseen: bool) -> Json:
    """One stored message. `unseen`: the chosen request does not send it, so its texts are left out."""
    if not is_object(value):
        return disguise.json(value)
    made: JsonObject = {}
    for key, item in value.items():
        if key == "content":
            made[key] = _content(item, disguise, unseen=unseen)
        elif key in {"role", "ts"}:
            made[key] = item
        elif key == "modelInfo":
            made[key] = _picked(item, _MODEL_KEYS)
        elif key == "metrics":
            made[key] = _numbers(item)
    return made


def _content(content: Json, disguise: Disguise, *, unseen: bool) -> Json:
    if isinstance(content, list):
        return [_block(block, disguise, unseen=unseen) for block in content]
    return LEFT_OUT if unseen and isinstance(content, str) else disguise.json(content)


def _block(block: Json, disguise: Disguise, *, unseen: bool) -> Json:
    if not is_object(block):
        return disguise.json(block)
    kind = block.get("type")
    made: JsonObject = {"type": kind} if "type" in block else {}
    texts: Callable[[Json], Json] = (lambda _: LEFT_OUT) if unseen else disguise.json
    match kind:
        case "text":
            parts: Mapping[str, Callable[[Json], Json]] = {"text": texts}
        case "thinking":
            parts = {"thinking": texts}
        case "tool_use":
            parts = {
                "id": _same,
                "name": lambda name: disguise.name(name) if isinstance(name, str) else name,
                "input": (lambda _: {}) if unseen else disguise.json,
            }
        case "tool_result":
            parts = {
                "tool_use_id": _same,
                "content": lambda content: _content(content, disguise, unseen=unseen),
                "is_error": _same,
            }
        case "image" | "document":
            parts = {"source": lambda source: _source(source, disguise, unseen=unseen)}
        case "redacted_thinking":
            parts = {"data": lambda data: "A" * len(data) if isinstance(data, str) else data}
        case _:
            other = disguise.json({key: item for key, item in block.items() if key != "type"})
            return {**made, **other} if is_object(other) and not unseen else made
    for key, change in parts.items():
        if key in block:
            made[key] = change(block[key])
    return made


def _same(value: Json) -> Json:
    return value


def _source(source: Json, disguise: Disguise, *, unseen: bool) -> Json:
    """Where a picture is; its data gives way to as many other characters."""
    if not is_object(source):
        return disguise.json(source)
    made: JsonObject = {}
    for key, item in source.items():
        if key in {"type", "media_type"}:
            made[key] = item
        elif key == "data" and isinstance(item, str):
            made[key] = "" if unseen else "A" * len(item)
        else:
            made[key] = disguise.json(item)
    return made


def _picked(value: Json, keys: tuple[str, ...]) -> Json:
    return {key: value[key] for key in keys if key in value} if is_object(value) else value


def _numbers(value: Json) -> Json:
    """Only the numbers of an object, at any depth."""
    if is_object(value):
        return {key: _numbers(item) for key, item in value.items() if not isinstance(item, str)}
    return value if not isinstance(value, (str, list)) else None


def entry_for_bundle(value: Json, disguise: Disguise) -> Json:
    """One entry of the timeline: its text short, its pictures and files gone."""
    if not is_object(value):
        return disguise.json(value)
    kind = as_text(value.get("say")) or as_text(value.get("ask"))
    made: JsonObject = {}
    for key in value:
        if key not in _ENTRY_KEYS:
            continue
        item = value[key]
        if key == "text" and isinstance(item, str):
            made[key] = _entry_text(kind, item, disguise)
        elif key == "lastCheckpointHash" and isinstance(item, str):
            made[key] = disguise.hash(item)
        elif key == "modelInfo":
            made[key] = _picked(item, _MODEL_KEYS)
        else:
            made[key] = item
    return made


def _entry_text(kind: str, text: str, disguise: Disguise) -> str:
    if kind in _USAGES or kind == "tool":
        try:
            value: Json = json.loads(text)
        except (ValueError, RecursionError):
            return disguise.text(text[:SHORT])
        if is_object(value):
            made = _tool(value, disguise) if kind == "tool" else _usage(value, disguise)
            return json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    return disguise.text(text[:SHORT])


def _tool(value: JsonObject, disguise: Disguise) -> JsonObject:
    made: JsonObject = {"tool": value["tool"]} if "tool" in value else {}
    if isinstance(value.get("path"), str):
        made["path"] = disguise.text(as_text(value["path"]))
    return made


def _usage(value: JsonObject, disguise: Disguise) -> JsonObject:
    made: JsonObject = {key: value[key] for key in COUNTS if key in value}
    if "cancelReason" in value:
        made["cancelReason"] = value["cancelReason"]
    message = value.get("streamingFailedMessage")
    if isinstance(message, str):
        made["streamingFailedMessage"] = disguise.text(message[:SHORT]) if message else ""
    return made


def updates_for_bundle(text: str, disguise: Disguise, keep: Callable[[int, int, Json], bool]) -> bytes | None:
    """The updates file with disguised texts and only what `keep(message, block, time)` wants; None if none is left.

    None also for a text that is no such file: the rules take that for no updates.
    """
    try:
        value: Json = json.loads(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}"))
    except (ValueError, RecursionError):
        return None
    entries = value if isinstance(value, list) else []
    kept: list[Json] = [made for entry in entries if (made := _update_entry(entry, disguise, keep)) is not None]
    return compact(kept) if kept else None


def _update_entry(entry: Json, disguise: Disguise, keep: Callable[[int, int, Json], bool]) -> Json:
    """One message's entry, None where nothing is left of it."""
    number, body = _pair(entry)
    if not isinstance(number, int) or not isinstance(body, list) or len(body) != 2 or not isinstance(body[1], list):
        return None
    blocks: list[Json] = []
    for one in body[1]:
        block, listed = _pair(one)
        if not isinstance(block, int) or not isinstance(listed, list):
            continue
        changes: list[Json] = [
            [change[0], change[1], disguise.json(change[2]), disguise.json(change[3])]
            for change in listed
            if isinstance(change, list) and len(change) == 4 and keep(number, block, change[0])
        ]
        if changes:
            blocks.append([block, changes])
    return [number, [body[0], blocks]] if blocks else None


def _pair(value: Json) -> tuple[Json, Json]:
    """Both items of a list of two; None and None for anything else."""
    return (value[0], value[1]) if isinstance(value, list) and len(value) == 2 else (None, None)
