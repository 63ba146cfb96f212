"""The tree of tasks: agent and host above, tasks below, newest first. Made for ten thousand of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import IntEnum

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from ctxviewer.domain.snapshot import Agent, TaskRef
from ctxviewer.models.numbers import LAST_MS, byte_size, counted, short_tokens

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
AGENT_NAMES = {Agent.CLINE: "Cline"}
TITLE_LIMIT = 120
"""Characters of a title that are shown; the tooltip has the first thousand."""


class TaskRole(IntEnum):
    """What a delegate asks for."""

    REF = Qt.ItemDataRole.UserRole + 1
    """TaskRef; None for a group."""
    DETAIL = Qt.ItemDataRole.UserRole + 2
    """The second line: when, how much."""
    LIVE = Qt.ItemDataRole.UserRole + 3
    PROBLEM = Qt.ItemDataRole.UserRole + 4
    """Why it cannot be opened, '' when it can."""
    SEARCH = Qt.ItemDataRole.UserRole + 5
    """Lower-case text that the filter looks into."""
    FAVOURITE = Qt.ItemDataRole.UserRole + 6


@dataclass(slots=True, eq=False)
class _Group:
    """One agent on one host. Rows are in the order of the tasks handed in."""

    number: int
    """From 1, never used twice: the internal id of its tasks, so that indexes survive when other groups go."""
    key: tuple[str, str]
    rows: list[TaskRef] = field(default_factory=list)

    @property
    def title(self) -> str:
        agent, host = self.key
        name = AGENT_NAMES.get(Agent(agent), agent)
        return f"{name} · {host}" if host else f"{name} · folders"


def one_line(text: str, limit: int = TITLE_LIMIT) -> str:
    """The first line with words in it, shortened, without characters that move others or cannot be drawn."""
    line = next((part.strip() for part in text[:4_000].splitlines() if part.strip()), "")
    clean = "".join(char if char.isprintable() else " " for char in line).encode("utf-16", "replace").decode("utf-16")
    return clean if len(clean) <= limit else clean[: limit - 1].rstrip() + "…"


def when_text(ms: int, now_ms: int) -> str:
    """'14:02' today, '3 May' this year, '3 May 2024' else; '' for 0 and for what is no time. Local time."""
    if not 0 < ms < LAST_MS:
        return ""
    moment = datetime.fromtimestamp(ms / 1000, tz=UTC).astimezone()
    now = datetime.fromtimestamp(now_ms / 1000, tz=UTC).astimezone()
    if moment.date() == now.date():
        return f"{moment:%H:%M}"
    day = f"{moment.day} {moment:%b}"
    return day if moment.year == now.year else f"{day} {moment.year}"


class TaskTreeModel(QAbstractItemModel):
    """Groups and their tasks. Rows are moved, not reset, so that selection and scroll position survive a refresh."""

    def __init__(self, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now_ms = now_ms
        self._groups: list[_Group] = []
        self._numbers = itertools.count(1)
        self._by_number: dict[int, _Group] = {}
        self._live: frozenset[str] = frozenset()

    # -- filling ------------------------------------------------------------------------------------------------

    def set_tasks(self, tasks: Sequence[TaskRef]) -> None:
        """Show these tasks, in this order within their groups. Groups come in the order of their first task."""
        wanted: dict[tuple[str, str], list[TaskRef]] = {}
        for ref in tasks:
            wanted.setdefault((str(ref.agent), ref.host), []).append(ref)
        for row in range(len(self._groups) - 1, -1, -1):
            if self._groups[row].key not in wanted:
                self.beginRemoveRows(ROOT, row, row)
                del self._by_number[self._groups[row].number]
                del self._groups[row]
                self.endRemoveRows()
        for group in self._groups:
            self._update_group(group, wanted[group.key])
        known = {group.key for group in self._groups}
        fresh = [_Group(next(self._numbers), key, rows) for key, rows in wanted.items() if key not in known]
        if fresh:
            first = len(self._groups)
            self.beginInsertRows(ROOT, first, first + len(fresh) - 1)
            self._groups.extend(fresh)
            self._by_number.update((group.number, group) for group in fresh)
            self.endInsertRows()

    def set_live(self, directories: frozenset[str]) -> None:
        """Mark the tasks whose files were touched a moment ago."""
        changed = directories ^ self._live
        self._live = directories
        for directory in changed:
            index = self.index_of(directory)
            if index.isValid():
                self.dataChanged.emit(index, index, [TaskRole.LIVE, Qt.ItemDataRole.AccessibleTextRole])

    def index_of(self, directory: str) -> QModelIndex:
        """The index of a task by its directory, invalid if it is not there."""
        for group in self._groups:
            for row, ref in enumerate(group.rows):
                if str(ref.directory) == directory:
                    return self.createIndex(row, 0, group.number)
        return QModelIndex()

    def _update_group(self, group: _Group, wanted: list[TaskRef]) -> None:
        if group.rows == wanted:
            return
        parent = self.createIndex(self._groups.index(group), 0, 0)
        names = {str(ref.directory) for ref in wanted}
        self._remove_missing(group, parent, names)
        present = {str(ref.directory) for ref in group.rows}
        fresh = [ref for ref in wanted if str(ref.directory) not in present]
        if fresh:
            self.beginInsertRows(parent, 0, len(fresh) - 1)
            group.rows[:0] = fresh
            self.endInsertRows()
        self._reorder(group, wanted)

    def _remove_missing(self, group: _Group, parent: QModelIndex, names: set[str]) -> None:
        row = len(group.rows) - 1
        while row >= 0:
            if str(group.rows[row].directory) in names:
                row -= 1
                continue
            last = row
            while row >= 0 and str(group.rows[row].directory) not in names:
                row -= 1
            self.beginRemoveRows(parent, row + 1, last)
            del group.rows[row + 1 : last + 1]
            self.endRemoveRows()

    def _reorder(self, group: _Group, wanted: list[TaskRef]) -> None:
        before = [str(ref.directory) for ref in group.rows]
        after = [str(ref.directory) for ref in wanted]
        if before != after:
            self.layoutAboutToBeChanged.emit()
            place = {name: row for row, name in enumerate(after)}
            number = group.number
            old = [index for index in self.persistentIndexList() if index.internalId() == number]
            new = [self.createIndex(place[before[index.row()]], 0, number) for index in old]
            group.rows[:] = wanted
            self.changePersistentIndexList(old, new)
            self.layoutChanged.emit()
            self._tell_changed(group, 0, len(wanted) - 1)
            return
        others = [row for row, (old, ref) in enumerate(zip(group.rows, wanted, strict=True)) if old != ref]
        group.rows[:] = wanted
        if others:
            self._tell_changed(group, others[0], others[-1])

    def _tell_changed(self, group: _Group, first: int, last: int) -> None:
        if last >= first:
            self.dataChanged.emit(*(self.createIndex(row, 0, group.number) for row in (first, last)))

    # -- what Qt asks -------------------------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = ROOT) -> QModelIndex:
        """Groups have the internal id 0, tasks the number of their group."""
        if column != 0 or row < 0:
            return QModelIndex()
        if not parent.isValid():
            return self.createIndex(row, 0, 0) if row < len(self._groups) else QModelIndex()
        if parent.internalId() == 0 and parent.row() < len(self._groups) and row < len(self._groups[parent.row()].rows):
            return self.createIndex(row, 0, self._groups[parent.row()].number)
        return QModelIndex()

    def parent(self, child: Index = ROOT) -> QModelIndex:  # type: ignore[override] # Qt also has parent() of QObject
        """The group of a task."""
        group = self._by_number.get(child.internalId()) if child.isValid() else None
        return self.createIndex(self._groups.index(group), 0, 0) if group is not None else QModelIndex()

    def rowCount(self, parent: Index = ROOT) -> int:
        """Groups, or tasks of a group."""
        if not parent.isValid():
            return len(self._groups)
        if parent.internalId() != 0 or parent.row() >= len(self._groups):
            return 0
        return len(self._groups[parent.row()].rows)

    def columnCount(self, parent: Index = ROOT) -> int:  # noqa: ARG002 - Qt's signature
        """One."""
        return 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Tasks can be chosen, groups only opened and closed."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        if index.internalId() == 0:
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See TaskRole."""
        if not index.isValid():
            return None
        number = index.internalId()
        if number == 0:
            return self._group_data(self._groups[index.row()], role) if index.row() < len(self._groups) else None
        group = self._by_number.get(number)
        rows = group.rows if group is not None else []
        return self._task_data(rows[index.row()], role) if index.row() < len(rows) else None

    def _group_data(self, group: _Group, role: int) -> object:
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return group.title
        if role == TaskRole.DETAIL:
            return counted(len(group.rows), "task")
        if role == Qt.ItemDataRole.ToolTipRole:
            roots = sorted({str(ref.root) for ref in group.rows})
            return "\n".join(roots[:8] + (["…"] if len(roots) > 8 else []))
        if role == TaskRole.SEARCH:
            return ""
        return None

    def _task_data(self, ref: TaskRef, role: int) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line(ref.title) or ref.task_id
        if role == TaskRole.REF:
            return ref
        if role == TaskRole.DETAIL:
            return self._detail(ref)
        if role == TaskRole.LIVE:
            return str(ref.directory) in self._live
        if role == TaskRole.PROBLEM:
            return ref.problem
        if role == TaskRole.FAVOURITE:
            return ref.favourite
        if role == TaskRole.SEARCH:
            return f"{one_line(ref.title, 400)} {ref.task_id} {ref.host} {ref.directory}".lower()
        if role == Qt.ItemDataRole.ToolTipRole:
            lines = (one_line(ref.title, 1_000), ref.problem, str(ref.directory))
            return "\n".join(line for line in lines if line)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            state = "running, " if str(ref.directory) in self._live else ""
            return f"{one_line(ref.title) or ref.task_id}, {state}{ref.problem or self._detail(ref)}"
        return None

    def _detail(self, ref: TaskRef) -> str:
        parts = [when_text(ref.updated_ms or ref.created_ms, self._now_ms())]
        if ref.total_tokens:
            parts.append(f"{short_tokens(ref.total_tokens)} tokens")
        elif ref.size:
            parts.append(byte_size(ref.size))
        if not ref.in_index:
            parts.append("not in the index")
        return " · ".join(part for part in parts if part)


class TaskFilter(QSortFilterProxyModel):
    """Shows the tasks whose title, id or folder has all the words."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words: tuple[str, ...] = ()
        self.setRecursiveFilteringEnabled(True)
        self.setAutoAcceptChildRows(False)

    def set_filter(self, text: str) -> None:
        """Words, separated by blanks; upper and lower case are alike."""
        words = tuple(text.lower().split())
        if words == self._words:
            return
        if hasattr(self, "endFilterChange"):  # Qt 6.10; invalidateFilter is deprecated there
            self.beginFilterChange()
            self._words = words
            self.endFilterChange()
        else:
            self._words = words
            self.invalidateFilter()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        """True for a task that has all the words; groups follow their tasks."""
        if not self._words:
            return True
        if not parent.isValid():
            return False
        text = self.sourceModel().index(row, 0, parent).data(TaskRole.SEARCH)
        return all(word in text for word in self._words)
