"""What stands where: nothing moves unless the reader or the task moved it, whatever becomes known about heights."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from ctxviewer.domain.projection import Cut
from ctxviewer.domain.view import TextMode
from ctxviewer.models.conversation import KEPT_ROWS
from ctxviewer.views.conversation import bar as bar_module
from ctxviewer.views.conversation import layouts, pieces
from ctxviewer.views.conversation.geometry import Fold, Geometry, estimate_heights
from ctxviewer.views.conversation.rows import LEAD, Kind
from helpers.conversation import bench, check_layout
from helpers.talk import talk


def uneven(count, seed=1):
    """Texts of very different lengths, so that estimates are wrong."""
    rand = random.Random(seed)
    sizes = [rand.choice((1, 3, 12, 40, 200)) for _ in range(count)]
    return {
        n: "\n".join(f"line {i} of {n} " + "x" * rand.randrange(90) for i in range(size))
        for n, size in enumerate(sizes)
    }


def long_bench(qtbot, count=200, **options):
    return bench(qtbot, "u a", repeat=count // 2, texts=uneven(count), **options)


# -- scrolling


def test_it_opens_at_the_top_and_decodes_only_what_is_shown(qtbot):
    shown = long_bench(qtbot)
    check_layout(shown.sheet)
    assert shown.items()[0] == 0
    assert set(shown.talk.asked) == set(range(max(shown.talk.asked) + 1))
    assert len(set(shown.talk.asked)) <= len(shown.items()) + 1


def test_steps_move_what_is_seen_by_exactly_so_many_pixels(qtbot):
    shown = long_bench(qtbot)
    rand = random.Random(3)
    shown.sheet.scroll_to(shown.sheet.total // 2)
    for _ in range(300):
        before = {(p.row, p.element): p.y for p in shown.sheet.placed}
        by = rand.randrange(-250, 251)
        shown.view.scroll_by(by)
        check_layout(shown.sheet)
        both = [p for p in shown.sheet.placed if (p.row, p.element) in before]
        assert both
        assert {before[p.row, p.element] - p.y for p in both} == {by}


def test_up_to_the_top_and_down_to_the_end(qtbot):
    shown = long_bench(qtbot)
    for _ in range(4_000):
        shown.view.scroll_by(97)
        if shown.sheet.at_end:
            break
    check_layout(shown.sheet)
    assert shown.sheet.placed[-1].end == shown.sheet.height
    assert shown.view.verticalScrollBar().value() == shown.view.verticalScrollBar().maximum()
    assert all(shown.sheet.geometry.is_exact(row) for row in range(200))
    total = shown.sheet.total
    for _ in range(4_000):
        shown.view.scroll_by(-89)
        if shown.sheet.scroll == 0:
            break
    check_layout(shown.sheet)
    assert shown.sheet.total == total, "nothing was measured twice"
    assert shown.items()[0] == 0


def test_the_wheel_scrolls_by_lines_and_leaves_zooming_to_others(qtbot):
    shown = long_bench(qtbot)

    def wheel(delta, modifiers=Qt.KeyboardModifier.NoModifier, pixels=0):
        event = QWheelEvent(
            QPointF(50, 50), QPointF(50, 50), QPoint(0, pixels), QPoint(0, delta), Qt.MouseButton.NoButton, modifiers,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(shown.view.viewport(), event)
        return event.isAccepted()

    assert wheel(-120)
    step = QApplication.wheelScrollLines() * shown.sheet.metrics.line
    assert shown.sheet.scroll == step
    assert wheel(-120, pixels=-7)
    assert shown.sheet.scroll == step + 7
    for _ in range(8):
        wheel(15)  # an eighth of a notch each
    assert shown.sheet.scroll == 7
    assert not wheel(-120, Qt.KeyboardModifier.ControlModifier)
    assert shown.sheet.scroll == 7


def test_the_scroll_bar_jumps_and_ends_bind(qtbot):
    shown = long_bench(qtbot)
    bar = shown.view.verticalScrollBar()
    for share in (0.5, 0.1, 0.9, 0.33):
        bar.setValue(int(bar.maximum() * share))
        shown.paint()
        check_layout(shown.sheet)
        assert abs(bar.value() - shown.sheet.scroll) <= 1
    bar.setValue(bar.maximum())
    assert shown.sheet.at_end
    bar.setValue(0)
    assert shown.items()[0] == 0
    assert shown.sheet.scroll == 0


def test_dragging_the_slider_uses_its_share(qtbot):
    shown = long_bench(qtbot)
    bar = shown.view.verticalScrollBar()
    bar.setSliderDown(True)
    bar.setSliderPosition(bar.maximum() // 2)
    shown.paint()
    assert abs(shown.sheet.scroll / shown.sheet.total - 0.5) < 0.1
    held = bar.value()
    shown.view.show_changes()
    assert bar.value() == held, "the slider is not pulled from the hand"
    bar.setSliderPosition(bar.maximum())
    assert shown.sheet.at_end
    bar.setSliderDown(False)


def test_more_pixels_than_the_scroll_bar_has_steps(qtbot, monkeypatch):
    monkeypatch.setattr(bar_module, "MOST_STEPS", 500)
    shown = long_bench(qtbot)
    bar = shown.view.verticalScrollBar()
    assert bar.maximum() <= 501
    bar.setValue(250)
    check_layout(shown.sheet)
    assert 0.4 < shown.sheet.scroll / shown.sheet.total < 0.6
    bar.setValue(bar.maximum())
    assert shown.sheet.at_end
    for _ in range(200):
        shown.view.scroll_by(-31)
        check_layout(shown.sheet)


def test_little_content_starts_at_the_top(qtbot):
    shown = bench(qtbot, "u a")
    check_layout(shown.sheet)
    shown.view.scroll_by(500)
    assert (shown.items(), shown.sheet.scroll) == ([0, 1], 0)
    assert shown.view.verticalScrollBar().maximum() == 0


def test_what_is_kept_is_bounded(qtbot):
    shown = long_bench(qtbot, 600)
    rand = random.Random(5)
    for _ in range(300):
        shown.view.verticalScrollBar().setValue(rand.randrange(shown.view.verticalScrollBar().maximum()))
        shown.paint()
    rows, texts = shown.sheet.layouts.kept
    assert rows <= layouts.KEPT_ROWS
    assert texts <= pieces.KEPT
    assert len(shown.model._kept) <= KEPT_ROWS


# -- a giant message


def test_a_giant_message_is_shown_in_full_piece_by_piece(qtbot):
    text = "".join(f"line {n}\n" for n in range(40_000))
    shown = bench(qtbot, "u a u", texts={1: text})
    assert "40,000 lines" in shown.model.body(1).sections[0].hidden_amount
    shown.view.movement.toggle_section(1, 0)
    shown.paint()
    check_layout(shown.sheet)
    assert shown.sheet.total > 40_000 * shown.sheet.metrics.line
    for share in (0.3, 0.31, 0.99, 0.5):
        shown.view.verticalScrollBar().setValue(int(shown.view.verticalScrollBar().maximum() * share))
        shown.paint()
        check_layout(shown.sheet)
        for _ in range(20):
            before = {(p.row, p.element): p.y for p in shown.sheet.placed}
            shown.view.scroll_by(-83)
            assert {before[p.row, p.element] - p.y for p in shown.sheet.placed if (p.row, p.element) in before} == {-83}
    assert shown.sheet.layouts.kept[1] <= pieces.KEPT


def test_show_all_and_less_leave_the_line_where_it_was(qtbot):
    shown = bench(qtbot, "u a u a", texts={1: "x\n" * 100})
    more = shown.point(1, Kind.MORE)
    first = next(p for p in shown.sheet.placed if p.row == 1 and p.element == 1)
    shown.click(more)
    assert shown.sheet.openness.expanded(1) == {0}
    assert next(p for p in shown.sheet.placed if p.row == 1 and p.element == 1).y == first.y
    shown.view.scroll_by(1_600)
    less = shown.point(1, Kind.MORE)
    shown.click(less)
    assert shown.sheet.openness.expanded(1) == frozenset()
    check_layout(shown.sheet)
    assert shown.point(1, Kind.MORE) is not None


# -- the task changes under the reader


def state(shown):
    """Where the first rows in view are."""
    return [(p.row, p.element, p.y) for p in shown.sheet.placed[:4]]


def test_growing_does_not_move_the_reader(qtbot):
    shown = long_bench(qtbot)
    shown.view.scroll_by(1_234)
    before, total = state(shown), shown.sheet.total
    grown = shown.talk.grown(*["new words\n" * 30] * 40)
    shown.model.set_timeline(grown, same_task=True, grown=True)
    shown.show(grown.shown)
    assert state(shown) == before
    assert shown.sheet.total > total
    check_layout(shown.sheet)


@pytest.mark.parametrize("following", [True, False])
def test_only_a_live_view_at_its_end_follows(qtbot, following):
    shown = long_bench(qtbot)
    shown.view.set_following(following)
    shown.sheet.scroll_to_end()
    before = state(shown)
    grown = shown.talk.grown("more", "words\n" * 20)
    shown.model.set_timeline(grown, same_task=True, grown=True)
    shown.show(grown.shown)
    if following:
        assert shown.sheet.at_end
        assert shown.sheet.placed[-1].row == 201
    else:
        assert state(shown) == before


def test_stepping_away_and_back_returns_to_the_place(qtbot):
    shown = long_bench(qtbot)
    shown.view.reveal(60)
    shown.view.scroll_by(33)
    before = state(shown)
    now = shown.talk.shown
    shown.show(replace(now, resume=100, cuts=(Cut(2, 99, 3),), request=5))
    check_layout(shown.sheet)
    assert shown.items()[0] == "2-", "the place is folded away: its line is shown"
    shown.show(replace(now, resume=40, cuts=(Cut(2, 39, 3),), request=4))
    assert state(shown)[0][0] == before[0][0]
    shown.show(now)
    assert state(shown) == before


def test_a_cut_above_does_not_move_the_reader(qtbot):
    shown = long_bench(qtbot)
    shown.view.reveal(120)
    before = state(shown)
    for resume in (20, 50, 100, 30, 2):
        cuts = (Cut(2, resume - 1, 3),) if resume > 2 else ()
        shown.show(replace(shown.talk.shown, resume=resume, cuts=cuts, request=4))
        assert state(shown) == before
        check_layout(shown.sheet)


def test_a_shorter_task_shows_its_end(qtbot):
    shown = long_bench(qtbot)
    shown.sheet.scroll_to_end()
    shown.view.set_current_message(190)
    short = talk("u a", repeat=5, texts=uneven(200))
    shown.model.set_timeline(short, same_task=True, grown=False)
    shown.show(short.shown)
    check_layout(shown.sheet)
    assert shown.sheet.at_end
    assert shown.view.current_message is None


def test_another_task_starts_at_the_top(qtbot):
    shown = long_bench(qtbot)
    shown.view.scroll_by(900)
    shown.view.set_current_message(9)
    other = talk("u a u", task_id="t2")
    shown.model.set_timeline(other)
    shown.show(other.shown)
    assert (shown.items(), shown.sheet.scroll, shown.view.current_message) == ([0, 1, 2], 0, None)
    shown.model.set_timeline(None)
    shown.paint()
    assert shown.sheet.placed == []
    assert shown.view.verticalScrollBar().maximum() == 0


def test_the_line_at_the_top_stays_when_the_width_changes(qtbot):
    text = "".join(f"{n} " + "words that wrap " * 8 + "\n" for n in range(300))
    shown = bench(qtbot, "u a u", texts={1: text})
    shown.view.movement.toggle_section(1, 0)
    shown.view.scroll_by(3_210)

    def top_line():
        row, element, offset = shown.sheet.anchor
        part = shown.sheet.row_layout(row).section(element)
        start = part.cuts[shown.sheet.row_layout(row).elements[element].piece]
        piece = shown.sheet.piece(row, element)
        return part.text[: start + piece.raw_at(0, offset)].count("\n")

    line = top_line()
    for width in (500, 900, 320, 700):
        shown.view.resize(width, 400)
        shown.paint()
        check_layout(shown.sheet)
        assert top_line() == line


def test_another_text_of_a_row_keeps_its_header(qtbot):
    shown = bench(qtbot, "u a! u a u a u a u a u a", texts={1: "x\n" * 14})
    header = shown.point(1).y()
    for mode in (TextMode.AS_STORED, TextMode.DIFFERENCE, TextMode.AS_SENT):
        shown.model.set_row_mode(1, mode)
        shown.paint()
        assert shown.point(1).y() == header
        check_layout(shown.sheet)


# -- folding


def test_long_stretches_start_folded_short_ones_open(qtbot):
    shown = bench(qtbot, "u a [u a u a u a u] [a u] a", height=900)
    assert shown.items() == [0, 1, "2-", "9-", 9, 10, 11]
    assert shown.sheet.geometry.item_count == 7


def test_folding_keeps_the_line_in_its_place(qtbot):
    shown = bench(qtbot, "u a [u a u a u a u a u a] u a u a u a u a u a", height=300)
    place = next(p for p in shown.sheet.placed if p.row == 2)
    stretch = shown.model.stretches[0]
    for _ in range(3):
        shown.view.toggle_fold(stretch)
        shown.paint()
        assert next(p for p in shown.sheet.placed if p.element == LEAD).y == place.y
        check_layout(shown.sheet)


def test_a_click_on_the_line_that_sticks_folds_and_shows_it(qtbot):
    shown = bench(qtbot, "u a [u a u a u a u a u a] u a u a u a u a u a", height=300)
    shown.view.fold_all(False)
    shown.view.reveal(8)
    shown.paint()
    assert LEAD not in {p.element for p in shown.sheet.placed}
    shown.click(QPoint(200, 10))
    assert shown.items()[0] == "2-"
    assert shown.sheet.placed[0].y == 0
    assert shown.view.current_item == (2, True)
    check_layout(shown.sheet)


def test_choices_of_folding_last_while_requests_are_stepped(qtbot):
    shown = bench(qtbot, "u a [u a u a u a u a u a] u a u a", height=300)
    shown.view.toggle_fold(shown.model.stretches[0])
    shown.show(replace(shown.talk.shown, resume=2, cuts=()))
    shown.show(shown.talk.shown)
    assert not shown.sheet.openness.is_folded(shown.model.stretches[0])


def test_later_messages_can_be_folded_too(qtbot):
    shown = bench(qtbot, "u a | u a u a", request=0, height=600)
    assert shown.items() == [0, 1, "2-", 2, 3, 4, 5]
    shown.click(shown.point(2, LEAD))
    assert shown.items() == [0, 1, "2-"]


def test_revealing_unfolds_and_does_not_move_what_can_be_seen(qtbot):
    shown = bench(qtbot, "u a [u a u a u a u a u a] u a u a u a u a u a", height=300)
    shown.view.reveal(6)
    shown.paint()
    assert 6 in shown.items()
    assert shown.view.current_message == 6
    before = state(shown)
    shown.view.reveal(shown.items()[1])
    assert state(shown) == before


def test_revealing_a_block(qtbot):
    shown = bench(qtbot, "u c t a c t", texts={1: "x\n" * 60}, height=200)
    shown.view.movement.toggle_section(1, 0)
    shown.view.reveal(1, 1)
    assert shown.point(1, Kind.CAPTION).y() < 100
    assert shown.sheet.row_layout(1).body.sections[1].heading == "call read_file src/1.py"
    shown.view.reveal(99)
    shown.view.reveal(-1)
    assert shown.view.current_message is None


# -- compact


def test_compact_rows_are_headers_until_opened(qtbot):
    shown = bench(qtbot, "u a! [u a] u a", height=600, texts={4: "x\n" * 50})
    shown.view.set_compact(True)
    shown.paint()
    assert {p.height for p in shown.sheet.placed if p.element == 0} == {shown.sheet.metrics.header}
    assert all(len(shown.sheet.row_layout(row).elements) == 1 for row in range(6))
    shown.view.choose(4)
    shown.key(Qt.Key.Key_Return)
    assert len(shown.sheet.row_layout(4).elements) > 1
    check_layout(shown.sheet)
    shown.view.set_compact(False)
    shown.paint()
    assert len(shown.sheet.row_layout(0).elements) > 1
    check_layout(shown.sheet)


# -- anything in any order


def test_a_hundred_random_things(qtbot):
    rand = random.Random(11)
    made = talk("u a u! a", repeat=40, texts=uneven(160))
    shown = bench(qtbot, "u")
    shown.model.set_timeline(made)
    shown.show(made.shown)
    now, rows = made.shown, 160

    def step():
        nonlocal now
        resume = rand.randrange(2, rows)
        middle = rand.randrange(2, resume + 1)
        cuts = tuple(c for c in (Cut(2, middle - 1, 1), Cut(middle, resume - 1, 2)) if c.first <= c.last)
        now = replace(
            made.shown, stored=rows, resume=resume, cuts=cuts, until=rand.randrange(resume, rows + 1), request=3
        )
        shown.model.set_projection(now)

    def grow():
        nonlocal rows, made
        made = made.grown("text\n" * rand.randrange(30))
        rows += 1
        shown.model.set_timeline(made, same_task=True, grown=True)
        shown.model.set_projection(replace(now, stored=rows))

    def toggle():
        if shown.model.stretches:
            shown.view.toggle_fold(rand.choice(shown.model.stretches))

    acts = [
        step, step, grow, toggle,
        lambda: shown.view.scroll_by(rand.randrange(-3_000, 3_000)),
        lambda: shown.view.resize(rand.randrange(200, 900), rand.randrange(60, 700)),
        lambda: shown.view.reveal(rand.randrange(rows)),
        lambda: shown.model.set_text_mode(rand.choice(list(TextMode))),
        lambda: shown.model.cycle_row_mode(rand.randrange(rows)),
        lambda: shown.view.verticalScrollBar().setValue(rand.randrange(1 + shown.view.verticalScrollBar().maximum())),
        lambda: shown.key(rand.choice((Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Return, Qt.Key.Key_N, Qt.Key.Key_PageDown))),
        lambda: shown.view.set_compact(rand.random() < 0.3),
    ]  # fmt: skip
    for _ in range(400):
        rand.choice(acts)()
        check_layout(shown.sheet)
        if rand.random() < 0.3:
            shown.paint()


# -- geometry, without Qt

folds = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6), st.booleans()), max_size=5)


def made_geometry(heights, gaps):
    geometry = Geometry()
    geometry.reset(np.array(heights, dtype=np.int64))
    at, made = 0, []
    for gap, length, folded in gaps:
        first = at + gap - 1
        if first + length <= len(heights):
            made.append(Fold(first, first + length - 1, folded))
        at = first + length
    geometry.set_folds(made, 28)
    return geometry


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), folds)
def test_geometry_agrees_with_a_plain_list(heights, gaps):
    geometry = made_geometry(heights, gaps)
    y, items = 0, []
    for row, height in enumerate(heights):
        assert geometry.top(row) == y
        fold = geometry.fold_of(row)
        if geometry.has_lead(row):
            items.append((row, True))
            assert geometry.row_at(y) == row
            y += 28
        if fold is None or not fold.folded:
            items.append((row, False))
            assert geometry.row_at(y) == row
            assert geometry.row_at(y + height - 1) == row
            y += height
    assert geometry.total == y
    assert geometry.item_count == len(items)
    assert [geometry.item_at(index) for index in range(len(items))] == items
    for row in range(len(heights)):
        for lead in (True, False):
            assert geometry.index_of(row, lead) == (items.index((row, lead)) if (row, lead) in items else None)


def test_geometry_refuses_items_outside():
    geometry = made_geometry([10, 10], [])
    with pytest.raises(IndexError):
        geometry.item_at(2)


def test_estimates_grow_with_bytes_up_to_the_preview():
    heights = estimate_heights([10, 300, 1_000_000], base=30, line=17, columns=100, most_lines=9)
    assert heights[0] == 47
    assert heights[0] < heights[1] < heights[2] == 30 + 9 * 17
