"""Where the tokens of the shown request go, what is in it twice, and estimated against reported."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.engine.words import request_name
from ctxviewer.models.composition import By, CompositionModel, RepeatsModel, Slice, slices
from ctxviewer.models.numbers import counted, grouped
from ctxviewer.models.reconciliation import ODD_ROLE, ReconciliationModel, fit_words
from ctxviewer.services.answers.inquiry import Answer
from ctxviewer.services.answers.weighing import Weighed
from ctxviewer.views import theme
from ctxviewer.views.answers.parts import AnswerPanel, Segments, slim
from ctxviewer.views.answers.rows import AnswerList
from ctxviewer.views.answers.tokens.treemap import KEYS, Treemap
from ctxviewer.views.details.parts import wrapped
from ctxviewer.views.dialogs.parts import ElidedLabel
from ctxviewer.views.empty import EmptyState

Index = QModelIndex | QPersistentModelIndex
OPEN: Final = "Open a task to see where the tokens of its requests go."


class Page(StrEnum):
    """What is shown."""

    MAP = "map"
    TABLE = "table"
    REPEATS = "repeats"
    FIT = "fit"


class OddRows(QStyledItemDelegate):
    """Puts a sign before the number of a request that is odd."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """The sign as the cell's picture."""
        super().initStyleOption(option, index)
        if index.column() == 0 and index.data(ODD_ROLE):
            look = theme.current()
            side = look.px(13)
            option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
            option.icon = QIcon(look.icon("warning", "warning").pixmap(QSize(side, side)))
            option.decorationSize = QSize(side, side)


class TokensPanel(AnswerPanel):
    """The answer of `Weighing`."""

    message_wanted = Signal(object)
    """int."""
    place_wanted = Signal(object)
    """tuple[int, int | None]: a message and a stored block of it."""
    request_wanted = Signal(object)
    """int."""

    _made = False

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Tokens", "tokens", parent)
        self._has_task = False
        self._weighed: Weighed | None = None
        self._share = 1.0
        self._stale: set[Page] = set()
        self._title = wrapped("", "title", self)
        self._fit = wrapped("", "muted", self)
        self._pages = Segments(
            {
                Page.MAP: ("Map", f"Areas in proportion to tokens. {KEYS}"),
                Page.TABLE: ("Table", "The same as a table, estimated and calibrated"),
                Page.REPEATS: ("Repeats", "Content that is in the request more than once"),
                Page.FIT: ("Fit", "Estimated against reported, request by request"),
            },
            self,
        )
        self._pages.chosen.connect(self._turn)
        self._by = slim(QComboBox(self))
        self._by.setAccessibleName("How the request is cut into parts")
        self._by.setToolTip("Cut the request into parts by what they are for, by message, by file or by tool")
        for by in By:
            self._by.addItem(f"by {by.value}", by.value)
        self._by.currentIndexChanged.connect(self._cut)
        self._head = QHBoxLayout()
        self._head.addWidget(self._pages, 1)
        self._head.addWidget(self._by)
        self.map = Treemap(self)
        self.map.slice_chosen.connect(self._slice_chosen)
        self.parts = CompositionModel(self)
        self.tree = self._make_tree()
        self.repeats = RepeatsModel(self)
        self._repeats_words = wrapped("", "muted", self)
        self.repeat_list = AnswerList("Repeated content", self)
        self.repeat_list.setModel(self.repeats)
        self.repeat_list.row_chosen.connect(self._repeat_chosen)
        self._no_repeats = EmptyState("Nothing is in this request twice.", icon="apply", parent=self)
        self.checked = ReconciliationModel(self)
        self.table = self._make_table()
        self._only_odd = QCheckBox("only odd requests", self)
        self._only_odd.setAccessibleName("Show odd requests only")
        self._only_odd.setToolTip("Requests whose numbers cannot be right, or where the counter is off")
        self._only_odd.toggled.connect(self.checked.set_only_odd)
        self._odd_words = ElidedLabel("", self)
        self._odd_words.setProperty("look", "muted")
        self._fits = wrapped("", "muted", self)
        self._inner = QStackedWidget(self)
        self._widgets: dict[str, QWidget] = {Page.MAP: self.map, Page.TABLE: self.tree}
        self._boxes: list[QVBoxLayout] = []
        self._widgets[Page.REPEATS] = self._boxed(self._repeats_words, self.repeat_list, self._no_repeats)
        odd = QWidget(self)
        self._odd_row = QHBoxLayout(odd)
        self._odd_row.setContentsMargins(0, 0, 0, 0)
        self._odd_row.addWidget(self._odd_words, 1)
        self._odd_row.addWidget(self._only_odd)
        self._widgets[Page.FIT] = self._boxed(self._fits, odd, self.table)
        for widget in self._widgets.values():
            self._inner.addWidget(widget)
        self.head.addWidget(self._title)
        self.head.addWidget(self._fit)
        self.head.addLayout(self._head)
        self.column.addWidget(self._inner, 1)
        self._made = True
        self.restyle()
        self.set_open(False)

    def _boxed(self, *widgets: QWidget) -> QWidget:
        box = QWidget(self)
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            column.addWidget(widget, int(isinstance(widget, QAbstractItemView | EmptyState)))
        self._boxes.append(column)
        return box

    def _make_tree(self) -> QTreeView:
        tree = QTreeView(self)
        tree.setAccessibleName("Parts of the request")
        tree.setModel(self.parts)
        tree.setUniformRowHeights(True)
        tree.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        header = tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(theme.current().px(40))
        tree.clicked.connect(self._index_chosen)
        tree.activated.connect(self._index_chosen)
        return tree

    def _make_table(self) -> QTableView:
        table = QTableView(self)
        table.setAccessibleName("Estimated against reported")
        table.setModel(self.checked)
        table.setItemDelegateForColumn(0, OddRows(table))
        table.setShowGrid(False)
        table.verticalHeader().hide()
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setSortingEnabled(True)
        table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        table.clicked.connect(self._request_chosen)
        table.activated.connect(self._request_chosen)
        return table

    def restyle(self) -> None:
        """Take lengths from the theme."""
        super().restyle()
        if self._made:
            look = theme.current()
            self._head.setSpacing(look.px(6))
            for box in self._boxes:
                box.setSpacing(look.px(4))
            self._odd_row.setContentsMargins(look.px(12), 0, look.px(8), 0)
            for words in (self._repeats_words, self._fits):
                words.setContentsMargins(look.px(12), 0, look.px(8), 0)
            self.tree.setIndentation(look.px(14))
            self.map.setContentsMargins(look.px(12), 0, look.px(8), look.px(8))
            metrics = self.table.fontMetrics()
            self.table.verticalHeader().setDefaultSectionSize(metrics.height() + look.px(6))
            for column, widest in enumerate(("⚠ 00,000", "0,000,000", "0,000,000", "−100.0%")):
                self.table.setColumnWidth(column, metrics.horizontalAdvance(widest) + look.px(16))

    # -- inputs

    def set_open(self, has_task: bool) -> None:
        """Whether a task with readable messages is open."""
        self._has_task = has_task
        self._settle()

    def set_counted(self, share: float) -> None:
        """How much of the task is counted, 0 to 1."""
        self._share = share
        if share < 1:
            self._settle()

    def set_answer(self, answer: Answer[Weighed]) -> None:
        """What is shown is made of this."""
        self.show_state(answer, "Looking where the tokens go…")
        if answer.working:
            return
        if answer.value is not self._weighed:
            before, self._weighed = self._weighed, answer.value
            self._show(before)
        self._settle()

    # -- inside

    def _settle(self) -> None:
        if not self._has_task:
            self.say(OPEN)
        elif self._share < 1:
            self.say(f"The messages are being counted: {self._share:.0%}. The tokens come with the last of them.")
        elif self._weighed is None:
            self.say("" if self.remark.words else "Looking where the tokens go…")
        else:
            self.show_page()
        self._turn(self._pages.current)

    def _show(self, before: Weighed | None) -> None:
        weighed = self._weighed
        if weighed is None:
            self.map.set_slices(())
            self.parts.show(())
            self.repeats.show_repeats(())
            self.checked.show(())
            return
        found = weighed.composition
        where = "The next request" if found.request is None else request_name(found.request).capitalize()
        if found.reported is not None:
            sent = f"{grouped(found.reported)} tokens reported"
        else:
            sent = f"about {grouped(found.total)} tokens"
        self._title.setText(f"{where} · {sent}")
        self._fit.setText(fit_words(weighed.fit))
        self._fit.setToolTip(f"{weighed.encoding}. System prompt and tools: {found.system_sentence}.")
        self._fits.setText("\n".join(f"{fit.sentence}." for fit in weighed.calibration.fits))
        self._cut()
        self.repeats.show_repeats(found.repeats)
        self.repeat_list.settle()
        many = len(found.repeats)
        self._pages.set_words(Page.REPEATS, f"Repeats {grouped(many)}")
        things = "thing is" if many == 1 else "things are"
        self._repeats_words.setText(
            f"{grouped(many)} {things} in it more than once; {grouped(found.spare)} estimated tokens are spare copies."
        )
        for widget in (self._repeats_words, self.repeat_list):
            widget.setVisible(many > 0)
        self._no_repeats.setVisible(not many)
        if before is None or before.reconciled != weighed.reconciled or before.calibration != weighed.calibration:
            self.checked.show(weighed.reconciled, weighed.calibration.residuals)
        odd = self.checked.odd
        self._pages.set_words(Page.FIT, f"Fit · {grouped(odd)} odd" if odd else "Fit")
        self._odd_words.setText(
            f"{counted(odd, 'request')} to look at" if odd else "Every request reports what its messages lead to expect"
        )
        self._only_odd.setEnabled(odd > 0 or self._only_odd.isChecked())
        if found.request is not None:
            row = self.checked.row_of(found.request)
            if row is not None:
                self.table.selectRow(row)
                self.table.scrollTo(self.checked.index(row, 0))

    def _cut(self, *_news: object) -> None:
        self._stale = {Page.MAP, Page.TABLE}
        self._fill()

    def _fill(self) -> None:
        """Bring what is seen up to date; the other one waits until it is turned to."""
        page = self._pages.current
        if self._weighed is None or page not in self._stale:
            return
        self._stale.discard(Page(page.value))
        made = slices(self._weighed.composition, By(str(self._by.currentData())))
        if page == Page.MAP:
            self.map.set_slices(made)
            return
        opened = {one.name for one in self._opened()}
        self.parts.show(made)
        for row, one in enumerate(made):
            if one.name in opened:
                self.tree.expand(self.parts.index(row, 0))

    def _opened(self) -> list[Slice]:
        """Slices whose rows are open."""
        rows = (self.parts.index(row, 0) for row in range(self.parts.rowCount()))
        found = (self.parts.slice_at(index) for index in rows if self.tree.isExpanded(index))
        return [one for one in found if one is not None]

    def _turn(self, page: object) -> None:
        self._fill()
        self._inner.setCurrentWidget(self._widgets[Page(str(page))])
        self._by.setVisible(page in {Page.MAP, Page.TABLE})

    def _slice_chosen(self, one: Slice) -> None:
        if one.messages:
            self.message_wanted.emit(one.messages[0])

    def _index_chosen(self, index: Index) -> None:
        one = self.parts.slice_at(index)
        if one is not None:
            self._slice_chosen(one)

    def _repeat_chosen(self, row: int) -> None:
        self.place_wanted.emit(self.repeats.item(row).places[-1])

    def _request_chosen(self, index: Index) -> None:
        self.request_wanted.emit(self.checked.request(index.row()))
