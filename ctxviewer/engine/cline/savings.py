"""How many characters a conversation counts, and how many of them an optimisation saves."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain

from ctxviewer.domain.json import Json, Messages
from ctxviewer.engine.cline.blocks import block_text
from ctxviewer.engine.cline.js import (
    UNDEFINED,
    JsValue,
    add,
    at,
    divide,
    failed,
    get,
    has_items,
    is_number,
    strict_equals,
    subtract,
    to_number,
    truthy,
    utf16_length,
)
from ctxviewer.engine.cline.updates import TEXTS, ContextHistory, MessageUpdates


@dataclass(frozen=True, slots=True)
class Characters:
    """UTF-16 units of messages 0 and 1 and of all after the deleted range."""

    total: JsValue
    """Texts of list contents (of a tool result the first inner one) and base64 images at top level; nothing else.

    A number; NaN where the data is damaged, even text where a script's `+` would join.
    """
    saved: JsValue
    """Negative when the replacements are longer."""

    @property
    def share(self) -> float:
        """Saved part of the total, 0 for an empty total. NaN (never below any limit) on damaged data."""
        return 0.0 if strict_equals(self.total, 0) else divide(self.saved, self.total)


def count_characters(
    messages: Messages, start: int, history: ContextHistory, changed: AbstractSet[int] = frozenset()
) -> Characters:
    """Count messages 0 and 1 and from `start` on; those after again if `start` is below 2, as the reference does.

    Blocks with an update count its newest text. In messages of `changed` they count the text before it, and the
    difference is what is saved. Fails where the reference does: fewer than two messages, null blocks and the like.
    """
    total: JsValue = 0
    saved: JsValue = 0
    for index in chain(range(2), range(start, len(messages))):
        content = _content(messages, index)
        if not isinstance(content, list):
            continue
        entry = history.entry(index)
        if entry is None:
            for block in content:
                length = _block_length(block)
                total = total + length if type(total) is int and type(length) is int else add(total, length)
        else:
            total, saved = _count_updated(content, entry, total, saved, new=index in changed)
    return Characters(total, saved)


def _content(messages: Messages, index: int) -> JsValue:
    if not 0 <= index < len(messages):
        raise failed(f"message {index} does not exist")
    message = messages[index]
    return message.get("content", UNDEFINED) if isinstance(message, dict) else get(message, "content")


def _block_length(block: Json) -> JsValue:
    text = block_text(block)
    if isinstance(text, str) and text:
        return utf16_length(text)
    if truthy(text):
        return get(text, "length")
    return _image_length(block)


def _image_length(block: Json) -> JsValue:
    if isinstance(block, dict) and block.get("type") == "image":
        source = block.get("source")
        if isinstance(source, dict) and source.get("type") == "base64":
            data = source.get("data")
            if truthy(data):
                return get(data, "length")
    return 0


def _count_updated(
    content: Iterable[Json], entry: MessageUpdates, total: JsValue, saved: JsValue, *, new: bool
) -> tuple[JsValue, JsValue]:
    for number, block in enumerate(content):
        text = block_text(block)
        if not truthy(text):
            total = add(total, _image_length(block))
            continue
        changes = entry.changes(number)
        if not has_items(changes):
            total = add(total, get(text, "length"))
            continue
        count = get(changes, "length")
        length = _text_length(changes, subtract(count, 1))
        if not new:
            total = add(total, length)
            continue
        several = is_number(count) and to_number(count) > 1
        before = _text_length(changes, subtract(count, 2)) if several else get(text, "length")
        saved = add(saved, subtract(before, length))
        total = add(total, before)
    return total, saved


def _text_length(changes: JsValue, index: float) -> JsValue:
    change = at(changes, int(index)) if float(index).is_integer() else UNDEFINED
    return get(at(at(change, TEXTS), 0), "length")
