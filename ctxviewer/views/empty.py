"""What a pane shows when it has nothing to show: one sentence, and at most one action."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from ctxviewer.views import theme


class EmptyState(QWidget):
    """A sentence in the middle of the pane, with the action that helps below it."""

    activated = Signal()
    """The action was chosen."""

    def __init__(self, sentence: str = "", action: str = "", icon: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon_name = icon
        self._icon = QLabel(self)
        self._icon.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._sentence = QLabel(self)
        self._sentence.setProperty("look", "muted")
        self._sentence.setWordWrap(True)
        self._sentence.setTextFormat(Qt.TextFormat.PlainText)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._button = QPushButton(self)
        self._button.clicked.connect(self._activate)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 8, 16, 8)
        layout.setSpacing(8)
        layout.addStretch(1)
        layout.addWidget(self._icon)
        layout.addWidget(self._sentence)
        layout.addWidget(self._button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
        look = theme.current()
        look.changed.connect(self._restyle)
        self.set_words(sentence, action, icon)

    def set_words(self, sentence: str, action: str = "", icon: str = "") -> None:
        """Say something else. Without `action` there is no button, without `icon` no picture."""
        self._sentence.setText(sentence)
        self._button.setText(action)
        self._button.setVisible(bool(action))
        self._button.setAccessibleName(action)
        self._icon_name = icon
        self.setAccessibleName(sentence)
        self._restyle()

    @property
    def sentence(self) -> str:
        """What it says."""
        return self._sentence.text()

    @property
    def action(self) -> str:
        """What the button says, '' when there is none."""
        return self._button.text()

    def _activate(self) -> None:
        self.activated.emit()

    def _restyle(self) -> None:
        look = theme.current()
        self._icon.setVisible(bool(self._icon_name))
        if self._icon_name:
            side = look.px(24)
            self._icon.setPixmap(look.icon(self._icon_name, "faint").pixmap(QSize(side, side)))
