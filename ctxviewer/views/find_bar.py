"""The find bar: words, how many places, next and previous. Whoever has the text does the finding."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.views import theme
from ctxviewer.views.toolbar import BarButton

PAUSE_MS = 150


class FindBar(QWidget):
    """Hidden until it is asked for."""

    words_changed = Signal(object)  # str
    step_wanted = Signal(object)  # bool: backwards
    closed = Signal()

    def __init__(self, actions: ActionSet, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Find in the task")
        self._field = QLineEdit(self)
        self._field.setPlaceholderText("Find in this task…")
        self._field.setAccessibleName("Find in the task")
        self._field.setToolTip("Words to look for. Enter goes to the next place, Shift+Enter to the one before.")
        self._field.setClearButtonEnabled(True)
        self._field.installEventFilter(self)
        self._case = QCheckBox("Match case", self)
        self._case.setToolTip("Tell upper and lower case apart")
        self._count = QLabel("", self)
        self._count.setProperty("look", "muted")
        self._close = QToolButton(self)
        self._close.setAccessibleName("Close the find bar")
        self._close.setToolTip("Close (Esc)")
        self._close.clicked.connect(self.close_bar)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._tell)
        self._row = layout = QHBoxLayout(self)
        layout.setSpacing(4)
        layout.addWidget(self._field, 1)
        layout.addWidget(BarButton(actions["edit.find-previous"], parent=self))
        layout.addWidget(BarButton(actions["edit.find-next"], parent=self))
        layout.addWidget(self._count)
        layout.addSpacing(8)
        layout.addWidget(self._case)
        layout.addWidget(self._close)
        self._field.textChanged.connect(self._wait)
        self._case.toggled.connect(self._tell_now)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self.hide()

    @property
    def field(self) -> QLineEdit:
        """Where the words are typed."""
        return self._field

    @property
    def words(self) -> str:
        """What is looked for."""
        return self._field.text()

    @property
    def result(self) -> str:
        """What the last search found."""
        return self._count.text()

    @property
    def match_case(self) -> bool:
        """True when upper and lower case are told apart."""
        return self._case.isChecked()

    def open_bar(self, words: str = "") -> None:
        """Show the bar with the cursor in it; `words` replaces what is there, '' keeps it."""
        if words:
            self._field.setText(words)
        self.show()
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._field.selectAll()
        if self._field.text():
            self._tell()

    def close_bar(self, _checked: object = None) -> None:
        """Hide it, and forget the marks."""
        if self.isVisible():
            self.hide()
            self._pause.stop()
            self._count.clear()
            self.closed.emit()

    def show_result(self, sentence: str, *, nothing: bool = False) -> None:
        """Say what was found."""
        self._count.setText(sentence)
        self._count.setProperty("look", "warning" if nothing else "muted")
        self._count.style().unpolish(self._count)
        self._count.style().polish(self._count)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter, Shift+Enter and Esc in the field."""
        if watched is self._field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
                if self._pause.isActive():
                    self._tell()
                self.step_wanted.emit(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
                return True
        return super().eventFilter(watched, event)

    def _wait(self, _text: str) -> None:
        self._pause.start()

    def _tell_now(self, _checked: bool) -> None:
        self._tell()

    def _tell(self) -> None:
        self._pause.stop()
        self.words_changed.emit(self._field.text())

    def _restyle(self) -> None:
        look = theme.current()
        self._close.setIcon(look.icon("close"))
        self._row.setContentsMargins(look.px(8), look.px(4), look.px(8), look.px(4))
