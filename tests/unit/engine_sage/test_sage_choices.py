"""sage.md §16: what was read into the places where the seed document is silent, one test for each choice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxviewer.engine.sage.auto_compact import AutoCompact, Compacted, Skipped
from ctxviewer.engine.sage.config import AutoCompactConfig, ContextConfig, OverflowStrategy
from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR, TokenEstimator
from ctxviewer.engine.sage.manager import ContextManager, ContextOverflowError
from ctxviewer.engine.sage.message import ToolSchema
from ctxviewer.engine.sage.streaming import StreamingTokenCounter, stream_metrics
from ctxviewer.engine.sage.summarizer import extract_summary, summary_prompt
from helpers.sage_talk import StubModel, makers, spell, talk

FIVE = talk("s:sys. u:aaaa a:bbbb u:cccc a:dddd")


def prepare(config: ContextConfig, text: str = "s:sys. u:aaaa a:bbbb u:cccc a:dddd") -> str:
    return spell(ContextManager(config).prepare(talk(text), model=StubModel("x"), **makers()).messages)


def test_a1_the_default_estimator_is_openais() -> None:
    assert TokenEstimator.for_provider("openai") == DEFAULT_ESTIMATOR


def test_a2_a_tool_schema_costs_twenty_beside_its_texts() -> None:
    assert DEFAULT_ESTIMATOR.tool(ToolSchema("abcd", "abcd", {})) == 23


def test_a3_auto_compaction_has_the_same_ratios_for_every_provider() -> None:
    for provider, model in (("anthropic", "opus"), ("openai", "gpt-4"), ("google", "g"), (None, None)):
        config = AutoCompactConfig.for_provider(provider, model)
        assert (config.compact_threshold_ratio, config.target_ratio, config.preserve_recent_count) == (0.95, 0.5, 5)


def test_a4_the_pruner_uses_the_managers_estimator() -> None:
    manager = ContextManager(ContextConfig(preserve_recent_count=1), TokenEstimator.for_provider("google"))
    assert manager.prune(FIVE, 33).tokens_after == 33


def test_a5_protection_is_a_switch() -> None:
    config = ContextConfig(60, preserve_recent_count=2)
    assert prepare(config) == "s u a"
    assert prepare(replace(config, preserve_system_messages=False)) == "a u a"


def test_a6_prune_aims_at_half_the_window() -> None:
    assert prepare(ContextConfig(52, preserve_recent_count=0)) == "s a"
    assert prepare(ContextConfig(54, preserve_recent_count=0)) == "s u a"


def test_a7_the_system_prompt_stays_before_the_boundary() -> None:
    assert (
        prepare(ContextConfig(60, overflow_strategy=OverflowStrategy.AUTO_COMPACT, preserve_recent_count=2))
        == "s B u a"
    )


def test_a8_an_empty_compaction_makes_no_boundary() -> None:
    machine = AutoCompact(AutoCompactConfig(max_context_tokens=0), **makers())
    messages = talk("u:a a:b")
    assert [type(machine.check_and_compact(messages)) for _ in range(3)] == [Skipped] * 3
    assert machine.stats.skipped_count == 3


def test_a9_metrics_of_nothing() -> None:
    assert stream_metrics([StreamingTokenCounter().finish()]).average_delay is None


def test_a10_characters_are_bytes() -> None:
    assert DEFAULT_ESTIMATOR.text("界" * 4) == 3


def test_a11_messages_are_told_apart_by_position_not_by_content() -> None:
    machine = AutoCompact(AutoCompactConfig(preserve_recent_count=2), **makers())
    result = machine.force_compact(talk("u:same u:same u:same u:same"))
    assert isinstance(result, Compacted)
    assert (result.compacted, result.numbers) == ((0, 1), (None, 2, 3))


def test_a12_the_override_is_not_clamped() -> None:
    assert AutoCompactConfig().with_override("250").threshold_tokens == 320_000


def test_a13_providers_are_matched_with_case() -> None:
    assert ContextManager.for_provider("ANTHROPIC", "claude-opus") == ContextManager()
    assert ContextManager.for_provider("ANTHROPIC".lower(), "claude-opus") != ContextManager()


def test_a14_prompt_and_reply_meet_in_the_tags() -> None:
    prompt = summary_prompt(talk("u:hi"))
    assert all(tag in prompt for tag in ("<analysis>", "</analysis>", "<summary>", "</summary>"))
    assert extract_summary("<analysis>a</analysis><summary>b</summary>") == "b"


def test_a15_error_acts_at_the_threshold() -> None:
    config = ContextConfig(60, overflow_strategy=OverflowStrategy.ERROR)
    with pytest.raises(ContextOverflowError):
        prepare(config)
    assert prepare(replace(config, max_context_tokens=62)) == "s u a u a"
