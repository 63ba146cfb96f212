"""The rules with a memory decide exactly as the rules without one, on any conversation, damaged ones included."""

from __future__ import annotations

from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.engine.cline.prepare import decide
from ctxviewer.engine.cline.subagent import compact
from ctxviewer.engine.cline.truncation import Keep
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.cline.window import WindowInfo
from ctxviewer.engine.strategies import Facts
from ctxviewer.engine.strategies.base import check_window
from ctxviewer.engine.strategies.cline_memory import ClineMemory
from ctxviewer.engine.strategies.cline_subagent import Conversation
from helpers.cline_strategies import conversations
from helpers.lab import lab_task

INFO = WindowInfo(100, 80)
odd_messages = st.sampled_from(
    [
        None,
        7,
        {"role": "user"},
        {"role": "user", "content": [None]},
        {"role": "user", "content": [{"type": "text", "text": 5}]},
        {"role": "user", "content": "words only"},
        {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": "xyz"}}]},
        {"role": "assistant", "content": [{"type": "text", "text": None}]},
    ]
)


@st.composite
def damaged(draw: st.DrawFn) -> list:
    messages = draw(conversations(max_size=20))
    for place in draw(st.lists(st.integers(0, 30), max_size=2)):
        if place < len(messages):
            messages[place] = draw(odd_messages)
    return messages


steps = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([10, 80, 150, 161, 500])), max_size=12)
"""How many messages come, then the total of the request before."""


def outcome(work):
    """What it returns, or the damage that stops it."""
    try:
        return work()
    except BrokenInputError as err:
        return err


def _characters(optimization):
    if optimization is None or optimization.characters is None:
        return None
    found = optimization.characters
    return repr((found.total, found.saved, dict(found.blocks)))  # NaN equals NaN


@settings(max_examples=133, deadline=None)
@given(damaged(), steps)
def test_a_carried_decision_is_the_decision(messages, steps):
    memory = ClineMemory(Facts(lab_task(messages)))
    deleted, history, until = None, ContextHistory(), 0
    for stamp, (more, total) in enumerate(steps):
        until = min(len(messages), until + more)
        memory.grow(until)
        kept = messages[:until]
        expected = outcome(partial(decide, kept, INFO, deleted, history, total=total, timestamp=stamp))
        found = outcome(partial(memory.decide, INFO, total, stamp))
        assert type(found) is type(expected)
        if isinstance(found, BrokenInputError):
            assert found.sentence == expected.sentence
            assert memory.deleted == deleted
            assert memory.history == history
            continue
        assert found.verdict is expected.verdict
        assert found.range_after == expected.range_after
        assert found.history_after.dump() == expected.history_after.dump()
        assert _characters(found.optimization) == _characters(expected.optimization)
        if expected.optimization is not None:
            assert found.optimization.replaced == expected.optimization.replaced
        deleted, history = expected.range_after, expected.history_after
        _same_tokens(memory, messages, until)


@settings(max_examples=66, deadline=None)
@given(damaged(), st.lists(st.tuples(st.integers(0, 5), st.sampled_from([*Keep, "optimise", "decide"])), max_size=12))
def test_any_mix_of_rules_keeps_the_sums_right(messages, steps):
    memory = ClineMemory(Facts(lab_task(messages)))
    until = 0
    for stamp, (more, what) in enumerate(steps):
        until = min(len(messages), until + more)
        memory.grow(until)
        try:
            if what == "optimise":
                memory.optimize(stamp)
            elif what == "decide":
                memory.decide(INFO, 150, stamp)
            else:
                memory.truncate(what, stamp)
        except BrokenInputError:
            pass
        _same_tokens(memory, messages, until)


def _same_tokens(memory, messages, until):
    """The running sums equal those of a memory that starts with this range and these updates."""
    fresh = ClineMemory(Facts(lab_task(messages)))
    fresh.grow(until)
    fresh._take(memory.deleted, memory.history)
    assert memory.tokens == fresh.tokens
    if memory.resume >= 2:
        assert memory._characters == fresh._characters


@settings(max_examples=133, deadline=None)
@given(damaged(), steps)
def test_a_carried_compaction_is_the_compaction(messages, steps):
    conversation = Conversation(Facts(lab_task(messages)))
    memory = ClineMemory(conversation, searches_all=True)
    held, deleted, history, until = [], None, ContextHistory(), 0
    for stamp, (more, _) in enumerate(steps):
        upto = min(len(messages), until + more)
        held = [*held, *messages[until:upto]]
        until = upto
        memory.grow(until)
        expected = outcome(partial(compact, held, deleted, history, stamp))
        found = outcome(partial(conversation.compact, memory, stamp))
        assert type(found) is type(expected)
        if isinstance(found, BrokenInputError):
            assert found.sentence == expected.sentence
            continue
        assert found.conversation == expected.conversation == conversation.held
        assert found.deleted == expected.deleted
        assert found.history.dump() == expected.history.dump()
        assert _characters(found.optimization) == _characters(expected.optimization)
        held, deleted, history = expected.conversation, expected.deleted, expected.history


def test_the_window_is_checked():
    assert check_window(None, lab_task([]).snapshot.model).limit == 8_000
