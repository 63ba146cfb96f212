"""What changed between a reference and what is shown: messages, tokens by category, files, and texts on demand."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from PySide6.QtCore import QAbstractItemModel, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QSplitter,
    QStackedWidget,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.engine.difference import RequestDifference, summary, title
from ctxviewer.models.differences import CategoriesModel, DifferenceFilesModel, DifferenceModel, signed, texts_body
from ctxviewer.models.numbers import grouped
from ctxviewer.models.segments import Body
from ctxviewer.services.answers.comparing import Against, Reference, Sums, Texts
from ctxviewer.services.answers.inquiry import Answer
from ctxviewer.views import theme
from ctxviewer.views.answers.parts import AnswerPanel, Segments, slim
from ctxviewer.views.answers.rows import AnswerList
from ctxviewer.views.details.parts import wrapped
from ctxviewer.views.details.reading import ReadingPane
from ctxviewer.views.empty import EmptyState

OPEN: Final = "Open a task to compare two of its requests."
NO_OTHER: Final = "This is the first request: there is none before it. Choose another reference, or a later request."


class Page(StrEnum):
    """What of the difference is shown."""

    MESSAGES = "messages"
    TOKENS = "tokens"
    FILES = "files"


class DifferencePanel(AnswerPanel):
    """The answers of `Comparing`, `ComparingSums` and `ComparingTexts`."""

    _made = False

    reference_chosen = Signal(object)
    """Reference."""
    mark_wanted = Signal()
    """The shown request is to be the reference."""
    message_wanted = Signal(object)
    """int."""
    texts_wanted = Signal(object)
    """int or None: the message whose texts are to be compared."""
    file_wanted = Signal(object)
    """str: a path that is to be tracked."""
    copy_wanted = Signal(object)
    """str, for the clipboard."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Difference", "difference", parent)
        self._found: RequestDifference | None = None
        self._reference = Reference()
        self._has_task = False
        self._texts: Texts = ()
        self._shown_message: int | None = None
        """The message whose texts are shown below."""
        self._head = QHBoxLayout()
        self._with = QLabel("Compared with", self)
        self._with.setProperty("look", "muted")
        self._choice = slim(QComboBox(self))
        self._choice.setAccessibleName("What is compared with what is shown")
        self._choice.setToolTip("The other side of the comparison")
        self._choice.activated.connect(self._choose)
        self._mark = QToolButton(self)
        self._mark.setAccessibleName("Mark the shown request as the reference")
        self._mark.clicked.connect(self.mark_wanted)
        self._head.addWidget(self._with)
        self._head.addWidget(self._choice, 1)
        self._head.addWidget(self._mark)
        self._title = wrapped("", "title", self)
        self._summary = wrapped("", "muted", self)
        self._pages = Segments(
            {
                Page.MESSAGES: ("Messages", "Which messages entered, left or were changed"),
                Page.TOKENS: ("Tokens", "Estimated tokens by category, before and after"),
                Page.FILES: ("Files", "Files whose content only one of the two sends"),
            },
            self,
        )
        self._pages.chosen.connect(self._turn)
        self.rows = DifferenceModel(self)
        self.list = AnswerList("Messages that differ", self)
        self.list.setModel(self.rows)
        self.list.row_chosen.connect(self._row_chosen)
        self.categories = CategoriesModel(self)
        self.table = number_table("Tokens by category", self.categories, self)
        self.files = DifferenceFilesModel(self)
        self.file_list = AnswerList("Files that left or entered", self)
        self.file_list.setModel(self.files)
        self.file_list.row_chosen.connect(self._file_chosen)
        self._waiting = EmptyState(parent=self)
        self._inner = QStackedWidget(self)
        for widget in (self.list, self.table, self.file_list, self._waiting):
            self._inner.addWidget(widget)
        self._texts_box = QWidget(self)
        self._caption = wrapped("", "muted", self._texts_box)
        self.reading = ReadingPane("Difference of the texts", self._texts_box)
        self.reading.copy_wanted.connect(self.copy_wanted)
        self._texts_column = QVBoxLayout(self._texts_box)
        self._texts_column.addWidget(self._caption)
        self._texts_column.addWidget(self.reading, 1)
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self._inner)
        self._splitter.addWidget(self._texts_box)
        self._splitter.setSizes([300, 300])
        self._texts_box.hide()
        self.head.addLayout(self._head)
        self.head.addWidget(self._title)
        self.head.addWidget(self._summary)
        self.head.addWidget(self._pages)
        self.column.addWidget(self._splitter, 1)
        self.set_reference(Reference())
        self._made = True
        self.restyle()
        self.set_open(False)

    def restyle(self) -> None:
        """Take lengths and icons from the theme."""
        super().restyle()
        look = theme.current()
        if self._made:
            self._head.setSpacing(look.px(6))
            self._mark.setIcon(look.icon("pinned"))
            self._texts_column.setContentsMargins(look.px(12), look.px(6), 0, 0)
            self._texts_column.setSpacing(look.px(4))
            self.table.setContentsMargins(look.px(6), 0, 0, 0)
            self.table.verticalHeader().setDefaultSectionSize(self.table.fontMetrics().height() + look.px(6))

    # -- inputs

    def set_open(self, has_task: bool) -> None:
        """Whether a task with readable messages is open."""
        self._has_task = has_task
        self._settle()

    def set_mark_tip(self, tip: str, *, possible: bool) -> None:
        """What the button that marks the shown request says."""
        self._mark.setToolTip(tip)
        self._mark.setEnabled(possible)

    def set_reference(self, reference: Reference) -> None:
        """What is compared with; the choice shows it."""
        self._reference = reference
        self._choice.clear()
        for against in Against:
            if against is Against.MARKED:
                if reference.request is not None:
                    self._choice.addItem(f"request {reference.request + 1:,}, marked", against.value)
            else:
                self._choice.addItem(against.value, against.value)
        self._choice.setCurrentIndex(self._choice.findData(reference.against.value))

    def set_answer(self, answer: Answer[RequestDifference]) -> None:
        """The rows, or that they are being worked out."""
        self.show_state(answer, "Comparing…")
        if answer.working:
            return
        if answer.value is not self._found:
            self._found = answer.value
            self.rows.show(answer.value)
            self._show_sums(None)
            self.list.settle()
        self._settle()
        self._keep_choice()

    def set_sums(self, answer: Answer[Sums]) -> None:
        """Tokens and files, when they are known."""
        sums = answer.value
        if sums is None or sums.found is self._found:
            self._show_sums(sums)

    def set_texts(self, answer: Answer[Texts]) -> None:
        """The texts of the message that was asked for."""
        self._texts = answer.value or ()
        self._show_texts()

    # -- inside

    def _settle(self) -> None:
        found = self._found
        if not self._has_task:
            self.say(OPEN)
        elif found is None:
            self.show_page()
            self._title.setText("Nothing to compare with")
            self._summary.setText(NO_OTHER)
        else:
            self.show_page()
            self._title.setText(title(found))
            told = summary(found)
            self._summary.setText(" ".join(told) if told else "Both send the same, message by message.")
        self._pages.setVisible(found is not None)
        self._splitter.setVisible(found is not None)
        self._turn(self._pages.current)

    def _show_sums(self, sums: Sums | None) -> None:
        self.rows.show(self._found, sums.rows if sums is not None else ())
        self.categories.show(sums.categories if sums is not None else ())
        self.files.show(sums.files if sums is not None else None)
        self.file_list.settle()
        changes = len(self._found.changes) if self._found is not None else 0
        self._pages.set_words(Page.MESSAGES, f"Messages {grouped(changes)}")
        change = self.categories.change
        self._pages.set_words(Page.TOKENS, "Tokens" if change is None else f"Tokens {signed(change)}")
        files = self.files.rowCount()
        self._pages.set_words(Page.FILES, "Files" if sums is None else f"Files {grouped(files)}")
        self._turn(self._pages.current)
        self._keep_choice()

    def _turn(self, page: object) -> None:
        widget: QWidget = {Page.MESSAGES: self.list, Page.TOKENS: self.table, Page.FILES: self.file_list}[
            Page(str(page))
        ]
        if page == Page.TOKENS and self.categories.change is None:
            self._waiting.set_words("The messages are being counted; the tokens come with the last of them.")
            widget = self._waiting
        elif page == Page.FILES and not self.files.rowCount():
            known = self.categories.change is not None
            words = "Both send the contents of the same files." if known else "The messages are being counted…"
            self._waiting.set_words(words)
            widget = self._waiting
        self._inner.setCurrentWidget(widget)
        self._show_texts()

    def _choose(self, place: int) -> None:
        against = Against(self._choice.itemData(place))
        request = self._reference.request
        self.reference_chosen.emit(Reference(against, request))

    def _row_chosen(self, row: int) -> None:
        item = self.rows.item(row)
        if item.message is not None:
            self.message_wanted.emit(item.message)
        self.texts_wanted.emit(item.message if item.has_texts else None)
        self._caption_for(item.message if item.has_texts else None)

    def _caption_for(self, message: int | None) -> None:
        self._shown_message = message
        if message is None:
            self._texts = ()
        self._show_texts()

    def _keep_choice(self) -> None:
        """After a step the message that was looked at may still differ."""
        message = self._shown_message
        if message is None:
            return
        place = next((n for n, item in enumerate(self.rows.items) if item.message == message and item.has_texts), None)
        if place is None:
            self.texts_wanted.emit(None)
            self._caption_for(None)
        elif self.list.current_row() != place:
            self.list.setCurrentIndex(self.rows.index(place))

    def _show_texts(self) -> None:
        message, found = self._shown_message, self._found
        show = message is not None and found is not None and self._pages.current == Page.MESSAGES
        self._texts_box.setVisible(show)
        if not show or found is None:
            self.reading.set_body(Body(()))
            return
        names = title(found).split(" \N{RIGHTWARDS ARROW} ")
        body = texts_body(self._texts)
        lines = [f"message {message} · − {names[0]}, + {names[-1]}", body.remark]
        self._caption.setText("\n".join(line for line in lines if line))
        self.reading.set_body(body)

    def _file_chosen(self, row: int) -> None:
        self.file_wanted.emit(self.files.item(row).path)


def number_table(name: str, model: QAbstractItemModel, parent: QWidget) -> QTableView:
    """A quiet table for a few rows of numbers: words at the left, no grid."""
    table = QTableView(parent)
    table.setAccessibleName(name)
    table.setModel(model)
    table.setShowGrid(False)
    table.verticalHeader().hide()
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setCornerButtonEnabled(False)
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    header.setHighlightSections(False)
    table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + theme.current().px(6))
    return table
