"""The shape of decoded JSON, named once. No behaviour beyond narrowing."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TypeAlias, TypeGuard, Union

Json: TypeAlias = Union[bool, int, float, str, "list[Json]", "dict[str, Json]", None]
JsonObject: TypeAlias = "dict[str, Json]"

_LARGEST = int(sys.float_info.max)

Messages: TypeAlias = "Sequence[Json]"
"""An API conversation as stored: normally objects with ``role`` and ``content``; damaged files hold anything."""


def is_object(value: Json) -> TypeGuard[JsonObject]:
    """True for a JSON object."""
    return isinstance(value, dict)


def as_text(value: Json) -> str:
    """The value if it is a string, else the empty string."""
    return value if isinstance(value, str) else ""


def as_name(value: Json) -> str:
    """The value as a name within a line: as `as_text`, line ends and other white space as single blanks."""
    text = as_text(value)
    return text if text.isprintable() else " ".join(text.split())


def as_int(value: Json) -> int | None:
    """The value as a whole number, or None. Booleans are not numbers; 3.0 is 3; what no double holds is infinite."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if -_LARGEST <= value <= _LARGEST else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def as_number(value: Json) -> float | None:
    """The value as a finite number, or None. Whole numbers stay whole; booleans are not numbers."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return as_int(value)
