"""Colours, icons and shortened words for painting, looked up once per theme."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QPainter, QPixmap, QTextCharFormat

from ctxviewer.domain.projection import Standing
from ctxviewer.models.segments import Style
from ctxviewer.views.theme import Theme

KEPT_WORDS = 4_000
KEPT_PIXMAPS = 500
KEPT_STRIPS = 64
_TEXT = {Standing.SENT: "text", Standing.NOT_SENT: "hidden_text", Standing.LATER: "later"}
_QUIET = {Standing.SENT: "muted", Standing.NOT_SENT: "hidden_text", Standing.LATER: "later"}


@dataclass(frozen=True, slots=True)
class SectionLook:
    """How the text of a section is set off, besides its words."""

    ground: QColor | None
    stripe: QColor | None
    sign: str


class Brush:
    """What painting needs of the theme in force. Made anew when the theme changes."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.color = theme.color
        self.px = theme.px
        self.hatch: QBrush = theme.hatch()
        self.marks = QTextCharFormat()
        self.marks.setForeground(theme.color("faint"))
        self.selected = QTextCharFormat()
        ground = QColor(theme.color("accent"))
        ground.setAlpha(90 if theme.is_dark else 64)
        self.selected.setBackground(ground)
        self.selection_fill = ground
        self.found = QTextCharFormat()
        self.found.setBackground(theme.color("found"))
        self.found_now = QTextCharFormat()
        self.found_now.setBackground(theme.color("accent"))
        self.found_now.setForeground(theme.color("on_accent"))
        self._pixmaps: dict[tuple[object, ...], QPixmap] = {}
        self._strips: OrderedDict[tuple[object, ...], QPixmap] = OrderedDict()
        self._words: dict[tuple[str, int, int], str] = {}
        self._looks = {
            Style.PLAIN: SectionLook(None, None, ""),
            Style.REWRITTEN: SectionLook(theme.color("rewritten_ground"), theme.color("rewritten"), ""),
            Style.REPAIRED: SectionLook(theme.color("repaired_ground"), theme.color("repaired"), ""),
            Style.REMOVED: SectionLook(theme.color("hidden_fill"), theme.color("repaired"), ""),
            Style.LEFT_OUT: SectionLook(theme.color("hidden_fill"), theme.color("event"), ""),
            Style.MADE_UP: SectionLook(theme.color("accent_ground"), theme.color("accent"), ""),
            Style.ADDED_LINES: SectionLook(theme.color("added_ground"), None, "+"),
            Style.DELETED_LINES: SectionLook(theme.color("removed_ground"), None, "−"),
        }

    def text(self, standing: Standing) -> QColor:
        """Colour of the words of a row."""
        return self.color(_TEXT[standing])

    def quiet(self, standing: Standing) -> QColor:
        """Colour of numbers and remarks of a row."""
        return self.color(_QUIET[standing])

    def look(self, style: Style) -> SectionLook:
        """How a section is set off."""
        return self._looks[style]

    def sign_color(self, style: Style) -> QColor:
        """Colour of + and −."""
        return self.color("added" if style is Style.ADDED_LINES else "removed")

    def hatched(self, painter: QPainter, rect: QRect, origin: int) -> None:
        """Fill with what stands for *not sent*; `origin` is the height at which the pattern begins."""
        painter.fillRect(rect, self.color("hidden_fill"))
        painter.setBrushOrigin(QPoint(0, origin))
        painter.fillRect(rect, self.hatch)

    def icon(self, painter: QPainter, name: str, color: str, rect: QRect) -> None:
        """Draw one of our icons, centred, as large as the smaller side of the rectangle."""
        size = min(rect.width(), rect.height())
        device = painter.device()
        ratio = device.devicePixelRatio() if device is not None else 1.0
        key = (name, color, size, ratio)
        if key not in self._pixmaps:
            self._pixmaps[key] = self.theme.icon(name, color).pixmap(QSize(size, size), ratio)
        x, y = rect.x() + (rect.width() - size) // 2, rect.y() + (rect.height() - size) // 2
        painter.drawPixmap(x, y, self._pixmaps[key])

    def pixmap(self, key: tuple[object, ...], width: int, height: int, draw: Callable[[QPainter], None]) -> QPixmap:
        """Something that is painted often, drawn once; the last item of `key` is the ratio of device pixels."""
        found = self._pixmaps.get(key)
        if found is None:
            if len(self._pixmaps) >= KEPT_PIXMAPS:
                self._pixmaps.clear()
            ratio = key[-1] if isinstance(key[-1], float) else 1.0
            found = QPixmap(QSize(width, height) * ratio)
            found.setDevicePixelRatio(ratio)
            found.fill(Qt.GlobalColor.transparent)
            with QPainter(found) as inner:
                draw(inner)
            self._pixmaps[key] = found
        return found

    def strip(
        self, painter: QPainter, key: tuple[object, ...], rect: QRect, draw: Callable[[QPainter, QRect], None]
    ) -> None:
        """Paint something opaque that is as wide as the view; of the last ones, what was drawn is kept."""
        device = painter.device()
        ratio = device.devicePixelRatio() if device is not None else 1.0
        key = (*key, rect.width(), rect.height(), ratio)
        found = self._strips.get(key)
        if found is None:
            found = QPixmap(rect.size() * ratio)
            found.setDevicePixelRatio(ratio)
            found.fill(self.color("surface"))
            with QPainter(found) as inner:
                draw(inner, QRect(0, 0, rect.width(), rect.height()))
            self._strips[key] = found
            if len(self._strips) > KEPT_STRIPS:
                self._strips.popitem(last=False)
        else:
            self._strips.move_to_end(key)
        painter.drawPixmap(rect.topLeft(), found)

    def short(self, words: str, metrics: QFontMetrics, width: int, font: QFont) -> str:
        """The words, ended with '…' where they are wider than `width`."""
        key = (words, width, font.weight() * 100 + font.pixelSize())
        found = self._words.get(key)
        if found is None:
            if len(self._words) >= KEPT_WORDS:
                self._words.clear()
            found = self._words[key] = metrics.elidedText(words, Qt.TextElideMode.ElideRight, max(0, width))
        return found
