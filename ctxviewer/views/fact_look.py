"""How a pinned fact looks wherever it is drawn: letter, colour, pattern, and the strip along the requests."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPixmap

from ctxviewer.engine.spans import Span
from ctxviewer.models.tracked import Strip, letter
from ctxviewer.views import theme

LOOKS: Final = 6
"""So many colours and patterns there are."""


def fact_color(place: int) -> QColor:
    """The colour of a pinned fact."""
    return theme.current().color(f"fact_{place % LOOKS + 1}")


def fact_brush(place: int) -> QBrush:
    """Its colour in its pattern, on nothing."""
    look = theme.current()
    side = look.px(4 if look.doubles_patterns else 6)
    return QBrush(_tile(place % LOOKS, fact_color(place).rgba(), side))


@lru_cache(maxsize=64)
def _tile(pattern: int, rgba: int, side: int) -> QPixmap:
    tile = QPixmap(side, side)
    color = QColor.fromRgba(rgba)
    if pattern == 0:
        tile.fill(color)
        return tile
    tile.fill(Qt.GlobalColor.transparent)
    with QPainter(tile) as painter:
        painter.setPen(QPen(color, max(1.5, side / 3)))
        half, end = side / 2, float(side)
        if pattern in {1, 4}:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for shift in (-end, 0.0, end):
                up, down = (end + 1, -1.0) if pattern == 1 else (-1.0, end + 1)
                painter.drawLine(QPointF(shift - 1, up), QPointF(shift + end + 1, down))
        elif pattern == 2:
            painter.fillRect(QRectF(0, 0, half, end), color)
        elif pattern == 3:
            painter.fillRect(QRectF(0, 0, half, half), color)
            painter.fillRect(QRectF(half, half, half, half), color)
        else:
            painter.fillRect(QRectF(0, 0, end, half), color)
    return tile


def paint_chip(painter: QPainter, rect: QRect, place: int, *, hollow: bool = False) -> None:
    """The letter on the colour; `hollow` where the fact stands but is not sent: the letter in a frame."""
    look, color = theme.current(), fact_color(place)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1, Qt.PenStyle.DashLine) if hollow else Qt.PenStyle.NoPen)
    painter.setBrush(look.color("surface") if hollow else color)
    inner = QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5) if hollow else QRectF(rect)
    painter.drawRoundedRect(inner, look.px(4), look.px(4))
    painter.setPen(color if hollow else look.color("surface"))
    painter.setFont(look.ui_font(bold=True, size=11))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, letter(place))
    painter.restore()


def paint_strip(painter: QPainter, rect: QRectF, strip: Strip, first: float, last: float) -> None:
    """The strip for positions `first` to `last` (request k covers k to k + 1) on a rectangle.

    Sent whole: the full height in the pattern. In part: a frame, filled in its lower half. Not sent: a hairline.
    """
    if last <= first or rect.width() <= 0:
        return
    look, color = theme.current(), fact_color(strip.place)
    scale = rect.width() / (last - first)

    def box(span: Span) -> QRectF:
        left = max(rect.left(), rect.left() + (span[0] - first) * scale)
        right = min(rect.right(), rect.left() + (span[1] + 1 - first) * scale)
        return QRectF(round(left), rect.top(), max(2.0, round(right) - round(left)), rect.height())

    middle = round(rect.center().y()) + 0.5
    painter.save()
    painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(look.color("line"), 1))
    painter.drawLine(QPointF(rect.left(), middle), QPointF(rect.right(), middle))
    brush = fact_brush(strip.place)
    painter.setBrushOrigin(rect.topLeft())
    for span in _seen(strip.partly, first, last):
        area = box(span)
        painter.setPen(QPen(color, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.fillRect(QRectF(area.left(), area.center().y(), area.width(), area.height() / 2), brush)
    for span in _seen(strip.spans, first, last):
        area = box(span)
        painter.fillRect(area, look.color("surface"))
        painter.fillRect(area, brush)
        painter.setPen(QPen(color, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if area.width() > 2:
            painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5))
    painter.restore()


def _seen(spans: tuple[Span, ...], first: float, last: float) -> list[Span]:
    return [span for span in spans if span[1] + 1 > first and span[0] < last]
