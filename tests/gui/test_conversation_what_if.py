"""What strategies leave out, make up and touch, as it is laid out, painted, read out and used."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible

from ctxviewer.domain.projection import Inserted
from ctxviewer.views import theme as theme_module
from ctxviewer.views.conversation.geometry import Fold, Geometry
from ctxviewer.views.conversation.leads import StripKind
from ctxviewer.views.conversation.painting import sticky_lead
from ctxviewer.views.conversation.rows import LEAD
from helpers.conversation import bench, check_layout

LONG = "\n".join(f"line {number} of a summary" for number in range(60))


def with_made_up(qtbot, picture, *rows, text="a short summary", height=500, **more):
    shown = bench(qtbot, picture, height=height)
    inserted = tuple(Inserted(row, "system", "Summary", text) for row in rows)
    shown.show(replace(shown.talk.shown, inserted=inserted, **more))
    return shown


def colors(image, rect):
    left, top, right, bottom = rect
    return {image.pixelColor(x, y).name() for x in range(left, right, 2) for y in range(top, bottom)}


def test_a_made_up_message_takes_room_above_its_row(qtbot):
    plain = bench(qtbot, "u a u a")
    shown = with_made_up(qtbot, "u a u a", 2)
    check_layout(shown.sheet)
    assert shown.items() == [0, 1, "2-", 2, 3]
    kinds = [strip.kind for strip in shown.sheet.leads.layout(2).strips]
    assert kinds == [StripKind.TITLE, StripKind.TEXT]
    assert shown.sheet.total > plain.sheet.total
    shown.show(shown.talk.shown)
    assert shown.sheet.total == plain.sheet.total
    assert shown.items() == [0, 1, 2, 3]


def test_it_is_drawn_apart_from_what_is_stored(qtbot):
    theme = theme_module.current()
    shown = with_made_up(qtbot, "u a u a", 2)
    placed = shown.sheet.find(2, LEAD)
    image = shown.view.viewport().grab().toImage()
    metrics = shown.sheet.metrics
    assert image.pixelColor(metrics.width - 5, placed.end - 3).name() == theme.color("accent_ground").name()
    stripe = colors(image, (metrics.chip_x, placed.y, metrics.chip_x + metrics.stripe, placed.end))
    assert {theme.color("accent").name(), theme.color("accent_ground").name()} <= stripe, "a dashed stripe"


def test_a_long_one_shows_a_preview_until_it_is_asked_for(qtbot):
    shown = with_made_up(qtbot, "u a u a", 2, text=LONG)
    before = shown.sheet.find(2, LEAD)
    more = next(strip for strip in shown.sheet.leads.layout(2).strips if strip.kind is StripKind.MORE)
    assert more.made.section.hidden_amount == "60 lines"
    shown.click(QPoint(shown.sheet.metrics.text_x + 30, before.y + more.y + 3))
    after = shown.sheet.find(2, LEAD)
    assert after.y == before.y
    assert after.height > 50 * shown.sheet.metrics.line
    assert "line 59" in shown.sheet.leads.layout(2).strips[-2].piece.visible.text
    check_layout(shown.sheet)
    shown.view.choose(2, lead=True)
    shown.key(Qt.Key.Key_Return)
    assert shown.sheet.find(2, LEAD).height == before.height


def test_above_a_stretch_the_line_alone_folds_and_sticks(qtbot):
    shown = with_made_up(qtbot, "u a u a u a u a u a | u a u a u a u a u a", 10, height=300)
    sheet = shown.sheet
    layout = sheet.leads.layout(10)
    assert [strip.kind for strip in layout.strips] == [StripKind.TITLE, StripKind.TEXT, StripKind.LINE]
    sheet.move_to(10, LEAD, 0)
    shown.view.show_changes()
    shown.paint()
    line = layout.strips[-1]

    def click(y):
        shown.click(QPoint(100, sheet.find(10, LEAD).y + y))

    click(line.y + 5)
    assert sheet.openness.is_folded(sheet.stretch_at(10))
    click(5)
    assert sheet.openness.is_folded(sheet.stretch_at(10)), "the title folds nothing"
    click(line.y + 5)
    assert not sheet.openness.is_folded(sheet.stretch_at(10))
    sheet.move_to(10, LEAD, 0)
    assert sticky_lead(sheet) is None
    shown.view.scroll_by(line.y + 5)
    assert sticky_lead(sheet).y == 0
    check_layout(sheet)


def test_at_the_end_it_stands_below_the_line_of_what_it_replaces(qtbot):
    shown = with_made_up(qtbot, "u a u a", 4, gone=frozenset(range(4)))
    kinds = [strip.kind for strip in shown.sheet.leads.layout(0).strips]
    assert kinds == [StripKind.LINE, StripKind.TITLE, StripKind.TEXT]
    shown.view.fold_all(True)
    assert shown.items() == ["0-"]
    check_layout(shown.sheet)


def test_it_is_read_out_and_copied(qtbot):
    shown = with_made_up(qtbot, "u a u a", 2)
    interface = QAccessible.queryAccessibleInterface(shown.view)
    item = interface.child(2)
    assert item.text(QAccessible.Text.Name) == "made up: Summary, sent as system"
    assert item.text(QAccessible.Text.Value) == "a short summary"
    assert not item.state().expandable
    shown.view.select_all()
    copied = shown.view.selected_text()
    assert "[made up: Summary, sent as system]\na short summary\n" in copied
    assert copied.index("message 1") < copied.index("made up") < copied.index("message 2")


def test_changes_are_walked_through_with_what_is_made_up(qtbot):
    shown = with_made_up(qtbot, "u a u a u a", 4, gone=frozenset({1, 2}))
    seen = []
    for _ in range(2):
        shown.key(Qt.Key.Key_N)
        seen.append(shown.view.current_item)
    assert seen == [(1, True), (4, True)]


@pytest.mark.parametrize("touched", [[(1, None)], [(1, 0)]])
def test_what_a_step_touched_is_marked_by_a_bar_and_words(qtbot, touched):
    shown = bench(qtbot, "u a u a")
    shown.model.set_touched(touched)
    shown.paint()
    theme, sheet = theme_module.current(), shown.sheet
    top, end = next((top, end) for row, top, end in sheet.rows_in_view() if row == 1)
    image = shown.view.viewport().grab().toImage()
    assert image.pixelColor(1, (top + end) // 2).name() == theme.color("accent").name()
    assert image.pixelColor(1, top - 5).name() != theme.color("accent").name()
    chip = colors(image, (sheet.metrics.label_x, top, sheet.metrics.label_x + 80, top + sheet.metrics.header))
    assert {theme.color("accent").name(), theme.color("on_accent").name()} <= chip


def test_the_line_of_a_folded_stretch_says_that_a_step_touched_it(qtbot):
    shown = bench(qtbot, "u a u a u a u a u a u a u a u a")
    shown.show(replace(shown.talk.shown, gone=frozenset(range(2, 12))))
    before = shown.view.viewport().grab().toImage()
    placed = shown.sheet.find(2, LEAD)
    shown.model.set_touched((row, None) for row in range(8, 12))
    shown.paint()
    after = shown.view.viewport().grab().toImage()
    accent = theme_module.current().color("accent").name()
    rect = (0, placed.y, shown.sheet.metrics.width, placed.end)
    assert accent in colors(after, rect) - colors(before, rect)


# -- geometry, without Qt


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=14),
    st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4), st.booleans()), max_size=4),
    st.dictionaries(st.integers(0, 13), st.integers(1, 40), max_size=5),
)
def test_geometry_with_more_above_rows_agrees_with_a_plain_list(heights, gaps, above):
    geometry = Geometry()
    geometry.reset(np.array(heights, dtype=np.int64))
    folds, at = [], 0
    for skip, length, folded in gaps:
        first = at + skip
        if first + length <= len(heights):
            folds.append(Fold(first, first + length - 1, folded))
            at = first + length
    above = {row: pixels for row, pixels in above.items() if row < len(heights)}
    geometry.set_folds(folds, 28, above)
    y, items = 0, []
    for row, height in enumerate(heights):
        fold = geometry.fold_of(row)
        begins = fold is not None and fold.first == row
        hidden = fold is not None and fold.folded
        lead = (28 if begins else 0) + (above.get(row, 0) if begins or not hidden else 0)
        assert geometry.top(row) == y
        assert geometry.lead(row) == lead
        assert geometry.has_lead(row) == bool(lead)
        assert geometry.has_line(row) == begins
        if lead:
            items.append((row, True))
        if not hidden:
            items.append((row, False))
        y += lead + (0 if hidden else height)
    assert geometry.total == y
    assert geometry.item_count == len(items)
    assert [geometry.item_at(index) for index in range(len(items))] == items
    for row in range(len(heights)):
        for lead in (True, False):
            assert geometry.index_of(row, lead) == (items.index((row, lead)) if (row, lead) in items else None)
