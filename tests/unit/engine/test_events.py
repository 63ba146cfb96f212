"""Events read off a task: which updates make one, which change of the range is which, for which request it counts."""

from __future__ import annotations

import pytest

from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.updates import EMPTY
from ctxviewer.engine.events import EventKind
from helpers.cline_talk import alternating
from helpers.lab import lab_task
from helpers.past_tasks import Step, past, update

TALK = alternating(12)


def seen(timeline):
    """Kind, first request and range afterwards of every event."""
    return [(event.kind, event.request, event.range_after) for event in timeline.events]


@pytest.mark.parametrize(("kind", "told"), [(0, False), (1, False), (2, True), (3, True), (4, True), (5, False)])
def test_only_replaced_copies_of_files_are_an_optimisation(kind, told):
    timeline = past(TALK, [Step(5), Step(7)], history=update(EMPTY, 2, 0, "short", 1, kind=kind))
    assert seen(timeline) == ([(EventKind.OPTIMIZE, 1, None)] if told else [])
    for event in timeline.events:
        assert event.sentence == "Optimised 1 block: older copies of files replaced (message 2)"
        assert (event.length, event.ui_index, event.range_before) == (0, -1, None)


def test_replaced_copies_are_one_event_a_time_and_name_six_messages():
    history = update(update(EMPTY, 2, 0, "short", 1), 2, 1, "short", 1)
    for message in (0, 3, 4, 5, 6):
        history = update(history, message, 0, "short", 2)
    first, second = past(TALK, [Step(7), Step(9), Step(11)], history=history).events
    assert first.sentence.endswith("2 blocks: older copies of files replaced (message 2)")
    assert second.sentence.endswith("5 blocks: older copies of files replaced (messages 0, 3, 4, 5, 6)")
    more = update(update(history, 7, 0, "short", 2), 8, 0, "short", 2)
    assert "(messages 0, 3, 4, 5, 6, 7 …)" in past(TALK, [Step(7), Step(9), Step(11)], history=more).events[1].sentence


def test_a_range_that_shrinks_is_a_rollback_without_an_entry_that_says_so():
    timeline = past(TALK, [Step(7, cut=(2, 5)), Step(9, cut=(2, 3)), Step(11, cut=(2, 3))])
    assert seen(timeline) == [(EventKind.TRUNCATE, 0, Range(2, 5)), (EventKind.ROLLBACK, 1, Range(2, 3))]


def test_a_rollback_that_leaves_the_range_alone_is_one():
    timeline = past(TALK, [Step(7, cut=(2, 5)), Step(9, cut=(2, 5), after=("deleted_api_reqs",)), Step(9, cut=(2, 5))])
    assert [kind for kind, _, _ in seen(timeline)] == [EventKind.TRUNCATE, EventKind.ROLLBACK]
    assert timeline.events[1].sentence == "Rolled back: later messages were removed"


def test_a_rollback_holds_from_the_next_request_on_also_where_that_cut_again():
    steps = [
        Step(9, cut=(2, 5)),
        Step(9, cut=(2, 7), after=("deleted_api_reqs",), after_cut=(2, 3)),
        Step(11, cut=(2, 7)),
    ]
    timeline = past(TALK, steps)
    assert seen(timeline)[2:] == [(EventKind.ROLLBACK, 2, Range(2, 3)), (EventKind.TRUNCATE, 2, Range(2, 7))]
    cuts = timeline.projection(None).cuts
    assert [(cut.first, cut.last, cut.since_request) for cut in cuts] == [(2, 3, 0), (4, 7, 2)]
    same = past(TALK, [Step(7, cut=(2, 5)), Step(9, cut=(2, 5), after=("deleted_api_reqs",)), Step(9, cut=(2, 5))])
    assert [event.request for event in same.events] == [0, 2], "the rollback came behind the answer of request 1"


def test_a_cut_counts_for_the_request_that_was_sent_with_a_longer_one():
    """2–5 gave way to 2–9 when the provider refused the request, so none was sent with 2–5."""
    timeline = lab_task(
        alternating(15), [5] * 7, before={6: [("api_req_failed", Range(2, 5))]}, ranges={6: Range(2, 9)}
    )
    first, second = timeline.events
    assert (first.kind, first.request, first.range_after) == (EventKind.FORCED_TRUNCATE, 6, Range(2, 5))
    assert (second.request, second.range_after) == (6, Range(2, 9))


def test_a_range_that_stands_in_the_index_only():
    longer, shorter = past(TALK, [Step(9)], now=Range(2, 5)), past(TALK, [Step(9, cut=(2, 5))], now=None)
    (event,) = longer.events
    assert (event.kind, event.request, event.length, event.ui_index) == (EventKind.TRUNCATE, None, 12, -1)
    assert event.sentence.endswith("2–5 are no longer sent (4 messages) (recorded in the task index only)")
    assert seen(shorter)[1] == (EventKind.ROLLBACK, None, None)


def test_cuts_of_several_requests_stand_side_by_side():
    steps = [Step(5), Step(7, cut=(2, 3)), Step(9, cut=(2, 3)), Step(11, cut=(2, 7))]
    timeline = past(TALK, steps)
    cuts = [
        [(cut.first, cut.last, cut.since_request) for cut in timeline.projection(at).cuts] for at in (0, 2, 3, None)
    ]
    assert cuts == [[], [(2, 3, 1)], [(2, 3, 1), (4, 7, 3)], [(2, 3, 1), (4, 7, 3)]]
    by_hand = timeline.project(Range(2, 9), {}, 12)
    assert [(cut.first, cut.last, cut.since_request) for cut in by_hand.cuts] == [(2, 3, 1), (4, 7, 3), (8, 9, None)]
    less = timeline.project(Range(2, 5), {}, 12)
    assert [(cut.first, cut.last, cut.since_request) for cut in less.cuts] == [(2, 3, 1), (4, 5, 3)]
