"""Rolling back on disk, for tasks with any updates: exactly those stay that hold, and the way there does not matter."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.request import Checkpoint, CheckpointKind
from ctxviewer.engine.cline.notices import DUPLICATE_FILE_READ
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.plans import plan_rollback, plan_rollback_to_message
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from ctxviewer.sources.store.store import Store
from helpers.rolled_back import path_read, that_hold
from helpers.working_agent import NOTICE, T0, WorkingAgent

FILES = ["a.py", "b.py"]
Place = Callable[[WorkingAgent], WorkingAgent]
NOW_MS = T0 + 10_000_000


@st.composite
def tasks(draw: st.DrawFn) -> WorkingAgent:
    """Turns that read few files again and again, a range that grows, updates of any of the times that there are."""
    agent = WorkingAgent(Path())
    for number, path in enumerate(draw(st.lists(st.sampled_from(FILES), min_size=3, max_size=8))):
        agent.turn(f"turn {number}", read=path if number else "", body="x" * 300)
        first = agent.deleted[1] + 1 if agent.deleted else 2
        if len(agent.messages) - first > 2 and draw(st.integers(0, 2)) == 0:
            agent.deleted = [2, first + 1]
    times = st.sampled_from([entry["ts"] for entry in agent.ui])
    history = ContextHistory()
    updates = draw(st.lists(st.tuples(st.integers(0, len(agent.messages) // 2 - 1), times), max_size=8))
    for turn, time in sorted(updates, key=lambda update: update[1]):
        path = path_read(agent.messages[turn * 2])
        if path:
            text = f"[read_file for '{path}'] Result:\n{DUPLICATE_FILE_READ}"
            history = history.with_update(turn * 2, 0, time, text, 2, [])
        else:
            history = history.with_update(1, 0, time, NOTICE, 0, [])
    agent.updates = history.dump() if updates else None
    return agent


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Callable[[WorkingAgent], WorkingAgent]:
    """Puts a task on disk, each time into a place of its own."""

    def put(agent: WorkingAgent) -> WorkingAgent:
        placed = replace(agent, root=tmp_path_factory.mktemp("task") / "root")
        placed.write()
        return placed

    return put


def opened(agent: WorkingAgent) -> Timeline:
    return Timeline(registry.read(agent.ref))


def points(timeline: Timeline) -> list[Checkpoint]:
    return [point for point in timeline.snapshot.checkpoints if point.kind is CheckpointKind.CHECKPOINT]


def roll_back(agent: WorkingAgent, number: int) -> str:
    """Back to a checkpoint, on disk; why not, if it is refused."""
    timeline = opened(agent)
    plan = plan_rollback(timeline, points(timeline)[number])
    if not plan.refusal:
        store = Store(agent.root.parent / "own", clock=lambda: NOW_MS / 1000)
        store.commit(registry.change_for(timeline.snapshot, plan, NOW_MS), consent_open=True)
        agent.load()
    return plan.refusal


def state(agent: WorkingAgent) -> tuple[object, ...]:
    """All that stands on disk, and what was reported for what is gone."""
    *ui, last = agent.ui
    totals = json.loads(last["text"]) if last["say"] == "deleted_api_reqs" else {}
    entry = {key: value for key, value in last.items() if key != "text"}
    rounded = {key: round(value, 9) for key, value in totals.items()}  # sums of prices in another order
    return agent.messages, agent.updates, agent.deleted, [*ui, entry], rounded


@settings(max_examples=120, deadline=None)
@given(tasks(), st.data())
def test_exactly_the_updates_that_hold_stay(on_disk: Place, task: WorkingAgent, data: st.DataObject) -> None:
    agent = on_disk(task)
    timeline = opened(agent)
    before = timeline.updates
    if data.draw(st.booleans()):
        plan = plan_rollback(timeline, data.draw(st.sampled_from(points(timeline))))
    else:
        plan = plan_rollback_to_message(timeline, data.draw(st.integers(0, len(agent.messages) - 1)))
    if plan.refusal:
        return
    deleted = plan.effects.deleted_range
    held = that_hold(before, agent.messages[: plan.after.until], plan.settings["ts"], deleted)
    gone = {(update.message, update.timestamp) for update in plan.removed_updates}
    assert {(update.message, update.timestamp) for update in before} - gone == held
    stored = ContextHistory.parse(plan.effects.updates_text) if gone else timeline.history
    assert {(update.message, update.timestamp) for update in stored.updates()} == held
    assert bool(gone) is (plan.effects.updates_text is not None), "a file that stays as it is is not written"


@settings(max_examples=60, deadline=None)
@given(tasks(), st.data())
def test_rolling_back_twice_is_rolling_back_once(on_disk: Place, task: WorkingAgent, data: st.DataObject) -> None:
    agent = on_disk(task)
    number = data.draw(st.integers(0, len(points(opened(agent))) - 2))
    assert not roll_back(agent, number)
    once = agent.files()
    assert "nothing to take back" in roll_back(agent, number)
    assert agent.files() == once


@settings(max_examples=60, deadline=None)
@given(tasks(), st.data())
def test_rolling_back_in_two_steps_is_rolling_back_to_the_earlier_point(
    on_disk: Place, task: WorkingAgent, data: st.DataObject
) -> None:
    count = len([entry for entry in task.ui if entry["say"] == "checkpoint_created"])
    later = data.draw(st.integers(1, count - 1))
    earlier = data.draw(st.integers(0, later - 1))
    stepwise, direct = on_disk(task), on_disk(task)
    roll_back(stepwise, later)  # the newest point has nothing to take back
    for agent in (stepwise, direct):
        assert not roll_back(agent, earlier)
    assert state(stepwise) == state(direct)
