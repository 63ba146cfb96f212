"""A read-only pane for text of a task, as text and nothing else, of any size.

Qt lays out one paragraph at a time, and a long unbroken one takes quadratic time. So long lines are folded into several
paragraphs; what is copied has them unfolded again. Characters that would not show, or would act, show as symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QShowEvent, QTextBlock, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from ctxviewer.models.segments import Body, Section, Style, cut
from ctxviewer.models.visible import make_visible
from ctxviewer.views import theme

FIRST_CHARACTERS: Final = 40_000
"""So much is shown until the reader asks for all."""
MOST_CHARACTERS: Final = 5_000_000
"""So much is shown even then; the rest can be copied."""
_FOLDED: Final = 1
"""State of a paragraph that goes on with the line before it."""
_GROUNDS: Final = {
    Style.ADDED_LINES: "added_ground",
    Style.DELETED_LINES: "removed_ground",
    Style.REMOVED: "hidden_fill",
}
_SIGNS: Final = {Style.ADDED_LINES: "+ ", Style.DELETED_LINES: "− "}
_NOTES: Final = {
    Style.PLAIN: "muted",
    Style.REWRITTEN: "rewritten",
    Style.REPAIRED: "repaired",
    Style.REMOVED: "event",
    Style.ADDED_LINES: "added",
    Style.DELETED_LINES: "removed",
}


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of the pane."""

    text: str
    """As shown."""
    color: str
    ground: str = ""
    folded: bool = False
    """True when it goes on with the line before it."""
    words: bool = False
    """True for our own words: headings and notes."""


def paragraphs(sections: Iterable[Section]) -> Iterator[Paragraph]:
    """The sections line by line, long lines folded."""
    for place, section in enumerate(sections):
        if section.heading and not section.continued:
            yield Paragraph(section.heading, "muted", words=True)
        if section.note and not section.continued:
            yield Paragraph(section.note, _NOTES[section.style], words=True)
        if place and not section.continued and not section.heading and not section.note and section.text:
            yield Paragraph("", "text", words=True)
        sign, ground = _SIGNS.get(section.style, ""), _GROUNDS.get(section.style, "")
        color = "hidden_text" if section.style is Style.REMOVED else "text"
        lines = section.text.split("\n")
        for line in lines[:-1] if section.text.endswith("\n") else lines:
            edges = list(cut(line, preview=False)) if line else [0, len(line)]
            for first, end in pairwise(edges):
                raw = line[first:end] + ("\n" if end == len(line) else "")
                piece = make_visible(raw, reveal_returns=section.returns).text
                yield Paragraph(sign + piece if not first else piece, color, ground, folded=first > 0)


class ReadingText(QPlainTextEdit):
    """The text itself. What is copied from it has its long lines unfolded."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)

    def put(self, shown: Iterable[Paragraph]) -> None:
        """Replace the text."""
        look = theme.current()
        self.clear()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        fixed, small = look.text_font(), look.ui_font(size=11)
        formats: dict[tuple[str, bool], QTextCharFormat] = {}
        first = True
        for paragraph in shown:
            key = (paragraph.color, paragraph.words)
            if key not in formats:
                form = QTextCharFormat()
                form.setFont(small if paragraph.words else fixed)
                form.setForeground(look.color(paragraph.color))
                formats[key] = form
            block = QTextBlockFormat()
            if paragraph.ground:
                block.setBackground(look.color(paragraph.ground))
            if first:
                cursor.setBlockFormat(block)
            else:
                cursor.insertBlock(block)
            first = False
            cursor.insertText(paragraph.text, formats[key])
            cursor.block().setUserState(_FOLDED if paragraph.folded else 0)
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        data.setText(self.selected_text())
        return data

    def selected_text(self) -> str:
        """The selection with long lines unfolded."""
        cursor = self.textCursor()
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        parts: list[str] = []
        block: QTextBlock = self.document().findBlock(start)
        while block.isValid() and block.position() <= end:
            units = block.text().encode("utf-16-le", "surrogatepass")
            left, right = max(0, start - block.position()), min(len(units) // 2, end - block.position())
            if parts and block.userState() != _FOLDED:
                parts.append("\n")
            parts.append(units[2 * left : 2 * right].decode("utf-16-le", "replace"))
            block = block.next()
        return "".join(parts)


class ReadingPane(QWidget):
    """Text with a size cap and *Show all*."""

    copy_wanted = Signal(object)
    """str: the whole text, also what is not shown."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._body = Body(())
        self._all = False
        self.text = ReadingText(self)
        self.text.setAccessibleName(name)
        self._more = QToolButton(self)
        self._more.setProperty("look", "link")
        self._more.clicked.connect(self._show_all)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.text, 1)
        layout.addWidget(self._more)
        self._stale = False
        theme.current().changed.connect(self._refresh)
        self._put()

    def set_body(self, body: Body) -> None:
        """Show a body from its beginning. The same body again changes nothing; a hidden pane waits to be shown."""
        if body != self._body:
            self._body, self._all = body, False
            self._refresh()

    def _refresh(self) -> None:
        self._stale = not self.isVisible()
        if not self._stale:
            self._put()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._stale = False
            self._put()

    @property
    def body(self) -> Body:
        """What is shown."""
        return self._body

    def _limit(self) -> int:
        return MOST_CHARACTERS if self._all else FIRST_CHARACTERS

    def _put(self) -> None:
        size, limit = self._body.size, self._limit()
        self.text.put(paragraphs(_head(self._body, limit)))
        if size <= limit:
            self._more.hide()
        elif not self._all:
            self._more.setText(f"Show all {size:,} characters")
            self._more.setToolTip("Show the whole text; this may take a moment")
            self._more.show()
        else:
            self._more.setText(f"The first {limit:,} of {size:,} characters are shown – copy all")
            self._more.setToolTip("Copy the whole text")
            self._more.show()
        self._more.setAccessibleName(self._more.text())

    def _show_all(self) -> None:
        if self._all:
            self.copy_wanted.emit(self._body.text())
            return
        self._all = True
        self._put()


def _head(body: Body, limit: int) -> Iterator[Section]:
    """Sections up to `limit` characters; the last one is cut where a piece ends."""
    left = limit
    for section in body.sections:
        if len(section.text) <= left:
            left -= len(section.text)
            yield section
            continue
        end = max((edge for edge in section.cuts if edge <= left), default=0)
        end = end or left
        yield Section(
            section.text[:end], section.style, section.heading, section.note, section.block, section.continued
        )
        return
