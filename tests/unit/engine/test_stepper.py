"""Walking through plans: positions, what changed, breakpoints."""

from __future__ import annotations

from ctxviewer.engine.stepper import Stepper, break_at_file, break_at_message, files_in
from ctxviewer.engine.strategies import Facts, strategy
from helpers.cline_talk import a, call, pairs, read, result, text, u
from helpers.lab import lab_state

TALK = pairs(read("a.py", "x" * 900), read("b.py", "x" * 900), read("a.py", "x" * 900), "c", "d")


def plan_of(key="decide", total=9_000):
    state = lab_state(TALK, [total] * 6)
    return strategy(key).plan(state)


def test_there_and_back():
    plan = plan_of()
    stepper = Stepper(plan)
    assert stepper.at_start
    assert stepper.sentence == plan.title
    assert stepper.touched == ()
    assert stepper.projection is plan.before
    assert stepper.following is plan.steps[0]
    second = stepper.step().step()
    assert second.position == 2
    assert second.sentence == plan.steps[1].sentence
    assert second.touched == ((2, 0),)
    assert second.back().position == 1
    assert stepper.back() == stepper
    end = stepper.run()
    assert end.at_end
    assert end.following is None
    assert end.step() == end
    assert end.projection == plan.after
    assert end.reset() == stepper
    assert stepper.to(99).position == len(plan.steps)


def test_it_stops_before_a_message_goes():
    stepper = Stepper(strategy("sage-prune").plan(lab_state(TALK), {"recent": 1, "threshold": 0}, window=10))
    stopped = stepper.with_breakpoints(break_at_message(5)).run()
    assert stopped.stopped_by.title == "message 5"
    assert stopped.following.touched == ((5, None),)
    assert stopped.projection.standing(5) == "sent"
    assert stopped.step().projection.standing(5) == "not sent"
    on = stopped.run()
    assert on.at_end
    assert on.stopped_by is None


def test_it_stops_before_the_last_copy_of_a_file_goes():
    state = lab_state(TALK)
    facts = Facts(state.timeline)
    assert files_in(facts, state.until) == ("a.py", "b.py")
    stepper = Stepper(strategy("sage-prune").plan(state, {"recent": 1, "threshold": 0}, window=10, facts=facts))
    stopped = stepper.with_breakpoints(break_at_file(facts, "a.py", state.until)).run()
    assert stopped.following.touched == ((6, None),)
    assert stopped.stopped_by.title == "file a.py"
    both = stepper.with_breakpoints(
        break_at_file(facts, "a.py", state.until), break_at_file(facts, "b.py", state.until)
    )
    assert [(place, point.path) for place, point in both.hits()] == [(5, "b.py"), (7, "a.py")]


def test_a_replaced_copy_is_not_the_last_one():
    state = lab_state(TALK, [9_000] * 6)
    facts = Facts(state.timeline)
    stepper = Stepper(strategy("optimise").plan(state, facts=facts))
    assert stepper.with_breakpoints(break_at_file(facts, "a.py", state.until)).run().at_end


def test_it_stops_before_a_block_goes_that_holds_the_last_copy():
    held = result("t1", [text(read("a.py", "y" * 360))])
    talk = [u("x" * 360), a("go", call("t1")), u(held, "words"), a("z" * 360), u("end")]
    state = lab_state(talk)
    facts = Facts(state.timeline)
    plan = strategy("sage-prune").plan(state, {"recent": 3, "threshold": 0}, window=300, facts=facts)
    stopped = Stepper(plan).with_breakpoints(break_at_file(facts, "a.py", state.until)).run()
    assert stopped.following.touched == ((2, 0),)
    assert Stepper(plan).with_breakpoints(break_at_message(2)).run().at_end, "the words in it stay"


def test_one_step_can_take_several():
    stepper = Stepper(strategy("none").plan(lab_state(TALK, [9_000] * 6)))
    stopped = stepper.with_breakpoints(break_at_message(2), break_at_message(7)).run()
    assert stopped.position == 0
    assert stopped.stopped_by.title == "message 2"
    assert stopped.run().at_end


def test_a_message_that_never_goes_or_does_not_exist():
    stepper = Stepper(plan_of("none"))
    assert stepper.with_breakpoints(break_at_message(0), break_at_message(500)).run().at_end


def test_a_plan_that_does_nothing_has_one_step():
    stepper = Stepper(strategy("half").plan(lab_state([u("task")])))
    assert stepper.length == 1
    assert stepper.step().projection == stepper.plan.before
