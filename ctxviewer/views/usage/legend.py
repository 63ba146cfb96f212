"""The line above the graph: what the colours and marks mean, and the numbers of the chosen request."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from ctxviewer.engine.words import short
from ctxviewer.models.marks import Mark
from ctxviewer.models.numbers import grouped
from ctxviewer.models.usage import SERIES
from ctxviewer.views import theme
from ctxviewer.views.usage.bars import swatch
from ctxviewer.views.usage.dashes import curve_pen
from ctxviewer.views.usage.lanes import ICONS
from ctxviewer.views.usage.state import Picture

LEAD = "tokens per request, reported:"
KEYS = "Click or ← → choose a request, + and − or the wheel zoom, Shift+← → move, 0 shows all."


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that the legend explains."""

    words: str
    part: int | None = None
    """A part of the bars,"""
    mark: Mark | None = None
    """or a mark,"""
    look: int | None = None
    """or the curve of a replay, or neither."""


class Legend(QWidget):
    """Paints what fits: the series first, then the marks that occur, then the lead; all of it is in the tooltip."""

    def __init__(self, picture: Picture, parent: QWidget) -> None:
        super().__init__(parent)
        self._picture = picture
        self._sheet: tuple[tuple[object, ...], QPixmap] | None = None
        """The explanations as drawn last, and what they were drawn for."""
        self.restyle()

    def sizeHint(self) -> QSize:
        return QSize(100, theme.current().px(20))

    def restyle(self) -> None:
        """Take sizes from the theme."""
        self._sheet = None
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def refresh(self) -> None:
        """The picture changed."""
        everything = [entry.words for entry in self.entries(marks=True)]
        lines = (f"{LEAD} {', '.join(everything)}", self.readout(), KEYS)
        self.setToolTip("\n".join(line for line in lines if line))
        self.update()

    def entries(self, *, marks: bool) -> list[Entry]:
        """The series from the bottom of a bar up, and the marks that occur in this task."""
        found = [Entry(name, part=part) for part, name in enumerate(SERIES)]
        if marks:
            present = {*self._picture.events.kinds.tolist(), *self._picture.checkpoints.kinds[:1].tolist()}
            found += [Entry(mark.word, mark=mark) for mark in sorted(Mark, reverse=True) if mark in present]
        return [*(Entry(f"{curve.name}, estimated", look=curve.look) for curve in self._picture.curves), *found]

    def readout(self) -> str:
        """The chosen request, or the newest when the graph follows the task."""
        stacks, selected = self._picture.stacks, self._picture.selected
        if not len(stacks):
            return ""
        number = len(stacks) - 1 if selected is None else selected
        if not 0 <= number < len(stacks):
            return ""
        name = f"request {number + 1:,}" if selected is not None else f"newest: request {number + 1:,}"
        if not stacks.known[number]:
            return f"{name} · no numbers reported"
        total, window = float(stacks.totals[number]), self._picture.window
        share = f" · {total / window:.0%} of {short(window)}" if window > 0 else ""
        return f"{name} · {grouped(total)} reported{share}"

    def paintEvent(self, _event: QPaintEvent) -> None:
        look = theme.current()
        with QPainter(self) as painter:
            font, strong = look.ui_font(size=11), look.ui_font(size=11, bold=True)
            readout = self.readout()
            taken = QFontMetrics(strong).horizontalAdvance(readout) + look.px(16)
            room = self.width() - taken
            pick = self._choose(font, room)
            if pick is None:  # too narrow for both: the colours' names are in the tooltip
                room, pick = self.width(), []
            painter.drawPixmap(QPointF(0, 0), self._explanations(tuple(pick), font))
            painter.setFont(strong)
            painter.setPen(look.color("text"))
            box = QRectF(look.px(8), 0, self.width() - look.px(16), self.height())
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            elided = painter.fontMetrics().elidedText(readout, Qt.TextElideMode.ElideRight, int(box.width()))
            painter.drawText(box, flags, elided)

    def _explanations(self, pick: tuple[Entry | str, ...], font: QFont) -> QPixmap:
        """The chosen explanations on a clear ground; only a change of them or of the theme draws them anew."""
        look, ratio = theme.current(), self.devicePixelRatioF()
        key = (pick, self.size(), ratio)
        if self._sheet is None or self._sheet[0] != key:
            sheet = QPixmap(self.size() * ratio)
            sheet.setDevicePixelRatio(ratio)
            sheet.fill(Qt.GlobalColor.transparent)
            with QPainter(sheet) as painter:
                painter.setFont(font)
                painter.setPen(look.color("muted"))
                x = float(look.px(8))
                for item in pick:
                    x = (
                        self._words(painter, x, item) + look.px(8)
                        if isinstance(item, str)
                        else self._entry(painter, x, item)
                    )
            self._sheet = (key, sheet)
        return self._sheet[1]

    def _choose(self, font: QFont, room: float) -> list[Entry | str] | None:
        """The most that fits into `room` pixels; None when not even the series do."""
        metrics, look = QFontMetrics(font), theme.current()
        side = look.px(14)

        def width(entries: list[Entry]) -> float:
            curves = sum(entry.look is not None for entry in entries)
            words = sum(side + metrics.horizontalAdvance(entry.words) + look.px(16) for entry in entries)
            return words + curves * look.px(14) + look.px(8)

        full, series = self.entries(marks=True), self.entries(marks=False)
        lead = metrics.horizontalAdvance(LEAD) + look.px(8)
        curves = [entry for entry in series if entry.look is not None]
        parts = [entry for entry in series if entry.look is None]  # curves are named at their ends too
        choices: tuple[tuple[list[Entry | str], float], ...] = (
            ([LEAD, *full], lead + width(full)),
            ([*full], width(full)),
            ([*series], width(series)),
            *((([*parts], width(parts)),) if curves else ()),
        )
        return next((entries for entries, needed in choices if needed <= room), None)

    def _entry(self, painter: QPainter, x: float, entry: Entry) -> float:
        look = theme.current()
        if entry.part is not None:
            side = look.px(9)
            ratio = self.devicePixelRatioF()
            image = swatch(entry.part, round(side * ratio), look)
            image.setDevicePixelRatio(ratio)
            top = (self.height() - side) // 2
            painter.drawImage(QRectF(x, top, side, side), image)
            if look.doubles_patterns:
                painter.drawRect(QRectF(x, top, side, side))
            x += side + look.px(4)
        elif entry.look is not None:
            side = look.px(26)
            pen = curve_pen(entry.look)
            painter.save()
            painter.setPen(pen)
            painter.drawLine(QLineF(x, self.height() / 2, x + side, self.height() / 2))
            painter.restore()
            x += side + look.px(4)
        elif entry.mark is not None:
            side = look.px(14)
            name, color = ICONS[entry.mark]
            look.icon(name, color).paint(painter, round(x), (self.height() - side) // 2, side, side)
            x += side + look.px(1)
        return self._words(painter, x, entry.words) + look.px(12)

    def _words(self, painter: QPainter, x: float, words: str) -> float:
        width = painter.fontMetrics().horizontalAdvance(words)
        painter.drawText(QRectF(x, 0, width + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, words)
        return x + width
