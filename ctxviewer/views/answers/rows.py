"""A list whose rows have a title, a number at the right, and words below that may wrap. Decides nothing."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ctxviewer.models.listing import ListingRole
from ctxviewer.views import theme
from ctxviewer.views.details.rows import RowList

Index = QModelIndex | QPersistentModelIndex
MOST_WRAPPED: Final = 200
"""Longer lists have rows of one height, so that laying them out costs nothing."""
LINES: Final = 3
"""Lines of the second part at most."""


class WrappedRows(QStyledItemDelegate):
    """Paints a row of a Listing for an `AnswerList`."""

    def __init__(self, parent: AnswerList) -> None:
        super().__init__(parent)
        self._list = parent

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        """As high as its words need, or one height for all in long lists."""
        look = theme.current()
        title, small = QFontMetrics(look.ui_font()), QFontMetrics(look.ui_font(size=11))
        pad = look.px(8)
        if self._list.uniformItemSizes():
            return QSize(look.px(80), title.height() + small.height() + pad)
        if index.data(ListingRole.QUIET):
            return QSize(look.px(80), small.height() + pad)
        words = str(index.data(ListingRole.DETAIL) or "")
        lines = min(LINES, line_count(words, self._room())) if words else 0
        return QSize(look.px(80), title.height() + lines * small.lineSpacing() + pad)

    def _room(self) -> int:
        look = theme.current()
        return self._list.viewport().width() - look.px(10 + 16 + 8 + 8)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Ground, icon, words, number, and the focus ring."""
        look = theme.current()
        rect: QRect = option.rect
        painter.save()
        paint_ground(painter, option)
        quiet = bool(index.data(ListingRole.QUIET))
        side, pad, top = look.px(16), look.px(10), rect.top() + look.px(4)
        left = rect.left() + pad + side + look.px(8)
        right = rect.right() - look.px(8)
        title_font, small_font = look.ui_font(), look.ui_font(size=11)
        icon = index.data(ListingRole.ICON)
        if icon:
            size = look.px(12) if quiet else side
            where = QRect(rect.left() + pad + (side - size) // 2, top, size, size)
            look.icon(str(icon), str(index.data(ListingRole.TONE))).paint(painter, where)
        title, detail = str(index.data() or ""), str(index.data(ListingRole.DETAIL) or "")
        amount = str(index.data(ListingRole.AMOUNT) or "")
        font = small_font if quiet else title_font
        metrics = QFontMetrics(font)
        painter.setFont(font)
        if amount:
            width = metrics.horizontalAdvance(amount)
            painter.setPen(look.color("muted"))
            painter.drawText(QPoint(right - width, top + metrics.ascent()), amount)
            right -= width + look.px(8)
        painter.setPen(look.color("muted" if quiet else "text"))
        words = f"{title} · {detail}" if quiet and detail else title
        words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, right - left)
        painter.drawText(QPoint(left, top + metrics.ascent()), words)
        if detail and not quiet:
            painter.setPen(look.color("muted"))
            most = 1 if self._list.uniformItemSizes() else LINES
            room = rect.right() - look.px(8) - left
            paint_wrapped(painter, detail, QPoint(left, top + metrics.height()), room, most)
        paint_focus(painter, option)
        painter.restore()


def paint_ground(painter: QPainter, option: QStyleOptionViewItem) -> None:
    """The ground of a row that is chosen, or under the mouse."""
    look = theme.current()
    rect: QRect = option.rect
    if option.state & QStyle.StateFlag.State_Selected:
        painter.fillRect(rect, look.color("accent_ground"))
        painter.fillRect(QRect(rect.left(), rect.top(), look.px(3), rect.height()), look.color("accent"))
    elif option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(rect, look.color("hover"))


def paint_focus(painter: QPainter, option: QStyleOptionViewItem) -> None:
    """The ring of the row with the focus."""
    if option.state & QStyle.StateFlag.State_HasFocus:
        rect: QRect = option.rect
        painter.setPen(theme.current().color("accent"))
        painter.drawRect(rect.adjusted(0, 0, -1, -1))


def _laid_out(words: str, room: int) -> QTextLayout:
    layout = QTextLayout(words, theme.current().ui_font(size=11))
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    for _ in range(LINES + 1):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(max(1, room))
    layout.endLayout()
    return layout


def line_count(words: str, room: int) -> int:
    """How many lines the small font needs in so many pixels; LINES + 1 stands for more."""
    return _laid_out(words, room).lineCount()


def paint_wrapped(painter: QPainter, words: str, place: QPoint, room: int, most: int) -> None:
    """Words in the small font on at most so many lines, '…' where there are more."""
    look = theme.current()
    font = look.ui_font(size=11)
    metrics = QFontMetrics(font)
    painter.setFont(font)
    layout = _laid_out(words, room)
    shown = min(most, layout.lineCount())
    for number in range(shown):
        line = layout.lineAt(number)
        start = line.textStart()
        last = number == shown - 1 and layout.lineCount() > most
        text = words.encode("utf-16-le", "replace")[2 * start :]
        text = text if last else text[: 2 * line.textLength()]
        part = text.decode("utf-16-le", "replace")
        if last:
            part = metrics.elidedText(part, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPointF(place.x(), place.y() + number * metrics.lineSpacing() + metrics.ascent()), part)


class AnswerList(RowList):
    """Rows that wrap; chosen by click, Enter or Return."""

    removed = Signal(object)
    """int: the row whose removal is wanted, by Del."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(name, parent)
        self.setItemDelegate(WrappedRows(self))
        self.setUniformItemSizes(False)
        self.setResizeMode(QListView.ResizeMode.Adjust)

    def settle(self) -> None:
        """The rows are others: long lists get rows of one height."""
        count = self.model().rowCount() if self.model() is not None else 0
        self.setUniformItemSizes(count > MOST_WRAPPED)
        self.doItemsLayout()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width() and not self.uniformItemSizes():
            self.scheduleDelayedItemsLayout()
