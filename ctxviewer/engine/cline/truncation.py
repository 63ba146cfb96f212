"""Which messages the next truncation takes away."""

from __future__ import annotations

from enum import StrEnum

from ctxviewer.domain.json import Messages
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.js import get, truthy


class Keep(StrEnum):
    """How much of the messages after the last deleted one a truncation keeps."""

    NONE = "none"
    LAST_TWO = "lastTwo"
    HALF = "half"
    QUARTER = "quarter"


FIRST_DELETED = 2
"""Messages 0 and 1 are always kept: every new range starts here, whatever the old one started at."""


def resume_index(deleted: Range | None) -> int:
    """Number of the first message that is sent again after the deleted range; not clamped."""
    return FIRST_DELETED if deleted is None else deleted.end + 1


def removed_count(rest: int, keep: Keep) -> int:
    """How many of `rest` messages go. Half and quarter are even, and negative if `rest` is."""
    match keep:
        case Keep.NONE:
            return max(rest, 0)
        case Keep.LAST_TWO:
            return max(rest - 2, 0)
        case Keep.HALF:
            return rest // 4 * 2
        case Keep.QUARTER:
            return rest * 3 // 8 * 2


def next_range(messages: Messages, deleted: Range | None, keep: Keep) -> Range:
    """The range after one more truncation. Looks at one message only.

    Cline 4.0.10: if the last message of the range exists and is not the assistant's, the end goes back by one, even
    below the start. Ends below 2 and past the history come out as the reference computes them.
    """
    first = resume_index(deleted)
    count = len(messages)
    end = first + removed_count(count - first, keep) - 1
    if 0 <= end < count:
        message = messages[end]
        if truthy(message) and get(message, "role") != "assistant":
            end -= 1
    return Range(FIRST_DELETED, end)
