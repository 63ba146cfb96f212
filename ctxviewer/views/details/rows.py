"""Lists of two-line rows: icon, title, and a quieter second line. Paints roles, decides nothing."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ctxviewer.models.listing import ListingRole
from ctxviewer.views import theme

Index = QModelIndex | QPersistentModelIndex


class TwoLines(QStyledItemDelegate):
    """Paints a row of a Listing."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """All rows are of one height."""
        look = theme.current()
        title, small = QFontMetrics(look.ui_font()), QFontMetrics(look.ui_font(size=11))
        return QSize(look.px(80), title.height() + small.height() + look.px(10))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Ground, icon, two lines, and the focus ring."""
        look = theme.current()
        rect: QRect = option.rect
        painter.save()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, look.color("accent_ground"))
            painter.fillRect(QRect(rect.left(), rect.top(), look.px(3), rect.height()), look.color("accent"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, look.color("hover"))
        side, pad, top = look.px(16), look.px(10), rect.top() + look.px(4)
        icon = index.data(ListingRole.ICON)
        if icon:
            where = QRect(rect.left() + pad, top, side, side)
            look.icon(str(icon), str(index.data(ListingRole.TONE))).paint(painter, where)
        left = rect.left() + pad + side + look.px(8)
        room = rect.right() - look.px(8) - left
        top = self._line(painter, index.data(), QRect(left, top, room, 0), "text", size=13)
        self._line(painter, index.data(ListingRole.DETAIL), QRect(left, top + look.px(1), room, 0), "muted", size=11)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(look.color("accent"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        painter.restore()

    def _line(self, painter: QPainter, words: object, box: QRect, color: str, size: int) -> int:
        """Paint one line at the top of `box`; where the next one begins."""
        look = theme.current()
        font = look.ui_font(size=size)
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(look.color(color))
        box = QRect(box.left(), box.top(), box.width(), metrics.height())
        text = metrics.elidedText(str(words or ""), Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        return box.bottom() + 1


class RowList(QListView):
    """A list whose rows are chosen by click, Enter or Return."""

    row_chosen = Signal(object)
    """int: the row."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setItemDelegate(TwoLines(self))
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._choose)
        theme.current().changed.connect(self._restyle)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.currentIndex().isValid():
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def current_row(self) -> int | None:
        """The row that is highlighted."""
        index = self.currentIndex()
        return index.row() if index.isValid() else None

    def _choose(self, index: QModelIndex) -> None:
        self.row_chosen.emit(index.row())

    def _restyle(self) -> None:
        self.doItemsLayout()
        self.viewport().update()
