"""Undo, redo, their order, their refusals, and that they survive a restart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ctxviewer.domain.errors import RefusedError
from ctxviewer.domain.snapshot import FileRole
from ctxviewer.sources.store import Action, Entry, Store
from helpers.written_task import INDEX, ITEM, World, make_world, messages


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path / "root", tmp_path / "data")


@pytest.fixture
def store(world: World) -> Store:
    return Store(world.data_dir, clock=lambda: 1_800_000_000)  # all at the same moment: the order is the journal's


def states(store: Store, world: World) -> list[str]:
    """'title state' of each entry, with '<' on what is undone next and '>' on what is redone next."""
    return [
        f"{entry.title} {entry.state}{' <' if entry.can_undo else ''}{' >' if entry.can_redo else ''}"
        for entry in store.history(world.task_dir)
    ]


def entry(store: Store, world: World, title: str) -> Entry:
    (found,) = [entry for entry in store.history(world.task_dir) if entry.title == title]
    return found


def test_undo_and_redo_bring_every_byte_back_and_forth(world: World, store: Store) -> None:
    old = (world.disk(), world.index.read_bytes())
    done = store.commit(world.roll_back())
    new = (world.disk(), world.index.read_bytes())
    undone = store.undo(world.task_dir)
    assert (world.disk(), world.index.read_bytes()) == old
    redone = store.redo(world.task_dir)
    assert (world.disk(), world.index.read_bytes()) == new
    assert [outcome.action for outcome in (done, undone, redone)] == [Action.COMMIT, Action.UNDO, Action.REDO]
    assert done.entry_id == undone.entry_id == redone.entry_id
    assert redone.touched == (FileRole.MESSAGES, FileRole.UPDATES, FileRole.TIMELINE, FileRole.INDEX)
    assert world.strangers() == []


def test_several_changes_are_undone_from_the_newest(world: World, store: Store) -> None:
    disks = [world.disk()]
    for number, title in enumerate("ABC"):
        store.commit(world.truncate(title, end=3 + 2 * number))
        disks.append(world.disk())
    assert states(store, world) == ["A done", "B done", "C done <"]
    assert entry(store, world, "A").undo_reason == "Undo the later change first: “C”."
    for expected in (disks[2], disks[1], disks[0]):
        store.undo(world.task_dir)
        assert world.disk() == expected
    assert states(store, world) == ["A undone >", "B undone", "C undone"]
    assert entry(store, world, "C").redo_reason == "Redo the earlier change first: “A”."
    assert entry(store, world, "C").undo_reason == "It is undone already."
    with pytest.raises(RefusedError, match="There is nothing to undo in this task"):
        store.undo(world.task_dir)
    for expected in (disks[1], disks[2]):
        store.redo(world.task_dir)
        assert world.disk() == expected
    assert states(store, world) == ["A done", "B done <", "C undone >"]


def test_a_new_change_abandons_what_was_undone(world: World, store: Store) -> None:
    for number, title in enumerate("ABC"):
        store.commit(world.truncate(title, end=3 + 2 * number))
    store.undo(world.task_dir)
    store.undo(world.task_dir)
    store.commit(world.truncate("D", end=9))
    assert states(store, world) == ["A done", "B abandoned", "C abandoned", "D done <"]
    assert entry(store, world, "B").redo_reason == "Something else was done after it was undone."
    assert entry(store, world, "B").backup_bytes > 0
    with pytest.raises(RefusedError, match="There is nothing to redo in this task"):
        store.redo(world.task_dir)
    store.undo(world.task_dir)
    assert states(store, world) == ["A done <", "B abandoned", "C abandoned", "D undone >"]


def test_all_of_it_survives_a_restart(world: World, store: Store) -> None:
    old = world.disk()
    store.commit(world.truncate("A", end=3))
    middle = world.disk()
    store.commit(world.truncate("B", end=5))
    new = world.disk()
    again = [Store(world.data_dir) for _ in range(4)]
    assert states(again[0], world) == ["A done", "B done <"]
    again[0].undo(world.task_dir)
    assert world.disk() == middle
    again[1].undo(world.task_dir)
    assert world.disk() == old
    assert states(again[2], world) == ["A undone >", "B undone"]
    again[2].redo(world.task_dir)
    again[3].redo(world.task_dir)
    assert world.disk() == new
    assert states(store, world) == ["A done", "B done <"]


def _write_messages(world: World) -> None:
    world.path(FileRole.MESSAGES).write_bytes(messages(6))


def _remove_timeline(world: World) -> None:
    world.path(FileRole.TIMELINE).unlink()


def _bring_updates_back(world: World) -> None:
    world.path(FileRole.UPDATES).write_bytes(b"[]")


def _touch_item(world: World) -> None:
    world.index.write_bytes(world.index.read_bytes().replace(b'"ts":1}', b'"ts":2}'))


def _damage_index(world: World) -> None:
    world.index.write_bytes(b"[")


@pytest.mark.parametrize(
    ("act", "name"),
    [
        (_write_messages, "api_conversation_history.json"),
        (_remove_timeline, "ui_messages.json"),
        (_bring_updates_back, "context_history.json"),
        (_touch_item, "taskHistory.json"),
        (_damage_index, "taskHistory.json"),
    ],
)
def test_undo_is_refused_when_the_agent_has_gone_on(
    world: World, store: Store, act: Callable[[World], None], name: str
) -> None:
    store.commit(world.roll_back())
    act(world)
    before = (world.disk_but_index(), world.index.read_bytes())
    with pytest.raises(RefusedError) as caught:
        store.undo(world.task_dir)
    assert f"was written by somebody else since: {name} changed" in caught.value.sentence
    assert (world.disk_but_index(), world.index.read_bytes()) == before
    assert states(store, world) == ["Roll back done <"]
    assert world.strangers() == []


def test_redo_is_refused_when_the_agent_has_gone_on(world: World, store: Store) -> None:
    store.commit(world.truncate())
    store.undo(world.task_dir)
    world.index.write_bytes(INDEX.replace(b"0.25", b"0.5"))
    with pytest.raises(RefusedError, match=r"“Redo Truncate to half” was not carried out.*taskHistory\.json changed"):
        store.redo(world.task_dir)
    assert states(store, world) == ["Truncate to half undone >"]


def test_files_that_the_change_did_not_write_may_change_before_the_undo(world: World, store: Store) -> None:
    store.commit(world.truncate())
    world.path(FileRole.TIMELINE).write_bytes(b"[]")
    store.undo(world.task_dir)
    assert world.item() == ITEM


def test_a_damaged_copy_is_refused_and_nothing_is_written(world: World, store: Store) -> None:
    store.commit(world.roll_back())
    new = world.disk()
    (found,) = store.history(world.task_dir)
    assert found.backup_dir is not None
    (found.backup_dir / "2-timeline.old").write_bytes(b"[9]")
    with pytest.raises(RefusedError, match=r"writing ui_messages\.json failed, the copy in the backup is damaged"):
        store.undo(world.task_dir)
    assert world.disk() == new
    assert world.strangers() == []
    assert states(store, world) == ["Roll back done <"]


def test_a_copy_that_is_gone_is_refused(world: World, store: Store) -> None:
    store.commit(world.roll_back())
    new = world.disk()
    (found,) = store.history(world.task_dir)
    assert found.backup_dir is not None
    for copy in found.backup_dir.iterdir():
        copy.unlink()
    found.backup_dir.rmdir()
    (found,) = store.history(world.task_dir)
    assert not found.can_undo
    assert found.undo_reason == "Its backup is gone."
    assert found.backup_dir is None
    with pytest.raises(RefusedError, match="Its backup is gone"):
        store.undo(world.task_dir)
    assert world.disk() == new


def test_histories_of_several_tasks_are_apart_and_together(tmp_path: Path) -> None:
    times = iter(range(1_800_000_000, 1_900_000_000))
    data = tmp_path / "data"
    store = Store(data, clock=lambda: next(times))
    worlds = [make_world(tmp_path / name, data) for name in ("one", "two")]
    for title in "AB":
        for world, name in zip(worlds, ("one", "two"), strict=True):
            store.commit(world.truncate(f"{title} {name}", end=3 if title == "A" else 5))
    store.undo(worlds[0].task_dir)
    assert states(store, worlds[0]) == ["A one done <", "B one undone >"]
    assert states(store, worlds[1]) == ["A two done", "B two done <"]
    assert [entry.title for entry in store.all_history()] == ["A one", "A two", "B one", "B two"]
    assert {entry.task_dir for entry in store.all_history()} == {world.task_dir for world in worlds}


def test_a_task_without_changes_has_an_empty_history(world: World, store: Store) -> None:
    assert store.history(world.task_dir) == ()
    assert store.all_history() == ()
    assert store.recover() == ()
    assert store.usage().entries == 0
    for act in (store.undo, store.redo):
        with pytest.raises(RefusedError, match="There is nothing to"):
            act(world.task_dir)


def test_odd_names_and_titles_survive(tmp_path: Path) -> None:
    world = make_world(tmp_path / "r\udcff\u202eöot", tmp_path / "data")
    store = Store(world.data_dir)
    title = "Truncate \ud83d\x00\n“x” \U0001f600"
    store.commit(world.truncate(title))
    (found,) = Store(world.data_dir).history(world.task_dir)
    assert found.title == title
    assert found.task_dir == world.task_dir
    store.undo(world.task_dir)
    assert world.index.read_bytes() == INDEX
