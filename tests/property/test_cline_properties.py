"""What holds for Cline's rules on any conversation and any stored updates."""

from __future__ import annotations

import contextlib
import copy
import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline import js_json
from ctxviewer.engine.cline.js import number_text, to_number, utf16_length
from ctxviewer.engine.cline.optimize import optimize_file_reads
from ctxviewer.engine.cline.prepare import Decision, decide, prepare
from ctxviewer.engine.cline.project import project, sent_messages
from ctxviewer.engine.cline.savings import count_characters
from ctxviewer.engine.cline.subagent import compact
from ctxviewer.engine.cline.truncation import Keep, next_range
from ctxviewer.engine.cline.updates import EMPTY, ContextHistory
from ctxviewer.engine.cline.window import Api, WindowInfo
from helpers.cline_strategies import conversations, even_ends, histories, odd_history_texts, ranges
from helpers.cline_talk import Lazy

keeps = st.sampled_from(list(Keep))
LIMIT = WindowInfo(1000, 800)


def decided(messages: list, deleted: Range | None, history: ContextHistory, total: int = 900) -> Decision:
    return decide(messages, LIMIT, deleted, history, total=total, timestamp=5)


@given(conversations(min_size=2), st.none() | even_ends, keeps)
def test_a_cut_keeps_the_first_pair_and_ends_on_an_assistant(messages: list, deleted: Range | None, keep: Keep) -> None:
    if deleted is not None and deleted.end >= len(messages):
        deleted = None
    after = next_range(messages, deleted, keep)
    assert after.start == 2
    assert after.end >= (1 if deleted is None else deleted.end), "a range never shrinks"
    assert after.end < len(messages)
    assert (after.end - after.start + 1) % 2 == 0
    assert messages[after.end]["role"] == "assistant"


@given(conversations(min_size=2), st.none() | even_ends, keeps)
def test_what_is_sent_after_a_cut_is_still_in_turns(messages: list, deleted: Range | None, keep: Keep) -> None:
    if deleted is not None and deleted.end >= len(messages):
        deleted = None
    sent = sent_messages(messages, next_range(messages, deleted, keep), EMPTY)
    assert [message["role"] for message in sent] == ["user", "assistant"] * (len(sent) // 2) + ["user"] * (
        len(sent) % 2
    )


@given(conversations(), st.none() | even_ends, histories())
def test_each_stored_message_is_sent_at_most_once_and_in_order(
    messages: list, deleted: Range | None, history: ContextHistory
) -> None:
    sent = project(messages, deleted, history)
    assert sent.stored == sorted(set(sent.stored))
    assert len(sent.messages) == len(sent.stored)
    touched = (
        set(sent.repairs)
        | {sent.stored.index(a.message) for a in sent.applied}
        | {sent.stored.index(number) for number in sent.emptied}
    )
    for position, number in enumerate(sent.stored):
        if position not in touched:
            assert sent.messages[position] is messages[number]


@given(conversations(min_size=2), st.none() | even_ends)
def test_pairs_are_complete_as_sent(messages: list, deleted: Range | None) -> None:
    sent = sent_messages(messages, deleted, EMPTY)
    for before, after in itertools.pairwise(sent):
        calls = [block["id"] for block in before["content"] if block["type"] == "tool_use"]
        results = [block["tool_use_id"] for block in after["content"] if block["type"] == "tool_result"]
        if before["role"] == "assistant" and calls:
            assert set(results) == set(calls)
            assert sent_messages([before, after], None, EMPTY) == [before, after], "mending twice is mending once"


@given(conversations(), ranges, histories(), st.integers(700, 900))
def test_nothing_given_is_ever_changed(
    messages: list, deleted: Range | None, history: ContextHistory, total: int
) -> None:
    before, text = copy.deepcopy(messages), history.dump()
    entry = {"ts": 5, "text": f'{{"tokensIn":{total}}}'}
    for work in (
        lambda: prepare(messages, [entry], Api(context_window=1000), deleted, history, 0),
        lambda: compact(messages, deleted, history, 5),
        lambda: project(messages, deleted, history),
    ):
        with contextlib.suppress(BrokenInputError):
            work()
    assert messages == before
    assert history.dump() == text


@given(conversations(), ranges, histories())
def test_lazily_decoded_messages_give_the_same(messages: list, deleted: Range | None, history: ContextHistory) -> None:
    def outcome(given_messages: object) -> object:
        try:
            decision = decided(given_messages, deleted, history)
            return decision.range_after, decision.history_after, sent_messages(given_messages, deleted, history)
        except BrokenInputError:
            return None

    assert outcome(Lazy(messages)) == outcome(messages)


@given(conversations(), st.none() | even_ends, histories())
def test_an_optimisation_only_adds_updates(messages: list, deleted: Range | None, history: ContextHistory) -> None:
    try:
        done = optimize_file_reads(messages, deleted, history, 50)
    except BrokenInputError:
        return
    old = [(one.message, one.block, one.text) for one in history.updates()]
    new = [(one.message, one.block, one.text) for one in done.history.updates() if one.timestamp != 50]
    assert sorted(new) == sorted(old)
    added = [one for one in done.history.updates() if one.timestamp == 50]
    assert {one.message for one in added} == {one.message for one in done.replaced}
    assert [one.text for one in done.history.without_later_than(49).updates()] == [
        one.text for one in history.updates()
    ]
    assert all(one.newest_message >= one.message for one in done.replaced)


@given(conversations(min_size=2), st.none() | even_ends)
def test_savings_are_the_difference_of_two_counts(messages: list, deleted: Range | None) -> None:
    done = optimize_file_reads(messages, deleted, EMPTY, 5)
    if done.characters is None:
        return
    start = 2 if deleted is None else deleted.end + 1
    before = count_characters(messages, start, EMPTY)
    after = count_characters(messages, start, done.history)
    assert done.characters.total == before.total
    assert done.characters.saved == before.total - after.total == sum(one.saved for one in done.replaced)


@given(conversations(min_size=2), st.none() | even_ends)
def test_a_second_optimisation_of_the_same_finds_nothing_new_to_read(messages: list, deleted: Range | None) -> None:
    """Reads and edits are replaced once; only mentions with files left are looked at again."""
    once = optimize_file_reads(messages, deleted, EMPTY, 5)
    twice = optimize_file_reads(messages, deleted, once.history, 6)
    open_mentions = {
        one.message
        for one in once.history.updates()
        if one.edit_type == 4 and len(one.metadata[0]) != len(one.metadata[1])
    }
    seen = {one.message for one in once.history.updates()}
    assert {one.message for one in twice.replaced} & seen <= open_mentions


@given(conversations(), st.none() | even_ends, histories(), st.integers(700, 900))
def test_a_decision_is_whole(messages: list, deleted: Range | None, history: ContextHistory, total: int) -> None:
    try:
        decision = decided(messages, deleted, history, total)
    except BrokenInputError:
        return
    assert decision.over_limit is (total >= 800)
    assert decision.range_updated or decision.range_after == deleted
    assert (decision.written is None) is (decision.history_after == history)
    if decision.over_limit:
        assert decision.optimization is not None
        assert decision.range_updated is decision.optimization.need_to_truncate


@given(odd_history_texts)
def test_writing_and_reading_a_history_is_identity(text: str) -> None:
    history = ContextHistory.parse(text)
    written = history.dump()
    again = ContextHistory.parse(written)
    assert again.dump() == written
    assert again == history
    assert list(again.updates()) == list(history.updates())


@given(odd_history_texts, st.integers(-3, 20))
def test_rolling_back_twice_is_rolling_back_once(text: str, timestamp: int) -> None:
    history = ContextHistory.parse(text)
    try:
        once = history.without_later_than(timestamp)
    except BrokenInputError:
        return
    assert once.without_later_than(timestamp) == once
    assert {one.text for one in once.updates()} <= {one.text for one in history.updates()}


@given(histories(), st.integers(-1, 10), st.integers(-1, 10))
def test_rolling_back_in_two_steps_is_rolling_back_to_the_earlier_time_for_updates_in_order(
    history: ContextHistory, one: int, other: int
) -> None:
    ordered = EMPTY
    for update in sorted(history.updates(), key=lambda update: update.timestamp):
        ordered = ordered.with_update(
            update.message, update.block, update.timestamp, update.text, update.edit_type, update.metadata
        )
    stepwise = ordered.without_later_than(max(one, other)).without_later_than(min(one, other))
    assert stepwise == ordered.without_later_than(min(one, other))
    assert all(update.timestamp <= min(one, other) for update in stepwise.updates())


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
@settings(max_examples=150)
def test_json_comes_back_as_it_was(value: Json) -> None:
    text = js_json.stringify(value)
    assert js_json.parse(text) == value
    assert js_json.stringify(js_json.parse(text)) == text


@given(st.floats(allow_nan=False))
@settings(max_examples=300)
def test_a_number_is_the_number_of_its_text(number: float) -> None:
    text = number_text(number)
    assert to_number(text) == number
    digits = text.split("e")[0].strip("-0").replace(".", "").strip("0")
    assert len(digits) <= 17, "shortest digits only"


@given(st.text())
def test_utf16_length_counts_units(text: str) -> None:
    assert utf16_length(text) == sum(2 if ord(character) > 0xFFFF else 1 for character in text)
