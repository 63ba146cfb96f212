"""Compact boundaries: the message that stands for everything before it, how it is made and how it is recognised."""

from __future__ import annotations

from collections.abc import Sequence

from ctxviewer.engine.sage.message import Role, SageMessage

FIRST_LINE = "[Previous conversation summary]"
LAST_LINE = "[End of summary]"

MARK_KEY = "compact_boundary"
SUMMARY_KEY = "compact_summary"
TIME_KEY = "compact_timestamp"
ID_KEY = "compact_id"

_MS_PER_DAY = 86_400_000


def make_boundary(summary: str, *, time: str, compact_id: str) -> SageMessage:
    """The boundary message of a summary. `time` is RFC 3339 in UTC (see `utc_text`), `compact_id` a UUID v4."""
    return SageMessage(
        role=Role.ASSISTANT,
        content=f"{FIRST_LINE}\n\n{summary}\n\n{LAST_LINE}",
        metadata={MARK_KEY: True, SUMMARY_KEY: summary, TIME_KEY: time, ID_KEY: compact_id},
    )


def is_boundary(message: SageMessage) -> bool:
    """True if the message is marked as a boundary by the boolean true, whatever its role."""
    return message.metadata.get(MARK_KEY) is True


def last_boundary(messages: Sequence[SageMessage]) -> int | None:
    """Number of the last boundary, or None."""
    for number in range(len(messages) - 1, -1, -1):
        if is_boundary(messages[number]):
            return number
    return None


def active_part(messages: Sequence[SageMessage]) -> Sequence[SageMessage]:
    """The messages after the last boundary: all if there is none, none if it comes last."""
    last = last_boundary(messages)
    return messages if last is None else messages[last + 1 :]


def utc_text(milliseconds: int) -> str:
    """RFC 3339 in UTC with milliseconds, of a time in milliseconds since 1970; negative ones are before it.

    Written without the standard library's clock types, which the engine does not import. Years 0 to 9999.
    """
    days, rest = divmod(milliseconds, _MS_PER_DAY)
    seconds, fraction = divmod(rest, 1000)
    year, month, day = _civil(days)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{fraction:03d}Z"


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month and day (from 1) of a number of days since 1970-01-01 in the Gregorian calendar.

    Counts in years that begin on 1 March, so that the leap day is the last of its year.
    """
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    march_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * march_month + 2) // 5 + 1
    month = march_month + 3 if march_month < 10 else march_month - 9
    return era * 400 + year_of_era + (month <= 2), month, day
