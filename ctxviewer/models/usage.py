"""Reported usage as arrays for the graph: stacks, decimation, levels, and the estimate of a what-if. No Qt.

Positions are in requests: request k covers k up to, not including, k + 1; its middle is k + 0.5.
Heights are tokens. All counts are *reported* by the provider but `WhatIf.tokens`, which is *estimated*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter, is_
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ctxviewer.domain.plan import Plan
from ctxviewer.domain.request import Request, RequestState
from ctxviewer.engine.cline.window import WindowInfo, compaction_threshold
from ctxviewer.models.numbers import grouped

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

SERIES: Final = ("input", "cache read", "cache write", "output")
"""Parts of a bar from the bottom up."""
CONDENSE_SHARE: Final = 0.75
"""Share of the window at which newer models of Cline are asked to condense (Cline 4.0.10)."""
MOST_BUCKETS: Final = 2_000

_PARTS: Final = ("tokens_in", "cache_reads", "cache_writes", "tokens_out")


_LARGEST = 1e300
"""What a damaged file says beyond it counts as that, so that four parts still have a sum."""


@dataclass(frozen=True, slots=True, eq=False)
class Stacks:
    """The requests of a task as arrays. Never change them: a longer series shares them."""

    requests: tuple[Request, ...]
    tops: Floats
    """Shape (4, n): upper edge of each part, so that tops[3] is the total. Nothing is negative or not finite."""
    known: Bools
    """False where the request has no reported numbers; its tops are 0."""

    def __len__(self) -> int:
        return len(self.requests)

    @property
    def totals(self) -> Floats:
        """Total of each request."""
        row: Floats = self.tops[3]
        return row

    @property
    def peak(self) -> float:
        """Largest total, 0 when there is none."""
        return float(self.totals.max()) if len(self) else 0.0

    @property
    def last_known(self) -> int | None:
        """Number of the newest request with reported numbers."""
        found = np.flatnonzero(self.known)
        return int(found[-1]) if len(found) else None


EMPTY = Stacks((), np.zeros((4, 0)), np.zeros(0, dtype=np.bool_))


def stack(requests: tuple[Request, ...], previous: Stacks = EMPTY) -> Stacks:
    """Arrays for `requests`; those that `previous` has already (the same objects at the front) are not looked at."""
    same = _common_prefix(requests, previous.requests)
    if same == len(requests) == len(previous.requests):
        return previous
    fresh = requests[same:]
    count = len(fresh)
    usages = [request.usage for request in fresh]
    parts = np.empty((4, count))
    for row, name in zip(parts, _PARTS, strict=True):
        row[:] = np.fromiter(map(attrgetter(name), usages), dtype=np.float64, count=count)
    np.nan_to_num(parts, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    np.clip(parts, 0.0, _LARGEST, out=parts)
    known = np.fromiter(map(attrgetter("usage_reported"), fresh), dtype=np.bool_, count=count)
    parts[:, ~known] = 0.0
    tops = np.cumsum(parts, axis=0)
    return Stacks(
        requests,
        np.concatenate([previous.tops[:, :same], tops], axis=1),
        np.concatenate([previous.known[:same], known]),
    )


def _common_prefix(one: Sequence[Request], other: Sequence[Request]) -> int:
    """How many requests at the front are the same objects. Equal values made anew cost less to read than to compare."""
    same = bytes(map(is_, one, other))
    first = same.find(0)
    return len(same) if first < 0 else first


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What to draw for a stretch of requests: columns from left to right, without gaps or overlaps."""

    left: Floats
    right: Floats
    """Edges in requests."""
    tops: Floats
    """Shape (4, m), one real request per column."""
    picked: Ints
    """Which request each column shows."""
    per_bucket: int
    """How many requests a bucket stands for; 1 = every request has its own column."""


def columns(stacks: Stacks, first: float, last: float, most: int = MOST_BUCKETS) -> Columns:
    """Columns for the requests from position `first` to `last`, in at most `most` buckets.

    Where several requests share a bucket, it shows the one with the smallest and the one with the largest total, in
    their order, each on half of it. Buckets stand at multiples of their size, so that panning does not make the
    picture flicker.
    """
    low = int(np.clip(np.floor(first), 0, len(stacks)))
    high = int(np.clip(np.ceil(last), low, len(stacks)))
    size = max(1, -(-(high - low) // max(1, most)))
    if size == 1:
        numbers = np.arange(low, high, dtype=np.int64)
        edges = np.arange(low, high + 1, dtype=np.float64)
        return Columns(edges[:-1], edges[1:], stacks.tops[:, low:high], numbers, 1)
    low = low // size * size
    buckets = -(-(high - low) // size)
    while buckets > most:  # aligning to the left may need one more
        size += 1
        low = low // size * size
        buckets = -(-(high - low) // size)
    high = min(len(stacks), low + buckets * size)
    smallest = _reduced(stacks, low, high, buckets, size, largest=False)
    largest = _reduced(stacks, low, high, buckets, size, largest=True)
    picked = np.empty(2 * buckets, dtype=np.int64)
    picked[0::2] = np.minimum(smallest, largest)
    picked[1::2] = np.maximum(smallest, largest)
    starts = low + np.arange(buckets, dtype=np.float64) * size
    ends = np.minimum(starts + size, high)
    left, right = np.empty(2 * buckets), np.empty(2 * buckets)
    left[0::2], right[1::2] = starts, ends
    left[1::2] = right[0::2] = (starts + ends) / 2
    return Columns(left, right, stacks.tops[:, picked], picked, size)


def _reduced(stacks: Stacks, low: int, high: int, buckets: int, size: int, *, largest: bool) -> Ints:
    """Per bucket the number of the request with the largest (smallest) total; unknown ones only where all are."""
    worst = -np.inf if largest else np.inf
    padded = np.full(buckets * size, worst)
    totals = padded[: high - low]
    totals[:] = stacks.totals[low:high]
    totals[~stacks.known[low:high]] = -1.0 if largest else np.finfo(np.float64).max
    table = padded.reshape(buckets, size)
    place = table.argmax(axis=1) if largest else table.argmin(axis=1)
    numbers: Ints = low + np.arange(buckets, dtype=np.int64) * size + place
    return numbers


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal line of the graph."""

    name: str
    tokens: float
    meaning: str


def levels(window: float, limit: float) -> tuple[Level, ...]:
    """The lines for a model window and the limit of the rules, from the top down; none for an unknown window (0).

    Limit and condense threshold are one line where they are the same.
    """
    if window <= 0:
        return ()
    condense = float(compaction_threshold(WindowInfo(window, limit), CONDENSE_SHARE))
    top = Level("window", window, "all that the model can take in")
    managed, asked = "the context is managed: optimised, then truncated", "newer models are asked to condense"
    if condense >= limit:
        return (top, Level("limit, condense", limit, f"from here on {managed}; {asked}"))
    return (top, Level("limit", limit, f"from here on {managed}"), Level("75 %", condense, f"from here on {asked}"))


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What a previewed plan would make of the next request."""

    at: int
    """Number that the next request would have."""
    tokens: float | None
    """Its estimated total; None when nothing was reported that an estimate could start from."""
    lost: range
    """Requests that the plan takes back."""
    title: str


def what_if(plan: Plan, stacks: Stacks, tokens: float | None = None, at: int | None = None) -> WhatIf:
    """The estimate for a plan that is about request `at`, None = the next one.

    Without `tokens` (an estimate made elsewhere), the newest reported total is scaled by the share of characters that
    the plan leaves.
    """
    lost = plan.lost_requests if len(plan.lost_requests) else range(0)
    if at is None:
        at = min(lost.start, len(stacks)) if len(lost) else len(stacks)
    base = stacks.last_known
    if tokens is None and base is not None and plan.characters_before > 0:
        tokens = float(stacks.totals[base]) * plan.characters_after / plan.characters_before
    return WhatIf(at, tokens, lost, plan.title)


def request_sentence(stacks: Stacks, number: int, window: float) -> tuple[str, ...]:
    """Everything the graph knows about one request, a line each, for hover and for screen readers."""
    request = stacks.requests[number]
    head = f"Request {number + 1:,} of {len(stacks):,}"
    if request.state is not RequestState.DONE:
        head += f" · {request.state}"
    if not request.usage_reported:
        return (head, "no numbers reported")
    usage = request.usage
    parts = (usage.tokens_in, usage.cache_reads, usage.cache_writes, usage.tokens_out)
    lines = [head, f"total {grouped(usage.total)} reported" + (_share(usage.total, window))]
    lines += [f"{name} {grouped(count)} reported" for name, count in zip(SERIES, parts, strict=True)]
    if usage.cost is not None:
        lines.append(f"cost ${usage.cost:,.4f} reported")
    return tuple(lines)


def _share(total: float, window: float) -> str:
    return f", {total / window:.0%} of the window" if window > 0 else ""


def summary(stacks: Stacks, lines: Sequence[Level], selected: int | None, window: float) -> str:
    """The whole graph in words, for people who cannot see it."""
    if not len(stacks):
        return "No requests."
    words = [f"{len(stacks):,} requests." if len(stacks) != 1 else "1 request."]
    if stacks.known.any():
        top = int(stacks.totals.argmax())
        words.append(f"The largest is request {top + 1:,} with {grouped(stacks.peak)} tokens reported.")
    else:
        words.append("None reports token numbers.")
    if lines:
        words.append(", ".join(f"{line.name} {grouped(line.tokens)}" for line in lines) + " tokens.")
    if selected is None:
        words.append("Following the newest.")
    elif 0 <= selected < len(stacks):
        words.append("Chosen: " + ", ".join(request_sentence(stacks, selected, window)) + ".")
    return " ".join(words)
