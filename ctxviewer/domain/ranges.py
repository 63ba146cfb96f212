"""The deleted range: an inclusive pair of message numbers that are not sent."""

from __future__ import annotations

from typing import NamedTuple

from ctxviewer.domain.json import Json, as_int


class Range(NamedTuple):
    """Both ends inclusive, as recorded. ``end < start`` is an empty range; ends may lie outside the history."""

    start: int
    end: int

    @property
    def is_empty(self) -> bool:
        """True for [2, 1], [2, -1] and the like: nothing is left out."""
        return self.end < self.start

    @property
    def length(self) -> int:
        """How many messages the range covers, 0 when empty. Does not know the length of the history."""
        return max(0, self.end - self.start + 1)

    def clamped(self, length: int) -> Range:
        """The range without numbers at or beyond `length`, for display."""
        return Range(self.start, min(self.end, length - 1))

    def __str__(self) -> str:
        """As people read it: 2\N{EN DASH}25, or 'empty (2, 1)'."""
        return f"{self.start}\N{EN DASH}{self.end}" if not self.is_empty else f"empty ({self.start}, {self.end})"


def parse_range(value: Json) -> Range | None:
    """A pair of whole numbers, or None for anything else (absent, wrong type, wrong length)."""
    if isinstance(value, list) and len(value) == 2:
        start, end = as_int(value[0]), as_int(value[1])
        if start is not None and end is not None:
            return Range(start, end)
    return None
