"""What stands above a row: messages that rules made up, and the line of a stretch. Where each of it is, in pixels."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from PySide6.QtGui import QTextCharFormat

from ctxviewer.models.conversation import ConversationModel
from ctxviewer.models.made_up import MadeUp
from ctxviewer.views.conversation.metrics import Metrics
from ctxviewer.views.conversation.openness import Openness
from ctxviewer.views.conversation.pieces import Piece, lay_out


class StripKind(IntEnum):
    """What a strip is."""

    LINE = 0
    """The line of the stretch that begins here."""
    TITLE = 1
    """The header of something made up."""
    TEXT = 2
    MORE = 3
    """Shows all of its text, or less."""


class Strip(NamedTuple):
    """One part, as wide as the view."""

    kind: StripKind
    y: int
    """From the top of what stands above the row."""
    height: int
    made: MadeUp | None = None
    piece: Piece | None = None


class LeadLayout(NamedTuple):
    """All parts, from top to bottom."""

    strips: tuple[Strip, ...]

    @property
    def line_top(self) -> int:
        """Where the line of the stretch begins, 0 if there is none."""
        return next((strip.y for strip in self.strips if strip.kind is StripKind.LINE), 0)

    def at(self, y: int) -> Strip | None:
        """The strip that covers a height."""
        return next((strip for strip in self.strips if strip.y <= y < strip.y + strip.height), None)


class Leads:
    """Lays out what rules made up; a handful of texts at most, kept until they change."""

    def __init__(self, model: ConversationModel, metrics: Metrics, openness: Openness) -> None:
        self._model = model
        self._openness = openness
        self._kept: dict[tuple[int, bool, bool], tuple[tuple[MadeUp, ...], LeadLayout]] = {}
        self.metrics = metrics
        self.marks_format = QTextCharFormat()
        """How symbols look that stand for a character that would not show."""

    def clear(self) -> None:
        """Everything must be laid out anew."""
        self._kept.clear()

    def above(self, rows: int) -> Mapping[int, int]:
        """By row the pixels that made-up messages take above it, without the line of a stretch."""
        found = {}
        for row in self._model.made_up:
            if row < rows:
                line = self.metrics.lead if self._model.stretch_at(row) is not None else 0
                strips = self.layout(row).strips
                found[row] = strips[-1].y + strips[-1].height - line
        return found

    def layout(self, row: int) -> LeadLayout:
        """The parts above a row."""
        made, has_line = self._model.made_up.get(row, ()), self._model.stretch_at(row) is not None
        if not made:
            return LeadLayout((Strip(StripKind.LINE, 0, self.metrics.lead),) if has_line else ())
        key = (row, has_line, self._openness.shows_made_up(row))
        kept = self._kept.get(key)
        if kept is None or kept[0] != made:
            kept = self._kept[key] = (made, self._make(made, has_line=has_line, whole=key[2]))
        return kept[1]

    def _make(self, made: tuple[MadeUp, ...], *, has_line: bool, whole: bool) -> LeadLayout:
        strips: list[Strip] = []
        y = 0
        for item in (*(m for m in made if not m.below), None, *(m for m in made if m.below)):
            if item is None:
                if has_line:
                    strips.append(Strip(StripKind.LINE, y, self.metrics.lead))
                    y += self.metrics.lead
            else:
                y = self._add(strips, item, y, whole=whole)
        return LeadLayout(tuple(strips))

    def _add(self, strips: list[Strip], item: MadeUp, y: int, *, whole: bool) -> int:
        metrics, part = self.metrics, item.section
        heights: list[tuple[StripKind, int, Piece | None]] = [(StripKind.TITLE, metrics.header, None)]
        shown = part.pieces if whole or not part.is_long else 1
        for number in range(shown):
            piece = lay_out(part.piece(number), metrics, self.marks_format, reveal_returns=False)
            below = 0 if part.is_long or number + 1 < shown else metrics.gap + metrics.foot
            heights.append((StripKind.TEXT, piece.height + below, piece))
        if part.is_long:
            heights.append((StripKind.MORE, metrics.caption + metrics.foot, None))
        for kind, height, laid_out in heights:
            strips.append(Strip(kind, y, height, item, laid_out))
            y += height
        return y
