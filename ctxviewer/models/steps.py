"""The steps of a plan as a list: sentences, and where in them one stands."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ctxviewer.domain.plan import Plan, Step
from ctxviewer.models.listing import plain_tip
from ctxviewer.models.visible import one_line

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
LONGEST = 400
"""Characters of a sentence in its row; all of it is in the tooltip."""


class StepState(StrEnum):
    """How a step stands to the place in the plan."""

    DONE = "done"
    CURRENT = "done last"
    AHEAD = "ahead"


class StepRole(IntEnum):
    """What a delegate asks for besides the sentence (DisplayRole)."""

    NUMBER = Qt.ItemDataRole.UserRole + 1
    """From 1."""
    STATE = Qt.ItemDataRole.UserRole + 2
    STOP = Qt.ItemDataRole.UserRole + 3
    """Title of the breakpoint that stops before this step, ''."""


class StepsModel(QAbstractListModel):
    """One row a step."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._steps: tuple[Step, ...] = ()
        self._done = 0
        self._stops: Mapping[int, str] = {}

    @property
    def done(self) -> int:
        """How many steps are done."""
        return self._done

    def set_plan(self, plan: Plan | None) -> bool:
        """Show the steps of another plan, none of them done. False if they are shown already."""
        steps = plan.steps if plan is not None else ()
        if steps is self._steps:
            return False
        self.beginResetModel()
        self._steps, self._done, self._stops = steps, 0, {}
        self.endResetModel()
        return True

    def set_done(self, done: int) -> None:
        """So many steps are done."""
        done = max(0, min(done, len(self._steps)))
        if done != self._done:
            low, high = min(done, self._done), max(done, self._done)
            self._done = done
            first, last = max(0, low - 1), min(high, len(self._steps) - 1)
            self.dataChanged.emit(self.index(first), self.index(last), [StepRole.STATE])

    def set_stops(self, stops: Mapping[int, str]) -> None:
        """By row the title of the breakpoint that stops before it."""
        if stops != self._stops:
            self._stops = dict(stops)
            if self._steps:
                self.dataChanged.emit(self.index(0), self.index(len(self._steps) - 1), [StepRole.STOP])

    def state(self, row: int) -> StepState:
        """How a step stands to the place."""
        if row == self._done - 1:
            return StepState.CURRENT
        return StepState.DONE if row < self._done else StepState.AHEAD

    def rowCount(self, parent: Index = ROOT) -> int:
        """Number of steps."""
        return 0 if parent.isValid() else len(self._steps)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """See StepRole."""
        if not index.isValid() or not 0 <= index.row() < len(self._steps):
            return None
        row = index.row()
        sentence = self._steps[row].sentence
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return one_line(sentence, LONGEST)
            case Qt.ItemDataRole.ToolTipRole:
                stop = f"\n{self._stop_words(row)}" if row in self._stops else ""
                return plain_tip(f"{sentence}{stop}\nA click or Enter goes to right behind this step.")
            case Qt.ItemDataRole.AccessibleTextRole:
                words = [f"step {row + 1}, {self.state(row)}", one_line(sentence, LONGEST)]
                return ", ".join((*words, self._stop_words(row)) if row in self._stops else words)
            case StepRole.NUMBER:
                return row + 1
            case StepRole.STATE:
                return self.state(row)
            case StepRole.STOP:
                return self._stops.get(row, "")
            case _:
                return None

    def _stop_words(self, row: int) -> str:
        return f"stops before it: {self._stops[row]} is about to go"
