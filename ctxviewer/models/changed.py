"""Which rows differ between two projections of one task, without looking at any message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from ctxviewer.domain.projection import Projection


def standing_differs(old: Projection, new: Projection, rows: int) -> Iterator[tuple[int, int]]:
    """Stretches of rows, end exclusive, that stand otherwise in `new` than in `old`, ascending."""
    edges = {0, rows}
    for projection in (old, new):
        edges.update((projection.first_pair, projection.resume, projection.until))
    if old.gone != new.gone:
        for first, end in intervals(old.gone ^ new.gone):
            edges.update((first, end))
    places = sorted(edge for edge in edges if 0 <= edge <= rows)
    open_since: int | None = None
    for first, end in pairwise(places):
        if old.standing(first) is not new.standing(first):
            open_since = first if open_since is None else open_since
        elif open_since is not None:
            yield open_since, first
            open_since = None
        if end == rows and open_since is not None:
            yield open_since, rows


def texts_differ(old: Projection, new: Projection) -> set[int]:
    """Messages whose text as sent may differ although they stand as before."""
    rows: set[int] = set()
    if (old.until <= 1) is not (new.until <= 1):
        # A first request sends its message as it is: nothing is replaced or paired, not even in what comes later.
        rows.update(range(max(old.stored, new.stored)))
    if old.updates is not new.updates:
        known = old.updates
        for key, update in new.updates.items():
            before = known.get(key)
            if before is not update and before != update:
                rows.add(key[0])
        rows.update(key[0] for key in known if key not in new.updates)
    if old.repairs is not new.repairs and old.repairs != new.repairs:
        rows.update(repair.message for repair in set(old.repairs) ^ set(new.repairs))
    if (old.resume, old.first_pair, old.until) != (new.resume, new.first_pair, new.until):
        # What pairs up across a seam depends on where it lies, whether or not repairs have been looked for.
        for projection in (old, new):
            rows.update((projection.first_pair, projection.resume, projection.until - 1))
    if old.repeated != new.repeated:
        rows.update((*old.repeated, *new.repeated))
    rows.update(_halves(old, new))
    return rows


def _halves(old: Projection, new: Projection) -> set[int]:
    """Messages that are left out in part in only one of the two, and the neighbours of all that are left out.

    A call stands before its result: which half of a pair is missing is said in the message that is still there.
    """
    rows: set[int] = set()
    if old.gone_blocks != new.gone_blocks:
        for message, _ in old.gone_blocks ^ new.gone_blocks:
            rows.update((message - 1, message, message + 1))
    if old.gone != new.gone:
        for first, end in intervals(old.gone ^ new.gone):
            rows.update((first - 1, end))
    return rows


def intervals(rows: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Rows next to each other joined, end exclusive, ascending."""
    first = end = -1
    for row in sorted(rows):
        if row != end:
            if end > first:
                yield first, end
            first = row
        end = row + 1
    if end > first:
        yield first, end
