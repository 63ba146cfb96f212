"""The strips of the pinned facts above the bars: in which requests each of them was sent."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from ctxviewer.models.listing import plain_tip
from ctxviewer.models.tracked import Strip
from ctxviewer.views import theme
from ctxviewer.views.fact_look import paint_chip, paint_strip
from ctxviewer.views.usage.scale import Span
from ctxviewer.views.usage.state import Picture

LANE = 12
"""Height of a lane at scale 1, with the gap below it."""


class Strips(QWidget):
    """One lane a fact, on the same horizontal scale as the bars below; no lane, no height."""

    position_clicked = Signal(object)
    """float: position in requests that was clicked."""

    def __init__(self, picture: Picture, parent: QWidget) -> None:
        super().__init__(parent)
        self._picture = picture
        self._span = Span(0, 1, 0, 1)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Pinned facts")

    def sizeHint(self) -> QSize:
        return QSize(100, self._lane_height() * len(self._picture.strips))

    def _lane_height(self) -> int:
        return theme.current().px(LANE)

    def set_span(self, span: Span) -> None:
        """Follow the bars."""
        if span != self._span:
            self._span = span
            self.update()

    def restyle(self) -> None:
        """Take heights and colours from the theme."""
        self.setFixedHeight(self.sizeHint().height())
        self.setVisible(bool(self._picture.strips))
        self.update()

    def refresh(self) -> None:
        """The facts are others."""
        self.setAccessibleDescription(". ".join(f"{strip.title}" for strip in self._picture.strips))
        self.restyle()

    def paintEvent(self, _event: QPaintEvent) -> None:
        look, span = theme.current(), self._span
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), look.color("surface"))
            lane, gap = self._lane_height(), look.px(2)
            selected = self._picture.selected
            if selected is not None:
                left, right = round(span.x(selected)), round(span.x(selected + 1))
                painter.fillRect(QRectF(left, 0, max(2, right - left), self.height()), look.color("accent_ground"))
            for number, strip in enumerate(self._picture.strips):
                top = number * lane
                side = lane - 1
                paint_chip(painter, QRect(round(span.left) - side - look.px(4), top, side, side), strip.place)
                box = QRectF(span.left, top, span.width, lane - gap)
                paint_strip(painter, box, strip, span.first, span.last)

    def column_at(self, point: QPointF) -> tuple[Strip, int] | None:
        """The fact and the column under a point."""
        number = int(point.y() // self._lane_height())
        if not 0 <= number < len(self._picture.strips) or not self._span.left <= point.x():
            return None
        strip = self._picture.strips[number]
        column = int(self._span.position(point.x()))
        return (strip, column) if 0 <= column <= strip.requests else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        found = self.column_at(event.position())
        if found is not None and event.button() is Qt.MouseButton.LeftButton:
            self.position_clicked.emit(found[1] + 0.5)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        found = self.column_at(event.position())
        self.setCursor(Qt.CursorShape.PointingHandCursor if found else Qt.CursorShape.ArrowCursor)
        if found is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(event.globalPosition().toPoint(), plain_tip(found[0].sentence(found[1])), self)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            found = self.column_at(QPointF(event.pos()))
            if found is not None:
                QToolTip.showText(event.globalPos(), plain_tip(found[0].sentence(found[1])), self)
                return True
        return super().event(event)
