"""The conversation as a list model: rows, facts, what is decoded, and what changes when a request is stepped."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex, Qt

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.projection import Cut, Repair, RepairKind, Standing
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.domain.updates import Update
from ctxviewer.domain.view import TextMode
from ctxviewer.models import conversation as module
from ctxviewer.models.conversation import ConversationModel
from ctxviewer.models.facts import Speaker
from helpers.talk import Talk, lines, message, talk


def model_of(picture, **options):
    model = ConversationModel()
    made = talk(picture, **options)
    model.set_timeline(made)
    model.set_projection(made.shown)
    return model, made


class Counts:
    """10 tokens a message as stored, 3 as sent."""

    def message(self, _number):
        return 10

    def message_as_sent(self, _number, _projection):
        return 3

    def stretch(self, first, last):
        return 1_000 * (last - first + 1)


def changed_rows(model, act):
    """Rows told by dataChanged while acting."""
    told = []
    model.dataChanged.connect(lambda first, last, _roles: told.append((first.row(), last.row())))
    act()
    return told


def test_rows_as_a_picture(qtmodeltester):
    model = ConversationModel()
    qtmodeltester.check(model)
    made = talk("u a! [u a u a] u+ a | u")
    model.set_timeline(made)
    model.set_projection(made.shown)
    assert lines(model) == [
        "  user", " ~assistant", "x user", "x assistant", "x user", "x assistant", " +user", "  assistant", ". user",
    ]  # fmt: skip


def test_a_flat_list_has_no_rows_below_a_row():
    model, _ = model_of("u a u")
    assert model.rowCount() == 3
    assert model.rowCount(model.index(0)) == 0


def test_roles_have_names_and_values():
    model, _ = model_of("u a!")
    names = {bytes(name).decode(): role for role, name in model.roleNames().items()}
    values = {name: model.data(model.index(1), names[name]) for name in ("number", "role", "standing", "label", "size")}
    assert values["number"] == 1
    assert values["role"] == "assistant"
    assert values["standing"] is Standing.SENT
    assert values["label"] == "rewritten: truncation notice"
    assert values["size"] == len('{"role":"assistant","content":[{"type":"text","text":"words of message 1"}]}')
    assert model.data(model.index(1), Qt.ItemDataRole.AccessibleTextRole) == (
        "message 1, assistant, rewritten: truncation notice"
    )
    assert model.data(model.index(1), Qt.ItemDataRole.DisplayRole) == "new words of message 1"
    assert model.data(model.index(1), Qt.ItemDataRole.DecorationRole) is None
    assert model.data(QModelIndex(), names["number"]) is None


def test_nothing_is_decoded_until_somebody_asks():
    model, made = model_of("u a [u a u a] u a u a")
    assert [model.standing(row) for row in range(4)] == [
        Standing.SENT,
        Standing.SENT,
        Standing.NOT_SENT,
        Standing.NOT_SENT,
    ]
    assert model.byte_size(5) > 0
    assert made.asked == []
    model.facts(6)
    model.body(6)
    assert made.asked == [6]


def test_what_is_kept_is_bounded_by_rows_and_by_characters(monkeypatch):
    monkeypatch.setattr(module, "KEPT_ROWS", 3)
    model, made = model_of("u a u a u a")
    for row in (0, 1, 2, 3, 0):
        model.facts(row)
    assert made.asked == [0, 1, 2, 3, 0]
    monkeypatch.setattr(module, "KEPT_ROWS", 100)
    monkeypatch.setattr(module, "KEPT_CHARACTERS", 90)
    model.facts(4)
    made.asked.clear()
    model.facts(4)
    model.facts(1)
    assert made.asked == [1]


def test_a_walk_over_all_rows_keeps_nothing():
    model, made = model_of("u a u a")
    assert [model.passing_body(row).text() for row in range(4)] == [f"words of message {n}" for n in range(4)]
    made.asked.clear()
    model.facts(2)
    assert made.asked == [2]


def test_accessible_words_name_rule_and_standing():
    model, made = model_of("u a [u a] u! a", request=31, since=31)
    assert model.facts(4).accessible == "message 4, user, rewritten: truncation notice"
    model.set_projection(replace(made.shown, resume=5, cuts=(Cut(2, 4, 31),)))
    assert model.facts(4).accessible == "message 4, user, rewritten: truncation notice, not sent"
    model.set_projection(replace(made.shown, until=4))
    assert model.facts(5).accessible == "message 5, assistant, later"


def test_a_message_without_a_role_or_a_shape_is_shown_as_it_is():
    made = talk("u a")
    snapshot = replace(
        made.snapshot, messages=PlainLog([{"content": "hi"}, 17, None, {"role": "user"}, {"role": "x\x1b"}])
    )
    model = ConversationModel()
    model.set_timeline(Talk(snapshot, replace(made.shown, stored=5, until=5)))
    assert [model.facts(row).role for row in range(5)] == ["", "", "", "user", "x[ESC]"]
    assert model.facts(0).accessible == "message 0, no role"
    assert [model.body(row).text() for row in range(4)] == ["hi", "17", "null", ""]
    assert model.facts(1).speaker is Speaker.OTHER


def test_speakers():
    model, _ = model_of("u c t a")
    assert [model.facts(row).speaker for row in range(4)] == [
        Speaker.USER,
        Speaker.ASSISTANT,
        Speaker.TOOL,
        Speaker.ASSISTANT,
    ]
    assert model.facts(2).accessible == "message 2, user, tool result"
    assert model.facts(1).preview == "words of message 1"


# -- text modes


def test_text_modes_of_a_rewritten_message():
    model, _ = model_of("u a! u", texts={1: "one\ntwo\n"})
    assert model.body(1).text() == "new words of message 1"
    model.set_text_mode(TextMode.AS_STORED)
    assert model.body(1).text() == "one\ntwo\n"
    assert model.facts(1).mode_note == "as stored"
    model.set_text_mode(TextMode.DIFFERENCE)
    assert [(part.style.value, part.text) for part in model.body(1).sections] == [
        ("deleted lines", "one\ntwo\n"),
        ("added lines", "new words of message 1"),
    ]
    assert model.body(0).text() == "words of message 0"


def test_one_row_may_show_another_text_until_all_are_told():
    model, _ = model_of("u a! u!")
    assert model.cycle_row_mode(1)
    assert (model.row_mode(1), model.row_mode(2)) == (TextMode.AS_STORED, TextMode.AS_SENT)
    assert model.facts(1).accessible.endswith("shown as stored")
    assert model.body(1).text() == "words of message 1"
    assert model.cycle_row_mode(1)
    assert model.facts(1).accessible.endswith("shown as difference")
    assert not model.cycle_row_mode(0), "nothing differs there"
    model.set_text_mode(TextMode.AS_SENT)
    assert model.row_mode(1) is TextMode.AS_SENT


def test_a_change_of_the_text_is_told_for_the_row_alone():
    model, _ = model_of("u a! u!")
    assert changed_rows(model, lambda: model.set_row_mode(1, TextMode.DIFFERENCE)) == [(1, 1)]
    assert changed_rows(model, lambda: model.set_row_mode(1, None)) == [(1, 1)]
    assert model.row_mode(1) is TextMode.AS_SENT


# -- stepping through requests


def test_a_step_tells_only_rows_that_stand_otherwise():
    model, made = model_of("u a u a u a u a u a")
    now = made.shown
    cut = replace(now, resume=6, cuts=(Cut(2, 5, 3),), request=3)
    assert changed_rows(model, lambda: model.set_projection(cut))[0] == (2, 5)
    later = replace(cut, until=8, request=2)
    assert (8, 9) in changed_rows(model, lambda: model.set_projection(later))
    assert lines(model)[-3:] == ["  assistant", ". user", ". assistant"]


def test_a_step_tells_rows_whose_update_or_repair_differs():
    model, made = model_of("u a u a u a u a")
    now = made.shown
    update = Update(5, 0, 7, "note", 2, None, 0)
    with_update = replace(now, updates={(5, 0): update})
    model.facts(5)
    assert changed_rows(model, lambda: model.set_projection(with_update)) == [(5, 5)]
    assert model.body(5).text() == "note"
    other = replace(now, updates={(5, 0): replace(update, text="other note")})
    assert changed_rows(model, lambda: model.set_projection(other)) == [(5, 5)]
    assert model.body(5).text() == "other note"
    repaired = replace(other, repairs=(Repair(RepairKind.ADDED, 2, ("x",)),))
    assert changed_rows(model, lambda: model.set_projection(repaired)) == [(2, 2)]
    assert model.facts(2).repaired == "repaired: missing result added"


def test_the_same_projection_again_tells_nothing():
    model, made = model_of("u a! [u a] u a")
    assert changed_rows(model, lambda: model.set_projection(replace(made.shown))) == []


def test_many_scattered_changes_are_told_at_once():
    model, made = model_of("u a", repeat=400)
    updates = {(row, 0): Update(row, 0, 1, "x", 2, None, 0) for row in range(0, 800, 2)}
    told = changed_rows(model, lambda: model.set_projection(replace(made.shown, updates=updates)))
    assert told == [(0, 798)]


def test_a_step_decodes_nothing():
    model, made = model_of("u a [u a u a] u a u a u a")
    model.facts(0)
    made.asked.clear()
    for resume in (2, 4, 6, 8, 4, 2):
        model.set_projection(replace(made.shown, resume=resume, cuts=(Cut(2, resume - 1, 1),) if resume > 2 else ()))
    assert made.asked == []


def test_no_projection_shows_all_as_sent():
    model, _ = model_of("u a [u a] u")
    model.set_projection(None)
    assert {model.standing(row) for row in range(5)} == {Standing.SENT}
    assert model.stretches == ()


# -- readings


def test_another_task_resets(qtbot):
    model, _ = model_of("u a u")
    with qtbot.waitSignal(model.modelReset):
        model.set_timeline(talk("u a", task_id="t2"))
    assert model.rowCount() == 2
    with qtbot.waitSignal(model.modelReset):
        model.set_timeline(None)
    assert model.rowCount() == 0


def test_growing_inserts_rows_and_keeps_the_rest(qtbot, qtmodeltester):
    model, made = model_of("u a u")
    qtmodeltester.check(model)
    model.facts(1)
    grown = made.grown("more", "and more")
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.rowsInserted) as told:
        model.set_timeline(grown, same_task=True, grown=True)
    assert told.args[1:] == [3, 4]
    model.set_projection(grown.shown)
    assert model.rowCount() == 5
    assert model.body(4).text() == "and more"
    model.facts(1)
    assert grown.asked == [4], "row 1 is still known"


def test_a_shorter_reading_of_the_task_removes_rows_and_doubts_the_rest(qtbot):
    model, made = model_of("u a u a u")
    model.body(1)
    shorter = Talk(
        replace(made.snapshot, messages=PlainLog([message("u", 0), message("a", 1, "changed")])),
        replace(made.shown, stored=2, until=2),
    )
    model.set_row_mode(4, TextMode.AS_STORED)
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignals([model.rowsRemoved, model.dataChanged]):
        model.set_timeline(shorter, same_task=True, grown=False)
    model.set_projection(shorter.shown)
    assert model.rowCount() == 2
    assert model.body(1).text() == "changed"


# -- tokens


def test_tokens_follow_what_is_shown():
    model, _ = model_of("u a! [u a] u a")
    assert model.facts(0).tokens_text == ""
    assert model.facts(0).tokens_tip == "Not counted yet"
    model.set_counts(Counts())
    assert (model.facts(1).tokens, model.facts(2).tokens) == (3, 10)
    assert model.facts(1).tokens_tip == "3 tokens as sent, estimated"
    assert model.facts(2).tokens_tip == "10 tokens as stored, estimated"
    model.set_row_mode(1, TextMode.AS_STORED)
    assert model.facts(1).tokens_tip == "10 tokens as stored, estimated"
    assert model.stretches[0].details == "2 messages · 2.0k"
    model.set_counts(None)
    assert model.facts(1).tokens is None


# -- changes to go to


def test_changes_are_what_is_not_sent_as_stored_and_where_stretches_begin():
    model, _ = model_of("u a! [u! a] [u a] u+ a u! | a u!")
    assert model.changes == (1, 2, 4, 6, 8)


# -- what cannot be rebuilt


class Failing(Talk):
    def blocks(self, _projection, message):
        raise BrokenInputError(f"message {message} has no content")


def test_a_message_that_cannot_be_rebuilt_is_shown_as_stored_and_says_so():
    made = talk("u a")
    model = ConversationModel()
    model.set_timeline(Failing(made.snapshot, made.shown))
    body = model.body(1)
    assert body.text() == "words of message 1"
    assert body.remark == "Shown as stored, because what was sent cannot be rebuilt: message 1 has no content"


def test_an_empty_model_has_nothing():
    model = ConversationModel()
    assert model.rowCount() == 0
    assert model.stretches == model.changes == ()
    with pytest.raises(IndexError):
        model.facts(0)


def test_a_range_beyond_the_end_is_not_a_stretch_of_its_own():
    made = talk("u a u a")
    model = ConversationModel()
    model.set_timeline(made)
    model.set_projection(replace(made.shown, deleted_range=Range(2, 99), resume=4, cuts=(Cut(2, 99, 1),)))
    assert [(s.first, s.last) for s in model.stretches] == [(2, 3)]
    assert isinstance(made.snapshot, Snapshot)
