"""What the shown request no longer knows, heaviest first; each row leads to its message and its request."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QPushButton, QWidget

from ctxviewer.engine.facts import FileQuestion, MessageQuestion, Question
from ctxviewer.engine.losses import Loss, LossKind, LossReport
from ctxviewer.engine.words import request_name
from ctxviewer.models.losses import PLURALS, LossesModel, loss_text
from ctxviewer.models.numbers import grouped
from ctxviewer.models.visible import for_clipboard
from ctxviewer.services.answers.inquiry import Answer
from ctxviewer.views import theme
from ctxviewer.views.answers.parts import AnswerPanel, slim
from ctxviewer.views.answers.rows import AnswerList
from ctxviewer.views.details.parts import wrapped
from ctxviewer.views.empty import EmptyState

OPEN: Final = "Open a task to see what a request no longer knows."


_TIP: Final = (
    "Files whose content was sent once, words of the user, decisions that the assistant stated (found by a heuristic), "
    "and results of tools that were repaired away"
)


class LossesPanel(AnswerPanel):
    """The answer of `Losing`."""

    place_wanted = Signal(object)
    """tuple[int, int | None]: a message and a stored block of it."""
    request_wanted = Signal(object)
    """int or None: the first request without it."""
    track_wanted = Signal(object)
    """Question: follow this through all requests."""
    copy_wanted = Signal(object)
    """str, for the clipboard."""

    _made = False

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Losses", "losses", parent)
        self._has_task = False
        self._report: LossReport | None = None
        self._menu: QMenu | None = None
        self._title = wrapped("", "title", self)
        self.kinds = slim(QComboBox(self))
        self.kinds.setAccessibleName("Which losses are shown")
        self.kinds.setToolTip(_TIP)
        for kind in (None, *LossKind):
            self.kinds.addItem("everything" if kind is None else PLURALS[kind], kind)
        self.kinds.currentIndexChanged.connect(self._filter)
        self.model = LossesModel(self)
        self.list = AnswerList("What is lost", self)
        self.list.setModel(self.model)
        self.list.row_chosen.connect(self._chosen)
        self.list.selectionModel().currentChanged.connect(self._settle_buttons)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._show_menu)
        self._nothing = EmptyState(parent=self)
        self._when = QPushButton("Go to the request", self)
        self._when.setAccessibleName("Go to the first request without it")
        self._when.clicked.connect(self._go_to_request)
        self._track = QPushButton("Track", self)
        self._track.setAccessibleName("Track it through all requests")
        self._track.clicked.connect(self._track_current)
        self._row = QHBoxLayout()
        self._row.addWidget(self.kinds, 1)
        self._row.addWidget(self._when)
        self._row.addWidget(self._track)
        self.head.addWidget(self._title)
        self.head.addLayout(self._row)
        self.column.addWidget(self.list, 1)
        self.column.addWidget(self._nothing, 1)
        self._made = True
        self.restyle()
        self.set_open(False)

    def restyle(self) -> None:
        """Take lengths from the theme."""
        super().restyle()
        if self._made:
            self._row.setSpacing(theme.current().px(6))

    # -- inputs

    def set_open(self, has_task: bool) -> None:
        """Whether a task with readable messages is open."""
        self._has_task = has_task
        self._settle()

    def set_answer(self, answer: Answer[LossReport]) -> None:
        """The report, or that it is being made."""
        self.show_state(answer, "Looking for what was lost…")
        if answer.working:
            return
        if answer.value is not self._report:
            self._report = answer.value
            self.model.show(answer.value)
            self.list.settle()
        self._settle()

    # -- inside

    def _settle(self) -> None:
        report = self._report
        if not self._has_task:
            self.say(OPEN)
            return
        if report is None:
            self.say("Looking for what was lost…" if not self.remark.words else "")
            return
        self.show_page()
        where = "the next request" if report.request is None else request_name(report.request)
        many = len(report.losses)
        self._title.setText(
            f"{where.capitalize()} no longer knows {grouped(many)} {'thing' if many == 1 else 'things'}"
        )
        for place, kind in enumerate((None, *LossKind)):
            name = "everything" if kind is None else PLURALS[kind]
            self.kinds.setItemText(place, f"{name} · {grouped(self.model.count(kind))}")
        rows = self.model.rowCount() > 0
        self.list.setVisible(rows)
        self._nothing.setVisible(not rows)
        if not many:
            self._nothing.set_words(
                "Nothing is lost here: whatever was sent before is still sent. Step to a later request to see losses.",
                icon="apply",
            )
        else:
            self._nothing.set_words(f"Nothing of this kind is lost at {where}.", icon="apply")
        self._settle_buttons()

    def _settle_buttons(self, *_news: object) -> None:
        loss = self._current()
        why = "" if loss is not None else "Highlight a row first."
        for button, tip in (
            (self._when, "Show the first request that went without it"),
            (self._track, "Pin it as a fact: see in which requests it was sent"),
        ):
            button.setEnabled(loss is not None)
            button.setToolTip(why or tip)

    def _current(self) -> Loss | None:
        row = self.list.current_row()
        return self.model.item(row) if row is not None and row < self.model.rowCount() else None

    def _filter(self, place: int) -> None:
        self.model.set_kind((None, *LossKind)[place])
        self.list.settle()
        self._settle()

    def _chosen(self, row: int) -> None:
        loss = self.model.item(row)
        self.place_wanted.emit((loss.message, loss.block))

    def _go_to_request(self) -> None:
        loss = self._current()
        if loss is not None:
            self.request_wanted.emit(loss.since)
            self.place_wanted.emit((loss.message, loss.block))

    def _track_current(self) -> None:
        loss = self._current()
        if loss is not None:
            self.track_wanted.emit(question_of(loss))

    def _copy_current(self) -> None:
        loss = self._current()
        if loss is not None:
            self.copy_wanted.emit(for_clipboard(loss_text(loss)))

    def _show_menu(self, place: QPoint) -> None:
        if not self.list.indexAt(place).isValid():
            return
        if self._menu is not None:
            self._menu.deleteLater()
        menu = self._menu = QMenu(self)
        menu.addAction("Go to the first request without it").triggered.connect(self._go_to_request)
        menu.addAction("Track it through all requests").triggered.connect(self._track_current)
        menu.addSeparator()
        menu.addAction("Copy details").triggered.connect(self._copy_current)
        menu.popup(self.list.viewport().mapToGlobal(place))


def question_of(loss: Loss) -> Question:
    """What to ask the fact tracker about a loss: a file by its path, anything else by its block."""
    return FileQuestion(loss.title) if loss.kind is LossKind.FILE else MessageQuestion(loss.message, loss.block)
