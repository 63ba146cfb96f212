"""Names of the horizontal lines, to the right of the bars, moved apart where they would overlap."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ctxviewer.engine.words import short
from ctxviewer.models.numbers import grouped
from ctxviewer.views import theme
from ctxviewer.views.usage.dashes import curve_pen
from ctxviewer.views.usage.items import level_pens
from ctxviewer.views.usage.scale import spread
from ctxviewer.views.usage.state import Picture

LEADER = 10


class Gutter(QWidget):
    """Paints the labels; `set_box` tells where the bars stand."""

    def __init__(self, picture: Picture, parent: QWidget) -> None:
        super().__init__(parent)
        self._picture = picture
        self._top, self._bottom = 0.0, 1.0
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.restyle()

    def restyle(self) -> None:
        """Take the width that the longest label needs."""
        look = theme.current()
        metrics = QFontMetrics(look.ui_font(size=11))
        words = ["what-if 168k est.", *(f"{curve.label} 168k est." for curve in self._picture.curves)]
        words += [f"▲ {level.name} 168k" for level in self._picture.levels]
        widest = max(metrics.horizontalAdvance(one) for one in words)
        self.setFixedWidth(widest + look.px(LEADER + 6))

    def set_box(self, top: float, bottom: float) -> None:
        """Upper and lower edge of the bars in pixels of this widget."""
        if (top, bottom) != (self._top, self._bottom):
            self._top, self._bottom = top, bottom
            self.update()

    def labels(self) -> list[tuple[float, str, QPen]]:
        """Tokens, words and pen of each label, from the top down. Lines above the upper edge carry an arrow."""
        found = [(tokens, f"{name} {short(tokens)}", pen) for name, tokens, pen in level_pens(self._picture)]
        what_if = self._picture.what_if
        if what_if is not None and what_if.tokens is not None:
            pen = QPen(theme.current().color("accent"), 2, Qt.PenStyle.DashLine)
            found.append((what_if.tokens, f"what-if {short(what_if.tokens)} est.", pen))
        found += [
            (curve.last, f"{curve.label} {short(curve.last)} est.", curve_pen(curve.look))
            for curve in self._picture.curves
            if curve.last is not None
        ]
        found = [(t, f"▲ {words}" if t > self._picture.top else words, pen) for t, words, pen in found]
        return sorted(found, key=lambda label: -label[0])

    def refresh(self) -> None:
        """The picture changed."""
        lines = [f"{level.name} {grouped(level.tokens)} tokens: {level.meaning}" for level in self._picture.levels]
        what_if = self._picture.what_if
        if what_if is not None and what_if.tokens is not None:
            lines.append(f"what-if “{what_if.title}”: {grouped(what_if.tokens)} tokens estimated for the next request")
        lines += [
            f"replay of {curve.name}: {grouped(curve.last)} tokens estimated for the newest request"
            for curve in self._picture.curves
            if curve.last is not None
        ]
        self.setToolTip("\n".join(lines))
        self.restyle()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        look = theme.current()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), look.color("surface"))
            painter.setFont(look.ui_font(size=11))
            height = painter.fontMetrics().height()
            labels = self.labels()
            box = self._bottom - self._top
            exact = [self._top + box * (1 - min(max(tokens / self._picture.top, 0.0), 1.0)) for tokens, _, _ in labels]
            middles = spread(exact, height, min(self._top, 0.0), max(self._bottom, float(self.height())))
            leader = look.px(LEADER)
            for (tokens, words, pen), y, middle in zip(labels, exact, middles, strict=True):
                if tokens <= self._picture.top:
                    painter.setPen(pen)
                    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=round(y) != round(middle))
                    painter.drawLine(QLineF(0, round(y) + 0.5, leader - 2, round(middle) + 0.5))
                painter.setPen(QColor(pen.color()))
                painter.drawText(
                    QRectF(leader + 2, middle - height / 2, self.width() - leader - 2, height),
                    Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
                    words,
                )
