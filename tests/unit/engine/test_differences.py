"""The difference of two requests as rows with their reasons, forwards and backwards, and its sums in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxviewer.domain.errors import CancelledWorkError
from ctxviewer.domain.projection import Inserted
from ctxviewer.engine.cline.updates import EMPTY
from ctxviewer.engine.difference import RowKind, difference, difference_of, numbers, summary, title, unchanged_share
from ctxviewer.engine.events import EventKind
from helpers.cline_talk import DUP, a, alternating, call, header, pairs, result, u
from helpers.past_tasks import Step, past, update


def story():
    """Cut (request 1), an optimisation with a notice (2), rolled back (3), cut again (4), counting from 0."""
    history = update(update(EMPTY, 1, 0, "[NOTE]", 2, kind=0), 4, 0, "short", 2)
    steps = [
        Step(5),
        Step(7, cut=(2, 3)),
        Step(9, cut=(2, 3), after=("deleted_api_reqs",), after_cut=None),
        Step(11),
        Step(13, cut=(2, 5)),
    ]
    return past(alternating(14), steps, history=history)


def rows(timeline, before, after):
    """'kind first–last reason' of every row; the kind of the event in brackets."""
    found = difference_of(timeline, before, after)
    return [
        f"{row.kind} {row.first}–{row.last} {row.sentence}" + (f" [{row.event.kind}]" if row.event else "")
        for row in found.rows
    ]


CUT = "Truncated (half or quarter or lastTwo): messages 2–3 are no longer sent (2 messages)"
CUT_AGAIN = "Truncated (half): messages 2–5 are no longer sent (4 messages)"
BACK = "Rolled back: the deleted range is none again, it was 2–3"


def test_a_cut_forwards_and_backwards():
    timeline = story()
    assert rows(timeline, 0, 1) == [
        "unchanged 0–1 ",
        f"left 2–3 {CUT} [truncate]",
        "unchanged 4–4 ",
        "entered 5–6 2 new messages.",
    ]
    assert rows(timeline, 1, 0) == [
        "unchanged 0–1 ",
        f"came back 2–3 Later: {CUT} [truncate]",
        "unchanged 4–4 ",
        "left 5–6 They do not exist for the second one.",
    ]


def test_other_words_behind_a_cut_and_what_neither_sends():
    assert rows(story(), 1, 2) == [
        "unchanged 0–0 ",
        "rewritten 1–1 Truncation notice.",
        "sent by neither 2–3 ",
        "rewritten 4–4 Duplicate read.",
        "unchanged 5–6 ",
        "entered 7–8 2 new messages.",
    ]
    assert rows(story(), 2, 1)[1] == "rewritten 1–1 As stored again."


def test_a_rollback_gives_messages_back_and_the_next_cut_takes_them_again():
    timeline = story()
    assert rows(timeline, 2, 3)[1] == f"came back 2–3 {BACK} [rollback]"
    assert rows(timeline, 3, 2)[1] == f"left 2–3 {CUT} [truncate]"
    assert f"left 2–5 {CUT_AGAIN} [truncate]" in rows(timeline, 3, 4)
    assert f"came back 4–5 Later: {CUT_AGAIN} [truncate]" in rows(timeline, 4, 1)
    assert f"left 2–4 {CUT_AGAIN} [truncate]" in rows(timeline, 0, None)


def test_copies_replaced_on_the_way_are_no_reason_for_a_message_to_come_back():
    found = difference_of(story(), 1, 3)
    (row,) = [row for row in found.rows if row.kind is RowKind.RETURNED]
    assert row.event is not None
    assert (row.first, row.last, row.event.kind) == (2, 3, EventKind.ROLLBACK)


def test_messages_that_no_event_took_are_told_so():
    timeline = past(alternating(12), [Step(9), Step(11)])
    now = timeline.projection(None)
    by_hand = timeline.project(now.deleted_range, {}, 12)
    cut = timeline.project(story().projection(4).deleted_range, {}, 12)
    gone = replace(by_hand, gone=frozenset({3}))
    assert [row.sentence for row in difference(timeline, by_hand, cut).changes] == ["Left out by the deleted range."]
    assert [row.sentence for row in difference(timeline, cut, by_hand).changes] == ["They were not sent before."]
    assert [(row.first, row.sentence) for row in difference(timeline, by_hand, gone).changes] == [(3, "Left out.")]


def test_a_result_that_is_made_up_is_a_repair():
    timeline = past(pairs("a", "b"), [Step(3), Step(5)])
    called = {**timeline.snapshot.messages[3], "content": [call("t1")]}
    messages = [*list(timeline.snapshot.messages)[:3], called, u(result("t1"), "words"), timeline.snapshot.messages[5]]
    timeline = past(messages, [Step(3), Step(5), Step(5)])
    whole = timeline.projection(2)
    assert difference(timeline, whole, whole).is_empty
    mended = timeline.project(story().projection(1).deleted_range, {}, 5)
    (row,) = [row for row in difference(timeline, whole, mended).rows if row.kind is RowKind.REPAIRED]
    assert row.first == 4


@pytest.mark.parametrize(("count", "end"), [(4, "d.py."), (5, "d.py; …")])
def test_up_to_four_labels_are_named(count, end):
    paths = "abcde"[:count]
    talk = [u("task"), a("ok"), u(*(f"block {path}" for path in paths)), a("ok")]
    history = EMPTY
    for block, path in enumerate(paths):
        history = update(history, 2, block, f"{header(f'{path}.py')}\n{DUP}", 1)
    (row,) = difference_of(past(talk, [Step(3), Step(3)], history=history), 0, 1).changes
    assert row.sentence.startswith("Duplicate read: a.py; ")
    assert row.sentence.endswith(f"; duplicate read: {end}")


def test_comparing_can_be_cancelled():
    def check():
        raise CancelledWorkError("stopped")

    with pytest.raises(CancelledWorkError):
        difference_of(story(), 0, 2, check)


def test_messages_made_up_for_one_of_the_two_only():
    timeline = past(alternating(6), [Step(5)])
    plain = timeline.projection(0)
    one, other = (Inserted(2, "user", words, "summary") for words in ("one", "other"))
    before, after = replace(plain, inserted=(one,)), replace(plain, inserted=(one, other))
    forwards, backwards = difference(timeline, before, after), difference(timeline, after, before)
    assert (forwards.made, forwards.unmade) == ((other,), ())
    assert (backwards.made, backwards.unmade) == ((), (other,))
    assert not forwards.is_empty
    assert not backwards.is_empty
    assert difference(timeline, after, after).is_empty


def test_the_sums_in_words():
    timeline = story()
    assert summary(difference_of(timeline, 1, 2)) == (
        "2 messages are new: 7–8.",
        "2 messages are sent with other words: 1, 4.",
    )
    assert summary(difference_of(timeline, 4, 1)) == (
        "2 messages are sent again: 4–5.",
        "6 messages are no longer sent: 7–12.",
        "1 message is sent with other words: 1.",
    )
    assert title(difference_of(timeline, 3, None)) == "request 4 → now"
    assert unchanged_share(difference_of(timeline, 3, 2)) == 1
    assert unchanged_share(difference_of(timeline, 2, 3)) == pytest.approx(7 / 11)
    assert unchanged_share(difference(timeline, timeline.projection(0), timeline.project(None, {}, 0))) == 1
    assert numbers(((1, 1), (3, 4))) == "1, 3–4"
    assert numbers(tuple((n, n) for n in range(0, 14, 2))) == "0, 2, 4, 6, 8, 10 …"
