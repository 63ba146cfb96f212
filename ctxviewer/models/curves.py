"""Replays as curves over the reported bars: estimated totals by request, and the points that a width has room for.

Positions are in requests, as in `models.usage`. No Qt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ctxviewer.engine.replay import Replay
from ctxviewer.models.numbers import grouped
from ctxviewer.models.replay_events import run_name
from ctxviewer.models.usage import Floats

LOOKS = 6
"""So many curves look different from each other."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One strategy over all requests. All numbers are estimated."""

    name: str
    totals: Floats
    """By request; NaN where nothing was reported that an estimate could start from."""
    look: int
    """0 … LOOKS - 1: which colour and pattern."""
    label: str = ""
    """A word or two for where there is little room."""

    @property
    def peak(self) -> float:
        """The largest total, 0 when none is known."""
        known = self.totals[~np.isnan(self.totals)]
        return float(known.max()) if len(known) else 0.0

    @property
    def last(self) -> float | None:
        """The newest total that is known."""
        known = self.totals[~np.isnan(self.totals)]
        return float(known[-1]) if len(known) else None


def curves_of(runs: Sequence[Replay]) -> tuple[Curve, ...]:
    """One curve a run that has requests, in order."""
    return tuple(
        Curve(
            run_name(run),
            np.array([np.nan if row.total is None else row.total for row in run.rows], dtype=np.float64),
            place % LOOKS,
            run.choice.strategy.key,
        )
        for place, run in enumerate(runs)
        if run.rows
    )


def polylines(curve: Curve, first: float, per_request: float, width: float) -> Iterator[tuple[Floats, Floats]]:
    """(x in pixels, tokens) of each part without a gap, for requests that are visible and one beyond each edge.

    x = (position - first) * per_request. Where several requests share a pixel, its smallest and its largest total are
    kept, in this order, so that no peak is lost.
    """
    if per_request <= 0 or not len(curve.totals):
        return
    low = max(0, int(first) - 1)
    high = min(len(curve.totals), int(first + width / per_request) + 2)
    if low >= high:
        return
    x: Floats = (np.arange(low, high, dtype=np.float64) + 0.5 - first) * per_request
    tokens = curve.totals[low:high]
    if per_request < 0.5:
        x, tokens = _thinned(x, tokens)
    known = ~np.isnan(tokens)
    edges = np.flatnonzero(np.diff(known.astype(np.int8))) + 1
    for part in np.split(np.arange(len(x)), edges):
        if len(part) and known[part[0]]:
            yield x[part], tokens[part]


def _thinned(x: Floats, tokens: Floats) -> tuple[Floats, Floats]:
    starts = np.flatnonzero(np.diff(np.floor(x), prepend=-np.inf))
    with np.errstate(invalid="ignore"):
        smallest, largest = np.fmin.reduceat(tokens, starts), np.fmax.reduceat(tokens, starts)
    columns = np.floor(x[starts])
    return np.repeat(columns, 2), np.column_stack((smallest, largest)).reshape(-1)


def curve_sentences(curves: Sequence[Curve], number: int) -> tuple[str, ...]:
    """What each curve says of one request: 'Cline: half 22,100 estimated'."""
    return tuple(
        f"{curve.name} {grouped(float(curve.totals[number]))} estimated"
        for curve in curves
        if number < len(curve.totals) and not np.isnan(curve.totals[number])
    )
