"""Stands in the place of the conversation when the messages are gone: why, and the display timeline that is left."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.views import theme

HEAD = "Below is what the agent showed."


class LeftoverPage(QWidget):
    """A sentence with its action, above a text that can be read, searched by eye and copied."""

    activated = Signal()
    """The action was chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: Snapshot | None = None
        self._icon = QLabel(self)
        self._sentence = QLabel(self)
        self._sentence.setWordWrap(True)
        self._sentence.setTextFormat(Qt.TextFormat.PlainText)
        self._button = QPushButton(self)
        self._button.clicked.connect(self._activate)
        self._text = QPlainTextEdit(self)
        self._text.setReadOnly(True)
        self._text.setUndoRedoEnabled(False)
        self._text.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setAccessibleName("Display timeline")
        self._text.setAccessibleDescription(HEAD)
        self.setFocusProxy(self._text)
        look = theme.current()
        self._head = QHBoxLayout()
        self._head.setContentsMargins(16, 10, 16, 10)
        self._head.setSpacing(10)
        self._head.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._head.addWidget(self._sentence, 1)
        self._head.addWidget(self._button, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._head)
        layout.addWidget(self._text, 1)
        look.changed.connect(self._restyle)
        self._restyle()

    def show_leftovers(self, snapshot: Snapshot, sentence: str, action: str) -> None:
        """Say why there is no conversation, and show the timeline of this reading."""
        from ctxviewer.models.leftovers import leftovers  # noqa: PLC0415 - seldom needed, not at the start

        self._sentence.setText(f"{sentence} {HEAD}")
        self._button.setText(action)
        if snapshot is not self._shown:
            same = self._shown is not None and self._shown.task.directory == snapshot.task.directory
            place = self._text.verticalScrollBar().value()
            self._shown = snapshot
            self._text.setPlainText(leftovers(snapshot).text)
            if same:  # the reader stays where he was
                self._text.verticalScrollBar().setValue(place)

    def forget(self) -> None:
        """Let go of the reading."""
        if self._shown is not None:
            self._shown = None
            self._text.clear()

    @property
    def sentence(self) -> str:
        """What it says above the text."""
        return self._sentence.text()

    @property
    def text(self) -> str:
        """The timeline as shown."""
        return self._text.toPlainText()

    def _activate(self) -> None:
        self.activated.emit()

    def _restyle(self) -> None:
        look = theme.current()
        side = look.px(20)
        self._icon.setPixmap(look.icon("error", "faint").pixmap(side, side))
        self._text.setFont(look.text_font())
        self._text.document().setDocumentMargin(look.px(16))
