"""Steps, strategies side by side, replays and curves as models: words, order, and what is told when they change."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt

from ctxviewer.engine.matrix import COLUMNS, Choice, matrix
from ctxviewer.engine.replay import replay
from ctxviewer.engine.replay_check import replay_check
from ctxviewer.engine.state import state_now
from ctxviewer.engine.strategies import strategy
from ctxviewer.models.curves import Curve, curve_sentences, curves_of, polylines
from ctxviewer.models.listing import ListingRole
from ctxviewer.models.matrix_table import SHORT_TITLES, MatrixModel, MatrixProxy, MatrixRole
from ctxviewer.models.replay_events import CheckModel, ReplayEvents, run_sentence
from ctxviewer.models.steps import StepRole, StepsModel, StepState
from helpers.lab import lab_task
from helpers.lab_desk import READS, TOTALS
from helpers.snapshots import Heard

TIMELINE = lab_task(READS, TOTALS)


@pytest.fixture(scope="module")
def found():
    return matrix(state_now(TIMELINE))


# -- steps


def steps_of(key="decide"):
    return strategy(key).plan(state_now(TIMELINE))


def test_steps_are_sentences_with_their_place(qtmodeltester):
    model = StepsModel()
    qtmodeltester.check(model)
    plan = steps_of()
    model.set_plan(plan)
    assert model.rowCount() == len(plan.steps) > 5
    assert model.index(0).data() == plan.steps[0].sentence
    assert model.index(0).data(StepRole.NUMBER) == 1
    model.set_done(3)
    states = [model.index(row).data(StepRole.STATE) for row in range(5)]
    assert states == [StepState.DONE, StepState.DONE, StepState.CURRENT, StepState.AHEAD, StepState.AHEAD]
    assert model.index(2).data(Qt.ItemDataRole.AccessibleTextRole).startswith("step 3, done last, ")
    assert "goes to right behind this step" in model.index(0).data(Qt.ItemDataRole.ToolTipRole)
    assert model.index(0).data(Qt.ItemDataRole.DecorationRole) is None


@pytest.mark.parametrize(
    ("moves", "told"), [((1,), [(0, 1)]), ((2, 5), [(0, 2), (1, 5)]), ((4, 3, 99), [(0, 4), (2, 4), (2, 9)])]
)
def test_only_steps_whose_place_changed_are_told(moves, told):
    model = StepsModel()
    model.set_plan(steps_of())
    last = model.rowCount() - 1
    heard = []
    model.dataChanged.connect(lambda first, end, _roles: heard.append((first.row(), end.row())))
    for done in moves:
        model.set_done(done)
    assert heard == [(first, min(end, last)) for first, end in told]


def test_breakpoints_stand_at_the_steps_they_stop_before():
    model = StepsModel()
    model.set_plan(steps_of())
    model.set_stops({2: "message 4"})
    assert [model.index(row).data(StepRole.STOP) for row in range(4)] == ["", "", "message 4", ""]
    assert "stops before it: message 4 is about to go" in model.index(2).data(Qt.ItemDataRole.AccessibleTextRole)
    model.set_plan(steps_of("half"))
    assert model.index(0).data(StepRole.STOP) == ""
    assert model.done == 0


# -- side by side


def proxy_of(found):
    model, proxy = MatrixModel(), MatrixProxy()
    proxy.setSourceModel(model)
    model.set_matrix(found)
    proxy._kept = model
    return model, proxy


def column(key):
    return next(place for place, item in enumerate(COLUMNS) if item.key == key)


def cell(model, key, strategy_key, role=Qt.ItemDataRole.DisplayRole):
    for row in range(model.rowCount()):
        if model.row(row).choice.strategy.key == strategy_key:
            return model.index(row, column(key)).data(role)
    raise KeyError(strategy_key)


def test_the_table_has_all_columns_of_the_engine_and_short_words(found, qtmodeltester):
    model, proxy = proxy_of(found)
    qtmodeltester.check(model)
    qtmodeltester.check(proxy)
    assert set(SHORT_TITLES) == {item.key for item in COLUMNS}
    assert (model.rowCount(), model.columnCount()) == (len(found.rows), len(COLUMNS))
    half = next(row for row in found.rows if row.choice.strategy.key == "half")
    assert cell(model, "messages", "half") == f"{half.messages_lost}"
    assert cell(model, "messages", "optimise") == "·"
    assert cell(model, "kept", "half").endswith("k")
    assert f"messages {half.lost[0]}" in cell(model, "messages", "half", Qt.ItemDataRole.ToolTipRole)
    assert "a.py" in cell(model, "files", "none", Qt.ItemDataRole.ToolTipRole)
    assert cell(model, "strategy", "half", MatrixRole.ROW) is half
    head = model.headerData(column("instructions"), Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "User messages lost" in head
    assert model.headerData(0, Qt.Orientation.Vertical) is None


def test_numbers_sort_as_numbers_and_failures_come_last_both_ways(found):
    broken = replace(found.rows[0], problem="It failed.", plan=None, tokens_kept=0)
    large = replace(found.rows[1], tokens_kept=3_000_000_000)
    _, proxy = proxy_of(replace(found, rows=(broken, large, *found.rows[2:])))
    kept = column("kept")
    proxy.sort(kept, Qt.SortOrder.AscendingOrder)
    values = [row.tokens_kept for row in proxy.rows() if not row.problem]
    assert values == sorted(values)
    assert values[-1] == 3_000_000_000
    assert proxy.rows()[-1].problem
    proxy.sort(kept, Qt.SortOrder.DescendingOrder)
    values = [row.tokens_kept for row in proxy.rows() if not row.problem]
    assert values == sorted(values, reverse=True)
    assert proxy.rows()[-1].problem
    proxy.sort(0, Qt.SortOrder.AscendingOrder)
    names = [row.name.casefold() for row in proxy.rows()]
    assert names == sorted(names)


def test_columns_that_are_the_same_everywhere_can_be_left_out(found, qtmodeltester):
    model, proxy = proxy_of(found)
    qtmodeltester.check(proxy)
    proxy.set_different_only(True)
    assert [item.key for item in proxy.columns()] == [item.key for item in found.different_columns()]
    assert len(proxy.columns()) < len(COLUMNS)
    same = replace(found, rows=tuple(replace(found.rows[2], choice=row.choice) for row in found.rows))
    model.set_matrix(same)
    proxy.refresh()
    assert [item.key for item in proxy.columns()] == ["strategy"]
    proxy.set_different_only(False)
    assert len(proxy.columns()) == len(COLUMNS)


def test_new_numbers_of_the_same_strategies_keep_the_rows(found):
    model, _ = proxy_of(found)
    resets, told = Heard(model.modelAboutToBeReset), []
    model.dataChanged.connect(lambda *_what: told.append(1))
    model.set_matrix(replace(found, tokens_before=1))
    assert (resets.said, told) == ([], [1])
    model.set_matrix(replace(found, rows=found.rows[:3]))
    assert len(resets.said) == 1
    model.set_matrix(None)
    assert model.rowCount() == 0


def test_a_strategy_that_failed_shows_its_problem_and_no_numbers(found):
    row = replace(found.rows[0], problem="Nothing answers at localhost.", plan=None)
    model, _ = proxy_of(replace(found, rows=(row,)))
    assert [model.index(0, column(key)).data() for key in ("kept", "fits", "cached")] == ["–", "–", "–"]
    assert model.index(0, column("note")).data() == "Nothing answers at localhost."
    assert model.index(0, column("note")).data(MatrixRole.TONE) == "error"
    assert model.index(0, column("kept")).data(MatrixRole.SORT) is None


# -- replays


@pytest.fixture(scope="module")
def runs():
    return replay(TIMELINE, [Choice(strategy("half")), Choice(strategy("sage-prune"))], window=4_000)


def test_events_of_all_runs_stand_in_the_order_of_requests(runs, qtmodeltester):
    model = ReplayEvents()
    qtmodeltester.check(model)
    model.set_runs(runs)
    assert model.rowCount() == sum(len(run.events) for run in runs) > 2
    requests = [(model.item(row).request, model.item(row).place) for row in range(model.rowCount())]
    assert requests == sorted(requests)
    first = model.index(0)
    assert first.data() == model.item(0).action.sentence
    assert first.data(ListingRole.DETAIL).startswith(f"request {requests[0][0] + 1} · ")


def test_a_run_in_one_sentence(runs):
    words = run_sentence(runs[0])
    assert words.startswith(f"Cline: Truncate: half: {len(runs[0].events)} events, largest request ")
    assert words.endswith("estimated.")
    assert run_sentence(replace(runs[0], failure="Stopped before request 3: no.")).endswith(
        "Stopped before request 3: no."
    )
    lost = replace(runs[0], rows=(), failure="There is nothing to try the rules on.")
    assert run_sentence(lost) == "Cline: Truncate: half: There is nothing to try the rules on."
    assert [curve.look for curve in curves_of((lost, runs[1]))] == [1]


def test_the_check_says_what_agrees_and_what_does_not(qtmodeltester):
    model = CheckModel()
    qtmodeltester.check(model)
    model.set_check(replay_check(lab_task(READS, (*TOTALS[:-1], 9_000, 3_000), ranges={}), 4_000))
    assert model.rowCount() > 0
    details = [model.index(row).data(ListingRole.DETAIL) for row in range(model.rowCount())]
    assert "request 4 · file reads · another version" in details
    assert any(detail.endswith("no cut · another window") for detail in details)
    model.set_check(None)
    assert model.rowCount() == 0


# -- curves


def test_a_curve_has_a_point_for_each_request_and_a_name(runs):
    curves = curves_of(runs)
    assert [curve.name for curve in curves] == ["Cline: Truncate: half", "Sage: Prune"]
    assert [curve.look for curve in curves] == [0, 1]
    assert len(curves[0].totals) == 10
    assert curves[0].peak == max(row.total for row in runs[0].rows)
    assert curve_sentences(curves, 0) == (
        "Cline: Truncate: half 2,000 estimated", "Sage: Prune 2,000 estimated",
    )  # fmt: skip
    assert curve_sentences(curves, 99) == ()


def test_gaps_part_a_curve():
    curve = Curve("c", np.array([1.0, 2.0, np.nan, np.nan, 5.0, 6.0, np.nan]), 0)
    parts = [(x.tolist(), tokens.tolist()) for x, tokens in polylines(curve, 0, 10, 100)]
    assert parts == [([5, 15], [1, 2]), ([45, 55], [5, 6])]
    assert list(polylines(curve, 0, 0, 100)) == []
    assert Curve("c", np.array([np.nan]), 0).peak == 0


@given(
    st.lists(st.one_of(st.just(float("nan")), st.integers(0, 10**6).map(float)), max_size=300),
    st.floats(0, 300),
    st.floats(0.01, 20),
)
def test_thinned_curves_keep_peaks_and_stay_small(values, first, per_request):
    curve = Curve("c", np.array(values), 0)
    width = 40
    parts = list(polylines(curve, first, per_request, width))
    drawn = [value for _, tokens in parts for value in tokens.tolist()]
    last = min(len(values), int(first + width / per_request) + 1)
    visible = [value for value in values[int(first) : last] if not np.isnan(value)]
    assert set(drawn) <= set(values)
    if visible:
        assert max(visible) <= max(drawn)
        assert min(drawn) <= min(visible)
    assert len(drawn) <= 2 * (width + 10 + 3 / per_request) + 4 or per_request >= 0.5
    for x, _ in parts:
        assert all(one <= other for one, other in zip(x.tolist(), x.tolist()[1:], strict=False))
