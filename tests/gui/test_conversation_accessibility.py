"""The conversation for screen readers: items with names, places and states; and that nothing is left behind."""

import gc
import weakref
from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QAccessible

from ctxviewer.domain.projection import Cut
from ctxviewer.models.conversation import ConversationModel
from ctxviewer.views.conversation import ConversationView, accessibility
from helpers.conversation import bench
from helpers.talk import talk

Text = QAccessible.Text


def names(interface):
    return [interface.child(index).text(Text.Name) for index in range(interface.childCount())]


def test_items_are_named(qtbot):
    shown = bench(qtbot, "u a! [u a u a u! a u] a | u", request=30, since=30)
    interface = QAccessible.queryAccessibleInterface(shown.view)
    assert interface.role() is QAccessible.Role.List
    assert interface.text(Text.Name) == "Conversation"
    assert names(interface) == [
        "message 0, user",
        "message 1, assistant, rewritten: truncation notice",
        "2–8 not sent since request 31 · 7 messages",
        "message 9, assistant",
        "10 later than request 31 · 1 message",
        "message 10, user, later",
    ]
    shown.view.fold_all(False)
    assert interface.childCount() == 13
    assert names(interface)[7] == "message 6, user, rewritten: truncation notice, not sent"


def test_items_say_more_when_asked(qtbot):
    shown = bench(qtbot, "u a", texts={0: "first\nsecond \x1b[0m"})
    item = QAccessible.queryAccessibleInterface(shown.view).child(0)
    assert item.role() is QAccessible.Role.ListItem
    assert item.text(Text.Description) == "Not counted yet. first second [ESC][0m"
    assert item.text(Text.Value) == "first\nsecond [ESC][0m"
    assert item.text(Text.Help) == ""
    assert item.childCount() == 0
    assert item.child(0) is None


def test_items_have_places_and_states(qtbot):
    shown = bench(qtbot, "u a [u a u a u a u a] u a", repeat=1)
    interface = QAccessible.queryAccessibleInterface(shown.view)
    first, line = interface.child(0), interface.child(2)
    viewport = shown.view.viewport()
    assert first.rect().topLeft() == viewport.mapToGlobal(viewport.rect().topLeft())
    assert first.rect().width() == viewport.width()
    assert line.state().collapsed
    assert line.state().expandable
    assert interface.childAt(first.rect().center().x(), first.rect().center().y()) is first
    assert interface.childAt(line.rect().center().x(), line.rect().center().y()) is line
    assert interface.indexOfChild(line) == 2
    shown.view.choose(2, lead=True)
    assert line.state().selected
    assert not first.state().selected
    shown.view.fold_all(False)
    assert line.state().expanded
    shown.sheet.scroll_to_end()
    assert first.state().offscreen
    assert first.rect().isEmpty()


def test_an_item_that_goes_is_invalid(qtbot):
    shown = bench(qtbot, "u a [u a] u a")
    interface = QAccessible.queryAccessibleInterface(shown.view)
    item = interface.child(3)
    assert item.isValid()
    shown.view.fold_all(True)
    assert not item.isValid()
    assert item.text(Text.Name) == ""
    assert item.state().invalid
    assert interface.indexOfChild(item) == -1
    assert interface.child(99) is None
    shown.model.set_timeline(talk("u", task_id="t2"))
    assert names(QAccessible.queryAccessibleInterface(shown.view)) == ["message 0, user"]


def test_the_current_item_is_told(qtbot, monkeypatch):
    shown = bench(qtbot, "u a [u a u a u a u a] u a")
    told = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: told.append((event.type(), event.child())))
    shown.view.choose(1)
    shown.view.choose(2, lead=True)
    shown.view.choose(11)
    assert told == [(QAccessible.Event.Focus, 1), (QAccessible.Event.Focus, 2), (QAccessible.Event.Focus, 4)]
    shown.view.activateWindow()
    shown.view.setFocus()
    qtbot.waitUntil(shown.view.hasFocus)
    interface = QAccessible.queryAccessibleInterface(shown.view)
    assert interface.focusChild() is interface.child(4)


@pytest.mark.parametrize("closed", [True, False])
def test_views_can_be_opened_and_closed_again_and_again(qapp, closed):
    gone, before = [], set(accessibility._lists)
    for _ in range(5):
        made = talk("u a [u a u] u a")
        model = ConversationModel()
        model.set_timeline(made)
        model.set_projection(made.shown)
        view = ConversationView()
        view.set_model(model)
        view.show()
        view.viewport().repaint()
        items = [QAccessible.queryAccessibleInterface(view).child(index) for index in range(6)]
        assert all(item.text(Text.Name) for item in items)
        model.set_projection(replace(made.shown, resume=2, cuts=(Cut(2, 1, 0),)))
        view.find("words")
        gone.append(weakref.ref(view))
        if closed:
            view.close()
        view.deleteLater()
        del view, items, model, made
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
    assert [ref() for ref in gone] == [None] * 5
    if closed:
        assert set(accessibility._lists) <= before
