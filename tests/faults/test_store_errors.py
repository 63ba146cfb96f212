"""Errors of the disk at every single step: everything is put back, the file and the reason are named."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ctxviewer.domain.errors import CtxError, RefusedError
from ctxviewer.domain.snapshot import FileRole
from ctxviewer.sources.store import EntryState, Outcome, RecoveredKind, Store, UnfinishedError, transaction
from helpers.store_process import REFUSED, Order, StoreProcess
from helpers.written_task import INDEX, World, make_world, messages

ERRORS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "there is no permission",
    errno.EIO: "the disk reports an error",
}
HARMLESS = ("cleaning up", "removing the backup")
"""Steps behind the mark: what fails there leaves helper files, and the change stands."""


class Failing:
    """A hook that raises at chosen steps and remembers all of them."""

    def __init__(
        self, fails: Callable[[int, str], bool] = lambda _number, _step: False, error: int = errno.EIO
    ) -> None:
        self.steps: list[str] = []
        self._fails = fails
        self._error = error

    def __call__(self, step: str) -> None:
        self.steps.append(step)
        if self._fails(len(self.steps) - 1, step):
            raise OSError(self._error, os.strerror(self._error))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path / "root", tmp_path / "data")


def roll_back(store: Store, world: World) -> Outcome:
    return store.commit(world.roll_back())


def undo(store: Store, world: World) -> Outcome:
    return store.undo(world.task_dir)


def look(world: World) -> object:
    """Everything that a refused write must leave: contents, times, other items, names."""
    paths = [world.path(role) for role in FileRole]
    return (
        world.disk(),
        world.index.read_bytes() if world.index.exists() else None,
        [path.stat().st_mtime_ns if path.exists() else None for path in paths],
        world.strangers(),
        [
            (entry.id, entry.state)
            for entry in Store(world.data_dir).history(world.task_dir)
            if is_standing(entry.state)
        ],
    )


def is_standing(state: EntryState) -> bool:
    return state is not EntryState.REVERTED


def steps_of(tmp_path: Path, act: Callable[[Store, World], Outcome]) -> list[str]:
    world = make_world(tmp_path / "probe", tmp_path / "probe-data")
    if act is undo:
        roll_back(Store(world.data_dir), world)
    hook = Failing()
    act(Store(world.data_dir, hook=hook), world)
    return hook.steps


@pytest.mark.parametrize("act", [roll_back, undo])
def test_one_error_at_every_step(tmp_path: Path, world: World, act: Callable[[Store, World], Outcome]) -> None:
    steps = steps_of(tmp_path, act)
    if act is undo:
        roll_back(Store(world.data_dir), world)
    before = look(world)
    for number, step in enumerate(steps):
        code = list(ERRORS)[number % len(ERRORS)]
        store = Store(world.data_dir, hook=Failing(lambda at, _step, number=number: at == number, code))  # type: ignore[misc]
        if any(word in step for word in HARMLESS):
            continue
        with pytest.raises(RefusedError) as caught:
            act(store, world)
        assert look(world) == before, step
        sentence = caught.value.sentence
        assert ERRORS[code] in sentence, step
        assert "Every file is as it was." in sentence
        name = step.split(" ")[-1]
        named = name.removeprefix(".").partition(".ctxviewer-")[0]
        named = "backing up" if "backing up" in step else named
        assert named in sentence or "folder" in step, (step, sentence)
        assert caught.value.place
        assert caught.value.hint
        assert all(found.kind is RecoveredKind.REVERTED for found in Store(world.data_dir).recover()), (
            "at most the mark is missing"
        )
        assert look(world) == before, step
    act(Store(world.data_dir), world)
    assert look(world) != before


def test_every_error_at_the_replacing_steps(tmp_path: Path, world: World) -> None:
    steps = steps_of(tmp_path, roll_back)
    before = look(world)
    for number, step in enumerate(steps):
        if "replacing" in step:
            for code, words in ERRORS.items():
                hook = Failing(lambda at, _step, number=number: at == number, code)  # type: ignore[misc]
                with pytest.raises(RefusedError, match=words):
                    roll_back(Store(world.data_dir, hook=hook), world)
                assert look(world) == before, (step, words)


@pytest.mark.parametrize("words", HARMLESS)
def test_an_error_behind_the_mark_does_not_take_the_change_back(world: World, words: str) -> None:
    hook = Failing(lambda _at, step: words in step)
    store = Store(world.data_dir, hook=hook)
    for _ in range(2):
        roll_back(store, world)
        store.undo(world.task_dir)
        roll_back(store, world)
        world.path(FileRole.MESSAGES).write_bytes(messages(12))
        world.path(FileRole.UPDATES).write_bytes(b"[]")
        world.path(FileRole.TIMELINE).write_bytes(b"[]")
        world.index.write_bytes(INDEX)
    assert Store(world.data_dir).recover() == ()
    assert world.strangers() == []


def test_a_disk_that_stays_broken_from_any_step_on(tmp_path: Path, world: World) -> None:
    """Putting back fails too. What is left is told as unfinished, and start-up makes it whole."""
    steps = steps_of(tmp_path, roll_back)
    before, after = world.disk(), None
    unfinished = 0
    for number, step in enumerate(steps):
        store = Store(world.data_dir, hook=Failing(lambda at, _step, number=number: at >= number, errno.EIO))  # type: ignore[misc]
        if any(word in step for word in HARMLESS):
            store.commit(world.roll_back())
        else:
            with pytest.raises((RefusedError, UnfinishedError)) as caught:
                store.commit(world.roll_back())
            if isinstance(caught.value, UnfinishedError):
                unfinished += 1
                assert "could not be put back: the disk reports an error" in caught.value.sentence
                assert "when it starts next" in caught.value.hint
            else:
                assert world.disk() == before, step
        healthy = Store(world.data_dir)
        healthy.recover()
        assert healthy.recover() == ()
        assert world.strangers() == [], step
        history = [entry for entry in healthy.history(world.task_dir) if is_standing(entry.state)]
        if world.disk() == before:
            assert history == [] or history[-1].state is EntryState.UNDONE, step
        else:
            after = after or world.disk()
            assert world.disk() == after, step
            assert history[-1].state is EntryState.DONE, step
            healthy.undo(world.task_dir)
            assert world.disk() == before, step
        assert world.index.read_bytes() == INDEX
    assert unfinished > 5


def test_recovery_waits_when_the_disk_stays_broken(world: World) -> None:
    hook = Failing(lambda _at, step: step == "inside replacing ui_messages.json" or "putting back" in step)
    with pytest.raises(UnfinishedError):
        roll_back(Store(world.data_dir, hook=hook), world)
    mixed = world.disk()
    broken = Store(world.data_dir, hook=Failing(lambda _at, step: "writing" in step, errno.EROFS))
    for _ in range(2):
        (found,) = broken.recover()
        assert found.kind is RecoveredKind.WAITING
        assert "“Roll back” was interrupted and cannot be put right now" in found.sentence
        assert "the disk is read-only" in found.sentence
        assert world.disk() == mixed
    with pytest.raises(RefusedError, match="cannot be put right now"):
        broken.commit(world.truncate())
    (entry,) = Store(world.data_dir).history(world.task_dir)
    assert entry.state is EntryState.PENDING
    assert not entry.can_undo
    assert [found.kind for found in Store(world.data_dir).recover()] == [RecoveredKind.FINISHED]


def interrupted(world: World, step: str) -> None:
    """Leave a write half done: it fails at `step`, and putting back fails."""
    hook = Failing(lambda _at, name: name == step or "putting back" in name)
    with pytest.raises(UnfinishedError):
        roll_back(Store(world.data_dir, hook=hook), world)


def test_recovery_goes_back_when_it_cannot_go_on(world: World) -> None:
    before = world.disk()
    interrupted(world, "after replacing context_history.json")
    (copy,) = world.data_dir.glob("changes/*/entries/*/2-timeline.new")
    copy.write_bytes(b"damaged")
    (found,) = Store(world.data_dir).recover()
    assert found.kind is RecoveredKind.REVERTED
    assert world.disk() == before
    assert world.strangers() == []
    (entry,) = Store(world.data_dir).history(world.task_dir)
    assert entry.state is EntryState.REVERTED
    assert "taken back" in entry.note


def test_recovery_touches_nothing_when_somebody_else_wrote_since(world: World) -> None:
    interrupted(world, "after replacing context_history.json")
    world.path(FileRole.TIMELINE).write_bytes(b'["the agent went on"]')
    left = world.disk()
    (found,) = Store(world.data_dir).recover()
    assert found.kind is RecoveredKind.LEFT
    assert "ui_messages.json was written by somebody else since" in found.sentence
    assert world.disk() == left
    assert world.strangers() == []
    store = Store(world.data_dir)
    (entry,) = store.history(world.task_dir)
    assert entry.state is EntryState.INTERRUPTED
    assert not entry.can_undo
    assert entry.backup_dir is not None
    assert str(entry.backup_dir) in found.hint
    assert (entry.backup_dir / "0-messages.old").read_bytes() == messages(12, "\\ud83d é")
    assert store.recover() == ()
    store.commit(world.truncate())
    store.undo(world.task_dir)
    assert world.disk() == left


def test_recovery_waits_for_a_folder_that_is_away(world: World) -> None:
    before = world.disk()
    interrupted(world, "after replacing context_history.json")
    away = world.task_dir.with_name("away")
    world.task_dir.rename(away)
    (found,) = Store(world.data_dir).recover()
    assert found.kind is RecoveredKind.WAITING
    away.rename(world.task_dir)
    (found,) = Store(world.data_dir).recover()
    assert found.kind is RecoveredKind.FINISHED
    Store(world.data_dir).undo(world.task_dir)
    assert world.disk() == before


def test_one_broken_task_does_not_keep_the_others_from_recovery(tmp_path: Path) -> None:
    worlds = [make_world(tmp_path / name, tmp_path / "data") for name in ("one", "two")]
    for world in worlds:
        interrupted(world, "after replacing context_history.json")
    journals = sorted((tmp_path / "data").glob("changes/*/journal"))
    journals[0].unlink()
    journals[0].mkdir()
    kinds = sorted(found.kind for found in Store(tmp_path / "data").recover())
    assert kinds == [RecoveredKind.FINISHED, RecoveredKind.WAITING]


def test_a_file_system_without_second_names_is_put_back_from_the_copies(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_args: object, **_more: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(transaction.os, "link", no_links)
    before = (world.disk(), world.index.read_bytes())
    hook = Failing(lambda _at, step: step == "before marking in the journal")
    with pytest.raises(RefusedError, match="Every file is as it was"):
        roll_back(Store(world.data_dir, hook=hook), world)
    assert (world.disk(), world.index.read_bytes()) == before
    assert world.strangers() == []
    roll_back(Store(world.data_dir), world)
    Store(world.data_dir).undo(world.task_dir)
    assert (world.disk(), world.index.read_bytes()) == before


def test_an_interruption_from_the_keyboard_puts_everything_back(world: World) -> None:
    before = look(world)

    def interrupt(step: str) -> None:
        if step == "inside replacing ui_messages.json":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        roll_back(Store(world.data_dir, hook=interrupt), world)
    assert look(world) == before


def test_a_history_that_cannot_be_read_is_told(world: World) -> None:
    roll_back(Store(world.data_dir), world)
    (path,) = world.data_dir.glob("changes/*/journal")
    path.unlink()
    path.mkdir()
    store = Store(world.data_dir)
    for act in (lambda: store.history(world.task_dir), store.all_history, lambda: store.undo(world.task_dir)):
        with pytest.raises(CtxError, match="cannot be read"):
            act()


# Real errors, not simulated ones.


@pytest.fixture
def process() -> Iterator[StoreProcess]:
    process = StoreProcess()
    yield process
    process.close()


def test_a_real_limit_of_the_file_size_in_the_middle_of_a_write(world: World, process: StoreProcess) -> None:
    before = look(world)
    for limit in (2000, 8000, 12_000):
        answer = process.run(Order(str(world.root), str(world.data_dir), "grow", largest_file=limit))
        assert answer.code == REFUSED, answer
        assert "the file would be too large" in answer.said
        assert look(world) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become another user; the other test does it without")
def test_real_missing_permissions(process: StoreProcess) -> None:
    with tempfile.TemporaryDirectory() as found:
        base = Path(found)
        world = make_world(base / "root", base / "data")
        world.data_dir.mkdir()
        for path in (base, *base.rglob("*")):
            os.chown(path, 65534, 65534)
        base.chmod(0o755)
        before = look(world)
        for place, words in (
            (world.task_dir, "is not writable"),
            (world.index.parent, "is not writable"),
            (world.path(FileRole.UPDATES), "the file is not writable"),
            (world.data_dir, "there is no permission"),
        ):
            os.chown(place, 0, 0)
            answer = process.run(Order(str(world.root), str(world.data_dir), "truncate", user=65534))
            assert answer.code == REFUSED, answer
            assert words in answer.said
            assert look(world) == before
            os.chown(place, 65534, 65534)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A real file system of 128 KiB, where the system allows to mount one."""
    place = Path(tempfile.mkdtemp())
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)], check=False, capture_output=True
    )
    if mounted.returncode:
        place.rmdir()
        pytest.skip("no permission to mount a file system")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)  # whoever may still look at it
    place.rmdir()


def no_forecast(_folder: Path) -> int:
    return 1 << 40


def test_a_real_full_disk_on_either_side(small_disk: Path, tmp_path: Path) -> None:
    for root, data in ((small_disk / "root", tmp_path / "data"), (tmp_path / "root", small_disk / "data")):
        world = make_world(root, data)
        before = look(world)
        with pytest.raises(RefusedError, match="the disk is full"):
            Store(data).commit(world.change("Grow", updates=b"[]", timeline=messages(4000)))
        with pytest.raises(RefusedError, match="the disk is full"):
            Store(data, free=no_forecast).commit(world.change("Grow", updates=b"[]", timeline=messages(4000)))
        assert look(world) == before
        with suppress(FileNotFoundError):
            shutil.rmtree(small_disk / "root")


def test_a_disk_that_is_full_already_can_still_be_put_back(small_disk: Path, tmp_path: Path) -> None:
    world = make_world(small_disk / "root", tmp_path / "data")
    before = look(world)

    def fill(step: str) -> None:
        if step == "before replacing api_conversation_history.json":
            with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
                while True:
                    filler.write(b"x" * 4096)
        if step == "before replacing ui_messages.json":
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(RefusedError, match="the disk is full"):
        roll_back(Store(world.data_dir, hook=fill, free=no_forecast), world)
    assert look(world) == before


def test_a_real_read_only_disk(small_disk: Path, tmp_path: Path) -> None:
    world = make_world(small_disk / "root", tmp_path / "data")
    before = look(world)
    change = world.truncate()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(RefusedError, match=r"is not writable|read-only"):
        Store(world.data_dir).commit(change)
    assert look(world) == before
