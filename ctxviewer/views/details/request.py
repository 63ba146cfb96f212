"""The chosen request: its numbers in full, what they are measured by, and the decision in words."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from ctxviewer.models.details import RequestDetails
from ctxviewer.views import theme
from ctxviewer.views.details.parts import wrapped
from ctxviewer.views.dialogs.parts import drawable
from ctxviewer.views.empty import EmptyState

PENDING = "Working out why…"


class RequestPane(QWidget):
    """Shows a RequestDetails."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._details: RequestDetails | None = None
        self._title = wrapped("", "title", self)
        self._facts = wrapped("", "muted", self)
        self._page = QWidget(self)
        self._page.setProperty("look", "pane")
        self._page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._lines = QGridLayout()
        self._lines.setColumnStretch(1, 1)
        self._figures = QGridLayout()
        self._figures.setColumnStretch(2, 1)
        self._column = QVBoxLayout(self._page)
        self._column.addWidget(self._title)
        self._column.addWidget(self._facts)
        self._column.addLayout(self._lines)
        self._column.addLayout(self._figures)
        self._column.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._page)
        scroll.setAccessibleName("The chosen request")
        self._scroll = scroll
        self._empty = EmptyState("Open a task to see why a request was sent as it was.", icon="window", parent=self)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(scroll)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._stack)
        self._parts: list[QWidget] = []
        theme.current().changed.connect(self._restyle)
        self._restyle()

    def set_details(self, details: RequestDetails | None) -> None:
        """Show a request, or none."""
        if details == self._details:
            return
        moved = details is None or self._details is None or details.number != self._details.number
        self._details = details
        self._show()
        if moved:
            self._scroll.verticalScrollBar().setValue(0)

    @property
    def words(self) -> str:
        """Everything that is shown, for the clipboard and for tests."""
        details = self._details
        if details is None:
            return ""
        figures = [f"{figure.name} {figure.value} {figure.source}" for figure in details.figures]
        why = (PENDING,) if details.pending else details.sentences
        return "\n".join((details.title, details.facts, *why, *details.doubts, *figures))

    def _show(self) -> None:
        for part in self._parts:
            part.hide()
            part.deleteLater()
        self._parts.clear()
        details = self._details
        self._stack.setCurrentWidget(self._scroll if details is not None else self._empty)
        if details is None:
            return
        self._title.setText(details.title)
        self._facts.setText(drawable(details.facts))
        self._facts.setVisible(bool(details.facts))
        if details.pending:
            self._add_line(PENDING, "muted", "later", "muted")
        for sentence in details.sentences:
            self._add_line(sentence, "", "jump", "accent")
        for doubt in details.doubts:
            self._add_line(f"Approximate: {doubt}", "warning", "warning", "warning")
        for row, figure in enumerate(details.figures):
            value = self._kept(QLabel(figure.value, self._page))
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            value.setTextFormat(Qt.TextFormat.PlainText)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            name = self._kept(QLabel(figure.name, self._page))
            name.setProperty("look", "muted")
            name.setAlignment(Qt.AlignmentFlag.AlignTop)
            source = self._kept(wrapped(figure.source, "muted", self._page))
            for column, part in enumerate((name, value, source)):
                self._figures.addWidget(part, row, column)
        self._page.setAccessibleDescription(self.words)

    def _kept(self, part: QLabel) -> QLabel:
        self._parts.append(part)
        return part

    def _add_line(self, words: str, look: str, icon: str, tone: str) -> None:
        style = theme.current()
        mark = self._kept(QLabel(self._page))
        side = style.px(14)
        mark.setPixmap(style.icon(icon, tone).pixmap(QSize(side, side)))
        sentence = self._kept(wrapped(words, look, self._page))
        row = self._lines.rowCount()
        self._lines.addWidget(mark, row, 0, Qt.AlignmentFlag.AlignTop)
        self._lines.addWidget(sentence, row, 1)

    def _restyle(self) -> None:
        look = theme.current()
        self._column.setContentsMargins(look.px(12), look.px(8), look.px(12), look.px(8))
        self._column.setSpacing(look.px(6))
        self._lines.setHorizontalSpacing(look.px(6))
        self._lines.setVerticalSpacing(look.px(5))
        self._figures.setHorizontalSpacing(look.px(10))
        self._figures.setVerticalSpacing(look.px(2))
        self._show()
