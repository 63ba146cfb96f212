"""Others write at the worst moment: another commit, another task's commit, the agent, a reader."""

from __future__ import annotations

import json
import multiprocessing
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxviewer.domain.errors import CtxError, RefusedError
from ctxviewer.domain.snapshot import FileRole
from ctxviewer.sources.change import Change, FileEffect
from ctxviewer.sources.fingerprint import stamp_of
from ctxviewer.sources.index_splice import item_bytes
from ctxviewer.sources.store import EntryState, RecoveredKind, Store, UnfinishedError
from helpers.written_task import INDEX, ITEM, LAST_ITEM, NAMES, OTHER_ITEM, World, make_world, messages


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path / "root", tmp_path / "data")


class At:
    """A hook that acts once when a step is reached."""

    def __init__(self, step: str, act: Callable[[], object]) -> None:
        self._step = step
        self._act = act
        self.times = 0

    def __call__(self, step: str) -> None:
        if step == self._step and not self.times:
            self.times += 1
            self._act()


def test_two_commits_of_one_preview_at_once(world: World) -> None:
    change = world.truncate()
    start = threading.Barrier(2)
    results: list[object] = []

    def write() -> None:
        start.wait(60)
        try:
            results.append(Store(world.data_dir, lock_wait_s=60).commit(change).title)
        except RefusedError as error:
            results.append(error)

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    (refusal,) = [result for result in results if isinstance(result, RefusedError)]
    assert "changed since the preview" in refusal.sentence
    assert results.count("Truncate to half") == 1
    assert [entry.state for entry in Store(world.data_dir).history(world.task_dir)] == [EntryState.DONE]
    Store(world.data_dir).undo(world.task_dir)
    assert world.index.read_bytes() == INDEX


def test_a_commit_during_another_one_is_refused_and_told_why(world: World) -> None:
    second = Store(world.data_dir, lock_wait_s=0.05)
    change = world.truncate("Second")
    refusals: list[RefusedError] = []

    def intrude() -> None:
        for act in (lambda: second.commit(change), lambda: second.undo(world.task_dir)):
            with pytest.raises(RefusedError) as caught:
                act()
            refusals.append(caught.value)
        assert second.recover() == (), "a write under way is not an interrupted one"
        (entry,) = second.history(world.task_dir)
        assert entry.state is EntryState.PENDING

    hook = At("inside replacing context_history.json", intrude)
    Store(world.data_dir, hook=hook).commit(world.roll_back())
    assert hook.times == 1
    assert all("is being written by another ctxviewer" in refusal.sentence for refusal in refusals)


def task_change(root: Path, task_id: str, end: int) -> Change:
    """A change of one of many tasks that share an index."""
    folder, index = root / "tasks" / task_id, root / "state" / "taskHistory.json"
    updates = folder / NAMES[FileRole.UPDATES]
    content = updates.read_bytes() if updates.exists() else None
    item = item_bytes(index.read_bytes(), task_id)
    new = b'{"id":"%s","end":%d}' % (task_id.encode(), end)
    return Change(
        folder,
        f"to {end}",
        (stamp_of(FileRole.UPDATES, updates, content), stamp_of(FileRole.INDEX, index, item)),
        (
            FileEffect(FileRole.UPDATES, updates, b"[%d]" % end),
            FileEffect(FileRole.INDEX, index, new, task_id),
        ),
    )


def write_often(root: Path, data_dir: Path, task_id: str, count: int) -> None:
    """In a process of its own: commit several changes of one task."""
    store = Store(data_dir, lock_wait_s=600)
    for end in range(1, count + 1):
        store.commit(task_change(root, task_id, end))


def test_many_processes_write_many_tasks_of_one_index(tmp_path: Path) -> None:
    root, data, count = tmp_path / "root", tmp_path / "data", 8
    names = [str(number) for number in range(4)]
    (root / "state").mkdir(parents=True)
    (root / "state" / "taskHistory.json").write_bytes(
        b"[" + b" , ".join([OTHER_ITEM, *(b'{"id":"%s"}' % name.encode() for name in names), LAST_ITEM]) + b"]\n"
    )
    for name in names:
        (root / "tasks" / name).mkdir(parents=True)
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=write_often, args=(root, data, name, count)) for name in names]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(600)
        assert worker.exitcode == 0
    items = [b'{"id":"%s","end":%d}' % (name.encode(), count) for name in names]
    assert (root / "state" / "taskHistory.json").read_bytes() == (
        b"[" + b" , ".join([OTHER_ITEM, *items, LAST_ITEM]) + b"]\n"
    )
    store = Store(data)
    for name in names:
        assert [entry.state for entry in store.history(root / "tasks" / name)] == [EntryState.DONE] * count
        for _ in range(count):
            store.undo(root / "tasks" / name)
    assert item_bytes((root / "state" / "taskHistory.json").read_bytes(), "2") == b'{"id":"2"}'


WRITES = [
    "before writing api_conversation_history.json",
    "after writing taskHistory.json",
    "before replacing api_conversation_history.json",
]


WRITTEN = [FileRole.MESSAGES, FileRole.UPDATES, FileRole.TIMELINE]
ONLY_READ = FileRole.METADATA
"""The change was computed from it; it is looked at for the last time right before the first file is replaced."""


@pytest.mark.parametrize(
    ("step", "role"), [(step, role) for step in WRITES for role in WRITTEN] + [(step, ONLY_READ) for step in WRITES[:2]]
)
def test_the_agent_writes_a_file_before_it_is_replaced(world: World, step: str, role: FileRole) -> None:
    theirs = b'["written by the agent"]'
    before = {**world.disk(), role: theirs}
    hook = At(step, lambda: world.path(role).write_bytes(theirs))
    with pytest.raises(RefusedError, match="was written by somebody else at this very moment"):
        Store(world.data_dir, hook=hook).commit(world.roll_back())
    assert hook.times == 1
    assert world.disk() == before
    assert world.index.read_bytes() == INDEX
    assert world.strangers() == []
    assert Store(world.data_dir).recover() == ()


def test_the_agent_writes_a_later_file_after_the_first_was_replaced(world: World) -> None:
    theirs = b'["written by the agent"]'
    before = {**world.disk(), FileRole.TIMELINE: theirs}
    hook = At(
        "after replacing api_conversation_history.json", lambda: world.path(FileRole.TIMELINE).write_bytes(theirs)
    )
    with pytest.raises(RefusedError, match=r"ui_messages\.json was written by somebody else"):
        Store(world.data_dir, hook=hook).commit(world.roll_back())
    assert world.disk() == before
    assert world.strangers() == []


def test_the_agent_overwrites_what_we_replaced_before_we_fail(world: World) -> None:
    """Their file stays, the others are put back, and the entry keeps the copies."""
    theirs = b'["written by the agent"]'
    before = {**world.disk(), FileRole.MESSAGES: theirs}

    def both() -> None:
        world.path(FileRole.MESSAGES).write_bytes(theirs)
        raise OSError(5, "Input/output error")

    with pytest.raises(UnfinishedError) as caught:
        Store(world.data_dir, hook=At("after replacing ui_messages.json", both)).commit(world.roll_back())
    assert "api_conversation_history.json was written by somebody else meanwhile" in caught.value.sentence
    assert world.disk() == before
    assert world.strangers() == []
    (entry,) = Store(world.data_dir).history(world.task_dir)
    assert entry.state is EntryState.INTERRUPTED
    assert entry.backup_dir is not None
    assert str(entry.backup_dir) in caught.value.hint
    assert (entry.backup_dir / "0-messages.old").read_bytes() == messages(12, "\\ud83d é")
    assert Store(world.data_dir).recover() == ()


INDEX_STEPS = ["before writing taskHistory.json", "after writing taskHistory.json", "before replacing taskHistory.json"]


@pytest.mark.parametrize("step", INDEX_STEPS)
def test_the_agent_writes_the_index_for_another_task_meanwhile(world: World, step: str) -> None:
    theirs = INDEX.replace(b'"ts":3}', b'"ts":33},{"id":"1764700000000"}')
    Store(world.data_dir, hook=At(step, lambda: world.index.write_bytes(theirs))).commit(world.truncate())
    item = world.item()
    assert item is not None
    assert b"[2,5]" in item
    assert world.index.read_bytes() == theirs.replace(ITEM, item)
    assert world.strangers() == []


@pytest.mark.parametrize("step", INDEX_STEPS)
@pytest.mark.parametrize("theirs", [INDEX.replace(b"0.25", b"0.5"), b"[" + OTHER_ITEM + b"]", b"[{", b""])
def test_the_agent_writes_our_item_or_damages_the_index_meanwhile(world: World, step: str, theirs: bytes) -> None:
    before = world.disk_but_index()
    hook = At(step, lambda: world.index.write_bytes(theirs))
    with pytest.raises(RefusedError, match=r"taskHistory\.json was written by somebody else at this very moment"):
        Store(world.data_dir, hook=hook).commit(world.roll_back())
    assert world.disk_but_index() == before
    assert world.index.read_bytes() == theirs
    assert world.strangers() == []


def test_other_items_written_after_ours_survive_when_ours_is_put_back(world: World) -> None:
    theirs: list[bytes] = []

    def both() -> None:
        theirs.append(world.index.read_bytes().replace(b'"ts":3}', b'"ts":33}'))
        world.index.write_bytes(theirs[0])
        raise OSError(5, "Input/output error")

    change = world.truncate()
    ours = change.effects[1].content
    assert ours is not None
    with pytest.raises(RefusedError, match="the disk reports an error"):
        Store(world.data_dir, hook=At("after replacing taskHistory.json", both)).commit(change)
    assert world.index.read_bytes() == theirs[0].replace(ours, ITEM)
    assert world.item() == ITEM
    assert world.strangers() == []


def test_other_items_survive_a_recovery(world: World) -> None:
    def die(step: str) -> None:
        if step == "inside replacing ui_messages.json" or "putting back" in step:
            raise OSError(5, "Input/output error")

    with pytest.raises(UnfinishedError):
        Store(world.data_dir, hook=die).commit(world.roll_back())
    theirs = INDEX.replace(b'"ts":3}', b'"ts":33}')
    world.index.write_bytes(theirs)
    assert [found.kind for found in Store(world.data_dir).recover()] == [RecoveredKind.FINISHED]
    assert world.index.read_bytes() == theirs.replace(ITEM, b'{"id":"1764500000000","ts":1}')


def test_a_reader_never_sees_half_a_file_nor_a_broken_order(world: World) -> None:
    """While changes go back and forth, a reader always gets whole files."""
    stop, wrong, looks = threading.Event(), [], [0]

    def read() -> None:
        while not stop.is_set():
            looks[0] += 1
            for role in (FileRole.MESSAGES, FileRole.TIMELINE, FileRole.INDEX):
                try:
                    json.loads(world.path(role).read_bytes())
                except (ValueError, OSError) as error:
                    wrong.append((role, error))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        store = Store(world.data_dir)
        store.commit(world.roll_back())
        times = 0
        while times < 10 or looks[0] <= 3:
            times += 1
            store.undo(world.task_dir)
            store.redo(world.task_dir)
    finally:
        stop.set()
        reader.join(60)
    assert wrong == []


def test_the_history_can_be_read_while_it_is_written(world: World) -> None:
    stop, wrong = threading.Event(), []

    def read() -> None:
        store = Store(world.data_dir)
        while not stop.is_set():
            try:
                store.history(world.task_dir)
                store.usage()
            except CtxError as error:
                wrong.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        store = Store(world.data_dir, max_backup_bytes=8000)
        for number in range(6):
            store.commit(world.truncate(str(number), end=3 + 2 * number))
            store.undo(world.task_dir)
            store.redo(world.task_dir)
    finally:
        stop.set()
        reader.join(60)
    assert wrong == []
