"""Painting of what the sheet has placed: grounds, headers, text, lines above stretches, selection, hits, focus."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QTextCharFormat, QTextLayout

from ctxviewer.domain.projection import Standing
from ctxviewer.models.segments import Section, Style
from ctxviewer.models.tracked import Mark
from ctxviewer.views.conversation.brush import Brush
from ctxviewer.views.conversation.finder import Finder
from ctxviewer.views.conversation.headers import Part, paint_header, paint_lead, paint_touched
from ctxviewer.views.conversation.leads import StripKind
from ctxviewer.views.conversation.made_up_painting import MadeUpPainting
from ctxviewer.views.conversation.pieces import Piece
from ctxviewer.views.conversation.pinned_words import PinnedWords, pinned_format
from ctxviewer.views.conversation.rows import LEAD, Kind, RowLayout
from ctxviewer.views.conversation.selection import Selection, lead_extent
from ctxviewer.views.conversation.sheet import Placed, Sheet

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_NOTES = {"rewritten": "rewritten", "not sent": "event", "separated": "event"}
"""Colour of a note by its first word; repairs are the others."""


@dataclass(slots=True)
class Hover:
    """What lies under the mouse and can be clicked."""

    row: int
    element: int
    part: Part = Part.REST


@dataclass(slots=True)
class Look:
    """What is painted besides the sheet itself."""

    selection: Selection
    finder: Finder
    pinned: PinnedWords
    current: tuple[int, bool] | None
    """(row, True for the line above it) of the current item."""
    focused: bool
    hover: Hover | None


class Painting:
    """Paints a sheet. Asks the model for nothing: all facts are in the sheet's layouts."""

    def __init__(self, sheet: Sheet, brush: Brush) -> None:
        self._sheet = sheet
        self._brush = brush

    def paint(self, painter: QPainter, clip: QRect, look: Look) -> None:
        """Paint what is in the viewport within `clip`."""
        sheet, brush = self._sheet, self._brush
        painter.fillRect(clip, brush.color("surface"))
        origin = -(sheet.scroll % 1_000_000)
        for row, top, end in sheet.rows_in_view():
            self._paint_ground(painter, row, top, end, origin)
        for placed in sheet.placed:
            if placed.y < clip.bottom() + 1 and placed.end > clip.top():
                self._paint_element(painter, placed, clip, look, origin)
        self._paint_current(painter, look)
        sticky = sticky_lead(sheet)
        if sticky is not None:
            self._paint_lead(painter, sticky, clip, look, sticky.y, sticky=True)

    # -- grounds and frames

    def _paint_ground(self, painter: QPainter, row: int, top: int, end: int, origin: int) -> None:
        sheet, brush, metrics = self._sheet, self._brush, self._sheet.metrics
        if sheet.model.standing(row) is Standing.NOT_SENT:
            brush.hatched(painter, QRect(0, top, metrics.width, end - top), origin)
            left = metrics.chip_x - brush.px(6)
            painter.fillRect(QRect(left, top, metrics.width - left, end - top), brush.color("hidden_fill"))
        if row in sheet.model.touched:
            painter.fillRect(QRect(0, top, metrics.stripe, end - top), brush.color("accent"))
        painter.fillRect(QRect(0, end - 1, metrics.width, 1), brush.color("line"))

    def _paint_current(self, painter: QPainter, look: Look) -> None:
        """An outline around the current message or line, stronger while the view has the focus."""
        if look.current is None:
            return
        row, lead = look.current
        sheet, brush = self._sheet, self._brush
        if lead:
            places = [(p.y, p.end) for p in sheet.placed if p.row == row and p.element == LEAD]
            sticky = sticky_lead(sheet)
            if sticky is not None and sticky.row == row:
                return
        else:
            places = [(top, end) for at, top, end in sheet.rows_in_view() if at == row]
        if not places:
            return
        top, end = places[0]
        if not lead:
            fold = sheet.geometry.fold_of(row)
            sticky = sticky_lead(sheet)
            if sticky is not None and fold is not None:
                top = max(top, sticky.end - 1)
        _outline(painter, brush, QRect(0, top, sheet.metrics.width, end - top), focused=look.focused)

    # -- elements

    def _paint_element(self, painter: QPainter, placed: Placed, clip: QRect, look: Look, origin: int) -> None:
        if placed.element == LEAD:
            self._paint_lead(painter, placed, clip, look, origin)
            return
        layout = self._sheet.row_layout(placed.row)
        element = layout.elements[placed.element]
        match element.kind:
            case Kind.HEADER:
                self._paint_header(painter, placed, layout, look)
            case Kind.TEXT:
                self._paint_text(painter, placed, layout, clip, look)
            case Kind.CAPTION:
                self._paint_caption(painter, placed, layout)
            case Kind.MORE:
                self._paint_more(painter, placed, layout, look)
            case Kind.EMPTY:
                self._words(painter, placed, "no text", "faint")
            case Kind.REMARK:
                remark = layout.body.remark if layout.body is not None else ""
                self._words(painter, placed, remark, "warning", icon="warning")
            case Kind.FOOT:
                pass

    def _paint_lead(
        self, painter: QPainter, placed: Placed, clip: QRect, look: Look, origin: int, *, sticky: bool = False
    ) -> None:
        """What stands above a row; where it sticks to the upper edge, the line of the stretch alone."""
        sheet, hover = self._sheet, look.hover
        here = hover is not None and hover.row == placed.row and hover.element == LEAD
        stretch = sheet.stretch_at(placed.row)
        whole = sheet.openness.shows_made_up(placed.row)
        made_up = MadeUpPainting(painter, self._brush, sheet.metrics, clip)
        for strip in sheet.leads.layout(placed.row).strips:
            y = placed.y if sticky else placed.y + strip.y
            if strip.kind is not StripKind.LINE:
                if not sticky:
                    hovered = here and hover is not None and hover.part is Part.LABEL
                    made_up.paint(strip, y, whole=whole, hovered=hovered, touched=sheet.model.touches_made_up)
            elif stretch is not None:
                paint_lead(
                    painter,
                    self._brush,
                    sheet.metrics,
                    stretch,
                    (y, origin),
                    folded=sheet.openness.is_folded(stretch),
                    hovered=here and hover is not None and hover.part is Part.REST,
                    touched=sheet.model.touches(stretch.first, stretch.last),
                )
        if look.selection.covers(lead_extent(placed.row)):
            painter.fillRect(QRect(0, placed.y, sheet.metrics.width, placed.height), self._brush.selection_fill)
        if look.current == (placed.row, True):
            rect = QRect(0, placed.y, sheet.metrics.width, placed.height)
            _outline(painter, self._brush, rect, focused=look.focused)

    def _paint_header(self, painter: QPainter, placed: Placed, layout: RowLayout, look: Look) -> None:
        hover = look.hover
        here = hover is not None and hover.row == placed.row and hover.element == placed.element
        paint_header(
            painter,
            self._brush,
            self._sheet.metrics,
            layout.facts,
            placed.y,
            closed=layout.body is None,
            hovered=hover.part if here and hover is not None else None,
        )

    def _paint_text(self, painter: QPainter, placed: Placed, layout: RowLayout, clip: QRect, look: Look) -> None:
        sheet, metrics = self._sheet, self._sheet.metrics
        element = layout.elements[placed.element]
        part = layout.section(placed.element)
        piece = sheet.piece(placed.row, placed.element)
        standing = layout.facts.standing
        self._paint_section_ground(painter, part, placed, layout, below=element.below)
        ranges = self._ranges(placed.row, element.section, part, element.piece, piece, look, layout.facts.tracked)
        left_out = part.style in {Style.REMOVED, Style.LEFT_OUT}
        color = self._brush.color("hidden_text") if left_out else self._brush.text(standing)
        painter.setPen(color)
        piece.layout.draw(painter, QPointF(metrics.text_x, placed.y), ranges, QRectF(clip))
        if element.below and layout.elements[placed.element + 1].kind is Kind.TEXT:
            self._paint_seam(painter, placed.end - element.below // 2)
        if layout.shows_signs(element.section):
            self._paint_signs(painter, part.style, piece, placed.y, clip)

    def _paint_seam(self, painter: QPainter, y: int) -> None:
        """Dots between two blocks of which the second has no caption."""
        metrics = self._sheet.metrics
        painter.setPen(QPen(self._brush.color("line"), 1, Qt.PenStyle.DotLine))
        painter.drawLine(metrics.text_x, y - 1, metrics.text_x + metrics.text_width, y - 1)

    def _paint_section_ground(
        self, painter: QPainter, part: Section, placed: Placed, layout: RowLayout, *, below: int
    ) -> None:
        brush, metrics = self._brush, self._sheet.metrics
        look = brush.look(part.style)
        rect = QRect(metrics.chip_x, placed.y, metrics.width - metrics.chip_x, placed.height - below)
        if part.style in {Style.REMOVED, Style.LEFT_OUT}:
            brush.hatched(painter, rect, placed.y)
            painter.fillRect(rect.adjusted(metrics.text_x - metrics.chip_x - brush.px(4), 0, 0, 0), look.ground or 0)
        elif look.ground is not None and layout.facts.standing is Standing.SENT:
            painter.fillRect(rect, look.ground)
        if look.stripe is not None:
            painter.fillRect(QRect(rect.x(), rect.y(), metrics.stripe, rect.height()), look.stripe)

    def _ranges(
        self,
        row: int,
        number: int,
        part: Section,
        piece_number: int,
        piece: Piece,
        look: Look,
        marks: tuple[Mark, ...],
    ) -> list[QTextLayout.FormatRange]:
        """Words of pinned facts, hits and selection within a piece, in UTF-16 positions."""
        start, end = part.cuts[piece_number], part.cuts[piece_number + 1]
        found: list[QTextLayout.FormatRange] = []
        for mark, low, high in look.pinned.spans(marks, part.text, start, end):
            found += _range(piece, max(low, start) - start, min(high, end) - start, pinned_format(mark))
        for low, high in look.finder.spans(row, number, part.text, start, end):
            hit = look.finder.hit
            now = hit is not None and hit == (row, number, low, high)
            look_of_it = self._brush.found_now if now else self._brush.found
            found += _range(piece, max(low, start) - start, min(high, end) - start, look_of_it)
        selected = look.selection.within(row, number, start, end)
        if selected is not None:
            found += _range(piece, selected[0] - start, selected[1] - start, self._brush.selected)
        return found

    def _paint_signs(self, painter: QPainter, style: Style, piece: Piece, y: int, clip: QRect) -> None:
        """+ or − before each line of a difference."""
        metrics, layout = self._sheet.metrics, piece.layout
        painter.setFont(metrics.text_font)
        painter.setPen(self._brush.sign_color(style))
        sign = self._brush.look(style).sign
        x = metrics.chip_x + self._brush.px(3)
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            top = y + line.y()
            inside = top + line.height() >= clip.top() and top <= clip.bottom()
            if inside and line.textStart() in piece.line_starts:
                painter.drawText(QPointF(x, top + line.ascent()), sign)

    def _paint_caption(self, painter: QPainter, placed: Placed, layout: RowLayout) -> None:
        """What the block is and what happened to it."""
        metrics, brush = self._sheet.metrics, self._brush
        part = layout.section(placed.element)
        standing = layout.facts.standing
        x, y = metrics.chip_x, placed.y
        if part.style in {Style.REWRITTEN, Style.REPAIRED, Style.REMOVED, Style.LEFT_OUT}:
            stripe = brush.look(part.style).stripe
            if stripe is not None:
                painter.fillRect(QRect(x, y, metrics.stripe, placed.height), stripe)
        painter.setFont(metrics.small_font)
        room = metrics.width - metrics.margin - metrics.text_x
        x = metrics.text_x
        if part.heading:
            painter.setPen(brush.quiet(standing))
            words = brush.short(part.heading, metrics.small, room, metrics.small_font)
            painter.drawText(QRect(x, y, room, placed.height), _LEFT, words)
            used = metrics.small.horizontalAdvance(words) + brush.px(10)
            x, room = x + used, room - used
        if part.note and layout.shows_notes and room > brush.px(24):
            color = _NOTES.get(part.note.partition(":")[0], "repaired")
            painter.setPen(brush.color(color))
            words = brush.short(part.note, metrics.small, room, metrics.small_font)
            painter.drawText(QRect(x, y, room, placed.height), _LEFT, words)
            used = metrics.small.horizontalAdvance(words) + brush.px(10)
            x, room = x + used, room - used
        if part.block in layout.facts.touched_blocks:
            paint_touched(painter, brush, metrics, (x, y), room)

    def _paint_more(self, painter: QPainter, placed: Placed, layout: RowLayout, look: Look) -> None:
        """Show all, or show less."""
        metrics = self._sheet.metrics
        element, part = layout.elements[placed.element], layout.section(placed.element)
        whole = element.section in layout.expanded
        self._paint_section_ground(painter, part, placed, layout, below=element.below)
        words = "show less" if whole else f"show all · {part.hidden_amount}"
        hovered = look.hover is not None and (look.hover.row, look.hover.element) == (placed.row, placed.element)
        if element.below and layout.elements[placed.element + 1].kind is Kind.TEXT:
            self._paint_seam(painter, placed.end - element.below // 2)
        rest = (part.cuts[1], len(part.text))
        if not whole and look.selection.within(placed.row, element.section, *rest) is not None:
            width = metrics.small.horizontalAdvance(words) + self._brush.px(18)
            painter.fillRect(QRect(metrics.text_x, placed.y, width, metrics.caption), self._brush.selection_fill)
        self._words(painter, placed, words, "accent", icon="up" if whole else "down", underlined=hovered)

    def _words(
        self, painter: QPainter, placed: Placed, words: str, color: str, *, icon: str = "", underlined: bool = False
    ) -> None:
        """One small line where text stands."""
        metrics, brush = self._sheet.metrics, self._brush
        x, height = metrics.text_x, metrics.caption
        if icon:
            brush.icon(painter, icon, color, QRect(x - brush.px(2), placed.y, brush.px(14), height))
            x += brush.px(16)
        room = metrics.width - metrics.margin - x
        painter.setFont(metrics.small_font)
        painter.setPen(brush.color(color))
        short = brush.short(words, metrics.small, room, metrics.small_font)
        painter.drawText(QRect(x, placed.y, room, height), _LEFT, short)
        if underlined:
            y = placed.y + height // 2 + metrics.small.ascent() // 2 + 1
            painter.drawLine(x, y, x + metrics.small.horizontalAdvance(short), y)


def sticky_lead(sheet: Sheet) -> Placed | None:
    """The line of the stretch that is scrolled into, where it sticks to the upper edge; None if it is in its place."""
    if not sheet.placed:
        return None
    first = sheet.placed[0]
    fold = sheet.geometry.fold_of(first.row)
    if fold is None or fold.folded:
        return None
    if first.element == LEAD and first.y + sheet.leads.layout(first.row).line_top >= 0:
        return None
    height = sheet.metrics.lead
    end = next((p.y for p in sheet.placed if p.row > fold.last), sheet.height)
    return Placed(fold.first, LEAD, min(0, end - height), height)


def _range(piece: Piece, low: int, high: int, look: QTextCharFormat) -> list[QTextLayout.FormatRange]:
    start, end = piece.visible.to_shown(low), piece.visible.to_shown(high)
    if start >= end:
        return []
    span = QTextLayout.FormatRange()
    span.start, span.length, span.format = start, end - start, look
    return [span]


def _outline(painter: QPainter, brush: Brush, rect: QRect, *, focused: bool) -> None:
    color = QColor(brush.color("accent"))
    width = brush.px(2) if focused else 1
    if not focused:
        color.setAlpha(150)
    painter.setPen(QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.SquareCap, Qt.PenJoinStyle.MiterJoin))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inset = width // 2
    painter.drawRect(rect.adjusted(inset, inset, -inset - 1, -inset - 1))
