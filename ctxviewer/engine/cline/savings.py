"""How many characters a conversation counts, and how many of them an optimisation saves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
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
    blocks: Mapping[tuple[int, int], tuple[JsValue, JsValue]] = field(default_factory=dict)
    """Lengths before and now of each block with an update in a changed message, by (message, block)."""

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
    return count_messages(messages, chain(range(2), range(start, len(messages))), history, changed)


def count_messages(
    messages: Messages, numbers: Iterable[int], history: ContextHistory, changed: AbstractSet[int] = frozenset()
) -> Characters:
    """The same for these messages only, in this order."""
    count = _Count()
    plain = 0
    for index in numbers:
        content = _content(messages, index)
        if not isinstance(content, list):
            continue
        entry = history.entry(index)
        if entry is not None:
            count.add_updated(index, content, entry, new=index in changed)
            continue
        for block in content:
            text = block_text(block)
            if type(text) is str and text:
                plain += len(text) if text.isascii() else utf16_length(text)
            elif truthy(text):
                count.total = add(add(count.total, plain), get(text, "length"))
                plain = 0
            elif type(block) is dict and block.get("type") == "image":
                count.total = add(add(count.total, plain), _image_length(block))
                plain = 0
    return Characters(add(count.total, plain), count.saved, count.blocks)


def _content(messages: Messages, index: int) -> JsValue:
    if not 0 <= index < len(messages):
        raise failed(f"message {index} does not exist")
    message = messages[index]
    return message.get("content", UNDEFINED) if isinstance(message, dict) else get(message, "content")


def _image_length(block: Json) -> JsValue:
    if isinstance(block, dict) and block.get("type") == "image":
        source = block.get("source")
        if isinstance(source, dict) and source.get("type") == "base64":
            data = source.get("data")
            if truthy(data):
                return get(data, "length")
    return 0


class _Count:
    """Sums in the making."""

    def __init__(self) -> None:
        self.total: JsValue = 0
        self.saved: JsValue = 0
        self.blocks: dict[tuple[int, int], tuple[JsValue, JsValue]] = {}

    def add_updated(self, index: int, content: list[Json], entry: MessageUpdates, *, new: bool) -> None:
        """Add a message that has an entry in the history."""
        for number, block in enumerate(content):
            text = block_text(block)
            if not truthy(text):
                self.total = add(self.total, _image_length(block))
                continue
            changes = entry.changes(number)
            if not has_items(changes):
                self.total = add(self.total, get(text, "length"))
                continue
            before, now = _lengths(changes, text, new=new)
            if type(self.total) is int and type(before) is int:
                self.total += before
            else:
                self.total = add(self.total, before)
            if not new:
                continue
            if type(self.saved) is int and type(before) is int and type(now) is int:
                self.saved += before - now
            else:
                self.saved = add(self.saved, subtract(before, now))
            self.blocks[index, number] = before, now


def _lengths(changes: JsValue, text: JsValue, *, new: bool) -> tuple[JsValue, JsValue]:
    """Length to count and length now: of the newest update, and if it is new of the text before it."""
    if type(changes) is list:
        now = _change_length(changes[-1])
        if not new:
            return now, now
        if len(changes) > 1:
            return _change_length(changes[-2]), now
        return utf16_length(text) if type(text) is str else get(text, "length"), now
    count = get(changes, "length")
    now = _text_length(changes, subtract(count, 1))
    if not new:
        return now, now
    if is_number(count) and to_number(count) > 1:
        return _text_length(changes, subtract(count, 2)), now
    return get(text, "length"), now


def _text_length(changes: JsValue, index: float) -> JsValue:
    return _change_length(at(changes, int(index)) if float(index).is_integer() else UNDEFINED)


def _change_length(change: JsValue) -> JsValue:
    texts = at(change, TEXTS)
    text = texts[0] if type(texts) is list and texts else at(texts, 0)
    return utf16_length(text) if type(text) is str else get(text, "length")
