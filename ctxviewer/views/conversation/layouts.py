"""Layouts of the rows shown lately, and of their pieces of text: a few hundred, the rest is made when needed."""

from __future__ import annotations

from collections import OrderedDict

from PySide6.QtGui import QTextCharFormat

from ctxviewer.models.conversation import ConversationModel
from ctxviewer.views.conversation.metrics import Metrics
from ctxviewer.views.conversation.openness import Openness
from ctxviewer.views.conversation.pieces import Piece, Pieces, lay_out
from ctxviewer.views.conversation.rows import RowLayout

KEPT_ROWS = 160


class Layouts:
    """Makes and keeps layouts. Decodes a message when its row was not shown lately."""

    def __init__(self, model: ConversationModel, metrics: Metrics, openness: Openness) -> None:
        self._model = model
        self._openness = openness
        self._rows: OrderedDict[int, RowLayout] = OrderedDict()
        self._stale: set[int] = set()
        self._pieces = Pieces()
        self.metrics = metrics
        self.marks_format = QTextCharFormat()
        """How symbols look that stand for a character that would not show."""

    def clear(self) -> None:
        """Everything must be laid out anew."""
        self._rows.clear()
        self._stale.clear()
        self._pieces.clear()

    def doubt(self, first: int, end: int) -> None:
        """Facts or texts of rows first to end - 1 may have changed."""
        self._stale.update(row for row in self._rows if first <= row < end)

    def drop(self, first: int, end: int) -> None:
        """Forget rows first to end - 1."""
        for row in [row for row in self._rows if first <= row < end]:
            del self._rows[row]
            self._stale.discard(row)

    def row(self, row: int) -> RowLayout:
        """The elements of a row. A row whose facts changed but not its text keeps its layout."""
        layout = self._rows.get(row)
        if layout is not None and row not in self._stale:
            self._rows.move_to_end(row)
            return layout
        facts = self._model.facts(row)
        body = self._model.body(row) if self._openness.is_open(row) else None
        self._stale.discard(row)
        if layout is not None and layout.body == body:
            layout.facts = facts
            return layout
        made = RowLayout(row, facts, body, self._openness.expanded(row), self.metrics)
        self._rows[row] = made
        self._rows.move_to_end(row)
        while len(self._rows) > KEPT_ROWS:
            dropped, _ = self._rows.popitem(last=False)
            self._stale.discard(dropped)
        return made

    def piece(self, row: int, element: int) -> Piece:
        """The laid-out text of an element; its height becomes exact."""
        layout = self.row(row)
        key = (layout.serial, element)
        piece = self._pieces.get(key)
        if piece is None:
            part, number = layout.section(element), layout.elements[element].piece
            piece = lay_out(part.piece(number), self.metrics, self.marks_format, reveal_returns=part.returns)
            self._pieces.put(key, piece)
            layout.set_height(element, piece.height)
        return piece

    def height(self, row: int, element: int) -> int:
        """The exact height of an element."""
        layout = self.row(row)
        if not layout.is_exact(element):
            self.piece(row, element)
        return layout.height_of(element)

    @property
    def kept(self) -> tuple[int, int]:
        """How many rows and pieces are kept."""
        return len(self._rows), len(self._pieces)
