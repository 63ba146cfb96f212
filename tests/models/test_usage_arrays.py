"""Arrays for the usage graph: stacks, decimation, lines, what-if, and the graph in words."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxviewer.domain.plan import Effects, Plan, PlanKind
from ctxviewer.domain.request import RequestState, Usage
from ctxviewer.models.usage import EMPTY, columns, levels, request_sentence, stack, summary, what_if
from helpers.talk import talk
from helpers.usage import request, requests


def test_parts_are_stacked_from_input_to_output():
    stacks = stack((request(0, parts=(10, 200, 30, 4)), request(1, parts=(1, 0, 0, 2))))
    assert stacks.tops.T.tolist() == [[10, 210, 240, 244], [1, 1, 1, 3]]
    assert stacks.peak == 244
    assert stacks.known.all()


def test_requests_without_numbers_are_known_as_such():
    stacks = stack(requests(5, None, 7, None))
    assert stacks.known.tolist() == [True, False, True, False]
    assert stacks.totals.tolist() == [5, 0, 7, 0]
    assert stacks.last_known == 2


def test_odd_numbers_do_no_harm():
    odd = replace(request(0, 1), usage=Usage(float("nan"), float("inf"), -5, 3))
    assert stack((odd,)).tops[:, 0].tolist() == [0, 3, 3, 3]
    huge = replace(request(0, 1), usage=Usage(1.7e308, 1.7e308, 1.7e308, 1.7e308))
    assert np.isfinite(stack((huge,)).tops).all()


def test_nothing_at_all():
    stacks = stack(())
    assert len(stacks) == 0
    assert stacks.peak == 0
    assert stacks.last_known is None
    assert len(columns(stacks, 0, 20).picked) == 0
    assert summary(stacks, (), None, 0) == "No requests."


def test_growing_looks_only_at_the_new_ones():
    old = requests(1, 2, 3)
    first = stack(old)
    marked = replace(first, tops=first.tops + 1000)  # would show if they were reused
    grown = stack((*old, request(3, 4)), marked)
    assert grown.totals.tolist() == [1001, 1002, 1003, 4]
    assert stack(old, first) is first


def test_a_changed_request_is_read_again_with_all_after_it():
    old = requests(1, None, 3)
    finished = (old[0], request(1, 20), old[2])
    assert stack(finished, stack(old)).totals.tolist() == [1, 20, 3]


def test_shrinking_forgets_what_went():
    old = requests(1, 2, 3)
    assert stack(old[:1], stack(old)).totals.tolist() == [1]


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 300_000)), min_size=1, max_size=400),
    st.integers(1, 50),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_columns_are_real_requests_in_order_and_keep_the_extremes(totals, most, a, b):
    stacks = stack(requests(*totals))
    first, last = sorted((a * len(totals), b * len(totals)))
    found = columns(stacks, first, last, most)
    if found.per_bucket == 1:
        assert len(found.picked) <= most
    else:
        assert len(found.picked) <= 2 * most
    assert (np.diff(found.picked) >= 0).all()
    assert (found.left <= found.right).all()
    assert np.allclose(found.left[1:], found.right[:-1])
    if not len(found.picked):
        return
    assert found.left[0] <= first
    assert found.right[-1] >= min(last, len(totals))
    assert np.array_equal(found.tops, stacks.tops[:, found.picked])
    low, high = int(found.left[0]), int(np.ceil(found.right[-1]))
    known = [total for total in totals[low:high] if total is not None]
    if known:
        assert max(known) == found.tops[3].max()
        shown = [int(t) for t, k in zip(found.tops[3], stacks.known[found.picked], strict=True) if k]
        assert min(known) == min(shown)


def test_buckets_stand_still_while_panning():
    stacks = stack(requests(*range(1_000)))
    one = columns(stacks, 100, 900, 50)
    two = columns(stacks, 103, 903, 50)
    shared = set(one.left.tolist()) & set(two.left.tolist())
    assert len(shared) >= len(one.left) - 4


def test_never_more_than_the_bound_at_any_length():
    stacks = stack(requests(*([7] * 5_001)))
    for first, last in ((0, 5_001), (1, 5_001), (3, 4_999), (0, 2_001)):
        assert len(columns(stacks, first, last, 1_000).picked) <= 2_000


@pytest.mark.parametrize(
    ("window", "limit", "expected"),
    [
        (200_000, 160_000, [("window", 200_000), ("limit", 160_000), ("75 %", 150_000)]),
        (64_000, 37_000, [("window", 64_000), ("limit, condense", 37_000)]),
        (0, 0, []),
    ],
)
def test_lines(window, limit, expected):
    assert [(line.name, line.tokens) for line in levels(window, limit)] == expected


def make_plan(**changes):
    shown = talk("u a u a").shown
    plan = Plan(PlanKind.TRUNCATE, "Truncate to half", "t1", 1, shown, shown, (), Effects())
    return replace(plan, **changes)


def test_what_if_scales_the_newest_reported_total():
    guess = what_if(make_plan(characters_before=1_000, characters_after=250), stack(requests(100, 8_000, None)))
    assert (guess.at, guess.tokens, guess.title) == (3, 2_000, "Truncate to half")


def test_what_if_takes_a_better_estimate_and_shows_what_a_rollback_takes():
    plan = make_plan(lost_requests=range(2, 5), characters_before=10, characters_after=5)
    guess = what_if(plan, stack(requests(1, 2, 3, 4, 5)), tokens=77)
    assert (guess.at, guess.tokens, guess.lost) == (2, 77, range(2, 5))


def test_what_if_without_anything_to_start_from():
    assert what_if(make_plan(characters_before=9, characters_after=3), stack(requests(None))).tokens is None
    assert what_if(make_plan(), stack(requests(5))).tokens is None


def test_every_number_says_that_it_is_reported():
    stacks = stack((request(0, parts=(1_204, 60_100, 3_000, 850), cost=0.1234),))
    lines = request_sentence(stacks, 0, 200_000)
    assert lines[0] == "Request 1 of 1"
    assert lines[1] == "total 65,154 reported, 33% of the window"
    assert lines[2:] == (
        "input 1,204 reported",
        "cache read 60,100 reported",
        "cache write 3,000 reported",
        "output 850 reported",
        "cost $0.1234 reported",
    )


def test_a_request_without_numbers_says_so():
    stacks = stack((request(0, state=RequestState.FAILED),))
    assert request_sentence(stacks, 0, 0) == ("Request 1 of 1 · failed", "no numbers reported")


def test_summary_tells_the_picture():
    stacks = stack(requests(50_000, 168_412, 90_000))
    words = summary(stacks, levels(200_000, 160_000), 2, 200_000)
    assert "3 requests" in words
    assert "request 2 with 168,412 tokens reported" in words
    assert "limit 160,000" in words
    assert "Request 3 of 3, total 90,000 reported" in words
    assert "newest" in summary(stacks, (), None, 0)
    assert "None reports" in summary(stack(requests(None)), (), None, 0)
    assert len(EMPTY) == 0
