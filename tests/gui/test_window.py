"""The window as a thing: layout, focus, names, scale, closing, and that nothing is left behind."""

import gc
import itertools
import threading
import time
import weakref
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDockWidget,
    QLineEdit,
    QTabBar,
    QToolButton,
    QWidget,
)

from ctxviewer import app, picture
from ctxviewer.services import sources
from ctxviewer.views import theme
from ctxviewer.views.crash_reporter import CrashReporter
from ctxviewer.views.main_window import AREAS, GROUPS
from helpers.desks import NoWatcher


@pytest.mark.parametrize("threads", [False, True])
def test_five_windows_open_close_and_die(make_desk, agent, qapp, qtbot, threads, tmp_path):
    theme.current()
    before = threading.active_count()
    dead = []
    for _ in range(5):
        desk = app.Desk(
            app.Start(tmp_path / "own2", (agent.directory,)), look=sources.look_at_given, watcher=_watcher(threads)
        )
        desk.show()
        qtbot.waitUntil(lambda desk=desk: desk.session.snapshot is not None)
        desk.session.select_request(3)
        desk.actions["act.truncate-half"].trigger()
        qtbot.waitUntil(lambda desk=desk: desk.front.preview_dialog is not None)
        desk.front.preview_dialog.reject()
        qapp.processEvents()
        desk.window.close()
        assert threading.active_count() <= before, threading.enumerate()
        parts = (desk, desk.window, desk.window.stage.conversation, desk.session, desk.front, desk.window.panels.usage)
        dead += [weakref.ref(part) for part in parts]
        desk.window.deleteLater()
        desk.deleteLater()
        del desk, parts
        for _turn in range(3):
            qapp.sendPostedEvents(None, 52)  # DeferredDelete
            qapp.processEvents()
            gc.collect()
    assert [ref() for ref in dead if ref() is not None] == []


def _watcher(real):
    return app.make_watcher if real else NoWatcher


def test_closing_twice_is_harmless(desk):
    desk.window.close()
    desk.close()
    desk.close()


def test_panels_can_be_hidden_and_restored_and_the_layout_is_remembered(make_desk, desk, qapp):
    qapp.processEvents()
    assert desk.actions["view.panel-usage"].isChecked()
    desk.actions["view.panel-usage"].trigger()
    qapp.processEvents()
    assert desk.window.dock("usage").isHidden()
    assert not desk.actions["view.panel-usage"].isChecked()
    desk.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, desk.window.dock("tasks"))
    desk.window.resize(1111, 777)
    qapp.processEvents()
    desk.window.close()
    later = make_desk()
    assert later.window.dock("usage").isHidden()
    assert later.window.dockWidgetArea(later.window.dock("tasks")) == Qt.DockWidgetArea.RightDockWidgetArea
    size = later.window.size()
    later.actions["view.reset-layout"].trigger()
    qapp.processEvents()
    assert later.window.size() == size, "panels find room in the window as it is"
    areas = {name: later.window.dockWidgetArea(later.window.dock(name)) for name in AREAS}
    assert areas == AREAS
    assert not any(later.window.dock(name).isHidden() for name in AREAS)


def test_a_panel_behind_another_is_brought_to_the_front(desk, qapp):
    panel = desk.window.panels.history
    assert panel.visibleRegion().isEmpty()
    desk.actions["view.panel-history"].trigger()
    qapp.processEvents()
    assert not panel.visibleRegion().isEmpty()


def test_panels_that_share_a_place_have_no_second_title(desk, qapp):
    qapp.processEvents()
    bare = {name for name in AREAS if desk.window.dock(name).titleBarWidget() is not None}
    assert bare == {name for group in GROUPS if len(group) > 1 for name in group}
    desk.window.dock("history").setFloating(True)
    qapp.processEvents()
    assert desk.window.dock("history").titleBarWidget() is None


def test_every_row_of_tabs_on_the_window_names_a_group_of_panels(make_desk, agent, qapp, qtbot):
    desk = make_desk(agent.directory, threads=True)
    qtbot.waitUntil(lambda: desk.session.snapshot is not None)
    window = desk.window
    qtbot.waitUntil(lambda: not desk.runner.jobs)
    window.resize(1440, 900)
    QTest.qWait(600)  # Qt rearranges the docks in its own time

    def fit():
        options = Qt.FindChildOption.FindDirectChildrenOnly
        bars = [bar for bar in window.findChildren(QTabBar, options=options) if bar.isVisible()]
        shown = sorted(sorted(bar.tabText(place) for place in range(bar.count())) for bar in bars)
        docks = [dock for dock in window.findChildren(QDockWidget) if window.tabifiedDockWidgets(dock)]
        groups = {tuple(sorted(d.windowTitle() for d in (dock, *window.tabifiedDockWidgets(dock)))) for dock in docks}
        assert shown == sorted(list(group) for group in groups)

    qtbot.waitUntil(fit)


def test_f6_goes_round_the_panes_in_reading_order(desk, qapp):
    desk.window.activateWindow()
    desk.window.task_list.tree.setFocus()
    seen = []
    for _ in range(5):
        QTest.keyClick(desk.window, Qt.Key.Key_F6)
        qapp.processEvents()
        seen.append(_pane_of(desk, QApplication.focusWidget()))
    assert seen == ["conversation", "details", "events", "usage", "tasks"]
    QTest.keyClick(desk.window, Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert _pane_of(desk, QApplication.focusWidget()) == "usage"


def _pane_of(desk, focus):
    panes = {name: desk.window.panels.widget(name) for name in AREAS} | {"conversation": desk.window.stage}
    return next(name for name, pane in panes.items() if pane is focus or pane.isAncestorOf(focus))


def test_tab_reaches_every_part_of_the_toolbar_in_order(desk, qapp):
    bar = desk.window.bar
    reachable = [
        button
        for button in bar.findChildren(QAbstractButton)
        if button.focusPolicy() & Qt.FocusPolicy.TabFocus and button.isVisible() and button.isEnabled()
    ]
    assert len(reachable) >= 10
    order, current = [], bar.findChildren(QAbstractButton)[0]
    for _ in range(400):
        current = current.nextInFocusChain()
        if current in reachable and current not in order:
            order.append(current)
    places = [button.mapTo(bar, button.rect().topLeft()).x() for button in order]
    start = places.index(min(places))
    turned = places[start:] + places[:start]
    assert turned == sorted(turned)


def test_every_control_has_a_name(desk, qapp):
    desk.actions["edit.find"].trigger()
    desk.actions["act.truncate-half"].trigger()
    desk.actions["app.preferences"].trigger()
    qapp.processEvents()
    kinds = (QAbstractButton, QLineEdit, QAbstractItemView, QComboBox, QAbstractSpinBox)
    for root in (desk.window, desk.front.preview_dialog, desk.front.dialog):
        for kind in kinds:
            for widget in root.findChildren(kind):
                if widget.objectName().startswith("qt_") or _is_inner(widget) or not widget.isVisibleTo(root):
                    continue
                name = widget.accessibleName() or (widget.text() if isinstance(widget, QAbstractButton) else "")
                assert name.strip(), (type(widget).__name__, type(widget.parent()).__name__, widget.objectName())


def _is_inner(widget: QWidget) -> bool:
    """Parts that Qt makes for itself: the field of a spin box, the list of a combo box, arrows of a tab bar."""
    parent = widget.parent()
    while parent is not None:
        if isinstance(parent, QComboBox | QAbstractSpinBox | QLineEdit):
            return True
        if type(parent).__name__ in {"QTabBar", "QDockWidget", "QComboBoxPrivateContainer", "QPlotArea"}:
            return True
        parent = parent.parent()
    return False


def test_stage_keys_are_not_active_twice(desk):
    for spec_keys in ("Left", "Esc"):
        shortcuts = [
            shortcut
            for widget in (desk.window.stage, desk.window.panels.usage, desk.window.bar.stepper)
            for shortcut in widget.findChildren(QShortcut, options=Qt.FindChildOption.FindDirectChildrenOnly)
            if shortcut.key() == QKeySequence(spec_keys)
        ]
        assert len(shortcuts) == 3
        assert all(s.context() == Qt.ShortcutContext.WidgetWithChildrenShortcut for s in shortcuts)


def test_rows_of_the_task_list_grow_with_the_words(desk):
    """Their heights are measured once a look, for ten thousand rows."""
    tree = desk.window.task_list.tree
    group = tree.model().index(0, 0)
    rows = (group, tree.model().index(0, 0, group))
    before = [tree.visualRect(index).height() for index in rows]
    desk.actions["view.zoom-in"].trigger()
    desk.actions["view.zoom-in"].trigger()
    after = [tree.visualRect(index).height() for index in rows]
    desk.actions["view.zoom-reset"].trigger()
    assert [tree.visualRect(index).height() for index in rows] == before
    assert before[0] < before[1]
    assert all(large > small for small, large in zip(before, after, strict=True))


def test_scale_keys_change_the_size_of_words_and_are_remembered(desk, make_desk, qapp):
    size = QApplication.font().pixelSize()
    QTest.keyClick(desk.window, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(desk.window, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    assert theme.current().scale == pytest.approx(1.2)
    assert QApplication.font().pixelSize() > size
    QTest.keyClick(desk.window, Qt.Key.Key_Minus, Qt.KeyboardModifier.ControlModifier)
    desk.window.close()
    later = make_desk()
    assert theme.current().scale == pytest.approx(1.1)
    QTest.keyClick(later.window, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
    assert theme.current().scale == 1.0
    assert QApplication.font().pixelSize() == size


def test_long_work_is_shown_with_a_number_and_can_be_cancelled(make_desk, qtbot):
    desk = make_desk(threads=True)
    release = threading.Event()

    def work(token):
        for number in itertools.cycle(range(1, 10_000)):  # it ends only when it is cancelled
            token.report(number, 10_000)
            release.wait(0.002)

    failed = []
    desk.runner.read(work, done=print, failed=failed.append, title="Counting stars")
    strip = desk.window.progress
    assert strip.words == ""
    qtbot.waitUntil(lambda: "Counting stars · " in strip.words and "of 10,000" in strip.words)
    strip.cancel_button.click()
    qtbot.waitUntil(lambda: strip.words == "")
    assert "cancelled" in failed[0].sentence


def test_bugs_are_shown_once_with_a_report_that_has_no_words_of_a_task(desk, qapp, caplog):
    reporter = CrashReporter(desk.window)

    def fail():
        raise ValueError("secret words of the conversation")

    for _ in range(5):
        try:
            fail()
        except ValueError as error:
            reporter.handle(type(error), error, error.__traceback__)
    qapp.processEvents()
    assert reporter.counts == (5,)
    assert reporter.dialog is not None
    assert "builtins.ValueError" in reporter.dialog.report
    assert "test_window.py" in reporter.dialog.report
    assert "secret" not in reporter.dialog.report
    assert len([record for record in caplog.records if "a bug at" in record.message]) == 1
    reporter.dialog.copy_wanted.emit(reporter.dialog.report)
    assert "ValueError" in QApplication.clipboard().text()
    reporter.dialog.close()


def test_a_bug_on_another_thread_is_shown_too(desk, qtbot):
    reporter = CrashReporter(desk.window)

    def fail():
        try:
            {}["x"]
        except KeyError as error:
            reporter.handle(type(error), error, error.__traceback__)

    worker = threading.Thread(target=fail)
    worker.start()
    worker.join()
    qtbot.waitUntil(lambda: reporter.dialog is not None)
    reporter.dialog.close()


def test_a_picture_is_drawn_without_a_screen(qapp, agent, tmp_path):
    out = tmp_path / "window.png"
    start = app.Start(tmp_path / "own", (agent.directory,))
    assert picture.take_picture(start, picture.Shot(out, (900, 600), request=3), patience_s=300) == ""
    assert out.read_bytes().startswith(b"\x89PNG")
    nowhere = picture.Shot(tmp_path / "no folder" / "window.png", (900, 600))
    reason = picture.take_picture(start, nowhere, patience_s=300)
    assert reason.endswith("window.png cannot be written: No such file or directory.")
    asked = time.monotonic()
    start = app.Start(tmp_path / "own", (tmp_path / "nothing",))
    reason = picture.take_picture(start, picture.Shot(out), patience_s=300)
    assert "no file or folder" in reason.lower()
    assert time.monotonic() - asked < 100, "a refusal is told at once, not when patience ends"


def test_reading_never_writes(desk, agent):
    before = {path: path.stat().st_mtime_ns for path in Path(agent.root).rglob("*")}
    for request in (0, 5, 11, None):
        desk.session.select_request(request)
    desk.actions["act.optimize"].trigger()
    desk.front.preview_dialog.reject()
    assert {path: path.stat().st_mtime_ns for path in Path(agent.root).rglob("*")} == before


def test_actions_that_find_no_room_wait_behind_a_sign(desk, qapp):
    desk.window.resize(760, 600)
    for _ in range(4):
        desk.actions["view.zoom-in"].trigger()
    qapp.processEvents()
    more = desk.window.bar.findChild(QToolButton, "qt_toolbar_ext_button")
    assert more.isVisible()
    image = more.grab().toImage()
    seen = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert len(seen) > 2, "an empty button is not found"
    desk.actions["view.zoom-reset"].trigger()


@pytest.mark.parametrize("shift", [None, -7])
def test_of_two_rows_of_tabs_for_one_group_the_one_where_panels_stand_is_seen(desk, qapp, shift):
    """Qt leaves such a row behind when it restores a layout."""
    qapp.processEvents()
    options = Qt.FindChildOption.FindDirectChildrenOnly
    real = [bar for bar in desk.window.findChildren(QTabBar, options=options) if bar.isVisible()]
    assert len(real) == len(GROUPS)
    left = QTabBar(desk.window)
    for place in range(real[0].count()):
        left.addTab(real[0].tabText(place))
    left.move(10 if shift is None else real[0].x() + shift, 300)
    left.show()
    desk.window._title_docks()
    assert not left.isVisible()
    assert all(bar.isVisible() for bar in real)
