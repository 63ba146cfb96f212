"""Events, checkpoints and findings beside the conversation."""

import pytest
from PySide6.QtCore import Qt

from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.request import CheckpointKind
from ctxviewer.views.details import CheckpointsPanel, EventsPanel, FindingsPanel
from helpers.usage import checkpoint, event


@pytest.fixture
def make(qtbot):
    def build(kind):
        panel = kind()
        qtbot.addWidget(panel)
        panel.resize(320, 240)
        panel.show()
        return panel

    return build


def click(qtbot, panel, row):
    rect = panel.list.visualRect(panel.model.index(row))
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())


def test_choosing_an_event_chooses_its_request(make, qtbot):
    panel = make(EventsPanel)
    panel.set_events((event("optimize", 17), event("truncate", 30), event("rollback", None)), open_task=True)
    with qtbot.waitSignal(panel.request_wanted) as told:
        click(qtbot, panel, 1)
    assert told.args == [30]
    with qtbot.waitSignal(panel.request_wanted) as told:
        qtbot.keyClick(panel.list, Qt.Key.Key_Down)
        qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    assert told.args == [None]


@pytest.mark.parametrize(
    ("kind", "give", "none", "empty"),
    [
        (EventsPanel, "set_events", "Open a task", "Nothing changed the context"),
        (CheckpointsPanel, "set_checkpoints", "Open a task", "no checkpoints"),
        (FindingsPanel, "set_findings", "Open a task", "Nothing odd"),
    ],
)
def test_empty_panels_teach(make, kind, give, none, empty):
    panel = make(kind)
    assert panel.empty.sentence.startswith(none)
    getattr(panel, give)((), open_task=True)
    assert empty in panel.empty.sentence
    assert panel.stack.currentWidget() is panel.empty


def test_rolling_back_starts_at_the_highlighted_point(make, qtbot):
    panel = make(CheckpointsPanel)
    points = tuple(checkpoint(number, f"p{number}") for number in range(3))
    panel.set_checkpoints(points, open_task=True)
    assert not panel._back.isEnabled()
    assert panel._back.toolTip() == "Highlight a point first."
    with qtbot.waitSignal(panel.request_wanted) as told:
        click(qtbot, panel, 0)
    assert told.args == [2]
    with qtbot.waitSignal(panel.rollback_wanted) as told:
        panel._back.click()
    assert told.args == [points[2]]


def test_a_refusal_disables_and_says_why(make, qtbot):
    panel = make(CheckpointsPanel)
    panel.set_checkpoints((checkpoint(1),), open_task=True)
    click(qtbot, panel, 0)
    assert panel._back.isEnabled()
    panel.set_refusal("Another change is being written.")
    assert not panel._back.isEnabled()
    assert panel._back.toolTip() == "Another change is being written."
    panel.set_refusal("")
    assert panel._back.isEnabled()


def test_a_growing_task_keeps_the_highlight(make, qtbot):
    panel = make(CheckpointsPanel)
    points = tuple(checkpoint(number, f"p{number}") for number in range(5))
    panel.set_checkpoints(points[:3], open_task=True)
    click(qtbot, panel, 1)
    panel.set_checkpoints(points, open_task=True)
    assert panel.list.currentIndex().data() == "p1"
    assert panel._back.isEnabled()


def test_other_entries_are_counted_and_shown_on_demand(make):
    panel = make(CheckpointsPanel)
    panel.set_checkpoints((checkpoint(0, "typed", CheckpointKind.MESSAGE),), open_task=True)
    assert panel.empty.sentence == "This task has no checkpoints. 1 other entry can be shown."
    assert panel._everything.isEnabled()
    panel._everything.click()
    assert panel.model.rowCount() == 1
    assert panel.stack.currentWidget() is panel.list
    panel.set_checkpoints((), open_task=True)
    assert panel.stack.currentWidget() is panel.empty


def test_a_finding_leads_to_its_place_and_can_be_copied(make, qtbot):
    panel = make(FindingsPanel)
    one = Finding("a", Severity.WARNING, "first", message=7)
    two = Finding("b", Severity.ERROR, "second \ud83d", request=3)
    panel.set_findings((one, two), open_task=True)
    with qtbot.waitSignal(panel.copy_wanted) as told:
        panel._copy.click()
    assert told.args == ["error: second \ufffd\ncode: b\n\nwarning: first\ncode: a"]
    with qtbot.waitSignal(panel.message_wanted) as told:
        click(qtbot, panel, 1)
    assert told.args == [7]
    with qtbot.waitSignal(panel.request_wanted) as told:
        click(qtbot, panel, 0)
    assert told.args == [3]
    with qtbot.waitSignal(panel.copy_wanted) as told:
        panel._copy.click()
    assert told.args == ["error: second \ufffd\ncode: b"]


def test_rows_are_painted_with_their_icons(make):
    panel = make(EventsPanel)
    blank = panel.grab().toImage()
    panel.set_events((event("truncate", 30),), open_task=True)
    assert panel.grab().toImage() != blank
