"""The two lanes of marks above the bars: events, and checkpoints below them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QToolTip, QWidget

from ctxviewer.models.listing import plain_tip
from ctxviewer.models.marks import Group, Lane, Mark, group_sentence, groups
from ctxviewer.views import theme
from ctxviewer.views.usage.scale import Span
from ctxviewer.views.usage.state import Picture

ICONS = {
    Mark.TRUNCATE: ("truncate", "event"),
    Mark.CONDENSE: ("condense", "event"),
    Mark.ROLLBACK: ("rollback", "accent"),
    Mark.OPTIMIZE: ("optimize", "rewritten"),
    Mark.CHECKPOINT: ("checkpoint", "muted"),
}
GLYPH = 15
"""Width of a mark at scale 1; also the height of a lane."""


class Lanes(QWidget):
    """Paints marks at their requests; the same horizontal scale as the bars below."""

    position_clicked = Signal(object)
    """float: position in requests of the mark that was clicked."""

    def __init__(self, picture: Picture, parent: QWidget) -> None:
        super().__init__(parent)
        self._picture = picture
        self._span = Span(0, 1, 0, 1)
        self._glyphs: dict[tuple[str, str, int], QPixmap] = {}
        self._groups: dict[int, tuple[Lane, Span, int, tuple[Group, ...]]] = {}
        self._sheet: tuple[tuple[object, ...], QPixmap] | None = None
        """All marks as drawn last, and what they were drawn for: a new selection does not draw them anew."""
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Events and checkpoints")

    def sizeHint(self) -> QSize:
        return QSize(100, 2 * theme.current().px(GLYPH))

    def set_span(self, span: Span) -> None:
        """Follow the bars."""
        if span != self._span:
            self._span = span
            self.update()

    def rows(self) -> tuple[tuple[Lane, float], ...]:
        """The lanes and their tops in pixels."""
        return ((self._picture.events, 0.0), (self._picture.checkpoints, float(theme.current().px(GLYPH))))

    def groups(self, lane: Lane) -> tuple[Group, ...]:
        """The marks of a lane as they are drawn; x counted from the left end of the bars."""
        span, side = self._span, theme.current().px(GLYPH)
        known = self._groups.get(id(lane))
        if known is None or known[0] is not lane or known[1:3] != (span, side):
            made = groups(lane, span.first, span.per_request, span.width, side)
            self._groups = {key: entry for key, entry in self._groups.items() if entry[1] == span}
            known = self._groups[id(lane)] = (lane, span, side, made)
        return known[3]

    def paintEvent(self, _event: QPaintEvent) -> None:
        look = theme.current()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), look.color("surface"))
            side = look.px(GLYPH)
            painter.setClipRect(QRectF(self._span.left - side / 2, 0, self._span.width + side, self.height()))
            self._mark_selection(painter)
            painter.drawPixmap(QPointF(0, 0), self._marks())

    def _marks(self) -> QPixmap:
        """All marks on a clear ground."""
        ratio = self.devicePixelRatioF()
        side = theme.current().px(GLYPH)
        picture = self._picture
        # The lanes themselves stand in the key: what is compared by identity must stay alive.
        key = (picture.events, picture.checkpoints, self._span, self.size(), side, ratio)
        if self._sheet is not None and all(
            old is new or (place > 1 and old == new)
            for place, (old, new) in enumerate(zip(self._sheet[0], key, strict=True))
        ):
            return self._sheet[1]
        sheet = QPixmap(self.size() * ratio)
        sheet.setDevicePixelRatio(ratio)
        sheet.fill(Qt.GlobalColor.transparent)
        with QPainter(sheet) as painter:
            for lane, top in self.rows():
                for group in self.groups(lane):
                    if group.end - group.first > len(group.shown):
                        self._mark_reach(painter, group, top)
                    for place, kind in enumerate(group.shown):
                        name, color = ICONS[kind]
                        x = self._span.left + group.left + place * side
                        painter.drawPixmap(QPointF(round(x), top), self._glyph(name, color, side))
        self._sheet = (key, sheet)
        return sheet

    def _glyph(self, name: str, color: str, side: int) -> QPixmap:
        key = (name, color, side)
        if key not in self._glyphs:
            self._glyphs[key] = theme.current().icon(name, color).pixmap(QSize(side, side), self.devicePixelRatioF())
        return self._glyphs[key]

    def restyle(self) -> None:
        """Take sizes and colours from the theme."""
        self._glyphs.clear()
        self._sheet = None
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def _mark_reach(self, painter: QPainter, group: Group, top: float) -> None:
        """A group that stands for several marks has a line below it, as far as they reach."""
        look = theme.current()
        left, right = round(self._span.left + group.reach[0]), round(self._span.left + group.reach[1])
        color = look.color(ICONS[group.shown[0]][1])
        painter.fillRect(QRectF(left - 1, top + look.px(GLYPH) - 1, right - left + 2, 1), color)

    def _mark_selection(self, painter: QPainter) -> None:
        selected = self._picture.selected
        if selected is not None:
            left, right = round(self._span.x(selected)), round(self._span.x(selected + 1))
            width = max(2, right - left)
            painter.fillRect(QRectF(left, 0, width, self.height()), theme.current().color("accent_ground"))

    def group_at(self, point: QPointF) -> tuple[Lane, Group] | None:
        """The marks under a point of the widget."""
        side = theme.current().px(GLYPH)
        for lane, top in self.rows():
            if top <= point.y() < top + side:
                for group in self.groups(lane):
                    left = self._span.left + group.left
                    if left <= point.x() < left + side * len(group.shown):
                        return lane, group
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        found = self.group_at(event.position())
        if found is not None and event.button() is Qt.MouseButton.LeftButton:
            self.position_clicked.emit(float(found[0].at[found[1].first]))
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        found = self.group_at(event.position())
        self.setCursor(Qt.CursorShape.PointingHandCursor if found else Qt.CursorShape.ArrowCursor)
        if found is None:
            QToolTip.hideText()
        else:
            self._tell(event.globalPosition().toPoint(), found)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            found = self.group_at(QPointF(event.pos()))
            if found is not None:
                self._tell(event.globalPos(), found)
                return True
        return super().event(event)

    def _tell(self, where: QPoint, found: tuple[Lane, Group]) -> None:
        QToolTip.showText(where, plain_tip(group_sentence(*found)), self)
