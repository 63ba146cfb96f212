"""Words for how a text is looked at, shared by session, models and views."""

from __future__ import annotations

from enum import StrEnum


class TextMode(StrEnum):
    """Which text of a message is shown."""

    AS_SENT = "as sent"
    AS_STORED = "as stored"
    DIFFERENCE = "difference"
