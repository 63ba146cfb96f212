"""Painting of messages that rules made up: a dashed frame, a sign and words say that nothing of it is stored."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from ctxviewer.models.made_up import MadeUp
from ctxviewer.views.conversation.brush import Brush
from ctxviewer.views.conversation.headers import paint_touched
from ctxviewer.views.conversation.leads import Strip, StripKind
from ctxviewer.views.conversation.metrics import Metrics

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class MadeUpPainting:
    """Paints the strips of one view."""

    def __init__(self, painter: QPainter, brush: Brush, metrics: Metrics, clip: QRect) -> None:
        self._painter, self._brush, self._metrics, self._clip = painter, brush, metrics, clip

    def paint(self, strip: Strip, y: int, *, whole: bool, hovered: bool, touched: bool) -> None:
        """Paint a strip whose top is at `y`."""
        if strip.made is None or y > self._clip.bottom() or y + strip.height <= self._clip.top():
            return
        self._ground(strip, y)
        match strip.kind:
            case StripKind.TITLE:
                self._title(strip.made, QRect(0, y, self._metrics.width, strip.height), touched=touched)
            case StripKind.TEXT if strip.piece is not None:
                self._painter.setPen(self._brush.color("text"))
                place = QPointF(self._metrics.text_x, y)
                strip.piece.layout.draw(self._painter, place, [], QRectF(self._clip))
            case StripKind.MORE:
                self._more(strip.made, y, whole=whole, hovered=hovered)
            case _:
                pass

    def _ground(self, strip: Strip, y: int) -> None:
        brush, metrics, painter = self._brush, self._metrics, self._painter
        rect = QRect(metrics.chip_x, y, metrics.width - metrics.chip_x, strip.height)
        painter.fillRect(rect, brush.color("accent_ground"))
        pen = QPen(brush.color("accent"), metrics.stripe)
        pen.setDashPattern([1.5, 1.0])
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        x = metrics.chip_x + metrics.stripe // 2
        painter.drawLine(QPoint(x, y), QPoint(x, y + strip.height))
        if strip.kind is StripKind.TITLE:
            painter.setPen(QPen(brush.color("accent"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPoint(metrics.chip_x, y), QPoint(metrics.width, y))

    def _title(self, made: MadeUp, rect: QRect, *, touched: bool) -> None:
        brush, metrics, painter = self._brush, self._metrics, self._painter
        side = brush.px(16)
        brush.icon(
            painter, "made-up", "accent", QRect(metrics.chip_x - brush.px(8) - side, rect.y(), side, rect.height())
        )
        x, room = metrics.text_x, metrics.width - metrics.text_x - metrics.margin
        painter.setFont(metrics.bold_font)
        painter.setPen(brush.color("accent"))
        name = brush.short(f"made up: {made.title}", metrics.bold, room, metrics.bold_font)
        painter.drawText(QRect(x, rect.y(), room, rect.height()), _LEFT, name)
        used = metrics.bold.horizontalAdvance(name)
        x, room = x + used, room - used
        if touched:
            width = paint_touched(painter, brush, metrics, (x + brush.px(8), rect.y()), room - brush.px(8))
            x, room = x + width + brush.px(8), room - width - brush.px(8)
        painter.setFont(metrics.ui_font)
        painter.setPen(brush.color("muted"))
        words = brush.short(f" · sent as {made.role or 'no role'}, stored nowhere", metrics.ui, room, metrics.ui_font)
        painter.drawText(QRect(x, rect.y(), room, rect.height()), _LEFT, words)

    def _more(self, made: MadeUp, y: int, *, whole: bool, hovered: bool) -> None:
        brush, metrics, painter = self._brush, self._metrics, self._painter
        words = "show less" if whole else f"show all · {made.section.hidden_amount}"
        x, height = metrics.text_x, metrics.caption
        icon = "up" if whole else "down"
        brush.icon(painter, icon, "accent", QRect(x - brush.px(2), y, brush.px(14), height))
        x += brush.px(16)
        painter.setFont(metrics.small_font)
        painter.setPen(brush.color("accent"))
        painter.drawText(QRect(x, y, metrics.width - x, height), _LEFT, words)
        if hovered:
            low = y + height // 2 + metrics.small.ascent() // 2 + 1
            painter.drawLine(x, low, x + metrics.small.horizontalAdvance(words), low)
