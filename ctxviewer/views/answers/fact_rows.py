"""The list of the pinned facts: letter, title, words and the strip along the requests."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ctxviewer.models.listing import ListingRole
from ctxviewer.models.tracked import FactRole, Strip
from ctxviewer.views import theme
from ctxviewer.views.answers.rows import paint_focus, paint_ground
from ctxviewer.views.details.rows import RowList
from ctxviewer.views.fact_look import paint_chip, paint_strip

Index = QModelIndex | QPersistentModelIndex


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
