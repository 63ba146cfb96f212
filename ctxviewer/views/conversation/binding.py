"""Between the model and the sheet: what the model tells is noted at once and laid out once, before the next paint."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, Signal

from ctxviewer.models.conversation import BODY, ConversationModel
from ctxviewer.views.conversation.finder import Finder
from ctxviewer.views.conversation.metrics import Metrics
from ctxviewer.views.conversation.selection import Selection
from ctxviewer.views.conversation.sheet import Sheet


class Binding(QObject):
    """One model, its sheet and its search. Made with them, closed with them."""

    touched = Signal()
    """Something is to be laid out again."""
    was_reset = Signal()
    """Another task: nothing remembered about rows holds."""

    def __init__(self, sheet: Sheet, finder: Finder, selection: Selection, parent: QObject) -> None:
        super().__init__(parent)
        self._model: ConversationModel = sheet.model
        self._sheet, self._finder, self._selection = sheet, finder, selection
        self._dirty = False
        self._to_end = False
        self.following = False
        """While True, a view at its end stays there when messages are added."""
        model = self._model
        model.modelReset.connect(self._reset)
        model.rowsInserted.connect(self._insert)
        model.rowsRemoved.connect(self._remove)
        model.dataChanged.connect(self._change)
        model.stretches_changed.connect(self._touch)

    def close(self) -> None:
        """Let go of the model."""
        model = self._model
        model.modelReset.disconnect(self._reset)
        model.rowsInserted.disconnect(self._insert)
        model.rowsRemoved.disconnect(self._remove)
        model.dataChanged.disconnect(self._change)
        model.stretches_changed.disconnect(self._touch)
        self.deleteLater()

    def catch_up(self) -> bool:
        """Lay out what was noted. True if there was something."""
        if not self._dirty:
            return False
        self._dirty = False
        sheet, rows = self._sheet, self._model.rowCount()
        if _digits(sheet.metrics.rows) != _digits(rows):
            sheet.set_metrics(Metrics(sheet.metrics.theme, sheet.metrics.width, rows))
        sheet.refresh()
        if self._to_end:
            self._to_end = False
            sheet.scroll_to_end()
        return True

    def _touch(self) -> None:
        self._dirty = True
        self.touched.emit()

    def _reset(self) -> None:
        sheet = self._sheet
        self._selection.clear()
        self._finder.clear()
        sheet.set_metrics(Metrics(sheet.metrics.theme, sheet.metrics.width, self._model.rowCount()), restyled=False)
        sheet.reset()
        self._dirty = self._to_end = False
        self.was_reset.emit()

    def _insert(self, _parent: QModelIndex, first: int, last: int) -> None:
        self._to_end = self._to_end or (self.following and self._sheet.at_end)
        self._sheet.append(last - first + 1)
        self._finder.row_count_changed()
        self._touch()

    def _remove(self, _parent: QModelIndex, first: int, _last: int) -> None:
        self._sheet.shorten(first)
        extent = self._selection.extent
        if extent is not None and extent.last.row >= first:
            self._selection.clear()
        self._finder.row_count_changed()
        self._touch()

    def _change(self, first: QModelIndex, last: QModelIndex, roles: list[int]) -> None:
        start, end = first.row(), last.row() + 1
        self._sheet.doubt(start, end)
        if not roles or BODY in roles:
            self._finder.rows_changed(start, end)
        extent = self._selection.extent
        if extent is not None and (not roles or BODY in roles) and extent.first.row < end and start <= extent.last.row:
            self._selection.clear()
        self._touch()


def _digits(rows: int) -> int:
    """Digits of the largest number of a message."""
    return len(str(max(0, rows - 1)))
