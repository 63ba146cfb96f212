"""Estimated against reported, request by request, as a table; what cannot be right, or does not fit, stands out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from ctxviewer.engine.reconcile import Reconciled
from ctxviewer.models.listing import Index, plain_tip
from ctxviewer.models.numbers import grouped
from ctxviewer.tokens.calibration import Fit, Residual

ROOT = QModelIndex()
ODD_ROLE: Final = Qt.ItemDataRole.UserRole + 1
"""True for a request whose numbers cannot be right, or do not fit."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One request."""

    row: Reconciled
    residual: Residual | None

    @property
    def is_odd(self) -> bool:
        """True where something should be looked at."""
        return bool(self.row.problems) or (self.residual is not None and self.residual.off)

    @property
    def note(self) -> str:
        """What is odd, in words."""
        if self.row.problems:
            return " ".join(problem.sentence for problem in self.row.problems)
        if self.residual is not None and self.residual.off:
            return f"The counter is off: {self.residual.reason}."
        return self.residual.reason if self.residual is not None else ""


class ReconciliationModel(QAbstractTableModel):
    """One row a request; sorted by request, or by any other column."""

    HEADERS: Final = ("request", "reported", "expected", "error", "note")

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[Checked, ...] = ()
        self._rows: tuple[Checked, ...] = ()
        self._only_odd = False
        self._order = (0, Qt.SortOrder.AscendingOrder)

    @property
    def odd(self) -> int:
        """How many requests are odd."""
        return sum(one.is_odd for one in self._all)

    def show(self, rows: tuple[Reconciled, ...], residuals: tuple[Residual, ...] = ()) -> None:
        """Show these requests."""
        known = dict(enumerate(residuals))
        self._all = tuple(Checked(row, known.get(row.request)) for row in rows)
        self._refresh()

    def set_only_odd(self, only: bool) -> None:
        """Show odd requests only, or all."""
        self._only_odd = only
        self._refresh()

    def request(self, row: int) -> int:
        """The request of a row."""
        return self._rows[row].row.request

    def row_of(self, request: int) -> int | None:
        """The row of a request, None where it is not shown."""
        return next((place for place, one in enumerate(self._rows) if one.row.request == request), None)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; unknown numbers come last."""
        self._order = (column, order)
        self._refresh()

    def _refresh(self) -> None:
        column, order = self._order
        rows = [one for one in self._all if one.is_odd or not self._only_odd]
        down = order == Qt.SortOrder.DescendingOrder
        known = [one for one in rows if _sort_value(one, column) is not None]
        known.sort(key=lambda one: _sort_value(one, column) or 0.0, reverse=down)
        unknown = [one for one in rows if _sort_value(one, column) is None]
        self.beginResetModel()
        self._rows = (*known, *unknown)
        self.endResetModel()

    def rowCount(self, parent: Index = ROOT) -> int:
        """Requests that are shown."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = ROOT) -> int:
        """See HEADERS."""
        return 0 if parent.isValid() else len(self.HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Names of the columns, and what they mean."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.HEADERS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.HEADERS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            # the sign of the order stands at the right end of the first one
            side = Qt.AlignmentFlag.AlignRight if 0 < section < 4 else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return (
                "Number of the request",
                "Input, cache reads and cache writes as reported",
                "What the counted messages lead to expect, by the fit",
                "Expected minus reported, as a share of what was reported",
                "What is odd about it",
            )[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Numbers to the right; the note at the end."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        one, column = self._rows[index.row()], index.column()
        row = one.row
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return (
                    f"{row.request + 1:,}",
                    _number(row.reported),
                    _number(row.expected),
                    _share(row.share),
                    one.note,
                )[column]
            case Qt.ItemDataRole.TextAlignmentRole if column < 4:
                return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip(one.note) or None
            case Qt.ItemDataRole.AccessibleTextRole if column == 0:
                return f"request {row.request + 1:,}, {one.note or 'fits'}"
            case _:
                return one.is_odd if role == ODD_ROLE else None


def fit_words(fit: Fit | None) -> str:
    """The fit in one line: 'reported = 1.145 × counted + 10,880; median error 0.6 %'."""
    if fit is None:
        return "Not calibrated: nothing usable was reported."
    if not fit.sloped:
        return f"reported = counted + {grouped(fit.system)}; too few requests, or too alike, for more"
    pictures = f" + {grouped(fit.per_picture)} × images" if fit.per_picture else ""
    error = f"median error {fit.typical_share:.1%}"
    return f"reported = {fit.slope:.3f} × counted{pictures} + {grouped(fit.system)}; {error}"


def _number(value: float | None) -> str:
    return "–" if value is None else grouped(value)


def _share(share: float | None) -> str:
    if share is None:
        return ""
    return "0.0%" if abs(share) < 0.0005 else f"{share:+.1%}".replace("-", "−")


def _sort_value(one: Checked, column: int) -> float | None:
    match column:
        case 1:
            return one.row.reported
        case 2:
            return one.row.expected
        case 3:
            return None if one.row.share is None else abs(one.row.share)
        case 4:
            return 0.0 if one.is_odd else 1.0
        case _:
            return float(one.row.request)
