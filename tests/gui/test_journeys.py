"""What a user does with the window, from end to end, on real files."""

import json

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from ctxviewer.domain.view import TextMode
from ctxviewer.services.settings import EXTRA_ROOTS
from helpers.aging import age
from helpers.working_agent import WorkingAgent


def index_item(agent):
    return next(item for item in json.loads(agent.index.read_bytes()) if item["id"] == agent.task_id)


def trigger(desk, action_id):
    QApplication.processEvents()
    assert desk.actions[action_id].isEnabled(), desk.actions[action_id].toolTip()
    desk.actions[action_id].trigger()
    QApplication.processEvents()


# -- looking


def test_a_task_given_on_the_command_line_is_shown_everywhere(desk):
    window = desk.window
    assert window.stage.shows_conversation
    assert window.stage.conversation.model.rowCount() == 24
    assert window.windowTitle().startswith("story 🙂 — Cline")
    assert window.bar.stepper.words == "now, after request 12"
    assert window.task_list.visible_titles == ("story 🙂",)
    assert window.facts.startswith("24 of 24 messages sent")
    assert window.panels.events.model.rowCount() == len(desk.session.timeline.events)
    assert window.panels.checkpoints.model.rowCount() == 12


def test_where_no_task_is_found_the_samples_are_offered(make_desk, qtbot):
    desk = make_desk()
    stage = desk.window.stage
    assert not stage.shows_conversation
    assert stage.empty.action == "Open the samples"
    stage.empty.activated.emit()
    qtbot.waitUntil(lambda: stage.shows_conversation)
    assert len(desk.discovery.tasks) == 4


def test_without_a_task_there_is_one_sentence_and_one_action(desk):
    desk.session.close_task()
    assert not desk.window.stage.shows_conversation
    assert desk.window.stage.empty.sentence == "Open a task to see what its model was sent."
    assert desk.window.stage.empty.action == "Open a folder…"
    desk.window.stage.empty.activated.emit()
    assert desk.front.dialog is not None
    desk.front.dialog.close()


def test_arrows_home_end_and_escape_move_through_the_requests(desk):
    conversation = desk.window.stage.conversation
    conversation.setFocus()
    seen = []
    for key in ("Left", "Left", "Home", "Right", "End", "Esc"):
        QTest.keyClick(conversation, getattr(Qt.Key, f"Key_{'Escape' if key == 'Esc' else key}"))
        QApplication.processEvents()
        seen.append((desk.session.request, desk.window.bar.stepper.words))
    assert [number for number, _ in seen] == [11, 10, 0, 1, 11, None]
    assert seen[0][1] == "request 12 of 12"


def test_arrows_in_the_find_field_move_the_cursor_and_not_the_request(desk):
    trigger(desk, "edit.find")
    field = desk.window.stage.find_bar.field
    QTest.keyClicks(field, "ab")
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Left):
        QTest.keyClick(field, key)
    assert field.cursorPosition() == 1
    assert desk.session.live


def test_escape_closes_the_find_bar_then_clears_the_selection_then_goes_live(desk):
    conversation, bar = desk.window.stage.conversation, desk.window.stage.find_bar
    desk.session.select_request(3)
    conversation.select_all()
    trigger(desk, "edit.find")
    QTest.keyClick(bar.field, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert not conversation.selection.is_empty
    assert conversation.hasFocus()
    QTest.keyClick(conversation, Qt.Key.Key_Escape)
    assert conversation.selection.is_empty
    assert desk.session.request == 3
    QTest.keyClick(conversation, Qt.Key.Key_Escape)
    assert desk.session.live


def test_find_counts_and_goes_to_the_next_place(desk, qtbot):
    trigger(desk, "edit.find")
    bar = desk.window.stage.find_bar
    QTest.keyClicks(bar.field, "answer to step 7")
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bar.result == "1 of 1 in 1 message")
    assert desk.session.message == 15
    bar.field.setText("no such words")
    qtbot.waitUntil(lambda: bar.result == "not found")


def test_panes_share_one_selection(desk):
    panels = desk.window.panels
    panels.usage.request_selected.emit(4)
    assert desk.session.request == 4
    assert desk.window.stage.conversation.model.projection.request == 4
    desk.window.stage.conversation.choose(6)
    assert desk.session.message == 6
    panels.findings.message_wanted.emit(9)
    assert desk.window.stage.conversation.current_message == 9


def test_stepping_back_from_the_end_shows_messages_that_existed(desk):
    conversation = desk.window.stage.conversation
    conversation.reveal(23)
    conversation.scroll_by(100_000)
    desk.session.select_request(0)
    QApplication.processEvents()
    assert conversation.sheet.placed[0].row <= 2


def test_text_modes_follow_the_menu_and_are_remembered(desk, make_desk):
    trigger(desk, "view.stored")
    assert desk.window.stage.conversation.model.text_mode is TextMode.AS_STORED
    assert desk.actions["view.stored"].isChecked()
    assert make_desk().session.text_mode is TextMode.AS_STORED


def test_events_are_stepped_through(desk, agent):
    agent.deleted = [2, 9]
    agent.turn("after the cut")
    agent.turn("and one more")
    agent.write()
    desk.session.reload()
    trigger(desk, "request.previous-event")
    assert desk.session.request == 12
    QApplication.processEvents()
    assert not desk.actions["request.previous-event"].isEnabled()
    assert "was not changed before" in desk.actions["request.previous-event"].toolTip()


def test_a_task_chosen_in_the_list_is_opened(make_desk, agent, tmp_path):
    other = WorkingAgent(agent.root, task_id="1700000099999")
    other.turn("something else")
    other.write()
    agent.write()
    desk = make_desk(agent.root)
    tree = desk.window.task_list.tree
    names = desk.window.task_list.visible_titles
    assert sorted(names) == ["another", "something else", "story 🙂"]
    first = desk.session.task.task_id
    index = tree.model().index(0, 0, tree.model().index(0, 0))
    other_index = tree.model().index(1, 0, tree.model().index(0, 0))
    target = other_index if index.data(Qt.ItemDataRole.UserRole + 1).task_id == first else index
    tree.setCurrentIndex(target)
    QTest.keyClick(tree, Qt.Key.Key_Return)
    assert desk.session.task.task_id != first
    assert desk.session.snapshot is not None


# -- following


def test_live_shows_new_messages_and_a_pinned_request_stays(desk, agent):
    agent.turn("more")
    agent.write()
    desk.session.reload()
    assert desk.window.stage.conversation.model.rowCount() == 26
    assert desk.window.bar.stepper.words == "now, after request 13"
    desk.session.select_request(2)
    agent.turn("even more")
    agent.write()
    desk.session.reload()
    assert desk.window.bar.stepper.words == "request 3 of 14"
    assert desk.window.bar.live_words == "live · +1 new"
    trigger(desk, "request.live")
    assert desk.window.bar.live_words == "live"


def test_growth_does_not_move_what_is_read(desk, agent):
    conversation = desk.window.stage.conversation
    conversation.reveal(10)
    QApplication.processEvents()
    before = [(part.row, part.element, part.y) for part in conversation.sheet.placed]
    agent.turn("more")
    agent.write()
    desk.session.reload()
    QApplication.processEvents()
    assert [(part.row, part.element, part.y) for part in conversation.sheet.placed] == before


def test_a_rename_is_followed_by_the_watcher(make_desk, agent, qtbot):
    desk = make_desk(agent.directory, threads=True, watch=True)
    qtbot.waitUntil(lambda: desk.session.snapshot is not None)
    agent.turn("more")
    agent.write()
    qtbot.waitUntil(lambda: desk.window.stage.conversation.model.rowCount() == 26)
    with qtbot.assertNotEmitted(desk.session.snapshot_changed, wait=600):
        pass  # our own reading leads to no other one


def test_a_lost_folder_is_told_and_its_return_noticed(make_desk, agent, qtbot):
    desk = make_desk(agent.directory, threads=True, watch=True)
    qtbot.waitUntil(lambda: desk.session.snapshot is not None)
    away = agent.directory.with_name("away")
    agent.directory.rename(away)
    qtbot.waitUntil(lambda: "is gone" in _told(desk))
    assert desk.window.stage.conversation.model.rowCount() == 24
    away.rename(agent.directory)
    qtbot.waitUntil(lambda: "is gone" not in _told(desk))


def _told(desk):
    return " ".join(notice.sentence for notice in desk.notices.standing)


# -- acting


def test_truncate_is_previewed_applied_undone_and_redone(desk, agent):
    before = agent.files()
    trigger(desk, "act.truncate-half")
    dialog = desk.front.preview_dialog
    assert dialog.can_apply, dialog.apply_button.toolTip()
    assert agent.files() == before
    assert desk.session.plan is not None
    assert desk.window.stage.plan_bar.isVisible()
    assert any("taskHistory.json" in line for line in dialog.told)
    dialog.apply_button.click()
    QApplication.processEvents()
    assert desk.front.preview_dialog is None
    assert desk.session.plan is None
    after = agent.files()
    assert index_item(agent)["conversationHistoryDeletedRange"] == [2, 11]
    assert len(desk.session.projection.hidden) == 10
    assert [notice.action for notice in desk.notices.standing] == ["edit.undo"]
    assert "Truncate" in desk.actions["edit.undo"].text()
    trigger_with_consent(desk, "edit.undo")
    assert agent.files() == before
    trigger_with_consent(desk, "edit.redo")
    assert agent.files() == after


def trigger_with_consent(desk, action_id):
    """Undo and redo of files that were written a moment ago: the task looks open, and the box has to be ticked."""
    trigger(desk, action_id)
    dialog = desk.front.dialog
    if dialog is not None:
        assert not dialog.write_button.isEnabled()
        dialog.box.setChecked(True)
        dialog.write_button.click()
        QApplication.processEvents()


def test_cancel_writes_nothing_and_drops_the_what_if(desk, agent):
    before = agent.files()
    trigger(desk, "act.truncate-quarter")
    desk.front.preview_dialog.reject()
    assert agent.files() == before
    assert desk.session.plan is None
    assert not desk.window.stage.plan_bar.isVisible()


def test_a_what_if_can_be_looked_at_first_and_applied_later(desk, agent):
    trigger(desk, "act.truncate-half")
    desk.front.preview_dialog.keep_button.click()
    assert desk.front.preview_dialog is None
    assert len(desk.session.projection.hidden) == 10
    assert desk.session.message == 2
    trigger(desk, "act.apply")
    desk.front.preview_dialog.apply_button.click()
    assert index_item(agent)["conversationHistoryDeletedRange"] == [2, 11]


def test_a_change_since_the_preview_is_refused_and_told(desk, agent):
    trigger(desk, "act.truncate-half")
    dialog = desk.front.preview_dialog
    agent.turn("meanwhile")
    agent.write()
    age(agent)
    before = agent.files()
    dialog.apply_button.click()
    QApplication.processEvents()
    assert agent.files() == before
    assert dialog.apply_button.text() == "Preview again"
    assert any("2 messages added" in line for line in dialog.told)
    assert "changed by somebody else" in _told(desk)
    dialog.apply_button.click()
    QApplication.processEvents()
    fresh = desk.front.preview_dialog
    assert fresh is not dialog
    fresh.apply_button.click()
    assert "conversationHistoryDeletedRange" in index_item(agent)


def test_growth_while_the_preview_is_open_offers_another_one(desk, agent):
    trigger(desk, "act.truncate-half")
    dialog = desk.front.preview_dialog
    agent.turn("meanwhile")
    agent.write()
    desk.session.reload()
    assert dialog.apply_button.text() == "Preview again"
    assert not dialog.can_apply


def test_a_task_that_looks_open_needs_a_second_consent(make_desk, agent):
    agent.write()  # a moment ago
    desk = make_desk(agent.directory)
    before = agent.files()
    trigger(desk, "act.truncate-half")
    dialog = desk.front.preview_dialog
    assert dialog.consent_box.isVisible()
    assert not dialog.can_apply
    assert "Tick the box" in dialog.apply_button.toolTip()
    assert any("looks open in its editor" in line for line in dialog.told)
    assert agent.files() == before
    dialog.consent_box.setChecked(True)
    dialog.apply_button.click()
    assert "conversationHistoryDeletedRange" in index_item(agent)


def test_a_refused_plan_explains_itself(desk, agent):
    agent.index.unlink()
    desk.session.reload()
    trigger(desk, "act.truncate-half")
    dialog = desk.front.preview_dialog
    assert not dialog.can_apply
    assert dialog.plan.refusal
    assert dialog.plan.refusal in dialog.told


def test_rolling_back_asks_for_a_point_shows_what_goes_and_is_undone(desk, agent):
    before = agent.files()
    trigger(desk, "act.rollback")
    chooser = desk.front.dialog
    chooser.choose(4)
    QApplication.processEvents()
    dialog = desk.front.preview_dialog
    assert any("removed from the history" in line for line in dialog.told)
    dialog.apply_button.click()
    QApplication.processEvents()
    assert len(json.loads((agent.directory / "api_conversation_history.json").read_bytes())) < 24
    assert desk.window.stage.conversation.model.rowCount() < 24
    trigger_with_consent(desk, "edit.undo")
    assert agent.files() == before
    assert desk.window.stage.conversation.model.rowCount() == 24


def test_rolling_back_to_the_chosen_message(desk):
    QApplication.processEvents()
    assert not desk.actions["act.rollback-message"].isEnabled()
    desk.session.select_message(9)
    trigger(desk, "act.rollback-message")
    assert desk.session.plan.lost_messages.start == 10


def test_undo_survives_a_restart(desk, agent, make_desk):
    before = agent.files()
    trigger(desk, "act.truncate-half")
    desk.front.preview_dialog.apply_button.click()
    desk.window.close()
    age(agent)
    later = make_desk(agent.directory)
    assert later.window.panels.history.count == 1
    trigger(later, "edit.undo")
    assert agent.files() == before
    QApplication.processEvents()
    assert later.actions["edit.redo"].isEnabled()


def test_the_window_decides_what_the_agent_would_do(desk):
    trigger(desk, "act.decide")  # 120,500 tokens were reported: above the limit of the assumed 128k
    assert desk.session.plan.effects.set_range
    desk.front.preview_dialog.reject()
    desk.handlers.set_window(200_000)
    assert desk.session.window == 200_000
    assert desk.window.bar.window_words == "window 200k ▾"
    trigger(desk, "act.decide")
    assert desk.session.plan.effects.writes_nothing
    assert not desk.front.preview_dialog.can_apply


# -- opening


def test_a_dropped_folder_is_opened_and_remembered(make_desk, agent):
    desk = make_desk()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(agent.root))])
    enter = QDragEnterEvent(
        QPointF(5, 5).toPoint(),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(desk.window, enter)
    assert enter.isAccepted()
    drop = QDropEvent(
        QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(desk.window, drop)
    assert desk.session.snapshot is not None
    assert desk.settings.get(EXTRA_ROOTS) == (str(agent.root),)
    again = make_desk()
    assert "story 🙂" in again.window.task_list.visible_titles


def test_links_to_the_web_are_not_accepted(make_desk):
    desk = make_desk()
    data = QMimeData()
    data.setUrls([QUrl("https://host.example/task")])
    enter = QDragEnterEvent(
        QPointF(5, 5).toPoint(),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(desk.window, enter)
    assert not (enter.isAccepted() and enter.type() is QEvent.Type.Drop)
    assert desk.session.task is None


def test_the_last_task_is_opened_again(desk, agent, make_desk):
    desk.window.close()
    later = make_desk()
    assert str(later.session.task.directory) == str(agent.directory)


def test_a_broken_task_shows_why_and_the_others_stay_usable(make_desk, agent):
    broken = WorkingAgent(agent.root, task_id="1700000099999")
    broken.turn("lost")
    broken.write()
    agent.write()
    (broken.directory / "api_conversation_history.json").write_bytes(b"[{]")
    desk = make_desk(agent.root)
    refs = {ref.task_id: ref for ref in desk.discovery.tasks}
    desk.session.open_task(refs[broken.task_id])
    stage = desk.window.stage
    assert not stage.shows_conversation
    assert "api_conversation_history.json" in stage.leftover.sentence
    assert "lost" in stage.leftover.text, "what the agent showed is still there to read"
    QApplication.processEvents()
    assert not desk.actions["act.truncate-half"].isEnabled()
    assert "api_conversation_history.json" in desk.actions["act.truncate-half"].toolTip()
    desk.session.open_task(refs[agent.task_id])
    assert stage.shows_conversation


def test_markup_in_a_title_is_text(make_desk, tmp_path):
    agent = WorkingAgent(tmp_path / "root")
    agent.turn("<b>bold</b><img src='http://host.example/x.png'>")
    agent.turn("two")
    agent.turn("three")
    agent.write()
    age(agent)
    desk = make_desk(agent.directory)
    trigger(desk, "act.truncate-half")
    for label in desk.front.preview_dialog.findChildren(type(desk.front.preview_dialog.title_label)):
        assert label.textFormat() is not Qt.TextFormat.AutoText


@pytest.mark.parametrize(
    "action_id", ["view.theme-dark", "view.theme-contrast", "view.theme-light", "view.theme-system"]
)
def test_themes_are_chosen_and_remembered(make_desk, action_id):
    desk = make_desk()
    trigger(desk, action_id)
    QApplication.processEvents()
    assert desk.actions[action_id].isChecked()
    again = make_desk()
    QApplication.processEvents()
    assert again.actions[action_id].isChecked()
    trigger(desk, "view.theme-system")
