"""sage.md §15: what must hold for every list, and the rules against their plain, slow wording."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxviewer.engine.sage.auto_compact import AutoCompact, Compacted, CompactResult, CompactStats
from ctxviewer.engine.sage.boundary import is_boundary, last_boundary
from ctxviewer.engine.sage.config import AutoCompactConfig, ContextConfig, OverflowStrategy
from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR, LARGEST_COUNT, TokenEstimator, f32
from ctxviewer.engine.sage.ledger import CostLedger
from ctxviewer.engine.sage.manager import ContextManager, ContextOverflowError
from ctxviewer.engine.sage.message import Role, SageMessage, ToolSchema
from ctxviewer.engine.sage.pruner import MessagePruner, prune_cut
from ctxviewer.engine.sage.session import SageSession
from ctxviewer.engine.sage.streaming import StreamingTokenCounter
from ctxviewer.engine.sage.summarizer import extract_summary
from helpers.sage_talk import StubModel, makers

Result = TypeVar("Result")

TEXTS = st.text(max_size=60) | st.builds(
    lambda unit, times: unit * times, st.sampled_from("a界🙂\ud83d"), st.integers(0, 120)
)
MARKS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {}, {}, {}, {"compact_boundary": True}, {"compact_boundary": "true"}]
)
MESSAGES = st.lists(st.builds(SageMessage, st.sampled_from(Role), TEXTS, metadata=MARKS), max_size=25)
PROVIDERS = st.sampled_from(["anthropic", "openai", "google", None])
ESTIMATORS = st.builds(TokenEstimator.for_provider, PROVIDERS)
CONFIGS = st.builds(
    ContextConfig,
    max_context_tokens=st.integers(0, 800),
    threshold_ratio=st.sampled_from([0.0, 0.3, 0.75, 1.5, -1.0]),
    overflow_strategy=st.sampled_from(OverflowStrategy),
    preserve_system_messages=st.booleans(),
    preserve_recent_count=st.integers(0, 8),
)
AUTO_CONFIGS = st.builds(
    AutoCompactConfig,
    enabled=st.booleans(),
    max_context_tokens=st.integers(0, 600),
    compact_threshold_ratio=st.sampled_from([0.0, 0.3, 0.95]),
    preserve_recent_count=st.integers(0, 8),
)
TOOLS = st.lists(st.builds(ToolSchema, TEXTS, TEXTS, st.sampled_from([None, {"type": "object"}])), max_size=2)
MODELS = st.sampled_from([None, "gist", "<summary> gist </summary>", "x" * 900])


def model_of(reply: str | None) -> StubModel | None:
    return None if reply is None else StubModel(reply)


def attempt(act: Callable[[], Result]) -> tuple[Result | None, Exception | None]:
    """What it returns, or the expected error that it raises."""
    try:
        return act(), None
    except (RuntimeError, ContextOverflowError) as error:
        return None, error


def same_objects(found: Any, expected: Any) -> bool:
    return [id(item) for item in found] == [id(item) for item in expected]


def protected(message: SageMessage, config: ContextConfig) -> bool:
    return config.preserve_system_messages and message.role is Role.SYSTEM


def in_order(numbers: Any) -> list[int]:
    """The numbers that are not None, which must go up."""
    found = [number for number in numbers if number is not None]
    assert found == sorted(set(found))
    return found


# Pruning


@given(MESSAGES, st.integers(0, 700), CONFIGS, ESTIMATORS)
def test_pruning_is_the_plain_loop(
    messages: list[SageMessage], target: int, config: ContextConfig, estimator: TokenEstimator
) -> None:
    kept, removed = list(range(len(messages))), []
    guarded = sum(protected(message, config) for message in messages)
    while (
        estimator.conversation(messages[number] for number in kept) > target
        and len(kept) > config.preserve_recent_count + guarded
    ):
        first = next(number for number in kept if not protected(messages[number], config))
        kept.remove(first)
        removed.append(first)
    result = MessagePruner(config, estimator).prune(messages, target)
    assert (list(result.numbers), list(result.removed_numbers)) == (kept, removed)
    assert same_objects(result.messages, [messages[number] for number in kept])
    assert same_objects(result.removed, [messages[number] for number in removed])
    assert result.tokens_saved == estimator.conversation(messages) - estimator.conversation(result.messages)


@given(MESSAGES, st.integers(0, 700), CONFIGS, ESTIMATORS)
def test_pruning_invariants(
    messages: list[SageMessage], target: int, config: ContextConfig, estimator: TokenEstimator
) -> None:
    before = list(messages)
    pruner = MessagePruner(config, estimator)
    result = pruner.prune(messages, target)
    assert same_objects(messages, before)
    assert Counter(map(id, [*result.messages, *result.removed])) == Counter(map(id, messages))
    assert not any(protected(message, config) for message in result.removed)
    assert result.tokens_saved >= 0
    free = sum(not protected(message, config) for message in result.messages)
    assert result.tokens_after <= target or free <= config.preserve_recent_count
    if result.removed:
        assert result.tokens_after + estimator.message(result.removed[-1]) > target
    again = pruner.prune(result.messages, target)
    assert again.messages is result.messages


@given(MESSAGES, st.integers(0, 700), CONFIGS, st.data())
def test_a_ledger_answers_for_a_beginning_as_for_a_list(
    messages: list[SageMessage], target: int, config: ContextConfig, data: st.DataObject
) -> None:
    length = data.draw(st.integers(0, len(messages)))
    part = messages[:length]
    ledger, fresh = CostLedger(messages), CostLedger(part)
    assert prune_cut(ledger, target, config, length) == prune_cut(fresh, target, config)
    assert (ledger.active_start(length), ledger.active_tokens(length)) == (fresh.active_start(), fresh.active_tokens())
    assert ledger.last_boundary(length) == last_boundary(part)
    assert ledger.costs(0, length) == list(DEFAULT_ESTIMATOR.each(part))
    pruner = MessagePruner(config)
    assert pruner.prune(part, target, ledger=ledger) == pruner.prune(part, target)
    ledger.truncate(length).extend(messages[length:])
    assert prune_cut(ledger, target, config) == prune_cut(CostLedger(messages), target, config)


# Compaction


def check_compaction(
    old: list[SageMessage], result: CompactResult, keep: int, estimator: TokenEstimator = DEFAULT_ESTIMATOR
) -> None:
    """The invariants of one compaction of `old`."""
    last = last_boundary(old)
    start = 0 if last is None else last + 1
    active = range(start, len(old))
    recent = list(active)[-keep:] if keep else []
    older = [number for number in active if number not in recent]
    expected = [number for number in older if old[number].role is not Role.SYSTEM]
    if not expected:
        assert result.messages is old
        return
    assert isinstance(result, Compacted)
    assert list(result.compacted) == expected
    hoisted = [number for number in older if old[number].role is Role.SYSTEM]
    assert list(result.numbers) == [*range(start), *hoisted, None, *recent]
    assert all(
        message is (result.boundary if number is None else old[number])
        for message, number in zip(result.messages, result.numbers, strict=True)
    )
    assert is_boundary(result.boundary)
    assert sorted([*in_order(result.numbers), *result.compacted]) == list(range(len(old)))
    assert result.tokens_before == estimator.conversation(old)
    assert result.tokens_after == estimator.conversation(result.messages)
    assert result.tokens_saved == max(0, result.tokens_before - result.tokens_after)


@given(MESSAGES, AUTO_CONFIGS, MODELS, st.booleans())
def test_compaction_invariants(
    messages: list[SageMessage], config: AutoCompactConfig, reply: str | None, force: bool
) -> None:
    model, before = model_of(reply), list(messages)
    auto = AutoCompact(config, model=model, **makers())
    last = last_boundary(messages)
    active = messages[0 if last is None else last + 1 :]
    due = config.enabled and DEFAULT_ESTIMATOR.conversation(active) >= config.threshold_tokens
    assert auto.needs_compaction(messages) is due
    result = auto.force_compact(messages) if force else auto.check_and_compact(messages)
    assert same_objects(messages, before)
    if force or due:
        check_compaction(messages, result, config.preserve_recent_count)
    else:
        assert result.messages is messages
    compacted = isinstance(result, Compacted)
    assert (auto.stats.compact_count, auto.stats.skipped_count) == (int(compacted), int(not compacted))
    assert len(model.prompts if model else []) == (int(compacted) if model else 0)


@given(st.lists(st.tuples(MESSAGES, st.sampled_from(["check", "force", "none"])), max_size=6), AUTO_CONFIGS, MODELS)
def test_a_session_is_the_same_as_lists_passed_on(
    steps: list[tuple[list[SageMessage], str]], config: AutoCompactConfig, reply: str | None
) -> None:
    model = model_of(reply)
    auto, plain = (AutoCompact(config, model=model, **makers()) for _ in range(2))
    session, current, given_messages = SageSession(), [], []
    for added, do in steps:
        session.extend(added)
        current, given_messages = [*current, *added], [*given_messages, *added]
        if do != "none":
            session_act, plain_act = (
                (session.check, plain.check_and_compact) if do == "check" else (session.force, plain.force_compact)
            )
            session_act(auto)
            current = list(plain_act(current).messages)
        assert session.messages == current
        assert auto.stats == plain.stats
        assert session.ledger.costs() == list(DEFAULT_ESTIMATOR.each(current))
        for message, number in zip(session.messages, session.numbers, strict=True):
            assert is_boundary(message) if number is None else message is given_messages[number]
        in_order(session.numbers)


@given(MESSAGES, AUTO_CONFIGS, st.booleans())
def test_a_failing_model_changes_nothing(messages: list[SageMessage], config: AutoCompactConfig, force: bool) -> None:
    error, before = RuntimeError("offline"), list(messages)
    auto = AutoCompact(config, model=StubModel(error), **makers())
    act = auto.force_compact if force else auto.check_and_compact
    result, raised = attempt(lambda: act(messages))
    if raised:
        assert raised is error
        assert auto.stats == CompactStats()
    else:
        assert result is not None
        assert result.messages is messages
        assert auto.stats == CompactStats(skipped_count=1)
    assert same_objects(messages, before)


# Requests


@given(MESSAGES, TOOLS, CONFIGS, ESTIMATORS, MODELS)
def test_preparing_a_request(
    messages: list[SageMessage],
    tools: list[ToolSchema],
    config: ContextConfig,
    estimator: TokenEstimator,
    reply: str | None,
) -> None:
    manager, model, before = ContextManager(config, estimator), model_of(reply), list(messages)
    total = estimator.request(messages, tools)
    result, raised = attempt(lambda: manager.prepare(messages, tools, model=model, **makers()))
    if result is None:
        assert isinstance(raised, ContextOverflowError)
        assert config.overflow_strategy is OverflowStrategy.ERROR
        assert (raised.current_tokens, raised.threshold_tokens) == (total, config.threshold_tokens)
        assert total >= config.threshold_tokens
        return
    assert same_objects(messages, before)
    assert result.original_tokens == total
    assert result.final_tokens == estimator.request(result.messages, tools)
    assert result.removed_count == len(result.removed)
    kept = in_order(result.numbers)
    assert sorted([*kept, *result.removed]) == list(range(len(messages)))
    made = [message for message, number in zip(result.messages, result.numbers, strict=True) if number is None]
    assert same_objects(made, [] if result.made is None else [result.made])
    assert all(
        message is messages[number]
        for message, number in zip(result.messages, result.numbers, strict=True)
        if number is not None
    )
    assert list(result.numbers[: result.changed_from]) == list(range(result.changed_from))
    if total < config.threshold_tokens or not result.removed:
        assert result.messages is messages
        assert not result.changed
        assert result.final_tokens == total
    if not result.changed:
        return
    assert config.overflow_strategy is not OverflowStrategy.ERROR
    assert result.was_pruned is (config.overflow_strategy is not OverflowStrategy.AUTO_COMPACT)
    assert result.was_summarized is (config.overflow_strategy is not OverflowStrategy.PRUNE)
    if result.was_pruned:
        pruned = manager.prune(messages, config.target_tokens)
        assert list(pruned.removed_numbers) == list(result.removed)
    else:
        assert result.compaction is not None
        check_compaction(messages, result.compaction, config.preserve_recent_count, estimator)
    if result.was_pruned and result.was_summarized:
        place = list(result.numbers).index(None)
        assert all(message.role is Role.SYSTEM for message in result.messages[: place + 1])
        assert all(message.role is not Role.SYSTEM for message in result.messages[place + 1 : place + 2])


@given(MESSAGES, CONFIGS, MODELS, MESSAGES)
def test_a_prepared_list_can_be_carried_on(
    messages: list[SageMessage], config: ContextConfig, reply: str | None, more: list[SageMessage]
) -> None:
    manager = ContextManager(config)
    session, current = SageSession(), list(messages)
    session.extend(messages)
    for added in (more, []):
        try:
            result = session.prepare(manager, model=model_of(reply), **makers())
        except ContextOverflowError:
            return
        expected = manager.prepare(current, model=model_of(reply), **makers())
        assert list(result.messages) == list(expected.messages)
        session.adopt(result)
        current = list(expected.messages)
        assert session.messages == current
        assert session.ledger.costs() == list(DEFAULT_ESTIMATOR.each(current))
        session.extend(added)
        current.extend(added)


# Numbers


@given(MESSAGES, MESSAGES, ESTIMATORS)
def test_estimates_grow(messages: list[SageMessage], more: list[SageMessage], estimator: TokenEstimator) -> None:
    costs = [estimator.conversation(messages[:length]) for length in range(len(messages) + 1)]
    assert costs[0] == 0
    assert costs == sorted(costs)
    assert estimator.conversation([*messages, *more]) == costs[-1] + estimator.conversation(more)
    usage = ContextManager(ContextConfig(100), estimator).usage(messages)
    assert usage.current_tokens == costs[-1]
    assert min(usage.tokens_until_limit, usage.tokens_until_threshold) >= 0


@given(st.lists(st.tuples(st.booleans(), TEXTS), max_size=20), ESTIMATORS)
def test_a_stream_is_a_sum_of_its_pieces(pieces: list[tuple[bool, str]], estimator: TokenEstimator) -> None:
    counter = StreamingTokenCounter(estimator)
    for sent, piece in pieces:
        (counter.record_input if sent else counter.record_output)(piece)
    assert counter.input_tokens == sum(estimator.text(piece) for sent, piece in pieces if sent)
    assert counter.output_tokens == sum(estimator.text(piece) for sent, piece in pieces if not sent)
    assert counter.output_tokens >= estimator.text("".join(piece for sent, piece in pieces if not sent))


@given(st.floats(allow_nan=False, width=32) | st.integers(-(2**53), 2**53))
def test_f32_equals_packing(value: float) -> None:
    assert f32(value) == struct.unpack("<f", struct.pack("<f", value))[0]
    assert f32(f32(value)) == f32(value)


@given(st.integers(0, 2**64), st.integers(0, 2**64))
def test_f32_keeps_the_order_of_counts(left: int, right: int) -> None:
    assert (f32(left) <= f32(right)) or left > right


@given(st.floats(), st.integers(0, 2**64 - 1))
def test_thresholds_are_counts(ratio: float, window: int) -> None:
    config = replace(AutoCompactConfig(), max_context_tokens=window, compact_threshold_ratio=ratio)
    assert 0 <= config.threshold_tokens <= LARGEST_COUNT
    assert 0 <= config.target_tokens <= LARGEST_COUNT


@given(st.text(alphabet="<sumary>/ x\x1c\u3000", max_size=60))
def test_an_extracted_summary_is_part_of_the_reply(reply: str) -> None:
    summary = extract_summary(reply)
    assert summary in reply
    assert extract_summary(f"<summary>a{summary}b</summary>").startswith("a")


def test_a_rule_refuses_a_ledger_of_another_list() -> None:
    with pytest.raises(ValueError, match="ledger"):
        ContextManager().usage([SageMessage(Role.USER, "")], ledger=CostLedger())
