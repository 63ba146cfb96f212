"""Settings of Sage's context management, the built-in figures by provider and model, and the thresholds they give."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.sage.estimator import count, over32, times32

OVERRIDE_VARIABLE = "SAGE_AUTOCOMPACT_PCT_OVERRIDE"
"""Name of the environment variable whose text `AutoCompactConfig.with_override` takes."""

_TARGET_SHARE = 0.5

_NUMBER = re.compile(
    r"[+-]? (?: inf | infinity | nan | (?: [0-9]+ \.? [0-9]* | \. [0-9]+ ) (?: e [+-]? [0-9]+ )? )",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)


class SettingError(CtxError):
    """A setting outside its range."""


class OverflowStrategy(StrEnum):
    """What `ContextManager.prepare` does once the threshold is reached."""

    PRUNE = "Prune"
    SUMMARIZE = "Summarize"
    AUTO_COMPACT = "AutoCompact"
    ERROR = "Error"


def _check_counts(*counts: int) -> None:
    if any(number < 0 for number in counts):
        raise SettingError("A number of tokens or messages is below 0.", hint="Use 0 or more.")


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """Settings of the context manager and of pruning. Ratios are not clamped; counts below 0 raise SettingError."""

    max_context_tokens: int = 128_000
    threshold_ratio: float = 0.75
    overflow_strategy: OverflowStrategy = OverflowStrategy.PRUNE
    preserve_system_messages: bool = True
    preserve_recent_count: int = 10
    reserved_for_response: int = 13_000
    """Shown; in no formula."""

    def __post_init__(self) -> None:
        _check_counts(self.max_context_tokens, self.preserve_recent_count, self.reserved_for_response)

    @classmethod
    def for_provider(cls, provider: str | None, model: str | None) -> ContextConfig:
        """The built-in settings; provider and model are compared with case."""
        return _column(provider or "", model or "")

    @property
    def threshold_tokens(self) -> int:
        """Reached when current >= this."""
        return count(times32(self.max_context_tokens, self.threshold_ratio))

    @property
    def target_tokens(self) -> int:
        """What pruning aims at when a request is prepared: half of the window."""
        return count(times32(self.max_context_tokens, _TARGET_SHARE))


@dataclass(frozen=True, slots=True)
class AutoCompactConfig:
    """Settings of auto-compaction. Ratios are not clamped; counts below 0 raise SettingError."""

    enabled: bool = True
    max_context_tokens: int = 128_000
    compact_threshold_ratio: float = 0.95
    reserved_for_response: int = 13_000
    """Shown; in no formula."""
    target_ratio: float = 0.5
    """Shown; nothing aims at it."""
    preserve_recent_count: int = 5

    def __post_init__(self) -> None:
        _check_counts(self.max_context_tokens, self.preserve_recent_count, self.reserved_for_response)

    @classmethod
    def for_provider(cls, provider: str | None, model: str | None) -> AutoCompactConfig:
        """Window and reserve of the provider's and model's built-in settings; the rest is the same for all."""
        column = _column(provider or "", model or "")
        return cls(
            max_context_tokens=column.max_context_tokens,
            reserved_for_response=column.reserved_for_response,
        )

    def with_override(self, text: str | None) -> AutoCompactConfig:
        """These settings with the text of the override variable applied; None means that it is not set.

        The text is a percentage. Empty text and text outside the number grammar leave the configured ratio.
        """
        percent = parse_number(text or "")
        if percent is None:
            return self
        return replace(self, compact_threshold_ratio=over32(percent, 100))

    @property
    def threshold_tokens(self) -> int:
        """Compaction is due when the active part costs >= this."""
        return count(times32(self.max_context_tokens, self.compact_threshold_ratio))

    @property
    def target_tokens(self) -> int:
        """Shown only."""
        return count(times32(self.max_context_tokens, self.target_ratio))


def parse_number(text: str) -> float | None:
    """The number that the whole text is, or None.

    ASCII, any case: an optional sign, then inf, infinity, nan, or digits with an optional point and an optional
    exponent. Stricter than `float`: no blanks, underscores or foreign digits.
    """
    return float(text) if _NUMBER.fullmatch(text) else None


DEFAULT_CONFIG = ContextConfig()
_OPUS = ContextConfig(
    max_context_tokens=200_000, threshold_ratio=0.80, preserve_recent_count=15, reserved_for_response=13_000
)
_SONNET = _OPUS
_GPT_4O = ContextConfig(
    max_context_tokens=128_000, threshold_ratio=0.75, preserve_recent_count=10, reserved_for_response=10_000
)
_GPT_4 = ContextConfig(
    max_context_tokens=8_192, threshold_ratio=0.70, preserve_recent_count=5, reserved_for_response=2_000
)

_MODELS: dict[str, tuple[tuple[str, ContextConfig], ...]] = {
    "anthropic": (("opus", _OPUS), ("sonnet", _SONNET)),
    "openai": (("gpt-4o", _GPT_4O), ("gpt-4", _GPT_4)),
}
"""By provider: part of the model's name and its settings; the first that fits is taken."""


def _column(provider: str, model: str) -> ContextConfig:
    for part, config in _MODELS.get(provider, ()):
        if part in model:
            return config
    return DEFAULT_CONFIG
