"""The store with the real reader and real plans, on the bundled samples: what is planned is what is read again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ctxviewer import resources
from ctxviewer.domain.errors import RefusedError
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.engine.plans import plan_optimize, plan_rollback_to_message, plan_truncate
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from ctxviewer.sources.store import Store

NOW_MS = 1_796_000_000_000


def plans(timeline: Timeline) -> list[Plan]:
    """Those that can be applied."""
    found = [plan_truncate(timeline, keep) for keep in ("none", "lastTwo", "half", "quarter")]
    found.append(plan_optimize(timeline))
    middle = len(timeline.snapshot.messages) // 2
    found += [plan_rollback_to_message(timeline, message) for message in (middle, middle + 1)]
    return [plan for plan in found if not plan.refusal and not plan.effects.writes_nothing]


def content(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(resources.path("samples"), tmp_path / "root")
    return tmp_path / "root"


def agrees(snapshot: Snapshot, plan: Plan) -> None:
    effects = plan.effects
    if effects.set_range:
        assert snapshot.range_now == effects.deleted_range
    if effects.updates_text is not None:
        assert snapshot.updates_text == effects.updates_text
    if effects.keep_messages is not None:
        assert len(snapshot.messages) == effects.keep_messages


def test_every_plan_of_every_sample_is_written_read_and_undone(root: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    applied = 0
    for ref in registry.open_path(root):
        before = content(root)
        snapshot = registry.read(ref)
        for plan in plans(Timeline(snapshot)):
            try:
                change = registry.change_for(snapshot, plan, NOW_MS)
            except RefusedError:
                continue  # a damaged sample
            outcome = store.commit(change, consent_open=True)
            again = registry.read(ref, previous=snapshot, generation=snapshot.generation)
            agrees(again, plan)
            stamps = {stamp.role: stamp for stamp in again.files}
            for stamp in outcome.stamps:
                known = stamps[stamp.role]
                assert (known.path, known.exists, known.size, known.mtime_ns, known.inode) == (
                    stamp.path,
                    stamp.exists,
                    stamp.size,
                    stamp.mtime_ns,
                    stamp.inode,
                )
                assert known.digest in {"", stamp.digest}
            store.undo(Path(ref.directory))
            assert content(root) == before
            store.redo(Path(ref.directory))
            agrees(registry.read(ref), plan)
            store.undo(Path(ref.directory))
            assert content(root) == before
            applied += 1
    assert applied > 3


def test_a_preview_of_an_older_reading_is_refused(root: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "data")
    for ref in registry.open_path(root):
        snapshot = registry.read(ref)
        able = plans(Timeline(snapshot))
        if len(able) > 1:
            first, second = (registry.change_for(snapshot, plan, NOW_MS) for plan in able[:2])
            store.commit(first, consent_open=True)
            before = content(root)
            with pytest.raises(RefusedError, match="changed since the preview"):
                store.commit(second, consent_open=True)
            assert content(root) == before
            return
    pytest.fail("no sample with two plans")
