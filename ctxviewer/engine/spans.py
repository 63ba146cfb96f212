"""Runs of whole numbers as inclusive pairs, ascending and apart: requests in which something was sent."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

Span = tuple[int, int]
"""First and last, both inclusive."""


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The union, in order; runs that touch become one. Empty runs (last before first) are dropped."""
    joined: list[Span] = []
    for first, last in sorted(spans):
        if last < first:
            continue
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return tuple(joined)


def covers(spans: Sequence[Span], number: int) -> bool:
    """Whether one of the runs holds `number`."""
    place = bisect_right(spans, number, key=lambda span: span[0])
    return place > 0 and number <= spans[place - 1][1]


def minus(spans: Iterable[Span], others: Iterable[Span]) -> tuple[Span, ...]:
    """What the first runs hold and the others do not."""
    taken = merged(others)
    left: list[Span] = []
    for first, last in merged(spans):
        start = first
        for other_first, other_last in taken:
            if other_last < start:
                continue
            if other_first > last:
                break
            left.append((start, other_first - 1))
            start = other_last + 1
        left.append((start, last))
    return tuple((first, last) for first, last in left if first <= last)


def clipped(spans: Iterable[Span], first: int, last: int) -> tuple[Span, ...]:
    """The part of the runs from `first` to `last`, both inclusive."""
    cut = ((max(start, first), min(end, last)) for start, end in spans)
    return tuple((start, end) for start, end in cut if start <= end)


def length(spans: Iterable[Span]) -> int:
    """How many numbers the runs hold."""
    return sum(last - first + 1 for first, last in spans)
