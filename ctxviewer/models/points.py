"""Points that a task can be rolled back to, newest first, for the dialog that asks for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ctxviewer.domain.request import Checkpoint, CheckpointKind
from ctxviewer.models.tasks import one_line, when_text

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
KINDS = {
    CheckpointKind.CHECKPOINT: "checkpoint",
    CheckpointKind.COMPLETION: "completion",
    CheckpointKind.MESSAGE: "conversation only",
}


class PointRole(IntEnum):
    """What the dialog and its delegate ask for."""

    CHECKPOINT = Qt.ItemDataRole.UserRole + 1
    DETAIL = Qt.ItemDataRole.UserRole + 2


class PointsModel(QAbstractListModel):
    """One row a point that passes the filter."""

    def __init__(self, now_ms: Callable[[], int], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now_ms = now_ms
        self._all: tuple[Checkpoint, ...] = ()
        self._shown: tuple[Checkpoint, ...] = ()
        self._words: tuple[str, ...] = ()
        self._only_checkpoints = True

    def set_points(self, points: Sequence[Checkpoint]) -> None:
        """All points, oldest first."""
        self._all = tuple(reversed(points))
        self._refilter()

    def set_filter(self, text: str, *, only_checkpoints: bool) -> None:
        """Words that the title or time must have; and whether other entries of the timeline are left out."""
        self._words, self._only_checkpoints = tuple(text.lower().split()), only_checkpoints
        self._refilter()

    def _refilter(self) -> None:
        self.beginResetModel()
        self._shown = tuple(point for point in self._all if self._passes(point))
        self.endResetModel()

    def _passes(self, point: Checkpoint) -> bool:
        if self._only_checkpoints and point.kind is CheckpointKind.MESSAGE:
            return False
        text = f"{one_line(point.title, 400)} {self._detail(point)}".lower() if self._words else ""
        return all(word in text for word in self._words)

    def rowCount(self, parent: Index = ROOT) -> int:
        """Points that pass the filter."""
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See PointRole."""
        if not index.isValid() or index.row() >= len(self._shown):
            return None
        point = self._shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line(point.title) or KINDS[point.kind].capitalize()
        if role == PointRole.CHECKPOINT:
            return point
        if role == PointRole.DETAIL:
            return self._detail(point)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{one_line(point.title) or point.kind}, {self._detail(point)}"
        return None

    def _detail(self, point: Checkpoint) -> str:
        after = f"after request {point.request + 1:,}" if point.request is not None else "before the first request"
        kept = f"keeps {point.last_message + 2:,} messages" if point.last_message is not None else ""
        parts = (when_text(point.ts, self._now_ms()), after, kept, KINDS[point.kind])
        return " · ".join(part for part in parts if part)
