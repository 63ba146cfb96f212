"""Why a message or a block is no longer sent, or is sent again: the sentence and the event behind it."""

from __future__ import annotations

from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.updates import EMPTY
from ctxviewer.engine.events import EventKind
from ctxviewer.engine.movements import Movements, when
from ctxviewer.engine.presence import Presence
from helpers.cline_talk import a, alternating, call, result, u
from helpers.past_tasks import Step, past, update

CUT = "Truncated (half or quarter or lastTwo): messages 2–3 are no longer sent (2 messages)"
BACK = "Rolled back: the deleted range is none again, it was 2–3"


def told(move):
    return (move.request, move.sentence, move.event.kind if move.event is not None else None)


def story(**more):
    """Cut at request 1 (from 0), replaced copies at 2, taken back at 3 with the messages from 7 on."""
    history = update(EMPTY, 4, 0, "short", 2)
    steps = [
        Step(5),
        Step(7, cut=(2, 3)),
        Step(9, cut=(2, 3), after=("deleted_api_reqs",), after_cut=None),
        Step(7),
        Step(9),
    ]
    return Presence(past(alternating(10), steps, history=history, **more))


def test_messages_leave_by_a_cut_and_return_by_a_rollback():
    moves = Movements(story())
    assert told(moves.message_left(3, 1)) == (1, f"message 3 is no longer sent: {CUT}", EventKind.TRUNCATE)
    assert told(moves.message_came(3, 3)) == (3, f"message 3 is sent again: {BACK}", EventKind.ROLLBACK)
    assert told(moves.message_came(5, 1)) == (1, "message 5 is new", None)
    assert told(moves.message_came(0, 0)) == (0, "message 0 is new", None)
    assert told(moves.message_left(8, 3)) == (3, "message 8 was taken back by a rollback", EventKind.ROLLBACK)


def test_what_no_event_explains_is_not_made_up():
    moves = Movements(story())
    assert told(moves.message_left(9, 1)) == (1, "message 9 does not exist for this request", None)
    unknown = "it is in the deleted range; what put it there is not recorded"
    assert told(moves.message_left(5, 2)) == (2, f"message 5 is no longer sent: {unknown}", None)
    assert told(moves.message_came(3, 2)) == (2, "message 3 is sent again; the deleted range became shorter", None)


def test_what_holds_only_now_has_no_request():
    moves = Movements(story(now=Range(2, 3)))
    now = len(moves._presence.timeline.requests)
    left = moves.message_left(3, now)
    assert (left.request, when(left.request), when(4)) == (None, "now", "with request 5")
    assert left.event in moves.events_at(now)
    assert moves.events_at(99) == ()


def test_blocks_are_rewritten_and_sent_as_stored_again():
    presence = story()
    moves = Movements(presence)

    def changed(column):
        form = presence.form_at(4, column)
        return told(moves.block_changed(form, 0, presence.blocks(form), column))

    assert changed(2) == (2, "block 0 of message 4 was rewritten: duplicate read", EventKind.OPTIMIZE)
    assert changed(1) == (1, "block 0 of message 4 is sent as stored again", None)


def test_a_result_behind_a_cut_is_left_out():
    talk = [u("task"), a("ok"), u("more"), a(call("t1")), u(result("t1"), "words"), a("ok"), u("go on"), a("ok")]
    presence = Presence(past(talk, [Step(5), Step(7, cut=(2, 3))]))
    form = presence.form_at(4, 1)
    move = Movements(presence).block_changed(form, 0, presence.blocks(form), 1)
    assert told(move)[1].startswith("block 0 of message 4 is not sent: ")
    assert move.event is not None
    assert move.event.kind is EventKind.TRUNCATE
    gone = Movements(presence).block_changed(form, 9, presence.blocks(form), 1)
    assert told(gone) == (1, "block 9 of message 4 is not sent: it is left out", None)
