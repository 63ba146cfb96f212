"""The difference of two requests as lists and a table, and its texts as lines."""

import pytest
from PySide6.QtCore import Qt

from ctxviewer.engine.contents import Category
from ctxviewer.engine.difference import difference_of, text_changes
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.weights import CategoryTokens, FileChanges
from ctxviewer.models.differences import CategoriesModel, DifferenceFilesModel, DifferenceModel, signed, texts_body
from ctxviewer.models.listing import ListingRole
from ctxviewer.models.segments import Style
from helpers.asking import story


@pytest.fixture
def timeline():
    return Timeline(story())


def lines(model):
    return [
        (index.data(), index.data(ListingRole.AMOUNT), index.data(ListingRole.QUIET))
        for index in (model.index(row) for row in range(model.rowCount()))
    ]


def test_what_is_the_same_stands_quietly_between_the_changes(qtmodeltester, timeline):
    model = DifferenceModel()
    qtmodeltester.check(model)
    found = difference_of(timeline, 4, 5)
    model.show(found)
    assert lines(model) == [
        ("0 · unchanged", "", True),
        ("1 · rewritten", "", False),
        ("2–5 · 4 messages left", "", False),
        ("6–8 · 3 messages unchanged", "", True),
        ("9–10 · 2 messages entered", "", False),
    ]
    model.show(found, ((4, 4), (4, 2), (80, 0), (6, 6), (0, 1_500)))
    assert [amount for _, amount, _ in lines(model)] == ["<0.1k", "−<0.1k", "−0.1k", "<0.1k", "+1.5k"]
    model.show(None)
    assert model.rowCount() == 0


def test_tokens_that_come_later_reset_nothing(qtbot, timeline):
    model = DifferenceModel()
    found = difference_of(timeline, 4, 5)
    model.show(found)
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.dataChanged):
        model.show(found, ((4, 4), (4, 2), (80, 0), (6, 6), (0, 1_500)))


def test_only_single_messages_that_changed_have_texts_to_compare(timeline):
    model = DifferenceModel()
    model.show(difference_of(timeline, 4, 5))
    assert [(item.message, item.has_texts) for item in model.items] == [
        (0, False), (1, True), (2, False), (6, False), (9, False),
    ]  # fmt: skip


@pytest.mark.parametrize(("tokens", "words"), [(0, "±0"), (1_234, "+1.2k"), (-61_000, "−61.0k")])
def test_signed_tokens(tokens, words):
    assert signed(tokens) == words


def test_files_that_left_come_first(qtmodeltester):
    model = DifferenceFilesModel()
    qtmodeltester.check(model)
    model.show(FileChanges(("a.py",), ("b.py", "c.py")))
    assert [item.path for item in model.items] == ["a.py", "b.py", "c.py"]
    assert model.index(0).data(ListingRole.TONE) == "event"
    model.show(None)
    assert model.rowCount() == 0


def test_categories_are_summed(qtmodeltester):
    model = CategoriesModel()
    qtmodeltester.check(model)
    assert model.change is None
    model.show((CategoryTokens(Category.USER, 10, 12), CategoryTokens(Category.FILES, 3_000, 1_000)))
    table = [[model.index(row, column).data() for column in range(4)] for row in range(model.rowCount())]
    assert table == [
        ["files", "3,000", "1,000", "−2,000"],
        ["user", "10", "12", "+2"],
        ["together", "3,010", "1,012", "−1,998"],
    ]
    assert model.change == -1_998
    assert model.headerData(3, Qt.Orientation.Horizontal) == "change"


def test_texts_by_lines(timeline):
    found = difference_of(timeline, 4, 5)
    body = texts_body([(text, text.lines()) for text in text_changes(timeline, found, 1)])
    assert [(part.style, part.text) for part in body.sections] == [
        (Style.DELETED_LINES, "I will use port 8080."),
        (Style.ADDED_LINES, "a notice"),
    ]
    assert body.sections[0].heading.startswith("block 0")
    assert body.sections[1].continued
