"""The text of a block, read and replaced: a text block's, or that of the first inner block of a tool result."""

from __future__ import annotations

from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.engine.cline.js import UNDEFINED, JsValue, failed, get, truthy


def block_text(block: Json) -> JsValue:
    """The text of a block: `text` of a text block, or of the first inner block of a tool_result with a list as content.

    None where a block has no such place; what stands there otherwise, which is a string in healthy data and UNDEFINED
    if the key is missing. Fails on null, and on a tool_result whose list starts with a plain value.
    """
    if isinstance(block, dict):
        kind = block.get("type")
        if kind == "text":
            return block.get("text", UNDEFINED)
        if kind == "tool_result":
            inner = first_inner(block)
            return None if inner is None else inner.get("text", UNDEFINED)
    elif block is None:
        raise failed("a content block is null")
    return None


def with_text(block: Json, text: JsValue) -> JsonObject | None:
    """A copy of the block with its text replaced, or None if it has no place for text. UNDEFINED removes the text."""
    if isinstance(block, dict):
        kind = block.get("type")
        if kind == "text":
            return _set_text(block, text)
        if kind == "tool_result":
            inner = first_inner(block)
            content = block["content"] if inner is not None else None
            if inner is not None and isinstance(content, list):
                return {**block, "content": [_set_text(inner, text), *content[1:]]}
    return None


def first_inner(block: JsonObject) -> JsonObject | None:
    """The first inner block of a tool_result, if the content is a list that starts with a text block."""
    content = block.get("content")
    if not isinstance(content, list) or not content:
        return None
    inner = content[0]
    if isinstance(inner, dict):
        return inner if inner.get("type") == "text" else None
    if truthy(inner) and not isinstance(inner, list):
        raise failed("a tool result holds a plain value where a block should be")
    return None


def _set_text(block: JsonObject, text: JsValue) -> JsonObject:
    copy = dict(block)
    if text is UNDEFINED:
        copy.pop("text", None)
    else:
        copy["text"] = text
    return copy


def role_and_content(message: JsValue) -> tuple[JsValue, JsValue]:
    """`role` and `content` of a message, UNDEFINED where absent. Fails where there is no message or null."""
    if isinstance(message, dict):
        return message.get("role", UNDEFINED), message.get("content", UNDEFINED)
    return get(message, "role"), UNDEFINED
