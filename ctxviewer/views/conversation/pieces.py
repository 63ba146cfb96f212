"""Laid-out pieces of text, a few hundred at most. Between raw text and pixels stands `models.visible`."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QPointF
from PySide6.QtGui import QTextCharFormat, QTextLayout

from ctxviewer.models.visible import LINE_BREAK, Visible, make_visible
from ctxviewer.views.conversation.metrics import Metrics

KEPT = 400


@dataclass(slots=True)
class Piece:
    """One piece of text, laid out."""

    visible: Visible
    layout: QTextLayout
    height: int
    _line_starts: frozenset[int] | None = None

    @property
    def line_starts(self) -> frozenset[int]:
        """Shown positions at which a line of the text begins, unlike one that was wrapped."""
        if self._line_starts is None:
            lines = self.visible.text.split(LINE_BREAK)
            starts, position = {0}, 0
            for line in lines[:-1]:
                position += len(line) + 1 + sum(char > "\uffff" for char in line)
                starts.add(position)
            self._line_starts = frozenset(starts)
        return self._line_starts

    def raw_at(self, x: float, y: float) -> int:
        """Raw index within the piece that is nearest to a point, relative to the piece."""
        layout = self.layout
        if y < 0:
            return 0
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            if y < line.y() + line.height():
                return self.visible.to_raw(line.xToCursor(x))
        return self.visible.raw_length

    def place_of(self, raw: int) -> tuple[float, float, float]:
        """(x, y, height) of the cursor before raw index `raw`, relative to the piece."""
        position = self.visible.to_shown(raw)
        line = self.layout.lineForTextPosition(position)
        if not line.isValid():
            return 0.0, 0.0, float(self.height)
        found = cast("tuple[float, int]", line.cursorToX(position))  # the stubs say object
        return found[0], line.y(), line.height()


def lay_out(raw: str, metrics: Metrics, marks: QTextCharFormat, *, reveal_returns: bool) -> Piece:
    """Lay out a piece of at most some 4,000 characters; `marks` is the look of symbols that stand for something."""
    visible = make_visible(raw, reveal_returns=reveal_returns)
    layout = QTextLayout(visible.text, metrics.text_font)
    layout.setTextOption(metrics.option)
    layout.setCacheEnabled(True)
    if visible.marks:
        formats = []
        for start, length in visible.marks:
            span = QTextLayout.FormatRange()
            span.start, span.length, span.format = start, length, marks
            formats.append(span)
        layout.setFormats(formats)
    width, y = float(metrics.text_width), 0.0
    layout.beginLayout()
    line = layout.createLine()
    while line.isValid():
        line.setLineWidth(width)
        room = max(float(metrics.line), line.height())
        line.setPosition(QPointF(0.0, y + (room - line.height()) / 2))
        y += room
        line = layout.createLine()
    layout.endLayout()
    return Piece(visible, layout, max(metrics.line, round(y)))


class Pieces:
    """The newest `KEPT` pieces that were laid out."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], Piece] = OrderedDict()

    def get(self, key: tuple[int, int]) -> Piece | None:
        """The piece if it is still there."""
        piece = self._kept.get(key)
        if piece is not None:
            self._kept.move_to_end(key)
        return piece

    def put(self, key: tuple[int, int], piece: Piece) -> None:
        """Keep a piece and drop the oldest ones."""
        self._kept[key] = piece
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        """Drop all."""
        self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)
