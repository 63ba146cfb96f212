"""Strategies side by side: a table that sorts, copies, previews, and hands the agent's own rules to the preview."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QPushButton,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionFocusRect,
    QStyleOptionViewItem,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.engine.matrix import COLUMNS, Matrix, Row, as_csv, as_markdown
from ctxviewer.engine.words import request_name
from ctxviewer.models.matrix_table import MatrixModel, MatrixProxy, MatrixRole
from ctxviewer.models.numbers import counted, grouped
from ctxviewer.services.answers.inquiry import Answer
from ctxviewer.views import theme
from ctxviewer.views.answers.parts import Remark
from ctxviewer.views.dialogs.parts import plain_label
from ctxviewer.views.empty import EmptyState

Index = QModelIndex | QPersistentModelIndex
WIDEST_NOTE = 420
FONT = 12
HINT = "A click or Enter previews a strategy in the conversation."


class CellDelegate(QStyledItemDelegate):
    """Words in the tone that the model says."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The style's ground and frame, our words: asking the model for icons and the like took most of the time."""
        look, widget, rect = theme.current(), option.widget, option.rect
        style = widget.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, widget)
        pad = look.px(6)
        words = option.fontMetrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, rect.width() - 2 * pad)
        painter.setFont(option.font)
        painter.setPen(look.color(str(index.data(MatrixRole.TONE) or "text")))
        alignment = index.data(Qt.ItemDataRole.TextAlignmentRole)
        painter.drawText(rect.adjusted(pad, 0, -pad, 0), int(alignment), words)
        if option.state & QStyle.StateFlag.State_HasFocus:
            frame = QStyleOptionFocusRect()
            frame.initFrom(widget)
            frame.rect = rect
            style.drawPrimitive(QStyle.PrimitiveElement.PE_FrameFocusRect, frame, painter, widget)


class MatrixTable(QTableView):
    """Rows are chosen by click, Enter or Return."""

    row_chosen = Signal(object)
    """Row of the engine."""

    def __init__(self, proxy: MatrixProxy, parent: QWidget) -> None:
        super().__init__(parent)
        self.setModel(proxy)
        self.setItemDelegate(CellDelegate(self))
        self.setAccessibleName("Strategies side by side")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setMinimumSectionSize(16)
        header.sortIndicatorChanged.connect(self._refit)
        self.clicked.connect(self._choose)

    def fit(self) -> None:
        """Columns as wide as what is in them."""
        look = theme.current()
        font = look.ui_font(size=FONT)
        self.setFont(font)
        self.horizontalHeader().setFont(font)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + look.px(7))
        model, header = self.model(), self.horizontalHeader()
        metrics, titles = self.fontMetrics(), header.fontMetrics()
        for place, column in enumerate(self._columns()):
            title = str(model.headerData(place, Qt.Orientation.Horizontal) or "")
            arrow = look.px(16) if header.sortIndicatorSection() == place else 0
            widest = titles.horizontalAdvance(title) + look.px(14) + arrow
            for row in range(model.rowCount()):
                words = str(model.index(row, place).data() or "")
                widest = max(widest, metrics.horizontalAdvance(words) + look.px(18))
            if column == "strategy":
                widest = min(widest, max(look.px(150), self.viewport().width() * 2 // 5))
            elif column == "note":
                widest = min(widest, look.px(WIDEST_NOTE))
            self.setColumnWidth(place, widest)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The first column takes a part of the width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def _refit(self, _section: int, _order: object) -> None:
        self.fit()

    def _columns(self) -> list[str]:
        proxy = self.model()
        return [column.key for column in proxy.columns()] if isinstance(proxy, MatrixProxy) else []

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter previews."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.currentIndex().isValid():
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _choose(self, index: QModelIndex) -> None:
        row = index.data(MatrixRole.ROW)
        if isinstance(row, Row):
            self.row_chosen.emit(row)


class ComparePage(QWidget):
    """Shows the newest comparison; the one before stays until it is there."""

    preview_wanted = Signal(object)
    """Row: look at what it would send."""
    apply_wanted = Signal(object)
    """Row: open the preview from which it can be written."""
    copy_wanted = Signal(object)
    """str."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._working = False
        self.model = MatrixModel(self)
        self.proxy = MatrixProxy(self)
        self.proxy.setSourceModel(self.model)
        self._words = plain_label("", "muted", self)
        self._different = QCheckBox("different only", self)
        self._different.setToolTip("Leave out the columns in which all strategies are the same")
        self._different.toggled.connect(self._set_different)
        self._copy = QToolButton(self)
        self._copy.setText("Copy ▾")
        self._copy.setAccessibleName("Copy the table")
        self._copy.setToolTip("Copy the table as it is shown, sorted and with these columns")
        self._copy.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self._copy)
        menu.addAction("as Markdown").setData("markdown")
        menu.addAction("as CSV").setData("csv")
        menu.triggered.connect(self._copy_as)
        self._copy.setMenu(menu)
        self._top = QHBoxLayout()
        self._top.addWidget(self._different)
        self._top.addStretch(1)
        self._top.addWidget(self._copy)
        self.table = MatrixTable(self.proxy, self)
        self.table.row_chosen.connect(self._preview)
        self.table.selectionModel().selectionChanged.connect(self._settle)
        self.remark = Remark(self)
        self.empty = EmptyState(parent=self)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.table)
        self._apply = QPushButton("Apply…", self)
        self._apply.clicked.connect(self._apply_row)
        self._hint = plain_label("", "muted", self)
        self._foot = QHBoxLayout()
        self._foot.addWidget(self._hint, 1)
        self._foot.addWidget(self._apply)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self._words)
        self._column.addLayout(self._top)
        self._column.addWidget(self._stack, 1)
        self._column.addWidget(self.remark)
        self._column.addLayout(self._foot)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self.show_answer(Answer())

    @property
    def words(self) -> str:
        """What is compared, in a sentence."""
        return self._words.text()

    @property
    def apply_button(self) -> QPushButton:
        """Hands a row of the agent's own rules to the preview."""
        return self._apply

    def show_answer(self, answer: Answer[Matrix]) -> None:
        """Show a comparison, or why there is none."""
        found = answer.value
        if found is not self.model.matrix:
            self._take(found)
        self._working = answer.working
        if answer.error is not None:
            self.remark.say_error(answer.error)
        else:  # beside a table the line below says it, so that nothing moves
            self.remark.say("Comparing…" if answer.working and found is None else "", "reload")
        self._stack.setCurrentWidget(self.table if found is not None else self.empty)
        for widget in (self._different, self._copy, self._apply, self._hint, self._words):
            widget.setVisible(found is not None)
        self._settle()

    def say(self, sentence: str) -> None:
        """What stands in the table's place while there is none."""
        self.empty.set_words(sentence, "", "compare")

    def set_different_only(self, on: bool) -> None:
        """As the user ticks it."""
        self._different.setChecked(on)

    # -- inside

    def _take(self, found: Matrix | None) -> None:
        chosen = self._chosen()
        self.model.set_matrix(found)
        self.proxy.refresh()
        if found is not None:
            self._words.setText(_measured(found))
            self.table.fit()
            if chosen is not None:
                self._choose(chosen.choice.strategy.key)

    def _chosen(self) -> Row | None:
        chosen = self.table.selectionModel().selectedRows()
        row = chosen[0].data(MatrixRole.ROW) if chosen else None
        return row if isinstance(row, Row) else None

    def _choose(self, key: str) -> None:
        """Keep the chosen strategy chosen, without looking at it anew."""
        for place in range(self.proxy.rowCount()):
            index = self.proxy.index(place, 0)
            row = index.data(MatrixRole.ROW)
            if isinstance(row, Row) and row.choice.strategy.key == key:
                flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
                self.table.selectionModel().setCurrentIndex(index, flags)

    def _set_different(self, on: bool) -> None:
        self.proxy.set_different_only(on)
        self.table.fit()

    def _copy_as(self, action: object) -> None:
        found = self.model.matrix
        if found is not None:
            make = as_csv if action.data() == "csv" else as_markdown  # type: ignore[attr-defined]
            self.copy_wanted.emit(make(found, self.proxy.rows(), self.proxy.columns()))

    def _preview(self, row: Row) -> None:
        if row.plan is not None:
            self.preview_wanted.emit(row)

    def _apply_row(self, _checked: bool = False) -> None:
        row = self._chosen()
        if row is not None and row.can_apply:
            self.apply_wanted.emit(row)

    def _settle(self, *_news: object) -> None:
        row = self._chosen()
        why = _no_apply(row)
        self._apply.setEnabled(not why)
        self._apply.setToolTip(why or "Show what would be written, and apply it from there")
        if self._working:
            self._hint.setText("Comparing…")
        else:
            self._hint.setText(HINT if row is None else _loss(row))

    def _restyle(self) -> None:
        look = theme.current()
        self._column.setSpacing(look.px(4))
        self._top.setSpacing(look.px(8))
        self._foot.setSpacing(look.px(8))
        self.table.fit()


def _measured(found: Matrix) -> str:
    where = "the next request" if found.request is None else request_name(found.request)
    return (
        f"Before {where}: {grouped(found.tokens_before)} tokens estimated, {counted(found.messages_before, 'message')}"
        f" · window {grouped(found.window.window)}, limit {grouped(found.window.limit)}"
    )


def _no_apply(row: Row | None) -> str:
    """Why a row cannot be applied; '' when it can."""
    if row is None:
        return "Choose a strategy in the table first."
    if row.plan is None:
        return row.problem
    if row.plan.refusal:
        return row.plan.refusal
    return "It changes nothing." if row.plan.effects.writes_nothing else ""


def _loss(row: Row) -> str:
    """What choosing it would mean, in a line."""
    if row.problem:
        return row.problem
    text = {column.key: column.text(row) for column in COLUMNS}
    parts = [f"{text['saved']} tokens saved"]
    if row.messages_lost:
        parts.append(f"{counted(row.messages_lost, 'message')} lost")
    if row.files_lost:
        parts.append(f"{counted(len(row.files_lost), 'file')} lost")
    if row.first_pair_lost:
        parts.append("the task itself is touched")
    if row.instructions_lost:
        parts.append(f"{counted(len(row.instructions_lost), 'message')} of the user lost")
    if not row.fits:
        parts.append("does not fit the window")
    return f"{row.name}: {', '.join(parts)}"
