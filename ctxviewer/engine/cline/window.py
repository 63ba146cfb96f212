"""How large a context window counts, and from which total on the context is managed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ctxviewer.engine.cline.js import Number, as_double, truthy

DEFAULT_WINDOW: Final = 128_000
_SPECIAL_RESERVE: Final[dict[Number, int]] = {64_000: 27_000, 128_000: 30_000, 200_000: 40_000}


class Provider(StrEnum):
    """Only the generic OpenAI-compatible handler is treated in its own way."""

    OPENAI = "openai"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Api:
    """The model handler of a request."""

    provider: Provider = Provider.OTHER
    model_id: str = ""
    context_window: Number | None = None
    """Tokens, as the handler reports it; None or 0 when it is not known."""


@dataclass(frozen=True, slots=True)
class WindowInfo:
    """Both in tokens; the limit may be a fraction."""

    window: Number
    limit: Number
    """From this total on (inclusive) the context is managed."""


def window_info(api: Api) -> WindowInfo:
    """The window that counts, and the limit.

    Cline 4.0.10: 128,000 when none is known, and always for ids with "deepseek" behind the OpenAI-compatible handler;
    fixed reserves for exactly 64,000, 128,000 and 200,000; else the larger of window - 40,000 and 0.8 x window.
    """
    window = as_double(api.context_window) if api.context_window and truthy(api.context_window) else DEFAULT_WINDOW
    if api.provider is Provider.OPENAI and "deepseek" in api.model_id.lower():
        window = DEFAULT_WINDOW
    reserve = _SPECIAL_RESERVE.get(window)
    if reserve is not None:
        return WindowInfo(window, window - reserve)
    return WindowInfo(window, max(as_double(window - 40_000), _whole(window * 0.8)))


def compaction_threshold(info: WindowInfo, fraction: float | None) -> Number:
    """The limit, or the rounded-down `fraction` of the window if that is smaller. A fraction of 0 means none given."""
    if fraction is None or not truthy(fraction):
        return info.limit
    share = info.window * fraction
    return min(math.floor(share) if math.isfinite(share) else share, info.limit)


def _whole(value: float) -> Number:
    return int(value) if value.is_integer() and abs(value) <= 2**53 else value
