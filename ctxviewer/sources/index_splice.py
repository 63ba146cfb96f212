"""One task's own item in the task index, as bytes. Every other byte of the index stays as it is.

The index is a JSON array of objects with a string `id`. Where an id occurs twice, the first one counts (as for the
agent, which searches from the front). Pure functions: they neither read nor write files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ctxviewer.domain.errors import BrokenInputError

EMPTY_INDEX = b"[]"
"""What stands for an index that is not there."""

_BOM = "\ufeff"
_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder(strict=False, parse_int=float)
"""Only ids and places are wanted; Python refuses to make whole numbers of thousands of digits."""


@dataclass(frozen=True, slots=True)
class _Item:
    start: int
    end: int
    """Exclusive. Positions are characters of the decoded text."""
    id: str | None


def item_bytes(index: bytes, item_id: str) -> bytes | None:
    """The bytes of the item with this id exactly as they stand in the index, without the commas around it.

    None when no item has it. Raises BrokenInputError when the index is not a JSON array.
    """
    text = _decoded(index)
    for item in _items(text)[0]:
        if item.id == item_id:
            return _encoded(text[item.start : item.end])
    return None


def splice_item(index: bytes, item_id: str, item: bytes | None) -> bytes:
    """The index with this item replaced, added at the end (when it has none), or taken out (None).

    Taking out what is not there changes nothing. Raises BrokenInputError when the index is not a JSON array.
    """
    text = _decoded(index)
    items, inside = _items(text)
    place = next((number for number, found in enumerate(items) if found.id == item_id), None)
    if item is not None:
        if place is not None:
            start, end = items[place].start, items[place].end
            return _encoded(text[:start]) + item + _encoded(text[end:])
        end = items[-1].end if items else inside
        return _encoded(text[:end]) + (b"," if items else b"") + item + _encoded(text[end:])
    if place is None:
        return index
    if place > 0:  # from behind the one before: takes the comma in front along
        start, end = items[place - 1].end, items[place].end
    elif len(items) > 1:  # up to the next one: takes the comma behind along
        start, end = items[0].start, items[1].start
    else:
        start, end = items[0].start, items[0].end
    return _encoded(text[:start]) + _encoded(text[end:])


def _decoded(index: bytes) -> str:
    """Bytes that are not UTF-8 become lone surrogates, and `_encoded` makes the same bytes of them again."""
    return index.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _items(text: str) -> tuple[list[_Item], int]:
    """The items, and the position just inside the opening bracket."""
    at = _skip(text, 1 if text.startswith(_BOM) else 0)
    if text[at : at + 1] != "[":
        raise _broken(at, "it is not a list")
    inside = at + 1
    return list(_walk(text, inside)), inside


def _walk(text: str, at: int) -> Iterator[_Item]:
    at = _skip(text, at)
    if text[at : at + 1] == "]":
        _nothing_behind(text, at + 1)
        return
    while True:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise _broken(error.pos, error.msg) from None
        except RecursionError:
            raise _broken(at, "an item is nested too deeply") from None
        found = value.get("id") if isinstance(value, dict) else None
        yield _Item(at, end, found if isinstance(found, str) else None)
        at = _skip(text, end)
        sign = text[at : at + 1]
        if sign == "]":
            _nothing_behind(text, at + 1)
            return
        if sign != ",":
            raise _broken(at, "a comma or the closing bracket is missing")
        at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _nothing_behind(text: str, at: int) -> None:
    if _skip(text, at) != len(text):
        raise _broken(at, "something stands behind the closing bracket")


def _broken(at: int, reason: str) -> BrokenInputError:
    return BrokenInputError(
        f"The task index is damaged: {reason} (character {at}).",
        hint="Start the agent once, it repairs its index; then look at the task again.",
        place=f"character {at}",
    )
