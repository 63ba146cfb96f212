"""What strategies leave out anywhere, make up and touch, as rows and lines of the conversation model."""

from dataclasses import replace

from ctxviewer.domain.projection import Inserted, Standing
from ctxviewer.engine.timeline import Timeline
from ctxviewer.models.conversation import TOUCHED, ConversationModel
from ctxviewer.models.left_out import NO_CALL, NO_RESULT
from ctxviewer.models.segments import Style
from ctxviewer.models.stretches import StretchKind
from helpers.talk import lines, talk


def real(picture, **gone):
    """A model over the engine's own timeline, with a projection that lacks something."""
    timeline = Timeline(talk(picture).snapshot)
    projection = replace(timeline.projection(None), **gone)
    model = ConversationModel()
    model.set_timeline(timeline)
    model.set_projection(projection)
    return model


def test_messages_are_hidden_anywhere_with_a_line_for_each_run(qtmodeltester):
    model = ConversationModel()
    qtmodeltester.check(model)
    made = talk("u a u a u a u a")
    model.set_timeline(made)
    model.set_projection(replace(made.shown, gone=frozenset({0, 1, 4, 5, 6})))
    assert [line[0] for line in lines(model)] == ["x", "x", " ", " ", "x", "x", "x", " "]
    assert [stretch.title for stretch in model.stretches] == ["0–1 not sent", "4–6 not sent"]
    assert (model.stretch_at(4).last, model.stretch_at(5), model.stretch_of(5).first) == (6, None, 4)
    assert model.changes == (0, 4)


def test_runs_stand_beside_a_truncation_and_what_came_later():
    made = talk("u a [u a u a] u a u a | u a")
    model = ConversationModel()
    model.set_timeline(made)
    model.set_projection(replace(made.shown, gone=frozenset({0, 6, 7, 9, 11}), what_if_at=4))
    kinds = [(stretch.kind, stretch.title) for stretch in model.stretches]
    assert kinds == [
        (StretchKind.NOT_SENT, "0 not sent"),
        (StretchKind.NOT_SENT, "2–5 not sent"),
        (StretchKind.NOT_SENT, "6–7 not sent"),
        (StretchKind.NOT_SENT, "9 not sent"),
        (StretchKind.LATER, "10–11 later than request 5"),
    ]


def test_only_rows_that_changed_are_told():
    made = talk("u a u a u a u a u a")
    model = ConversationModel()
    model.set_timeline(made)
    model.set_projection(replace(made.shown, gone=frozenset({0, 1})))
    told = []
    model.dataChanged.connect(lambda first, last, _roles: told.append((first.row(), last.row())))
    model.set_projection(replace(made.shown, gone=frozenset({0, 1, 2, 6})))
    assert told == [(2, 2), (6, 6), (1, 3), (5, 7)], "those that go, then with them their neighbours' halves"


def test_a_call_whose_result_goes_is_marked_and_so_is_the_reverse():
    model = real("u c t u", gone=frozenset({2}))
    assert model.facts(1).left_out == "call without its result"
    assert [part.note for part in model.body(1).sections] == ["", NO_RESULT]
    model = real("u c t u", gone=frozenset({1}))
    assert model.facts(2).left_out == "result without its call"
    assert model.body(2).sections[0].note == NO_CALL
    assert "result without its call" in model.facts(2).accessible
    assert real("u c t u", gone=frozenset({1, 2})).facts(3).left_out == ""


def test_a_single_block_that_goes_stays_in_its_place_marked():
    model = real("u c t u", gone_blocks=frozenset({(1, 1)}))
    facts, body = model.facts(1), model.body(1)
    assert model.standing(1) is Standing.SENT
    assert facts.left_out == "1 of 2 blocks not sent"
    assert facts.repaired == ""
    assert [part.style for part in body.sections] == [Style.PLAIN, Style.LEFT_OUT]
    assert body.sections[1].note == "not sent: removed by the strategy"
    assert model.facts(2).left_out == "result without its call"
    assert model.changes == (1,)


def test_nothing_is_decoded_to_look_for_halves_where_nothing_goes():
    made = talk("u c t u")
    model = ConversationModel()
    model.set_timeline(made)
    model.set_projection(made.shown)
    model.facts(1)
    assert made.asked == [1]


# -- made up


def made_up(picture, *rows, **more):
    made = talk(picture)
    model = ConversationModel()
    model.set_timeline(made)
    inserted = tuple(Inserted(before, "assistant", "Summary", f"text {number}") for number, before in enumerate(rows))
    model.set_projection(replace(made.shown, inserted=inserted, **more))
    return model


def test_what_is_made_up_stands_above_the_message_it_is_sent_before():
    model = made_up("u a u a", 2, 2)
    assert list(model.made_up) == [2]
    assert [(item.section.text, item.below) for item in model.made_up[2]] == [("text 0", False), ("text 1", False)]
    assert model.made_up[2][0].sentence == "made up: Summary, sent as assistant"
    assert model.made_up[2][0].section.style is Style.MADE_UP
    assert model.changes == (2,)
    assert model.rowCount() == 4, "rows are stored messages and nothing else"


def test_what_is_sent_last_stands_below_the_line_of_what_it_replaces():
    model = made_up("u a u a", 4, gone=frozenset({0, 1, 2, 3}))
    assert [(row, item.below) for row, items in model.made_up.items() for item in items] == [(0, True)]


def test_made_up_rows_go_with_the_projection():
    model = made_up("u a u a", 2)
    model.set_projection(None)
    assert model.made_up == {}


# -- what a step touched


def test_touched_rows_and_blocks_are_marked_and_told():
    made = talk("u a u a u a")
    model = ConversationModel()
    model.set_timeline(made)
    model.facts(1)
    told = []
    model.dataChanged.connect(lambda first, last, roles: told.append((first.row(), last.row(), list(roles))))
    model.set_touched([(1, None), (2, 0), (2, 3), (9, None)])
    assert told == [(1, 2, [TOUCHED])]
    assert model.facts(1).touched
    assert model.facts(1).touched_blocks == frozenset()
    assert model.facts(2).touched_blocks == {0, 3}
    assert model.facts(2).accessible == "message 2, user, changed by this step"
    assert model.data(model.index(0), TOUCHED) is False
    assert model.touches(2, 5)
    assert not model.touches(3, 5)
    model.set_touched([(2, 0), (2, 3)])
    assert told[1:] == [(1, 1, [TOUCHED])], "the row that is as before is not told"
    assert not model.facts(1).touched


def test_a_row_touched_as_a_whole_and_in_part_is_touched_as_a_whole():
    made = talk("u a")
    model = ConversationModel()
    model.set_timeline(made)
    model.set_touched([(1, 0), (1, None), (1, 2)])
    assert model.touched == {1: None}


def test_another_task_is_not_touched():
    made = talk("u a")
    model = ConversationModel()
    model.set_timeline(made)
    model.set_touched([(1, None)], made_up=True)
    model.set_timeline(talk("u a", task_id="t2"))
    assert model.touched == {}
    assert not model.touches(0, 5)
    assert not model.touches_made_up
