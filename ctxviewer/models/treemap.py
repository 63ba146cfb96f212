"""A treemap: rectangles in proportion to weights, as square as possible, and the same again inside each. No Qt.

The layout is the squarified one of Bruls, Huizing and van Wijk (2000): rows are filled along the shorter side as long
as that makes their rectangles more square.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

SMALLEST = 1e-9
"""Shares below this have no area."""


class Box(NamedTuple):
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """Square pixels."""
        return self.width * self.height

    def contains(self, x: float, y: float) -> bool:
        """Left and upper edge inside, right and lower edge outside."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height

    def inner(self, margin: float, top: float = 0.0) -> Box:
        """Without a margin on all sides, and `top` more above; never below nothing."""
        width, height = max(0.0, self.width - 2 * margin), max(0.0, self.height - 2 * margin - top)
        return Box(self.x + margin, self.y + margin + top, width, height)


def squarified(weights: Sequence[float], box: Box) -> list[Box]:
    """One rectangle a weight, in the order given; together they fill the box. Largest first looks best.

    Weights of (nearly) nothing, or below it, get a rectangle without area. The time grows with the number of weights.
    """
    total = sum(weight for weight in weights if weight > 0)
    if total <= 0 or box.area <= 0:
        return [Box(box.x, box.y, 0.0, 0.0) for _ in weights]
    placed: list[Box] = []
    row: list[float] = []
    best = _Row()
    left = box
    for weight in weights:
        share = max(0.0, weight) / total
        area = share * box.area if share > SMALLEST else 0.0
        side = min(left.width, left.height)
        longer = best.with_(area)
        if row and longer.worst(side) > best.worst(side):
            left = _fill(row, left, placed)
            row, longer = [], _Row().with_(area)
        row.append(area)
        best = longer
    if row:
        _fill(row, left, placed)
    return placed


class _Row(NamedTuple):
    """What is known of the rectangles of one row."""

    total: float = 0.0
    smallest: float = float("inf")
    largest: float = 0.0

    def with_(self, area: float) -> _Row:
        """One rectangle more; one without area changes nothing."""
        if area <= 0:
            return self
        return _Row(self.total + area, min(self.smallest, area), max(self.largest, area))

    def worst(self, side: float) -> float:
        """How far from square the worst rectangle along `side` is; 1 = all are square."""
        if self.total <= 0 or side <= 0:
            return float("inf")
        squared, side_squared = self.total * self.total, side * side
        return max(side_squared * self.largest / squared, squared / (side_squared * self.smallest))


def _fill(areas: Sequence[float], box: Box, placed: list[Box]) -> Box:
    """Put a row along the shorter side of the box; what is left of the box."""
    total = sum(areas)
    if total <= 0 or box.area <= 0:
        placed.extend(Box(box.x, box.y, 0.0, 0.0) for _ in areas)
        return box
    if box.width >= box.height:
        thick = min(total / box.height, box.width)
        y = box.y
        for area in areas:
            height = area / thick
            placed.append(Box(box.x, y, thick, height))
            y += height
        return Box(box.x + thick, box.y, max(0.0, box.width - thick), box.height)
    thick = min(total / box.width, box.height)
    x = box.x
    for area in areas:
        width = area / thick
        placed.append(Box(x, box.y, width, thick))
        x += width
    return Box(box.x, box.y + thick, box.width, max(0.0, box.height - thick))
