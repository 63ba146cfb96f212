"""Numbers as people read them, one way everywhere."""

from __future__ import annotations

from ctxviewer.domain.projection import Projection
from ctxviewer.domain.ranges import Range


def grouped(value: float) -> str:
    """168412 → '168,412'; fractions keep one digit: '104,857.6'. From 10^18 on, which nobody counts: '1e+308'."""
    if abs(value) >= 1e18:
        return f"{value:.4g}"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def short(value: float) -> str:
    """Tokens for a narrow place: '950', '1.2k', '61k', '2.4M'. Whole thousands lose the point: '200k'."""
    if abs(value) < 1_000:
        return f"{value:.0f}"
    for unit, size in (("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)):
        scaled = value / size
        if abs(scaled) < 999.5 or unit == "G":
            text = f"{scaled:.1f}" if abs(scaled) < 9.95 else f"{scaled:.0f}"
            return text.removesuffix(".0") + unit
    return str(value)


def percent(share: float) -> str:
    """0.1234 → '12.3 %'."""
    return f"{share * 100:.1f} %".replace(".0 %", " %")


def plural(count: int, noun: str, many: str = "") -> str:
    """'1 message', '24 messages'."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def span(deleted: Range | None) -> str:
    """The deleted range in a sentence."""
    return "none" if deleted is None else str(deleted)


def updates_in_force(projection: Projection) -> str:
    """'12 updates in force (10 more on messages that are not sent)'."""
    reach = projection.updates_sent
    idle = len(projection.updates) - reach
    more = f" ({idle:,} more on messages that are not sent)" if idle else ""
    return f"{plural(reach, 'update')} in force{more}"


def request_name(number: int) -> str:
    """Requests are counted from 1 for people."""
    return f"request {number + 1}"
