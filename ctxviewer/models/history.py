"""The list of changes made with ctxviewer to one task, newest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ctxviewer.models.numbers import byte_size
from ctxviewer.models.tasks import one_line, when_text

if TYPE_CHECKING:  # the store loads with it
    from ctxviewer.sources.store.values import Entry

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()


class HistoryRole(IntEnum):
    """What a delegate asks for."""

    ENTRY = Qt.ItemDataRole.UserRole + 1
    DETAIL = Qt.ItemDataRole.UserRole + 2
    """The second line: when, state, size of the backup."""
    STATE = Qt.ItemDataRole.UserRole + 3
    NEXT_UNDO = Qt.ItemDataRole.UserRole + 4
    """True for the entry that Undo takes back."""
    NEXT_REDO = Qt.ItemDataRole.UserRole + 5


class HistoryModel(QAbstractListModel):
    """One row an entry, newest first."""

    def __init__(self, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now_ms = now_ms
        self._entries: tuple[Entry, ...] = ()

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Show these entries, given newest last."""
        fresh = tuple(reversed(entries))
        old = [entry.id for entry in self._entries]
        new = [entry.id for entry in fresh]
        added = len(new) - len(old)
        if old and added >= 0 and new[added:] == old:
            if added:
                self.beginInsertRows(ROOT, 0, added - 1)
                self._entries = fresh
                self.endInsertRows()
            self._entries = fresh
            self.dataChanged.emit(self.index(0), self.index(len(fresh) - 1))
        elif fresh != self._entries:
            self.beginResetModel()
            self._entries = fresh
            self.endResetModel()

    def rowCount(self, parent: Index = ROOT) -> int:
        """Number of entries."""
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See HistoryRole."""
        if not index.isValid() or index.row() >= len(self._entries):
            return None
        entry = self._entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line(entry.title)
        if role == HistoryRole.ENTRY:
            return entry
        if role == HistoryRole.DETAIL:
            return self._detail(entry)
        if role == HistoryRole.STATE:
            return str(entry.state)
        if role == HistoryRole.NEXT_UNDO:
            return next((other for other in self._entries if other.can_undo), None) is entry
        if role == HistoryRole.NEXT_REDO:
            return next((other for other in reversed(self._entries) if other.can_redo), None) is entry
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tooltip(entry)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{one_line(entry.title)}, {self._detail(entry)}"
        return None

    def _detail(self, entry: Entry) -> str:
        backup = f"backup {byte_size(entry.backup_bytes)}" if entry.backup_dir is not None else "backup removed"
        return " · ".join((when_text(entry.when_ms, self._now_ms()), str(entry.state), backup))

    def _tooltip(self, entry: Entry) -> str:
        reasons = [entry.note]
        if not entry.can_undo and entry.undo_reason:
            reasons.append(f"Undo: {entry.undo_reason}")
        if not entry.can_redo and entry.redo_reason:
            reasons.append(f"Redo: {entry.redo_reason}")
        where = f"Backup: {entry.backup_dir}" if entry.backup_dir is not None else ""
        written = "Written: " + ", ".join(path.name for path in entry.paths) if entry.paths else ""
        return "\n".join(line for line in (entry.title, written, where, *reasons) if line)
