"""What is selected: two places in the raw text, across any number of messages; and the text between them.

What is copied is what is shown: all shown messages from the first place to the last, long sections whole although only
a preview may be visible, and for a folded stretch its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from ctxviewer.models.conversation import ConversationModel
from ctxviewer.models.segments import Body
from ctxviewer.views.conversation.geometry import Geometry

END = 1 << 40
"""A section number or an offset behind all others."""

_WORD = re.compile(r"\w+|[^\S\n]+|\n|[^\w\s]")


class Spot(NamedTuple):
    """A place between two characters. Spots compare in the order of the text."""

    row: int
    section: int
    """-1 for the line above the row, END for the end of the row."""
    offset: int
    """Character of the section's raw text."""


class Unit(Enum):
    """What a selection grows by."""

    CHARACTER = auto()
    WORD = auto()
    BLOCK = auto()
    MESSAGE = auto()


class Extent(NamedTuple):
    """From one place up to another."""

    first: Spot
    last: Spot


def message_extent(row: int) -> Extent:
    """A whole row."""
    return Extent(Spot(row, 0, 0), Spot(row, END, 0))


def lead_extent(row: int) -> Extent:
    """The line above a row."""
    return Extent(Spot(row, -1, 0), Spot(row, 0, 0))


def extent_at(spot: Spot, unit: Unit, body: Body | None) -> Extent:
    """The unit around a place: the word, the section, the message. `body` is that of the spot's row."""
    if unit is Unit.MESSAGE:
        return message_extent(spot.row)
    if body is None or unit is Unit.CHARACTER or not 0 <= spot.section < len(body.sections):
        return Extent(spot, spot)
    text = body.sections[spot.section].text
    if unit is Unit.BLOCK:
        return Extent(spot._replace(offset=0), spot._replace(offset=len(text)))
    first, last = word_at(text, spot.offset)
    return Extent(spot._replace(offset=first), spot._replace(offset=last))


def word_at(text: str, offset: int) -> tuple[int, int]:
    """The word, run of blanks, or single sign at a place of a text; looks at most 1,000 characters around it."""
    low = max(0, offset - 1_000)
    for match in _WORD.finditer(text, low, min(len(text), offset + 1_000)):
        if match.start() <= offset < match.end():
            return match.span()
    return offset, offset


class Selection:
    """From the place where it began to the place where it is now."""

    def __init__(self) -> None:
        self._start: Extent | None = None
        self._head: Extent | None = None
        self.unit = Unit.CHARACTER

    def clear(self) -> bool:
        """Select nothing. True if something was selected."""
        had = not self.is_empty
        self._start = self._head = None
        return had

    def begin(self, extent: Extent, unit: Unit) -> None:
        """Start anew."""
        self._start = self._head = extent
        self.unit = unit

    def move_to(self, extent: Extent) -> None:
        """Let it end elsewhere; it always covers the whole unit where it began."""
        if self._start is None:
            self._start = extent
        self._head = extent

    @property
    def has_start(self) -> bool:
        """True if there is a place that can be extended from, also when nothing is selected yet."""
        return self._start is not None

    @property
    def head(self) -> Spot | None:
        """The end that moves."""
        if self._start is None or self._head is None:
            return None
        return self._head.first if self._head.first < self._start.first else self._head.last

    @property
    def extent(self) -> Extent | None:
        """From the first to the last selected place, None if nothing is selected."""
        if self._start is None or self._head is None:
            return None
        first = min(self._start.first, self._head.first)
        last = max(self._start.last, self._head.last)
        return Extent(first, last) if first < last else None

    @property
    def is_empty(self) -> bool:
        """True if nothing is selected."""
        return self.extent is None

    def within(self, row: int, section: int, start: int, end: int) -> tuple[int, int] | None:
        """What is selected of characters start to end of a section, None if nothing is."""
        extent = self.extent
        if extent is None:
            return None
        first, last = extent
        if (row, section) < first[:2] or (row, section) > last[:2]:
            return None
        low = max(start, first.offset) if (row, section) == first[:2] else start
        high = min(end, last.offset) if (row, section) == last[:2] else end
        return (low, high) if low < high else None

    def covers(self, extent: Extent) -> bool:
        """True if all of an extent is selected."""
        mine = self.extent
        return mine is not None and mine.first <= extent.first and extent.last <= mine.last


def selected_texts(model: ConversationModel, geometry: Geometry, extent: Extent) -> Iterator[tuple[int, str]]:
    """(row, text) in order; the texts one after the other are what is copied. Decodes row by row.

    Each section and each message starts on a line of its own; no character of a text is changed.
    """
    at_line_start = True
    row: int | None = extent.first.row
    while row is not None and row <= extent.last.row:
        for text in _row_texts(model, geometry, extent, row):
            if text:
                yield row, text if at_line_start else "\n" + text
                at_line_start = text.endswith("\n")
        row = geometry.next_row(row)


def _row_texts(model: ConversationModel, geometry: Geometry, extent: Extent, row: int) -> Iterator[str]:
    first, last = extent
    if (row, -1) >= first[:2]:
        for made in model.made_up.get(row, ()):
            yield f"[{made.sentence}]\n{made.section.text}"
    if geometry.is_folded(row):
        stretch = model.stretch_of(row)
        if stretch is not None:
            yield f"[{stretch.sentence}]"
        return
    for number, part in enumerate(model.passing_body(row).sections):
        if (row, number) < first[:2] or (row, number) > last[:2]:
            continue
        start = first.offset if (row, number) == first[:2] else 0
        end = last.offset if (row, number) == last[:2] else len(part.text)
        yield part.text[start:end]
