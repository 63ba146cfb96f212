"""What the reader chose to see more or less of: rows, long sections, stretches. Kept by row number for one task."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ctxviewer.models.stretches import Stretch, StretchKind

FOLDED_FROM = 7
"""A stretch that is not sent starts folded when it has so many messages."""


class Openness:
    """Choices of the reader, with what holds where none was made."""

    def __init__(self) -> None:
        self.compact = False
        """True if rows show only their header until they are opened."""
        self._flipped: set[int] = set()
        self._expanded: dict[int, frozenset[int]] = {}
        self._folds: dict[tuple[StretchKind, int], bool] = {}
        self._made_up: set[int] = set()

    def clear(self) -> None:
        """No choices; `compact` stays."""
        self._flipped.clear()
        self._expanded.clear()
        self._folds.clear()
        self._made_up.clear()

    def shorten(self, rows: int) -> None:
        """Forget rows that are gone."""
        self._flipped = {row for row in self._flipped if row < rows}
        self._expanded = {row: which for row, which in self._expanded.items() if row < rows}

    # -- rows

    def set_compact(self, compact: bool) -> None:
        """Close all rows, or open all."""
        self.compact = compact
        self._flipped.clear()

    def is_open(self, row: int) -> bool:
        """True if more than the header of the row is shown."""
        return (row in self._flipped) is self.compact

    def set_open(self, row: int, is_open: bool) -> None:
        """Show the text of a row, or only its header."""
        if self.is_open(row) is not is_open:
            self._flipped ^= {row}

    def closed_rows(self, rows: int) -> npt.NDArray[np.bool_]:
        """For each of so many rows, True if only its header is shown."""
        closed = np.full(rows, self.compact, dtype=np.bool_)
        closed[[row for row in self._flipped if row < rows]] = not self.compact
        return closed

    # -- long sections

    def expanded(self, row: int) -> frozenset[int]:
        """Sections of a row that are shown whole although they are long."""
        return self._expanded.get(row, frozenset())

    def expand(self, row: int, sections: Iterable[int]) -> None:
        """Show just these sections of a row whole."""
        wanted = frozenset(sections)
        if wanted:
            self._expanded[row] = wanted
        else:
            self._expanded.pop(row, None)

    def expanded_rows(self, rows: int) -> npt.NDArray[np.bool_]:
        """For each of so many rows, True if some section is shown whole."""
        whole = np.zeros(rows, dtype=np.bool_)
        whole[[row for row in self._expanded if row < rows]] = True
        return whole

    # -- made-up messages

    def shows_made_up(self, row: int) -> bool:
        """True if what was made up above a row is shown whole although it is long."""
        return row in self._made_up

    def flip_made_up(self, row: int) -> None:
        """Show it whole, or its preview again."""
        self._made_up ^= {row}

    # -- stretches

    def is_folded(self, stretch: Stretch) -> bool:
        """True if only the line of the stretch is shown."""
        default = stretch.kind is StretchKind.NOT_SENT and stretch.length >= FOLDED_FROM
        return self._folds.get(_key(stretch), default)

    def set_folded(self, stretch: Stretch, folded: bool) -> None:
        """Fold or unfold a stretch."""
        self._folds[_key(stretch)] = folded


def _key(stretch: Stretch) -> tuple[StretchKind, int]:
    """A truncation is known by its first message; there is one stretch of later ones, wherever it starts."""
    return stretch.kind, stretch.first if stretch.kind is StretchKind.NOT_SENT else 0
