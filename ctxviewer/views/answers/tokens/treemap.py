"""A map of a request: every slice is an area in proportion to its tokens, slices inside slices. Mouse and keyboard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from ctxviewer.models.composition import Slice
from ctxviewer.models.listing import plain_tip
from ctxviewer.models.numbers import short_tokens
from ctxviewer.models.treemap import Box, squarified
from ctxviewer.views import theme

KEYS: Final = "Arrows move, Enter goes to the message, + opens a part, − or Backspace goes back."
DEEPEST: Final = 3
GAP: Final = 1.0
"""Pixels between tiles."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One area of the map."""

    slice: Slice
    box: Box
    is_group: bool
    """True when other tiles lie on it, below its heading."""
    group: Slice | None = None
    """The part that it belongs to."""


class Treemap(QWidget):
    """Paints slices; knows nothing of what they are."""

    slice_chosen = Signal(object)
    """Slice: clicked, or Enter."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._slices: tuple[Slice, ...] = ()
        self._inside: str | None = None
        """Name of the part that fills the map, None = the whole request."""
        self._tiles: tuple[Tile, ...] | None = None
        self._current = 0
        self._hovered: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName("Map of tokens")
        self.setMinimumSize(120, 90)
        theme.current().changed.connect(self._forget)

    def sizeHint(self) -> QSize:
        return QSize(theme.current().px(340), theme.current().px(280))

    # -- inputs

    def set_slices(self, slices: Sequence[Slice]) -> None:
        """Show these, largest first; what fills the map goes on to do so if it is still there."""
        current = self.current
        self._slices = tuple(slices)
        if self._opened() is None:
            self._inside = None
        self._forget()
        self._current = next((n for n, tile in enumerate(self.tiles) if current and tile.slice.name == current.name), 0)
        self._tell()

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """All areas, groups before what lies on them."""
        if self._tiles is None:
            self._tiles = tuple(self._lay_out())
        return self._tiles

    @property
    def current(self) -> Slice | None:
        """The slice with the focus."""
        tiles = self.tiles
        return tiles[self._current].slice if self._current < len(tiles) else None

    @property
    def inside(self) -> Slice | None:
        """The part that fills the map, None = the whole request."""
        return self._opened()

    def open(self, name: str | None) -> None:
        """Let a part fill the map; None = the whole request."""
        self._inside = name
        if name is not None and self._opened() is None:
            self._inside = None
        self._current = 0
        self._forget()
        self._tell()

    # -- layout

    def _opened(self) -> Slice | None:
        if self._inside is None:
            return None
        return next((one for one in self._slices if one.name == self._inside and one.children), None)

    def _forget(self) -> None:
        self._tiles = None
        self._hovered = None
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._tiles = None

    def _heading_height(self) -> float:
        return float(QFontMetrics(theme.current().ui_font(size=11)).height() + theme.current().px(4))

    def _lay_out(self) -> Iterator[Tile]:
        area = self.contentsRect()
        whole = Box(area.x(), area.y(), area.width(), area.height())
        opened = self._opened()
        if opened is not None:
            yield Tile(opened, whole, is_group=True)
            inner = whole.inner(theme.current().px(3), self._heading_height())
            yield from self._fill(opened.children, inner, opened, 1)
        else:
            yield from self._fill(self._slices, whole, None, 0)

    def _fill(self, slices: Sequence[Slice], box: Box, group: Slice | None, depth: int) -> Iterator[Tile]:
        look = theme.current()
        least = look.px(30)
        heading = self._heading_height()
        for one, area in zip(slices, squarified([one.tokens for one in slices], box), strict=True):
            if area.width < 1 or area.height < 1:
                continue
            roomy = area.width > least * 2 and area.height > heading + least
            deeper = len(one.children) > 1 and roomy and depth < DEEPEST
            yield Tile(one, area, is_group=deeper, group=group)
            if deeper:
                yield from self._fill(one.children, area.inner(look.px(3), heading), one, depth + 1)

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        look = theme.current()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), look.color("surface"))
            for number, tile in enumerate(self.tiles):
                self._paint_tile(painter, tile, hovered=number == self._hovered)
            tiles = self.tiles
            if self.hasFocus() and self._current < len(tiles):
                painter.setPen(QPen(look.color("accent"), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(_rect(tiles[self._current].box).adjusted(1, 1, -1, -1))

    def _paint_tile(self, painter: QPainter, tile: Tile, *, hovered: bool) -> None:
        look = theme.current()
        rect = _rect(tile.box)
        if rect.width() < 1 or rect.height() < 1:
            return
        painter.fillRect(rect, look.color(tile.slice.color))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        strong = look.doubles_patterns or tile.is_group or hovered
        painter.setPen(QPen(look.color("accent" if hovered else "line" if strong else "surface"), 1))
        painter.drawRect(rect.adjusted(0, 0, -1, -1))
        small = look.ui_font(size=11, bold=tile.is_group)
        metrics = QFontMetrics(small)
        room = rect.width() - look.px(8)
        if room < look.px(26) or rect.height() < metrics.height() + look.px(2):
            return
        painter.setFont(small)
        painter.setPen(look.color("text"))
        amount = short_tokens(tile.slice.tokens)
        name = tile.slice.name
        if tile.is_group:
            back = "‹ " if self._inside is not None and tile.group is None else ""
            words = metrics.elidedText(f"{back}{name} · {amount}", Qt.TextElideMode.ElideRight, room)
            painter.drawText(QPoint(rect.left() + look.px(4), rect.top() + look.px(2) + metrics.ascent()), words)
            return
        if tile.slice.path and metrics.horizontalAdvance(name) > room:
            name = PurePosixPath(name.replace("\\", "/")).name or name
        lines = [metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)]
        if rect.height() >= 2 * metrics.lineSpacing() + look.px(4):
            lines.append(amount)
        for place, line in enumerate(lines):
            y = rect.top() + look.px(2) + metrics.ascent() + place * metrics.lineSpacing()
            painter.drawText(QPoint(rect.left() + look.px(4), y), line)

    # -- mouse

    def tile_at(self, point: QPointF) -> int | None:
        """The number of the innermost tile at a point."""
        hits = [n for n, tile in enumerate(self.tiles) if tile.box.contains(point.x(), point.y())]
        return hits[-1] if hits else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self.tile_at(event.position())
        if event.button() is not Qt.MouseButton.LeftButton or number is None:
            super().mousePressEvent(event)
            return
        tile = self.tiles[number]
        self._go(number)
        if tile.is_group and tile.group is None and self._inside is not None:
            self.open(None)
        else:
            self.slice_chosen.emit(tile.slice)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        number = self.tile_at(event.position())
        if number is not None:
            self._open_tile(self.tiles[number])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        number = self.tile_at(event.position())
        if number != self._hovered:
            self._hovered = number
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hovered = None
        self.update()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            number = self.tile_at(QPointF(event.pos()))
            if number is not None:
                QToolTip.showText(event.globalPos(), plain_tip(self.tiles[number].slice.sentence), self)
                return True
        return super().event(event)

    # -- keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, tiles = event.key(), self.tiles
        if not tiles:
            super().keyPressEvent(event)
        elif key in _WAYS:
            self._go(self._next(*_WAYS[key]))
        elif key in {Qt.Key.Key_Home, Qt.Key.Key_End}:
            self._go(0 if key == Qt.Key.Key_Home else len(tiles) - 1)
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
            self.slice_chosen.emit(tiles[self._current].slice)
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal}:
            self._open_tile(tiles[self._current])
        elif key in {Qt.Key.Key_Minus, Qt.Key.Key_Backspace} and self._inside is not None:
            self.open(None)
        else:
            super().keyPressEvent(event)

    def _open_tile(self, tile: Tile) -> None:
        wanted = tile.group if tile.group is not None and not tile.slice.children else tile.slice
        if wanted.children and wanted in self._slices:
            self.open(wanted.name)

    def _next(self, across: int, down: int) -> int:
        """The nearest tile in a direction; groups can be reached from what lies on them, upwards."""
        tiles = self.tiles
        here = tiles[self._current].box
        x, y = here.x + here.width / 2, here.y + min(here.height / 2, self._heading_height() / 2)
        best, least = self._current, float("inf")
        for number, tile in enumerate(tiles):
            box = tile.box
            other_x, other_y = box.x + box.width / 2, box.y + min(box.height / 2, self._heading_height() / 2)
            ahead = (other_x - x) * across + (other_y - y) * down
            aside = abs(other_x - x) * abs(down) + abs(other_y - y) * abs(across)
            if number != self._current and ahead > 1:
                far = ahead + 2 * aside
                if far < least:
                    best, least = number, far
        return best

    def _go(self, number: int) -> None:
        if number != self._current:
            self._current = number
            self.update()
            self._tell()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def _tell(self) -> None:
        """Say where the focus is, for people who cannot see it."""
        current = self.current
        self.setAccessibleDescription(f"{current.sentence if current is not None else 'Nothing to show'}. {KEYS}")
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))


_WAYS: Final = {
    Qt.Key.Key_Left.value: (-1, 0),
    Qt.Key.Key_Right.value: (1, 0),
    Qt.Key.Key_Up.value: (0, -1),
    Qt.Key.Key_Down.value: (0, 1),
}


def _rect(box: Box) -> QRect:
    """Whole pixels, so that neighbours share edges and leave a gap."""
    left, top = round(box.x), round(box.y)
    right, bottom = round(box.x + box.width), round(box.y + box.height)
    return QRectF(left, top, right - left - GAP, bottom - top - GAP).toRect()
