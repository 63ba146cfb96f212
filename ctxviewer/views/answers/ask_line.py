"""The field in which the fact tracker is asked, with its options; what cannot be asked is said below it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.facts import BadQuestionError, FileQuestion, MessageQuestion, Question, TextQuestion
from ctxviewer.views import theme
from ctxviewer.views.answers.parts import Remark


class Kind(StrEnum):
    """What is asked for."""

    WORDS = "words"
    FILE = "file"
    MESSAGE = "message"


_HINTS: Final = {
    Kind.WORDS: "Words as they were sent…",
    Kind.FILE: "Path of a file, or its end…",
    Kind.MESSAGE: "Number of a message…",
}


class AskLine(QWidget):
    """The field in which a question is typed, with its options; what cannot be asked is said below it."""

    asked = Signal(object)
    """Question."""
    paths_wanted = Signal()
    """The paths of the conversation's files are needed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = QComboBox(self)
        self._kind.setAccessibleName("What to look for")
        self._kind.setToolTip("Words, a file or a message")
        for kind in Kind:
            self._kind.addItem(kind.value, kind.value)
        self._kind.currentIndexChanged.connect(self._settle)
        self.field = QLineEdit(self)
        self.field.setClearButtonEnabled(True)
        self.field.returnPressed.connect(self.ask)
        self.field.textEdited.connect(self._forget_problem)
        self._known: list[str] = []
        self._paths = QStringListModel(self)
        self._completer = QCompleter(self._paths, self)
        self._completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.field.setCompleter(self._completer)
        self.ignore_case = self._toggle("aA", "Ignore case", "Find the words in capitals and small letters alike")
        self.regex = self._toggle(".*", "Regular expression", "The words are a regular expression")
        self._button = QPushButton("Track", self)
        self._button.setAccessibleName("Track what is typed")
        self._button.setToolTip("Pin it, and see in which requests it was sent (Return)")
        self._button.clicked.connect(self.ask)
        self.problem = Remark(self)
        self._row = QHBoxLayout()
        self._row.addWidget(self._kind)
        self._row.addWidget(self.field, 1)
        for widget in (self.ignore_case, self.regex, self._button):
            self._row.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._row)
        layout.addWidget(self.problem)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self._settle()

    def _toggle(self, words: str, name: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(words)
        button.setCheckable(True)
        button.setAccessibleName(name)
        button.setToolTip(f"{name}. {tip}")
        return button

    @property
    def kind(self) -> Kind:
        """What is asked for."""
        return Kind(str(self._kind.currentData()))

    @property
    def wants_paths(self) -> bool:
        """True while a path is typed."""
        return self.kind is Kind.FILE

    def set_kind(self, kind: Kind) -> None:
        """Ask for something else."""
        self._kind.setCurrentIndex(self._kind.findData(kind.value))

    def set_paths(self, paths: tuple[str, ...]) -> None:
        """Files that the field can complete."""
        self._known = [path.encode("utf-16", "replace").decode("utf-16") for path in paths]
        self._paths.setStringList(self._known if self.kind is Kind.FILE else [])

    def say_problem(self, error: CtxError | None) -> None:
        """What is wrong with the question; None = nothing."""
        self.problem.say_error(error)

    def ask(self) -> None:
        """Ask what is typed."""
        try:
            question = self._question()
        except BadQuestionError as error:
            self.say_problem(error)
            return
        self.say_problem(None)
        self.asked.emit(question)

    def _question(self) -> Question:
        text = self.field.text()
        if self.kind is Kind.WORDS:
            return TextQuestion(text, regex=self.regex.isChecked(), ignore_case=self.ignore_case.isChecked())
        if self.kind is Kind.FILE:
            return FileQuestion(text.strip())
        number = text.strip().removeprefix("message").strip()
        if not number.isdecimal():
            raise BadQuestionError("That is no number of a message.", hint="Messages are counted from 0.")
        return MessageQuestion(int(number))

    def _forget_problem(self, _text: str) -> None:
        self.say_problem(None)

    def _settle(self, *_news: object) -> None:
        kind = self.kind
        self.field.setPlaceholderText(_HINTS[kind])
        self.field.setAccessibleName(_HINTS[kind].rstrip("…"))
        self._paths.setStringList(self._known if kind is Kind.FILE else [])
        for button in (self.ignore_case, self.regex):
            button.setVisible(kind is Kind.WORDS)
        if kind is Kind.FILE:
            self.paths_wanted.emit()
        self.say_problem(None)

    def _restyle(self) -> None:
        self._row.setSpacing(theme.current().px(4))
