"""Counted against reported: a robust line through a task's requests, and where the counter is off.

A request reports slope × counted + per picture × pictures + system prompt and tools. Most requests of a task lie on one
such line for each model; some do not (a retry that reports zero, a picture of another size, a rewritten system prompt).
The slope starts as the weighted median of the slopes between requests (Theil and Sen), which a quarter of wild points
does not move, and is refined by least squares with Tukey's weights, which give far points none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctxviewer.domain.request import RequestState
from ctxviewer.engine.composition import NO_SCALE, Scale, reported_input
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, percent, plural
from ctxviewer.tokens.table import TokenTable

_Floats = npt.NDArray[np.float64]

FEWEST = 5
"""A slope needs so many requests of one model."""
SPREAD = 0.15
"""And counts that differ by so much of the largest; else only the offset is fitted."""
MOST_PAIRED = 600
"""So many requests, evenly chosen, are compared with each other for the first slope."""
ROUNDS = 30
TUKEY = 4.685
"""Residuals beyond so many typical ones have no weight; the usual constant."""
MAD_TO_SIGMA = 1.4826
OFF_TYPICAL = 4.0
"""A request is off when its error is more than so many typical errors …"""
OFF_SHARE = 0.02
"""… and more than this share of what was reported."""
SLOPES = (0.4, 3.0)
"""Outside of these a slope says that something else is wrong."""

APPROXIMATE = "what was sent is known only approximately"
UNCOUNTED = "not all messages are counted yet"


@dataclass(frozen=True, slots=True)
class Point:
    """One request as the fit sees it."""

    request: int
    counted: int
    """Estimated tokens of the messages as sent."""
    pictures: int
    reported: float | None
    """Input, cache reads and cache writes; None where nothing usable was reported."""
    model_id: str
    doubt: str = ""
    """Why the request is not used for the fit, '' if it is."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The line of one model's requests."""

    model_id: str
    slope: float
    per_picture: float
    system: float
    """Tokens of the system prompt and the tools: what was reported beyond the messages."""
    used: int
    """Requests that it was made from."""
    typical_error: float
    """Median of the absolute errors, in the provider's tokens."""
    typical_share: float
    """Median of the errors as a share of what was reported."""
    sloped: bool
    """False: too few requests or too alike, so that the slope is 1 by assumption."""

    @property
    def sentence(self) -> str:
        """The fit in words."""
        model = self.model_id or "a model that is not named"
        if not self.sloped:
            return (
                f"{model}: too few requests ({self.used}), or too alike, for a slope; system prompt and tools are "
                f"about {grouped(round(self.system))} tokens"
            )
        pictures = f" + {grouped(round(self.per_picture))} for each image" if self.per_picture else ""
        return (
            f"{model}: reported ≈ {self.slope:.3f} × counted{pictures} + {grouped(round(self.system))} for system "
            f"prompt and tools (fit over {plural(self.used, 'request')}, typical error {percent(self.typical_share)})"
        )

    @property
    def scale(self) -> Scale:
        """For `compose`."""
        return Scale(self.slope, self.per_picture, self.system, self.sentence)

    def expected(self, counted: float, pictures: float = 0) -> float:
        """What a request with these counts should report."""
        return self.slope * counted + self.per_picture * pictures + self.system


@dataclass(frozen=True, slots=True)
class Residual:
    """One request against its model's line."""

    point: Point
    expected: float | None
    """None where there is no fit."""
    error: float | None
    """Expected minus reported, in the provider's tokens."""
    share: float | None
    """Of what was reported."""
    off: bool
    reason: str
    """Why it may be off, or why it was not used; '' for an ordinary request."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fits of a task, one for each model, and every request against them."""

    fits: tuple[Fit, ...]
    """By number of requests, largest first; empty when nothing usable was reported."""
    residuals: tuple[Residual, ...]
    """One for each request, in order."""

    def fit_for(self, model_id: str) -> Fit | None:
        """The fit of a model, that of the most requests for a model without one, None when there is none."""
        return next((fit for fit in self.fits if fit.model_id == model_id), self.fits[0] if self.fits else None)

    def scale(self, model_id: str) -> Scale:
        """The scale of a model; counted tokens as they are where nothing was fitted."""
        fit = self.fit_for(model_id)
        return fit.scale if fit is not None else NO_SCALE

    @property
    def off(self) -> tuple[Residual, ...]:
        """Requests where the counter is off, in order."""
        return tuple(residual for residual in self.residuals if residual.off)

    @property
    def expected(self) -> tuple[float | None, ...]:
        """What every request should have reported, in order."""
        return tuple(residual.expected for residual in self.residuals)


def _never() -> None:
    return None


def points(timeline: Timeline, table: TokenTable, check: Callable[[], None] = _never) -> tuple[Point, ...]:
    """Every request with what was counted and what was reported. `check` is called now and then and may raise."""
    found = []
    for request in timeline.requests:
        if request.number % 16 == 0:
            check()
        projection = timeline.projection(request.number)
        sums = table.sums(projection)
        doubt = ""
        reported = reported_input(request)
        if sums.known_share < 1:
            doubt = UNCOUNTED
        elif not request.usage_reported:
            doubt = "nothing was reported"
        elif reported is None:
            doubt = "zero was reported"
        elif request.state is not RequestState.DONE:
            doubt = f"the request was {request.state}" if request.state is not RequestState.FAILED else "it failed"
        elif not projection.exact:
            doubt = APPROXIMATE
        found.append(Point(request.number, sums.sent, sums.pictures, reported, request.model_id, doubt))
    return tuple(found)


def calibrate(found: Iterable[Point]) -> Calibration:
    """Fit every model's requests. Never fails: without usable numbers there is no fit, and every residual says why."""
    every = tuple(found)
    usable = [point for point in every if not point.doubt and point.reported is not None]
    if len(usable) < FEWEST:  # better a line through approximate requests than none
        usable = [point for point in every if point.doubt in {"", APPROXIMATE} and point.reported is not None]
    groups: dict[str, list[Point]] = {}
    for point in usable:
        groups.setdefault(point.model_id, []).append(point)
    fits = [_fit(model_id, members) for model_id, members in groups.items()]
    fits.sort(key=lambda fit: (not fit.sloped, -fit.used, fit.model_id))
    known = Calibration(tuple(fits), ())
    return Calibration(known.fits, tuple(_residual(known, every, place) for place in range(len(every))))


def _fit(model_id: str, members: Sequence[Point]) -> Fit:
    counted = np.array([point.counted for point in members], dtype=np.float64)
    pictures = np.array([point.pictures for point in members], dtype=np.float64)
    reported = np.array([point.reported for point in members], dtype=np.float64)
    wide = bool(np.ptp(counted) > SPREAD * counted.max()) if len(members) >= FEWEST else False
    slope = _median_slope(counted, reported) if wide else None
    if slope is None or not SLOPES[0] <= slope <= SLOPES[1]:
        return _offset(model_id, counted, reported)
    per_picture, system = 0.0, float(max(0.0, np.median(reported - slope * counted)))
    columns = [counted, np.ones_like(counted)]
    enough = len(set(pictures.tolist())) > 1 and len(members) >= 2 * FEWEST
    if enough:
        columns.append(pictures)
    slope, system, per_picture = _refined(np.stack(columns, axis=1), reported, slope, system)
    if not SLOPES[0] <= slope <= SLOPES[1]:
        return _offset(model_id, counted, reported)
    return _measured(model_id, (slope, per_picture, system), (counted, pictures, reported), sloped=True)


def _offset(model_id: str, counted: _Floats, reported: _Floats) -> Fit:
    system = float(max(0.0, np.median(reported - counted)))
    return _measured(model_id, (1.0, 0.0, system), (counted, np.zeros_like(counted), reported), sloped=False)


def _measured(
    model_id: str, line: tuple[float, float, float], data: tuple[_Floats, _Floats, _Floats], *, sloped: bool
) -> Fit:
    slope, per_picture, system = line
    counted, pictures, reported = data
    errors = np.abs(slope * counted + per_picture * pictures + system - reported)
    typical, share = float(np.median(errors)), float(np.median(errors / reported))
    return Fit(model_id, slope, per_picture, system, len(counted), typical, share, sloped)


def _median_slope(counted: _Floats, reported: _Floats) -> float | None:
    """Weighted median of the slopes between all pairs, each with the distance of its counts as weight."""
    if len(counted) > MOST_PAIRED:
        chosen = np.linspace(0, len(counted) - 1, MOST_PAIRED).round().astype(np.int64)
        counted, reported = counted[chosen], reported[chosen]
    first, second = np.triu_indices(len(counted), 1)
    run = counted[second] - counted[first]
    apart = run != 0
    if not apart.any():
        return None
    slopes, weights = (reported[second] - reported[first])[apart] / run[apart], np.abs(run[apart])
    order = np.argsort(slopes, kind="stable")
    reached = np.cumsum(weights[order])
    return float(slopes[order][np.searchsorted(reached, reached[-1] / 2)])


def _refined(columns: _Floats, reported: _Floats, slope: float, system: float) -> tuple[float, float, float]:
    """Slope, offset and, with a third column, tokens per picture. Offsets and pictures below zero are held at zero."""
    line = np.zeros(columns.shape[1])
    line[:2] = slope, system
    free = np.ones(len(line), dtype=bool)
    for _ in range(ROUNDS):
        weights = _weights(columns @ line - reported)
        root = np.sqrt(weights)[:, None]
        solved = np.zeros_like(line)
        solved[free], *_ = np.linalg.lstsq(columns[:, free] * root, reported * root[:, 0], rcond=None)
        negative = free & (solved < 0) & (np.arange(len(line)) > 0)
        if negative.any():
            free &= ~negative
            continue
        settled = bool(np.allclose(solved, line, rtol=1e-6, atol=1e-3))
        line = solved
        if settled:
            break
    return float(line[0]), float(line[1]), float(line[2]) if len(line) > 2 else 0.0


def _weights(errors: _Floats) -> _Floats:
    """Tukey's weights: 1 at no error, 0 beyond TUKEY typical errors. Typical is at least one token."""
    sigma = max(1.0, MAD_TO_SIGMA * float(np.median(np.abs(errors))))
    ratio = np.clip(np.abs(errors) / (TUKEY * sigma), 0.0, 1.0)
    weights: _Floats = (1 - ratio**2) ** 2
    return weights


def _residual(known: Calibration, every: Sequence[Point], place: int) -> Residual:
    point = every[place]
    fit = known.fit_for(point.model_id)
    if fit is None:
        return Residual(point, None, None, None, off=False, reason=point.doubt)
    expected = fit.expected(point.counted, point.pictures)
    if point.reported is None:
        return Residual(point, expected, None, None, off=False, reason=point.doubt)
    error = expected - point.reported
    limit = max(OFF_TYPICAL * MAD_TO_SIGMA * fit.typical_error, OFF_SHARE * point.reported)
    off = abs(error) > limit and point.doubt != UNCOUNTED
    reason = point.doubt or (_reason(every, place, error) if off else "")
    return Residual(point, expected, error, error / point.reported, off, reason)


def _reason(every: Sequence[Point], place: int, error: float) -> str:
    """What may have moved one request off the line."""
    point, before = every[place], every[place - 1] if place else None
    if before is not None and before.model_id != point.model_id:
        return "the model has just changed"
    if point.pictures:
        return f"it sends {plural(point.pictures, 'image')}, which no text counter knows the price of"
    if error < 0:
        return "more was reported than the messages account for: a longer system prompt, or something not stored"
    return "less was reported than the messages account for: a shorter system prompt, or not all of it was sent"
