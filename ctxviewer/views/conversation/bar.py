"""The scroll bar: pixels as long as they fit its range, larger units beyond."""

from __future__ import annotations

from PySide6.QtWidgets import QScrollBar

from ctxviewer.views.conversation.sheet import Sheet

MOST_STEPS = 1 << 30
"""Range of the scroll bar, whose values have 32 bits."""


class Bar:
    """Keeps a scroll bar and a sheet together."""

    def __init__(self, bar: QScrollBar) -> None:
        self._bar = bar
        self._syncing = False

    def sync(self, sheet: Sheet | None) -> None:
        """Move the bar to where the sheet is; a bar that is held with the mouse is left alone."""
        bar = self._bar
        if bar.isSliderDown():
            return
        self._syncing = True
        if sheet is None or not len(sheet.geometry):
            bar.setRange(0, 0)
        else:
            unit = _unit(sheet)
            bar.setRange(0, -(-max(0, sheet.total - sheet.height) // unit))
            bar.setPageStep(max(1, sheet.height // unit))
            bar.setSingleStep(max(1, 3 * sheet.metrics.line // unit))
            value = bar.maximum() if sheet.at_end else min(sheet.scroll // unit, max(0, bar.maximum() - 1))
            bar.setValue(value)
        self._syncing = False

    def follow(self, sheet: Sheet) -> bool:
        """Move the sheet to where the user moved the bar. False if it was not the user."""
        bar = self._bar
        if self._syncing:
            return False
        value = bar.value()
        if value >= bar.maximum():
            sheet.scroll_to_end()
        elif value <= bar.minimum():
            sheet.scroll_to(0)
        elif bar.isSliderDown():
            sheet.scroll_to(value * (sheet.total - sheet.height) // bar.maximum())
        else:
            sheet.scroll_by(value * _unit(sheet) - sheet.scroll)
        return True


def _unit(sheet: Sheet) -> int:
    """Pixels for one step of the bar."""
    return 1 + sheet.total // MOST_STEPS
