"""The list of steps: number, sentence, place, breakpoints. Short lists show whole sentences, long ones two lines."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ctxviewer.models.steps import StepRole, StepsModel, StepState
from ctxviewer.views import theme

Index = QModelIndex | QPersistentModelIndex
LINES = 2
"""Lines of a sentence in a list of more than `WHOLE` steps."""
WHOLE = 40
MOST_LINES = 8
"""Lines of a sentence in a shorter list."""
SIGNS = frozenset({int(StepRole.STATE), int(StepRole.STOP)})


class StepDelegate(QStyledItemDelegate):
    """Rows of a long list are all of one height, so that thousands of steps cost nothing."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """As many lines as the sentence needs, two in a long list."""
        look = theme.current()
        font = look.ui_font(size=12)
        height = QFontMetrics(font).height()
        lines = LINES
        if index.model().rowCount() <= WHOLE:
            view = option.widget
            across = view.viewport().width() if isinstance(view, QListView) else look.px(320)
            box = self._box(QRect(0, 0, across, height), index)
            lines = len(_lines(str(index.data()), font, box.width(), MOST_LINES))
        return QSize(look.px(120), lines * height + look.px(7))

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
        box = self._box(rect, index)
        metrics = QFontMetrics(look.ui_font(size=12))
        sign = QRect(rect.left() + look.px(8), box.top(), look.px(14), metrics.height())
        stop = index.data(StepRole.STOP)
        if stop:
            look.icon("break", "event").paint(painter, sign)
        elif state == StepState.CURRENT:
            look.icon("step", "accent").paint(painter, sign)
        elif state == StepState.DONE:
            look.icon("apply", "muted").paint(painter, sign)
        painter.setFont(look.ui_font(size=12))
        painter.setPen(look.color("muted"))
        left = sign.right() + look.px(5)
        number = QRect(left, box.top(), box.left() - look.px(8) - left, metrics.height())
        painter.drawText(
            number, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(index.data(StepRole.NUMBER))
        )
        ahead = state == StepState.AHEAD
        painter.setPen(look.color("muted" if ahead else "text"))
        most = LINES if index.model().rowCount() > WHOLE else MOST_LINES
        words = str(index.data())
        for place, line in enumerate(_lines(words, painter.font(), box.width(), most)):
            painter.drawText(QPoint(box.left(), box.top() + place * metrics.height() + metrics.ascent()), line)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(look.color("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        painter.restore()

    @staticmethod
    def _box(rect: QRect, index: Index) -> QRect:
        """Where the sentence stands in a row."""
        look = theme.current()
        digits = QFontMetrics(look.ui_font(size=12)).horizontalAdvance("0" * len(str(index.model().rowCount())))
        left = rect.left() + look.px(8) + look.px(14) + look.px(5) + digits + look.px(8)
        top = rect.top() + look.px(3)
        return QRect(left, top, rect.right() - left - look.px(6), rect.height())


def _lines(words: str, font: QFont, width: int, most: int) -> list[str]:
    """The sentence in lines of so many pixels; the last one ends with dots where the rest found no room."""
    layout = QTextLayout(words, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    lines: list[str] = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        start, end = line.textStart(), line.textStart() + line.textLength()
        if len(lines) == most - 1 and end < len(words):
            lines.append(QFontMetrics(font).elidedText(words[start:], Qt.TextElideMode.ElideRight, width))
            break
        lines.append(words[start:end])
    layout.endLayout()
    return lines or [""]


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
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._choose)
        model.modelReset.connect(self._fit_rows)
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

    def _fit_rows(self) -> None:
        self.setUniformItemSizes(self._steps.rowCount() > WHOLE)

    def _choose(self, index: QModelIndex) -> None:
        self.step_chosen.emit(index.row() + 1)

    def _restyle(self) -> None:
        self.doItemsLayout()
        self.viewport().update()
