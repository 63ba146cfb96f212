"""The table of counts: prefix sums, updates, repairs, pictures, and tables that are only partly counted."""

import random

import pytest

from ctxviewer.domain.message import parse_message
from ctxviewer.domain.projection import Projection, Repair, RepairKind
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.updates import Update
from ctxviewer.tokens.table import RESULT_MISSING, TokenSums, TokenTable
from ctxviewer.tokens.texts import BlockCount, count_message, count_updates
from helpers.work import Work


class Words:
    """A token is a word: sums that a reader can check."""

    name, exact, reason = "words", True, ""

    def count(self, text: str) -> int:
        return len(text.split())


WORDS = Words()


def text(role: str, *blocks: str) -> dict:
    return {"role": role, "content": [{"type": "text", "text": block} for block in blocks]}


def table(*messages: dict) -> TokenTable:
    counts = {i: count_message(WORDS, parse_message(i, message)) for i, message in enumerate(messages)}
    return TokenTable(len(messages)).with_messages(counts)


def update(message: int, block: int, words: str) -> Update:
    return Update(message, block, 1, words, 2, [], 0)


def projection(stored: int, until: int | None = None, resume: int = 2, **facts) -> Projection:
    return Projection(
        stored, stored if until is None else until, Range(2, resume - 1) if resume > 2 else None, resume, **facts
    )


SIX = [text("user" if i % 2 == 0 else "assistant", "w " * (10**i)) for i in range(6)]
"""Message i has 10**i words, so that a sum tells which messages are in it."""


@pytest.mark.parametrize(
    ("until", "resume", "sent", "hidden", "later"),
    [
        (6, 2, 111_111, 0, 0),
        (6, 4, 110_011, 1_100, 0),
        (5, 4, 10_011, 1_100, 100_000),
        (3, 2, 111, 0, 111_000),
        (1, 2, 1, 0, 111_110),
        (0, 2, 0, 0, 111_111),
        (4, 6, 11, 1_100, 110_000),
        (6, 9, 11, 111_100, 0),
    ],
)
def test_each_message_is_in_exactly_one_sum(until: int, resume: int, sent: int, hidden: int, later: int):
    assert table(*SIX).sums(projection(6, until, resume)) == TokenSums(sent, hidden, later, 1.0)


def test_a_range_that_ends_before_the_first_pair_sends_messages_twice():
    assert table(*SIX).sums(projection(6, resume=1)).sent == 111_111 + 10
    assert table(*SIX).sums(projection(6, resume=0)).sent == 111_111 + 11


def test_old_tasks_keep_only_message_0():
    assert table(*SIX).sums(projection(6, resume=3, first_pair=1)).sent == 111_001


def test_sums_agree_with_standing_on_any_projection():
    counts, chance = table(*SIX), random.Random(5)
    for _ in range(300):
        shown = projection(6, chance.randint(0, 6), chance.randint(2, 8))
        by_hand = {"sent": 0, "not sent": 0, "later": 0}
        for number in range(6):
            by_hand[shown.standing(number)] += counts.message(number)
        sums = counts.sums(shown)
        assert (sums.sent, sums.hidden, sums.later) == tuple(by_hand.values())
        assert sum(counts.message_as_sent(number, shown) for number in range(6)) == sums.sent


def test_an_update_in_force_counts_its_own_text():
    message = text("user", "[read_file for 'a'] Result:", "one two three four five")
    counts = table(SIX[0], SIX[1], message)
    overlay = update(2, 1, "seen below")
    shown = projection(3, updates={(2, 1): overlay})
    assert counts.update("seen below") is None
    assert counts.sums(shown).sent == 11 + 4 + 5, "not counted yet: the stored text stands in"
    counts = counts.with_updates(count_updates(WORDS, [overlay]))
    assert counts.update("seen below") == 2
    assert counts.sums(shown).sent == 11 + 4 + 2
    assert counts.message_as_sent(2, shown) == 6


def test_an_update_on_a_message_that_is_not_sent_changes_nothing():
    counts = table(*SIX).with_updates({"short": 1})
    hidden = projection(6, resume=4, updates={(3, 0): update(3, 0, "short"), (1, 0): update(1, 0, "short")})
    assert counts.sums(hidden).sent == 110_011 - 10 + 1
    later = projection(6, until=3, updates={(5, 0): update(5, 0, "short")})
    assert counts.sums(later).sent == 111


@pytest.mark.parametrize("place", [(0, 7), (9, 0), (-1, 0), (2, -1)])
def test_an_update_on_a_block_that_does_not_exist_changes_nothing(place: tuple[int, int]):
    counts = table(*SIX).with_updates({"short": 1})
    assert counts.sums(projection(6, updates={place: update(*place, "short")})).sent == 111_111


def test_updates_reach_only_the_first_inner_text_of_a_result():
    inner = [{"type": "text", "text": "a b c"}, {"type": "text", "text": "d e"}, {"type": "image", "source": {}}]
    listed = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": inner}]}
    plain = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "a b c"}]}
    string = {"role": "user", "content": "a b c"}
    assert count_message(WORDS, parse_message(0, listed)) == (BlockCount(5, 3, 1, "t1"),)
    assert count_message(WORDS, parse_message(0, plain)) == (BlockCount(3, -1, 0, "t2"),)
    assert count_message(WORDS, parse_message(0, string)) == (BlockCount(3, -1, 0, ""),)
    counts = table(SIX[0], SIX[1], listed, plain, string).with_updates({"x": 1})
    shown = projection(5, updates={(number, 0): update(number, 0, "x") for number in (2, 3, 4)})
    assert counts.sums(shown).sent == 11 + (1 + 2) + 3 + 3


def test_pictures_are_numbered_and_not_counted_as_text():
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 50_000}}
    message = {"role": "user", "content": [{"type": "text", "text": "look here"}, picture, {"type": "document"}]}
    counts = table(SIX[0], SIX[1], message)
    sums = counts.sums(projection(3))
    assert (sums.sent, sums.pictures) == (13, 2)
    assert counts.sums(projection(3, until=2)).pictures == 0


def test_behind_a_cut_results_go_before_an_update_is_put_in():
    """The update of block 0 hits the words behind the result, which has gone."""
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a b c d"}]}
    message = {"role": "user", "content": [result, *text("user", "one two three", "four")["content"]]}
    counts = table(*SIX[:4], message, SIX[1]).with_updates({"short": 1})
    facts = {"updates": {(4, 0): update(4, 0, "short")}}
    stripped = {**facts, "repairs": (Repair(RepairKind.STRIPPED, 4, ("t1",)),)}
    assert counts.sums(projection(6, resume=4, **stripped)).sent == 11 + (0 + 1 + 1) + 10
    assert counts.sums(projection(6, resume=4, **facts)).sent == 11 + (1 + 3 + 1) + 10
    other = {**facts, "repairs": (Repair(RepairKind.DROPPED, 4, ("t1",)),)}
    assert counts.sums(projection(6, resume=4, **other)).sent == 11 + (0 + 3 + 1) + 10


def test_messages_and_pictures_that_a_strategy_takes_out_are_in_no_sum():
    picture = {"role": "user", "content": [{"type": "text", "text": "look here"}, {"type": "image"}]}
    counts = table(*SIX[:2], picture, SIX[3], picture)
    assert [
        (sums.sent, sums.pictures)
        for gone in ({2}, {2, 4}, {3}, {0, 2}, {9})
        for sums in [counts.sums(projection(5, gone=frozenset(gone)))]
    ] == [(11 + 1_002, 1), (11 + 1_000, 0), (11 + 4, 2), (10 + 1_002, 1), (11 + 1_004, 2)]
    hidden = counts.sums(projection(5, resume=4, gone=frozenset({2, 4})))
    assert (hidden.sent, hidden.pictures) == (11, 0), "message 2 is hidden already"


def test_a_call_counts_its_name_and_its_compact_input(o200k):
    call = {"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "src/a.py", "n": [1, 2]}}
    (counted,) = count_message(o200k, parse_message(0, {"role": "assistant", "content": [call]}))
    assert counted.tokens == o200k.count("read_file") + o200k.count('{"path":"src/a.py","n":[1,2]}')
    assert counted == BlockCount(counted.tokens, -1, 0, "")


def test_letters_of_any_script_are_counted_as_they_are_and_not_as_numbers(o200k):
    call = {"type": "tool_use", "id": "t", "name": "say", "input": {"words": "größe 你好"}}
    (counted,) = count_message(o200k, parse_message(0, {"role": "assistant", "content": [call]}))
    assert counted.tokens == o200k.count("say") + o200k.count('{"words":"größe 你好"}')
    odd = {"type": "note", "words": "größe 你好"}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [odd]}
    (counted,) = count_message(o200k, parse_message(0, {"role": "user", "content": [result]}))
    assert counted.tokens == o200k.count('{"type":"note","words":"größe 你好"}')


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        "text",
        [],
        {},
        {"role": "user"},
        {"role": "user", "content": 5},
        {"content": [None, 1, {"type": "tool_use"}, {"type": "tool_result"}, {"type": "text", "text": 3}]},
    ],
)
def test_damaged_messages_are_counted_without_an_error(value):
    counts = count_message(WORDS, parse_message(0, value))
    assert all(block.tokens >= 0 for block in counts)


def test_repairs_change_the_sum():
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a b c d"}
    message = {"role": "user", "content": [result, {"type": "text", "text": "go on"}]}
    counts = table(SIX[0], SIX[1], message)
    for kind, sent in [
        (RepairKind.STRIPPED, 11 + 2),
        (RepairKind.DROPPED, 11 + 2),
        (RepairKind.MOVED, 11 + 6),
        (RepairKind.ADDED, 11 + 6 + RESULT_MISSING),
    ]:
        shown = projection(3, repairs=(Repair(kind, 2, ("t1",)),))
        assert counts.sums(shown).sent == sent, kind
        assert counts.message_as_sent(2, shown) == sent - 11, kind
    lost = table(SIX[0], SIX[1], {"role": "user", "content": "three words here"})
    repairs = (Repair(RepairKind.WORDS_LOST, 2), Repair(RepairKind.ADDED, 2, ("a", "b")))
    assert lost.sums(projection(3, repairs=repairs)).sent == 11 + 2 * RESULT_MISSING


def test_the_made_up_result_has_the_length_that_is_assumed(o200k):
    assert o200k.count("result missing") == RESULT_MISSING


def test_a_table_that_is_partly_counted_says_so():
    counts = TokenTable(4)
    assert (counts.complete, counts.missing, len(counts)) == (False, (0, 1, 2, 3), 4)
    assert counts.sums(projection(4)) == TokenSums(0, 0, 0, 0.0)
    some = counts.with_messages({1: (BlockCount(5, 5, 0, ""),), 3: (), 99: ()})
    assert some.missing == (0, 2)
    assert (some.message(0), some.message(1), some.message(3), some.message(99), some.message(-1)) == (
        None,
        5,
        0,
        None,
        None,
    )
    assert (some.block(1, 0), some.block(1, 1), some.block(0, 0)) == (5, None, None)
    assert some.sums(projection(4)) == TokenSums(5, 0, 0, 0.5)
    assert counts.missing == (0, 1, 2, 3), "the older table is unchanged"
    assert TokenTable().sums(projection(0)) == TokenSums(0, 0, 0, 1.0)


@pytest.mark.parametrize(
    ("first", "last", "tokens"),
    [(0, 5, 111_111), (2, 3, 1_100), (4, 4, 10_000), (3, 2, 0), (0, 6, None), (-1, 2, None), (6, 6, None)],
)
def test_a_stretch_is_summed_with_both_ends(first: int, last: int, tokens: int | None):
    assert table(*SIX).stretch(first, last) == tokens


def test_a_stretch_with_an_uncounted_message_has_no_sum():
    counts = TokenTable(3).with_messages({0: (BlockCount(5, 5, 0, ""),), 2: (BlockCount(7, 7, 0, ""),)})
    assert (counts.stretch(0, 0), counts.stretch(2, 2), counts.stretch(0, 2)) == (5, 7, None)


def test_a_table_follows_a_task_that_grows_is_cut_or_is_rewritten():
    counts = table(*SIX)
    grown = counts.resized(8)
    assert (grown.missing, grown.sums(projection(8)).sent) == ((6, 7), 111_111)
    assert counts.resized(3).sums(projection(3)).sent == 111
    rewritten = counts.resized(8, kept=2)
    assert rewritten.missing == (2, 3, 4, 5, 6, 7)
    assert rewritten.message(1) == 10


def test_ten_thousand_messages_are_summed_in_under_a_millisecond_a_time():
    blocks = (BlockCount(5, 5, 0, ""),)
    counts = TokenTable(10_000).with_messages(dict.fromkeys(range(10_000), blocks))
    counts.sums(projection(10_000))
    with Work() as work:
        for resume in range(2, 1_002):
            counts.sums(projection(10_000, resume=resume))
    assert work.seconds < 1.0
