"""sage.md §5 and §6: built-in settings, thresholds, the override and its number grammar."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.sage.config import (
    OVERRIDE_VARIABLE,
    AutoCompactConfig,
    ContextConfig,
    OverflowStrategy,
    SettingError,
    parse_number,
)

DEFAULT = ContextConfig(128_000, 0.75, OverflowStrategy.PRUNE, True, 10, 13_000)
OPUS = ContextConfig(200_000, 0.80, OverflowStrategy.PRUNE, True, 15, 13_000)
GPT_4O = ContextConfig(128_000, 0.75, OverflowStrategy.PRUNE, True, 10, 10_000)
GPT_4 = ContextConfig(8_192, 0.70, OverflowStrategy.PRUNE, True, 5, 2_000)


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        (None, None, DEFAULT),
        ("anthropic", "claude-3-opus", OPUS),
        ("anthropic", "claude-sonnet-4", OPUS),
        ("anthropic", "claude-haiku-4-5", DEFAULT),
        ("anthropic", "Claude-Opus", DEFAULT),
        ("anthropic", "gpt-4o", DEFAULT),
        ("openai", "gpt-4o-mini", GPT_4O),
        ("openai", "gpt-4", GPT_4),
        ("openai", "gpt-4-turbo", GPT_4),
        ("openai", "gpt-4.1", GPT_4),
        ("openai", "o3", DEFAULT),
        ("openai", "claude-opus", DEFAULT),
        ("google", "gpt-4o", DEFAULT),
        ("Anthropic", "claude-3-opus", DEFAULT),
        ("anthropic", None, DEFAULT),
    ],
)
def test_built_in_settings(provider: str | None, model: str | None, expected: ContextConfig) -> None:
    assert ContextConfig.for_provider(provider, model) == expected
    auto = AutoCompactConfig.for_provider(provider, model)
    assert auto == AutoCompactConfig(True, expected.max_context_tokens, 0.95, expected.reserved_for_response, 0.5, 5)


def test_thresholds_are_binary32_and_truncated() -> None:
    assert ContextConfig(999, 0.75).threshold_tokens == 749
    assert ContextConfig(999).target_tokens == 499
    assert ContextConfig(200_000, 0.53).threshold_tokens == 105_999
    assert ContextConfig(20_000_001, 0.9).threshold_tokens == 18_000_000
    assert AutoCompactConfig(max_context_tokens=8_192).threshold_tokens == 7_782
    assert AutoCompactConfig(max_context_tokens=999, target_ratio=0.25).target_tokens == 249


@pytest.mark.parametrize(
    ("ratio", "tokens"), [(1.5, 192_000), (-0.1, 0), (math.nan, 0), (math.inf, 2**64 - 1), (-math.inf, 0), (0.0, 0)]
)
def test_ratios_are_not_clamped(ratio: float, tokens: int) -> None:
    assert ContextConfig(threshold_ratio=ratio).threshold_tokens == tokens
    assert AutoCompactConfig(compact_threshold_ratio=ratio).threshold_tokens == tokens


def test_nothing_times_infinity_is_never_reached_from_below() -> None:
    assert ContextConfig(0, math.inf).threshold_tokens == 0


def test_the_reserve_plays_no_part() -> None:
    config = ContextConfig()
    assert replace(config, reserved_for_response=100_000).threshold_tokens == config.threshold_tokens
    assert (
        replace(AutoCompactConfig(), reserved_for_response=0).threshold_tokens == AutoCompactConfig().threshold_tokens
    )


@pytest.mark.parametrize("field", ["max_context_tokens", "preserve_recent_count", "reserved_for_response"])
def test_negative_counts_are_refused(field: str) -> None:
    for config in (ContextConfig(), AutoCompactConfig()):
        with pytest.raises(SettingError, match="below 0"):
            replace(config, **{field: -1})
    assert issubclass(SettingError, CtxError)


@pytest.mark.parametrize(
    ("text", "ratio", "threshold"),
    [
        ("80", 0.8, 102_400),
        ("50", 0.5, 64_000),
        ("250", 2.5, 320_000),
        ("+5e1", 0.5, 64_000),
        ("5.", 0.05, 6_400),
        (".5", 0.005, 640),
        ("1E1", 0.1, 12_800),
        ("0", 0.0, 0),
        ("-5", -0.05, 0),
        ("nan", math.nan, 0),
        ("-NaN", math.nan, 0),
        ("inf", math.inf, 2**64 - 1),
        ("Infinity", math.inf, 2**64 - 1),
        ("-inf", -math.inf, 0),
        ("1e400", math.inf, 2**64 - 1),
    ],
)
def test_the_override_is_a_percentage(text: str, ratio: float, threshold: int) -> None:
    config = AutoCompactConfig().with_override(text)
    assert config.compact_threshold_ratio == pytest.approx(ratio, rel=1e-6, nan_ok=True)
    assert config.threshold_tokens == threshold
    assert replace(config, compact_threshold_ratio=0.95) == AutoCompactConfig()


NO_NUMBERS = (
    *("", " ", " 80", "80 ", "80\n", "\x00", "5\x00"),
    *[
        "80%",
        "8_0",
        "0x50",
        "1e",
        "1e+",
        "e5",
        ".",
        "+",
        "--5",
        "5..",
        "1,5",
        "in",
        "infinit",
        "nan(1)",
        "5f",
        "1e5.0",
        "abc",
    ],
    *("\u0665", "\uff18", "\u0131nf", "\N{MINUS SIGN}5"),
)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_outside_the_grammar_the_ratio_stays(text: str) -> None:
    assert parse_number(text) is None
    config = AutoCompactConfig(compact_threshold_ratio=0.3)
    assert config.with_override(text) is config


def test_an_unset_override_changes_nothing() -> None:
    assert AutoCompactConfig().with_override(None) == AutoCompactConfig()
    assert OVERRIDE_VARIABLE == "SAGE_AUTOCOMPACT_PCT_OVERRIDE"
