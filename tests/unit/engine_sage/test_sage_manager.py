"""sage.md §7 and §9: usage figures and the preparation of a request."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.sage.config import ContextConfig, OverflowStrategy
from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR, TokenEstimator
from ctxviewer.engine.sage.manager import ContextManager, ContextOverflowError
from ctxviewer.engine.sage.message import Role, ToolSchema
from ctxviewer.engine.sage.session import SageSession
from helpers.sage_talk import Maker, StubModel, makers, spell, talk

FIVE = talk("s:sys. u:aaaa a:bbbb u:cccc a:dddd")
GREP = ToolSchema("grep", "look for text", {"type": "object"})


def manager(window: int, strategy: str = "Prune", recent: int = 2) -> ContextManager:
    config = ContextConfig(window, overflow_strategy=OverflowStrategy(strategy), preserve_recent_count=recent)
    return ContextManager(config)


@pytest.mark.parametrize(
    ("window", "approaching", "over", "left"),
    [
        (62, False, False, (1, 17)),
        (61, True, False, (0, 16)),
        (60, True, False, (0, 15)),
        (45, True, True, (0, 0)),
        (30, True, True, (0, 0)),
    ],
)
def test_limits_are_reached_when_equal(window: int, approaching: bool, over: bool, left: tuple[int, int]) -> None:
    usage = manager(window).usage(FIVE)
    assert (usage.current_tokens, usage.max_tokens, usage.messages_count) == (45, window, 5)
    assert (usage.is_approaching_limit, usage.is_over_limit) == (approaching, over)
    assert (usage.tokens_until_threshold, usage.tokens_until_limit) == left


def test_percentages() -> None:
    assert manager(60).usage(FIVE).usage_percentage == 75.0
    assert manager(61).usage(FIVE).usage_percentage == pytest.approx(73.77049, rel=1e-6)
    assert manager(0).usage(FIVE).usage_percentage == math.inf
    assert math.isnan(manager(0).usage([]).usage_percentage)
    assert manager(0).usage([]).is_approaching_limit
    assert not manager(10).usage([]).is_approaching_limit


def test_for_provider_sets_settings_and_estimator() -> None:
    made = ContextManager.for_provider("anthropic", "claude-3-opus")
    assert made.config == ContextConfig.for_provider("anthropic", "claude-3-opus")
    assert made.pruner.estimator is made.estimator
    assert made.usage(FIVE).current_tokens == 65
    assert ContextManager().estimator == DEFAULT_ESTIMATOR


@pytest.mark.parametrize("strategy", [name.value for name in OverflowStrategy])
def test_below_the_threshold_the_very_list_comes_back(strategy: str) -> None:
    result = manager(62, strategy).prepare(FIVE, **makers())
    assert result.messages is FIVE
    assert (result.changed, result.removed_count, result.made) == (False, 0, None)
    assert (result.original_tokens, result.final_tokens, result.threshold_tokens) == (45, 45, 46)
    assert (list(result.numbers), result.changed_from) == ([0, 1, 2, 3, 4], 5)


@pytest.mark.parametrize("strategy", ["Prune", "Summarize", "AutoCompact"])
def test_nothing_removable_is_unchanged(strategy: str) -> None:
    messages, model = FIVE[:3], StubModel("x")
    result = manager(20, strategy).prepare(messages, model=model, **makers())
    assert result.messages is messages
    assert (result.was_pruned, result.was_summarized, result.final_tokens) == (False, False, 27)
    assert model.prompts == []


def test_prune_aims_at_half_the_window_and_asks_no_model() -> None:
    model = StubModel("x")
    result = manager(60).prepare(FIVE, model=model, **makers())
    assert (list(result.numbers), list(result.removed), result.final_tokens) == ([0, 3, 4], [1, 2], 27)
    assert (result.was_pruned, result.was_summarized, result.target_tokens, result.changed_from) == (True, False, 30, 1)
    assert model.prompts == []


def test_summarize_inserts_after_the_leading_system_messages_of_the_kept() -> None:
    messages = talk("s:s1 s:s2 u:aaaa a:bbbb s:s3 u:cccc a:dddd")
    result = manager(80, "Summarize").prepare(messages, model=StubModel(" <summary>raw</summary>"), **makers())
    assert list(result.numbers) == [0, 1, 4, None, 5, 6]
    assert spell(result.messages) == "s s s s u a"
    made = result.messages[3]
    assert made is result.made
    assert (made.role, made.content, made.metadata) == (Role.SYSTEM, " <summary>raw</summary>", {})
    assert (result.was_pruned, result.was_summarized, list(result.removed)) == (True, True, [2, 3])
    assert result.changed_from == 2
    assert result.final_tokens == DEFAULT_ESTIMATOR.conversation(result.messages)


def test_summarize_without_system_messages_puts_the_note_first() -> None:
    result = manager(40, "Summarize", 1).prepare(talk("u:aaaa a:bbbb u:cccc a:dddd"), **makers())
    assert list(result.numbers) == [None, 2, 3]
    assert result.changed_from == 0
    assert "User messages: 1. Assistant messages: 1." in result.messages[0].content


def test_summarize_goes_last_when_only_system_messages_are_kept() -> None:
    result = manager(18, "Summarize", 0).prepare(talk("s:s1 u:aaaa s:s2 a:bbbb"), **makers())
    assert list(result.numbers) == [0, 2, None]
    assert result.changed_from == 1


def test_summarize_does_not_test_whether_it_helped() -> None:
    result = manager(60, "Summarize").prepare(FIVE, model=StubModel("x" * 4000), **makers())
    assert result.final_tokens > result.original_tokens
    assert result.was_summarized


def test_auto_compact_uses_this_configuration_and_estimator() -> None:
    config = replace(ContextConfig(), max_context_tokens=60, overflow_strategy=OverflowStrategy.AUTO_COMPACT)
    made = ContextManager(replace(config, preserve_recent_count=2), TokenEstimator.for_provider("anthropic"))
    time, new_id = Maker("time"), Maker("id")
    result = made.prepare(FIVE, now=time, new_id=new_id, model=StubModel("<summary>four</summary>"))
    assert list(result.numbers) == [0, None, 3, 4]
    assert (result.was_pruned, result.was_summarized, list(result.removed)) == (False, True, [1, 2])
    assert result.compaction is not None
    assert (result.compaction.summary, result.made) == ("four", result.compaction.boundary)
    assert (result.original_tokens, result.final_tokens) == (
        65,
        65 - 26 + made.estimator.message(result.compaction.boundary),
    )
    assert (time.calls, new_id.calls) == (1, 1)


def test_auto_compact_hoists_system_messages_even_without_protection() -> None:
    config = ContextConfig(60, overflow_strategy=OverflowStrategy.AUTO_COMPACT, preserve_recent_count=2)
    made = ContextManager(replace(config, preserve_system_messages=False))
    assert list(made.prepare(FIVE, **makers()).numbers) == [0, None, 3, 4]


def test_error_carries_the_numbers() -> None:
    with pytest.raises(ContextOverflowError, match="45") as caught:
        manager(60, "Error").prepare(FIVE, **makers())
    error = caught.value
    assert (error.current_tokens, error.threshold_tokens, error.max_tokens) == (45, 45, 60)
    assert isinstance(error, CtxError)
    assert error.hint


def test_tools_count_in_the_totals_but_not_against_the_target() -> None:
    unchanged = manager(90, recent=1).prepare(FIVE, [GREP], **makers())
    assert (unchanged.original_tokens, unchanged.messages) == (75, FIVE)
    cut = manager(80, recent=1).prepare(FIVE, [GREP], **makers())
    assert (list(cut.removed), cut.original_tokens, cut.final_tokens) == ([1], 75, 66)


@pytest.mark.parametrize("strategy", ["Prune", "Summarize", "AutoCompact"])
def test_every_strategy_counts_tools_in_the_end(strategy: str) -> None:
    result = manager(60, strategy).prepare(FIVE, [GREP, GREP], model=StubModel("note"), **makers())
    assert result.changed
    assert (result.original_tokens, result.final_tokens) == (105, DEFAULT_ESTIMATOR.conversation(result.messages) + 60)


@pytest.mark.parametrize("strategy", ["Summarize", "AutoCompact"])
def test_a_failing_model_propagates(strategy: str) -> None:
    error = RuntimeError("offline")
    before = list(FIVE)
    with pytest.raises(RuntimeError) as caught:
        manager(60, strategy).prepare(FIVE, model=StubModel(error), **makers())
    assert caught.value is error
    assert before == FIVE


def test_a_session_adopts_what_was_prepared() -> None:
    session = SageSession()
    session.extend(FIVE)
    summarize = manager(60, "Summarize")
    session.adopt(session.prepare(summarize, model=StubModel("note"), **makers()))
    assert session.numbers == [0, None, 3, 4]
    session.extend(talk("u:eeee a:ffff"), [9, 9])
    assert session.numbers == [0, None, 3, 4, 5, 6]
    result = session.prepare(summarize, model=StubModel("note"), **makers())
    assert list(result.removed) == [2, 3]
    session.adopt(result)
    assert session.numbers == [0, None, None, 5, 6]
    assert session.ledger.costs() == list(DEFAULT_ESTIMATOR.each(session.messages))
    assert manager(1000).usage(session.messages, ledger=session.ledger).messages_count == 5
