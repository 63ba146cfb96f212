"""Where tokens go, as slices, table and map; estimated against reported as a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt

from ctxviewer.engine.composition import Scale, compose
from ctxviewer.engine.past import Past
from ctxviewer.engine.reconcile import Problem, ProblemKind, Reconciled
from ctxviewer.engine.timeline import Timeline
from ctxviewer.models.composition import NO_TOOL, OTHERS, SYSTEM, By, CompositionModel, RepeatsModel, slices
from ctxviewer.models.listing import ListingRole
from ctxviewer.models.reconciliation import ODD_ROLE, ReconciliationModel, fit_words
from ctxviewer.models.treemap import Box, squarified
from ctxviewer.tokens import TokenTable, count_message
from ctxviewer.tokens.calibration import Fit
from helpers.asking import WordCounter, story


@pytest.fixture
def composition():
    timeline = Timeline(story())
    counter = WordCounter()
    table = TokenTable(len(timeline.snapshot.messages)).with_messages(
        {number: count_message(counter, timeline.message(number)) for number in range(len(timeline.snapshot.messages))}
    )
    return compose(Past(timeline).anatomy(), timeline.projection(3), table, scale=Scale(2.0, 0, 100.0, "twice"))


@pytest.mark.parametrize("by", list(By))
def test_slices_are_the_whole_request_however_it_is_cut(composition, by):
    made = slices(composition, by)
    assert sum(one.counted for one in made) == composition.counted
    assert sum(one.tokens for one in made) == pytest.approx(composition.total)
    assert sum(one.share for one in made) == pytest.approx(1)
    for one in made:
        if one.children:
            assert sum(child.counted for child in one.children) == one.counted
    if by is not By.MESSAGE:
        assert [one.tokens for one in made] == sorted((one.tokens for one in made), reverse=True)


def test_slices_by_purpose_file_and_tool(composition):
    purposes = {one.name: one for one in slices(composition, By.PURPOSE)}
    assert purposes[SYSTEM].messages == ()
    assert purposes["files"].children[0].path == "src/a.py"
    assert purposes["files"].messages == (2,)
    assert {one.name for one in slices(composition, By.FILE)} == {"src/a.py", OTHERS, SYSTEM}
    assert {one.name for one in slices(composition, By.TOOL)} == {"read_file", NO_TOOL, SYSTEM}
    assert [one.name for one in slices(composition, By.MESSAGE)][:3] == ["message 0", "message 1", "message 2"]


def test_a_slice_in_words(composition):
    file = next(one for one in slices(composition, By.PURPOSE) if one.name == "files")
    assert file.sentence.startswith(f"files: {file.counted * 2:,} tokens, ")
    assert file.sentence.endswith(f"{file.counted:,} counted, message 2")


def test_the_table_of_slices(qtmodeltester, composition):
    model = CompositionModel()
    qtmodeltester.check(model)
    made = slices(composition, By.PURPOSE)
    model.show(made)
    assert [model.index(row, 0).data() for row in range(model.rowCount())] == [one.name for one in made]
    files = next(row for row, one in enumerate(made) if one.name == "files")
    parent = model.index(files, 0)
    child = model.index(0, 0, parent)
    assert child.data() == "src/a.py"
    assert model.parent(child) == parent
    assert model.slice_at(child).path == "src/a.py"
    system = next(row for row, one in enumerate(made) if one.name == SYSTEM)
    assert model.index(system, 1).data() == "–"
    assert model.index(0, 9).isValid() is False
    model.show(())
    assert model.rowCount() == 0


def test_repeats(qtmodeltester):
    talk = [f"u [read_file for 'a.py'] Result:\n{'x ' * 300}", "a ok"] * 2 + ["u go on", "a"]
    from helpers.past_tasks import Step, past

    timeline = past(["u task", "a ok", *talk], [Step(6)])
    counter = WordCounter()
    count = len(timeline.snapshot.messages)
    table = TokenTable(count).with_messages({n: count_message(counter, timeline.message(n)) for n in range(count)})
    found = compose(Past(timeline).anatomy(), timeline.projection(None), table)
    model = RepeatsModel()
    qtmodeltester.check(model)
    model.show_repeats(found.repeats)
    assert model.rowCount() == 1
    assert model.index(0).data() == "a.py"
    assert model.index(0).data(ListingRole.AMOUNT) == "−0.3k"
    assert "2 copies of this file" in model.index(0).data(ListingRole.DETAIL)


# -- map


@given(
    st.lists(st.floats(0, 1e6), max_size=60),
    st.floats(1, 3_000),
    st.floats(1, 3_000),
)
def test_areas_are_in_proportion_inside_and_apart(weights, width, height):
    box = Box(3.0, 5.0, width, height)
    boxes = squarified(weights, box)
    assert len(boxes) == len(weights)
    total = sum(weights)
    for weight, placed in zip(weights, boxes, strict=True):
        if total > 0:
            assert placed.area == pytest.approx(box.area * weight / total, rel=1e-6, abs=1e-6 * box.area)
        assert placed.x >= box.x - 1e-6 * width
        assert placed.y >= box.y - 1e-6 * height
        assert placed.x + placed.width <= box.x + width * (1 + 1e-6) + 1e-6
        assert placed.y + placed.height <= box.y + height * (1 + 1e-6) + 1e-6
    some = [placed for placed in boxes if placed.area > 1e-6 * box.area]
    for number, one in enumerate(some):
        for other in some[number + 1 :]:
            across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
            down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
            assert min(across, down) <= 1e-6 * max(width, height)


def test_equal_weights_make_squares():
    boxes = squarified([1] * 9, Box(0, 0, 300, 300))
    assert all(box.width == pytest.approx(100) and box.height == pytest.approx(100) for box in boxes)


def test_nothing_to_place():
    assert squarified([], Box(0, 0, 10, 10)) == []
    assert squarified([0, -1], Box(0, 0, 10, 10)) == [Box(0, 0, 0, 0)] * 2
    assert squarified([1], Box(0, 0, 0, 10)) == [Box(0, 0, 0, 0)]


# -- reconciliation


def reconciled():
    zero = Problem(ProblemKind.ZERO, 1, "Request 2 reported zero tokens.")
    return (
        Reconciled(0, 1_000.0, 1_010.0),
        Reconciled(1, None, 2_000.0, (zero,)),
        Reconciled(2, 3_000.0, 2_400.0),
        Reconciled(3, 4_000.0, 4_000.4),
    )


def table(model):
    return [[model.index(row, column).data() for column in range(5)] for row in range(model.rowCount())]


def test_requests_against_what_they_should_report(qtmodeltester):
    model = ReconciliationModel()
    qtmodeltester.check(model)
    model.show(reconciled())
    assert table(model) == [
        ["1", "1,000", "1,010", "+1.0%", ""],
        ["2", "–", "2,000", "", "Request 2 reported zero tokens."],
        ["3", "3,000", "2,400", "−20.0%", ""],
        ["4", "4,000", "4,000", "0.0%", ""],
    ]
    assert model.odd == 1
    assert [model.index(row, 0).data(ODD_ROLE) for row in range(4)] == [False, True, False, False]
    assert model.row_of(2) == 2
    assert model.request(3) == 3


def test_sorting_and_leaving_out(qtmodeltester):
    model = ReconciliationModel()
    model.show(reconciled())
    model.sort(3, Qt.SortOrder.DescendingOrder)
    assert [row[0] for row in table(model)] == ["3", "1", "4", "2"]
    model.set_only_odd(True)
    assert [row[0] for row in table(model)] == ["2"]
    assert model.row_of(2) is None


def test_the_fit_in_one_line():
    fit = Fit("m", 1.0834, 0, 11_400.4, 30, 500, 0.0123, sloped=True)
    assert fit_words(fit) == "reported = 1.083 × counted + 11,400; median error 1.2%"
    assert "too few requests" in fit_words(Fit("m", 1, 0, 9_000, 3, 0, 0, sloped=False))
    assert fit_words(None) == "Not calibrated: nothing usable was reported."
