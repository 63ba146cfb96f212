"""The stored updates: read, written, cut back, extended."""

from __future__ import annotations

import pytest

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.updates import Update
from ctxviewer.engine.cline.js import UNDEFINED
from ctxviewer.engine.cline.updates import EMPTY, ContextHistory, HistoryDraft

FULL = (
    '[[7,[2,[[0,[[20,"text",["new\\u0000é\u2028"],[]]]],[1,[]]]]],'
    '[1,[0,[[0,[[10,"text",["notice"],[]],[30,"text",["again"],[["a"],["a","b"]]]]]]]]]'
)


def test_a_file_is_written_back_byte_for_byte() -> None:
    assert ContextHistory.parse(FULL).dump() == FULL


@pytest.mark.parametrize(
    "text",
    [
        '[["1",[0,[]]]]',
        "[[null,[null,null]]]",
        "[[1,[0]]]",
        '[[1,[4,[["0",5],[1,"x"],[2,null]]]]]',
        '[[[1],[{"b":1,"2":0},[]]]]',
        "[[1,[0,[[{},[]]]]]]",
    ],
)
def test_odd_entries_are_kept(text: str) -> None:
    again = ContextHistory.parse(text).dump()
    assert ContextHistory.parse(again).dump() == again
    assert ContextHistory.problem(text) == ""


def test_odd_forms_that_are_read_all_the_same() -> None:
    assert ContextHistory.parse('["ab"]').dump() == '[["a",["b",[]]]]'
    assert ContextHistory.parse('[[1,[2,[{"0":3,"1":4}]]]]').dump() == "[[1,[2,[[3,4]]]]]"
    assert ContextHistory.parse("[[1,[2,[]]],[3,[0,[]]],[1.0,[4,[]]]]").dump() == "[[1,[4,[]]],[3,[0,[]]]]"
    assert ContextHistory.parse("[[]]").dump() == "[]"  # the second part of the entry is missing: all is ignored


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "{}", '"x"', "5", "\ufeff[]", "[1]", "[[1,2]]", "[[1,[0,5]]]", "[[1,[0,[5]]]]", '["a"]', "[[1]]"],
)
def test_what_cannot_be_read_is_an_empty_history_with_a_reason(text: str) -> None:
    assert ContextHistory.parse(text).dump() == "[]"
    assert ContextHistory.problem(text)


def test_no_file_is_an_empty_history() -> None:
    assert ContextHistory.parse(None) is EMPTY
    assert not EMPTY
    assert EMPTY.dump() == "[]"


def test_flat_updates_in_stored_order() -> None:
    assert list(ContextHistory.parse(FULL).updates()) == [
        Update(7, 0, 20, "new\0é\u2028", 2, [], 0),
        Update(1, 0, 10, "notice", 0, [], 0),
        Update(1, 0, 30, "again", 0, [["a"], ["a", "b"]], 1),
    ]


def test_updates_that_make_no_sense_are_left_out() -> None:
    text = '[["1",[0,[[0,[[1,"text",["a"],[]]]]]]],[2,[0,[[-1,[[1,"text",["a"]]]],[0,[[1,"other",["a"]],[1,"text",[5]],[1],7,[2,"text",["b"]]]]]]]]'
    assert list(ContextHistory.parse(text).updates()) == [Update(2, 0, 2, "b", 0, [], 4)]


def test_the_newest_update_is_in_force_even_if_it_makes_no_sense() -> None:
    history = ContextHistory.parse(
        '[[2,[2,[[0,[[1,"text",["a"],[]],[2,"other",["b"],[]]]],[1,[[1,"text",["c"],[]]]],[2,[]]]]],["x",[2,[[0,[[1,"text",["d"],[]]]]]]]]'
    )
    assert {place: update.text for place, update in history.in_force().items()} == {(2, 1): "c"}


def test_later_means_strictly_later() -> None:
    history = ContextHistory.parse(FULL)
    assert history.without_later_than(30).dump() == FULL
    assert [update.text for update in history.without_later_than(20).updates()] == ["new\0é\u2028", "notice"]
    assert history.without_later_than(19).dump() == '[[7,[2,[[1,[]]]]],[1,[0,[[0,[[10,"text",["notice"],[]]]]]]]]'
    assert history.dump() == FULL


def test_the_search_for_later_updates_stops_at_the_first_that_is_not_later() -> None:
    history = ContextHistory.parse('[[1,[0,[[0,[[90,"text",["a"],[]],[5,"text",["b"],[]],[80,"text",["c"],[]]]]]]]]')
    assert [update.text for update in history.without_later_than(10).updates()] == ["a", "b"]


def test_times_that_are_absent() -> None:
    stored = ContextHistory.parse('[[1,[0,[[0,[[null,"text",["a"],[]]]]]]]]')
    assert stored.without_later_than(0) == stored
    assert stored.without_later_than(-1) == EMPTY  # null counts as 0
    fresh = EMPTY.with_update(1, 0, UNDEFINED, "a", 0, [])
    assert fresh.dump() == stored.dump()
    assert fresh.without_later_than(-1) == fresh  # until it is written and read, it is never later
    assert [update.timestamp for update in fresh.updates()] == [None]


def test_empty_entries_go_with_any_rollback() -> None:
    assert ContextHistory.parse("[[1,[0,[]]],[2,[0,[[0,[]]]]]]").without_later_than(5).dump() == "[[2,[0,[[0,[]]]]]]"


@pytest.mark.parametrize("changes", ["null", '"9"'])
def test_a_rollback_fails_on_updates_that_are_no_list(changes: str) -> None:
    history = ContextHistory.parse(f"[[1,[0,[[0,{changes}]]]]]")
    with pytest.raises(BrokenInputError):
        history.without_later_than(5)


def test_updates_that_have_no_length_are_left_alone() -> None:
    assert ContextHistory.parse("[[1,[0,[[0,7]]]]]").without_later_than(5).dump() == "[[1,[0,[[0,7]]]]]"


def test_a_new_update_goes_behind_the_others_and_keeps_the_edit_type() -> None:
    history = ContextHistory.parse(FULL)
    more = history.with_update(1, 0, 40, "last", 4, []).with_update(9, 2, 50, "far", 3, [])
    assert [update.text for update in more.updates()] == ["new\0é\u2028", "notice", "again", "last", "far"]
    assert [update.edit_type for update in more.updates()][-2:] == [0, 3]
    assert history.dump() == FULL
    assert more.without_later_than(30) == history
    assert hash(more.without_later_than(30)) == hash(history)
    assert more != history


def test_a_new_update_cannot_go_behind_something_that_is_no_list() -> None:
    history = ContextHistory.parse('[[1,[0,[[0,"x"],[1,null]]]]]')
    with pytest.raises(BrokenInputError):
        history.with_update(1, 0, 5, "a", 0, [])
    assert history.with_update(1, 1, 5, "a", 0, []).dump() == '[[1,[0,[[0,"x"],[1,[[5,"text",["a"],[]]]]]]]]'


def test_one_list_can_belong_to_several_updates() -> None:
    shared: list = ["a"]
    history = EMPTY.with_update(2, 0, 1, "one", 4, [shared, ["a", "b"]]).with_update(2, 0, 2, "two", 4, [shared, ["x"]])
    draft = HistoryDraft(history)
    draft.share(2, 0, shared).append("b")
    after = draft.freeze()
    assert [update.metadata for update in after.updates()] == [[["a", "b"], ["a", "b"]], [["a", "b"], ["x"]]]
    assert shared == ["a"]
    assert [update.metadata for update in history.updates()] == [[["a"], ["a", "b"]], [["a"], ["x"]]]
    loaded = after.reloaded()
    assert loaded == after
    first, second = (update.metadata for update in loaded.updates())
    assert isinstance(first, list)
    assert isinstance(second, list)
    assert first[0] is not second[0]
