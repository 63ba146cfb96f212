"""What the requests of a task sent as recorded, in estimated tokens, and how the estimate relates to reported ones."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from ctxviewer.domain.updates import Update
from ctxviewer.engine.cline.truncation import FIRST_DELETED, resume_index
from ctxviewer.engine.strategies.cline_memory import orphans
from ctxviewer.engine.strategies.facts import Facts

_SMALLEST, _LARGEST = 0.5, 3.0
"""Bounds of the factor: estimates by length are off by less."""
_ENOUGH = 3
"""So many requests are needed to tell how the estimate relates to reported numbers."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Estimates of what each request sent, by request number."""

    tokens: tuple[int, ...]
    """Of the messages, by the facts' counts."""
    until: tuple[int, ...]
    """So many messages existed; never fewer than at the request before."""
    factor: float
    """Reported tokens per estimated one, from request to request; 1 where that cannot be told."""

    def total_with(self, number: int, tokens: int, reported: float) -> float:
        """What request `number` would have reported with `tokens` estimated tokens instead of the recorded ones.

        Exactly `reported` when they are equal or it is no finite number, else a whole number.
        """
        difference = tokens - self.tokens[number]
        if not difference or not math.isfinite(reported):
            return reported
        return max(0, round(reported + self.factor * difference))


@dataclass(frozen=True, slots=True)
class _Differences:
    """What one set of updates adds to the tokens, by message, as running sums."""

    messages: tuple[int, ...]
    sums: tuple[int, ...]

    def between(self, first: int, end: int) -> int:
        return self.sums[bisect_left(self.messages, end)] - self.sums[bisect_left(self.messages, first)]


def recorded(facts: Facts) -> Recorded:
    """Weigh every request. The cost grows with requests, messages and distinct sets of updates, not their product."""
    timeline = facts.timeline
    known: dict[int, _Differences] = {}
    tokens: list[int] = []
    reach: list[int] = []
    until = 0
    stored = len(timeline.snapshot.messages)
    for request, moment in zip(timeline.requests, timeline.moments, strict=True):
        until = max(until, min(moment.until, stored))
        updates = timeline.updates_at(request.number)
        differences = known.get(id(updates))
        if differences is None:
            differences = known[id(updates)] = _differences(facts, updates)
        resume = resume_index(moment.deleted_range)
        start, pair = min(max(resume, 0), until), min(FIRST_DELETED, until)
        texts = facts.tokens(0, pair) + facts.tokens(start, until)
        added = differences.between(0, pair) + differences.between(max(start, pair), until)
        tokens.append(max(0, texts + added - orphans(facts, resume, until)))
        reach.append(until)
    return Recorded(tuple(tokens), tuple(reach), _factor(facts, tokens))


def _differences(facts: Facts, updates: Mapping[tuple[int, int], Update]) -> _Differences:
    by_message: dict[int, int] = {}
    for (message, _), update in updates.items():
        by_message[message] = by_message.get(message, 0) + facts.update_tokens(update)
    messages = tuple(sorted(by_message))
    sums = [0]
    for message in messages:
        sums.append(sums[-1] + by_message[message])
    return _Differences(messages, tuple(sums))


def _factor(facts: Facts, tokens: list[int]) -> float:
    """The slope of reported against estimated tokens, by least squares."""
    points = [
        (float(estimated), request.usage.total - request.usage.tokens_out)
        for request, estimated in zip(facts.timeline.requests, tokens, strict=True)
        if request.usage_reported and request.usage.total > 0
    ]
    if len(points) < _ENOUGH:
        return 1.0
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if not spread:
        return 1.0
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    if not math.isfinite(slope):  # totals of a damaged file, beyond what a sum can hold
        return 1.0
    return min(max(slope, _SMALLEST), _LARGEST)
