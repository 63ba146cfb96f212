"""The decision of one request, stage by stage; the notices; the subagent's compaction."""

from __future__ import annotations

import copy
import json

import pytest

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.notices import (
    CONTEXT_TRUNCATION,
    FIRST_USER_MESSAGE,
    with_both_notices,
    with_first_message_replaced,
    with_truncation_notice,
)
from ctxviewer.engine.cline.prepare import Decision, Verdict, decide, prepare
from ctxviewer.engine.cline.subagent import compact, should_compact_subagent
from ctxviewer.engine.cline.truncation import Keep
from ctxviewer.engine.cline.updates import EMPTY, ContextHistory, HalfDoneError
from ctxviewer.engine.cline.window import Api, WindowInfo
from helpers.cline_talk import Lazy, a, alternating, call, mention, pairs, read, request, result, text, u

API = Api(context_window=64_000)


def prepared(messages: list, total: object = 40_000, deleted: Range | None = None, **more: object) -> Decision:
    history = more.pop("history", EMPTY)
    return prepare(messages, [request(ts=7, tokensIn=total)], API, deleted, history, 0, **more)


def test_within_the_limit_nothing_happens() -> None:
    messages = pairs(read("p"), read("p"))
    decision = prepared(messages, 36_999)
    assert decision.verdict is Verdict.WITHIN_LIMIT
    assert not decision.over_limit
    assert decision.optimization is None
    assert decision.keep is None
    assert decision.history_after is EMPTY
    assert decision.written is None
    assert decision.sent is not None
    assert decision.sent.messages == messages


def test_at_the_limit_it_cuts_by_half_and_above_twice_the_limit_by_three_quarters() -> None:
    assert [prepared(alternating(20), total).keep for total in (37_000, 74_000, 74_001)] == [
        Keep.HALF,
        Keep.HALF,
        Keep.QUARTER,
    ]


def test_the_stages_of_a_cut() -> None:
    decision = prepared(alternating(20), deleted=Range(2, 5))
    assert decision.verdict is Verdict.TRUNCATED
    assert (decision.range_before, decision.range_after) == ((2, 5), (2, 11))
    assert decision.range_updated
    assert decision.notice_added
    assert (decision.total, decision.timestamp, decision.window) == (40_000, 7, WindowInfo(64_000, 37_000))
    assert decision.optimization is not None
    assert not decision.optimization.changed
    assert decision.written == json.dumps(
        [[1, [0, [[0, [[7, "text", [CONTEXT_TRUNCATION], []]]]]]]], ensure_ascii=False, separators=(",", ":")
    )
    assert decision.sent is not None
    assert decision.sent.stored == [0, 1, *range(12, 20)]
    assert decision.sent.messages[1] == a(CONTEXT_TRUNCATION)


def test_big_savings_go_without_a_cut() -> None:
    decision = prepared(pairs(read("p", "x" * 9000), read("p", "x" * 9000)))
    assert decision.verdict is Verdict.OPTIMIZED
    assert decision.range_after is None
    assert not decision.range_updated
    assert not decision.notice_added
    assert [update.message for update in decision.history_after.updates()] == [2]
    assert decision.updates_changed


def test_small_savings_keep_the_overlays_and_cut_all_the_same() -> None:
    decision = prepared(pairs(read("p", "x" * 200), read("p"), *["y" * 3000] * 8))
    assert decision.verdict is Verdict.TRUNCATED
    assert decision.optimization is not None
    assert decision.optimization.changed
    assert [update.message for update in decision.history_after.updates()] == [2, 1]


def test_the_notice_is_never_renewed() -> None:
    first = prepared(alternating(20))
    second = prepared(alternating(40), deleted=first.range_after, history=first.history_after)
    assert second.verdict is Verdict.TRUNCATED
    assert not second.notice_added
    assert second.history_after is first.history_after
    assert second.written is None


def test_a_cut_that_removes_nothing_is_reported_as_one() -> None:
    decision = prepared(alternating(3))
    assert (decision.range_after, decision.range_updated, decision.notice_added) == ((2, 1), True, True)
    assert decision.range_after is not None
    assert decision.range_after.is_empty


@pytest.mark.parametrize("index", [-1, 5])
def test_without_a_previous_request_nothing_is_decided(index: int) -> None:
    decision = prepare(alternating(20), [request(tokensIn=99_999)], API, None, EMPTY, index)
    assert decision.verdict is Verdict.NO_NUMBERS
    assert decision.total is None


def test_auto_condense_decides_elsewhere() -> None:
    decision = prepared(alternating(20), auto_condense=True)
    assert decision.verdict is Verdict.LEFT_TO_CONDENSE
    assert decision.range_after is None


@pytest.mark.parametrize("words", ["{", "null", '{"tokensIn":NaN}', "\ufeff{}"])
def test_the_main_step_fails_on_broken_numbers(words: str) -> None:
    with pytest.raises(BrokenInputError):
        prepare(alternating(4), [{"ts": 1, "text": words}], API, None, EMPTY, 0)


def test_numbers_that_are_no_numbers() -> None:
    for words, verdict in [
        ('{"tokensIn":"9","tokensOut":8000}', Verdict.TRUNCATED),
        ('{"tokensIn":1e400}', Verdict.TRUNCATED),
        ('{"tokensIn":{}}', Verdict.WITHIN_LIMIT),
        ("[]", Verdict.WITHIN_LIMIT),
        ("5", Verdict.WITHIN_LIMIT),
    ]:
        assert prepare(alternating(9), [{"ts": 1, "text": words}], API, None, EMPTY, 0).verdict is verdict
    assert prepare(alternating(9), [{"ts": 1, "text": 5}], API, None, EMPTY, 0).verdict is Verdict.WITHIN_LIMIT


def test_a_request_without_a_time_stores_null() -> None:
    decision = prepare(alternating(9), [{"text": '{"tokensIn":40000}'}], API, None, EMPTY, 0)
    assert decision.written is not None
    assert decision.written.startswith("[[1,[0,[[0,[[null,")


def test_a_view_that_fails_after_the_work_tells_what_was_written() -> None:
    messages = alternating(20)
    messages[17] = a(None)  # read only when calls and results are paired
    with pytest.raises(HalfDoneError) as caught:
        prepared(messages)
    assert caught.value.written == prepared(alternating(20)).written
    assert [update.message for update in caught.value.history.updates()] == [1]


def test_a_known_total_can_be_decided_without_a_timeline() -> None:
    decision = decide(alternating(20), WindowInfo(1000, 800), None, EMPTY, total=800, timestamp=3)
    assert decision.verdict is Verdict.TRUNCATED
    assert decision.sent is None


def test_nothing_given_is_changed_and_each_message_is_decoded_once() -> None:
    messages = [*pairs(*[read("p", "x" * 99)] * 4, f"{mention('p')}{mention('q')}", *["y" * 900] * 9), u(mention("q"))]
    before = copy.deepcopy(messages)
    history = ContextHistory.parse('[[8,[4,[[0,[[1,"text",["t"],[[],["p","q"]]]]]]]]]')
    prepared(messages, deleted=Range(2, 3), history=history)
    assert messages == before
    assert history.dump() == '[[8,[4,[[0,[[1,"text",["t"],[[],["p","q"]]]]]]]]]'
    lazy = Lazy(messages)
    prepared(lazy, deleted=Range(2, 3))
    assert max(lazy.decoded) == 1
    assert lazy.decoded[2:4] == [0, 0]


def test_both_notices() -> None:
    history = with_both_notices(EMPTY, [u("task", "env"), a("x")], 5)
    assert [(update.message, update.block, update.text) for update in history.updates()] == [
        (1, 0, CONTEXT_TRUNCATION),
        (0, 0, FIRST_USER_MESSAGE),
    ]
    assert with_both_notices(history, [u("task")], 9) is history
    assert (len(CONTEXT_TRUNCATION), len(FIRST_USER_MESSAGE)) == (336, 30)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [None],
        [5],
        [{"role": "user", "content": "words"}],
        [u({"type": "image"})],
        [u("")],
        [u()],
        [{"role": "user", "content": [None]}],
        [u(result("t", [text("x")]))],
    ],
)
def test_first_messages_that_are_not_replaced(messages: list) -> None:
    assert with_first_message_replaced(EMPTY, messages, 5) is EMPTY


def test_an_entry_of_any_kind_keeps_a_notice_out() -> None:
    history = ContextHistory.parse("[[1,[2,[]]],[0,[2,[]]]]")
    assert with_truncation_notice(history, 5) is history
    assert with_both_notices(history, [u("task")], 5) is history


def test_a_subagent_compacts_the_conversation_itself() -> None:
    conversation = [*pairs(read("p", "x" * 9000)), u("words"), a(call("t")), u("forgot"), a("y"), u(read("p"))]
    untouched = copy.deepcopy(conversation)
    done = compact(conversation, Range(2, 5), EMPTY, 3)  # the range is not looked at when duplicates are searched
    assert done.did_compact
    assert done.deleted == (2, 5)
    assert [read.message for read in done.optimization.replaced] == [2]
    assert done.conversation[6]["content"][0]["content"] == "result missing"
    assert conversation == untouched
    again = compact(done.conversation, done.deleted, done.history, 4)
    assert not again.optimization.changed
    assert again.deleted == (2, 7)


def test_a_subagents_range_grows_to_a_quarter_until_nothing_is_left() -> None:
    conversation = alternating(11)
    deleted, seen = None, []
    for now in range(4):
        done = compact(conversation, deleted, EMPTY, now)
        deleted = done.deleted
        seen.append((done.did_compact, deleted))
    assert seen == [(True, (2, 7)), (True, (2, 9)), (False, (2, 9)), (False, (2, 9))]
    assert compact([u("t")], None, EMPTY, 1).deleted is None
    assert compact(alternating(3), None, EMPTY, 1).deleted is None  # an empty range is not taken over


def test_a_subagents_limit() -> None:
    api = Api(context_window=200_000)
    assert should_compact_subagent(150_000, api, auto_condense=True)
    assert not should_compact_subagent(150_000, api, auto_condense=False)
    assert should_compact_subagent(37_000, API, auto_condense=True)
