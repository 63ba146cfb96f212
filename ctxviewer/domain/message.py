"""The typed view of one entry of the API history and of its blocks. Reading never fails: damage is shown as it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from ctxviewer.domain.json import Json, as_text


class BlockKind(StrEnum):
    """Kinds of blocks that are told apart; everything else is OTHER and shown as JSON."""

    TEXT = "text"
    IMAGE = "image"
    DOCUMENT = "document"
    TOOL_USE = "tool_use"
    TOOL_RESULT = "tool_result"
    THINKING = "thinking"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Block:
    """One item of a message's content."""

    index: int
    """Number in `content` as stored, from 0. String content is one TEXT block with index 0."""
    kind: BlockKind
    text: str
    """What a person reads: the text, a call's input as indented JSON, a result's texts, '[image/png]'."""
    tool_id: str
    """`id` of a call, `tool_use_id` of a result, else ''."""
    name: str
    """Name of the called tool, media type of an image, type of an OTHER block, else ''."""
    updatable: bool
    """True if an update on this block takes effect: a text block, or a result whose content list starts with a text."""
    raw: Json


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the API history."""

    index: int
    role: str
    """'user' and 'assistant' in healthy files; '' where it is missing or no text."""
    blocks: tuple[Block, ...]
    is_string: bool
    """True where `content` is a plain string; updates do not reach it."""
    raw: Json


def _pretty(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _result_text(content: Json) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_inner(item) for item in content)
    return "" if content is None else _pretty(content)


def _inner(item: Json) -> str:
    if isinstance(item, dict):
        if item.get("type") == "text" and isinstance(item.get("text"), str):
            return as_text(item["text"])
        if item.get("type") == "image":
            return f"[{_media_type(item)}]"
    return _pretty(item)


def _media_type(block: dict[str, Json]) -> str:
    source = block.get("source")
    media = as_text(source.get("media_type")) if isinstance(source, dict) else ""
    return media or "image"


def parse_block(index: int, value: Json) -> Block:
    """The typed view of one block; any JSON value is accepted."""
    if not isinstance(value, dict):
        return Block(index, BlockKind.OTHER, _pretty(value), "", type(value).__name__, updatable=False, raw=value)
    kind = as_text(value.get("type"))
    if kind == BlockKind.TEXT and isinstance(value.get("text"), str):
        return Block(index, BlockKind.TEXT, as_text(value["text"]), "", "", updatable=True, raw=value)
    if kind == BlockKind.IMAGE:
        media = _media_type(value)
        return Block(index, BlockKind.IMAGE, f"[{media}]", "", media, updatable=False, raw=value)
    if kind == BlockKind.TOOL_USE:
        text = _pretty(value.get("input"))
        return Block(
            index,
            BlockKind.TOOL_USE,
            text,
            as_text(value.get("id")),
            as_text(value.get("name")),
            updatable=False,
            raw=value,
        )
    if kind == BlockKind.TOOL_RESULT:
        content = value.get("content")
        first = content[0] if isinstance(content, list) and content else None
        updatable = isinstance(first, dict) and first.get("type") == "text"
        text = _result_text(content)
        return Block(
            index,
            BlockKind.TOOL_RESULT,
            text,
            as_text(value.get("tool_use_id")),
            "",
            updatable=updatable,
            raw=value,
        )
    if kind == BlockKind.THINKING:
        return Block(index, BlockKind.THINKING, as_text(value.get("thinking")), "", "", updatable=False, raw=value)
    if kind == BlockKind.DOCUMENT:
        return Block(index, BlockKind.DOCUMENT, "[document]", "", "document", updatable=False, raw=value)
    return Block(index, BlockKind.OTHER, _pretty(value), "", kind, updatable=False, raw=value)


def parse_message(index: int, value: Json) -> Message:
    """The typed view of one stored message; any JSON value is accepted, what is odd becomes an OTHER block."""
    if not isinstance(value, dict):
        return Message(index, "", (parse_block(0, value),), is_string=False, raw=value)
    role, content = as_text(value.get("role")), value.get("content")
    if isinstance(content, str):
        block = Block(0, BlockKind.TEXT, content, "", "", updatable=False, raw=content)
        return Message(index, role, (block,), is_string=True, raw=value)
    if isinstance(content, list):
        return Message(index, role, tuple(parse_block(i, b) for i, b in enumerate(content)), is_string=False, raw=value)
    blocks = () if content is None else (parse_block(0, content),)
    return Message(index, role, blocks, is_string=False, raw=value)
