"""Numbers as people read them. Tabular, thousands separated, one decimal of thousands in rows."""

from __future__ import annotations

LAST_MS = 253_402_300_799_000
"""Milliseconds since 1970 from which on there is no calendar: the end of the year 9999."""


def grouped(value: float) -> str:
    """12,345. Fractions are rounded. From 10^18 on, which nobody counts: 1e+308."""
    if not abs(value) < 1e18:
        return f"{value:.4g}"
    return f"{round(value):,}"


def short_tokens(tokens: float) -> str:
    """For rows: 0.1k, 1.2k, 168k, 1.2M. Anything below 50 that is not nothing is '<0.1k'."""
    if tokens <= 0:
        return "0"
    if tokens < 50:
        return "<0.1k"
    if tokens < 99_950:
        return f"{tokens / 1_000:.1f}k"
    return f"{tokens / 1_000:.0f}k" if tokens < 999_500 else f"{tokens / 1_000_000:.1f}M"


def byte_size(size: int) -> str:
    """For labels: 812 bytes, 12 kB, 3.4 MB. Decimal units."""
    if size < 1_000:
        return counted(size, "byte")
    if size < 999_500:
        return f"{size / 1_000:.0f} kB"
    return f"{size / 1_000_000:.1f} MB"


def counted(count: int, noun: str) -> str:
    """1 message, 24 messages."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
