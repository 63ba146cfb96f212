"""A list of values as a Qt model that changes gently: what only grew keeps its selection and scroll position.

Subclasses say in words what a value is; nothing here knows what the values mean.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ctxviewer.models.numbers import LAST_MS
from ctxviewer.models.visible import LINE_BREAK, make_visible

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
T = TypeVar("T")


class ListingRole(IntEnum):
    """What a delegate asks for besides the title (DisplayRole)."""

    ITEM = Qt.ItemDataRole.UserRole + 1
    """The value itself."""
    DETAIL = Qt.ItemDataRole.UserRole + 2
    """The second line."""
    ICON = Qt.ItemDataRole.UserRole + 3
    """Name of an icon."""
    TONE = Qt.ItemDataRole.UserRole + 4
    """Name of a colour for the icon."""
    AMOUNT = Qt.ItemDataRole.UserRole + 5
    """A short number at the right end of the first line."""
    QUIET = Qt.ItemDataRole.UserRole + 6
    """True for a row that only says what is between others."""


@dataclass(frozen=True, slots=True)
class RowWords:
    """A row in words."""

    title: str
    detail: str = ""
    icon: str = ""
    tone: str = "muted"
    tooltip: str = ""
    """Plain text; the model hands it out so that Qt shows it as such."""
    amount: str = ""
    """A short number at the right end of the first line."""
    quiet: bool = False
    """True for a row that only says what is between others."""


class Listing(QAbstractListModel, Generic[T]):
    """One row a value, oldest first, or newest first if asked."""

    def __init__(self, parent: QObject | None = None, *, newest_first: bool = False) -> None:
        super().__init__(parent)
        self._items: tuple[T, ...] = ()
        self._newest_first = newest_first

    def words(self, item: T) -> RowWords:
        """What the row of a value says."""
        raise NotImplementedError

    @property
    def items(self) -> tuple[T, ...]:
        """All values, oldest first."""
        return self._items

    def item(self, row: int) -> T:
        """The value of a row. IndexError when there is none."""
        if not 0 <= row < len(self._items):
            raise IndexError(row)
        return self._items[self._place(row)]

    def row_of(self, item: T) -> int | None:
        """The row of a value, None when it is not here."""
        return self._place(self._items.index(item)) if item in self._items else None

    def set_items(self, items: Sequence[T]) -> None:
        """Show these values, oldest first."""
        fresh, old = tuple(items), self._items
        shared = min(len(fresh), len(old))
        if fresh[:shared] != old[:shared]:
            self.beginResetModel()
            self._items = fresh
            self.endResetModel()
        elif len(fresh) > len(old):
            count = len(fresh) - len(old)
            first = 0 if self._newest_first else len(old)
            self.beginInsertRows(ROOT, first, first + count - 1)
            self._items = fresh
            self.endInsertRows()
        elif len(fresh) < len(old):
            count = len(old) - len(fresh)
            first = 0 if self._newest_first else len(fresh)
            self.beginRemoveRows(ROOT, first, first + count - 1)
            self._items = fresh
            self.endRemoveRows()

    def _place(self, row: int) -> int:
        return len(self._items) - 1 - row if self._newest_first else row

    def rowCount(self, parent: Index = ROOT) -> int:
        """Number of values."""
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See ListingRole."""
        if not index.isValid() or not 0 <= index.row() < len(self._items):
            return None
        item = self.item(index.row())
        if role == ListingRole.ITEM:
            return item
        words = self.words(item)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return words.title
            case ListingRole.DETAIL:
                return words.detail
            case ListingRole.ICON:
                return words.icon
            case ListingRole.TONE:
                return words.tone
            case ListingRole.AMOUNT:
                return words.amount
            case ListingRole.QUIET:
                return words.quiet
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip(words.tooltip) or None
            case Qt.ItemDataRole.AccessibleTextRole:
                return ", ".join(part for part in (words.title, words.amount, words.detail) if part)
            case _:
                return None


def stamp(ms: float | None) -> str:
    """'2026-05-03 14:02:11' in local time; '' for no time, or one that is none."""
    if ms is None or not 0 < ms < LAST_MS:
        return ""
    return f"{datetime.fromtimestamp(ms / 1000, tz=UTC).astimezone():%Y-%m-%d %H:%M:%S}"


def plain_tip(text: str) -> str:
    """A tooltip that shows `text` as it is: Qt would read a task's own text as markup. '' stays ''."""
    shown = html.escape(make_visible(text).text).replace(LINE_BREAK, "<br>")
    return f"<qt>{shown}</qt>" if text else ""


def joined(*parts: str) -> str:
    """The parts that say something, with a middle dot between them."""
    return " · ".join(part for part in parts if part)
