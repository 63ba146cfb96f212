"""The list of steps: number, sentence on up to two lines, the place, breakpoints."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ctxviewer.models.steps import StepRole, StepsModel, StepState
from ctxviewer.views import theme

Index = QModelIndex | QPersistentModelIndex
LINES = 2
SIGNS = frozenset({int(StepRole.STATE), int(StepRole.STOP)})


class StepDelegate(QStyledItemDelegate):
    """All rows are of one height, so that thousands of steps cost nothing."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """Two lines."""
        look = theme.current()
        return QSize(look.px(120), LINES * QFontMetrics(look.ui_font(size=12)).height() + look.px(7))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Ground, sign of the place, number, sentence."""
        look = theme.current()
        rect: QRect = option.rect
        state = index.data(StepRole.STATE)
        painter.save()
        painter.setClipRect(rect)
        if state == StepState.CURRENT:
            painter.fillRect(rect, look.color("accent_ground"))
            painter.fillRect(QRect(rect.left(), rect.top(), look.px(3), rect.height()), look.color("accent"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, look.color("hover"))
        metrics = QFontMetrics(look.ui_font(size=12))
        top = rect.top() + look.px(3)
        side, pad = look.px(14), look.px(8)
        sign = QRect(rect.left() + pad, top, side, metrics.height())
        stop = index.data(StepRole.STOP)
        if stop:
            look.icon("break", "event").paint(painter, sign)
        elif state == StepState.CURRENT:
            look.icon("step", "accent").paint(painter, sign)
        elif state == StepState.DONE:
            look.icon("apply", "muted").paint(painter, sign)
        digits = metrics.horizontalAdvance("0" * len(str(index.model().rowCount())))
        painter.setFont(look.ui_font(size=12))
        painter.setPen(look.color("muted"))
        number = QRect(sign.right() + look.px(5), top, digits, metrics.height())
        painter.drawText(
            number, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(index.data(StepRole.NUMBER))
        )
        left = number.right() + look.px(9)
        ahead = state == StepState.AHEAD
        painter.setPen(look.color("muted" if ahead else "text"))
        self._sentence(painter, str(index.data()), QRect(left, top, rect.right() - left - look.px(6), rect.height()))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(look.color("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        painter.restore()

    @staticmethod
    def _sentence(painter: QPainter, words: str, box: QRect) -> None:
        """The sentence, the last line ended with dots where it must be."""
        font = painter.font()
        metrics = QFontMetrics(font)
        layout = QTextLayout(words, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        y = 0
        for number in range(LINES):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(box.width())
            end = line.textStart() + line.textLength()
            if number == LINES - 1 and end < len(words):
                rest = metrics.elidedText(words[line.textStart() :], Qt.TextElideMode.ElideRight, box.width())
                painter.drawText(QPoint(box.left(), box.top() + y + metrics.ascent()), rest)
                break
            line.draw(painter, QPointF(box.left(), box.top() + y))
            y += metrics.height()
        layout.endLayout()


class StepList(QListView):
    """Steps that are gone to by click, Enter or Return."""

    step_chosen = Signal(object)
    """int: after so many steps."""

    def __init__(self, model: StepsModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._steps = model
        self.setModel(model)
        self.setAccessibleName("Steps")
        self.setItemDelegate(StepDelegate(self))
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._choose)
        theme.current().changed.connect(self._restyle)

    def show_place(self) -> None:
        """Bring the step that was done last into view, with the next one."""
        done, count = self._steps.done, self._steps.rowCount()
        if count:
            self.scrollTo(self._steps.index(min(done, count - 1)))
            self.setCurrentIndex(self._steps.index(max(0, done - 1)))
            self.scrollTo(self.currentIndex())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What was in view stays in view."""
        super().resizeEvent(event)
        if event.size().height() != event.oldSize().height():
            self.show_place()

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        """Other signs need no other layout; Qt would lay out all rows anew."""
        if roles and SIGNS.issuperset(roles):
            self.viewport().update()
        else:
            super().dataChanged(first, last, list(roles))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter goes to the step."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.currentIndex().isValid():
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _choose(self, index: QModelIndex) -> None:
        self.step_chosen.emit(index.row() + 1)

    def _restyle(self) -> None:
        self.doItemsLayout()
        self.viewport().update()
