"""The body of a message as shown: sections of text, each cut into pieces small enough to lay out at once.

A section is one run of text with one look: a block, or a run of lines of a difference. Nothing is left out: what is
folded away under *show all* is still in the section.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

PIECE = 4_096
"""Most characters of a piece: laying out one longer line takes quadratic time."""
PREVIEW_LINES = 8
"""Lines of a long section that are shown before *show all*."""
PREVIEW_CHARS = 1_000
"""The same for lines that are very long."""
SPARE_LINES = 4
"""A section is not long when *show all* would bring only so few lines more."""

_SPACE = re.compile(r"\s")
_TAIL = 256
"""How far before the hard end of a piece a blank is looked for."""


class Style(StrEnum):
    """How a section looks."""

    PLAIN = "plain"
    REWRITTEN = "rewritten"
    REPAIRED = "repaired"
    REMOVED = "removed"
    """A stored block that is not part of the message as sent."""
    LEFT_OUT = "left out"
    """The same because of a strategy's choice, not of a repair."""
    MADE_UP = "made up"
    """Text that rules wrote."""
    ADDED_LINES = "added lines"
    DELETED_LINES = "deleted lines"


@dataclass(frozen=True)
class Section:
    """One run of text with one look. How it is cut is worked out when it is shown, not when it is only read."""

    text: str
    """Raw, as it would be copied."""
    style: Style = Style.PLAIN
    heading: str = ""
    """What the block is, above the text: 'call read_file src/a.py', 'thinking'; '' for words."""
    note: str = ""
    """What happened to it: 'rewritten: duplicate read of src/a.py'."""
    block: int | None = None
    """Number of the stored block, or of the block as sent where nothing is stored."""
    continued: bool = False
    """True when it goes on with the block of the section before."""
    returns: bool = False
    """True where carriage returns at the ends of lines are all that some lines of a difference differ in."""

    @cached_property
    def lines(self) -> int:
        """Lines of the text; a newline at the end does not start another one."""
        return self.text.count("\n") + (0 if self.text.endswith("\n") or not self.text else 1)

    @cached_property
    def is_long(self) -> bool:
        """True when only the first piece is shown until the reader asks for all."""
        many = self.lines > PREVIEW_LINES + SPARE_LINES or len(self.text) > PIECE
        return many and len(self.cuts) > 2

    @cached_property
    def cuts(self) -> tuple[int, ...]:
        """Ascending from 0 to the length: piece i is `text[cuts[i]:cuts[i + 1]]`."""
        preview = self.lines > PREVIEW_LINES + SPARE_LINES or len(self.text) > PIECE
        return tuple(cut(self.text, preview=preview))

    @property
    def pieces(self) -> int:
        """How many pieces there are; an empty text has none."""
        return len(self.cuts) - 1

    def piece(self, index: int) -> str:
        """The raw text of a piece."""
        return self.text[self.cuts[index] : self.cuts[index + 1]]

    def piece_at(self, offset: int) -> int:
        """The piece that holds the character at `offset`; the last one for the end of the text."""
        return max(0, min(bisect_right(self.cuts, offset) - 1, self.pieces - 1))

    @property
    def hidden_amount(self) -> str:
        """How much *show all* shows, in words: '12,345 lines', or characters where the lines are few and long."""
        if self.lines > PREVIEW_LINES:
            return f"{self.lines:,} lines"
        return f"{len(self.text):,} characters"


def cut(text: str, *, preview: bool) -> Iterator[int]:
    """Where the pieces of a text begin, and its end. With `preview` the first piece is what a preview shows.

    A piece ends behind a newline if there is one, else behind a blank near its end, else between two characters that
    do not combine.
    """
    start, size = 0, len(text)
    yield 0
    if preview and size:
        start = _end(text, 0, min(_after_lines(text, PREVIEW_LINES), PREVIEW_CHARS), size)
        yield start
    while start < size:
        start = _end(text, start, start + PIECE, size)
        yield start


def _after_lines(text: str, count: int) -> int:
    position = 0
    for _ in range(count):
        position = text.find("\n", position) + 1
        if not position:
            return len(text)
    return position


def _end(text: str, start: int, limit: int, size: int) -> int:
    """End of the piece that starts at `start` and must not reach beyond `limit`."""
    if limit >= size:
        return size
    newline = text.rfind("\n", start, limit)
    if newline >= 0:
        return newline + 1
    for index in range(limit, max(start, limit - _TAIL), -1):
        if _SPACE.match(text, index - 1) and text[index - 1] != "\r":
            return index
    index = limit
    while index > limit - 16 and index - 1 > start and _combines(text, index):
        index -= 1
    return index


def _combines(text: str, index: int) -> bool:
    """True if the character at `index` belongs to the one before it."""
    char = text[index]
    joined = char in "\n\u200d\ufe0f\ufe0e" or text[index - 1] == "\u200d"
    return joined or unicodedata.combining(char) != 0 or "\U0001f3fb" <= char <= "\U0001f3ff"


@dataclass(frozen=True, slots=True)
class Body:
    """What is shown under the header of a message."""

    sections: tuple[Section, ...]
    remark: str = ""
    """Something the reader must know about the whole body, else ''."""

    @property
    def size(self) -> int:
        """Characters of all sections."""
        return sum(len(part.text) for part in self.sections)

    @property
    def has_long(self) -> bool:
        """True if some section has a preview."""
        return any(part.is_long for part in self.sections)

    def text(self) -> str:
        """Everything as it is copied."""
        return join_texts(part.text for part in self.sections)


def join_texts(texts: Iterable[str]) -> str:
    """Texts one below the other: each starts on a line of its own, none is changed."""
    parts: list[str] = []
    for text in texts:
        if text:
            if parts and not parts[-1].endswith("\n"):
                parts.append("\n")
            parts.append(text)
    return "".join(parts)
