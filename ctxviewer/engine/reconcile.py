"""Estimated against reported, request by request, and reported numbers that cannot be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ctxviewer.domain.request import Request, RequestState
from ctxviewer.engine.composition import reported_input
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, percent, request_name

FELL_SHARE = 0.01
"""A fall by less is the counting of the provider; messages are only added, so an unexplained fall is odd."""


class ProblemKind(StrEnum):
    """What is wrong with a reported number."""

    ZERO = "zero"
    FELL = "fell without an event"
    ABOVE_WINDOW = "above the window"
    NO_INPUT = "output without input"
    NEGATIVE = "below zero"


@dataclass(frozen=True, slots=True)
class Problem:
    """One reported number that cannot be right, or that needs an explanation which the task does not give."""

    kind: ProblemKind
    request: int
    sentence: str
    """With the numbers, and what it means for the agent's decisions."""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """One request."""

    request: int
    reported: float | None
    """Input, cache reads and cache writes; None where nothing usable was reported."""
    expected: float | None
    """What the counts of its messages lead to expect, in the provider's tokens."""
    problems: tuple[Problem, ...] = ()

    @property
    def error(self) -> float | None:
        """Expected minus reported."""
        return None if self.reported is None or self.expected is None else self.expected - self.reported

    @property
    def share(self) -> float | None:
        """The error as a share of what was reported."""
        return None if self.error is None or not self.reported else self.error / self.reported


def reconcile(
    timeline: Timeline, expected: Sequence[float | None] = (), window: float | None = None
) -> tuple[Reconciled, ...]:
    """Every request, in order. `expected` by request number (`tokens.Calibration.expected`), () = nothing was counted.

    `window` in tokens replaces the model's.
    """
    rows = []
    limit = window if window is not None else timeline.snapshot.model.window
    problems: dict[int, list[Problem]] = {}
    for problem in _problems(timeline, limit):
        problems.setdefault(problem.request, []).append(problem)
    for request in timeline.requests:
        known = expected[request.number] if request.number < len(expected) else None
        rows.append(Reconciled(request.number, reported_input(request), known, tuple(problems.get(request.number, ()))))
    return tuple(rows)


def _problems(timeline: Timeline, window: float) -> Iterator[Problem]:
    before: Request | None = None
    for request in timeline.requests:
        if not request.usage_reported:
            continue
        yield from _own_problems(request, window)
        if reported_input(request) is None:
            continue
        if before is not None:
            yield from _fall(timeline, before, request)
        before = request


def _own_problems(request: Request, window: float) -> Iterator[Problem]:
    usage, name = request.usage, request_name(request.number).capitalize()
    counts = (usage.tokens_in, usage.cache_reads, usage.cache_writes, usage.tokens_out)
    if min(counts) < 0:
        sentence = f"{name} reported {grouped(min(counts))} tokens, which cannot be."
        yield Problem(ProblemKind.NEGATIVE, request.number, sentence)
    elif not usage.total:
        why = {
            RequestState.FAILED: " It failed before the provider answered.",
            RequestState.CANCELLED: " It was cancelled before the provider answered.",
            RequestState.RUNNING: " It is still running, or was left unfinished.",
        }.get(request.state, "")
        sentence = f"{name} reported zero tokens.{why} Before the next request nothing was cut, whatever its size."
        yield Problem(ProblemKind.ZERO, request.number, sentence)
    elif reported_input(request) is None:
        sentence = (
            f"{name} reported {grouped(usage.tokens_out)} tokens of output and none of input; its size is not known, "
            "and the agent decided by the output alone."
        )
        yield Problem(ProblemKind.NO_INPUT, request.number, sentence)
    if usage.total > window:
        sentence = (
            f"{name} reported {grouped(usage.total)} tokens, more than the window of {grouped(window)}. Likely the "
            "window is another one."
        )
        yield Problem(ProblemKind.ABOVE_WINDOW, request.number, sentence)


def _fall(timeline: Timeline, before: Request, request: Request) -> Iterator[Problem]:
    """A request that reported less than the one before, although nothing was left out in between."""
    old, new = reported_input(before), reported_input(request)
    if old is None or new is None or new >= old * (1 - FELL_SHARE):
        return
    if timeline.moments[request.number].until < timeline.moments[before.number].until:
        return  # messages were removed, as a rollback does
    if any(_between(event.request, before.number, request.number) for event in timeline.events):
        return
    model = ""
    if request.model_id != before.model_id:
        model = f" The model changed from {before.model_id or 'one not named'} to {request.model_id or 'one not named'}"
        model += ", which counts in its own way."
    sentence = (
        f"{request_name(request.number).capitalize()} reported {grouped(new)} tokens, {percent(1 - new / old)} less "
        f"than {request_name(before.number)} ({grouped(old)}), though no event took anything away.{model}"
    )
    yield Problem(ProblemKind.FELL, request.number, sentence)


def _between(number: int | None, before: int, upto: int) -> bool:
    return number is not None and before < number <= upto
