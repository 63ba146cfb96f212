"""The typed view of timeline entries, made without decoding their long texts. Any JSON value is accepted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ctxviewer.domain.json import Json, JsonObject, as_int, as_text
from ctxviewer.domain.ranges import parse_range
from ctxviewer.domain.snapshot import UiEntry
from ctxviewer.sources.rawjson import decode, encode
from ctxviewer.sources.rawlog import RawLog

_NO_TEXT = msgspec.Raw(b"")
_HEAD_BYTES = 320
_TOOL = re.compile(r'"tool"\s*:\s*"([^"\\]+)"')
_PATH = re.compile(r'"path"\s*:\s*"([^"\\]+)')
_WHOLE_ESCAPES = re.compile(rb'(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*')


class Facts(msgspec.Struct):
    """What is taken from an entry; other fields are skipped unread."""

    ts: Any = None
    type: Any = None
    say: Any = None
    ask: Any = None
    text: msgspec.Raw = _NO_TEXT
    partial: Any = None
    conversationHistoryIndex: Any = None  # noqa: N815 - the file's name
    conversationHistoryDeletedRange: Any = None  # noqa: N815
    lastCheckpointHash: Any = None  # noqa: N815
    modelInfo: Any = None  # noqa: N815


_FACTS = msgspec.json.Decoder(Facts)
_PLAIN = tuple(name for name in Facts.__struct_fields__ if name != "text")


@dataclass(frozen=True, slots=True)
class Read:
    """One entry as read: the typed view, and its text still as JSON bytes."""

    entry: UiEntry
    text: bytes | memoryview
    """JSON of `text`; empty when the entry has none."""
    odd: str
    """What is wrong with the entry, '' if nothing."""


def read_entries(log: RawLog, first: int = 0) -> list[Read]:
    """Entries `first` ... of a timeline."""
    return [read_entry(log, number) for number in range(first, len(log))]


def read_entry(log: RawLog, number: int) -> Read:
    """One entry of a timeline."""
    raw = log.view(number)
    try:
        facts = _FACTS.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        value = decode(raw)
        if not isinstance(value, dict):
            return Read(
                UiEntry(number, 0, "", "", None, None, "", partial=False, model_id="", provider_id=""),
                b"",
                "it is no object",
            )
        facts = Facts()
        for name in _PLAIN:
            setattr(facts, name, value.get(name))
        if "text" in value:
            facts.text = msgspec.Raw(encode(value["text"]))
    kind_field = "say" if facts.type != "ask" else "ask"
    kind = as_text(facts.say if kind_field == "say" else facts.ask)
    model = facts.modelInfo if isinstance(facts.modelInfo, dict) else {}
    deleted = parse_range(facts.conversationHistoryDeletedRange)
    entry = UiEntry(
        index=number,
        ts=as_int(facts.ts) or 0,
        type=as_text(facts.type),
        kind=kind,
        last_message=as_int(facts.conversationHistoryIndex),
        deleted_range=deleted,
        checkpoint_hash=clean_hash(as_text(facts.lastCheckpointHash)),
        partial=facts.partial is True,
        model_id=as_text(model.get("modelId")),
        provider_id=as_text(model.get("providerId")),
    )
    return Read(entry, memoryview(facts.text), _oddity(facts, kind_field, kind))


def _oddity(facts: Facts, kind_field: str, kind: str) -> str:
    if facts.type not in {"say", "ask"}:
        return f"its type is {_short(facts.type)}"
    if not kind:
        return f"its {kind_field} is {_short(getattr(facts, kind_field))}"
    if as_int(facts.ts) is None:
        return f"its ts is {_short(facts.ts)}"
    index, deleted = facts.conversationHistoryIndex, facts.conversationHistoryDeletedRange
    if index is not None and as_int(index) is None:
        return f"its conversationHistoryIndex is {_short(index)}"
    if deleted is not None and parse_range(deleted) is None:
        return f"its conversationHistoryDeletedRange is {_short(deleted)}"
    return ""


def _short(value: Json) -> str:
    text = encode(value).decode("utf-8", "replace")
    return "missing" if value is None else text if len(text) <= 40 else text[:40] + "…"


def clean_hash(value: str) -> str:
    """A commit hash without the prefix 'HEAD ' of old versions."""
    return value.removeprefix("HEAD ").strip()


def text_of(text: bytes | memoryview) -> str:
    """The whole text of an entry, '' when it has none or it is no string."""
    return as_text(decode(text)) if len(text) else ""


def head_of(text: bytes | memoryview) -> str:
    """The first some hundred characters of an entry's text, without decoding the rest."""
    if len(text) <= _HEAD_BYTES:
        return text_of(text)
    if text[0] != ord('"'):
        return ""
    whole = _WHOLE_ESCAPES.match(bytes(text[1:_HEAD_BYTES]))
    piece = whole.group() if whole else b""
    return as_text(decode(b'"' + piece + b'"')).rstrip("\ufffd")


def title_of(read: Read) -> str:
    """One line for an entry: a tool and its path, else the beginning of the text."""
    head = head_of(read.text)
    if read.entry.kind == "tool":
        tool, path = _TOOL.search(head), _PATH.search(head)
        return " ".join(found.group(1) for found in (tool, path) if found) or "tool"
    return one_line(head)


def one_line(text: str, length: int = 160) -> str:
    """The text on one line, cut with an ellipsis."""
    line = " ".join(text[: length * 4].split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def object_of(text: bytes | memoryview) -> JsonObject | None:
    """The JSON object in an entry's text; None when there is none or it is broken."""
    value = decode(text_of(text).encode("utf-8", "surrogatepass")) if len(text) else None
    return value if isinstance(value, dict) else None


def entries(reads: Sequence[Read]) -> tuple[UiEntry, ...]:
    """Only the typed views."""
    return tuple(read.entry for read in reads)
