"""The typed view of timeline entries, made without decoding their long texts. Any JSON value is accepted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from ctxviewer.domain.json import Json, JsonObject, as_int, as_name, as_text
from ctxviewer.domain.ranges import parse_range
from ctxviewer.domain.snapshot import UiEntry
from ctxviewer.sources.rawjson import decode, encode
from ctxviewer.sources.rawlog import RawLog

_NO_TEXT = msgspec.Raw(b"")
_HEAD_BYTES = 320
_LONGEST_ESCAPE = 6
_TOOL = re.compile(r'"tool"\s*:\s*"([^"\\]+)"')
_PATH = re.compile(r'"path"\s*:\s*"([^"\\]+)')


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
_TYPES = ("say", "ask")
_NO_MODEL: JsonObject = {}
_PLAIN = tuple(name for name in Facts.__struct_fields__ if name != "text")


class Read(NamedTuple):
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
    said = facts.type != "ask"
    kind, ts, last = facts.say if said else facts.ask, facts.ts, facts.conversationHistoryIndex
    deleted, model = facts.conversationHistoryDeletedRange, facts.modelInfo
    odd = ""
    if facts.type not in _TYPES:
        odd = f"its type is {_short(facts.type)}"
    elif type(kind) is not str or not kind:
        odd = f"its {'say' if said else 'ask'} is {_short(kind)}"
    elif as_int(ts) is None:
        odd = f"its ts is {_short(ts)}"
    elif last is not None and as_int(last) is None:
        odd = f"its conversationHistoryIndex is {_short(last)}"
    elif deleted is not None and parse_range(deleted) is None:
        odd = f"its conversationHistoryDeletedRange is {_short(deleted)}"
    known_model = model if isinstance(model, dict) else _NO_MODEL
    entry = UiEntry(
        number,
        as_int(ts) or 0,
        facts.type if type(facts.type) is str else "",
        kind if type(kind) is str else "",
        as_int(last),
        parse_range(deleted) if deleted is not None else None,
        clean_hash(as_text(facts.lastCheckpointHash)),
        facts.partial is True,
        as_name(known_model.get("modelId")),
        as_name(known_model.get("providerId")),
    )
    return Read(entry, memoryview(facts.text), odd)


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
    piece = bytes(text[1:_HEAD_BYTES])
    escape = piece.rfind(b"\\", len(piece) - _LONGEST_ESCAPE)
    if escape >= 0:  # it may be cut: leave it and the backslashes before it out
        piece = piece[:escape].rstrip(b"\\")
    head = as_text(decode(b'"' + piece.decode("utf-8", "ignore").encode() + b'"'))
    return head[:-1] if "\ud800" <= head[-1:] <= "\udbff" else head


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


def entries(reads: Sequence[Read]) -> tuple[UiEntry, ...]:
    """Only the typed views."""
    return tuple(read.entry for read in reads)
