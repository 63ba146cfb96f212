"""Pixels and numbers at the axes of the usage graph."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxviewer.views.usage.scale import Span, ceiling, nice_step, request_ticks, slots, spread, token_ticks


def test_span_goes_there_and_back():
    span = Span(10, 30, 50, 400)
    assert span.per_request == 20
    assert span.x(10) == 50
    assert span.position(span.x(17.25)) == pytest.approx(17.25)


@pytest.mark.parametrize(
    ("least", "whole", "step"), [(3, False, 5), (0.3, False, 0.5), (0.3, True, 1), (20, False, 20), (21, False, 50)]
)
def test_steps_are_round(least, whole, step):
    assert nice_step(least, whole=whole) == pytest.approx(step)


def test_short_tasks_keep_room_and_long_ones_take_it():
    assert slots(3) == 20
    assert slots(48) == 48
    assert slots(48, 1) == 49


def test_the_window_is_the_height_unless_bars_would_vanish():
    assert ceiling(150_000, 200_000) == pytest.approx(212_000)
    assert ceiling(230_000, 200_000) == pytest.approx(243_800)
    assert ceiling(30_000, 1_000_000) == pytest.approx(45_000)
    assert ceiling(0, 200_000) == pytest.approx(212_000)
    assert ceiling(500, 0) == pytest.approx(530)


@pytest.mark.parametrize("peak", [1e13, 1e300, 1.7e308, float("inf")])
def test_absurd_numbers_leave_a_height_that_can_be_drawn(peak):
    top = ceiling(peak, 200_000)
    assert top == ceiling(0, peak) == pytest.approx(1.06e12)
    assert 1 < len(token_ticks(top, 110, 26)) < 6


def test_requests_are_counted_from_one_at_the_middle_of_their_bar():
    ticks = request_ticks(Span(0, 20, 0, 1_000), 5, 30)
    assert ticks == [(0.5, "1"), (1.5, "2"), (2.5, "3"), (3.5, "4"), (4.5, "5")]
    long = request_ticks(Span(0, 2_000, 0, 1_000), 2_000, 60)
    assert long[:2] == [(0.5, "1"), (199.5, "200")]
    assert long[-1] == (1_999.5, "2,000")


def test_tokens_are_short():
    assert [label for _, label in token_ticks(212_000, 110, 26)] == ["0", "100k", "200k"]
    assert [label for _, label in token_ticks(20_000, 100, 26)] == ["0", "10k"], "a label at the edge would be cut"
    assert [label for _, label in token_ticks(530, 100, 26)] == ["0", "200", "400"]
    assert token_ticks(1_500_000, 100, 40)[-1] == (1_000_000, "1M")
    assert token_ticks(2_100, 200, 26)[1:4] == [(500, "500"), (1_000, "1.0k"), (1_500, "1.5k")]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=5))
def test_labels_are_moved_apart_and_stay_inside(wanted):
    placed = spread(sorted(wanted), 12, -10, 110)
    assert all(b - a >= 12 - 1e-6 for a, b in pairwise(placed))
    assert placed[-1] <= 104 + 1e-6
    assert placed[0] >= -4 - 1e-6


def test_labels_with_room_stay_where_they_belong():
    assert spread([20, 40, 80], 12, 0, 100) == [20, 40, 80]
