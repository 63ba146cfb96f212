"""Losses and pinned facts as lists."""

import pytest
from PySide6.QtCore import Qt

from ctxviewer.engine.facts import FileQuestion, MessageQuestion, TextQuestion, TurnKind, track
from ctxviewer.engine.losses import LossKind, find_losses
from ctxviewer.engine.past import Past
from ctxviewer.engine.timeline import Timeline
from ctxviewer.models.listing import ListingRole
from ctxviewer.models.losses import LossesModel, loss_text
from ctxviewer.models.tracked import (
    FactNewsModel,
    FactRole,
    FactRow,
    FactsModel,
    Mark,
    fact_words,
    letter,
    tracked_rows,
)
from helpers.asking import story


@pytest.fixture
def past():
    return Past(Timeline(story()))


def titles(model):
    return [model.index(row).data() for row in range(model.rowCount())]


# -- losses


def test_losses_say_what_until_when_and_why(qtmodeltester, past):
    model = LossesModel()
    qtmodeltester.check(model)
    model.show(find_losses(past, 5))
    row = titles(model).index("src/a.py")
    assert "message 2" in model.index(row).data(ListingRole.DETAIL)
    assert "until request 5" in model.index(row).data(ListingRole.DETAIL)
    assert "lost with this very request" in model.index(row).data(ListingRole.DETAIL)


def test_one_kind_can_be_shown(past):
    model = LossesModel()
    model.show(find_losses(past, 5))
    total = model.rowCount()
    assert total == model.count(None)
    model.set_kind(LossKind.FILE)
    assert titles(model) == ["src/a.py"]
    assert model.count(LossKind.FILE) == 1
    model.set_kind(None)
    assert model.rowCount() == total
    model.show(None)
    assert model.rowCount() == model.count(None) == 0


def test_a_loss_in_full(past):
    loss = find_losses(past, 5).of(LossKind.FILE)[0]
    text = loss_text(loss)
    assert text.startswith("file: src/a.py\n")
    assert "last read: message 2, sent since request 2" in text


# -- facts


def rows(past, *questions):
    return tuple(FactRow(place, question, track(past, question)) for place, question in enumerate(questions))


def test_facts_with_their_strips(qtmodeltester, past):
    model = FactsModel()
    qtmodeltester.check(model)
    model.set_items(rows(past, TextQuestion("port 8080"), FileQuestion("src/a.py"), MessageQuestion(0)))
    assert titles(model) == ["“port 8080”", "src/a.py", "message 0"]
    assert [model.index(row).data(ListingRole.DETAIL) for row in range(3)] == [
        "in 4 of 8 requests, 2 to 5 · not sent now",
        "in 4 of 8 requests, 2 to 5 · not sent now",
        "in all 8 requests · sent now",
    ]
    strip = model.index(1).data(FactRole.STRIP)
    assert (strip.place, strip.requests, strip.spans) == (1, 8, ((1, 4),))
    assert strip.sentence(4) == "B src/a.py: sent in request 5"
    assert strip.sentence(8) == "B src/a.py: not sent now"
    assert model.index(2).data(FactRole.PLACE) == 2
    assert model.index(0).data(Qt.ItemDataRole.AccessibleTextRole).startswith("A, ")


def test_a_fact_without_an_answer_says_so(past):
    waiting = FactRow(0, FileQuestion("src/a.py"), None)
    gone = FactRow(1, MessageQuestion(99), None, "There is no message 99.")
    model = FactsModel()
    model.set_items((waiting, gone))
    assert titles(model) == ["src/a.py", "message 99"]
    assert [model.index(row).data(ListingRole.DETAIL) for row in range(2)] == ["looking…", "There is no message 99."]
    assert model.index(1).data(ListingRole.TONE) == "error"
    assert model.index(0).data(FactRole.STRIP) is None


def test_words_of_facts_that_were_never_sent(past):
    assert fact_words(track(past, TextQuestion("nowhere at all"))) == "no request sent it · not sent now"
    assert fact_words(track(past, TextQuestion("done 7"))) == "no request has sent it yet · sent now"


def test_news_of_a_fact(qtmodeltester, past):
    model = FactNewsModel()
    qtmodeltester.check(model)
    fact = track(past, FileQuestion("src/a.py"))
    model.show(fact)
    assert [turn.kind for turn in fact.turns] == [TurnKind.CAME, TurnKind.LEFT]
    assert titles(model) == [
        "First sent from request 2 on",
        "Not sent any more from request 6 on",
        "Through message 2, block 0 · read",
    ]
    assert [(item.is_turn, item.request, item.message) for item in model.items] == [
        (True, 1, 2), (True, 5, 2), (False, None, 2),
    ]  # fmt: skip
    assert model.index(2).data(ListingRole.DETAIL).startswith("requests 2–5 · ")
    model.show(None)
    assert model.rowCount() == 0


def test_messages_are_marked_with_the_facts_that_stand_in_them(past):
    facts = [(0, track(past, TextQuestion("port 8080"))), (3, track(past, MessageQuestion(1)))]
    assert tracked_rows(facts, 3) == {1: (Mark(0, True), Mark(3, True))}
    assert tracked_rows(facts, 6) == {1: (Mark(0, False), Mark(3, True))}


def test_letters():
    assert [letter(place) for place in range(3)] == ["A", "B", "C"]
