"""The next deleted range."""

from __future__ import annotations

import pytest

from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.truncation import Keep, next_range
from helpers.cline_talk import Lazy, a, alternating, u


@pytest.mark.parametrize(
    ("count", "half", "quarter"),
    [(0, -1, -1), (1, -1, -1), (2, 1, 1), (3, 1, 1), (4, 1, 1), (5, 1, 3), (6, 3, 3), (20, 9, 13)],
)
def test_first_cut(count: int, half: int, quarter: int) -> None:
    messages = alternating(count)
    assert next_range(messages, None, Keep.HALF) == (2, half)
    assert next_range(messages, None, Keep.QUARTER) == (2, quarter)


def test_none_and_last_two() -> None:
    assert next_range(alternating(7), None, Keep.NONE) == (2, 5)  # the user message at the end stays
    assert next_range(alternating(8), None, Keep.NONE) == (2, 7)
    assert next_range(alternating(8), None, Keep.LAST_TWO) == (2, 5)
    assert next_range([], None, Keep.NONE) == (2, 1)


def test_the_end_goes_back_one_step_and_below_the_start_if_need_be() -> None:
    assert next_range([u("1"), u("2"), a("3")], None, Keep.HALF) == (2, 0)
    users = [u(str(number)) for number in range(12)]
    assert next_range(users, None, Keep.HALF) == (2, 4)  # 5 goes back to 4, which is a user message too


def test_a_range_past_the_end_shrinks_with_half_and_stays_with_none() -> None:
    assert next_range(alternating(10), Range(2, 14), Keep.HALF) == (2, 10)
    assert next_range(alternating(10), Range(2, 14), Keep.NONE) == (2, 14)


def test_the_start_of_the_given_range_is_ignored() -> None:
    assert next_range(alternating(12), Range(7, 5), Keep.HALF) == next_range(alternating(12), Range(2, 5), Keep.HALF)


def test_a_message_that_is_no_object_is_not_the_assistants() -> None:
    messages = alternating(8)
    messages[3] = "odd"
    assert next_range(messages, None, Keep.HALF) == (2, 2)
    messages[3] = None  # nothing there: the end stays
    assert next_range(messages, None, Keep.HALF) == (2, 3)


def test_one_message_is_decoded_at_most() -> None:
    messages = Lazy(alternating(100))
    next_range(messages, Range(2, 25), Keep.HALF)
    assert sum(messages.decoded) == 1
