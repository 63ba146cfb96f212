"""Cline's rows of the table: their steps, their refusals, the subagent's way."""

from __future__ import annotations

import pytest

from ctxviewer.domain.plan import PlanKind
from ctxviewer.domain.projection import Cut, Standing
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.state import state_at
from ctxviewer.engine.strategies import STRATEGIES, Facts, strategy
from helpers.cline_talk import a, alternating, call, edit, pairs, read, result, u
from helpers.lab import LIMIT, lab_state, lab_task

CLINE = [row for row in STRATEGIES if row.agent == "Cline"]
READS = pairs(*[read("a.py", "x" * 2_000) for _ in range(4)], "more", edit("a.py", "y" * 2_000), "end")


def sentences(plan):
    return [step.sentence for step in plan.steps]


def test_the_full_decision_step_by_step():
    plan = strategy("decide").plan(lab_state(READS, [LIMIT] * 8))
    found = sentences(plan)
    assert found[0] == "Request 8 reported 8,000 tokens; the limit is 8,000 (window 10,000 − 2,000): reached."
    assert found[1].startswith(
        "Read of a.py in message 2 replaced: −1,847 characters; the newest copy is in message 12"
    )
    assert found[-1].startswith("4 older copies of 1 file replaced: saved")
    assert "so no cut was needed" in found[-1]
    assert [step.touched for step in plan.steps[1:3]] == [((2, 0),), ((4, 0),)]
    assert [len(step.after.updates) for step in plan.steps] == [0, 1, 2, 3, 4, 4]
    assert plan.kind is PlanKind.DECIDE
    assert plan.settings["strategy"] == "decide"


def test_a_cut_tells_its_range_the_orphans_and_the_notice():
    talk = [u("task"), a("ok"), *[m for n in range(6) for m in (u(result(f"t{n - 1}")), a("go", call(f"t{n}")))]]
    plan = strategy("half").plan(lab_state([*talk, u(result("t5"), "last")], [9_000]))
    assert plan.after.deleted_range == Range(2, 7)
    assert sentences(plan) == [
        "Mode half: messages 2–7 go, 6 of the 13 that remain (the older half of the rest).",
        "Message 8 loses 1 orphan result: the calls are not sent any more.",
        "The truncation notice is put on message 1.",
    ]
    assert plan.steps[0].touched == tuple((number, None) for number in range(2, 8))
    assert not plan.refusal
    assert plan.effects.deleted_range == Range(2, 7)


@pytest.mark.parametrize("key", ["half", "quarter", "lastTwo", "none", "optimise"])
def test_what_frees_nothing_says_so_in_one_step(key):
    state = lab_state([u("task"), a("ok")], [9_000])
    plan = strategy(key).plan(state)
    assert len(plan.steps) == 1
    assert plan.steps[0].after == plan.before == plan.after
    assert plan.steps[0].sentence == plan.refusal
    assert "nothing" in plan.refusal


def test_below_the_limit_nothing_is_done():
    for key in ("decide", "subagent"):
        plan = strategy(key).plan(lab_state(READS, [LIMIT - 1] * 8))
        assert "not reached, nothing is done" in sentences(plan)[-1]
        assert plan.after == plan.before


def test_a_task_of_one_message():
    state = lab_state([u("task")], [9_000])
    for row in CLINE:
        plan = row.plan(state)
        assert plan.steps
        assert plan.after.sent_count == 1


def test_a_task_without_messages_or_requests():
    for row in STRATEGIES:
        assert row.plan(lab_state([])).steps[0].sentence == "There is no message yet."
    plan = strategy("decide").plan(lab_state(READS))
    assert plan.refusal == "No request before has reported its size, so there is nothing to compare."


def test_a_window_smaller_than_the_first_pair_is_told():
    state = lab_state([u("x" * 4_000), a("ok"), *alternating(8)], [9_000])
    for row in CLINE:
        (warning,) = row.plan(state, window=900).warnings
        assert warning.startswith("The first pair alone is about 1,017 tokens, more than the window of 900")
    assert not strategy("half").plan(state, window=1_100).warnings


def test_the_window_decides():
    state = lab_state(READS, [LIMIT] * 8)
    assert strategy("decide").plan(state, window=20_000).after == state.projection
    assert strategy("decide").plan(state, {"total": 16_000}, window=20_000).after != state.projection


def test_a_what_if_starts_from_the_request():
    ranges = {3: Range(2, 3)}
    timeline = lab_task(READS, [9_000] * 8, ranges=ranges)
    plan = strategy("none").plan(state_at(timeline, 2))
    assert plan.before.until == 5
    assert plan.after.deleted_range == Range(2, 3)
    assert plan.refusal.startswith("This is a what-if before request 3")
    assert strategy("none").plan(state_at(timeline, 7)).before.deleted_range == Range(2, 3)


def test_a_what_if_of_the_past_does_not_name_later_requests():
    timeline = lab_task(READS, [9_000] * 8, ranges={2: Range(2, 3), 5: Range(2, 9), 6: Range(2, 11)})
    own, cut = Cut(2, 3, 2), Cut(4, 5, None)
    assert state_at(timeline, 4).projection.cuts == (own,)
    plan = strategy("lastTwo").plan(state_at(timeline, 4))
    assert plan.after.deleted_range == Range(2, 5)
    assert plan.after.cuts == (own, cut)
    assert [step.after.cuts for step in plan.steps] == [(own, cut)] * len(plan.steps)
    assert strategy("none").plan(state_at(timeline, 2)).after.cuts == (Cut(2, 3, None),)
    now = strategy("none").plan(state_at(timeline, None)).after.cuts
    assert now == (Cut(2, 3, 2), Cut(4, 9, 5), Cut(10, 11, 6), Cut(12, 15, None))


def test_damage_that_stops_the_rules_is_told():
    plan = strategy("decide").plan(lab_state([*READS, {"role": "user", "content": [None]}], [9_000] * 8))
    assert "The rules fail on this history" in plan.steps[-1].sentence
    assert plan.after == plan.before
    subagent = strategy("subagent").plan(lab_state([*READS, {"role": "user", "content": [None]}], [9_000] * 8))
    assert "The rules fail on this history" in subagent.steps[-1].sentence
    assert subagent.after == subagent.before


def test_a_subagent_replaces_reads_before_the_cut_too():
    timeline = lab_task(READS, [9_000] * 8, ranges={0: Range(2, 5)})
    state = state_at(timeline, None)
    plan = strategy("subagent").plan(state)
    assert {place[0] for place in plan.after.updates} == {2, 4, 6, 8}
    main = strategy("optimise").plan(state)
    assert {place[0] for place in main.after.updates} == {6, 8}
    assert "overwritten" in plan.refusal
    assert plan.kind is PlanKind.STRATEGY


def test_a_subagent_keeps_a_quarter_and_no_notice():
    plan = strategy("subagent").plan(lab_state(alternating(21), [9_000]))
    assert plan.after.deleted_range == Range(2, 15)
    assert "Quarter of 19 remaining messages: messages 2–15 go (14 of 19)." in sentences(plan)
    assert not plan.after.updates


def test_a_subagents_cut_tells_its_orphans():
    talk = [
        u("task"),
        a("ok"),
        u("go"),
        a("read", call("t1")),
        a("then"),
        u(result("t1"), "words"),
        a("end"),
        u("more"),
    ]
    plan = strategy("subagent").plan(lab_state(talk, [9_000] * 4))
    assert sentences(plan)[-2:] == [
        "Quarter of 6 remaining messages: messages 2–4 go (3 of 6).",
        "Message 5 loses 1 orphan result: the calls are not sent any more.",
    ]
    assert plan.steps[-1].touched == ((5, None),)


def test_a_subagents_range_beyond_the_end_leaves_out_nothing_more():
    plan = strategy("subagent").plan(lab_state(alternating(6), [9_000], deleted=Range(2, 14)))
    assert sentences(plan)[-1] == "The range would become 2–6, which leaves out nothing more."
    assert plan.steps[-1].touched == ()


def test_a_subagent_with_auto_condense_acts_earlier():
    state = lab_state(alternating(21), [7_500])
    row = strategy("subagent")
    assert row.plan(state).after == state.projection
    assert row.plan(state, {"auto_condense": True}).after.deleted_range == Range(2, 15)
    assert row.plan(lab_state(alternating(21), [5])).after.deleted_range is None
    assert row.plan(lab_state(alternating(21), [5]), {"always": True}).after.deleted_range == Range(2, 15)


def test_messages_are_decoded_once_for_all_strategies():
    timeline = lab_task(READS, [9_000] * 8)
    asked = []
    facts = Facts(timeline)
    source = timeline.snapshot.messages

    class Counting:
        def __len__(self):
            return len(source)

        def __getitem__(self, index):
            asked.append(index)
            return source[index]

    facts.messages._source = Counting()
    for row in STRATEGIES:
        row.plan(state_at(timeline, None), {"always": True} if "always" in row.values() else {}, facts=facts)
    assert sorted(asked) == list(range(len(READS)))


def test_thousands_of_replaced_reads_make_their_pictures_when_asked():
    talk = pairs(*[read("a.py", "x" * 200) for _ in range(600)])
    plan = strategy("optimise").plan(lab_state(talk, [9_000]))
    assert len(plan.steps) == 600
    assert len(plan.steps[299].after.updates) == 300
    assert plan.steps[299].after.standing(2) is Standing.SENT
