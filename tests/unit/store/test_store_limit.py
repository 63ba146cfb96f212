"""The size cap of the backups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from ctxviewer.domain.errors import RefusedError
from ctxviewer.sources.store import Store
from ctxviewer.sources.store.area import Area
from ctxviewer.sources.store.lock import held
from ctxviewer.sources.store.steps import Steps
from helpers.written_task import World, make_world, messages


def grow(world: World, title: str, count: int, at: int) -> None:
    """A change with a backup of a few thousand bytes, at a second of its own."""
    Store(world.data_dir, clock=lambda: 1_800_000_000 + at, max_backup_bytes=LIMIT).commit(
        world.change(title, messages=messages(count, "x" * 100))
    )


LIMIT = 60_000


def backups(store: Store) -> dict[str, bool]:
    return {entry.title: entry.backup_dir is not None for entry in store.all_history()}


def test_the_oldest_backups_go_first_and_say_so(tmp_path: Path) -> None:
    world = make_world(tmp_path / "root", tmp_path / "data")
    store = Store(world.data_dir, max_backup_bytes=LIMIT)
    for number in range(6):
        grow(world, str(number), 60 + number, number)
        assert store.usage().used_bytes <= LIMIT
    assert store.usage().limit_bytes == LIMIT
    kept = backups(store)
    assert list(kept) == ["0", "1", "2", "3", "4", "5"]
    assert kept["5"]
    assert not kept["0"]
    assert sorted(kept.values()) == list(kept.values()), "only older ones are dropped"
    assert store.usage().entries == sum(kept.values())
    dropped = store.history(world.task_dir)[0]
    assert not dropped.can_undo
    assert dropped.undo_reason == "Its backup was removed to keep all backups within 58.6 KiB."
    assert dropped.backup_bytes == 0
    while store.history(world.task_dir)[sum(not there for there in kept.values())].state == "done":
        store.undo(world.task_dir)
    with pytest.raises(RefusedError, match="Its backup was removed to keep all backups within"):
        store.undo(world.task_dir)
    assert store.recover() == ()


def test_the_newest_of_each_task_stays_even_beyond_the_limit(tmp_path: Path) -> None:
    worlds = [make_world(tmp_path / str(number), tmp_path / "data") for number in range(4)]
    for number, world in enumerate(worlds):
        grow(world, f"first {number}", 150, number)
        grow(world, f"second {number}", 160, number + 4)
    store = Store(tmp_path / "data", max_backup_bytes=LIMIT)
    assert backups(store) == {f"{name} {n}": name == "second" for name in ("first", "second") for n in range(4)}
    assert store.usage().used_bytes > LIMIT
    for world in worlds:
        store.undo(world.task_dir)


def test_a_task_that_is_being_written_is_passed_over(tmp_path: Path) -> None:
    old, new = (make_world(tmp_path / name, tmp_path / "data") for name in ("old", "new"))
    grow(old, "old 1", 150, 1)
    lock = Area.of_task(tmp_path / "data", old.task_dir, Steps()).lock
    grow(old, "old 2", 2, 2)
    with held(lock, what="x", wait_s=0):
        grow(new, "new 1", 100, 3)
        store = Store(tmp_path / "data", max_backup_bytes=LIMIT)
        assert backups(store)["old 1"]
    grow(new, "new 2", 3, 4)
    assert not backups(store)["old 1"]
    assert backups(store)["old 2"]


def test_a_clock_that_is_put_back_does_not_confuse_the_order(tmp_path: Path) -> None:
    world = make_world(tmp_path / "root", tmp_path / "data")
    grow(world, "first", 150, 100)
    grow(world, "second", 160, 50)
    store = Store(tmp_path / "data", max_backup_bytes=LIMIT)
    assert backups(store) == {"second": True, "first": False}
    assert store.undo(world.task_dir).title == "second"


def test_a_copy_that_goes_while_sizes_are_read_counts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world(tmp_path / "root", tmp_path / "data")
    store = Store(world.data_dir)
    store.commit(world.change("one", messages=messages(20)))
    (entry,) = store.history(world.task_dir)
    area = Area.of_task(world.data_dir, world.task_dir, Steps())
    gone, *rest = sorted(area.entry_dir(entry.id).iterdir())
    real, closed = os.scandir, []

    class Leaving:
        """The same files; the first is removed after it was listed and before it is looked at."""

        def __init__(self, folder: Path) -> None:
            self._found = real(folder)

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            self._found.close()
            closed.append(True)

        def __iter__(self) -> Iterator[os.DirEntry[str]]:
            listed = sorted(self._found, key=lambda found: found.name)
            gone.unlink()
            return iter(listed)

    monkeypatch.setattr(os, "scandir", Leaving)
    assert area.backup_bytes(entry.id) == sum(path.stat().st_size for path in rest) > 0
    assert closed
    monkeypatch.undo()
    assert area.backup_bytes("1700000000000-000000") == 0
