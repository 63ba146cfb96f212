"""The lab in the window, from end to end, on real files: stepping, comparing, replaying, a model, an answer being written."""

import json

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from ctxviewer.domain.projection import Standing
from ctxviewer.engine.matrix import COLUMNS
from ctxviewer.models.matrix_table import MatrixRole
from ctxviewer.models.steps import StepRole, StepState
from ctxviewer.services.lab import stepping as stepping_module
from ctxviewer.services.settings import LAB_VALUES, MODEL_NAME, MODEL_URL
from ctxviewer.views import theme
from ctxviewer.views.conversation.rows import LEAD
from ctxviewer.views.lab.head import Page
from ctxviewer.views.lab.replay_page import Listed
from helpers.aging import age
from helpers.model_stub import model_stub, says, slow
from helpers.working_agent import WorkingAgent


@pytest.fixture
def desk(make_desk, agent):
    """The agent's task of 24 messages and twelve requests, up to 120,000 tokens of 200,000; every one reads a file."""
    made = make_desk(agent.directory)
    made.window.show_panel("lab")
    QApplication.processEvents()
    return made


def panel(desk):
    return desk.window.panels.lab


def do(desk, action_id):
    QApplication.processEvents()
    assert desk.actions[action_id].isEnabled(), desk.actions[action_id].toolTip()
    desk.actions[action_id].trigger()
    QApplication.processEvents()


def choose(desk, key):
    combo = panel(desk).steps.strategy
    combo.setCurrentIndex(combo.findData(key))
    combo.activated.emit(combo.currentIndex())
    QApplication.processEvents()


def type_window(desk, text):
    field = panel(desk).head.window_field.editor
    field.setFocus()
    field.clear()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    QApplication.processEvents()


def ready(desk, qtbot):
    qtbot.waitUntil(lambda: desk.lab.stepping.stepper is not None)


def field(desk, name):
    return next(item for item in panel(desk).steps.form.fields if item.setting.name == name)


def settle():
    """Layouts ask for layouts further out."""
    for _ in range(8):
        QApplication.processEvents()


def assert_current_in_view(rows):
    assert rows.viewport().rect().contains(rows.visualRect(rows.currentIndex()))


class Counted(QObject):
    """Counts the events of a kind that a window gets."""

    def __init__(self, window, kind):
        super().__init__(window)
        self.kind, self.count = kind, 0
        window.installEventFilter(self)

    def eventFilter(self, _watched, event):  # noqa: N802 - Qt calls this
        self.count += event.type() == self.kind
        return False


# -- steps


def test_without_a_task_one_sentence_says_what_the_lab_is_for(make_desk):
    desk = make_desk()
    desk.window.show_panel("lab")
    assert not panel(desk).shows_pages
    assert panel(desk).empty.sentence.startswith("Open a task to see what other rules would have made of it")
    assert not desk.actions["lab.step"].isEnabled()
    assert "Open a task first" not in desk.actions["lab.step"].text()


def test_the_key_for_a_step_opens_the_lab_and_does_the_first_one(make_desk, agent, qtbot):
    desk = make_desk(agent.directory)
    assert not desk.window.is_seen("lab")
    choose(desk, "half")
    QTest.keyClick(desk.window.stage.conversation, Qt.Key.Key_F8)
    qtbot.waitUntil(lambda: desk.session.plan is not None)
    assert desk.window.is_seen("lab")
    page = panel(desk).steps
    assert page.place == "1 of 2"
    assert "messages 2–11 go" in page.now
    assert desk.window.stage.plan_bar.words.startswith("What-if: Truncate to half (messages 2–11) · step 1 of 2 · ")
    assert desk.window.facts.startswith("14 of 24 messages sent · 10 not sent")
    assert desk.window.bar.stepper.words == "what-if, from now"


def test_steps_are_listed_before_the_first_one_is_done_and_marked_as_they_are(desk, qtbot):
    choose(desk, "optimise")
    ready(desk, qtbot)
    page = panel(desk).steps
    assert desk.session.plan is None
    count = page.model.rowCount()
    assert count > 5
    assert page.now == f"Optimise reads of 1 file: {count} steps, none done yet."
    do(desk, "lab.step")
    do(desk, "lab.step")
    assert [page.model.state(row) for row in range(3)] == [StepState.DONE, StepState.CURRENT, StepState.AHEAD]
    conversation = desk.window.stage.conversation
    done = desk.session.step_done
    assert set(conversation.model.touched) == {place[0] for place in done.touched}
    row = done.touched[0][0]
    assert conversation.model.facts(row).touched
    assert conversation.sheet.find(row, 0) is not None, "it was brought into view"
    do(desk, "lab.back")
    assert page.place == f"1 of {count}"
    page.list.setCurrentIndex(page.model.index(4))
    QTest.keyClick(page.list, Qt.Key.Key_Return)
    assert page.place == f"5 of {count}"
    do(desk, "lab.reset")
    assert page.place == f"0 of {count}"
    assert conversation.model.touched == {}
    QApplication.processEvents()
    assert not desk.actions["lab.back"].isEnabled()
    assert "no step has been done" in desk.actions["lab.back"].toolTip()
    do(desk, "lab.run")
    QApplication.processEvents()
    assert "all steps are done" in desk.actions["lab.step"].toolTip()


def test_steps_move_nothing_around_them_and_the_current_one_is_always_in_the_list(desk, qtbot):
    choose(desk, "sage-prune")
    page = panel(desk).steps
    for name, value in (("always", True), ("recent", 1)):
        desk.lab.choosing.set_value(field(desk, name).setting, value)
    type_window(desk, "100")
    ready(desk, qtbot)
    assert page.model.rowCount() > 10
    do(desk, "lab.step")
    do(desk, "lab.step")
    settle()
    height = page._now.height()
    layouts = Counted(desk.window, QEvent.Type.LayoutRequest)
    while page.model.done < page.model.rowCount() - 1:
        do(desk, "lab.step")
        settle()
        assert layouts.count == 0 or page._now.height() > height
        layouts.count, height = 0, page._now.height()
        assert page.list.currentIndex().row() == page.model.done - 1
        assert_current_in_view(page.list)
    page._fold.setChecked(True)
    settle()
    page._fold.setChecked(False)
    settle()
    assert_current_in_view(page.list)


def test_a_long_sentence_gets_its_lines_and_the_room_stays(desk, qtbot):
    choose(desk, "decide")
    ready(desk, qtbot)
    now = panel(desk).steps._now
    low = now.height()
    now.say("words " * 60)
    high = now.height()
    assert high > low
    now.say("short")
    assert now.height() == high
    now.restart()
    assert now.height() < high
    assert now.accessibleName() == now.text() == "short"


def test_dropping_a_what_if_from_its_bar_leaves_the_keyboard_in_the_conversation(desk):
    do(desk, "lab.step")
    drop = desk.window.stage.plan_bar._drop
    drop.setFocus()
    QTest.keyClick(drop, Qt.Key.Key_Space)
    assert QApplication.focusWidget() is desk.window.stage.conversation


def test_a_folded_stretch_is_not_unfolded_by_a_step_but_its_line_comes_into_view(desk):
    desk.window.stage.conversation.reveal(20)
    choose(desk, "half")
    do(desk, "lab.run")
    sheet = desk.window.stage.conversation.sheet
    assert sheet.geometry.is_folded(2)
    assert sheet.find(2, LEAD) is not None


def test_following_can_be_switched_off(desk):
    conversation = desk.window.stage.conversation
    conversation.reveal(20)
    before = conversation.sheet.anchor
    panel(desk).steps._follow.setChecked(False)
    choose(desk, "half")
    do(desk, "lab.run")
    assert conversation.sheet.find(2, LEAD) is None
    assert conversation.sheet.anchor.row == before.row


def test_a_reader_who_scrolls_while_steps_are_played_is_left_alone(desk, monkeypatch, qtbot):
    monkeypatch.setattr(stepping_module, "SHORTEST_TICK_MS", 1)
    monkeypatch.setattr(stepping_module, "LONGEST_TICK_MS", 1)
    monkeypatch.setattr(type(theme.current()), "reduced_motion", property(lambda _self: False))
    conversation = desk.window.stage.conversation
    choose(desk, "optimise")
    do(desk, "lab.play")
    conversation.setFocus()
    QTest.keyClick(conversation, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    where = conversation.sheet.anchor.row
    qtbot.waitUntil(lambda: not desk.lab.stepping.playing)
    assert desk.lab.stepping.stepper.at_end
    assert conversation.sheet.anchor.row == where > 12
    desk.lab.stepping.go_to(1)
    do(desk, "lab.step")
    assert conversation.sheet.anchor.row < where, "steps by hand are followed again"


def test_with_reduced_motion_nothing_scrolls_while_steps_are_played(desk, monkeypatch, qtbot):
    monkeypatch.setattr(stepping_module, "SHORTEST_TICK_MS", 1)
    monkeypatch.setattr(stepping_module, "LONGEST_TICK_MS", 1)
    monkeypatch.setattr(type(theme.current()), "reduced_motion", property(lambda _self: True))
    conversation = desk.window.stage.conversation
    conversation.scroll_by(100_000)
    seen = set()
    desk.session.step_changed.connect(lambda _done: seen.add(conversation.sheet.anchor.row))
    choose(desk, "optimise")
    do(desk, "lab.play")
    qtbot.waitUntil(lambda: not desk.lab.stepping.playing)
    assert len(seen) == 1


def test_escape_drops_the_what_if_and_the_marks(desk):
    choose(desk, "half")
    do(desk, "lab.run")
    conversation = desk.window.stage.conversation
    conversation.setFocus()
    QTest.keyClick(conversation, Qt.Key.Key_Escape)
    assert desk.session.plan is None
    assert conversation.model.touched == {}
    assert panel(desk).steps.place == "0 of 2"


# -- request, window, settings


def test_the_request_of_the_lab_is_the_one_of_the_window(desk, qtbot):
    spin = panel(desk).head.request
    assert (spin.text(), spin.request) == ("next one (now)", None)
    desk.session.select_request(4)
    assert spin.text() == "request 5"
    spin.setFocus()
    QTest.keyClick(spin, Qt.Key.Key_Up)
    assert desk.session.request == 5
    spin.selectAll()
    QTest.keyClicks(spin, "3")
    QTest.keyClick(spin, Qt.Key.Key_Return)
    assert desk.session.request == 2
    choose(desk, "none")
    do(desk, "lab.run")
    model = desk.window.stage.conversation.model
    assert model.projection.what_if_at == 2
    assert [stretch.title for stretch in model.stretches] == ["2–3 not sent", "5–23 later than request 3"]
    assert desk.window.bar.stepper.words == "what-if, request 3"
    assert not desk.actions["act.apply"].isEnabled()
    assert (
        "looked at" in desk.actions["act.apply"].toolTip()
        or "what-if before request 3" in desk.actions["act.apply"].toolTip()
    )


def test_the_window_of_the_lab_replaces_the_tasks_and_what_is_none_is_told(desk, qtbot):
    type_window(desk, "100k")
    ready(desk, qtbot)
    assert desk.lab.stepping.stepper.plan.settings["window"] == 100_000
    assert panel(desk).steps.model.rowCount() > 3, "120,000 tokens are above its limit"
    type_window(desk, "many")
    head = panel(desk).head.window_field
    assert head.problem == "window cannot be 'many': a whole number from 1 up to 1,000,000,000,000 is needed."
    assert desk.lab.choosing.window == 100_000
    type_window(desk, "")
    assert head.problem == ""
    assert desk.lab.choosing.window is None


def test_settings_are_made_from_the_strategys_own_list(desk, qtbot):
    choose(desk, "sage-prune")
    names = [item.setting.name for item in panel(desk).steps.form.fields]
    assert names == [setting.name for setting in desk.lab.choosing.strategy.settings]
    edit = field(desk, "recent").editor
    assert edit.placeholderText() == "as the task has it"
    assert "A whole number from 0 up to 100,000 is needed" in edit.toolTip()
    QTest.keyClicks(edit, "3")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    field(desk, "always").editor.click()
    provider = field(desk, "provider").editor
    provider.setCurrentIndex(provider.findData("openai"))
    provider.activated.emit(provider.currentIndex())
    assert desk.lab.choosing.given() == {"recent": 3, "always": True, "provider": "openai"}
    assert desk.settings.get(LAB_VALUES)["sage-prune"] == {"recent": 3, "always": True, "provider": "openai"}
    panel(desk).steps.form.reset()
    assert desk.lab.choosing.given() == {}
    assert (edit.text(), field(desk, "always").editor.isChecked(), provider.currentText()) == ("", False, "task")


def test_a_value_out_of_range_is_told_beside_its_field_and_nothing_is_applied(desk, qtbot):
    choose(desk, "sage-prune")
    ready(desk, qtbot)
    plan = desk.lab.stepping.stepper.plan
    share = field(desk, "threshold")
    QTest.keyClicks(share.editor, "99")
    qtbot.waitUntil(lambda: share.problem != "")
    assert share.problem == "threshold cannot be 99: a number from 0 up to 10 is needed."
    assert desk.lab.choosing.given() == {}
    assert desk.lab.stepping.stepper.plan is plan
    share.editor.clear()
    QTest.keyClicks(share.editor, "50 %")
    QTest.keyClick(share.editor, Qt.Key.Key_Return)
    assert share.problem == ""
    assert desk.lab.choosing.given() == {"threshold": 0.5}


# -- breakpoints


def test_a_run_stops_before_the_chosen_message_goes(desk):
    choose(desk, "half")
    desk.session.select_message(5)
    QApplication.processEvents()
    QTest.keyClick(desk.window.stage.conversation, Qt.Key.Key_F9)
    page = panel(desk).steps
    assert page.stops.titles == ("message 5",)
    do(desk, "lab.run")
    assert page.place == "0 of 2"
    assert page.remark.words == "Stopped: message 5 is about to go. Step or run to go on."
    assert page.model.index(0).data(StepRole.STOP) == "message 5"
    assert desk.session.projection.standing(5) is Standing.SENT
    do(desk, "lab.run")
    assert page.place == "2 of 2"
    page.stops.buttons[0].click()
    assert page.stops.titles == ()


def test_the_menu_of_a_message_offers_its_files_as_breakpoints(desk):
    menu = QMenu()
    desk.front.add_lab(menu, 4)
    (action,) = menu.actions()
    assert action.text() == "Stop before src/a.py goes"
    action.trigger()
    assert panel(desk).steps.stops.titles == ("a.py",)
    choose(desk, "sage-prune")
    for name, value in (("always", True), ("recent", 1)):
        desk.lab.choosing.set_value(field(desk, name).setting, value)
    type_window(desk, "100")
    do(desk, "lab.run")
    assert panel(desk).steps.remark.words.startswith("Stopped: file src/a.py is about to go.")


def test_the_lab_offers_files_and_the_chosen_message_as_breakpoints(desk):
    page = panel(desk).steps
    page.stops.fill_menu()
    assert [action.text() for action in page.stops.menu.actions() if not action.isSeparator()] == [
        "Choose a message in the conversation to offer it here", "src/a.py",
    ]  # fmt: skip
    desk.session.select_message(7)
    page.stops.fill_menu()
    first, *_, last = page.stops.menu.actions()
    first.trigger()
    last.trigger()
    assert page.stops.titles == ("message 7", "a.py")
    page.stops.fill_menu()
    page.stops.menu.actions()[0].trigger()
    assert page.stops.titles == ("a.py",)


# -- compare


def compare(desk, qtbot):
    do(desk, "lab.compare")
    page = panel(desk).compare
    qtbot.waitUntil(lambda: page.model.rowCount() > 0)
    return page


def row_of(page, key):
    return next(n for n in range(page.proxy.rowCount()) if page.proxy.rows()[n].choice.strategy.key == key)


def test_strategies_stand_side_by_side_and_sort_by_number(desk, qtbot):
    page = compare(desk, qtbot)
    assert panel(desk).page is Page.COMPARE
    assert page.words.startswith("Before the next request: ")
    header = page.table.horizontalHeader()
    kept = next(n for n, column in enumerate(COLUMNS) if column.key == "kept")
    x = header.sectionViewportPosition(kept) + 5
    QTest.mouseClick(
        header.viewport(), Qt.MouseButton.LeftButton, pos=header.viewport().rect().topLeft() + QPoint(x, 5)
    )
    numbers = [row.tokens_kept for row in page.proxy.rows()]
    assert numbers == sorted(numbers)
    page.set_different_only(True)
    assert len(page.proxy.columns()) < len(COLUMNS)


def test_enter_previews_a_strategy_in_the_conversation_and_the_stepper_stands_at_its_end(desk, qtbot):
    page = compare(desk, qtbot)
    page.table.selectRow(row_of(page, "half"))
    page.table.setFocus()
    QTest.keyClick(page.table, Qt.Key.Key_Return)
    assert desk.session.plan.title == "Truncate to half (messages 2–11)"
    assert desk.window.stage.conversation.model.standing(2) is Standing.NOT_SENT
    panel(desk).show_page(Page.STEPS)
    assert panel(desk).steps.place == "2 of 2"
    assert desk.lab.choosing.strategy.key == "half"


def test_a_click_previews_a_strategy_too(desk, qtbot):
    page = compare(desk, qtbot)
    cell = page.table.visualRect(page.table.model().index(row_of(page, "lastTwo"), 0))
    QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=cell.center())
    assert desk.session.plan.title.startswith("Truncate to lastTwo")
    assert desk.window.stage.conversation.model.standing(2) is Standing.NOT_SENT


def test_the_table_is_copied_as_it_is_shown(desk, qtbot):
    page = compare(desk, qtbot)
    page.set_different_only(True)
    page.proxy.sort(1, Qt.SortOrder.AscendingOrder)
    markdown, csv = page._copy.menu().actions()
    markdown.trigger()
    text = QGuiApplication.clipboard().text()
    assert text.splitlines()[0].startswith("Before the next request: ")
    assert text.splitlines()[2].startswith("| Strategy | Tokens kept |")
    assert len(text.splitlines()) == 4 + page.proxy.rowCount()
    csv.trigger()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("strategy,kept,")
    assert [line.split(",")[1] for line in lines[1:]] == [str(row.tokens_kept) for row in page.proxy.rows()]


def test_clines_rows_are_applied_through_the_same_preview_as_everywhere(desk, agent, qtbot):
    page = compare(desk, qtbot)
    page.table.selectRow(row_of(page, "sage-prune"))
    assert not page.apply_button.isEnabled()
    assert "looked at only" in page.apply_button.toolTip()
    page.table.selectRow(row_of(page, "half"))
    assert page.apply_button.isEnabled()
    page.apply_button.click()
    dialog = desk.front.preview_dialog
    assert dialog is not None
    assert dialog.plan.title == "Truncate to half (messages 2–11)"
    dialog.applied.emit(True)
    qtbot.waitUntil(lambda: desk.session.snapshot.range_now is not None)
    item = next(item for item in json.loads(agent.index.read_bytes()) if item["id"] == agent.task_id)
    assert item["conversationHistoryDeletedRange"] == [2, 11]
    do(desk, "edit.undo")
    qtbot.waitUntil(lambda: desk.session.snapshot.range_now is None)


def test_rows_of_an_earlier_request_cannot_be_applied_and_say_why(desk, qtbot):
    desk.session.select_request(6)
    page = compare(desk, qtbot)
    page.table.selectRow(row_of(page, "half"))
    assert not page.apply_button.isEnabled()
    assert page.apply_button.toolTip() == "This is a what-if before request 7, not the present."


def test_the_comparison_follows_the_request(desk, qtbot):
    page = compare(desk, qtbot)
    desk.session.select_request(3)
    qtbot.waitUntil(lambda: page.words.startswith("Before request 4: "))
    page.table.selectRow(2)
    desk.session.select_request(5)
    qtbot.waitUntil(lambda: page.words.startswith("Before request 6: "))
    assert page.table.selectionModel().selectedRows()[0].row() == 2, "what is chosen stays chosen"
    assert page.proxy.index(2, 0).data(MatrixRole.ROW).plan is not None


# -- replay


def test_a_replay_draws_curves_and_lists_what_was_done(desk, qtbot):
    do(desk, "lab.replay")
    page = panel(desk).replay
    assert "run them over the whole task" in page.empty.sentence
    page.set_keys(("half", "sage-compact"))
    type_window(desk, "60000")
    page.run_button.click()
    qtbot.waitUntil(lambda: len(page.run_words) == 2)
    assert page.run_words[0].startswith("Cline: Truncate: half: ")
    graph = desk.window.panels.usage
    assert [curve.name for curve in graph._picture.curves] == ["Cline: Truncate: half", "Sage: Auto-compact"]
    assert "Replay Cline: Truncate: half: at most" in graph.summary()
    assert "estimated" in graph.hover_text(3).splitlines()[-1]
    assert page.events.rowCount() > 0
    page.event_list.setCurrentIndex(page.events.index(0))
    QTest.keyClick(page.event_list, Qt.Key.Key_Return)
    event = page.events.item(0)
    assert desk.session.request == event.request
    assert desk.session.plan.title.endswith(f"replayed up to request {event.request + 1}")
    assert desk.window.stage.conversation.model.standing(2) is Standing.NOT_SENT
    page._clear.click()
    assert graph._picture.curves == ()
    assert page.run_words == ()


def test_the_replay_check_names_the_first_difference_and_its_likely_cause(make_desk, agent, qtbot):
    agent.deleted = [2, 9]
    agent.turn("after a cut that no total explains", tokens=20_000)
    agent.turn("and one more", tokens=21_000)
    agent.write()
    age(agent)
    desk = make_desk(agent.directory)
    desk.window.show_panel("lab")
    do(desk, "lab.replay")
    page = panel(desk).replay
    page.run_button.click()
    qtbot.waitUntil(lambda: page.verdict != "")
    page.lists.choose(Listed.CHECK)
    assert "Likely cause: another window" in page.verdict
    assert page.lists.button(Listed.CHECK).text().endswith("differ")
    odd = next(row for row in range(page.check.rowCount()) if not page.check.item(row).agrees)
    page.check_list.setCurrentIndex(page.check.index(odd))
    QTest.keyClick(page.check_list, Qt.Key.Key_Return)
    assert desk.session.request == page.check.item(odd).request


def test_a_replay_shows_its_share_and_can_be_cancelled(make_desk, agent, qtbot):
    desk = make_desk(agent.directory, threads=True)
    qtbot.waitUntil(lambda: desk.session.snapshot is not None)
    desk.window.show_panel("lab")
    do(desk, "lab.replay")
    page, shelf = panel(desk).replay, desk.lab.shelf
    with shelf._lock:  # another job has the facts: the replay waits
        assert page.run_button.hasFocus()
        QTest.keyClick(page.run_button, Qt.Key.Key_Space)
        qtbot.waitUntil(lambda: page.share_words == "0%")
        assert page.cancel_button.isVisible()
        assert page.cancel_button.hasFocus()
        QTest.keyClick(page.cancel_button, Qt.Key.Key_Space)
        assert page.share_words == ""
        assert page.run_button.isVisible()
        assert page.run_button.hasFocus()
    qtbot.waitUntil(lambda: not desk.runner.jobs)
    assert page.run_words == ()


# -- a model that writes summaries


def test_a_model_is_entered_asked_and_its_summary_drawn(desk, qtbot):
    choose(desk, "sage-compact")
    page = panel(desk).steps
    assert page._enter_model.isVisible()
    assert not page._model_switch.isVisible()
    with model_stub(says("<summary>", "They fixed a.py.", "</summary>")) as stub:
        do(desk, "app.preferences")
        section = desk.front.dialog.model
        QTest.keyClicks(section.address, stub.url)
        section.address.editingFinished.emit()
        QTest.keyClicks(section.model, "qwen")
        section.model.editingFinished.emit()
        desk.front.dialog.close()
        assert desk.settings.get(MODEL_URL) == stub.url
        assert page._model_switch.isVisible()
        page._model_switch.click()
        field(desk, "always").editor.click()
        QApplication.processEvents()
        assert page.remark.words.startswith("The first step asks qwen at 127.0.0.1")
        assert stub.asked == []
        do(desk, "lab.run")
        assert len(stub.asked) == 1
    (row,) = desk.window.stage.conversation.model.made_up
    made = desk.window.stage.conversation.model.made_up[row][0]
    assert "They fixed a.py." in made.section.text
    assert desk.window.stage.conversation.sheet.find(row, LEAD) is not None


def test_a_slow_model_can_be_cancelled_and_leaves_everything_as_it_was(make_desk, agent, qtbot):
    desk = make_desk(agent.directory, threads=True)
    qtbot.waitUntil(lambda: desk.session.snapshot is not None)
    desk.window.show_panel("lab")
    choose(desk, "sage-compact")
    field(desk, "always").editor.click()
    with model_stub(slow) as stub:
        desk.settings.set(MODEL_URL, stub.url)
        desk.settings.set(MODEL_NAME, "qwen")
        panel(desk).steps._model_switch.click()
        desk.lab.stepping.run()
        qtbot.waitUntil(lambda: len(stub.asked) == 1)
        qtbot.waitUntil(lambda: desk.window.progress.words.startswith("Working out the strategy"))
        desk.runner.cancel_reads()
        assert stub.hung_up.wait(60)
    qtbot.waitUntil(lambda: not desk.runner.jobs)
    assert desk.session.plan is None
    assert panel(desk).steps.remark.words.startswith("Working out the strategy: cancelled.")


def test_an_address_that_is_none_is_told_and_not_kept(desk):
    do(desk, "app.preferences")
    section = desk.front.dialog.model
    QTest.keyClicks(section.address, "localhost:11434")
    section.address.editingFinished.emit()
    assert section.remark.words.endswith("is not an address of the kind http://host:port/v1. It is not kept.")
    assert desk.settings.get(MODEL_URL) == ""
    desk.front.dialog.close()


def test_a_key_is_never_in_the_settings_file(desk, monkeypatch):
    monkeypatch.setattr(desk.keys, "_looked", True)
    desk.settings.set(MODEL_URL, "http://localhost:1/v1")
    do(desk, "app.preferences")
    section = desk.front.dialog.model
    QTest.keyClicks(section.key, "very-secret")
    section._keep.click()
    assert section.key.text() == ""
    assert "kept until ctxviewer is closed, and in no file" in section.key_words
    assert desk.keys.get("http://localhost:1/v1") == "very-secret"
    desk.settings.sync()
    assert b"very-secret" not in desk.settings.file.read_bytes()
    section._forget.click()
    assert desk.keys.get("http://localhost:1/v1") == ""
    desk.front.dialog.close()


# -- an answer that is being written


def test_the_answer_of_a_live_task_is_counted_in_the_status_line(desk, agent):
    desk.streaming._clock = lambda: agent.now / 1_000 + 1
    agent.entry("api_req_started", json.dumps({"request": "go on"}))
    agent.messages.append({"role": "user", "content": [{"type": "text", "text": "go on"}]})
    agent.entry("text", "x" * 400, partial=True)
    agent.write()
    desk.session.reload()
    assert desk.window.stream == (
        "answer to request 13: 100 tokens so far, estimated · 50 per second · first after 1.0 s"
    )
    desk.session.close_task()
    assert desk.window.stream == ""


# -- the panel itself


def test_the_lab_can_be_reached_hidden_and_is_remembered(make_desk, agent, qtbot):
    desk = make_desk(agent.directory)
    do(desk, "view.panel-lab")
    assert desk.window.is_seen("lab")
    assert desk.actions["view.panel-lab"].isChecked()
    assert QApplication.focusWidget() is None or panel(desk).isAncestorOf(QApplication.focusWidget())
    do(desk, "view.panel-lab")
    assert not desk.window.is_seen("lab")
    desk.window.close()
    desk.close()
    again = make_desk()
    assert again.window.dock("lab").isHidden()


def test_nothing_is_worked_out_while_nobody_looks(desk, qtbot):
    ready(desk, qtbot)
    do(desk, "view.panel-details") if not desk.window.is_seen("details") else None
    qtbot.waitUntil(lambda: not desk.window.is_seen("lab"))
    QApplication.processEvents()
    assert not desk.lab.stepping.planning.watched
    desk.session.select_request(3)
    QTest.qWait(100)
    assert desk.lab.stepping.stepper is None
    assert desk.lab.comparing.answer.value is None


def test_every_control_has_a_name_and_says_what_it_does(desk, qtbot):
    from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox, QLineEdit

    compare(desk, qtbot)
    for kind in (QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox):
        for widget in panel(desk).findChildren(kind):
            if isinstance(widget.parent(), QAbstractSpinBox | QComboBox) or widget.objectName().startswith("qt_"):
                continue
            if widget.metaObject().className() == "QTableCornerButton" or not widget.isVisibleTo(widget.parent()):
                continue
            assert widget.accessibleName() or getattr(widget, "text", str)(), widget
            assert widget.toolTip() or widget.parent().toolTip(), (widget, widget.accessibleName())


@pytest.mark.parametrize("scale", [80, 160])
def test_the_lab_fits_at_every_scale(desk, scale, qtbot):
    from ctxviewer.services.settings import SCALE

    compare(desk, qtbot)
    desk.settings.set(SCALE, scale)
    QApplication.processEvents()
    for page in Page:
        panel(desk).show_page(page)
        QApplication.processEvents()
    assert panel(desk).minimumSizeHint().width() <= desk.window.dock("lab").width() + 1


def test_a_task_whose_messages_are_lost_is_checked_all_the_same(make_desk, agent):
    (agent.directory / "api_conversation_history.json").unlink()
    (agent.directory / "context_history.json").write_text("[]")
    desk = make_desk(agent.directory)
    do(desk, "lab.replay")
    lab = panel(desk)
    assert lab.shows_pages
    assert lab.page is Page.REPLAY
    for page in (Page.STEPS, Page.COMPARE):
        button = lab.head.pages.button(page)
        assert not button.isEnabled()
        assert button.toolTip() == "The messages of this task cannot be read, so no rules can be tried on it."
    assert not desk.actions["lab.step"].isEnabled()
    type_window(desk, "100000")
    lab.replay.set_keys(("half",))
    lab.replay.run_button.click()
    assert lab.replay.run_words == (
        "Cline: Truncate: half: The API history is missing or unreadable, so there is nothing to try the rules on.",
    )
    assert lab.replay.empty.sentence.startswith("No request could be replayed.")
    assert desk.window.panels.usage._picture.curves == ()
    lab.replay.lists.choose(Listed.CHECK)
    assert lab.replay.check.rowCount() > 0
    agent.write()
    do(desk, "task.reload")
    assert lab.head.pages.button(Page.STEPS).isEnabled()


def test_one_message_and_no_request_are_sentences_not_errors(make_desk, tmp_path, qtbot):
    lonely = WorkingAgent(tmp_path / "root")
    lonely.entry("task", "hello")
    lonely.messages.append({"role": "user", "content": [{"type": "text", "text": "hello"}]})
    lonely.write()
    age(lonely)
    desk = make_desk(lonely.directory)
    desk.window.show_panel("lab")
    for key in ("decide", "half", "optimise", "subagent", "sage-prune", "sage-summarize", "sage-compact"):
        choose(desk, key)
        desk.lab.stepping.run()
        assert panel(desk).steps.now != "", key
        assert desk.window.stage.conversation.model.standing(0) is Standing.SENT
    page = compare(desk, qtbot)
    assert all(not row.problem for row in page.proxy.rows())
    do(desk, "lab.replay")
    panel(desk).replay.run_button.click()
    assert desk.lab.replaying.state.error is None
