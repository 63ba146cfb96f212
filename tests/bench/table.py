"""One table: what was measured, what it must reach, whether it does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """One measure."""

    measure: str
    value: float
    unit: str
    """'ms', 's', '×' for a ratio to `baseline`."""
    bar: float | None = None
    """The value must not be above it; None for a number that is only told."""
    detail: str = ""
    """The parts of a ratio, the number of repetitions."""

    @property
    def passed(self) -> bool:
        """True when the bar is kept, or when there is none."""
        return self.bar is None or self.value <= self.bar

    def as_json(self) -> dict[str, object]:
        """For a child process."""
        return asdict(self)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def render(rows: Sequence[Row]) -> str:
    """The table as text."""
    head = ("measure", "value", "bar", "", "detail")
    cells = [
        (
            row.measure,
            f"{row.value:.2f} {row.unit}",
            "" if row.bar is None else f"≤ {row.bar:g} {row.unit}",
            "" if row.bar is None else ("pass" if row.passed else "FAIL"),
            row.detail,
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in (head, *cells)) for column in range(len(head) - 1)]
    lines = []
    for line in (head, (*tuple("-" * width for width in widths), "------"), *cells):
        parts = [line[0].ljust(widths[0]), line[1].rjust(widths[1]), line[2].rjust(widths[2]), line[3].ljust(widths[3])]
        lines.append("  ".join([*parts, line[4]]).rstrip())
    return "\n".join(lines)
