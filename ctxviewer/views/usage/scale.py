"""Where requests and tokens lie in pixels, and which numbers stand at the axes. No widgets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

FEWEST_SLOTS: Final = 20
"""A short task does not stretch its bars over the whole width: there is always room for so many."""
HEADROOM: Final = 1.06
HIGHEST: Final = 1e12
"""No request has so many tokens: what a damaged file says beyond it goes over the upper edge."""
LOW: Final = 0.2
"""If the largest total stays below this share of the window, the bars get the height and the lines go off scale."""


@dataclass(frozen=True, slots=True)
class Span:
    """Visible requests and the pixels that they lie on."""

    first: float
    last: float
    """Positions in requests at the left and right edge."""
    left: float
    width: float
    """Pixels."""

    @property
    def per_request(self) -> float:
        """Pixels of one request."""
        return self.width / (self.last - self.first) if self.last > self.first else 0.0

    def x(self, position: float) -> float:
        """Pixel of a position."""
        return self.left + (position - self.first) * self.per_request

    def position(self, x: float) -> float:
        """Position at a pixel."""
        return self.first + (x - self.left) / self.per_request if self.per_request else self.first


def slots(count: int, ahead: int = 0) -> float:
    """Right end of everything: `count` requests and `ahead` places behind them."""
    return float(max(FEWEST_SLOTS, count + ahead))


def ceiling(peak: float, window: float) -> float:
    """Tokens at the upper edge: the window with some air, or less when the bars would be too low to read. Finite."""
    peak, window = min(peak, HIGHEST), min(window, HIGHEST)
    if window <= 0:
        return max(peak, 1.0) * HEADROOM
    if 0 < peak < LOW * window:
        return peak * 1.5
    return max(peak, window) * HEADROOM


def nice_step(least: float, *, whole: bool = False) -> float:
    """The smallest of 1, 2, 5, 10, 20 … (0.1, 0.2 … unless `whole`) that is at least `least`."""
    if not math.isfinite(least) or least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))
    return max(1.0, step) if whole else step


def request_ticks(span: Span, count: int, apart: float) -> list[tuple[float, str]]:
    """Positions and people's numbers of requests, at least `apart` pixels from each other."""
    if count <= 0 or span.per_request <= 0:
        return []
    step = int(nice_step(apart / span.per_request, whole=True))
    low, high = max(1, math.floor(span.first) + 1), min(count, math.ceil(span.last))
    numbers = list(range(-(-low // step) * step, high + 1, step))
    if step > 1 and low == 1:
        numbers = [1, *(number for number in numbers if (number - 1) * span.per_request >= apart)]
    return [(number - 0.5, f"{number:,}") for number in numbers]


def token_ticks(top: float, height: float, apart: float) -> list[tuple[float, str]]:
    """Heights and labels, at least `apart` pixels from each other, none so near to the top that it would be cut."""
    if top <= 0 or height <= 0:
        return []
    step = nice_step(apart * top / height)
    most = top * (1 - apart / 5 / height)
    return [(place * step, _label(place * step, step)) for place in range(int(max(0.0, most) / step) + 1)]


def _label(value: float, step: float) -> str:
    if value == 0:
        return "0"
    if value >= 1_000_000:
        return f"{value / 1_000_000:.{0 if step >= 1_000_000 else 1}f}M"
    if value >= 1_000 and step >= 100:
        return f"{value / 1_000:.{0 if step >= 1_000 else 1}f}k"
    return f"{value:g}"


def spread(wanted: list[float], height: float, low: float, high: float) -> list[float]:
    """Middles for labels `height` high, as near as possible to `wanted` (ascending), not overlapping, in low … high."""
    placed: list[float] = []
    for middle in wanted:
        least = placed[-1] + height if placed else low + height / 2
        placed.append(max(middle, least))
    most = high - height / 2
    for place in range(len(placed) - 1, -1, -1):
        placed[place] = min(placed[place], most)
        most = placed[place] - height
    return placed
