"""The two layers inside the plot: bars with their lines, kept as a pixmap, and the overlay of what is chosen."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from ctxviewer.domain.request import RequestState
from ctxviewer.models.marks import Mark, groups
from ctxviewer.models.usage import MOST_BUCKETS, columns
from ctxviewer.views import theme
from ctxviewer.views.usage.bars import bars_image
from ctxviewer.views.usage.scale import Span, token_ticks
from ctxviewer.views.usage.state import Picture

RANGE_MARKS = frozenset({Mark.TRUNCATE, Mark.CONDENSE, Mark.ROLLBACK})


class Layer(QGraphicsItem):
    """Paints in pixels of the view box instead of requests and tokens, so that lines and patterns stay crisp."""

    def __init__(self, picture: Picture) -> None:
        super().__init__()
        self.picture = picture
        self._extent = QRectF(0, 0, 1, 1)

    def set_extent(self, end: float, top: float) -> None:
        """Cover positions 0 … `end` and tokens 0 … `top`. Not more: Qt drops items beyond 2³¹ pixels silently."""
        self.prepareGeometryChange()
        self._extent = QRectF(0, 0, end, top)

    def boundingRect(self) -> QRectF:
        return self._extent

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        transform = painter.worldTransform()
        box = self.box(transform)
        if box is None:
            return
        rect, span = box
        painter.save()
        painter.resetTransform()
        painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
        self.paint_pixels(painter, rect, span)
        painter.restore()

    def box(self, transform: QTransform) -> tuple[QRectF, Span] | None:
        """The rectangle of the view box in pixels and what is visible in it; None while it has no size."""
        rect = self.parentItem().parentItem().sceneBoundingRect()
        if rect.width() < 2 or rect.height() < 2 or transform.m11() <= 0:
            return None
        first = (rect.left() - transform.dx()) / transform.m11()
        last = (rect.right() - transform.dx()) / transform.m11()
        return rect, Span(first, last, rect.left(), rect.width())

    def y_of(self, tokens: float, rect: QRectF) -> float:
        """Pixel of a number of tokens; at most one height outside: Qt would dash a line of 1e20 pixels for ever."""
        share = min(max(tokens / self.picture.top, -1.0), 2.0)
        return rect.bottom() - share * rect.height()

    def paint_pixels(self, painter: QPainter, rect: QRectF, span: Span) -> None:
        """Paint `span` on `rect`."""
        raise NotImplementedError


class BarsLayer(Layer):
    """Grid, stems of events, bars. Painted once per view, else copied."""

    def __init__(self, picture: Picture) -> None:
        super().__init__(picture)
        self._kept: QPixmap | None = None
        self._key: tuple[object, ...] = ()

    def forget(self) -> None:
        """The look changed."""
        self._key = ()

    def paint_pixels(self, painter: QPainter, rect: QRectF, span: Span) -> None:
        ratio = painter.device().devicePixelRatio()
        key = (self.picture.version, self.picture.top, span, rect.width(), rect.height(), ratio)
        if key != self._key or self._kept is None:
            self._kept = self._render(rect, span, ratio)
            self._key = key
        painter.drawPixmap(rect.topLeft(), self._kept)

    def _render(self, rect: QRectF, span: Span, ratio: float) -> QPixmap:
        size = (round(rect.width() * ratio), round(rect.height() * ratio))
        pixmap = QPixmap(*size)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        local = QRectF(0, 0, rect.width(), rect.height())
        inner = Span(span.first, span.last, 0, span.width)
        with QPainter(pixmap) as painter:
            self._grid(painter, local)
            self._stems(painter, local, inner)
            shown = columns(self.picture.stacks, span.first, span.last, min(MOST_BUCKETS, size[0]))
            image = bars_image(shown, span.first, span.last, self.picture.top, size, theme.current())
            image.setDevicePixelRatio(ratio)
            painter.drawImage(QPointF(0, 0), image)
            self._silent(painter, local, inner)
        return pixmap

    def _grid(self, painter: QPainter, rect: QRectF) -> None:
        look = theme.current()
        painter.setPen(QPen(look.color("hidden_hatch"), 1))
        for tokens, _ in token_ticks(self.picture.top, rect.height(), look.px(26)):
            y = round(self.y_of(tokens, rect)) - 0.5
            painter.drawLine(QLineF(0, y, rect.width(), y))

    def _stems(self, painter: QPainter, rect: QRectF, span: Span) -> None:
        color = QColor(theme.current().color("event"))
        pen = QPen(color, 1, Qt.PenStyle.DotLine)
        painter.setPen(pen)
        for group in groups(self.picture.events, span.first, span.per_request, span.width, theme.current().px(15)):
            if not RANGE_MARKS.isdisjoint(group.shown):
                x = round(group.x) + 0.5
                painter.drawLine(QLineF(x, 0, x, rect.bottom()))

    def _silent(self, painter: QPainter, rect: QRectF, span: Span) -> None:
        """Requests without numbers: an empty box on the ground line, crossed when they failed."""
        pitch = span.per_request
        if pitch < 5:
            return
        stacks = self.picture.stacks
        low, high = max(0, int(span.first)), min(len(stacks), int(span.last) + 1)
        width = min(pitch * 0.8, 14.0)
        look = theme.current()
        for number in range(low, high):
            if stacks.known[number]:
                continue
            failed = stacks.requests[number].state is RequestState.FAILED
            painter.setPen(QPen(look.color("error" if failed else "muted"), 1))
            box = QRectF(round(span.x(number + 0.5) - width / 2) + 0.5, rect.bottom() - 6.5, round(width), 6)
            painter.drawRect(box)
            if failed:
                painter.drawLine(box.topLeft(), box.bottomRight())
                painter.drawLine(box.bottomLeft(), box.topRight())


def level_pens(picture: Picture) -> list[tuple[str, float, QPen]]:
    """Name, tokens and pen of each line: window full, limit strong, the condense threshold dashed."""
    look = theme.current()
    pens = (
        QPen(look.color("text"), 1),
        QPen(look.color("event"), 2 if look.doubles_patterns else 1.4),
        QPen(look.color("muted"), 1, Qt.PenStyle.DashLine),
    )
    return [(level.name, level.tokens, pen) for level, pen in zip(picture.levels, pens, strict=False)]


class OverlayLayer(Layer):
    """What is chosen, what comes later, what lies under the mouse, the lines, and the estimate of a what-if.

    Cheap to repaint: nothing here looks at all requests.
    """

    def paint_pixels(self, painter: QPainter, rect: QRectF, span: Span) -> None:
        self._lost(painter, rect, span)
        self._later(painter, rect, span)
        self._lines(painter, rect)
        self._hovered(painter, rect, span)
        self._selected(painter, rect, span)
        self._what_if(painter, rect, span)

    def _later(self, painter: QPainter, rect: QRectF, span: Span) -> None:
        selected = self.picture.selected
        if selected is None or selected + 1 >= len(self.picture.stacks):
            return
        left, right = span.x(selected + 1), span.x(len(self.picture.stacks))
        left, right = max(rect.left(), left), min(rect.right(), right)
        if right - left < 1:
            return
        look = theme.current()
        veil = QColor(look.color("surface"))
        veil.setAlphaF(0.66)
        painter.fillRect(QRectF(left, rect.top(), right - left, rect.height()), veil)
        painter.setFont(look.ui_font(size=11))
        words = f"later than request {selected + 1:,}"
        room = painter.fontMetrics().horizontalAdvance(words) + look.px(12)
        if right - left >= room:
            height = painter.fontMetrics().height()
            plate = QRectF(left + look.px(4), rect.bottom() - height - look.px(4), room - look.px(4), height)
            painter.fillRect(plate, look.color("surface"))
            painter.setPen(look.color("muted"))
            painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, words)

    def _lines(self, painter: QPainter, rect: QRectF) -> None:
        for _, tokens, pen in level_pens(self.picture):
            if tokens <= self.picture.top:
                painter.setPen(pen)
                y = round(self.y_of(tokens, rect)) + 0.5
                painter.drawLine(QLineF(rect.left(), y, rect.right(), y))

    def _column(self, number: int, rect: QRectF, span: Span) -> QRectF:
        left, right = round(span.x(number)), round(span.x(number + 1))
        if right - left < 2:
            left, right = round(span.x(number + 0.5)) - 1, round(span.x(number + 0.5)) + 1
        return QRectF(left, rect.top(), right - left, rect.height())

    def _hovered(self, painter: QPainter, rect: QRectF, span: Span) -> None:
        number = self.picture.hovered
        if number is None or number == self.picture.selected:
            return
        tint = QColor(theme.current().color("text"))
        tint.setAlphaF(0.10)
        painter.fillRect(self._column(number, rect, span), tint)

    def _selected(self, painter: QPainter, rect: QRectF, span: Span) -> None:
        number = self.picture.selected
        if number is None or not 0 <= number < len(self.picture.stacks):
            return
        accent = theme.current().color("accent")
        column = self._column(number, rect, span)
        if column.width() >= 6:
            tint = QColor(accent)
            tint.setAlphaF(0.12)
            painter.fillRect(column, tint)
            painter.setPen(QPen(accent, 1.5))
            painter.drawLine(QLineF(column.left(), rect.top(), column.left(), rect.bottom()))
            painter.drawLine(QLineF(column.right(), rect.top(), column.right(), rect.bottom()))
            painter.fillRect(QRectF(column.left(), rect.bottom() - 3, column.width(), 3), accent)
        else:
            painter.fillRect(QRectF(column.center().x() - 1, rect.top(), 2, rect.height()), accent)

    def _lost(self, painter: QPainter, rect: QRectF, span: Span) -> None:
        what_if = self.picture.what_if
        if what_if is None or not len(what_if.lost):
            return
        look = theme.current()
        left, right = max(rect.left(), span.x(what_if.lost.start)), min(rect.right(), span.x(what_if.lost.stop))
        if right > left:
            area = QRectF(left, rect.top(), right - left, rect.height())
            veil = QColor(look.color("hidden_fill"))
            veil.setAlphaF(0.6)
            painter.fillRect(area, veil)
            painter.fillRect(area, look.hatch())

    def _what_if(self, painter: QPainter, rect: QRectF, span: Span) -> None:
        what_if = self.picture.what_if
        if what_if is None or what_if.tokens is None:
            return
        look = theme.current()
        y = round(self.y_of(min(max(what_if.tokens, 0), self.picture.top), rect)) + 0.5
        painter.setPen(QPen(look.color("accent"), 2, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(rect.left(), y, rect.right(), y))
        left, right = span.x(what_if.at + 0.1), span.x(what_if.at + 0.9)
        if right - left >= 4:
            tint = QColor(look.color("accent"))
            tint.setAlphaF(0.15)
            box = QRectF(round(left) + 0.5, y, round(right - left), rect.bottom() - y)
            painter.fillRect(box, tint)
            painter.drawRect(box)
