"""Plan, commit, read again: the task on disk is what the preview showed, and undo brings every byte back."""

from __future__ import annotations

import os
import shutil

import pytest

from ctxviewer.engine.plans import plan_rollback, plan_truncate
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from ctxviewer.sources.cline.reader import read_task
from ctxviewer.sources.store import Store
from helpers.cline_disk import DATA, FakeClock

NOW = 1_800_000_000_000


def files(root):
    return {path.relative_to(root): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.fixture
def root(tmp_path):
    shutil.copytree(DATA / "cline", tmp_path / "cline")
    for path in (tmp_path / "cline").rglob("*.json"):
        os.utime(path, (1_747_000_000, 1_747_000_000))
    return tmp_path / "cline"


def snapshot_of(root, task_id, **more):
    (ref,) = registry.open_path(root / "tasks" / task_id)
    return read_task(ref, clock=FakeClock(NOW / 1000).clock(), **more)


@pytest.mark.parametrize("task_id", ["1769064454592", "1784353291259", "1747593909859"])
@pytest.mark.parametrize("keep", ["half", "quarter", "lastTwo", "none"])
def test_truncations(root, tmp_path, task_id, keep):
    before, snapshot = files(root), snapshot_of(root, task_id)
    plan = plan_truncate(Timeline(snapshot), keep)
    if plan.refusal:
        pytest.skip(plan.refusal)
    store = Store(tmp_path / "own")
    store.commit(registry.change_for(snapshot, plan, NOW), consent_open=True)
    again = snapshot_of(root, task_id, previous=snapshot, generation=1)
    assert again.range_now == plan.after.deleted_range
    projection = Timeline(again).projection(None)
    assert projection.updates.keys() == plan.after.updates.keys()
    assert {k: v.text for k, v in projection.updates.items()} == {k: v.text for k, v in plan.after.updates.items()}
    assert again.messages is snapshot.messages
    changed = {path.name for path in before if before[path] != files(root)[path]}
    assert changed <= {"context_history.json", "taskHistory.json"}
    store.undo(root / "tasks" / task_id)
    assert files(root) == before


@pytest.mark.parametrize("task_id", ["1769064454592", "1784353291259"])
def test_rollbacks_to_every_checkpoint(root, tmp_path, task_id):
    before = files(root)
    snapshot = snapshot_of(root, task_id)
    store = Store(tmp_path / "own")
    done = 0
    for point in snapshot.checkpoints[::9]:
        plan = plan_rollback(Timeline(snapshot), point)
        if plan.refusal:
            continue
        store.commit(registry.change_for(snapshot, plan, NOW), consent_open=True)
        again = snapshot_of(root, task_id, previous=snapshot, generation=1)
        assert len(again.messages) == plan.after.until
        assert again.range_now == plan.after.deleted_range
        assert len(again.ui) == plan.effects.keep_ui + 1
        assert again.ui[:-1] == snapshot.ui[: len(again.ui) - 1]
        assert again.ui[-1].kind == "deleted_api_reqs"
        assert again.requests == snapshot_of(root, task_id, generation=1).requests
        store.undo(root / "tasks" / task_id)
        assert files(root) == before
        done += 1
    assert done
