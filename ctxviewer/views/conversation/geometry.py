"""Where each row stands, for any number of rows: heights as one array, their sums when asked for.

Heights of rows that were never shown are estimated from their bytes; a row that is shown gets its exact height. Lines
above stretches, and what rules made up, take room above the row they belong to; rows of folded stretches take none. No
Qt.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fold:
    """A stretch of rows under one line, and whether they are folded away."""

    first: int
    last: int
    """Inclusive."""
    folded: bool


class Geometry:
    """Heights and places of rows in pixels from the top of all content."""

    def __init__(self) -> None:
        self._heights: Pixels = np.zeros(0, dtype=np.int64)
        self._exact = np.zeros(0, dtype=np.bool_)
        self._folds: tuple[Fold, ...] = ()
        self._firsts: tuple[int, ...] = ()
        self._lead = 0
        self._above: Mapping[int, int] = {}
        self._stops: tuple[tuple[int, int], ...] = ()
        """(row with something above it, how many rows from there on are folded away), ascending."""
        self._tops: Pixels | None = None

    def __len__(self) -> int:
        return len(self._heights)

    # -- heights

    def reset(self, estimates: Pixels) -> None:
        """As many rows as there are estimates, none exact, no folds."""
        self._heights = estimates.astype(np.int64)
        self._exact = np.zeros(len(estimates), dtype=np.bool_)
        self.set_folds((), self._lead)

    def append(self, estimates: Pixels) -> None:
        """More rows at the end."""
        self._heights = np.concatenate((self._heights, estimates.astype(np.int64)))
        self._exact = np.concatenate((self._exact, np.zeros(len(estimates), dtype=np.bool_)))
        self._tops = None

    def shorten(self, rows: int) -> None:
        """Keep the first so many rows. Folds beyond them must be replaced by the caller."""
        self._heights, self._exact = self._heights[:rows], self._exact[:rows]
        self._tops = None

    def estimate(self, estimates: Pixels, *, keep: npt.NDArray[np.bool_] | None = None) -> None:
        """Replace all heights by estimates, but those marked in `keep`. None is exact any more."""
        self._heights = estimates.astype(np.int64) if keep is None else np.where(keep, self._heights, estimates)
        self._exact[:] = False
        self._tops = None

    def doubt(self, first: int, end: int) -> None:
        """The heights of rows first to end - 1 are only estimates from now on."""
        self._exact[first:end] = False

    def set_height(self, row: int, height: int) -> None:
        """The exact height of a row, without the line above it."""
        if self._heights[row] != height:
            self._heights[row] = height
            self._tops = None
        self._exact[row] = True

    def height(self, row: int) -> int:
        """Height of a row, folded or not, without the line above it."""
        return int(self._heights[row])

    def is_exact(self, row: int) -> bool:
        """True if the height was measured and nothing changed since."""
        return bool(self._exact[row])

    # -- folds

    @property
    def folds(self) -> tuple[Fold, ...]:
        """All folds, ascending."""
        return self._folds

    def set_folds(self, folds: Iterable[Fold], lead: int, above: Mapping[int, int] | None = None) -> None:
        """Replace all folds; they must ascend and not overlap. `lead` is the height of the line above each.

        `above` gives further pixels above rows; those of rows that are folded away, but the first of a fold, are not
        shown.
        """
        new, more = tuple(folds), above or {}
        if new != self._folds or lead != self._lead or more != self._above:
            self._folds, self._lead, self._above = new, lead, dict(more)
            self._firsts = tuple(fold.first for fold in new)
            hidden = {fold.first: fold.last - fold.first + 1 if fold.folded else 0 for fold in new}
            for row in more:
                if row not in hidden and not self.is_folded(row):
                    hidden[row] = 0
            self._stops = tuple(sorted(hidden.items()))
            self._tops = None

    def fold_of(self, row: int) -> Fold | None:
        """The fold that a row lies in."""
        place = bisect_right(self._firsts, row) - 1
        if place < 0 or self._folds[place].last < row:
            return None
        return self._folds[place]

    def has_lead(self, row: int) -> bool:
        """True if there is something above this row: the line of a fold, or more."""
        fold = self.fold_of(row)
        if fold is not None and fold.first == row:
            return True
        return row in self._above and (fold is None or not fold.folded)

    def has_line(self, row: int) -> bool:
        """True if the line of a fold is above this row."""
        fold = self.fold_of(row)
        return fold is not None and fold.first == row

    def lead(self, row: int) -> int:
        """Height of what is above a row, 0 if there is nothing."""
        if not self.has_lead(row):
            return 0
        return (self._lead if self.has_line(row) else 0) + self._above.get(row, 0)

    def is_folded(self, row: int) -> bool:
        """True if the row is folded away."""
        fold = self.fold_of(row)
        return fold is not None and fold.folded

    # -- places

    def _sums(self) -> Pixels:
        """Top of each row, including the line above it, and the end of the last one."""
        if self._tops is None:
            shown = self._heights
            if self._stops:
                shown = shown.copy()
                for fold in self._folds:
                    if fold.folded:
                        shown[fold.first : fold.last + 1] = 0
                shown[list(self._firsts)] += self._lead
                for row, _ in self._stops:
                    shown[row] += self._above.get(row, 0)
            self._tops = np.zeros(len(shown) + 1, dtype=np.int64)
            np.cumsum(shown, out=self._tops[1:])
        return self._tops

    @property
    def total(self) -> int:
        """Height of everything."""
        return int(self._sums()[-1])

    def top(self, row: int) -> int:
        """Top of a row, or of the line above it."""
        return int(self._sums()[row])

    def row_at(self, y: int) -> int:
        """The row that covers `y`, with the line above it; the nearest one outside. There must be rows."""
        tops = self._sums()
        inside = min(max(y, 0), max(int(tops[-1]) - 1, 0))
        return int(np.searchsorted(tops[:-1], inside, side="right")) - 1

    # -- items: lines and rows that are shown, as one list

    @property
    def item_count(self) -> int:
        """Rows that are not folded away, and what is above rows."""
        return len(self) + sum(1 - hidden for _, hidden in self._stops)

    def item_at(self, index: int) -> tuple[int, bool]:
        """(row, True for the line above it) of an item. IndexError outside."""
        if not 0 <= index < self.item_count:
            raise IndexError(index)
        row = index
        for first, hidden in self._stops:
            if row < first:
                break
            if row == first:
                return row, True
            row += hidden - 1
        return row, False

    def index_of(self, row: int, lead: bool) -> int | None:
        """The number of an item, None if it is not shown."""
        index = row
        for first, hidden in self._stops:
            if row < first:
                break
            if row == first and lead:
                return index
            if row < first + hidden:
                return None
            index += 1 - hidden
        return None if lead else index

    def next_row(self, row: int) -> int | None:
        """The next row that is not folded away or has a line above it."""
        fold = self.fold_of(row)
        after = fold.last + 1 if fold is not None and fold.folded else row + 1
        return after if after < len(self) else None

    def previous_row(self, row: int) -> int | None:
        """The row before, or the first one of its fold if it is folded away."""
        if row <= 0:
            return None
        fold = self.fold_of(row - 1)
        return fold.first if fold is not None and fold.folded else row - 1


def estimate_heights(sizes: Sequence[int] | Pixels, *, base: int, line: int, columns: int, most_lines: int) -> Pixels:
    """Heights of rows from their bytes as stored, before anything is decoded.

    `base` is what a row takes without text, `line` the height of a line, `columns` the characters of a full one.
    Lines of code and prose are rarely full; about 48 characters is what they hold on average.
    """
    characters = np.maximum(np.asarray(sizes, dtype=np.int64) - 60, 1)
    lines = np.minimum(np.ceil(characters / max(8, min(columns, 48))), most_lines).astype(np.int64)
    return base + line * lines
