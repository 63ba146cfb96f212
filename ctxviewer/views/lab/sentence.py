"""A sentence that is replaced sixty times a second while steps are played."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ctxviewer.models.listing import plain_tip
from ctxviewer.views import theme

FEWEST, MOST = 2, 6
"""Lines."""
_FLAGS = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class Sentence(QWidget):
    """Wraps its words. It becomes higher when a sentence needs it, but lower only at `restart`: nothing jumps."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._words = ""
        self._lines = FEWEST
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.current().changed.connect(self.restart)
        self.restart()

    def text(self) -> str:
        """What it says."""
        return self._words

    def say(self, words: str) -> None:
        """Say something else; '' leaves the room empty."""
        if words != self._words:
            self._words = words
            self.setAccessibleName(words)
            self.setToolTip(plain_tip(words) if words else "")
            self._grow()
            self.update()

    def restart(self) -> None:
        """As high as what is said now needs."""
        self._lines = FEWEST
        self._grow()
        self._settle()

    def sizeHint(self) -> QSize:
        """Any width."""
        return QSize(theme.current().px(120), self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Other places to wrap at."""
        if event.size().width() != event.oldSize().width():
            self._lines = FEWEST
            self._grow()
            self._settle()

    def changeEvent(self, event: QEvent) -> None:
        """A larger font needs more."""
        if event.type() == QEvent.Type.FontChange:
            self.restart()
        super().changeEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The words; of a sentence that is too long even so, or has less room than it asked for, the first lines."""
        with QPainter(self) as painter:
            painter.setFont(self._font())
            line = painter.fontMetrics().height()
            painter.setClipRect(QRect(0, 0, self.width(), max(line, self.height() // line * line)))
            painter.setPen(theme.current().color("text"))
            painter.drawText(self.rect(), _FLAGS, self._words)

    @staticmethod
    def _font() -> QFont:
        return theme.current().ui_font(bold=True)

    def _grow(self) -> None:
        metrics = QFontMetrics(self._font())
        room = QRect(0, 0, max(1, self.width()), MOST * metrics.height())
        needed = metrics.boundingRect(room, _FLAGS, self._words).height()
        lines = min(MOST, -(-needed // max(1, metrics.height())))
        if lines > self._lines:
            self._lines = lines
            self._settle()

    def _settle(self) -> None:
        height = self._lines * QFontMetrics(self._font()).height()
        if height != self.minimumHeight() or height != self.maximumHeight():
            self.setFixedHeight(height)
