"""Questions from end to end: asked with keys and mouse in the window, answered everywhere at once."""

import json
import zipfile

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from ctxviewer.engine.facts import FileQuestion, MessageQuestion, TextQuestion
from ctxviewer.services.answers.comparing import Against, Reference
from ctxviewer.services.settings import EXPORT_FOLDER, PRICES
from ctxviewer.views.conversation.selection import Extent, Spot, Unit
from helpers.aging import age
from helpers.asking import WordCounter
from helpers.working_agent import WorkingAgent


@pytest.fixture(autouse=True)
def words_are_tokens(monkeypatch):
    monkeypatch.setattr("ctxviewer.tokens.load_counter", lambda _encoding: WordCounter())


@pytest.fixture
def agent(tmp_path):
    """Twelve requests; from the ninth on messages 2–7 are not sent, and there is no notice of it."""
    made = WorkingAgent(tmp_path / "root")
    for number in range(8):
        made.turn(f"step {number}", read=f"src/{number}.py", body=f"port {8000 + number}\n" * 40, tokens=9_000 + number)
    made.deleted = [2, 7]
    for number in range(8, 12):
        made.turn(f"step {number}", tokens=5_000 + number)
    made.write()
    age(made)
    return made


def trigger(desk, action_id):
    QApplication.processEvents()
    assert desk.actions[action_id].isEnabled(), desk.actions[action_id].toolTip()
    desk.actions[action_id].trigger()
    QApplication.processEvents()


def settle(desk, qtbot):
    qtbot.waitUntil(lambda: not desk.answers.pending)
    QApplication.processEvents()


def ask(desk, qtbot, name):
    trigger(desk, f"ask.{name}")
    settle(desk, qtbot)


def click(listing, row):
    rect = listing.visualRect(listing.model().index(row, 0))
    QTest.mouseClick(listing.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    QApplication.processEvents()


# -- panels


@pytest.mark.parametrize("key", range(1, 7))
def test_alt_and_a_digit_show_a_panel_and_put_the_focus_into_it(desk, qtbot, key):
    name = ("details", "difference", "facts", "losses", "tokens", "findings")[key - 1]
    QTest.keyClick(desk.window, getattr(Qt.Key, f"Key_{key}"), Qt.KeyboardModifier.AltModifier)
    QApplication.processEvents()
    assert desk.window.is_seen(name)
    panel = desk.window.panels.widget(name)
    focus = QApplication.focusWidget()
    assert focus is panel or panel.isAncestorOf(focus)


def test_only_what_is_seen_is_worked_on(desk, qtbot):
    answers = desk.answers
    assert not any(one.watched for one in (answers.comparing, answers.losing, answers.weighing))
    ask(desk, qtbot, "losses")
    assert answers.losing.watched
    ask(desk, qtbot, "tokens")
    assert (answers.losing.watched, answers.weighing.watched) == (False, True)


def test_tabs_are_not_cut_short(desk, qtbot):
    from PySide6.QtWidgets import QTabBar

    bars = desk.window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    shown = [bar for bar in bars if bar.isVisible() and bar.count() > 1]
    assert len(shown) == 2
    for bar in shown:
        assert bar.elideMode() is Qt.TextElideMode.ElideNone
        last = bar.tabRect(bar.count() - 1)
        assert last.right() <= bar.width()
        assert "Details" in [bar.tabText(n) for n in range(bar.count())] or "Events" in [
            bar.tabText(n) for n in range(bar.count())
        ]


def test_without_a_chosen_message_its_pane_is_no_higher_than_its_sentence(desk):
    details = desk.window.panels.details
    assert details.message.height() < 80 < details.request.height()
    desk.session.select_message(3)
    QApplication.processEvents()
    assert details.message.height() > 150
    desk.session.select_message(None)
    QApplication.processEvents()
    assert details.message.height() < 80


# -- why, and what it costs


def test_ahead_when_live_and_the_decision_when_not(desk, qtbot):
    qtbot.waitUntil(lambda: "below the limit" in desk.window.panels.details.request.words)
    assert desk.window.panels.details.request.words.startswith("Ahead: the next request, after 12")
    desk.session.select_request(8)
    qtbot.waitUntil(lambda: "Does not fit the rules" in desk.window.panels.details.request.words)
    assert "≠" in desk.window.panels.details.request.words


def test_what_a_change_costs_stands_beside_the_decision(desk, qtbot):
    request = desk.window.panels.details.request
    desk.session.select_request(8)
    settle(desk, qtbot)
    told = desk.answers.costing.answer.value.cost.sentence
    qtbot.waitUntil(lambda: told in request.words)
    desk.session.select_request(7)
    assert told not in request.words
    desk.session.select_request(8)
    settle(desk, qtbot)
    qtbot.waitUntil(lambda: told in request.words)


def test_a_what_if_says_what_it_costs(desk, qtbot):
    trigger(desk, "act.truncate-half")
    settle(desk, qtbot)
    told = " ".join(desk.front.preview_dialog.told)
    assert "cached prefix" in told
    desk.front.preview_dialog.reject()


def test_prices_of_ones_own_that_cannot_be_read_are_told(desk, qtbot, tmp_path):
    desk.settings.set(PRICES, str(tmp_path / "none.toml"))
    desk.session.select_request(8)
    settle(desk, qtbot)
    qtbot.waitUntil(lambda: "price table cannot be read" in desk.window.panels.details.request.words)


# -- difference


def test_the_difference_follows_stepping(desk, qtbot):
    ask(desk, qtbot, "difference")
    panel = desk.window.panels.difference
    desk.session.select_request(8)
    settle(desk, qtbot)
    assert panel._title.text() == "request 8 → request 9"
    assert [item.row.kind.value for item in panel.rows.items if not panel.rows.words(item).quiet] == ["left", "entered"]
    assert panel.files.items[0].path == "src/1.py"
    left = next(row for row, item in enumerate(panel.rows.items) if item.row.kind.value == "left")
    click(panel.list, left)
    assert desk.session.message == 2
    desk.session.step_request(1)
    settle(desk, qtbot)
    assert panel._title.text() == "request 9 → request 10"


def test_a_marked_request_is_compared_with_others(desk, qtbot):
    assert not desk.actions["ask.mark"].isEnabled()
    desk.session.select_request(2)
    QApplication.processEvents()
    QTest.keyClick(desk.window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    assert desk.answers.comparing.reference == Reference(Against.MARKED, 2)
    desk.session.select_request(10)
    settle(desk, qtbot)
    panel = desk.window.panels.difference
    assert panel._title.text() == "request 3 → request 11"
    panel._choice.activated.emit(panel._choice.findText(Against.BEFORE.value))
    settle(desk, qtbot)
    assert panel._title.text() == "request 10 → request 11"


# -- facts


def test_selected_words_are_tracked_by_key(desk, qtbot):
    conversation = desk.window.stage.conversation
    body = desk.window.stage.conversation.model.body(2)
    section = next(n for n, part in enumerate(body.sections) if "step 1" in part.text)
    start = body.sections[section].text.index("step 1")
    conversation.selection.begin(Extent(Spot(2, section, start), Spot(2, section, start + 6)), Unit.CHARACTER)
    conversation.setFocus()
    QTest.keyClick(conversation, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    settle(desk, qtbot)
    assert [one.question for one in desk.answers.tracking.facts] == [TextQuestion("step 1")]
    assert desk.window.is_seen("facts")
    assert desk.window.panels.facts.model.index(0).data() == "“step 1”"


def test_without_a_selection_the_chosen_message_is_tracked(desk, qtbot):
    trigger(desk, "ask.track")
    assert "No words are selected." in [notice.sentence for notice in desk.notices.standing]
    desk.session.select_message(4)
    trigger(desk, "ask.track")
    settle(desk, qtbot)
    assert [one.question for one in desk.answers.tracking.facts] == [MessageQuestion(4)]


def test_a_selection_over_several_messages_is_refused(desk):
    desk.window.stage.conversation.select_all()
    trigger(desk, "ask.track")
    assert "The selection goes over several messages." in [notice.sentence for notice in desk.notices.standing]


def test_a_fact_shows_in_panel_graph_and_conversation(desk, qtbot):
    ask(desk, qtbot, "facts")
    field = desk.window.panels.facts.line.field
    QTest.keyClicks(field, "port 8001")
    QTest.keyClick(field, Qt.Key.Key_Return)
    settle(desk, qtbot)
    panels, model = desk.window.panels, desk.window.stage.conversation.model
    assert [strip.spans for strip in panels.usage._picture.strips] == [((1, 7),)]
    assert [mark.carried for mark in model.facts(2).tracked] == [False]
    assert "holds fact A, which is not sent through it" in model.facts(2).accessible
    pinned, marks = desk.window.stage.conversation.pinned_words, model.facts(2).tracked
    assert [low for _, low, _ in pinned.spans(marks, "the port 8001", 0, 13)] == [4]
    desk.session.select_request(3)
    QApplication.processEvents()
    assert [mark.carried for mark in model.facts(2).tracked] == [True]
    click(panels.facts.news_list, 1)
    assert (desk.session.request, desk.session.message) == (8, 2)
    panels.facts._remove.click()
    QApplication.processEvents()
    assert panels.usage._picture.strips == ()
    assert model.facts(2).tracked == ()
    assert list(desk.window.stage.conversation.pinned_words.spans(marks, "the port 8001", 0, 13)) == []


def test_the_strip_above_the_graph_leads_to_its_request(desk, qtbot):
    desk.answers.tracking.track(FileQuestion("src/3.py"))
    settle(desk, qtbot)
    qtbot.waitUntil(lambda: desk.window.panels.usage.plot is not None)
    strips = desk.window.panels.usage.plot.strips
    qtbot.waitUntil(lambda: strips.isVisible() and strips._span.width > 10)
    x = int(strips._span.x(5.5))
    QTest.mouseClick(strips, Qt.MouseButton.LeftButton, pos=strips.rect().center().__class__(x, 4))
    assert desk.session.request == 5
    found = strips.column_at(strips.rect().center().toPointF().__class__(x, 4))
    assert found[0].sentence(found[1]) == "A src/3.py: sent in request 6"


def test_a_bad_pattern_is_a_sentence_in_place(desk, qtbot):
    ask(desk, qtbot, "facts")
    line = desk.window.panels.facts.line
    line.regex.click()
    QTest.keyClicks(line.field, "(port")
    QTest.keyClick(line.field, Qt.Key.Key_Return)
    settle(desk, qtbot)
    assert "The pattern cannot be understood" in line.problem.words
    assert desk.answers.tracking.facts == ()


def test_facts_stay_when_the_task_grows(desk, qtbot, agent):
    desk.answers.tracking.track(TextQuestion("step 11"))
    settle(desk, qtbot)
    agent.turn("step 12")
    agent.write()
    desk.session.reload()
    settle(desk, qtbot)
    assert desk.answers.tracking.facts[0].fact.requests == 13


# -- losses and tokens


def test_losses_are_tracked_and_gone_to(desk, qtbot):
    ask(desk, qtbot, "losses")
    desk.session.select_request(9)
    settle(desk, qtbot)
    panel = desk.window.panels.losses
    row = next(row for row, loss in enumerate(panel.model.items) if loss.title == "src/2.py")
    click(panel.list, row)
    assert desk.session.message == 4
    panel._when.click()
    assert desk.session.request == 8
    settle(desk, qtbot)
    row = next(row for row, loss in enumerate(panel.model.items) if loss.title == "src/2.py")
    panel.list.setCurrentIndex(panel.model.index(row))
    panel._track.click()
    settle(desk, qtbot)
    assert [one.question for one in desk.answers.tracking.facts] == [FileQuestion("src/2.py")]


def test_tokens_lead_to_messages_and_requests(desk, qtbot):
    ask(desk, qtbot, "tokens")
    desk.session.select_request(6)
    settle(desk, qtbot)
    panel = desk.window.panels.tokens
    assert panel._title.text().startswith("Request 7 · 9,006 tokens reported")
    panel.map.setFocus()
    panel.map._go([tile.slice.name for tile in panel.map.tiles].index("files"))
    QTest.keyClick(panel.map, Qt.Key.Key_Return)
    assert desk.session.message == 0
    QTest.keyClick(panel.map, Qt.Key.Key_Plus)
    panel.map._go([tile.slice.name for tile in panel.map.tiles].index("src/5.py"))
    QTest.keyClick(panel.map, Qt.Key.Key_Return)
    assert desk.session.message == 10
    panel.request_wanted.emit(2)
    assert desk.session.request == 2


# -- findings and repairs


def test_a_finding_is_repaired_through_the_preview_and_undone(desk, qtbot, agent):
    ask(desk, qtbot, "findings")
    panel = desk.window.panels.findings
    row = next(row for row in range(panel.model.rowCount()) if panel.model.item(row).code == "cut-without-notice")
    assert desk.window.dock("findings").windowTitle().startswith("Findings · ")
    click(panel.list, row)
    assert desk.session.message == 1
    assert "cut-without-notice" in panel._meaning.text()
    assert panel._repair.isEnabled()
    panel._repair.click()
    settle(desk, qtbot)
    dialog = desk.front.preview_dialog
    assert "The truncation notice is put on message 1 again." in " ".join(dialog.told)
    qtbot.waitUntil(lambda: dialog.can_apply)
    dialog.apply_button.click()
    updates = agent.directory / "context_history.json"
    qtbot.waitUntil(updates.exists)
    settle(desk, qtbot)
    assert "cut-without-notice" not in [item.code for item in panel.model.items]
    trigger(desk, "edit.undo")
    qtbot.waitUntil(lambda: not updates.exists())
    settle(desk, qtbot)
    assert "cut-without-notice" in [item.code for item in panel.model.items]


def test_what_cannot_be_repaired_says_so(desk, qtbot):
    ask(desk, qtbot, "findings")
    panel = desk.window.panels.findings
    assert panel._repair.toolTip() == "Highlight a finding first."
    other = next((row for row, item in enumerate(panel.model.items) if item.code != "cut-without-notice"), None)
    if other is not None:
        panel.list.setCurrentIndex(panel.model.index(other))
        assert "no safe repair" in panel._repair.toolTip()


# -- export


def test_a_request_is_exported_from_the_window(desk, qtbot, tmp_path):
    desk.settings.set(EXPORT_FOLDER, str(tmp_path))
    desk.session.select_request(3)
    QApplication.processEvents()
    QTest.keyClick(desk.window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    dialog = desk.front.dialog
    assert dialog.target == tmp_path / f"{desk.session.task.task_id}-request-4.html"
    dialog.format.setCurrentIndex(dialog.format.findData("json"))
    dialog.export_button.click()
    assert dialog.told.startswith("Wrote ")
    assert json.loads(dialog.target.read_text("utf-8"))["request"] == 4
    for key in ("graph", "window"):
        dialog.format.setCurrentIndex(dialog.format.findData(key))
        dialog.export_button.click()
        assert dialog.target.read_bytes().startswith(b"\x89PNG")
    dialog.format.setCurrentIndex(dialog.format.findData("bundle"))
    dialog.export_button.click()
    assert zipfile.is_zipfile(dialog.target)
    dialog.reject()


def test_closing_the_task_empties_every_answer(desk, qtbot):
    for name in ("difference", "losses", "tokens", "facts"):
        ask(desk, qtbot, name)
    desk.answers.tracking.track(TextQuestion("step 1"))
    settle(desk, qtbot)
    trigger(desk, "task.close")
    panels = desk.window.panels
    for panel in (panels.difference, panels.losses, panels.tokens, panels.facts):
        assert not panel.shows_page
        assert panel.empty.sentence.startswith("Open a task")
    assert panels.usage._picture.strips == ()


# -- with threads


def test_fast_steps_end_with_the_answer_of_the_last_one(make_desk, agent, qtbot):
    desk = make_desk(agent.directory, threads=True)
    qtbot.waitUntil(lambda: desk.session.snapshot is not None)
    for name in ("difference", "losses", "tokens"):
        trigger(desk, f"ask.{name}")
        for number in (0, 3, 5, 7, 9, 11, 10, 8):
            desk.session.select_request(number)
            QApplication.processEvents()
        qtbot.waitUntil(lambda: not desk.answers.pending and desk.counting.table.complete)
    panels = desk.window.panels
    assert panels.tokens._title.text().startswith("Request 9 · ")
    trigger(desk, "ask.losses")
    qtbot.waitUntil(lambda: panels.losses._title.text().startswith("Request 9 no longer knows"))
    trigger(desk, "ask.difference")
    qtbot.waitUntil(lambda: panels.difference._title.text() == "request 8 → request 9")


def test_the_window_can_be_closed_while_questions_are_open(make_desk, agent, qtbot):
    desk = make_desk(agent.directory, threads=True)
    qtbot.waitUntil(lambda: desk.session.snapshot is not None)
    for name in ("tokens", "losses", "difference"):
        trigger(desk, f"ask.{name}")
    desk.answers.tracking.track(TextQuestion("step 1"))
    desk.window.close()
    assert not desk.answers.pending
