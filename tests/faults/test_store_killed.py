"""The writing process is killed at every single step. The task can be loaded at once, and start-up makes it whole."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ctxviewer.domain.snapshot import FileRole
from ctxviewer.sources.index_splice import splice_item
from ctxviewer.sources.store import EntryState, RecoveredKind, Store
from helpers.store_process import DONE, KILLED, REFUSED, Answer, Order, StoreProcess
from helpers.written_task import TASK_ID, World, make_world

Disk = dict[FileRole, bytes | None]


@pytest.fixture(scope="module")
def process() -> Iterator[StoreProcess]:
    process = StoreProcess()
    yield process
    process.close()


class Stage:
    """A world that is put back to its start before each killing."""

    def __init__(self, base: Path, process: StoreProcess, action: str, prepared: tuple[str, ...] = ()) -> None:
        self.process = process
        self.action = action
        self._base = base
        self.world = make_world(base / "live" / "root", base / "live" / "data")
        for step in prepared:
            assert self.run(step).code == DONE
        self.world.data_dir.mkdir(exist_ok=True)
        self.save("start")
        self.before = self.world.disk()
        self.others = self.other_items()
        log = base / "steps"
        assert self.run(action, log=str(log)).code == DONE
        self.steps = log.read_text().splitlines()
        self.after = self.world.disk()
        assert self.before != self.after
        self.load("start")

    def save(self, name: str) -> None:
        shutil.copytree(self._base / "live", self._base / name)

    def load(self, name: str) -> None:
        shutil.rmtree(self._base / "live")
        shutil.copytree(self._base / name, self._base / "live")

    def forget(self, name: str) -> None:
        shutil.rmtree(self._base / name)

    def run(self, action: str, **trouble: object) -> Answer:
        order = Order(str(self.world.root), str(self.world.data_dir), action)
        return self.process.run(replace(order, **trouble))  # type: ignore[arg-type]

    def other_items(self) -> bytes:
        """The index without the task's own item."""
        return splice_item(self.world.index.read_bytes(), TASK_ID, None)

    def check_loadable(self, step: str) -> int:
        """Each file is whole, old or new; new ones come first in the order of writing. Returns how many are new."""
        disk = self.world.disk()
        changed = [role for role in FileRole if self.before[role] != self.after[role]]
        for role in FileRole:
            assert disk[role] in {self.before[role], self.after[role]}, (step, role)
            content = disk[role]
            if content is not None:
                json.loads(content)
        new = [disk[role] == self.after[role] for role in changed]
        assert new == sorted(new, reverse=True), (step, new)
        assert self.other_items() == self.others, step
        for name in self.world.strangers():
            assert name.startswith("."), (step, name)
            assert name.endswith(".tmp"), (step, name)
        return sum(new)

    def check_whole(self, step: str) -> bool:
        """All files are old, or all are new (True); nothing of ours is left beside them."""
        disk = self.world.disk()
        assert disk in (self.before, self.after), (step, {role: disk[role] == self.after[role] for role in FileRole})
        assert self.other_items() == self.others, step
        assert self.world.strangers() == [], step
        return disk == self.after


ACTIONS = {
    "roll_back": (),
    "truncate": (),
    "undo": ("roll_back",),
    "redo": ("roll_back", "undo"),
}


MEMORY = Path("/dev/shm")  # noqa: S108 - syncing is not what is tested, and a disk is ten times slower


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty folder, in memory where the system has that."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="ctxviewer-test-") as found:
        yield Path(found)


@pytest.fixture(params=ACTIONS)
def stage(request: pytest.FixtureRequest, folder: Path, process: StoreProcess) -> Stage:
    return Stage(folder, process, request.param, ACTIONS[request.param])


both_directions = pytest.mark.parametrize("stage", ["roll_back", "undo"], indirect=True)


def newest_state(world: World) -> EntryState | None:
    history = Store(world.data_dir).history(world.task_dir)
    return history[-1].state if history else None


STATES = {
    ("roll_back", False): {None, EntryState.REVERTED},
    ("roll_back", True): {EntryState.DONE},
    ("truncate", False): {None, EntryState.REVERTED},
    ("truncate", True): {EntryState.DONE},
    ("undo", False): {EntryState.DONE},
    ("undo", True): {EntryState.UNDONE},
    ("redo", False): {EntryState.UNDONE},
    ("redo", True): {EntryState.DONE},
}


def check_agrees(stage: Stage, step: str, *, is_new: bool) -> None:
    """The journal says what the disk shows, and the next action in line works."""
    world = stage.world
    assert newest_state(world) in STATES[stage.action, is_new], step
    store = Store(world.data_dir)
    if is_new:
        store.redo(world.task_dir) if stage.action == "undo" else store.undo(world.task_dir)
    elif stage.action in {"undo", "redo"}:
        store.undo(world.task_dir) if stage.action == "undo" else store.redo(world.task_dir)
    else:
        store.commit(world.roll_back() if stage.action == "roll_back" else world.truncate())
    assert world.disk() == (stage.before if is_new else stage.after), step
    assert world.strangers() == []


def test_a_kill_at_every_step(stage: Stage) -> None:
    seen = set()
    for number, step in enumerate(stage.steps):
        assert stage.run(stage.action, kill_at=number).code == KILLED
        replaced = stage.check_loadable(step)
        found = Store(stage.world.data_dir).recover()
        is_new = stage.check_whole(step)
        assert is_new == (replaced > 0), (step, "what replaced a file is finished, what replaced none is taken back")
        kinds = [recovered.kind for recovered in found if recovered.kind is not RecoveredKind.DAMAGED]
        assert kinds in ([], [RecoveredKind.FINISHED if is_new else RecoveredKind.REVERTED]), step
        assert Store(stage.world.data_dir).recover() == (), step
        check_agrees(stage, step, is_new=is_new)
        seen.add((replaced, tuple(kinds)))
        stage.load("start")
    changed = sum(stage.before[role] != stage.after[role] for role in FileRole)
    assert {count for count, _ in seen} == set(range(changed + 1)), "every stage in between was seen"


@both_directions
def test_without_recover_the_next_action_puts_it_right_first(stage: Stage) -> None:
    for number, step in enumerate(stage.steps):
        if "replacing" not in step and not step.startswith("after"):
            continue
        assert stage.run(stage.action, kill_at=number).code == KILLED
        replaced = stage.check_loadable(step)
        answer = stage.run(stage.action)
        is_new = stage.check_whole(step)
        if replaced:
            assert answer.code == REFUSED, (step, answer)
        assert is_new, (step, answer)
        stage.load("start")


@both_directions
def test_a_kill_at_every_step_of_the_recovery(stage: Stage) -> None:
    interrupted = [number for number, step in enumerate(stage.steps) if step.startswith("inside replacing")]
    for number in interrupted[::2]:
        stage.load("start")
        assert stage.run(stage.action, kill_at=number).code == KILLED
        stage.save("killed")
        answer = Answer(KILLED, "")
        at = 0
        while answer.code == KILLED:
            answer = stage.run("recover", kill_at=at)
            stage.check_loadable(f"{stage.steps[number]}, recovery step {at}")
            Store(stage.world.data_dir).recover()
            is_new = stage.check_whole(f"{stage.steps[number]}, recovery step {at}")
            check_agrees(stage, stage.steps[number], is_new=is_new)
            stage.load("killed")
            at += 1
        assert at > 1
        stage.forget("killed")


@both_directions
def test_an_error_and_then_a_kill_while_the_files_are_put_back(stage: Stage) -> None:
    failing = [
        number for number, step in enumerate(stage.steps) if step.startswith(("after replacing", "inside marking"))
    ]
    for number in failing:
        answer = Answer(KILLED, "")
        at = number + 1
        while answer.code == KILLED:
            answer = stage.run(stage.action, fail_at=number, kill_at=at)
            step = f"error at {stage.steps[number]}, killed at {at}"
            stage.check_loadable(step)
            Store(stage.world.data_dir).recover()
            is_new = stage.check_whole(step)
            check_agrees(stage, step, is_new=is_new)
            stage.load("start")
            at += 1
        assert answer.code == REFUSED
        assert at > number + 3


def test_a_power_cut_that_loses_any_part_of_the_newest_journal_line(stage: Stage) -> None:
    """Before the intent is on the disk no file is touched; so a cut intent goes with old files only."""
    at = stage.steps.index("inside noting in the journal")
    assert stage.run(stage.action, kill_at=at + 1).code == KILLED  # the whole line is written
    stage.save("killed")
    (path,) = stage.world.data_dir.glob("changes/*/journal")
    whole = path.read_bytes()
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    for length in range(start, len(whole), 37):
        path.write_bytes(whole[:length] + b"\0" * (length % 2 * 16))  # some file systems leave zeros behind
        Store(stage.world.data_dir).recover()
        assert not stage.check_whole(f"journal cut at {length} of {len(whole)}")
        assert Store(stage.world.data_dir).recover() == ()
        check_agrees(stage, f"journal cut at {length}", is_new=False)
        stage.load("killed")


def test_a_power_cut_that_loses_the_done_mark(stage: Stage) -> None:
    at = stage.steps.index("after marking in the journal")
    assert stage.run(stage.action, kill_at=at).code == KILLED
    stage.save("killed")
    (path,) = stage.world.data_dir.glob("changes/*/journal")
    whole = path.read_bytes()
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    for length in range(start, len(whole), 11):
        path.write_bytes(whole[:length])
        kinds = {found.kind for found in Store(stage.world.data_dir).recover()}
        assert kinds - {RecoveredKind.DAMAGED} <= {RecoveredKind.FINISHED}
        assert stage.check_whole(f"mark cut at {length}")
        check_agrees(stage, f"mark cut at {length}", is_new=True)
        stage.load("killed")
