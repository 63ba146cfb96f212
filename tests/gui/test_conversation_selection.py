"""Selecting and copying across messages with mouse and keys; what is copied is the raw text of what is shown."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QGuiApplication, QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip

from ctxviewer.domain.view import TextMode
from ctxviewer.models.segments import join_texts
from ctxviewer.models.visible import for_clipboard
from ctxviewer.views.conversation import copying
from ctxviewer.views.conversation.rows import LEAD, Kind
from ctxviewer.views.conversation.selection import Extent, Selection, Spot, Unit, word_at
from helpers.conversation import bench, check_layout

NO = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
CTRL = Qt.KeyboardModifier.ControlModifier
Key = Qt.Key
LEFT = Qt.MouseButton.LeftButton


def text_point(shown, row, column, line=0, nth=0):
    """A point just right of the beginning of a character in a line of a row's text."""
    metrics = shown.sheet.metrics
    placed = [p for p in shown.sheet.placed if p.row == row and p.element >= 0]
    placed = [p for p in placed if shown.sheet.row_layout(row).elements[p.element].kind is Kind.TEXT][nth]
    piece = shown.sheet.piece(row, placed.element)
    at = piece.layout.lineAt(line)
    x = metrics.text_x + round(at.cursorToX(at.textStart() + column)[0]) + 1
    return QPoint(x, placed.y + round(at.y()) + 5)


def mouse(shown, kind, point, buttons=LEFT, modifiers=NO, at=0):
    """An event that happened `at` so many milliseconds."""
    button = LEFT if kind is not QEvent.Type.MouseMove else Qt.MouseButton.NoButton
    place = QPointF(point)
    event = QMouseEvent(kind, place, shown.view.viewport().mapToGlobal(place), button, buttons, modifiers)
    event.setTimestamp(at)
    QApplication.sendEvent(shown.view.viewport(), event)


def drag(shown, start, *points):
    mouse(shown, QEvent.Type.MouseButtonPress, start)
    for point in points:
        mouse(shown, QEvent.Type.MouseMove, point)
    mouse(shown, QEvent.Type.MouseButtonRelease, points[-1], Qt.MouseButton.NoButton)
    shown.paint()


def clipboard():
    return QGuiApplication.clipboard().text()


# -- mouse


def test_dragging_selects_across_messages(qtbot):
    shown = bench(qtbot, "u a u", texts={0: "first words", 1: "second\nlines of\ntext", 2: "third words"})
    with qtbot.waitSignal(shown.view.selection_changed) as told:
        drag(shown, text_point(shown, 0, 6), text_point(shown, 1, 3), text_point(shown, 2, 5))
    assert told.args == [False], "pressing selects nothing yet"
    assert shown.view.selected_text() == "words\nsecond\nlines of\ntext\nthird"
    shown.view.copy()
    assert clipboard() == "words\nsecond\nlines of\ntext\nthird"
    drag(shown, text_point(shown, 2, 5), text_point(shown, 1, 4, line=1))
    assert shown.view.selected_text() == "s of\ntext\nthird"


def test_a_click_chooses_and_selects_nothing(qtbot):
    shown = bench(qtbot, "u a u")
    with qtbot.waitSignal(shown.view.message_selected) as told:
        shown.click(text_point(shown, 1, 3))
    assert told.args == [1]
    assert shown.view.selected_text() == ""
    with qtbot.assertNotEmitted(shown.view.message_selected):
        shown.click(text_point(shown, 1, 5))


def test_shift_click_extends(qtbot):
    shown = bench(qtbot, "u a u", texts={0: "first words", 2: "third words"})
    shown.click(text_point(shown, 0, 6))
    shown.click(text_point(shown, 2, 5), SHIFT)
    assert shown.view.selected_text() == "words\nwords of message 1\nthird"
    shown.click(text_point(shown, 0, 8), SHIFT)
    assert shown.view.selected_text() == "wo"


def test_double_click_selects_a_word_and_drags_on_by_words(qtbot):
    shown = bench(qtbot, "u a", texts={0: "some_name = other.value(1)"})
    place = text_point(shown, 0, 3)
    QTest.mouseClick(shown.view.viewport(), LEFT, NO, place)
    QTest.mouseDClick(shown.view.viewport(), LEFT, NO, place)
    assert shown.view.selected_text() == "some_name"
    mouse(shown, QEvent.Type.MouseButtonRelease, place, Qt.MouseButton.NoButton)
    place = text_point(shown, 0, 14)
    mouse(shown, QEvent.Type.MouseButtonPress, place)
    mouse(shown, QEvent.Type.MouseButtonRelease, place, Qt.MouseButton.NoButton)
    mouse(shown, QEvent.Type.MouseButtonDblClick, place)
    mouse(shown, QEvent.Type.MouseMove, text_point(shown, 0, 19))
    mouse(shown, QEvent.Type.MouseButtonRelease, place, Qt.MouseButton.NoButton)
    assert shown.view.selected_text() == "other.value"


def test_a_third_click_selects_the_block(qtbot):
    shown = bench(qtbot, "u a", texts={0: "one two\nthree"})
    place = text_point(shown, 0, 1)
    for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonPress):
        mouse(shown, kind, place)
        mouse(shown, QEvent.Type.MouseButtonRelease, place, Qt.MouseButton.NoButton)
    assert shown.view.selected_text() == "one two\nthree"


def press_three_times(shown, place, pause, monkeypatch):
    """On a machine for which every event is work for a second."""
    late = itertools.count(1.0)
    monkeypatch.setattr("time.monotonic", lambda: next(late))
    kinds = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonPress)
    for number, kind in enumerate(kinds):
        mouse(shown, kind, place, at=10_000 + number * pause)
        mouse(shown, QEvent.Type.MouseButtonRelease, place, Qt.MouseButton.NoButton, at=10_001 + number * pause)


def test_clicks_count_by_when_they_were_made_not_by_when_they_are_handled(qtbot, monkeypatch):
    shown = bench(qtbot, "u a", texts={0: "one two\nthree"})
    with monkeypatch.context() as patch:
        press_three_times(shown, text_point(shown, 0, 1), QApplication.doubleClickInterval() - 50, patch)
    assert shown.view.selected_text() == "one two\nthree"
    with monkeypatch.context() as patch:
        press_three_times(shown, text_point(shown, 0, 5), QApplication.doubleClickInterval() + 50, patch)
    assert shown.view.selected_text() == ""


def test_dragging_beyond_the_edge_scrolls_and_selects_on(qtbot):
    shown = bench(qtbot, "u a", repeat=40)
    mouse(shown, QEvent.Type.MouseButtonPress, text_point(shown, 1, 0))
    mouse(shown, QEvent.Type.MouseMove, QPoint(200, shown.sheet.height + 60))
    qtbot.waitUntil(lambda: shown.sheet.scroll > 300)
    assert shown.view.selected_text().count("words of message") > 8
    mouse(shown, QEvent.Type.MouseMove, QPoint(200, -50))
    qtbot.waitUntil(lambda: shown.sheet.scroll == 0)
    mouse(shown, QEvent.Type.MouseButtonRelease, QPoint(200, -50), Qt.MouseButton.NoButton)
    scroll = shown.sheet.scroll
    QTest.qWait(50)
    assert shown.sheet.scroll == scroll
    check_layout(shown.sheet)


def test_a_click_on_a_label_switches_the_text(qtbot):
    shown = bench(qtbot, "u a! u", texts={1: "old words"})
    for expected in ("old words", "old words\nnew words of message 1", "new words of message 1"):
        shown.click(shown.label_point(1))
        assert shown.model.body(1).text() == expected
    assert shown.view.current_message == 1


def test_a_double_click_on_a_header_closes_and_opens(qtbot):
    shown = bench(qtbot, "u a u")
    place = shown.point(1, x=300)
    for is_open in (False, True):
        QTest.mouseClick(shown.view.viewport(), LEFT, NO, place)
        QTest.mouseDClick(shown.view.viewport(), LEFT, NO, place)
        assert shown.sheet.openness.is_open(1) is is_open


def test_pressing_on_a_link_and_dragging_away_selects_instead(qtbot):
    shown = bench(qtbot, "u a", texts={0: "x\n" * 40})
    drag(shown, shown.point(0, Kind.MORE), text_point(shown, 1, 4))
    assert shown.sheet.openness.expanded(0) == frozenset()
    assert shown.view.selected_text() == "word"


# -- what is copied


def test_select_all_is_everything_that_is_shown(qtbot):
    long = "".join(f"line {n}\n" for n in range(900))
    shown = bench(
        qtbot,
        "u a! [u a u a u a u] [u a] u c t+ | a",
        texts={0: long, 11: "cut\ud83d off\x00\r\nend"},
        request=8,
        since=4,
    )
    shown.view.select_all()
    texts = [shown.model.body(row).text() for row in (0, 1)]
    texts.append("[2–8 not sent since request 5 · 7 messages]")
    texts += [shown.model.body(row).text() for row in range(9, 15)]
    assert shown.view.selected_text() == join_texts(texts)
    assert long in shown.view.selected_text(), "also what is only previewed"
    shown.view.copy()
    assert clipboard() == for_clipboard(join_texts(texts))
    assert "cut\ufffd off\x00\r\nend" in clipboard()


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text(alphabet="ab \n\r\t\x00\u202e\ud83d😀é", max_size=30), min_size=1, max_size=8),
    st.sampled_from(list(TextMode)),
    st.booleans(),
)
def test_select_all_is_the_shown_texts_for_any_texts(qtbot, texts, mode, folded):
    shown = bench(qtbot, "u a! [u a u! a] u+ a", texts=dict(enumerate(texts)))
    shown.model.set_text_mode(mode)
    shown.view.fold_all(folded)
    shown.view.select_all()
    parts = []
    for row in range(8):
        if folded and 2 <= row <= 5:
            parts += ["[2–5 not sent · 4 messages]"] if row == 2 else []
        else:
            parts += [part.text for part in shown.model.body(row).sections]
    assert shown.view.selected_text() == join_texts(parts)
    shown.view.close()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="ab \n\r\x00\u202e\ud83d😀", min_size=1, max_size=30), st.data())
def test_any_part_of_a_text_is_copied_raw(qtbot, text, data):
    shown = bench(qtbot, "u a", texts={1: text})
    low, high = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    shown.view.selection.begin(Extent(Spot(1, 0, low), Spot(1, 0, low)), Unit.CHARACTER)
    shown.view.selection.move_to(Extent(Spot(1, 0, high), Spot(1, 0, high)))
    shown.paint()
    assert shown.view.selected_text() == text[low:high]
    shown.view.close()


def test_copying_without_a_selection_takes_the_current_message(qtbot):
    shown = bench(qtbot, "u a u")
    QGuiApplication.clipboard().setText("before")
    shown.view.copy()
    assert clipboard() == "before"
    shown.view.set_current_message(1)
    shown.key(Key.Key_C, CTRL)
    assert clipboard() == "words of message 1"


def test_much_is_copied_in_slices_and_can_be_stopped(qtbot, monkeypatch):
    monkeypatch.setattr(copying, "AT_ONCE_SECONDS", 0)
    monkeypatch.setattr(copying, "SLICE_SECONDS", 0)
    shown = bench(qtbot, "u a", repeat=30)
    shown.view.select_all()
    states = []
    shown.view.copy_progressed.connect(states.append)
    QGuiApplication.clipboard().setText("before")
    shown.view.copy()
    assert clipboard() == "before"
    qtbot.waitUntil(lambda: bool(states) and states[-1].done)
    assert clipboard() == shown.view.selected_text()
    assert [state.share for state in states] == sorted(state.share for state in states)
    QGuiApplication.clipboard().setText("before")
    shown.view.copy()
    assert shown.view.escape()
    assert states[-1].cancelled
    QTest.qWait(30)
    assert clipboard() == "before"
    assert shown.view.escape(), "now the selection goes"
    assert not shown.view.escape()


def test_a_selection_goes_when_its_text_changes(qtbot):
    shown = bench(qtbot, "u a! u")
    shown.view.select_all()
    shown.model.set_text_mode(TextMode.AS_STORED)
    assert shown.view.selection.is_empty


def test_a_selection_stays_when_the_task_grows(qtbot):
    shown = bench(qtbot, "u a u a")
    drag(shown, text_point(shown, 0, 0), text_point(shown, 1, 5))
    grown = shown.talk.grown("more")
    shown.model.set_timeline(grown, same_task=True, grown=True)
    shown.show(grown.shown)
    assert shown.view.selected_text() == "words of message 0\nwords"


# -- keys


def test_keys_go_from_item_to_item(qtbot):
    shown = bench(qtbot, "u a [u a u a u a u a] u a", height=250)
    told = []
    shown.view.message_selected.connect(told.append)
    for _ in range(5):
        shown.key(Key.Key_Down)
    assert told == [0, 1, 10, 11]
    assert shown.view.current_message == 11
    assert 11 in shown.items()
    shown.key(Key.Key_Up)
    shown.key(Key.Key_Up)
    assert shown.view.current_item == (2, True)
    shown.key(Key.Key_Return)
    assert not shown.sheet.geometry.is_folded(4)
    shown.key(Key.Key_Down)
    assert told[-1] == 2
    shown.key(Key.Key_End, CTRL)
    assert (told[-1], shown.sheet.at_end) == (11, True)
    shown.key(Key.Key_Home, CTRL)
    assert (told[-1], shown.sheet.scroll) == (0, 0)
    check_layout(shown.sheet)


def test_pages_and_lines(qtbot):
    shown = bench(qtbot, "u a", repeat=60)
    shown.key(Key.Key_PageDown)
    assert 0 < shown.sheet.scroll < shown.sheet.height
    assert shown.view.current_message in shown.items()
    shown.key(Key.Key_Space)
    page = shown.sheet.scroll
    shown.key(Key.Key_Space, SHIFT)
    shown.key(Key.Key_PageUp)
    assert shown.sheet.scroll == 0
    shown.key(Key.Key_Down, CTRL)
    assert shown.sheet.scroll == shown.sheet.metrics.line
    for _ in range(40):
        shown.key(Key.Key_PageDown)
    assert shown.sheet.at_end
    assert shown.view.current_message == 119
    assert page > 0


def test_keys_go_to_changes(qtbot):
    shown = bench(qtbot, "u a! [u a u a u a u a] u a u a u a u! a u+ a", height=200)
    seen = []
    for _ in range(5):
        shown.key(Key.Key_N)
        seen.append(shown.view.current_item)
    assert seen == [(1, False), (2, True), (16, False), (18, False), (18, False)]
    assert 18 in shown.items()
    shown.key(Key.Key_P)
    assert shown.view.current_message == 16


def test_enter_shows_all_and_less_t_switches(qtbot):
    shown = bench(qtbot, "u a!", texts={0: "x\n" * 99, 1: "old"})
    shown.view.choose(0)
    shown.key(Key.Key_Return)
    assert shown.sheet.openness.expanded(0) == {0}
    shown.key(Key.Key_Enter)
    assert shown.sheet.openness.expanded(0) == frozenset()
    shown.view.choose(1)
    shown.key(Key.Key_T)
    assert shown.model.row_mode(1) is TextMode.AS_STORED


def test_shift_and_arrows_select_messages(qtbot):
    shown = bench(qtbot, "u a u a u")
    shown.view.choose(1)
    shown.key(Key.Key_Down, SHIFT)
    assert shown.view.selected_text() == "words of message 1"
    shown.key(Key.Key_Down, SHIFT)
    shown.key(Key.Key_Down, SHIFT)
    assert shown.view.selected_text().count("\n") == 2
    shown.key(Key.Key_Up, SHIFT)
    assert shown.view.selected_text() == "words of message 1\nwords of message 2"
    shown.key(Key.Key_A, CTRL)
    assert shown.view.selected_text().count("\n") == 4
    shown.key(Key.Key_Escape)
    assert shown.view.selected_text() == ""


def test_shift_and_arrows_move_the_end_of_a_text_selection(qtbot):
    shown = bench(qtbot, "u a", texts={0: "one two\r\nthree four\nfive", 1: "six"})
    drag(shown, text_point(shown, 0, 0), text_point(shown, 0, 3))
    shown.key(Key.Key_Right, SHIFT)
    assert shown.view.selected_text() == "one "
    shown.key(Key.Key_Right, SHIFT | CTRL)
    assert shown.view.selected_text() == "one two"
    shown.key(Key.Key_Right, SHIFT)
    assert shown.view.selected_text() == "one two\r\n"
    shown.key(Key.Key_Left, SHIFT)
    assert shown.view.selected_text() == "one two"
    shown.key(Key.Key_Left, SHIFT | CTRL)
    assert shown.view.selected_text() == "one "
    shown.key(Key.Key_Down, SHIFT)
    assert shown.view.selected_text() == "one two\r\nthre"
    shown.key(Key.Key_Down, SHIFT)
    shown.key(Key.Key_Down, SHIFT)
    assert shown.view.selected_text() == "one two\r\nthree four\nfive\nsix"
    shown.key(Key.Key_Up, SHIFT)
    shown.key(Key.Key_Up, SHIFT)
    assert shown.view.selected_text().startswith("one two\r\nthr")
    shown.key(Key.Key_End, SHIFT)
    assert shown.view.selected_text() == "one two\r\nthree four\nfive"


def test_keys_of_the_window_are_left_to_it(qtbot):
    shown = bench(qtbot, "u a u")
    for key, modifiers in (
        (Key.Key_Left, NO),
        (Key.Key_Right, NO),
        (Key.Key_Escape, NO),
        (Key.Key_F, CTRL),
        (Key.Key_Up, Qt.KeyboardModifier.AltModifier),
    ):
        ignored = []
        shown.view.keyPressEvent(event := _key_event(key, modifiers))
        ignored.append(event.isAccepted())
        assert ignored == [False], key


def _key_event(key, modifiers):
    return QKeyEvent(QEvent.Type.KeyPress, key, modifiers)


def test_tab_gives_the_first_item_the_focus(qtbot):
    shown = bench(qtbot, "u a u")
    QApplication.sendEvent(shown.view, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.MouseFocusReason))
    assert shown.view.current_item is None
    QApplication.sendEvent(shown.view, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))
    assert shown.view.current_message == 0


# -- menu and tips


def test_a_menu_is_asked_for_with_what_lies_under_the_mouse(qtbot):
    shown = bench(qtbot, "u c [u a u a u a u a] u a")
    asked = []
    shown.view.context_requested.connect(asked.append)

    def ask(point, reason=QContextMenuEvent.Reason.Mouse):
        event = QContextMenuEvent(reason, point, shown.view.viewport().mapToGlobal(point))
        QApplication.sendEvent(shown.view.viewport(), event)

    ask(shown.point(1, Kind.TEXT, nth=1))
    ask(shown.point(2, LEAD))
    ask(QPoint(0, 0), QContextMenuEvent.Reason.Keyboard)
    assert [(a.message, a.block, a.stretch_first, a.has_selection) for a in asked] == [
        (1, 1, None, False),
        (None, None, 2, False),
        (None, None, 2, False),
    ]
    assert shown.view.current_item == (2, True)


class Counts:
    def message(self, _number):
        return 12_345

    def message_as_sent(self, _number, _projection):
        return 12_345

    def stretch(self, _first, _last):
        return 61_000


def test_tips_say_numbers_in_full_and_where_they_come_from(qtbot, monkeypatch):
    shown = bench(qtbot, "u a! [u a u a u a u a] u a", since=30)
    shown.model.set_counts(Counts())
    shown.paint()
    tips = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, *_: tips.append(text))

    def tip(point):
        tips.clear()
        event = QHelpEvent(QEvent.Type.ToolTip, point, shown.view.viewport().mapToGlobal(point))
        QApplication.sendEvent(shown.view.viewport(), event)
        return tips[0] if tips else ""

    assert tip(shown.point(0, x=shown.sheet.metrics.width - 20)) == "12,345 tokens as sent, estimated"
    assert "rewritten: truncation notice" in tip(shown.label_point(1))
    assert "2–9 not sent since request 31 · 8 messages · 61.0k" in tip(shown.point(2, LEAD))
    assert "estimated" in tip(shown.point(2, LEAD))
    assert tip(shown.point(0, x=5)).startswith("Message 0, ")
    assert tip(shown.point(0, Kind.TEXT)) == ""


def test_the_cursor_shows_what_can_be_done(qtbot):
    shown = bench(qtbot, "u a! u", texts={0: "x\n" * 50})
    shapes = []
    for point in (shown.point(0, Kind.MORE), shown.point(1, Kind.TEXT), shown.label_point(1), shown.point(0, x=300)):
        mouse(shown, QEvent.Type.MouseMove, point, Qt.MouseButton.NoButton)
        shapes.append(shown.view.viewport().cursor().shape())
    shape = Qt.CursorShape
    assert shapes == [shape.PointingHandCursor, shape.IBeamCursor, shape.PointingHandCursor, shape.ArrowCursor]


# -- the selection itself


@pytest.mark.parametrize(
    ("text", "offset", "word"),
    [
        ("one two", 1, "one"),
        ("one two", 3, " "),
        ("a.b", 1, "."),
        ("naïve_x1 ", 4, "naïve_x1"),
        ("a\nb", 1, "\n"),
        ("ab", 2, ""),
    ],
)
def test_words(text, offset, word):
    low, high = word_at(text, offset)
    assert text[low:high] == word


def test_words_in_a_giant_line_are_looked_for_nearby():
    low, high = word_at("x" * 1_000_000, 500_000)
    assert high - low <= 2_000


def test_a_selection_knows_what_it_holds_of_a_piece():
    selection = Selection()
    assert selection.within(0, 0, 0, 10) is None
    selection.begin(Extent(Spot(1, 0, 5), Spot(1, 0, 5)), Unit.CHARACTER)
    assert selection.is_empty
    selection.move_to(Extent(Spot(3, 1, 2), Spot(3, 1, 2)))
    assert selection.within(1, 0, 0, 10) == (5, 10)
    assert selection.within(2, 7, 0, 10) == (0, 10)
    assert selection.within(3, 1, 0, 10) == (0, 2)
    assert selection.within(3, 1, 4, 10) is None
    assert selection.within(3, 2, 0, 10) is None
    selection.move_to(Extent(Spot(0, 0, 1), Spot(0, 0, 1)))
    assert selection.extent == Extent(Spot(0, 0, 1), Spot(1, 0, 5))
    assert selection.head == Spot(0, 0, 1)
