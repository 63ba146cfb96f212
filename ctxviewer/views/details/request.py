"""The chosen request: its numbers in full, what they are measured by, and the decision in words.

One text document and not many labels: stepping through requests must not cost a layout of forty widgets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QFrame, QStackedWidget, QTextEdit, QVBoxLayout, QWidget

from ctxviewer.models.details import RequestDetails
from ctxviewer.models.visible import make_visible
from ctxviewer.views import theme
from ctxviewer.views.empty import EmptyState

PENDING: Final = "Working out why…"
_HANG: Final = 18
"""Indent of sentences behind their sign."""
_VALUE: Final = 150
"""Where the figures end."""
_SOURCE: Final = 160


@dataclass(frozen=True, slots=True)
class Line:
    """One paragraph: runs of (words, colour), how far it hangs, and the air above it. Lengths at scale 1."""

    runs: tuple[tuple[str, str], ...]
    hang: int = 0
    above: int = 0
    bold: bool = False
    columns: bool = False
    """True for a figure: name, value and source behind tabulators."""


def lines_of(details: RequestDetails, cost: str = "") -> Iterator[Line]:
    """What is said of a request, top to bottom; `cost` is what its change costs, in words."""
    yield Line(((details.title, "text"),), bold=True)
    if details.facts:
        yield Line(((details.facts, "muted"),), above=2)
    if details.pending:
        yield Line(((PENDING, "muted"),), above=6)
    for sentence in details.sentences:
        yield Line((("→\t", "accent"), (sentence, "text")), hang=_HANG, above=6)
    if cost:
        yield Line((("$\t", "accent"), (cost, "text")), hang=_HANG, above=6)
    if details.contradictions:
        yield Line((("Does not fit the rules", "event"),), above=10, bold=True)
    for words in details.contradictions:
        yield Line((("≠\t", "event"), (words, "event")), hang=_HANG, above=4)
    for doubt in details.doubts:
        yield Line((("⚠\t", "warning"), (f"Approximate: {doubt}", "warning")), hang=_HANG, above=6)
    for place, figure in enumerate(details.figures):
        runs = ((f"{figure.name}\t", "muted"), (f"{figure.value}\t", "text"), (figure.source, "muted"))
        yield Line(runs, hang=_SOURCE, above=2 if place else 10, columns=True)


class RequestPane(QWidget):
    """Shows a RequestDetails."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._details: RequestDetails | None = None
        self._cost = ""
        self._stale = False
        self._text = QTextEdit(self)
        self._text.setReadOnly(True)
        self._text.setUndoRedoEnabled(False)
        self._text.setAcceptRichText(False)
        self._text.setFrameShape(QFrame.Shape.NoFrame)
        self._text.setTabChangesFocus(True)
        self._text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setAccessibleName("The chosen request")
        self._empty = EmptyState("Open a task to see why a request was sent as it was.", icon="window", parent=self)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._text)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._stack)
        theme.current().changed.connect(self._restyle)
        self._restyle()

    def set_details(self, details: RequestDetails | None) -> None:
        """Show a request, or none. The same request with more known of it stays where it is scrolled to."""
        if details == self._details:
            return
        moved = details is None or self._details is None or details.number != self._details.number
        self._details = details
        self._stack.setCurrentWidget(self._text if details is not None else self._empty)
        self._refresh(moved=moved)

    def set_cost(self, cost: str) -> None:
        """What the change at this request costs, '' = nothing was changed, or it is not known."""
        if cost != self._cost:
            self._cost = cost
            self._refresh(moved=False)

    @property
    def words(self) -> str:
        """Everything that is shown, as text."""
        return self._text.toPlainText() if self._details is not None else ""

    def _refresh(self, *, moved: bool) -> None:
        self._stale = not self.isVisible()
        if self._stale:
            return
        bar = self._text.verticalScrollBar()
        position = 0 if moved else bar.value()
        self._put()
        bar.setValue(position)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._refresh(moved=True)

    def _put(self) -> None:
        self._text.clear()
        if self._details is None:
            return
        look = theme.current()
        cursor = QTextCursor(self._text.document())
        cursor.beginEditBlock()
        for place, line in enumerate(lines_of(self._details, self._cost)):
            block = self._block_format(line)
            if place:
                cursor.insertBlock(block)
            else:
                cursor.setBlockFormat(block)
            for words, color in line.runs:
                form = QTextCharFormat()
                form.setFont(look.ui_font(bold=line.bold))
                form.setForeground(look.color(color))
                cursor.insertText(make_visible(words).text, form)
        cursor.endEditBlock()

    def _block_format(self, line: Line) -> QTextBlockFormat:
        look = theme.current()
        block = QTextBlockFormat()
        block.setTopMargin(look.px(line.above) if line.above else 0)
        if line.hang:
            block.setLeftMargin(look.px(line.hang))
            block.setTextIndent(-look.px(line.hang))
        if line.columns:
            value = QTextOption.Tab(look.px(_VALUE), QTextOption.TabType.RightTab)
            source = QTextOption.Tab(look.px(_SOURCE), QTextOption.TabType.LeftTab)
            block.setTabPositions([value, source])
        elif line.hang:
            block.setTabPositions([QTextOption.Tab(look.px(line.hang), QTextOption.TabType.LeftTab)])
        return block

    def _restyle(self) -> None:
        look = theme.current()
        self._text.document().setDocumentMargin(look.px(12))
        self._refresh(moved=False)
