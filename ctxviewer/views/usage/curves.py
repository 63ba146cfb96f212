"""Paints the curves of replays over the bars: dashed, each in a colour and a pattern of its own, kept as a pixmap."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF

from ctxviewer.models.curves import polylines
from ctxviewer.views import theme
from ctxviewer.views.usage.dashes import curve_pen
from ctxviewer.views.usage.items import Layer
from ctxviewer.views.usage.scale import Span
from ctxviewer.views.usage.state import Picture


class CurvesLayer(Layer):
    """Between the bars and what is chosen."""

    def __init__(self, picture: Picture) -> None:
        super().__init__(picture)
        self._kept: QPixmap | None = None
        self._key: tuple[object, ...] = ()

    def forget(self) -> None:
        """The look changed."""
        self._key = ()

    def paint_pixels(self, painter: QPainter, rect: QRectF, span: Span) -> None:
        """Copy what was painted, or paint it anew."""
        if not self.picture.curves:
            return
        ratio = painter.device().devicePixelRatio()
        key = (self.picture.curves, self.picture.top, span, rect.width(), rect.height(), ratio)
        if (
            self._kept is None
            or len(key) != len(self._key)
            or any(one is not other and one != other for one, other in zip(key, self._key, strict=True))
        ):
            self._kept, self._key = self._render(rect, span, ratio), key
        painter.drawPixmap(rect.topLeft(), self._kept)

    def _render(self, rect: QRectF, span: Span, ratio: float) -> QPixmap:
        pixmap = QPixmap(round(rect.width() * ratio), round(rect.height() * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            halo = QColor(theme.current().color("surface"))
            halo.setAlphaF(0.55)
            local = QRectF(0, 0, rect.width(), rect.height())
            for curve in self.picture.curves:
                pen = curve_pen(curve.look)
                for x, tokens in polylines(curve, span.first, span.per_request, span.width):
                    points = [
                        QPointF(place, self.y_of(value, local))
                        for place, value in zip(x.tolist(), tokens.tolist(), strict=True)
                    ]
                    if len(points) == 1:
                        points = [points[0] - QPointF(4, 0), points[0] + QPointF(4, 0)]
                    line = QPolygonF(points)
                    for each in (QPen(halo, pen.widthF() + 2), pen):
                        painter.setPen(each)
                        painter.drawPolyline(line)
        return pixmap
