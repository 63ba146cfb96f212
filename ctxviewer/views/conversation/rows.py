"""One row as a column of elements: header, captions, pieces of text, *show all*. Heights are exact once needed."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ctxviewer.models.facts import RowFacts, Speaker
from ctxviewer.models.segments import Body, Section, Style
from ctxviewer.views.conversation.metrics import Metrics

LEAD = -1
"""Number of the line above a row, which belongs to a stretch and is no element of the row."""

_serials = count(1)


class Kind(IntEnum):
    """What an element is."""

    HEADER = 0
    REMARK = 1
    CAPTION = 2
    TEXT = 3
    MORE = 4
    EMPTY = 5
    FOOT = 6


class Element(NamedTuple):
    """One line or piece of a row."""

    kind: Kind
    section: int = -1
    piece: int = -1
    below: int = 0
    """Empty pixels that belong to it, below."""


class RowLayout:
    """The elements of a row for one body, one width and one state of its *show all* lines."""

    def __init__(
        self, row: int, facts: RowFacts, body: Body | None, expanded: frozenset[int], metrics: Metrics
    ) -> None:
        """`body` None is a closed row: only its header is shown. `expanded` are the sections shown whole."""
        self.row = row
        self.serial = next(_serials)
        self.facts = facts
        self.body = body
        self.expanded = expanded
        self._metrics = metrics
        self.elements: tuple[Element, ...] = tuple(self._make())
        self._heights: npt.NDArray[np.int64] = np.array([self._estimate(e) for e in self.elements], dtype=np.int64)
        self._exact = np.array([e.kind is not Kind.TEXT for e in self.elements], dtype=np.bool_)
        self._tops: npt.NDArray[np.int64] | None = None

    def section(self, element: int) -> Section:
        """The section that an element belongs to; it must belong to one."""
        sections = self.body.sections if self.body is not None else ()
        return sections[self.elements[element].section]

    @property
    def shows_notes(self) -> bool:
        """True if captions must say what happened to their blocks: one alone is named in the header."""
        sections = self.body.sections if self.body is not None else ()
        return sum(bool(part.note) and not part.continued for part in sections) > 1

    def shows_caption(self, section: int) -> bool:
        """True if the section has a line above it that says more than the header of the row does."""
        sections = self.body.sections if self.body is not None else ()
        part = sections[section]
        if part.continued:
            return False
        if part.note and self.shows_notes:
            return True
        alone = sum(not other.continued for other in sections) == 1
        return bool(part.heading) and not (
            alone and part.heading == "tool result" and self.facts.speaker is Speaker.TOOL
        )

    def _make(self) -> Iterator[Element]:
        yield Element(Kind.HEADER)
        if self.body is None:
            return
        if self.body.remark:
            yield Element(Kind.REMARK)
        if not self.body.sections:
            yield Element(Kind.EMPTY)
        for number, part in enumerate(self.body.sections):
            more = number + 1 < len(self.body.sections) and self.body.sections[number + 1].continued
            below = 0 if more else self._metrics.gap
            if self.shows_caption(number):
                yield Element(Kind.CAPTION, number)
            if not part.pieces:
                yield Element(Kind.EMPTY, number, below=below)
            elif part.is_long and number not in self.expanded:
                yield Element(Kind.TEXT, number, 0)
                yield Element(Kind.MORE, number, below=below)
            else:
                last = part.pieces - 1
                for piece in range(last):
                    yield Element(Kind.TEXT, number, piece)
                yield Element(Kind.TEXT, number, last, 0 if part.is_long else below)
                if part.is_long:
                    yield Element(Kind.MORE, number, below=below)
        yield Element(Kind.FOOT)

    def _estimate(self, element: Element) -> int:
        metrics = self._metrics
        if element.kind is Kind.HEADER:
            return metrics.header
        if element.kind is Kind.FOOT:
            return metrics.foot
        if element.kind is not Kind.TEXT or self.body is None:
            return metrics.caption + element.below
        part = self.body.sections[element.section]
        start, end = part.cuts[element.piece], part.cuts[element.piece + 1]
        lines = max(part.text.count("\n", start, end), -(-(end - start) // metrics.columns))
        return metrics.line * max(1, lines) + element.below

    # -- heights

    @property
    def height(self) -> int:
        """Height of the row, without the line above it."""
        return int(self._heights.sum())

    def height_of(self, element: int) -> int:
        """Height of an element, with what is below it."""
        return int(self._heights[element])

    def is_exact(self, element: int) -> bool:
        """True if the height of the element was measured."""
        return bool(self._exact[element])

    def set_height(self, element: int, height: int) -> None:
        """The exact height of a piece of text, without what is below it."""
        self._heights[element] = height + self.elements[element].below
        self._exact[element] = True
        self._tops = None

    @property
    def tops(self) -> npt.NDArray[np.int64]:
        """Top of each element from the top of the row, and the end of the last."""
        if self._tops is None:
            self._tops = np.zeros(len(self._heights) + 1, dtype=np.int64)
            np.cumsum(self._heights, out=self._tops[1:])
        return self._tops

    def element_at(self, y: int) -> int:
        """The element that covers `y` from the top of the row; the nearest one outside."""
        found = int(np.searchsorted(self.tops[:-1], y, side="right")) - 1
        return max(0, min(found, len(self.elements) - 1))

    # -- where a text is

    def element_of(self, section: int, offset: int) -> int:
        """The element that shows the character at `offset` of a section; *show all* if it is folded away."""
        part = self.body.sections[section] if self.body is not None and section < len(self.body.sections) else None
        if part is None:
            return 0
        piece = part.piece_at(offset)
        fallback = 0
        for number, element in enumerate(self.elements):
            if element.section == section:
                if element.kind is Kind.TEXT and element.piece == piece:
                    return number
                if element.kind is Kind.TEXT and part.is_long and section in self.expanded:
                    return number + piece - element.piece
                fallback = number
        return fallback

    def more_of(self, section: int) -> int:
        """The element that shows all or less of a section, -1 if there is none."""
        for number, element in enumerate(self.elements):
            if element.kind is Kind.MORE and element.section == section:
                return number
        return -1

    def first_element_of_block(self, block: int) -> int:
        """The caption or first piece of a stored block; the header if there is none."""
        sections = self.body.sections if self.body is not None else ()
        for number, element in enumerate(self.elements):
            if element.section >= 0 and sections[element.section].block == block:
                return number
        return 0

    def shows_signs(self, section: int) -> bool:
        """True for lines of a difference, which carry + or − in the margin."""
        sections = self.body.sections if self.body is not None else ()
        return sections[section].style in {Style.ADDED_LINES, Style.DELETED_LINES}
