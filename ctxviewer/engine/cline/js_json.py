"""JSON as a script reads and writes it: strict in what it takes, and byte for byte in what it gives."""

from __future__ import annotations

import json
import math
import re
from typing import Final, NoReturn

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json
from ctxviewer.engine.cline.js import UNDEFINED, JsValue, as_double, number_text

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PROPERTY_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_LAST_PROPERTY_INDEX: Final = 2**32 - 2
_SHORT_INTEGER: Final = 15
_quote: Final = json.JSONEncoder(ensure_ascii=False).encode


def _integer(digits: str) -> Json:
    if len(digits) <= _SHORT_INTEGER:
        return int(digits)
    return as_double(int(digits)) if len(digits) < 4000 else float(digits)


def _constant(name: str) -> NoReturn:
    raise BrokenInputError(f"The JSON is broken: {name} is no JSON value.")


_decode: Final = json.JSONDecoder(parse_int=_integer, parse_constant=_constant).decode


def parse(text: str) -> Json:
    """`JSON.parse(text)`: no NaN, Infinity, byte order mark or other white space than JSON's; BrokenInputError else.

    Whole numbers beyond 2^53 come as floats, numbers beyond the range as infinity, -0 as 0.
    """
    try:
        value: Json = _decode(text)
    except json.JSONDecodeError as err:
        raise BrokenInputError(f"The JSON is broken: {err.msg}.", place=f"character {err.pos}") from err
    except RecursionError as err:
        raise BrokenInputError("The JSON is nested too deeply.") from err
    return value


def stringify(value: JsValue) -> str:
    """`JSON.stringify(value)`, compact. UNDEFINED is null in lists (and here at the top) and left out of objects.

    BrokenInputError for values nested some hundred levels deep.
    """
    parts: list[str] = []
    try:
        _write(value, parts)
    except RecursionError as err:
        raise BrokenInputError("The JSON is nested too deeply.") from err
    return "".join(parts)


def _write(value: JsValue, parts: list[str]) -> None:
    if isinstance(value, str):
        parts.append(quote(value))
    elif value is None or value is UNDEFINED:
        parts.append("null")
    elif isinstance(value, bool):
        parts.append("true" if value else "false")
    elif isinstance(value, (int, float)):
        parts.append(number_text(value) if math.isfinite(as_double(value)) else "null")
    elif isinstance(value, list):
        separator = "["
        for element in value:
            parts.append(separator)
            _write(element, parts)
            separator = ","
        parts.append("]" if value else "[]")
    else:
        separator = "{"
        for key in property_order(value):
            item: JsValue = value[key]
            if item is not UNDEFINED:
                parts.append(f"{separator}{quote(key)}:")
                _write(item, parts)
                separator = ","
        parts.append("}" if separator == "," else "{}")


def quote(text: str) -> str:
    """A JSON string: lone surrogates as lower case escapes, everything from U+0020 on as it is."""
    if not text.isascii() and _SURROGATE.search(text):
        # halves that came together by joining texts are one character
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", _quote(text))
    return _quote(text)


def property_order(value: dict[str, Json]) -> list[str]:
    """The keys as an object lists them: whole-number keys first, ascending, then the others as they came."""
    numbers = [key for key in value if _PROPERTY_INDEX.fullmatch(key) and int(key) <= _LAST_PROPERTY_INDEX]
    if not numbers:
        return list(value)
    numbers.sort(key=int)
    named = set(numbers)
    return numbers + [key for key in value if key not in named]
