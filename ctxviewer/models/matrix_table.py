"""Strategies side by side as a table: one row a strategy, short numbers in cells, the full story in tooltips."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from ctxviewer.domain.ranges import Range
from ctxviewer.engine.matrix import COLUMNS, Column, Matrix, Row
from ctxviewer.models.listing import plain_tip
from ctxviewer.models.numbers import grouped, short_tokens
from ctxviewer.models.visible import one_line

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()

SHORT_TITLES: Final = {
    "strategy": "Strategy",
    "kept": "kept",
    "saved": "saved",
    "messages": "msgs",
    "blocks": "blocks",
    "files": "files",
    "pair": "pair",
    "instructions": "user",
    "repairs": "repairs",
    "cached": "cache",
    "total": "total",
    "fits": "fits",
    "limit": "< limit",
    "note": "note",
}
_MEANINGS: Final = {
    "strategy": "The rules: Cline's, where no other agent is named; * marks those whose settings you have changed",
    "kept": "Estimated tokens of the messages that would be sent",
    "saved": "Estimated tokens less than without it; below 0 it sends more",
    "messages": "Stored messages that would be sent no more",
    "blocks": "Stored blocks whose own content would be sent no more, rewritten ones included",
    "files": "Files of which the last content would be sent no more",
    "pair": "Of messages 0 and 1: lost or rewritten",
    "instructions": "Messages from 2 on with words of the user that would be sent no more",
    "repairs": "Repairs of calls and results that what is sent would need",
    "cached": "Part of the request before that the provider's cache could still serve",
    "total": "Estimated tokens with system prompt and tools, as far as they are known",
    "fits": "The total is within the model's window",
    "limit": "The total is below the agent's limit, so that the next request is not managed again at once",
    "note": "What the rules say",
}
_TOKENS: Final = frozenset({"kept", "saved", "total"})
_BAD: Final = frozenset({"messages", "blocks", "files", "pair", "instructions", "repairs"})
_LISTED: Final = 20


class MatrixRole(IntEnum):
    """What a proxy and a delegate ask for besides the words."""

    SORT = Qt.ItemDataRole.UserRole + 1
    """A float, or words in lower case; None where nothing is known."""
    ROW = Qt.ItemDataRole.UserRole + 2
    """The engine's `Row`."""
    TONE = Qt.ItemDataRole.UserRole + 3
    """Name of a colour: 'text', 'muted', 'faint', 'error'."""


class MatrixModel(QAbstractTableModel):
    """All columns of the engine's matrix."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._matrix: Matrix | None = None

    @property
    def matrix(self) -> Matrix | None:
        """What is shown."""
        return self._matrix

    def set_matrix(self, found: Matrix | None) -> None:
        """Show another comparison. One with the same strategies keeps its rows, so that sorting and choice stay."""
        old = self._matrix
        same = old is not None and found is not None and _keys(old) == _keys(found)
        if same:
            self._matrix = found
            if self.rowCount():
                self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, len(COLUMNS) - 1), [])
        else:
            self.beginResetModel()
            self._matrix = found
            self.endResetModel()

    def row(self, number: int) -> Row | None:
        """The engine's row, None when there is none."""
        rows = self._matrix.rows if self._matrix is not None else ()
        return rows[number] if 0 <= number < len(rows) else None

    def rowCount(self, parent: Index = ROOT) -> int:
        """Number of strategies."""
        return 0 if parent.isValid() or self._matrix is None else len(self._matrix.rows)

    def columnCount(self, parent: Index = ROOT) -> int:
        """Number of columns, always the same."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Short titles; the tooltip says what is counted."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return SHORT_TITLES[column.key]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{column.title}\n{_MEANINGS[column.key]}")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return column.title
        return _alignment(column).value if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See MatrixRole."""
        row = self.row(index.row()) if index.isValid() else None
        if row is None or not 0 <= index.column() < len(COLUMNS):
            return None
        column = COLUMNS[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return cell_text(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip(cell_tip(row, column))
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{column.title}: {one_line(column.text(row), 300)}"
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column).value
            case MatrixRole.SORT:
                return _sortable(row, column)
            case MatrixRole.ROW:
                return row
            case MatrixRole.TONE:
                return _tone(row, column)
            case _:
                return None


def cell_text(row: Row, column: Column) -> str:
    """A cell in as few characters as it can be said; 0 losses are a dot, so that losses stand out."""
    value = column.value(row)
    if column.key == "strategy":
        return short_name(row)
    if row.problem and column.key != "note":
        return "–"
    if column.key in _TOKENS and isinstance(value, (int, float)):
        sign = "−" if value < 0 else ""
        return f"{sign}{short_tokens(abs(value))}"
    if column.key in _BAD and not value:
        return "·"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return one_line(column.text(row), 300)


def short_name(row: Row) -> str:
    """'Truncate: half', 'Prune (Sage) *': the agent where it is another one, a star where settings were changed."""
    strategy = row.choice.strategy
    other = "" if strategy.agent == "Cline" else f" ({strategy.agent})"
    return f"{strategy.name}{other}{' *' if row.choice.values else ''}"


def cell_tip(row: Row, column: Column) -> str:
    """A cell in full: the exact number, and what is behind it."""
    lines = [f"{column.title}: {column.text(row)}"]
    match column.key:
        case "strategy":
            strategy = row.choice.strategy
            lines = [row.name, strategy.meaning, f"Source: {strategy.source}"]
        case "messages" | "blocks" if row.lost:
            lines.append(f"messages {_runs(row.lost)}")
        case "files":
            lines += _some(row.files_lost)
        case "pair" if row.first_pair_lost:
            lines.append(f"message {' and '.join(map(str, row.first_pair_lost))}")
        case "instructions" if row.instructions_lost:
            lines.append(f"messages {', '.join(_some([str(number) for number in row.instructions_lost]))}")
        case "kept" | "saved" | "total":
            lines.append("estimated with Sage's estimator, one token for four bytes")
        case _:
            pass
    return "\n".join(lines)


def _runs(lost: tuple[Range, ...]) -> str:
    words = [str(run) if run.length > 1 else str(run.start) for run in lost[:_LISTED]]
    return ", ".join(words) + (" …" if len(lost) > _LISTED else "")


def _some(names: list[str] | tuple[str, ...]) -> list[str]:
    shown = [one_line(name, 200) for name in names[:_LISTED]]
    return [*shown, f"and {grouped(len(names) - _LISTED)} more"] if len(names) > _LISTED else shown


def _keys(found: Matrix) -> list[str]:
    return [row.choice.strategy.key for row in found.rows]


def _alignment(column: Column) -> Qt.AlignmentFlag:
    left = column.key in {"strategy", "note"}
    return (Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight) | Qt.AlignmentFlag.AlignVCenter


def _sortable(row: Row, column: Column) -> float | str | None:
    if row.problem and column.key not in {"strategy", "note"}:
        return None
    value = column.value(row)
    if isinstance(value, str):
        return value.casefold()
    return None if value is None else float(value)


def _tone(row: Row, column: Column) -> str:
    if row.problem:
        return "error" if column.key == "note" else "faint" if column.key != "strategy" else "text"
    value = column.value(row)
    if isinstance(value, bool):
        return "text" if value else "error"
    return "faint" if column.key in _BAD and not value else "text"


class MatrixProxy(QSortFilterProxyModel):
    """Sorts, and leaves out the columns in which all strategies are the same. Rows that failed come last."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setSortRole(MatrixRole.SORT)
        self.setDynamicSortFilter(True)
        self._different: frozenset[str] | None = None

    @property
    def different_only(self) -> bool:
        """True while columns are left out."""
        return self._different is not None

    def set_different_only(self, on: bool) -> None:
        """Leave out what is the same in all rows, or show all columns."""
        wanted = self._different_keys() if on else None
        if wanted == self._different:
            return
        if hasattr(self, "endFilterChange"):  # Qt 6.10; the invalidating calls are deprecated there
            self.beginFilterChange()
            self._different = wanted
            self.endFilterChange(QSortFilterProxyModel.Direction.Columns)
        else:
            self._different = wanted
            self.invalidateColumnsFilter()

    def refresh(self) -> None:
        """Other numbers are shown: other columns may differ."""
        self.set_different_only(self.different_only)

    def columns(self) -> tuple[Column, ...]:
        """The columns that are shown, in order."""
        return tuple(COLUMNS[self.mapToSource(self.index(0, place)).column()] for place in range(self.columnCount()))

    def rows(self) -> tuple[Row, ...]:
        """The rows in the order in which they are shown."""
        return tuple(self.index(place, 0).data(MatrixRole.ROW) for place in range(self.rowCount()))

    def _different_keys(self) -> frozenset[str]:
        model = self.sourceModel()
        found = model.matrix if isinstance(model, MatrixModel) else None
        return frozenset(column.key for column in (found.different_columns() if found is not None else COLUMNS))

    def filterAcceptsColumn(self, source_column: int, source_parent: Index) -> bool:  # noqa: ARG002 - Qt's signature
        """True for columns in which rows differ, or for all."""
        return self._different is None or COLUMNS[source_column].key in self._different

    def lessThan(self, left: Index, right: Index) -> bool:
        """Numbers as numbers, words as words; what is not known is last in both directions."""
        one, other = left.data(MatrixRole.SORT), right.data(MatrixRole.SORT)
        if one is None or other is None:
            ascending = self.sortOrder() is Qt.SortOrder.AscendingOrder
            return (other is None and one is not None) if ascending else (one is None and other is not None)
        if isinstance(one, str) or isinstance(other, str):
            return str(one) < str(other)
        return bool(one < other)
