"""The details dock: three forms of a text, updates, JSON, the decision in words; large and hostile texts."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor

from ctxviewer.domain.projection import Standing
from ctxviewer.domain.updates import Update
from ctxviewer.domain.view import TextMode
from ctxviewer.models.details import Figure, MessageDetails, RequestDetails
from ctxviewer.models.happenings import Force, UpdateRow
from ctxviewer.models.segments import Body, Section
from ctxviewer.views import theme
from ctxviewer.views.details import DetailsView
from ctxviewer.views.details.reading import FIRST_CHARACTERS, ReadingPane
from ctxviewer.views.theme import Choice
from helpers.talk import talk
from helpers.work import Work


@pytest.fixture(autouse=True)
def light(qapp):
    look = theme.current()
    before = look.choice
    look.set_choice(Choice.LIGHT)
    yield look
    look.set_choice(before)


def make_message(picture="u a! u", number=1, **changes):
    told = talk(picture)
    update = Update(1, 0, 1_764_500_000_000, "new words of message 1", 0, None, 0)
    rows = (UpdateRow(update, "truncation notice", Force.IN_FORCE),) if "!" in picture else ()
    blocks = told.blocks(told.shown, number)
    made = MessageDetails(
        number,
        "assistant",
        "text",
        Standing.SENT,
        "sent",
        "!" in picture,
        rows,
        (),
        blocks,
        told.snapshot.messages.raw(number),
        12,
    )
    return replace(made, **changes)


def make_request(**changes):
    figures = (Figure("total", "168,412", "reported"), Figure("window", "200,000", "from the model table"))
    made = RequestDetails(
        30, "Request 31 of 48", figures, ("It was above the limit.", "Half went."), (), (), False, "m · p"
    )
    return replace(made, **changes)


@pytest.fixture
def view(qtbot):
    made = DetailsView()
    qtbot.addWidget(made)
    made.resize(360, 700)
    made.show()
    return made


def shown(view):
    return view.message._reading.text.toPlainText()


def test_nothing_chosen_teaches(view):
    assert view.message._stack.currentWidget() is view.message._empty
    assert "Choose a message" in view.message._empty.sentence
    assert "Open a task" in view.request._empty.sentence


def test_three_forms_of_a_text(view, qtbot):
    view.set_message(make_message())
    assert shown(view) == "rewritten: truncation notice\nnew words of message 1"
    view.set_text_mode(TextMode.AS_STORED)
    assert shown(view).endswith("as stored\nwords of message 1")
    view.set_text_mode(TextMode.DIFFERENCE)
    assert shown(view).splitlines()[1:] == ["− words of message 1", "+ new words of message 1"]


def test_choosing_a_form_asks_and_waits(view, qtbot):
    view.set_message(make_message())
    with qtbot.waitSignal(view.text_mode_chosen) as told:
        view.message._buttons[TextMode.AS_STORED].click()
    assert told.args == [TextMode.AS_STORED]
    assert view.message._buttons[TextMode.AS_SENT].isChecked()
    view.set_text_mode(TextMode.AS_STORED)
    assert view.message._buttons[TextMode.AS_STORED].isChecked()


def test_difference_is_disabled_with_the_reason(view):
    view.set_message(make_message("u a u"))
    button = view.message._buttons[TextMode.DIFFERENCE]
    assert not button.isEnabled()
    assert "as it is stored" in button.toolTip()


def test_json_is_local_and_a_form_leads_back(view, qtbot):
    view.set_message(make_message())
    with qtbot.assertNotEmitted(view.text_mode_chosen):
        view.message._json_button.click()
    assert shown(view).startswith('{\n  "role": "assistant",')
    assert "every token is unchanged" in view.message._caption.text()
    view.message._buttons[TextMode.AS_SENT].click()
    assert shown(view).endswith("new words of message 1")
    assert view.message._caption.isHidden()


def test_an_update_shows_its_own_text_and_a_form_leads_back(view, qtbot):
    view.set_message(make_message())
    view.set_text_mode(TextMode.AS_STORED)
    assert view.message._updates_title.text() == "1 update"
    view.message._list.setCurrentIndex(view.message._updates.index(0))
    qtbot.keyClick(view.message._list, Qt.Key.Key_Return)
    assert shown(view) == "new words of message 1"
    assert view.message._caption.text().startswith("text of the update of 2025-")
    assert not any(button.isChecked() for button in view.message._buttons.values())
    view.message._buttons[TextMode.AS_STORED].click()
    assert shown(view).endswith("words of message 1")
    assert view.message._buttons[TextMode.AS_STORED].isChecked()


def test_a_grown_task_keeps_what_is_looked_at(view):
    view.set_message(make_message())
    view.message._update_chosen(0)
    view.set_message(make_message(tokens=13))
    assert shown(view) == "new words of message 1"
    view.set_message(make_message(number=2))
    assert "words of message 2" in shown(view)


def test_repairs_and_standing_are_told(view):
    view.set_message(
        make_message(
            standing=Standing.NOT_SENT, standing_words="not sent since request 31", repairs=("missing result added: x",)
        )
    )
    assert view.message._standing.text() == "not sent since request 31 · 12 tokens estimated"
    assert view.message._repairs.text() == "repaired: missing result added: x"


def test_copy_hands_out_the_exact_text(view, qtbot):
    view.set_message(make_message())
    with qtbot.waitSignal(view.copy_wanted) as told:
        view.message._copy.click()
    assert told.args == ["new words of message 1"]


def test_a_request_in_words_and_numbers(view):
    view.set_request(make_request(doubts=("The entry does not say.",)))
    assert view.request.words.splitlines() == [
        "Request 31 of 48",
        "m · p",
        "→\tIt was above the limit.",
        "→\tHalf went.",
        "⚠\tApproximate: The entry does not say.",
        "total\t168,412\treported",
        "window\t200,000\tfrom the model table",
    ]


def test_a_pending_decision_says_so(view):
    view.set_request(make_request(pending=True, sentences=()))
    assert "Working out why…" in view.request.words
    view.set_request(make_request())
    assert "Working out" not in view.request.words
    view.set_request(None)
    assert view.request._stack.currentWidget() is view.request._empty
    assert view.request.words == ""


def test_a_decision_that_arrives_does_not_scroll_and_another_request_does(view, qtbot):
    view.resize(300, 260)
    many = tuple(f"Sentence number {number} of the decision." for number in range(60))
    view.set_request(make_request(sentences=many))
    bar = view.request._text.verticalScrollBar()
    bar.setValue(120)
    view.set_request(make_request(sentences=(*many, "One more.")))
    assert bar.value() == 120
    view.set_request(make_request(number=29, sentences=many))
    assert bar.value() == 0


def test_a_hidden_request_pane_waits(view):
    view.hide()
    view.set_request(make_request())
    assert view.request.words == ""
    view.show()
    assert "168,412" in view.request.words


def test_stepping_through_requests_is_quick(view):
    sentences = tuple("A sentence that explains a decision with its numbers, long enough to wrap." for _ in range(5))
    figures = tuple(Figure(f"figure {number}", "123,456", "reported") for number in range(9))

    def step(number):
        with Work() as work:
            view.set_request(make_request(number=number, sentences=sentences, figures=figures))
            view.request._text.viewport().repaint()
        return work.seconds

    taken = sorted(step(number) for number in range(20))
    assert taken[10] < 0.03  # measured 0.003


def test_nothing_of_a_task_is_markup(view):
    view.set_request(make_request(sentences=("<b>bold</b> \ud83d",), facts="<i>m</i>"))
    assert "<b>bold</b> [U+D83D]" in view.request.words
    assert "<i>m</i>" in view.request.words
    view.set_message(make_message(role="<b>x</b>"))
    assert view.message._title.textFormat() is Qt.TextFormat.PlainText


# -- the reading pane


@pytest.fixture
def pane(qtbot):
    made = ReadingPane("text", None)
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.show()
    return made


def body(text):
    return Body((Section(text),))


def test_a_long_line_is_folded_on_the_screen_only(pane, qtbot):
    line = "word " * 2_400  # 12,000 characters
    pane.set_body(body(f"first\n{line}\nlast"))
    assert pane.text.document().blockCount() > 4
    pane.text.selectAll()
    assert pane.text.selected_text() == f"first\n{line}\nlast"
    assert pane.text.createMimeDataFromSelection().text() == f"first\n{line}\nlast"


def test_part_of_a_selection_with_wide_characters(pane):
    pane.set_body(body("a😀b\nc"))
    cursor = pane.text.textCursor()
    cursor.setPosition(1)
    cursor.setPosition(6, QTextCursor.MoveMode.KeepAnchor)
    pane.text.setTextCursor(cursor)
    assert pane.text.selected_text() == "😀b\nc"


def test_odd_characters_become_visible(pane):
    pane.set_body(body("a\x1b[31m\u202eb\ud83d\x00"))
    text = pane.text.toPlainText()
    assert text.isprintable()
    assert "[31m[U+202E]b[U+D83D]" in text


def test_a_large_text_is_capped_and_shown_on_demand(pane, qtbot):
    text = "line of text\n" * 20_000
    pane.set_body(body(text))
    assert len(pane.text.toPlainText()) <= FIRST_CHARACTERS + 100
    assert pane._more.text() == "Show all 260,000 characters"
    pane._more.click()
    assert pane._more.isHidden()
    assert pane.text.document().blockCount() == 20_000


def test_a_text_beyond_everything_can_still_be_copied(pane, qtbot, monkeypatch):
    from ctxviewer.views.details import reading

    monkeypatch.setattr(reading, "MOST_CHARACTERS", 100_000)
    text = "x" * 150_000
    pane.set_body(body(text))
    pane._more.click()
    assert "copy all" in pane._more.text()
    with qtbot.waitSignal(pane.copy_wanted) as told:
        pane._more.click()
    assert told.args == [text]


@pytest.mark.parametrize("text", ["x" * 1_000_000, "x " * 500_000, "\n" * 300_000, "\u4e2d" * 400_000])
def test_no_text_stalls_the_window(pane, text):
    with Work() as work:
        pane.set_body(body(text))
        pane.text.viewport().repaint()
    assert work.seconds < 2  # measured 0.06


def test_a_hidden_pane_does_no_work_until_it_is_shown(pane):
    pane.hide()
    pane.set_body(body("words"))
    assert pane.text.toPlainText() == ""
    pane.show()
    assert pane.text.toPlainText() == "words"


def test_an_empty_body(pane):
    pane.set_body(Body(()))
    assert pane.text.toPlainText() == ""
    pane.set_body(body(""))
    assert pane.text.toPlainText() == ""


def test_it_can_be_read_with_the_keyboard_and_not_written(pane, qtbot):
    pane.set_body(body("words"))
    qtbot.keyClicks(pane.text, "abc")
    qtbot.keyClick(pane.text, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert pane.text.selected_text() == "words"


@pytest.mark.parametrize("choice", [Choice.LIGHT, Choice.DARK, Choice.HIGH_CONTRAST])
def test_added_and_removed_lines_have_their_ground_and_a_sign(view, light, choice):
    light.set_choice(choice)
    view.set_message(make_message())
    view.set_text_mode(TextMode.DIFFERENCE)
    document = view.message._reading.text.document()
    grounds = {}
    block = document.begin()
    while block.isValid():
        grounds[block.text()[:1]] = block.blockFormat().background().color().name()
        block = block.next()
    assert grounds["+"] == light.color("added_ground").name()
    assert grounds["−"] == light.color("removed_ground").name()
