"""Strategies on any task, damaged ones included: only sentences as errors, numbers that a recount gives, no half steps."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.errors import BrokenInputError, CtxError
from ctxviewer.domain.projection import Standing
from ctxviewer.engine.cline.prepare import decide
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.cline.window import window_info
from ctxviewer.engine.explain import api_of
from ctxviewer.engine.matrix import Choice, all_choices, as_csv, as_markdown, matrix
from ctxviewer.engine.plans import plan_decide, plan_optimize, plan_truncate
from ctxviewer.engine.recorded import recorded
from ctxviewer.engine.replay import replay
from ctxviewer.engine.replay_check import replay_check
from ctxviewer.engine.state import state_at
from ctxviewer.engine.stepper import Stepper, break_at_file, break_at_message, files_in
from ctxviewer.engine.strategies import STRATEGIES, Facts, strategy
from ctxviewer.engine.strategies.facts import facts_of
from helpers.cline_strategies import conversations, even_ends, histories, ranges
from helpers.lab import lab_task

odd_messages = st.sampled_from(
    [
        None,
        {"role": "user"},
        {"role": "user", "content": [None]},
        {"role": "user", "content": [{"type": "text", "text": 5}]},
        {"role": "user", "content": "words only"},
        {"role": "system", "content": "be brief"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": 3, "name": None, "input": "x"}]},
    ]
)
totals = st.lists(st.one_of(st.none(), st.sampled_from([10, 7_999, 8_000, 12_000, 16_001])), max_size=8)


@st.composite
def tasks(draw: st.DrawFn, *, healthy: bool = False):
    """A task with requests, recorded ranges and updates; of a healthy one the messages are whole."""
    messages = draw(conversations(max_size=16))
    if not healthy:
        for place in draw(st.lists(st.integers(0, 20), max_size=2)):
            if place < len(messages):
                messages[place] = draw(odd_messages)
    reported = draw(totals)
    ends = even_ends if healthy else ranges
    recorded_ranges = {
        number: deleted for number in range(len(reported)) if (deleted := draw(st.one_of(st.none(), ends))) is not None
    }
    history = draw(histories()) if draw(st.booleans()) else ContextHistory()
    return lab_task(messages, reported, ranges=recorded_ranges, updates=history.dump() if history else None)


@st.composite
def moments(draw: st.DrawFn, *, healthy: bool = False):
    """A state of such a task: at any request, or now."""
    timeline = draw(tasks(healthy=healthy))
    count = len(timeline.requests)
    return state_at(timeline, draw(st.one_of(st.none(), st.integers(0, count - 1))) if count else None)


def _outcome(work):
    """What it returns, or the sentence that stops it."""
    try:
        return work()
    except CtxError as err:
        return err


def _always(row):
    return {"always": True} if any(setting.name == "always" for setting in row.settings) else {}


@settings(max_examples=100, deadline=None)
@given(moments(), st.sampled_from(STRATEGIES), st.booleans(), st.sampled_from([None, 1, 50, 10_000]))
def test_a_plan_is_whole_or_a_sentence(state, row, forced, window):
    plan = _outcome(lambda: row.plan(state, _always(row) if forced else {}, window=window))
    if isinstance(plan, CtxError):
        assert plan.sentence
        return
    assert plan.steps
    assert all(step.sentence for step in plan.steps)
    assert plan.steps[-1].after == plan.after
    for step in plan.steps:
        shown = step.after
        assert shown.until == plan.before.until
        assert all(0 <= message < state.until for message, _ in step.touched)
        for cut in shown.cuts:
            assert all(shown.standing(number) is Standing.NOT_SENT for number in range(cut.first, cut.last + 1))
        hidden = sum(cut.last - cut.first + 1 for cut in shown.cuts)
        assert hidden == sum(shown.standing(number) is Standing.NOT_SENT for number in range(state.until))


@settings(max_examples=100, deadline=None)
@given(moments())
def test_cline_rows_are_the_plans_of_the_actions(state):
    facts, timeline, number = Facts(state.timeline), state.timeline, state.request
    if not state.until:
        return
    for key in ("none", "lastTwo", "half", "quarter"):
        _same(strategy(key).plan(state, facts=facts), plan_truncate(timeline, key, number))
    _same(strategy("optimise").plan(state, facts=facts), plan_optimize(timeline, number))
    _same(strategy("decide").plan(state, facts=facts), plan_decide(timeline, None, None, number))


def _same(one, other):
    assert [step.sentence for step in one.steps] == [step.sentence for step in other.steps]
    assert one.after == other.after
    assert one.effects == other.effects
    assert one.added_updates == other.added_updates
    assert (one.characters_before, one.characters_after) == (other.characters_before, other.characters_after)


@settings(max_examples=100, deadline=None)
@given(moments(healthy=True))
def test_the_matrix_counts_what_is_sent(state):
    timeline, facts = state.timeline, Facts(state.timeline)
    choices = [Choice(choice.strategy, _always(choice.strategy)) for choice in all_choices()]
    found = matrix(state, choices, facts=facts)
    for row in found.rows:
        if row.plan is None:
            assert row.problem
            continue
        after = row.plan.after
        sent = timeline.sent_by(after)
        if state.until > 1:
            assert row.tokens_kept == sum(facts_of(number, value).tokens for number, value in enumerate(sent))
        before, now = _sent(row.plan.before), _sent(after)
        assert row.messages_kept == len(now)
        assert row.messages_lost == len(before - now) == sum(run.length for run in row.lost)
        assert row.tokens_saved == found.tokens_before - row.tokens_kept
        assert set(row.instructions_lost) <= before - now
        assert row.total == row.tokens_kept + found.overhead
        assert row.cached_share is None or 0 <= row.cached_share <= 1
    assert len(as_csv(found).splitlines()) >= len(found.rows) + 1
    assert as_markdown(found).count("\n| ") == len(found.rows) + 2  # head and rule


def _sent(projection):
    return {number for number in range(projection.until) if projection.standing(number) is Standing.SENT}


@settings(max_examples=66, deadline=None)
@given(tasks())
def test_replaying_the_decision_is_deciding_request_by_request(timeline):
    facts = Facts(timeline)
    (found,) = replay(timeline, [Choice(strategy("decide"))], facts=facts)
    base = recorded(facts)
    deleted, history, total, stamp = None, ContextHistory(), None, None
    info = window_info(api_of(timeline.snapshot.model))
    for row in found.rows:
        if total is not None:
            made = decide(timeline.snapshot.messages[: row.until], info, deleted, history, total=total, timestamp=stamp)
            deleted, history = made.range_after, made.history_after
        changed = [action for action in row.actions if action.kind != "nothing"]
        if changed:
            assert changed[-1].deleted_range == deleted
        request = timeline.requests[row.number]
        total = base.total_with(row.number, row.tokens, request.usage.total) if request.usage_reported else None
        assert row.total == total
        stamp = request.ts
    if found.failure:
        kept = timeline.snapshot.messages[: base.until[found.failed_request]]
        stopped = _outcome(lambda: decide(kept, info, deleted, history, total=total, timestamp=stamp))
        assert isinstance(stopped, BrokenInputError)
        assert stopped.sentence in found.failure


@settings(max_examples=50, deadline=None)
@given(tasks())
def test_a_replay_ends_and_can_be_drawn(timeline):
    found = replay(timeline, all_choices())
    for item in found:
        assert len(item.rows) == len(timeline.requests) or item.failure
        lost = set()
        for row in item.rows:
            picture = item.projection(timeline, row.number)
            assert picture.until == row.until
            hidden = {number for number in range(row.until) if picture.standing(number) is Standing.NOT_SENT}
            assert lost <= hidden
            lost = hidden
            assert row.tokens >= 0


@settings(max_examples=66, deadline=None)
@given(tasks(), st.sampled_from([None, 5_000, 20_000]))
def test_a_check_names_a_cause_or_says_that_it_knows_none(timeline, window):
    found = replay_check(timeline, window)
    assert found.verdict
    for step in found.steps:
        assert step.sentence
        assert step.cause
    changes = [event for event in timeline.events if event.kind != "optimize"]
    assert len(found.range_steps) == len(changes)


@settings(max_examples=66, deadline=None)
@given(moments(), st.sampled_from(STRATEGIES), st.integers(0, 16))
def test_a_stepper_stops_right_before_the_loss(state, row, message):
    facts = Facts(state.timeline)
    plan = _outcome(lambda: row.plan(state, _always(row), facts=facts))
    if isinstance(plan, CtxError):
        return
    points = [break_at_message(message)]
    points += [break_at_file(facts, path, state.until) for path in files_in(facts, state.until)[:1]]
    stepper = Stepper(plan).with_breakpoints(*points).run()
    while not stepper.at_end:
        assert stepper.stopped_by is not None
        before, after = stepper.projection, stepper.step().projection
        if stepper.stopped_by.message is not None:
            assert before.standing(message) is Standing.SENT
            assert after.standing(message) is not Standing.SENT
        stepper = stepper.run()
    assert stepper.projection == plan.after
    assert stepper.reset().projection == plan.before
    assert stepper.back().step().position == stepper.position
