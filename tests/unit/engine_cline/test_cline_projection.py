"""The messages as sent: the range, the updates, the pairs of calls and results."""

from __future__ import annotations

import copy

import pytest

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.projection import Repair, RepairKind
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.project import AppliedUpdate, project, sent_messages, with_contents_emptied
from ctxviewer.engine.cline.updates import EMPTY, ContextHistory
from helpers.cline_talk import DUP, a, alternating, call, pairs, result, text, u


def update(message: int, block: int, words: str, history: ContextHistory = EMPTY) -> ContextHistory:
    return history.with_update(message, block, 1, words, 2, [])


def missing(tool_id: object) -> dict:
    return {"type": "tool_result", "tool_use_id": tool_id, "content": "result missing"}


def paired(*messages: dict) -> tuple[list, dict]:
    sent = project([u("task"), *messages], None, EMPTY)
    kinds = {
        position: [(repair.kind, repair.tool_ids) for repair in repairs] for position, repairs in sent.repairs.items()
    }
    return sent.messages[1:], kinds


def test_what_the_range_leaves() -> None:
    messages = alternating(8)
    sent = project(messages, Range(2, 5), EMPTY)
    assert sent.messages == [messages[0], messages[1], messages[6], messages[7]]
    assert sent.stored == [0, 1, 6, 7]
    assert all(out is messages[number] for out, number in zip(sent.messages, sent.stored, strict=True))


@pytest.mark.parametrize(
    ("end", "stored"),
    [
        (1, [0, 1, 2, 3]),
        (9, [0, 1]),
        (0, [0, 1, 1, 2, 3]),
        (-1, [0, 1, 0, 1, 2, 3]),
        (-3, [0, 1, 2, 3]),
        (-2, [0, 1, 3]),
    ],
)
def test_odd_ends(end: int, stored: list) -> None:
    assert project(alternating(4), Range(2, end), EMPTY).stored == stored


def test_up_to_one_message_nothing_is_applied() -> None:
    assert sent_messages([], None, update(0, 0, "x")) == []
    assert sent_messages([u("a")], Range(2, -1), update(0, 0, "x")) == [u("a")]


def test_the_newest_update_replaces_the_text_of_its_block() -> None:
    messages = [u("a", "b"), a("c"), u(result("t", [text("d"), text("e")]), "f")]
    history = update(0, 1, "B", update(2, 0, "D", update(0, 1, "older")))
    sent = project(messages, None, history)
    assert sent.messages == [u("a", "B"), a("c"), u(result("t", [text("D"), text("e")]), "f")]
    assert sent.messages[2]["content"][1] is messages[2]["content"][1]
    assert sent.applied == (AppliedUpdate(0, 1, 1), AppliedUpdate(2, 0, 0))


def test_updates_without_effect() -> None:
    messages = [
        {"role": "user", "content": "words"},
        a(call("t"), {"type": "image"}, result("t", "x"), result("t", []), []),
    ]
    history = EMPTY
    for block in range(6):
        history = update(0, block, "no", update(1, block, "no", history))
    sent = project(messages, None, history)
    assert sent.messages == messages
    assert {(one.message, one.block, one.hit) for one in sent.applied} == {
        (m, b, None) for m in (0, 1) for b in range(6)
    }


def test_an_update_with_an_empty_text_counts_and_one_without_text_removes_it() -> None:
    messages = [u("a"), a("b")]
    assert sent_messages(messages, None, update(0, 0, ""))[0] == u("")
    assert sent_messages(messages, None, ContextHistory.parse('[[0,[0,[[0,[[1,"text",[]]]]]]]]'))[0] == u(
        {"type": "text"}
    )


def test_block_numbers_stored_as_texts_count_message_numbers_do_not() -> None:
    messages = [u("a"), a("b")]
    by_block = ContextHistory.parse('[[0,[0,[["0",[[1,"text",["x"]]]]]]]]')
    by_message = ContextHistory.parse('[["0",[0,[[0,[[1,"text",["x"]]]]]]]]')
    assert sent_messages(messages, None, by_block)[0] == u("x")
    assert sent_messages(messages, None, by_message) == messages


def test_an_object_as_a_block_number_matters_only_where_a_block_is_looked_up() -> None:
    history = ContextHistory.parse('[[0,[0,[[{"toString":1},[[1,"text",["x"]]]]]]]]')
    messages = [u("a"), a("b")]
    with pytest.raises(BrokenInputError):
        sent_messages(messages, None, history)
    for words in ("a", None, {}):
        messages[0] = {"role": "user", "content": words}
        assert sent_messages(messages, None, history) == messages


@pytest.mark.parametrize("changes", ["[]", "null", "7", '""'])
def test_a_stored_block_without_updates_makes_every_view_fail(changes: str) -> None:
    history = ContextHistory.parse(f"[[0,[0,[[0,{changes}]]]]]")
    with pytest.raises(BrokenInputError):
        sent_messages([u("a"), a("b")], None, history)


def test_updates_of_another_kind_hide_the_older_ones() -> None:
    history = ContextHistory.parse('[[0,[0,[[0,[[1,"text",["x"],[]],[2,"other",["y"],[]]]]]]]]')
    assert project([u("a"), a("b")], None, history).messages == [u("a"), a("b")]


def test_results_right_after_the_cut_are_taken_out() -> None:
    messages = [*pairs("x"), u(result("t1"), "words", result("t2")), a("z")]
    sent = project(messages, Range(2, 3), EMPTY)
    assert sent.messages[2] == u("words")
    assert sent.repairs == {2: (Repair(RepairKind.STRIPPED, 4, ("t1", "t2")),)}
    assert project(messages, Range(2, 1), EMPTY).repairs == {}


def test_a_message_can_be_left_without_blocks() -> None:
    sent = project([*pairs("x"), u(result("t1")), a("z")], Range(2, 3), EMPTY)
    assert sent.messages[2] == {"role": "user", "content": []}


def test_taking_results_out_moves_the_blocks_so_that_updates_hit_others() -> None:
    messages = [*pairs("x"), u(result("t1", [text("old")]), "WORDS OF THE USER"), a("z")]
    sent = project(messages, Range(2, 3), update(4, 0, DUP))
    assert sent.messages[2] == u(DUP)
    assert sent.applied == (AppliedUpdate(4, 0, 1),)


def test_a_call_before_the_cut_gets_a_made_up_result() -> None:
    messages = [u("task"), a(call("t1")), u(result("t1")), a("b"), u("c"), a("d")]
    sent = project(messages, Range(2, 3), EMPTY)
    assert sent.messages[2] == u(missing("t1"), "c")
    assert sent.repairs == {2: (Repair(RepairKind.ADDED, 4, ("t1",)),)}


def test_results_in_order_are_left_alone() -> None:
    for blocks in (
        [result("1"), result("2"), "words"],
        [result("1"), result("2"), result("2")],  # twice at the end
        [result("1"), result("2"), result(None), "words"],
    ):
        message = u(*blocks)
        sent, kinds = paired(a(call("1"), call("2")), message)
        assert sent[1] is message
        assert kinds == {}


def test_missing_results_are_made_up_in_the_order_of_the_calls() -> None:
    sent, kinds = paired(a(call("1"), call("2"), call("3")), u("words", result("3"), result("1")))
    assert sent[1] == u(result("1"), missing("2"), result("3"), "words")
    assert kinds == {2: [(RepairKind.ADDED, ("2",)), (RepairKind.MOVED, ("1", "3"))]}


def test_results_behind_words_are_moved_to_the_front() -> None:
    sent, kinds = paired(a(call("1")), u("words", result("1")))
    assert sent[1] == u(result("1"), "words")
    assert kinds == {2: [(RepairKind.MOVED, ("1",))]}


def test_strangers_are_dropped_when_they_are_seen() -> None:
    sent, kinds = paired(a(call("1")), u(result("x"), result("1"), "words"))
    assert sent[1] == u(result("1"), "words")
    assert kinds == {2: [(RepairKind.MOVED, ("1",)), (RepairKind.DROPPED, ("x",))]}
    sent, kinds = paired(a(call("1")), u(result("1"), result("x"), "words"))
    assert sent[1] == u(result("1"), "words")
    assert kinds == {2: [(RepairKind.DROPPED, ("x",))]}


def test_of_two_results_for_one_call_the_later_one_wins_when_something_is_missing() -> None:
    sent, kinds = paired(a(call("1"), call("2")), u(result("1", "early"), result("1", "late")))
    assert sent[1] == u(result("1", "late"), missing("2"))
    assert (RepairKind.DROPPED, ("1",)) in kinds[2]


def test_one_call_twice_gets_its_result_twice() -> None:
    sent, _ = paired(a(call("1"), call("1"), call("2")), u(result("1")))
    assert sent[1] == u(result("1"), result("1"), missing("2"))


def test_string_content_after_a_call_is_lost() -> None:
    messages = [u("task"), a(call("1")), {"role": "user", "content": "my words"}, a("z")]
    untouched = copy.deepcopy(messages)
    sent = project(messages, None, EMPTY)
    assert sent.messages[2] == u(missing("1"))
    assert sent.repairs == {2: (Repair(RepairKind.WORDS_LOST, 2, ("1",)), Repair(RepairKind.ADDED, 2, ("1",)))}
    assert sent.emptied == (2,)
    assert messages == untouched
    assert with_contents_emptied(messages, sent.emptied)[2] == {"role": "user", "content": []}


def test_a_message_with_an_update_is_emptied_as_a_copy() -> None:
    messages = [u("task"), a(call("1")), {"role": "user", "content": "my words"}, a("z")]
    assert project(messages, None, update(2, 0, "no effect")).emptied == ()


def test_missing_content_after_a_call_is_no_loss_of_words() -> None:
    sent = project([u("task"), a(call("1")), {"role": "user"}], None, EMPTY)
    assert sent.messages[2] == u(missing("1"))
    assert [repair.kind for repair in sent.repairs[2]] == [RepairKind.ADDED]
    assert sent.emptied == (2,)


def test_a_message_that_is_sent_twice_is_emptied_in_both_places() -> None:
    messages = [{"role": "user", "content": "task"}, a(call("1")), u("x")]
    sent = project(messages, Range(2, -1), EMPTY)
    assert sent.stored == [0, 1, 0, 1, 2]
    assert sent.messages[0] == {"role": "user", "content": []}
    assert sent.messages[2] == u(missing("1"))


def test_only_calls_before_a_user_message_are_checked() -> None:
    messages = [u("task"), a(call("1")), a(call("2")), {"role": "system", "content": []}, a(call("3"))]
    assert project(messages, None, EMPTY).messages == messages


def test_ids_of_other_types() -> None:
    sent, kinds = paired(a(call(1), call([2]), call(""), call(None)), u(result(1.0), result([2])))
    assert sent[1] == u(result(1.0), missing([2]))
    assert kinds[2][0] == (RepairKind.ADDED, ("?",))


@pytest.mark.parametrize(
    "messages",
    [
        [u("task"), None, u("x")],
        [u("task"), a(None), u("x")],
        [u("task"), a(call("1")), None],
        [u("task"), a(call("1")), u(None)],
    ],
)
def test_damage_on_which_a_view_fails(messages: list) -> None:
    with pytest.raises(BrokenInputError):
        sent_messages(messages, None, EMPTY)


def test_null_as_the_last_message_does_no_harm() -> None:
    assert sent_messages([u("task"), None], None, EMPTY) == [u("task"), None]


def test_an_update_left_for_a_place_past_the_end_hits_the_next_message_there() -> None:
    messages = pairs("x")
    history = update(4, 0, DUP)
    assert sent_messages(messages, None, history) == messages
    assert sent_messages([*messages, u("words of the user")], None, history)[4] == u(DUP)
