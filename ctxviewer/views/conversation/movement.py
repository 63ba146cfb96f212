"""Bringing things into view: a message, a block, a hit, a change. Scrolls only as far as it must."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxviewer.views.conversation.finder import Hit
from ctxviewer.views.conversation.painting import sticky_lead
from ctxviewer.views.conversation.places import cursor_at
from ctxviewer.views.conversation.rows import LEAD
from ctxviewer.views.conversation.selection import Spot

if TYPE_CHECKING:
    from ctxviewer.models.stretches import Stretch
    from ctxviewer.views.conversation.sheet import Sheet
    from ctxviewer.views.conversation.view import ConversationView


class Movement:
    """Moves one view."""

    def __init__(self, view: ConversationView) -> None:
        self._view = view

    def reveal(self, row: int, block: int | None) -> None:
        """Bring the header of a row, or the beginning of one of its stored blocks, into view."""
        sheet = self._view.sheet
        if sheet is None or not 0 <= row < len(sheet.geometry):
            return
        self.uncover(sheet, row)
        element = 0
        if block is not None:
            sheet.open_row(row, is_open=True)
            element = sheet.row_layout(row).first_element_of_block(block)
        placed = sheet.find(row, element)
        top = _covered_top(sheet, row)
        # A header at the very bottom shows nothing of its message.
        lowest = sheet.height - min(sheet.height // 4, 3 * sheet.metrics.header)
        if placed is None or placed.y < top or (placed.end > lowest and not sheet.at_end):
            sheet.move_to(row, element, max(top, sheet.height // 5))
        self._view.show_changes()

    def ensure_visible(self, row: int, *, lead: bool = False) -> None:
        """Scroll as little as possible so that an item, or at least its beginning, can be seen."""
        sheet = self._view.sheet
        if sheet is None:
            return
        if lead:
            placed = sheet.find(row, LEAD)
            if placed is None or placed.y < 0 or placed.end > sheet.height:
                below = row > sheet.anchor.row
                sheet.move_to(row, LEAD, max(0, sheet.height - sheet.geometry.lead(row)) if below else 0)
        else:
            self._ensure_row(sheet, row)
        self._view.show_changes()

    def _ensure_row(self, sheet: Sheet, row: int) -> None:
        top = _covered_top(sheet, row)
        layout = sheet.row_layout(row)
        last = len(layout.elements) - 1
        header, end = sheet.find(row, 0), sheet.find(row, last)
        if header is not None and header.y >= top and end is not None and end.end <= sheet.height:
            return
        if header is None or header.y >= top:
            sheet.move_to(row, last, sheet.height - layout.height_of(last))
            header = sheet.find(row, 0)
        if header is None or header.y < top:
            sheet.move_to(row, 0, top)

    def show_spot(self, spot: Spot) -> None:
        """Scroll so that a place in a text can be seen; not at all if it can be seen."""
        sheet = self._view.sheet
        if sheet is None:
            return
        top, third = _covered_top(sheet, spot.row), sheet.height // 3
        cursor = cursor_at(sheet, spot)
        if cursor is None or cursor.y < top or cursor.y + cursor.height > sheet.height:
            element = sheet.row_layout(spot.row).element_of(spot.section, spot.offset)
            sheet.move_to(spot.row, element, third)
            cursor = cursor_at(sheet, spot)
            if cursor is not None:
                sheet.scroll_by(round(cursor.y) - third)
        self._view.show_changes()

    def show_hit(self, hit: Hit) -> None:
        """Bring a place that was found into view, whatever is folded around it."""
        sheet = self._view.sheet
        if sheet is None:
            return
        self.uncover(sheet, hit.row)
        sheet.open_row(hit.row, is_open=True)
        body = sheet.row_layout(hit.row).body
        part = body.sections[hit.section] if body is not None and hit.section < len(body.sections) else None
        if part is not None and part.is_long and part.piece_at(max(hit.start, hit.end - 1)) > 0:
            sheet.expand(hit.row, sheet.openness.expanded(hit.row) | {hit.section})
        self.show_spot(hit.spot)

    def uncover(self, sheet: Sheet, row: int) -> None:
        """Unfold the stretch that hides a row."""
        stretch = sheet.model.stretch_of(row)
        if stretch is not None and sheet.geometry.is_folded(row):
            sheet.fold(stretch, folded=False)

    def change_from_here(self, *, backwards: bool) -> int | None:
        """The row of the next change, or of the one before, None if there is none."""
        sheet = self._view.sheet
        if sheet is None:
            return None
        current = self._view.current_item
        here = current[0] if current is not None else sheet.anchor.row - (0 if backwards else 1)
        rows = [row for row in sheet.model.changes if (row < here if backwards else row > here)]
        return (rows[-1] if backwards else rows[0]) if rows else None

    def toggle_fold(self, stretch: Stretch) -> None:
        """Fold or unfold a stretch; its line stays where it is, also where it sticks to the upper edge."""
        sheet = self._view.sheet
        if sheet is not None:
            placed = sheet.find(stretch.first, LEAD)
            top = -sheet.leads.layout(stretch.first).line_top
            y = max(top, placed.y) if placed is not None else top
            sheet.fold(stretch, not sheet.openness.is_folded(stretch), y)
            self._view.show_changes()

    def toggle_section(self, row: int, section: int) -> None:
        """Show a long section whole, or its preview again; the text around the line that was clicked stays."""
        sheet = self._view.sheet
        if sheet is None:
            return
        expanded = sheet.openness.expanded(row)
        more = sheet.find(row, sheet.row_layout(row).more_of(section))
        sheet.expand(row, expanded ^ {section})
        if more is not None and section in expanded:
            sheet.move_to(row, sheet.row_layout(row).more_of(section), more.y)
        elif more is not None:
            sheet.move_to(row, more.element, more.y)
        self._view.show_changes()

    def scroll_page(self, pages: int) -> None:
        """Scroll down by viewports, less what helps to keep the place."""
        sheet = self._view.sheet
        if sheet is not None:
            kept = 2 * sheet.metrics.line + (sheet.metrics.lead if sticky_lead(sheet) is not None else 0)
            self._view.scroll_by(pages * max(sheet.metrics.line, sheet.height - kept))


def _covered_top(sheet: Sheet, row: int) -> int:
    """How much of the upper edge a line that sticks there covers for a row."""
    return sheet.metrics.lead if sheet.geometry.fold_of(row) is not None else 0
