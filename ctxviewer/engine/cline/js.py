"""What the rules need of ECMAScript: property reads, truth, equality, `+`, comparison, text length, replacement.

The values are decoded JSON plus `UNDEFINED`. Where a script would throw, BrokenInputError is raised. Functions on
prototypes are not modelled: no rule calls one on a value that is not of the expected type without failing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from enum import Enum
from typing import Final, TypeAlias, Union

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json

SAFE_INTEGER: Final = 2**53


class Undefined(Enum):
    """The type of UNDEFINED, a value that is absent."""

    UNDEFINED = "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED: Final = Undefined.UNDEFINED

JsValue: TypeAlias = Union[Json, Undefined]  # noqa: UP007 - Json is a string alias
Number: TypeAlias = int | float

_WHITESPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PREFIXED: Final = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_HEAD: Final = 64
_SPECIAL: Final = re.compile(r"\$[$&`']")


def failed(what: str) -> BrokenInputError:
    """The error for data on which the reference's own code would throw."""
    return BrokenInputError(f"The data is damaged: {what}.", hint="The agent itself fails on this data.")


def is_number(value: JsValue) -> bool:
    """True for `typeof value === "number"`."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def as_double(value: Number) -> Number:
    """The number as a script holds it: whole numbers beyond 2^53 become floats (infinite if too large)."""
    if isinstance(value, int) and not -SAFE_INTEGER <= value <= SAFE_INTEGER:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return value


def utf16_length(text: str) -> int:
    """Length in UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def array_index(key: JsValue) -> int | None:
    """The list position that a property key names, or None: 3, 3.0 and "3" name 3, "03" and -1 name none."""
    if isinstance(key, int) and not isinstance(key, bool):
        return key if key >= 0 else None
    text = to_string(key)
    return int(text) if _INDEX.fullmatch(text) else None


def get(value: JsValue, key: str) -> JsValue:
    """`value[key]` for a key that is a name or a whole number. Throws on null and undefined."""
    if isinstance(value, dict):
        return value.get(key, UNDEFINED)
    if value is None or value is UNDEFINED:
        raise failed(f"'{key}' is read of {'null' if value is None else 'undefined'}")
    if isinstance(value, (list, str)):
        if key == "length":
            return len(value) if isinstance(value, list) else utf16_length(value)
        if _INDEX.fullmatch(key):
            return at(value, int(key))
    return UNDEFINED


def at(value: JsValue, index: int) -> JsValue:
    """`value[index]` for a whole number, which may be negative (nothing is there). Throws on null and undefined."""
    if isinstance(value, list):
        return value[index] if 0 <= index < len(value) else UNDEFINED
    if isinstance(value, str):
        if value.isascii():
            return value[index] if 0 <= index < len(value) else UNDEFINED
        units = value.encode("utf-16-le", "surrogatepass")
        unit = units[2 * index : 2 * index + 2] if index >= 0 else b""
        return chr(int.from_bytes(unit, "little")) if unit else UNDEFINED
    return get(value, str(index))


def last(value: JsValue) -> JsValue:
    """`value[value.length - 1]`. Throws on null and undefined."""
    if isinstance(value, list):
        return value[-1] if value else UNDEFINED
    length = get(value, "length")
    return get(value, number_text(subtract(length, 1)))


def has_items(value: JsValue) -> bool:
    """`value && value.length > 0`."""
    if isinstance(value, list):
        return bool(value)
    return truthy(value) and greater(get(value, "length"), 0)


def truthy(value: JsValue) -> bool:
    """Whether an `if` takes the value for true. Empty lists and objects do count as true."""
    if isinstance(value, (list, dict)):
        return True
    return bool(value) and value == value  # noqa: PLR0124 - NaN is false


def strict_equals(left: JsValue, right: JsValue) -> bool:
    """`left === right`: lists and objects by identity."""
    if isinstance(left, (list, dict)) or isinstance(right, (list, dict)):
        return left is right
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return as_double(left) == as_double(right)
    return left == right


def map_key(value: JsValue) -> Hashable:
    """A key under which two values meet exactly if a Map takes them for one. Objects meet only themselves."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, (int, float)):
        return as_double(value)
    if isinstance(value, (list, dict)):
        return ("object", id(value))
    return value


def to_string(value: JsValue) -> str:
    """`String(value)`. Throws for an object with an own `toString`, which JSON cannot make callable."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        try:
            return ",".join("" if item is None else to_string(item) for item in value)
        except RecursionError as err:
            raise failed("lists are nested too deeply") from err
    if isinstance(value, dict):
        if "toString" in value:
            raise failed("an object cannot be turned into text")
        return "[object Object]"
    return "null" if value is None else "undefined"


def number_text(value: Number) -> str:
    """`String(value)` of a number: shortest digits, an exponent only below 1e-6 and from 1e21 on."""
    value = as_double(value)
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction.rstrip("0")
    digits = (whole + fraction).lstrip("0")
    # 0.digits * 10^point
    point = len(whole) + int(exponent or 0) if whole != "0" else int(exponent or 0) - (len(fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


def to_number(value: JsValue) -> Number:
    """`Number(value)`; NaN where it is none."""
    if isinstance(value, (bool, int)):
        return as_double(int(value))
    if isinstance(value, float):
        return value
    if value is None:
        return 0
    if value is UNDEFINED:
        return math.nan
    text = to_string(value).strip(_WHITESPACE)
    if not text:
        return 0
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _PREFIXED.fullmatch(text):
        return as_double(int(text, 0))
    if text in {"Infinity", "+Infinity", "-Infinity"}:
        return float(text)
    return math.nan


def add(left: JsValue, right: JsValue) -> JsValue:
    """`left + right`: joins as text when either side is a string, a list or an object."""
    if isinstance(left, (str, list, dict)) or isinstance(right, (str, list, dict)):
        return to_string(left) + to_string(right)
    return as_double(to_number(left) + to_number(right))


def subtract(left: JsValue, right: JsValue) -> Number:
    """`left - right`."""
    return as_double(to_number(left) - to_number(right))


def divide(left: JsValue, right: JsValue) -> float:
    """`left / right`."""
    dividend, divisor = float(to_number(left)), float(to_number(right))
    if divisor:
        return dividend / divisor
    if math.isnan(divisor) or math.isnan(dividend) or not dividend:
        return math.nan
    return math.copysign(math.inf, dividend) * math.copysign(1, divisor)


def greater(left: JsValue, right: JsValue) -> bool:
    """`left > right`: by code units if both are text, else as numbers; NaN is never greater."""
    left, right = _primitive(left), _primitive(right)
    if isinstance(left, str) and isinstance(right, str):
        return left.encode("utf-16-be", "surrogatepass") > right.encode("utf-16-be", "surrogatepass")
    return to_number(left) > to_number(right)


def at_least(left: JsValue, right: Number) -> bool:
    """`left >= right` for a right side that is a number."""
    return to_number(left) >= right


def _primitive(value: JsValue) -> JsValue:
    return to_string(value) if isinstance(value, (list, dict)) else value


def to_integer(value: JsValue) -> Number:
    """A slice position: cut towards zero, NaN as 0, infinities kept."""
    number = to_number(value)
    if isinstance(number, int) or math.isinf(number):
        return number
    return 0 if math.isnan(number) else int(number)


def find(text: str, search: str) -> int:
    """`text.indexOf(search)` for a search that may be long: by its head first, then the whole."""
    head = search[:_HEAD]
    start = text.find(head)
    while start >= 0 and not text.startswith(search, start):
        start = text.find(head, start + 1)
    return start


def replacement(text: JsValue, search: str, template: str) -> tuple[int, str] | None:
    """What `text.replace(search, template)` does for a search that is a string: where it is, and what takes its place.

    None if it is not there. Only the first place counts; ``$$ $& $` $'`` of the template are expanded.
    """
    if not isinstance(text, str):
        raise failed("text is replaced in something that is no text")
    start = find(text, search)
    if start < 0:
        return None
    if "$" not in template:
        return start, template
    parts = {"$$": "$", "$&": search, "$`": text[:start], "$'": text[start + len(search) :]}
    return start, _SPECIAL.sub(lambda match: parts[match[0]], template)
