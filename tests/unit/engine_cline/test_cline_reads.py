"""Where files stand in a conversation, and what replacing the older copies does and saves."""

from __future__ import annotations

import json

import pytest

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.file_reads import EditType, find_reads
from ctxviewer.engine.cline.notices import DUPLICATE_FILE_READ
from ctxviewer.engine.cline.optimize import Optimization, optimize_file_reads
from ctxviewer.engine.cline.savings import Characters, count_characters
from ctxviewer.engine.cline.updates import EMPTY, ContextHistory, HalfDoneError
from helpers.cline_talk import DUP, Lazy, a, call, edit, header, mention, pairs, read, result, text, u


def optimized(messages: list, deleted: Range | None = None, history: ContextHistory = EMPTY) -> Optimization:
    return optimize_file_reads(messages, deleted, history, 10)


def texts(done: Optimization) -> list:
    return [(update.message, update.block, update.text) for update in done.history.updates()]


def places(messages: list) -> list:
    found = find_reads(messages, 2, EMPTY)
    return [(p.path, p.message, p.block, p.kind.name) for many in found.by_path.values() for p in many]


def test_the_notice_is_the_one_of_these_tests() -> None:
    assert DUPLICATE_FILE_READ == DUP


def test_forms_that_are_found() -> None:
    messages = pairs(
        read("new"),
        u(header("old"), "body"),
        u(result("t", [text(read("native"))])),
        edit("edited"),
        u(header("old edit", "replace_in_file"), edit("x")),
        f"look at {mention('first')} and {mention('second')}",
        u("words", "more", mention("third block")),
    )
    assert places(messages) == [
        ("new", 2, 0, "READ"),
        ("old", 4, 1, "READ"),
        ("native", 6, 0, "READ"),
        ("edited", 8, 0, "EDIT"),
        ("old edit", 10, 1, "EDIT"),
        ("first", 12, 0, "MENTION"),
        ("second", 12, 0, "MENTION"),
        ("third block", 14, 2, "MENTION"),
    ]


def test_forms_that_are_not_found() -> None:
    messages = pairs(
        u(result("t", read("string content"))),
        u({"type": "image"}, read("after an image")),
        u("", mention("after an empty text")),
        u("1", "2", "3", mention("fourth block")),
        f" {read('not at the start')}",
        header("wrong tool", "list_files"),
        header("no final content", "write_to_file"),
        edit("q").replace("final_file", "other_file"),
        u(result("t", [text(header("native alone", "write_to_file"))]), edit("next block")),
        '<file_content path="never closed">',
        '<file_content path="no end',
        u(result("t", [None]), result("t", [[]])),
        '<file_content path="x" more>y</file_content>',
        "\ufeff" + read("mark"),
    )
    assert places(messages) == []


def test_a_header_of_another_tool_hides_no_mention_and_a_rejected_edit_does() -> None:
    assert places(pairs(f"{header('ls', 'execute_command')}\n{mention('a')}")) == [("a", 2, 0, "MENTION")]
    assert places(pairs(u(header("x", "write_to_file"), {"type": "image"}, mention("a")))) == [("a", 2, 2, "MENTION")]
    assert places(pairs(f"{header('x', 'write_to_file')}\nno\n{mention('a')}")) == []


def test_only_user_messages_after_the_first_two_count() -> None:
    messages = [u(read("p")), a(read("p")), a(read("p")), u(read("p"))]
    assert places(messages) == [("p", 3, 0, "READ")]


def test_paths_are_compared_as_they_are_and_may_hold_line_ends() -> None:
    messages = pairs(read("f"), read("./f"), read("a\nb"), "[read_file for 'it's'] Result:\nx", read('q"'))
    assert [place[0] for place in places(messages)] == ["f", "./f", "a\nb", 'q"']


def test_the_first_opening_tag_that_is_whole_counts() -> None:
    odd = f'<file_content path="open <file_content path="in">{"x" * 9}</file_content>'
    assert places(pairs(odd)) == [("in", 2, 0, "MENTION")]


def test_all_but_the_newest_copy_are_replaced() -> None:
    done = optimized(pairs(read("p"), u(header("p"), "body"), edit("p"), read("q"), mention("p")))
    assert texts(done) == [
        (2, 0, f"{header('p')}\n{DUP}"),
        (4, 1, DUP),
        (6, 0, f'{header("p", "write_to_file")}\nsaved\n<final_file_content path="p"> {DUP} </final_file_content>'),
    ]
    assert [(r.message, r.newest_message, r.newest_block, r.kind) for r in done.replaced] == [
        (2, 10, 0, EditType.READ),
        (4, 10, 0, EditType.READ),
        (6, 10, 0, EditType.EDIT),
    ]
    assert [read.characters_before - read.characters_after for read in done.replaced] == [
        500 - 153,
        4 - 153,
        502 - 155,
    ]
    assert done.characters is not None
    assert done.characters.saved == sum(read.saved for read in done.replaced)


def test_size_plays_no_part_and_savings_can_be_negative() -> None:
    done = optimized(pairs(read("p", "x"), read("p", "x")))
    assert done.replaced[0].saved == 1 - 153
    assert done.characters is not None
    assert done.characters.share < 0
    assert done.need_to_truncate


def test_without_duplicates_the_very_same_history_comes_back() -> None:
    done = optimized(pairs(read("p"), read("q")))
    assert done.history is EMPTY
    assert not done.changed
    assert done.need_to_truncate
    assert done.characters is None


def test_reads_before_the_end_of_the_range_are_not_seen() -> None:
    messages = pairs(read("p"), read("p"), read("p"))
    assert [place[0] for place in texts(optimized(messages, Range(2, 3)))] == [4]


def test_an_update_for_a_block_that_is_not_there_is_stored_for_nothing() -> None:
    done = optimized(pairs(header("p"), header("p")))
    assert texts(done) == [(2, 1, DUP)]
    assert (done.replaced[0].characters_before, done.replaced[0].characters_after) == (0, 0)
    assert done.characters is not None
    assert done.characters.saved == 0


def test_mentions_of_one_text_are_replaced_together() -> None:
    messages = pairs(f"see {mention('a')}, {mention('b')} and {mention('c')}", mention("b"), mention("a"))
    done = optimized(messages)
    assert texts(done) == [(2, 0, f"see {mention('a', DUP)}, {mention('b', DUP)} and {mention('c')}")]
    [update] = done.history.updates()
    assert update.metadata == [["a", "b"], ["a", "b", "c"]]
    assert [(r.path, r.saved) for r in done.replaced] == [("a", 500 - 153), ("b", 500 - 153)]
    assert done.replaced[1].characters_before == done.replaced[0].characters_after


def test_the_same_file_twice_in_one_text_points_to_itself() -> None:
    done = optimized(pairs(f"{mention('a', 'x' * 300)}{mention('a')}"))
    assert texts(done) == [(2, 0, f"{mention('a', DUP)}{mention('a')}")]
    assert (done.replaced[0].message, done.replaced[0].newest_message) == (2, 2)


def test_a_second_round_goes_on_from_the_text_before_and_extends_the_older_list() -> None:
    first = pairs(f"{mention('a')}{mention('b')}", mention("a"))
    once = optimized(first)
    twice = optimize_file_reads([*first, u(mention("b")), a("ok")], None, once.history, 20)
    assert texts(twice)[1] == (2, 0, f"{mention('a', DUP)}{mention('b', DUP)}")
    assert [update.metadata for update in twice.history.updates()] == [[["a", "b"], ["a", "b"]]] * 2
    assert twice.replaced[0].characters_before == len(f"{mention('a', DUP)}{mention('b')}")
    assert twice.characters is not None
    assert twice.characters.saved == 500 - 153
    [kept] = once.history.updates()
    assert kept.metadata == [["a"], ["a", "b"]], "the history given is another value and must not change"


def test_after_a_rollback_the_later_file_stays_marked_as_replaced() -> None:
    first = pairs(f"{mention('a')}{mention('b')}", mention("a"))
    second = [*first, u(mention("b")), a("ok")]
    twice = optimize_file_reads(second, None, optimized(first).history, 20)
    back = twice.history.without_later_than(15)
    [update] = back.updates()
    assert mention("b") in update.text
    assert update.metadata == [["a", "b"], ["a", "b"]]
    assert not optimize_file_reads(second, None, back, 30).changed


def test_a_reload_before_the_second_round_does_not_separate_the_lists() -> None:
    first = pairs(f"{mention('a')}{mention('b')}{mention('c')}", mention("a"))
    history = optimized(first).history.reloaded()
    history = optimize_file_reads([*first, u(mention("b"))], None, history, 20).history
    assert [update.metadata[0] for update in history.updates()] == [["a", "b"], ["a", "b"]]
    history = optimize_file_reads(
        [*first, u(mention("b")), a("."), u(mention("c"))], None, history.reloaded(), 30
    ).history
    assert [update.metadata[0] for update in history.updates()] == [["a", "b"], ["a", "b", "c"], ["a", "b", "c"]]


def test_paths_with_patterns_are_expanded_in_mentions_only() -> None:
    done = optimized(
        pairs(mention("$&", "old"), mention("$&"), mention("$$.md"), mention("$$.md"), read("$`"), read("$`"))
    )
    assert texts(done) == [
        (10, 0, f"{header('$`')}\n{DUP}"),
        (2, 0, f'<file_content path="{mention("$&", "old")}">{DUP}</file_content>'),
        (6, 0, f'<file_content path="$.md">{DUP}</file_content>'),
    ]
    assert done.replaced[0].characters_after == len(texts(done)[1][2])


def test_entries_of_mentions_come_after_all_others() -> None:
    done = optimized(pairs(mention("a"), read("b"), mention("a"), read("b")))
    assert [place[0] for place in texts(done)] == [4, 2]


def test_a_message_with_an_entry_is_not_looked_at_again_unless_mentions_are_open() -> None:
    messages = pairs(read("p"), mention("p"), read("p"))
    entry = '[[2,[1,[]]],[4,[4,[[0,[[1,"text",["t"],[%s,["p"]]]]]]]]]'
    assert not optimized(messages, None, ContextHistory.parse(entry % '["p"]')).changed
    assert not optimized(messages, None, ContextHistory.parse(entry % '["other"]')).changed
    assert [r.message for r in optimized(messages, None, ContextHistory.parse(entry % "[]")).replaced] == [4]


def test_an_open_mention_that_is_a_read_now_is_replaced_as_a_read() -> None:
    history = ContextHistory.parse("[[2,[4,[]]]]")
    done = optimized(pairs(read("p"), read("p")), None, history)
    assert [(update.block, update.edit_type) for update in done.history.updates()] == [(0, 4)]


@pytest.mark.parametrize(
    "broken",
    [
        {"role": "user", "content": [None]},
        {"role": "user", "content": [{"type": "text", "text": 5}]},
        {"role": "user", "content": [{"type": "tool_result", "content": ["plain"]}]},
        {"role": "user", "content": [text(header("p", "write_to_file")), None]},
        {"role": "user", "content": [text(header("p", "write_to_file")), {"type": "text", "text": [edit("p")]}]},
        {"role": "user", "content": [text("words"), {"type": "text", "text": 5}]},
        None,
    ],
)
def test_damage_on_which_the_search_fails(broken: object) -> None:
    with pytest.raises(BrokenInputError):
        optimized([*pairs(read("p"), read("p")), broken])


@pytest.mark.parametrize("metadata", ["[]", "[null,[]]", "5", "[5,[]]", '["ab",["c"]]'])
def test_a_stored_mention_without_its_lists_fails(metadata: str) -> None:
    history = ContextHistory.parse(f'[[2,[4,[[0,[[1,"text",["t"],{metadata}]]]]]]]')
    with pytest.raises(BrokenInputError):
        optimized(pairs(mention("p"), mention("p")), None, history)


def test_a_negative_start_fails_and_a_low_end_looks_at_the_first_messages() -> None:
    messages = [u(read("p")), u(read("p")), u(read("p"))]
    with pytest.raises(BrokenInputError):
        optimized(messages, Range(2, -2))
    assert [r.message for r in optimized(messages, Range(2, 0)).replaced] == [1]


def test_a_failure_after_updates_were_made_tells_what_memory_holds() -> None:
    messages = [
        *pairs(read("p"), read("p")),
        a(None),
    ]  # null blocks of assistants matter only when characters are counted
    with pytest.raises(HalfDoneError) as caught:
        optimized(messages)
    assert [update.message for update in caught.value.history.updates()] == [2]


def test_an_update_takes_the_time_it_is_given() -> None:
    done = optimize_file_reads(pairs(read("p"), read("p")), None, EMPTY, 123.5)
    assert [update.timestamp for update in done.history.updates()] == [123.5]


def test_what_counts_as_characters() -> None:
    messages = [
        u("1234567890", {"type": "image", "source": {"type": "base64", "data": "12345"}}),
        a(call("t"), "abc"),
        u(result("t", [text("12"), text("not counted")]), result("t", "not counted"), result("t", [])),
        {"role": "assistant", "content": "not counted"},
        u({"type": "image", "source": {"type": "url", "url": "no"}}, {"type": "thinking", "thinking": "no"}),
        u("\U0001f600\u00e9"),
    ]
    assert count_characters(messages, 2, EMPTY) == Characters(10 + 5 + 3 + 2 + 3, 0)
    assert count_characters(messages, 5, EMPTY).total == 18 + 3
    assert count_characters(messages, 1, EMPTY).total == 23 + 3


def test_updates_in_force_count_in_place_of_the_text() -> None:
    history = EMPTY.with_update(0, 0, 1, "1234", 0, []).with_update(0, 5, 1, "nowhere", 0, [])
    messages = [u("1234567890", "12"), a("")]
    assert count_characters(messages, 2, history).total == 6
    changed = count_characters(messages, 2, history, {0})
    assert (changed.total, changed.saved) == (12, 6)
    again = count_characters(messages, 2, history.with_update(0, 0, 2, "1", 0, []), {0})
    assert (again.total, again.saved) == (4 + 2, 3)


def test_fewer_than_two_messages_cannot_be_counted() -> None:
    with pytest.raises(HalfDoneError):
        optimized([u(mention("p") + mention("p"))], Range(2, -1))


def test_odd_updates_count_as_a_script_counts_them() -> None:
    def counted(changes: str, changed: set = frozenset()) -> Characters:
        image = {"type": "image", "source": {"type": "base64", "data": "123"}}
        return count_characters(
            [u("1234567890", image), a()], 2, ContextHistory.parse(f"[[0,[0,[[0,{changes}]]]]]"), changed
        )

    assert counted('{"length":1,"0":[1,"text",["abcd"]]}').total == 4 + 3
    one = counted('{"length":1,"0":[1,"text",["abcd"]]}', {0})
    assert (one.total, one.saved) == (10 + 3, 6)
    two = counted('{"length":2,"0":[1,"text",["abcdef"]],"1":[1,"text",["a"]]}', {0})
    assert (two.total, two.saved) == (6 + 3, 5)
    assert counted("[]").total == counted("7").total == 10 + 3
    odd = counted('[[1,"text",[5]]]', {0})
    assert odd.total == 10 + 3
    assert odd.saved != odd.saved
    assert counted('[[1,"text",[5]]]').share != 0
    for changes in ('"ab"', '[[1,"text"]]', "[null]", '{"length":1.5}'):
        with pytest.raises(BrokenInputError):
            counted(changes)


def test_nothing_to_count_is_a_share_of_zero() -> None:
    assert Characters(0, 0).share == 0


def test_three_tenths_are_enough() -> None:
    assert not Optimization(EMPTY, (), Characters(10, 3)).need_to_truncate
    assert Optimization(EMPTY, (), Characters(100_000, 29_999)).need_to_truncate


def test_a_text_that_is_no_text_makes_the_share_no_number_and_that_is_enough() -> None:
    messages = [*pairs(read("p"), read("p", "y")), a({"type": "text", "text": 5})]
    done = optimized(messages)
    assert done.characters is not None
    assert done.characters.share != done.characters.share
    assert not done.need_to_truncate


def test_each_message_is_decoded_once() -> None:
    messages = Lazy(pairs(*(read(f"f{number % 3}") for number in range(9)), mention("f1"), mention("f1")))
    optimize_file_reads(messages, Range(2, 5), EMPTY, 1)
    assert messages.decoded == [1, 1, 0, 0, 0, 0, *[1] * (len(messages) - 6)]


def test_histories_share_what_did_not_change() -> None:
    history = ContextHistory.parse(json.dumps([[1, [0, [[0, [[1, "text", ["n"], []]]]]]]]))
    done = optimized(pairs(read("p"), read("p")), None, history)
    assert done.history.entries[1] is history.entries[1]
