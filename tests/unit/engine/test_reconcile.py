"""Reported numbers that cannot be right, prices, and what a change costs at the cache."""

import pytest

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.request import RequestState, Usage
from ctxviewer.engine.change_cost import CostMeter
from ctxviewer.engine.plans import plan_truncate
from ctxviewer.engine.prices import Prices, parse_prices, plain_name
from ctxviewer.engine.reconcile import ProblemKind, reconcile
from ctxviewer.engine.strategies.facts import MESSAGE_TOKENS
from helpers.small_task import assistant, counted, half, small_task, user

TALK = [(user if number % 2 == 0 else assistant)("word " * 10 + str(number)) for number in range(12)]
EACH = 11 + MESSAGE_TOKENS


def problems(timeline, **more):
    return [(row.request + 1, problem.kind) for row in reconcile(timeline, **more) for problem in row.problems]


def test_errors_are_expected_minus_reported():
    rows = reconcile(small_task(TALK, reported=[100, None, 0, 200, 300, 400]), (110, 120, 130, 150, None))
    assert [(row.reported, row.error) for row in rows] == [
        (100, 10), (None, None), (None, None), (200, -50), (300, None), (400, None),
    ]  # fmt: skip
    assert (rows[0].share, rows[3].share, rows[1].share) == (0.1, -0.25, None)


def test_zero_and_output_without_input():
    task = small_task(TALK, reported=[100, 0, 0, None], outputs={2: 50}, states={1: RequestState.CANCELLED})
    assert problems(task) == [(2, ProblemKind.ZERO), (3, ProblemKind.NO_INPUT)]
    assert "cancelled" in reconcile(task)[1].problems[0].sentence


def test_above_the_window_and_below_zero():
    task = small_task(TALK, reported=[99_000, 100_000, Usage(100_000, 1), Usage(5, -3)])
    assert problems(task) == [(3, ProblemKind.ABOVE_WINDOW), (4, ProblemKind.NEGATIVE), (4, ProblemKind.FELL)]
    assert problems(task, window=200_000)[0] == (4, ProblemKind.NEGATIVE)


def test_a_fall_without_an_event():
    assert problems(small_task(TALK, reported=[1_000, 2_000, 1_900, 1_899])) == [(3, ProblemKind.FELL)]
    assert problems(small_task(TALK, reported=[1_000, 2_000, 1_990])) == [], "within the provider's own counting"
    assert problems(small_task(TALK, reported=[1_000, 2_000, 1_000], ranges={2: half(3)})) == []
    assert problems(small_task(TALK, reported=[1_000, 2_000, 0, 1_000], ranges={2: half(3)})) == [(3, ProblemKind.ZERO)]
    switched = small_task(TALK, reported=[1_000, 2_000, 1_000], models=["m", "m", "n"])
    assert problems(switched) == [(3, ProblemKind.FELL)]
    assert "model changed from m to n" in reconcile(switched)[2].problems[0].sentence


PRICES = Prices("m", input=10, output=50, cache_write=20, cache_read=1, family="f", as_of="2026", source="s")


def test_a_cut_throws_the_cache_away_behind_the_first_pair():
    task = small_task(TALK, ranges={4: half(5)}, reported=[Usage(1, 1, 1, 1)] * 6)
    meter = CostMeter(task, counted(task), PRICES)
    cost = meter.request(4)
    assert (cost.cached, cost.kept) == (7 * EACH, 2 * EACH), "request 4 sent 0 … 6"
    assert (cost.sent, cost.sent_without) == (5 * EACH, 9 * EACH)
    assert (cost.lost, cost.written, cost.written_without) == (5 * EACH, 3 * EACH, 2 * EACH)
    assert cost.share == pytest.approx(5 / 7)
    assert cost.dollars == pytest.approx((EACH * 20 - 5 * EACH * 1) / 1e6)
    assert cost.saved_each == pytest.approx(4 * EACH * 1 / 1e6)
    assert cost.pays_after == 4, "15 / 4 of what each further request saves"
    assert "71.4 % of the cached prefix" in cost.sentence
    assert meter.event(task.events[0]) == cost


def test_a_request_without_change_costs_nothing():
    task = small_task(TALK, reported=[Usage(1, 1, 1, 1)] * 6)
    cost = CostMeter(task, counted(task), PRICES).request(3)
    assert (cost.lost, cost.dollars, cost.pays_after) == (0, 0, 0)
    assert cost.sentence == "Nothing of the cached prefix is thrown away."
    assert CostMeter(task, None).request(0) is None
    with pytest.raises(IndexError):
        CostMeter(task, None).request(6)


def test_an_update_keeps_the_front_before_it():
    updates = [[4, [2, [[0, [[8_000, "text", ["gone"], []]]]]]]]
    task = small_task(TALK, updates=updates, reported=[Usage(1, 1, 1, 1)] * 6)
    cost = CostMeter(task, counted(task), PRICES).request(task.events[0].request)
    assert cost.kept == 4 * EACH
    assert cost.lost == cost.cached - 4 * EACH


def test_a_plan_is_measured_against_leaving_all_as_it_is():
    task = small_task(TALK, reported=[Usage(1, 1, 1, 1)] * 6)
    cost = CostMeter(task, counted(task), PRICES).plan(plan_truncate(task, "half"))
    assert cost.kept == EACH, "the notice on message 1 is the first difference"
    assert cost.sent < cost.sent_without
    assert (
        CostMeter(small_task(TALK, reported=[]), None).plan(plan_truncate(small_task(TALK, reported=[]), "half"))
        is None
    )


def test_what_is_cached_already_is_not_written():
    """Request 6 asked with all 11 messages, and no answer has come yet."""
    task = small_task(TALK[:11], reported=[Usage(1, 1, 1, 1)] * 6)
    cost = CostMeter(task, counted(task), PRICES).plan(plan_truncate(task, "half"))
    assert (cost.cached, cost.sent_without, cost.written_without) == (11 * EACH, 11 * EACH, 0)
    assert CostMeter(task, counted(task), PRICES).request(None).written == 0


def test_without_prices_or_a_cache_the_sentence_says_so():
    task = small_task(TALK, ranges={4: half(5)}, reported=[100] * 6)
    cost = CostMeter(task, counted(task)).request(4)
    assert (cost.dollars, cost.saved_each, cost.pays_after) == (None, None, None)
    assert cost.sentence.startswith("This task reported no cache reads")
    assert cost.sentence.endswith("no table knows this model's prices.")


TABLE = """
[[family]]
name = "F"
as_of = "2026-01"
source = "list"
prices = [
  {match = "claude-sonnet-4-5*", input = 3, output = 15, cache_write = 3.75, cache_read = 0.3},
  {match = "gpt*", input = 2, output = 8},
]
"""


def test_prices_by_model_and_their_cost():
    table = parse_prices(TABLE, "t.toml")
    sonnet, gpt = table.of("us.anthropic.claude-sonnet-4.5-v1:0"), table.of("openai/GPT-4.1")
    assert sonnet.cost(Usage(1_000_000, 1_000_000, 1_000_000, 1_000_000)) == pytest.approx(3 + 15 + 3.75 + 0.3)
    assert (gpt.cache_read, gpt.cache_write, gpt.own) == (2, 2, False)
    assert (table.of(""), table.of("qwen")) == (None, None)
    mine = parse_prices(TABLE.replace("input = 2", "input = 1"), "mine.toml", own=True).before(table)
    assert mine.of("gpt-5").input == 1
    assert mine.of("gpt-5").sentence == "by your price table: F, as of 2026-01, list"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("anthropic/claude-sonnet-4.5:beta", "claude-sonnet-4-5:beta"),
        ("us.anthropic.claude-opus-4-1@20250805", "claude-opus-4-1-20250805"),
        ("gpt-4.1", "gpt-4-1"),
        ("deepseek-v3.1", "deepseek-v3-1"),
        (" GPT-5 ", "gpt-5"),
        ("", ""),
        ("a.", "a."),
    ],
)
def test_plain_names(model, name):
    assert plain_name(model) == name


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("[[family", "p.toml", "no TOML"),
        ("x = 1", "p.toml", "no [[family]]"),
        ("[[family]]\nname = 'x'", "p.toml, family 1", "no list `prices`"),
        ("[[family]]\nprices = [{input = 1}]", "p.toml, family 1, row 1", "no `match`"),
        ("[[family]]\nprices = [{match = 'a', input = 1, output = 'x'}]", "p.toml, family 1, row 1", "`output` of a"),
        ("[[family]]\nprices = [{match = 'a', input = -1, output = 1}]", "p.toml, family 1, row 1", "`input` of a"),
        (
            "[[family]]\nprices = [{match = 'a', input = 1, output = 1, cache = 1}]",
            "p.toml, family 1, row 1",
            "unknown key",
        ),
        ("[[family]]\nprices = [{match = 'a', input = nan, output = 1}]", "p.toml, family 1, row 1", "`input` of a"),
    ],
)
def test_a_bad_table_says_where(text, place, words):
    with pytest.raises(CtxError) as told:
        parse_prices(text, "p.toml")
    assert (told.value.place, words in told.value.sentence) == (place, True), told.value.sentence
