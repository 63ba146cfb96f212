"""Parts that the panels share: a page or a sentence, a line of choices, quiet words that are seldom seen."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.domain.errors import CtxError
from ctxviewer.services.answers.inquiry import Answer
from ctxviewer.views import theme
from ctxviewer.views.dialogs.parts import drawable, plain_label
from ctxviewer.views.empty import EmptyState

K = TypeVar("K", bound=StrEnum)


class Segments(QWidget):
    """Exclusive buttons side by side; one is always chosen."""

    chosen = Signal(object)
    """The key of the button that the user chose."""

    def __init__(self, choices: Mapping[K, tuple[str, str]], parent: QWidget | None = None) -> None:
        """`choices`: by key the words and the tooltip, in order; the first one is chosen."""
        super().__init__(parent)
        self._buttons: dict[StrEnum, QToolButton] = {}
        self._group = QButtonGroup(self)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        for key, (words, tip) in choices.items():
            button = QToolButton(self)
            button.setProperty("look", "segment")
            button.setCheckable(True)
            button.setText(words)
            button.setToolTip(tip)
            button.setAccessibleName(words)
            button.clicked.connect(self._clicked)
            button.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
            self._group.addButton(button)
            self._row.addWidget(button)
            self._buttons[key] = button
        self._row.addStretch(1)
        next(iter(self._buttons.values())).setChecked(True)

    @property
    def current(self) -> StrEnum:
        """The key of the chosen button."""
        return next(key for key, button in self._buttons.items() if button.isChecked())

    def button(self, key: StrEnum) -> QToolButton:
        """The button of a key."""
        return self._buttons[key]

    def set_words(self, key: StrEnum, words: str) -> None:
        """Say something else: 'Files 3'."""
        self._buttons[key].setText(words)
        self._buttons[key].setAccessibleName(words)

    def choose(self, key: StrEnum) -> None:
        """Choose as the user does."""
        self._buttons[key].setChecked(True)
        self.chosen.emit(key)

    def _clicked(self, _checked: bool = False) -> None:
        self.chosen.emit(self.current)


class Remark(QWidget):
    """One quiet sentence with a sign; takes no room while it has nothing to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tone, self._name = "muted", ""
        self._said = ("", "", "muted")
        self._icon = QLabel(self)
        self._label = plain_label("", "muted", self)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addWidget(self._label, 1)
        self.hide()
        theme.current().changed.connect(self._restyle)

    @property
    def words(self) -> str:
        """What it says, '' when nothing."""
        return self._label.text() if not self.isHidden() else ""

    def set_margins(self, left: int, top: int, right: int, bottom: int) -> None:
        """Air around it, in pixels."""
        self._row.setContentsMargins(left, top, right, bottom)

    def say(self, words: str, icon: str = "", tone: str = "muted") -> None:
        """Say a sentence; '' hides it."""
        said = (words, icon, tone)
        if said == self._said:
            return
        self._said = said
        self._label.setText(drawable(words))
        self._name, self._tone = icon, tone
        self._restyle()
        self.setVisible(bool(words))

    def say_error(self, error: CtxError | None) -> None:
        """Say what cannot be done and what to do; None hides it."""
        words = " ".join(part for part in (error.sentence, error.hint) if part) if error is not None else ""
        self.say(words, "warning", "warning")

    def _restyle(self) -> None:
        look = theme.current()
        side = look.px(14)
        self._icon.setVisible(bool(self._name))
        if self._name:
            self._icon.setPixmap(look.icon(self._name, self._tone).pixmap(QSize(side, side)))
        self._label.setProperty("look", {"warning": "warning", "error": "error"}.get(self._tone, "muted"))
        self._label.style().unpolish(self._label)
        self._label.style().polish(self._label)


def slim(box: QComboBox) -> QComboBox:
    """A box that never widens its pane: its words end in dots where they must."""
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(6)
    return box


class AnswerPanel(QWidget):
    """A page with the answer, or a sentence where there is none, and a line that says that it is being worked on."""

    def __init__(self, name: str, icon: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(name)
        self._icon = icon
        self.empty = EmptyState(parent=self)
        self.page = QWidget(self)
        self.column = QVBoxLayout(self.page)
        """What the answer consists of, from the top down; lists go from edge to edge."""
        self.head = QVBoxLayout()
        """What stands above, with some air around it."""
        self.column.addLayout(self.head)
        self.remark = Remark(self)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.page)
        self._foot = QVBoxLayout()
        self._foot.addWidget(self.remark)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._stack, 1)
        layout.addLayout(self._foot)
        theme.current().changed.connect(self.restyle)
        self.restyle()

    def restyle(self) -> None:
        """Take lengths from the theme."""
        look = theme.current()
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        self.head.setContentsMargins(look.px(12), look.px(8), look.px(8), look.px(6))
        self.head.setSpacing(look.px(6))
        self._foot.setContentsMargins(0, 0, 0, 0)
        self.remark.set_margins(look.px(12), look.px(4), look.px(8), look.px(6))

    @property
    def shows_page(self) -> bool:
        """False while a sentence stands in the place of the answer."""
        return self._stack.currentWidget() is self.page

    def say(self, sentence: str, action: str = "") -> None:
        """Show a sentence, and the action that helps, instead of the page."""
        self.empty.set_words(sentence, action, self._icon)
        self._stack.setCurrentWidget(self.empty)

    def show_page(self) -> None:
        """Show the page."""
        self._stack.setCurrentWidget(self.page)

    def show_state(self, answer: Answer[object], working: str) -> None:
        """Say below that it is being worked on, or why there is no answer."""
        if answer.error is not None:
            self.remark.say_error(answer.error)
        else:
            self.remark.say(working if answer.working else "", "reload")
