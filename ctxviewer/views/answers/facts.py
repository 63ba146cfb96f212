"""Facts through all requests: a field to ask in, the pinned facts with their strips, what happened to one of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    QStringListModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.facts import BadQuestionError, FileQuestion, MessageQuestion, Question, TextQuestion
from ctxviewer.models.listing import ListingRole
from ctxviewer.models.tracked import FactNewsModel, FactRole, FactRow, FactsModel, Strip, letter
from ctxviewer.services.answers.tracking import Tracked
from ctxviewer.views import theme
from ctxviewer.views.answers.parts import AnswerPanel, Remark
from ctxviewer.views.answers.rows import AnswerList, paint_focus, paint_ground
from ctxviewer.views.details.rows import RowList
from ctxviewer.views.dialogs.parts import ElidedLabel
from ctxviewer.views.empty import EmptyState
from ctxviewer.views.fact_look import paint_chip, paint_strip

Index = QModelIndex | QPersistentModelIndex
OPEN: Final = "Open a task to follow words, a file or a message through its requests."
TEACH: Final = "Select words in the conversation, or type them above, to see in which requests they were sent."


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


class FactRows(QStyledItemDelegate):
    """Chip, title, words and strip."""

    column_clicked = Signal(object)
    """int: the column of the strip that was clicked."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """All rows are of one height."""
        look = theme.current()
        title, small = QFontMetrics(look.ui_font()), QFontMetrics(look.ui_font(size=11))
        return QSize(look.px(80), title.height() + small.height() + look.px(12 + 14))

    def strip_box(self, rect: QRect) -> QRect:
        """Where the strip of a row is painted."""
        look = theme.current()
        left = rect.left() + look.px(10 + 18 + 8)
        height = look.px(9)
        return QRect(left, rect.bottom() - look.px(6) - height, rect.right() - look.px(10) - left, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """One fact."""
        look = theme.current()
        rect: QRect = option.rect
        painter.save()
        paint_ground(painter, option)
        place = index.data(FactRole.PLACE)
        side, top = look.px(18), rect.top() + look.px(5)
        paint_chip(painter, QRect(rect.left() + look.px(10), top, side, side), place if isinstance(place, int) else 0)
        left = rect.left() + look.px(10) + side + look.px(8)
        room = rect.right() - look.px(10) - left
        title_font, small_font = look.ui_font(), look.ui_font(size=11)
        metrics, small = QFontMetrics(title_font), QFontMetrics(small_font)
        painter.setFont(title_font)
        painter.setPen(look.color("text"))
        words = metrics.elidedText(str(index.data() or ""), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPoint(left, top + metrics.ascent()), words)
        painter.setFont(small_font)
        painter.setPen(look.color("error" if index.data(ListingRole.TONE) == "error" else "muted"))
        words = small.elidedText(str(index.data(ListingRole.DETAIL) or ""), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPoint(left, top + metrics.height() + small.ascent()), words)
        strip = index.data(FactRole.STRIP)
        if isinstance(strip, Strip):
            paint_strip(painter, QRectF(self.strip_box(rect)), strip, 0, strip.requests + 1)
        paint_focus(painter, option)
        painter.restore()

    def editorEvent(
        self, event: QEvent, _model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        """A click on the strip goes to its request."""
        strip = index.data(FactRole.STRIP)
        if (
            event.type() is QEvent.Type.MouseButtonRelease
            and isinstance(event, QMouseEvent)
            and isinstance(strip, Strip)
        ):
            box = self.strip_box(option.rect)
            at = event.position()
            if box.contains(at.toPoint()):
                column = int((at.x() - box.left()) / max(1, box.width()) * (strip.requests + 1))
                self.column_clicked.emit((min(max(0, column), strip.requests), strip.requests))
        return False


class FactList(RowList):
    """The pinned facts; Del removes one."""

    removed = Signal(object)
    """int: the row."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("Pinned facts", parent)
        self.rows = FactRows(self)
        self.setItemDelegate(self.rows)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.current_row()
        if event.key() in {Qt.Key.Key_Delete, Qt.Key.Key_Backspace} and row is not None:
            self.removed.emit(row)
        else:
            super().keyPressEvent(event)


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
