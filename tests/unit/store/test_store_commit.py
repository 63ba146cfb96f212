"""One change: what is written, what is refused, and that a refusal touches nothing."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from ctxviewer.domain.errors import RefusedError
from ctxviewer.domain.snapshot import FileRole
from ctxviewer.sources.change import Change, FileEffect
from ctxviewer.sources.fingerprint import digest, stamp_of
from ctxviewer.sources.store import Action, EntryState, Store
from helpers.written_task import INDEX, ITEM, LAST_ITEM, OTHER_ITEM, TASK_ID, World, make_world, messages


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path / "root", tmp_path / "data")


@pytest.fixture
def store(world: World) -> Store:
    return Store(world.data_dir, clock=lambda: 1_800_000_000.5)


def refused(world: World, store: Store, change: Change, *, consent: bool = False) -> RefusedError:
    """The refusal of a change; everything is as it was afterwards."""
    before = (world.disk(), world.index.read_bytes(), store.history(world.task_dir))
    with pytest.raises(RefusedError) as caught:
        store.commit(change, consent_open=consent)
    assert (world.disk(), world.index.read_bytes(), store.history(world.task_dir)) == before
    assert world.strangers() == []
    assert store.usage().used_bytes == sum(entry.backup_bytes for entry in before[2])
    return caught.value


def test_every_file_gets_its_content_and_the_index_only_the_item(world: World, store: Store) -> None:
    change = world.roll_back()
    outcome = store.commit(change)
    assert world.disk() == {
        FileRole.MESSAGES: messages(4),
        FileRole.UPDATES: None,
        FileRole.TIMELINE: b'[{"ts":1,"type":"say","say":"deleted_api_reqs"}]',
        FileRole.METADATA: b'{\n  "files_in_context": []\n}',
        FileRole.INDEX: b'{"id":"1764500000000","ts":1}',
    }
    assert world.index.read_bytes() == INDEX.replace(ITEM, b'{"id":"1764500000000","ts":1}')
    assert world.strangers() == []
    assert outcome.action is Action.COMMIT
    assert outcome.title == "Roll back"
    assert outcome.touched == (FileRole.MESSAGES, FileRole.UPDATES, FileRole.TIMELINE, FileRole.INDEX)
    assert {stamp.role: stamp.digest for stamp in outcome.stamps} == {
        role: digest(content) if content is not None else ""
        for role, content in world.disk().items()
        if role in outcome.touched
    }
    stamps = {stamp.role: stamp for stamp in world.stamps()}
    assert all(stamps[stamp.role] == stamp for stamp in outcome.stamps)


def test_contents_are_on_the_disk_before_they_take_their_place_and_names_afterwards(
    world: World, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut leaves the old or the new file, never an empty one; that the system keeps the order is asked for."""
    synced: list[tuple[int, int]] = []
    renamed: list[str] = []
    before: list[int] = []
    replace, sync = os.replace, os.fsync

    def note_sync(handle: int) -> None:
        sync(handle)
        found = os.fstat(handle)
        synced.append((found.st_dev, found.st_ino))

    def note_replace(source: Path, target: Path) -> None:
        found = Path(source).stat()
        assert (found.st_dev, found.st_ino) in synced, target
        replace(source, target)
        if Path(target).is_relative_to(world.root):
            renamed.append(Path(target).name)
            before.append(len(synced))

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_replace)
    store.commit(world.truncate())
    monkeypatch.undo()
    folder = world.index.parent.stat()
    assert renamed == ["context_history.json", "taskHistory.json"]
    assert (folder.st_dev, folder.st_ino) in synced[before[-1] :], "the last name is on the disk too"


def test_the_history_tells_what_was_done(world: World, store: Store) -> None:
    outcome = store.commit(world.truncate("Truncate to half (messages 2–5)"))
    (entry,) = store.history(world.task_dir)
    assert entry.id == outcome.entry_id
    assert entry.title == "Truncate to half (messages 2–5)"
    assert entry.when_ms == 1_800_000_000_500
    assert entry.state is EntryState.DONE
    assert entry.roles == (FileRole.UPDATES, FileRole.INDEX)
    assert entry.paths == (world.path(FileRole.UPDATES), world.index)
    assert entry.can_undo
    assert not entry.can_redo
    assert entry.redo_reason == "It is not undone."
    assert entry.backup_dir is not None
    assert {found.read_bytes() for found in entry.backup_dir.iterdir() if found.name.endswith(".old")} == {
        b'[[1,[0,[[0,[[1,"text",["x"],[]]]]]]]]',
        ITEM,
    }
    assert store.all_history() == (entry,)


def test_our_folder_is_private_and_nothing_else_is_written(world: World, store: Store) -> None:
    outside = {path for path in world.root.parent.rglob("*") if world.data_dir not in path.parents}
    store.commit(world.truncate())
    assert {path for path in world.root.parent.rglob("*") if world.data_dir not in path.parents} == outside | {
        world.data_dir
    }
    for path in world.data_dir.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_permissions_are_kept(world: World, store: Store) -> None:
    world.path(FileRole.UPDATES).chmod(0o640)
    world.index.chmod(0o604)
    store.commit(world.truncate())
    assert stat.S_IMODE(world.path(FileRole.UPDATES).stat().st_mode) == 0o640
    assert stat.S_IMODE(world.index.stat().st_mode) == 0o604


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_is_kept(world: World, store: Store) -> None:
    os.chown(world.path(FileRole.UPDATES), 12345, 54321)
    store.commit(world.truncate())
    found = world.path(FileRole.UPDATES).stat()
    assert (found.st_uid, found.st_gid) == (12345, 54321)


def test_a_new_file_has_the_usual_permissions_and_undo_removes_it(world: World, store: Store) -> None:
    world.path(FileRole.UPDATES).unlink()
    before = os.umask(0o027)
    try:
        store.commit(world.truncate())
    finally:
        os.umask(before)
    assert stat.S_IMODE(world.path(FileRole.UPDATES).stat().st_mode) == 0o640
    store.undo(world.task_dir)
    assert not world.path(FileRole.UPDATES).exists()


def test_a_removed_file_comes_back_with_its_permissions(world: World, store: Store) -> None:
    world.path(FileRole.UPDATES).chmod(0o604)
    store.commit(world.change(updates=None))
    assert not world.path(FileRole.UPDATES).exists()
    store.undo(world.task_dir)
    assert stat.S_IMODE(world.path(FileRole.UPDATES).stat().st_mode) == 0o604


def test_symbolic_links_stay_links(world: World, store: Store, tmp_path: Path) -> None:
    for role in (FileRole.UPDATES, FileRole.INDEX):
        real = tmp_path / f"real-{role}"
        world.path(role).rename(real)
        world.path(role).symlink_to(real)
    before = world.disk()
    store.commit(world.truncate(end=7))
    assert world.path(FileRole.UPDATES).is_symlink()
    assert world.index.is_symlink()
    assert b"7" in (tmp_path / "real-updates").read_bytes()
    assert b"[2,7]" in (tmp_path / "real-index").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "real-index", "real-updates", "root"]
    store.undo(world.task_dir)
    assert world.disk() == before
    assert world.index.is_symlink()


def test_a_task_reached_through_a_link_has_one_history(world: World, store: Store, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(world.task_dir, target_is_directory=True)
    through = World(world.root, world.data_dir)
    change = through.truncate()
    effects = tuple(
        dataclasses.replace(effect, path=link / effect.path.name) if effect.role is not FileRole.INDEX else effect
        for effect in change.effects
    )
    stamps = tuple(
        dataclasses.replace(stamp, path=link / stamp.path.name) if stamp.role is not FileRole.INDEX else stamp
        for stamp in change.expected
    )
    store.commit(Change(link, "Truncate", stamps, effects, ()))
    assert [entry.title for entry in store.history(world.task_dir)] == ["Truncate"]
    store.undo(world.task_dir)
    assert world.index.read_bytes() == INDEX


def test_a_file_that_already_has_the_content_is_not_written(world: World, store: Store) -> None:
    before = world.path(FileRole.TIMELINE).stat().st_mtime_ns
    outcome = store.commit(world.change(timeline=world.read(FileRole.TIMELINE), messages=messages(2)))
    assert outcome.touched == (FileRole.MESSAGES,)
    assert world.path(FileRole.TIMELINE).stat().st_mtime_ns == before


def test_a_change_of_nothing_is_refused(world: World, store: Store) -> None:
    error = refused(world, store, world.change("Nothing", timeline=world.read(FileRole.TIMELINE), index=ITEM))
    assert error.sentence == "“Nothing” was not carried out: it changes nothing."


def test_an_open_task_wants_consent(world: World, store: Store) -> None:
    change = dataclasses.replace(world.truncate(), looks_open=("its last entry was written 12 seconds ago",))
    error = refused(world, store, change)
    assert "looks open: its last entry was written 12 seconds ago" in error.sentence
    assert "Close the task" in error.hint
    store.commit(change, consent_open=True)
    with pytest.raises(RefusedError, match="looks open: it is running"):
        store.undo(world.task_dir, looks_open=["it is running"])
    store.undo(world.task_dir, looks_open=["it is running"], consent_open=True)
    assert world.index.read_bytes() == INDEX


@pytest.mark.parametrize("role", [FileRole.MESSAGES, FileRole.UPDATES, FileRole.TIMELINE, FileRole.METADATA])
def test_a_file_written_since_the_preview_is_refused_and_named(world: World, store: Store, role: FileRole) -> None:
    change = world.truncate()
    size = world.path(role).stat().st_size
    world.path(role).write_bytes(b"[1, 2]")
    error = refused(world, store, change)
    assert f"{world.path(role).name} was {size:,} bytes" in error.sentence
    assert "is now 6 bytes" in error.sentence
    assert error.place == str(world.path(role))
    assert error.hint


def test_the_same_size_and_time_do_not_hide_a_change(world: World, store: Store) -> None:
    change = world.truncate()
    path = world.path(FileRole.MESSAGES)
    found, content = path.stat(), path.read_bytes()
    path.write_bytes(content.replace(b"message 3", b"message X"))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    refused(world, store, change)


def test_a_new_time_alone_is_no_change(world: World, store: Store) -> None:
    change = world.truncate()
    for path in (world.path(FileRole.MESSAGES), world.path(FileRole.UPDATES), world.index):
        path.write_bytes(path.read_bytes())
    store.commit(change)


def test_a_file_that_went_or_came_since_the_preview_is_refused(world: World, store: Store) -> None:
    change = world.truncate()
    content = world.read(FileRole.UPDATES)
    assert content is not None
    world.path(FileRole.UPDATES).unlink()
    assert "context_history.json is gone" in refused(world, store, change).sentence
    change = world.truncate()
    world.path(FileRole.UPDATES).write_bytes(content)
    assert "context_history.json was not there and is there now" in refused(world, store, change).sentence


def test_a_file_that_the_preview_does_not_know_must_not_be_there(world: World, store: Store) -> None:
    change = dataclasses.replace(world.truncate(), expected=())
    error = refused(world, store, change)
    assert "context_history.json was not there" in error.sentence
    assert "the task's entry in taskHistory.json was not there" in error.sentence


def test_further_files_do_not_matter(world: World, store: Store) -> None:
    change = world.truncate()
    (world.task_dir / "focus_chain.md").write_text("- [x] one\n")
    store.commit(change)


def test_the_items_of_other_tasks_may_change_meanwhile(world: World, store: Store) -> None:
    change = world.truncate()
    now = b'[{"id":"new"},' + ITEM + b" ,\n" + LAST_ITEM.replace(b"3", b"4") + b"]"
    world.index.write_bytes(now)
    store.commit(change)
    item = world.item()
    assert item is not None
    assert b"[2,5]" in item
    assert world.index.read_bytes() == now.replace(ITEM, item)
    world.index.write_bytes(world.index.read_bytes().replace(b'"new"', b'"newer"'))
    store.undo(world.task_dir)
    assert world.index.read_bytes() == now.replace(b'"new"', b'"newer"')


def test_the_own_item_must_not_change_meanwhile(world: World, store: Store) -> None:
    change = world.truncate()
    world.index.write_bytes(INDEX.replace(b"0.25", b"0.26"))
    error = refused(world, store, change)
    assert "the task's entry in taskHistory.json was written at" in error.sentence


def test_a_damaged_index_is_refused(world: World, store: Store) -> None:
    change = world.truncate()
    world.index.write_bytes(INDEX[:-4])
    before = world.disk_but_index()
    with pytest.raises(RefusedError, match=r"the task index taskHistory\.json is damaged"):
        store.commit(change)
    assert world.disk_but_index() == before


def test_a_damaged_index_that_is_not_written_must_only_be_the_same(world: World, store: Store) -> None:
    updates = FileEffect(FileRole.UPDATES, world.path(FileRole.UPDATES), b"[]")
    stamps = tuple(stamp for stamp in world.stamps() if stamp.role is not FileRole.INDEX)
    world.index.write_bytes(INDEX[:-4])
    change = Change(world.task_dir, "Optimise", (*stamps, stamp_of(FileRole.INDEX, world.index, b"{}")), (updates,))
    world.index.write_bytes(INDEX[:-5])
    assert "the task's entry in taskHistory.json was written at" in refused(world, store, change).sentence
    same = Change(world.task_dir, "Optimise", (*stamps, stamp_of(FileRole.INDEX, world.index, b"{}")), (updates,))
    store.commit(same)
    assert world.read(FileRole.UPDATES) == b"[]"
    assert world.index.read_bytes() == INDEX[:-5]


@pytest.mark.parametrize("exists", [True, False])
def test_a_stamp_of_the_index_may_say_that_the_file_or_that_the_item_is_there(
    world: World, store: Store, *, exists: bool
) -> None:
    world.index.write_bytes(b"[" + OTHER_ITEM + b"]")
    change = world.truncate()
    stamps = tuple(
        dataclasses.replace(stamp, exists=exists) if stamp.role is FileRole.INDEX else stamp
        for stamp in change.expected
    )
    store.commit(dataclasses.replace(change, expected=stamps))
    item = world.item()
    assert item is not None
    assert world.index.read_bytes() == b"[" + OTHER_ITEM + b"," + item + b"]"


def test_an_item_is_added_at_the_end_and_taken_out_by_undo(world: World, store: Store) -> None:
    without = b"[" + OTHER_ITEM + b",\n " + LAST_ITEM + b"]\n"
    world.index.write_bytes(without)
    store.commit(world.truncate())
    item = world.item()
    assert item is not None
    assert world.index.read_bytes() == b"[" + OTHER_ITEM + b",\n " + LAST_ITEM + b"," + item + b"]\n"
    store.undo(world.task_dir)
    assert world.index.read_bytes() == without


def test_an_index_that_is_not_there_is_made(world: World, store: Store) -> None:
    world.index.unlink()
    store.commit(world.truncate())
    assert [item["id"] for item in json.loads(world.index.read_bytes())] == [TASK_ID]
    store.undo(world.task_dir)
    assert json.loads(world.index.read_bytes()) == []


def test_a_folder_for_the_index_is_not_made(world: World, store: Store) -> None:
    shutil.rmtree(world.index.parent)
    change = world.truncate()
    before = world.disk_but_index()
    with pytest.raises(RefusedError, match=r"taskHistory\.json cannot be written, its folder .* is not there"):
        store.commit(change)
    assert world.disk_but_index() == before
    assert not world.index.parent.exists()


def test_a_task_that_is_gone_is_refused(world: World, store: Store) -> None:
    change = world.truncate()
    shutil.rmtree(world.task_dir)
    with pytest.raises(RefusedError, match="the folder of the task is not there"):
        store.commit(change)
    with pytest.raises(RefusedError, match="the folder of the task is not there"):
        store.undo(world.task_dir)
    assert not world.data_dir.exists()


def test_a_full_disk_is_seen_before_anything_is_touched(world: World) -> None:
    store = Store(world.data_dir, free=lambda _folder: 1_049_000)
    error = refused(world, store, world.change("Grow", messages=messages(500)))
    assert error.sentence.startswith("“Grow” was not carried out: the disk is full. It needs 1.0 MiB in ")
    assert error.hint == "Free some space there and try again."


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folders_and_files_without_permission_are_seen_before(world: World, store: Store) -> None:
    change = world.truncate()
    world.index.parent.chmod(0o500)
    try:
        assert "is not writable" in refused(world, store, change).sentence
    finally:
        world.index.parent.chmod(0o700)
    world.path(FileRole.UPDATES).chmod(0o400)
    assert "context_history.json cannot be written" in refused(world, store, change).sentence


def test_a_data_folder_that_cannot_be_made_is_refused(world: World) -> None:
    world.data_dir.write_text("a file is in the way")
    store = Store(world.data_dir)
    before = world.disk()
    with pytest.raises(RefusedError, match="The task cannot be locked"):
        store.commit(world.truncate())
    assert world.disk() == before


def test_shapes_that_no_source_may_make(world: World, store: Store) -> None:
    def change(*effects: FileEffect) -> Change:
        return Change(world.task_dir, "x", (), effects)

    api = world.path(FileRole.MESSAGES)
    for wrong in (
        change(),
        change(FileEffect(FileRole.MESSAGES, api, b""), FileEffect(FileRole.UPDATES, api, b"")),
        change(FileEffect(FileRole.MESSAGES, world.root / "x.json", b"")),
        change(FileEffect(FileRole.INDEX, world.index, b"{}")),
        change(
            FileEffect(FileRole.INDEX, world.index, b"{}", "a"),
            FileEffect(FileRole.INDEX, world.index.with_name("b"), b"{}", "b"),
        ),
    ):
        with pytest.raises(ValueError):
            store.commit(wrong)
    assert not world.data_dir.exists()


def test_data_folder_and_task_may_lie_on_different_disks(tmp_path: Path) -> None:
    places = (Path("/dev/shm"), Path(tempfile.gettempdir()))  # noqa: S108 - another file system is the point
    here = tmp_path.stat().st_dev
    other = next((place for place in places if os.access(place, os.W_OK) and place.stat().st_dev != here), None)
    if other is None:
        pytest.skip("no second file system")
    away = other / f"ctxviewer-test-{os.getpid()}"
    try:
        for root, data in ((tmp_path / "root", away / "data"), (away / "root", tmp_path / "data")):
            world = make_world(root, data)
            store = Store(data)
            before = (world.disk(), world.index.read_bytes())
            store.commit(world.roll_back())
            after = world.disk()
            store.undo(world.task_dir)
            assert (world.disk(), world.index.read_bytes()) == before
            store.redo(world.task_dir)
            assert world.disk() == after
            assert world.strangers() == []
    finally:
        shutil.rmtree(away, ignore_errors=True)
