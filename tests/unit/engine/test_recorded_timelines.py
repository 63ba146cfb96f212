"""Timelines of recorded tasks: every range step, update and checkpoint that their facts list."""

from __future__ import annotations

import json
from pathlib import Path, PurePath

import pytest

from ctxviewer.domain.snapshot import Agent, TaskRef
from ctxviewer.engine.events import RANGE_KINDS, EventKind
from ctxviewer.engine.explain import explain
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry

SHARED = Path(__file__).parents[3].parent / "shared" / "tasks"
EXPECTED = json.loads((SHARED / "expected.json").read_text()) if SHARED.is_dir() else {}
TASKS = [key for key in EXPECTED if key.startswith("cline/tasks/")]
CUT = [key for key in TASKS if EXPECTED[key].get("range_steps")]
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded tasks are not beside the project")


def timeline_of(key: str) -> Timeline:
    directory = SHARED / key
    root = PurePath(directory.parent.parent)
    ref = TaskRef(Agent.CLINE, directory.name, directory, root, "", "", 0, 0, 0, in_index=True)
    return Timeline(registry.read(ref))


@pytest.mark.parametrize("key", CUT)
def test_every_recorded_range_step_is_an_event_with_its_mode(key):
    timeline = timeline_of(key)
    events = [event for event in timeline.events if event.kind in RANGE_KINDS]
    steps = EXPECTED[key]["range_steps"]
    assert [(list(event.range_after), event.ui_index) for event in events] == [
        (step["range"], step["ui_item"]) for step in steps
    ]
    if timeline.snapshot.has_messages:
        for event, step in zip(events, steps, strict=True):
            assert event.length == step["length"]
            assert step["kind"].split("=")[0] in event.keep.split(" or ")


@pytest.mark.parametrize("key", TASKS)
def test_updates_by_kind(key):
    counts: dict[str, int] = {}
    for update in timeline_of(key).updates:
        counts[str(update.edit_type)] = counts.get(str(update.edit_type), 0) + 1
    assert counts == EXPECTED[key].get("updates_by_edit_type", {})


@pytest.mark.parametrize("key", CUT)
def test_every_explanation_at_an_event_names_its_numbers_and_doubts_nothing(key):
    timeline = timeline_of(key)
    if not timeline.snapshot.has_messages:
        pytest.skip("no history, no decision")
    for event in timeline.events:
        if event.request:
            explanation = explain(timeline, event.request)
            assert explanation.compared == timeline.requests[event.request - 1].usage.total
            assert explanation.doubts == ()


def test_an_optimisation_without_a_cut():
    timeline = timeline_of("cline/tasks/1746743929324")
    assert [event.kind for event in timeline.events] == [EventKind.OPTIMIZE]
    explanation = explain(timeline, 45)
    assert explanation.saved_share == pytest.approx(0.359, abs=0.001)
    assert any("at least 30 %, so no cut was needed" in sentence for sentence in explanation.sentences)


def test_updates_take_effect_in_the_request_after_the_one_whose_time_they_bear():
    timeline = timeline_of("cline/tasks/1746743929324")
    assert not timeline.projection(44).updates
    assert len(timeline.projection(45).updates) == 20


def test_a_repeated_decision_after_a_resume_is_told():
    explanation = explain(timeline_of("cline/tasks/1746727151409"), 9)
    assert any("earlier attempt, removed when the task was resumed" in sentence for sentence in explanation.sentences)


@pytest.mark.parametrize("key", TASKS)
def test_every_request_of_every_task_projects_and_sends(key):
    timeline = timeline_of(key)
    for number in [*range(len(timeline.requests))[:: max(1, len(timeline.requests) // 12)], None]:
        projection = timeline.projection(number)
        assert len(timeline.sent(number)) == projection.sent_count + len(projection.repeated)
