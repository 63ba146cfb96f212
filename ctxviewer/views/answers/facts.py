"""Facts through all requests: a field to ask in, the pinned facts with their strips, what happened to one of them."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from ctxviewer.models.tracked import FactNewsModel, FactRow, FactsModel, letter
from ctxviewer.services.answers.tracking import Tracked
from ctxviewer.views import theme
from ctxviewer.views.answers.ask_line import AskLine
from ctxviewer.views.answers.fact_rows import FactList
from ctxviewer.views.answers.parts import AnswerPanel
from ctxviewer.views.answers.rows import AnswerList
from ctxviewer.views.dialogs.parts import ElidedLabel
from ctxviewer.views.empty import EmptyState

OPEN: Final = "Open a task to follow words, a file or a message through its requests."
TEACH: Final = "Select words in the conversation, or type them above, to see in which requests they were sent."


class FactsPanel(AnswerPanel):
    """The facts of `Tracking`."""

    track_wanted = Signal(object)
    """Question."""
    selection_wanted = Signal()
    """The selected words, or the chosen message, are to be tracked."""
    remove_wanted = Signal(object)
    """int: the place of a fact."""
    clear_wanted = Signal()
    place_wanted = Signal(object)
    """tuple[int, int | None]: a message and a stored block of it."""
    request_wanted = Signal(object)
    """int or None (live)."""

    _made = False

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Facts", "fact", parent)
        self._has_task = False
        self.line = AskLine(self)
        self.line.asked.connect(self.track_wanted)
        self.model = FactsModel(self)
        self.list = FactList(self)
        self.list.setModel(self.model)
        self.list.row_chosen.connect(self._show_current)
        self.list.removed.connect(self._remove_row)
        self.list.rows.column_clicked.connect(self._column_clicked)
        self.list.selectionModel().currentChanged.connect(self._show_current)
        self._news_title = ElidedLabel("", self)
        self._news_title.setProperty("look", "heading")
        self.news = FactNewsModel()
        self.news.setParent(self)
        self.news_list = AnswerList("What happened to the fact", self)
        self.news_list.setModel(self.news)
        self.news_list.row_chosen.connect(self._news_chosen)
        lower = QWidget(self)
        self._lower = QVBoxLayout(lower)
        self._buttons = QHBoxLayout()
        self._buttons.addWidget(self._news_title, 1)
        self._lower.addLayout(self._buttons)
        self._lower.addWidget(self.news_list, 1)
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.list)
        self._splitter.addWidget(lower)
        self._splitter.setSizes([200, 300])
        self._teach = EmptyState(parent=self)
        self._teach.activated.connect(self.selection_wanted)
        self._inner = QStackedWidget(self)
        self._inner.addWidget(self._teach)
        self._inner.addWidget(self._splitter)
        self._remove = self._link("Remove")
        self._remove.setAccessibleName("Remove the highlighted fact")
        self._remove.setToolTip("Unpin the highlighted fact (Del)")
        self._remove.clicked.connect(self._remove_current)
        self._clear = self._link("Remove all")
        self._clear.setAccessibleName("Remove all facts")
        self._clear.setToolTip("Unpin every fact")
        self._clear.clicked.connect(self.clear_wanted)
        self._buttons.addWidget(self._remove)
        self._buttons.addWidget(self._clear)
        self.head.addWidget(self.line)
        self.column.addWidget(self._inner, 1)
        self._teach.set_words(TEACH, "Track the selection", "fact")
        self._made = True
        self.restyle()
        self.set_open(False)
        self.set_facts(())

    def _link(self, words: str) -> QToolButton:
        button = QToolButton(self)
        button.setProperty("look", "link")
        button.setText(words)
        return button

    def restyle(self) -> None:
        """Take lengths from the theme."""
        super().restyle()
        if self._made:
            look = theme.current()
            self._buttons.setContentsMargins(look.px(12), 0, look.px(8), 0)
            self._buttons.setSpacing(look.px(4))
            self._lower.setContentsMargins(0, look.px(6), 0, 0)
            self._lower.setSpacing(look.px(4))

    # -- inputs

    def set_open(self, has_task: bool) -> None:
        """Whether a task with readable messages is open."""
        self._has_task = has_task
        if has_task:
            self.show_page()
        else:
            self.say(OPEN)

    def set_facts(self, facts: tuple[Tracked, ...]) -> None:
        """What is pinned; the highlighted fact stays highlighted."""
        current = self._current()
        rows = tuple(
            FactRow(
                one.place,
                one.question,
                one.fact,
                " ".join(part for part in (one.error.sentence, one.error.hint) if part) if one.error else "",
            )
            for one in facts
        )
        self.model.set_items(rows)
        self._inner.setCurrentWidget(self._splitter if rows else self._teach)
        places = [row.place for row in rows]
        if current is not None and current.place in places:
            self.list.setCurrentIndex(self.model.index(places.index(current.place)))
        elif rows and not self.list.currentIndex().isValid():
            self.list.setCurrentIndex(self.model.index(0))
        for button in (self._remove, self._clear):
            button.setVisible(bool(rows))
        self._show_current()

    def show_added(self, one: Tracked) -> None:
        """A question was answered: highlight it, empty the field."""
        row = next((row for row, item in enumerate(self.model.items) if item.place == one.place), None)
        if row is not None:
            self.list.setCurrentIndex(self.model.index(row))
        self.line.field.clear()
        self.line.say_problem(None)

    def ask(self) -> None:
        """Put the cursor into the field."""
        self.line.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.field.selectAll()

    # -- inside

    def _current(self) -> FactRow | None:
        row = self.list.current_row()
        return self.model.item(row) if row is not None and row < self.model.rowCount() else None

    def _show_current(self, *_news: object) -> None:
        item = self._current()
        self._remove.setEnabled(item is not None)
        self.news.show(item.fact if item is not None else None)
        self.news_list.settle()
        if item is None:
            self._news_title.setText("")
        elif item.fact is None:
            self._news_title.setText(item.problem or "Looking…")
        else:
            self._news_title.setText(f"What happened to {letter(item.place)}")

    def _remove_current(self) -> None:
        item = self._current()
        if item is not None:
            self.remove_wanted.emit(item.place)

    def _remove_row(self, row: int) -> None:
        self.remove_wanted.emit(self.model.item(row).place)

    def _column_clicked(self, where: tuple[int, int]) -> None:
        column, requests = where
        self.request_wanted.emit(column if column < requests else None)

    def _news_chosen(self, row: int) -> None:
        item = self.news.item(row)
        if item.is_turn:
            self.request_wanted.emit(item.request)
        self.place_wanted.emit((item.message, item.block))
