"""What is painted: hatch, stripe, chips, labels, signs; in every theme; and never anything but text."""

import itertools
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.projection import Cut
from ctxviewer.domain.view import TextMode
from ctxviewer.engine.search import TextQuestion, matcher_of
from ctxviewer.models.tracked import Mark
from ctxviewer.views import theme as theme_module
from ctxviewer.views.conversation.headers import Part, part_at, plan_header
from ctxviewer.views.conversation.painting import sticky_lead
from ctxviewer.views.conversation.pinned_words import PinnedWords
from ctxviewer.views.conversation.rows import LEAD, Kind
from ctxviewer.views.fact_look import fact_color
from ctxviewer.views.theme import Choice
from helpers.conversation import bench, check_layout
from helpers.talk import talk

PICTURE = "u a! [u a u] c t+ u | a"


@pytest.fixture
def theme(qapp):
    made = theme_module.current()
    yield made
    made.set_choice(Choice.SYSTEM)
    made.set_scale(1.0)
    made.set_proportional_text(False)


def picture(shown) -> QImage:
    return shown.view.viewport().grab().toImage()


def colors(image, left, top, right, bottom):
    """Names of the colours in a rectangle."""
    return {image.pixelColor(x, y).name() for x, y in itertools.product(range(left, right), range(top, bottom))}


def rows(shown):
    return {row: (top, end) for row, top, end in shown.sheet.rows_in_view()}


@pytest.mark.parametrize("choice", [Choice.LIGHT, Choice.DARK, Choice.HIGH_CONTRAST])
def test_signs_in_every_theme(qtbot, theme, choice):
    theme.set_choice(choice)
    shown = bench(qtbot, PICTURE, height=700)
    image, places, metrics = picture(shown), rows(shown), shown.sheet.metrics

    def name(token):
        return theme.color(token).name()

    top, end = places[1]
    assert image.pixelColor(metrics.chip_x + 1, end - metrics.foot - metrics.gap - 4).name() == name("rewritten")
    assert image.pixelColor(metrics.width - 5, end - metrics.foot - metrics.gap - 4).name() == name("rewritten_ground")
    top, end = places[3]
    assert image.pixelColor(metrics.width - 5, top + 30).name() == name("hidden_fill")
    gutter = colors(image, 1, top + 2, metrics.margin, end - 2)
    assert len(gutter) > 2, "a hatch, not a flat fill"
    assert name("hidden_fill") in gutter
    top, end = places[6]
    assert name("repaired") in colors(image, metrics.chip_x, top, metrics.width, end)
    top, end = places[8]
    assert name("surface") == image.pixelColor(metrics.width - 5, top + 30).name(), "later is not hatched"
    assert name("later") in colors(image, metrics.text_x, top + metrics.header, metrics.width // 2, end)
    lead = next(p for p in shown.sheet.placed if p.element == LEAD)
    assert name("event") in colors(image, metrics.chip_x, lead.y, metrics.width // 2, lead.end)


def test_a_change_of_theme_or_scale_is_painted_at_once(qtbot, theme):
    theme.set_choice(Choice.LIGHT)
    shown = bench(qtbot, PICTURE, height=700)
    light = picture(shown)
    theme.set_choice(Choice.DARK)
    assert picture(shown).pixelColor(300, 690).name() == theme.color("surface").name()
    line = shown.sheet.metrics.line
    theme.set_scale(1.5)
    assert shown.sheet.metrics.line > line
    check_layout(shown.sheet)
    theme.set_scale(1.0)
    theme.set_choice(Choice.LIGHT)
    assert picture(shown) == light


def test_a_proportional_font_lays_out_anew(qtbot, theme):
    shown = bench(qtbot, "u a", texts={0: "iiiiiiiii WWWWWW " * 30})
    before = shown.sheet.piece(0, 1).layout.lineCount()
    theme.set_proportional_text(True)
    assert shown.sheet.piece(0, 1).layout.lineCount() != before
    check_layout(shown.sheet)


def test_the_current_message_is_outlined_stronger_with_focus(qtbot, theme):
    shown = bench(qtbot, "u a u")
    plain = picture(shown)
    shown.view.set_current_message(1)
    outlined = picture(shown)
    assert plain != outlined
    top, end = rows(shown)[1]
    accent = QColor(theme.color("accent"))
    assert outlined.pixelColor(300, top) != plain.pixelColor(300, top)
    shown.view.activateWindow()
    shown.view.setFocus()
    qtbot.waitUntil(shown.view.hasFocus)
    focused = picture(shown)
    assert focused.pixelColor(300, top + 1).name() == accent.name()
    assert focused.pixelColor(300, end - 2).name() == accent.name()


def test_the_line_of_a_stretch_sticks_while_one_is_inside(qtbot):
    shown = bench(qtbot, "u a [u a u a u a u a u a u a] u a u a u a u a", height=260)
    shown.view.fold_all(False)
    assert sticky_lead(shown.sheet) is None
    shown.view.reveal(7)
    sticky = sticky_lead(shown.sheet)
    assert (sticky.row, sticky.element, sticky.y) == (2, LEAD, 0)
    stuck = picture(shown).copy(0, 0, 700, sticky.height)
    shown.view.scroll_by(40)
    assert picture(shown).copy(0, 0, 300, sticky.height).pixelColor(250, 14) == stuck.pixelColor(250, 14)
    while sticky_lead(shown.sheet) is not None and sticky_lead(shown.sheet).y == 0:
        shown.view.scroll_by(7)
    pushed = sticky_lead(shown.sheet)
    assert pushed is None or -pushed.height < pushed.y < 0
    shown.sheet.scroll_to_end()
    assert sticky_lead(shown.sheet) is None


def test_a_difference_has_signs_besides_colours(qtbot, theme):
    theme.set_choice(Choice.LIGHT)
    shown = bench(qtbot, "u a! u", texts={1: "old one 😀\nold two\n"})
    shown.model.set_row_mode(1, TextMode.DIFFERENCE)
    image, metrics = picture(shown), shown.sheet.metrics
    signs = {}
    for placed in shown.sheet.placed:
        if placed.row == 1 and shown.sheet.row_layout(1).elements[placed.element].kind is Kind.TEXT:
            style = shown.sheet.row_layout(1).section(placed.element).style
            gutter = image.copy(metrics.chip_x, placed.y, metrics.text_x - metrics.chip_x, placed.height)
            signs[style.value] = colors(gutter, 0, 0, gutter.width(), gutter.height())
            if style.value == "deleted lines":
                second = gutter.copy(0, placed.height // 2 - 2, gutter.width(), placed.height // 2)
                assert len(colors(second, 0, 0, second.width(), second.height())) > 1, "each line has its sign"
    assert len(signs["deleted lines"]) > 1
    assert theme.color("removed_ground").name() in signs["deleted lines"]
    assert len(signs["added lines"]) > 1
    assert theme.color("added_ground").name() in signs["added lines"]


def test_labels_shrink_before_tokens_do(qtbot):
    class Counts:
        def message(self, _number):
            return 123_456

        def message_as_sent(self, number, _projection):
            return self.message(number)

        def stretch(self, first, _last):
            return self.message(first)

    shown = bench(qtbot, "u a!+ u", width=330)
    shown.model.set_counts(Counts())
    shown.paint()
    facts, metrics = shown.sheet.row_layout(1).facts, shown.sheet.metrics
    plan = plan_header(facts, metrics)
    assert plan.tokens[0] + plan.tokens[1] == metrics.width - metrics.margin
    assert plan.label is None or plan.label[0] + plan.label[1] < plan.tokens[0]
    assert part_at(facts, metrics, plan.tokens[0] + 3) is Part.TOKENS
    assert part_at(facts, metrics, 3) is Part.NUMBER
    picture(shown)


def test_hover_underlines_what_can_be_clicked(qtbot):
    shown = bench(qtbot, "u a! u", texts={0: "x\n" * 40})
    plain = picture(shown)
    QTest.mouseMove(shown.view.viewport(), shown.point(0, Kind.MORE))
    assert picture(shown) != plain
    QTest.mouseMove(shown.view.viewport(), QPoint(5, 5))
    assert picture(shown) == plain


def test_markup_and_control_characters_are_painted_as_text(qtbot):
    nasty = "<b>bold</b> <img src='file:///x.png'> \x1b[31m \x00 \u202e olleh \ud83d\n![x](http://x)"
    shown = bench(qtbot, "u a", texts={0: nasty, 1: nasty})
    piece = shown.sheet.piece(0, 1)
    assert "<b>bold</b>" in piece.layout.text()
    assert "[ESC][31m" in piece.layout.text()
    assert "[U+202E]" in piece.layout.text()
    assert "[U+D83D]" in piece.layout.text()
    shown.view.set_compact(True)
    picture(shown)


def test_damaged_messages_are_painted(qtbot):
    made = talk("u a")
    items = [
        17,
        None,
        {"role": 5},
        {"role": "user", "content": []},
        {"role": "user", "content": [{"type": "text", "text": ""}, {}]},
        [],
    ]
    made = replace(
        made, snapshot=replace(made.snapshot, messages=PlainLog(items)), shown=replace(made.shown, stored=6, until=6)
    )
    shown = bench(qtbot, "u")
    shown.model.set_timeline(made)
    shown.show(made.shown)
    check_layout(shown.sheet)
    assert len(rows(shown)) >= 5
    shown.view.select_all()
    assert shown.view.selected_text().startswith("17\nnull")


def test_a_view_without_a_task_is_blank(qtbot, theme):
    theme.set_choice(Choice.LIGHT)
    shown = bench(qtbot, "u a")
    shown.view.set_model(None)
    image = shown.view.viewport().grab().toImage()
    assert colors(image, 0, 0, image.width(), 50) == {theme.color("surface").name()}
    shown.view.find("x")
    shown.view.copy()
    shown.view.select_all()
    shown.view.reveal(3)
    assert not shown.view.go_to_change()
    assert not shown.view.escape()
    shown.key(Qt.Key.Key_Down)


def test_a_closed_view_lets_go(qtbot):
    shown = bench(qtbot, "u a [u a] u")
    shown.view.close()
    shown.view.close()
    shown.model.set_projection(replace(shown.talk.shown, resume=2, cuts=(Cut(2, 1, 1),)))
    shown.model.set_timeline(None)
    theme_module.current().changed.emit()
    assert shown.view.sheet is None


@pytest.mark.parametrize("choice", [Choice.LIGHT, Choice.DARK, Choice.HIGH_CONTRAST])
@pytest.mark.parametrize("carried", [True, False])
def test_words_of_pinned_facts_are_marked_in_the_messages_that_hold_them(qtbot, theme, choice, carried):
    theme.set_choice(choice)
    shown = bench(qtbot, "u a u", texts={0: "the port is 8080", 2: "the port is 8080"})
    shown.view.model.set_tracked({0: (Mark(1, carried),)})
    QApplication.processEvents()
    plain = picture(shown)
    matcher = matcher_of(TextQuestion("PORT", ignore_case=True))
    shown.view.set_pinned_words(PinnedWords({1: matcher, 2: matcher}))
    QApplication.processEvents()
    marked = picture(shown)
    places, metrics = rows(shown), shown.sheet.metrics
    color = fact_color(1).name()
    assert color in colors(marked, metrics.text_x, places[0][0] + metrics.header, metrics.width // 2, places[0][1])
    area = metrics.text_x, places[2][0] + metrics.header, metrics.width // 2, places[2][1]
    assert colors(marked, *area) == colors(plain, *area), "this message is not marked with the fact"
    shown.view.set_pinned_words(PinnedWords())
    QApplication.processEvents()
    assert picture(shown) == plain


def test_pinned_words_are_found_across_the_edges_of_a_piece():
    text = "x" * 998 + "needle" + "y" * 996 + "needle"
    pinned = PinnedWords({0: matcher_of(TextQuestion("needle"))})
    marks = (Mark(0, True), Mark(3, True))
    assert [(low, high) for _, low, high in pinned.spans(marks, text, 0, 1000)] == [(998, 1004)]
    assert [(low, high) for _, low, high in pinned.spans(marks, text, 1000, 2000)] == [(998, 1004)]
    assert [(low, high) for _, low, high in pinned.spans(marks, text, 1004, 2000)] == []
    assert [low for _, low, _ in pinned.spans(marks, text, 1500, len(text))] == [2000]
