"""Which text of a block a tokenizer should see. Images and documents are no text and are only numbered."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from ctxviewer.domain.json import Json, as_text, is_object
from ctxviewer.domain.message import Block, BlockKind, Message
from ctxviewer.domain.updates import Update
from ctxviewer.tokens.counter import TokenCounter

_PICTURES = ("image", "document")


class BlockCount(NamedTuple):
    """Estimated tokens of one stored block."""

    tokens: int
    replaceable: int
    """Tokens of the text that an update on this block would replace; -1 where updates have no effect."""
    pictures: int
    """Images and documents in the block; they are not in `tokens`."""
    tool_id: str
    """`tool_use_id` of a result, else ''."""


MessageCount = tuple[BlockCount, ...]
"""One entry a stored block."""


def count_message(counter: TokenCounter, message: Message) -> MessageCount:
    """Counts of a stored message, block by block."""
    return tuple(_count_block(counter, block) for block in message.blocks)


def count_updates(counter: TokenCounter, updates: Iterable[Update]) -> dict[str, int]:
    """Tokens by replacement text."""
    return {text: counter.count(text) for text in dict.fromkeys(update.text for update in updates)}


def _count_block(counter: TokenCounter, block: Block) -> BlockCount:
    if block.kind in {BlockKind.IMAGE, BlockKind.DOCUMENT}:
        return BlockCount(0, -1, 1, "")
    if block.kind is BlockKind.TOOL_RESULT:
        return _count_result(counter, block)
    if block.kind is BlockKind.TOOL_USE and is_object(block.raw):
        compact = json.dumps(block.raw.get("input"), ensure_ascii=False, separators=(",", ":"))
        return BlockCount(counter.count(block.name) + counter.count(compact), -1, 0, "")
    tokens = counter.count(block.text)
    return BlockCount(tokens, tokens if block.updatable else -1, 0, "")


def _count_result(counter: TokenCounter, block: Block) -> BlockCount:
    content: Json = block.raw.get("content") if is_object(block.raw) else None
    if not isinstance(content, list):
        return BlockCount(counter.count(block.text), -1, 0, block.tool_id)
    counts = [_count_inner(counter, item) for item in content]
    tokens = sum(count for count in counts if count >= 0)
    return BlockCount(tokens, counts[0] if block.updatable else -1, counts.count(-1), block.tool_id)


def _count_inner(counter: TokenCounter, item: Json) -> int:
    """Tokens of one item of a result's content; -1 for a picture."""
    if is_object(item) and item.get("type") in _PICTURES:
        return -1
    if is_object(item) and item.get("type") == "text" and isinstance(item.get("text"), str):
        return counter.count(as_text(item["text"]))
    return counter.count(json.dumps(item, ensure_ascii=False, separators=(",", ":")))
