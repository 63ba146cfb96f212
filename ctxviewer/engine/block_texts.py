"""The texts of a block that can be looked for: what a person reads, and what the model is sent where that differs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ctxviewer.domain.json import Json, as_text
from ctxviewer.domain.message import Block, BlockKind

_ESCAPED = re.compile(r'["\\\x00-\x1f]')
"""Characters that JSON writes in another way, so that the text does not stand in the JSON as it is."""


def block_texts(block: Block) -> tuple[str, ...]:
    """Texts of one block, none of them empty; () for pictures.

    A call gives its name, its input as it is shown (indented JSON), and every text in the input that stands there
    escaped, so that a line of a written file is found as it is in the file.
    """
    match block.kind:
        case BlockKind.TEXT | BlockKind.THINKING:
            texts: tuple[str, ...] = (block.text,)
        case BlockKind.TOOL_USE:
            value = block.raw.get("input") if isinstance(block.raw, dict) else None
            texts = (block.text, *_escaped_texts(value), block.name)
        case BlockKind.TOOL_RESULT:
            texts = tuple(_result_texts(block.raw.get("content") if isinstance(block.raw, dict) else None))
        case BlockKind.IMAGE:
            return ()
        case BlockKind.DOCUMENT:
            texts = tuple(_document_texts(block.raw))
        case BlockKind.OTHER:
            texts = (block.text, *_escaped_texts(block.raw))
    return tuple(text for text in texts if text)


def _result_texts(content: Json) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for inner in content:
            if isinstance(inner, dict) and inner.get("type") == "text" and isinstance(inner.get("text"), str):
                yield as_text(inner["text"])
            elif not (isinstance(inner, dict) and inner.get("type") == "image"):
                yield from _json_texts(inner)
    elif content is not None:
        yield from _json_texts(content)


def _document_texts(raw: Json) -> Iterator[str]:
    if isinstance(raw, dict):
        yield as_text(raw.get("title"))
        source = raw.get("source")
        if isinstance(source, dict) and source.get("type") == "text":
            yield as_text(source.get("data"))


def _json_texts(value: Json) -> Iterator[str]:
    yield json.dumps(value, ensure_ascii=False, indent=2)
    yield from _escaped_texts(value)


def _escaped_texts(value: Json) -> Iterator[str]:
    """Every string inside, as it is, that its JSON does not show as it is."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if _ESCAPED.search(value):
                yield value
        elif isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, dict):
            waiting.extend(reversed(value.values()))
