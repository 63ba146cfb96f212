"""The journal: what is written is read, and damage is told, passed over and kept."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.snapshot import FileRole
from ctxviewer.sources.store import EntryState, RecoveredKind, Store, journal
from ctxviewer.sources.store.records import ABSENT, Intent, Mark, MarkKind, Move, Side
from ctxviewer.sources.store.steps import StepError, Steps
from ctxviewer.sources.store.values import Action
from helpers.written_task import INDEX, World, make_world

_SIDES = st.just(ABSENT) | st.builds(
    Side,
    exists=st.just(True),
    digest=st.text(),
    size=st.integers(0, 2**53),
    blob=st.text(),
    mode=st.none() | st.integers(0, 0o7777),
)
_PATHS = st.text(st.characters(exclude_characters="\0"), min_size=1).map(lambda text: Path("/" + text))
_MOVES = st.builds(Move, st.sampled_from(FileRole), _PATHS, st.text(), _SIDES, _SIDES)
_INTENTS = st.builds(
    Intent,
    st.text(),
    st.sampled_from(Action),
    st.text(),
    st.text(),
    _PATHS,
    st.integers(0, 2**53),
    st.lists(_MOVES, max_size=4).map(tuple),
)
_MARKS = st.builds(Mark, st.sampled_from(MarkKind), st.text(), st.sampled_from(Action), st.text(), st.text())


@settings(deadline=None)
@given(st.lists(_INTENTS | _MARKS, max_size=5))
def test_records_are_read_as_they_were_written(records: list[Intent | Mark]) -> None:
    lines = [journal.encoded(record) for record in records]
    assert all(line.count(b"\n") == 1 and line.endswith(b"\n") for line in lines)
    assert [journal.decoded(line[:-1]) for line in lines] == records


@settings(deadline=None)
@given(record=_INTENTS | _MARKS, data=st.data())
def test_no_damage_goes_unnoticed(record: Intent | Mark, data: st.DataObject) -> None:
    line = bytearray(journal.encoded(record)[:-1])
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[at]))
    with pytest.raises(ValueError):
        journal.decoded(bytes(line))


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"{}", b'{"kind":"x"}', b'{"kind":"intent"}', b"[" * 9999])
def test_wrong_records_with_a_right_checksum_are_damage(body: bytes) -> None:
    with pytest.raises(ValueError):
        journal.decoded(journal._checksum(body) + b" " + body)


def mark(number: int) -> Mark:
    return Mark(MarkKind.DONE, f"id {number}", entry=f"id {number}")


def test_lines_are_added_and_a_cut_one_spoils_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    for number in range(2):
        journal.append(path, mark(number), Steps(), "noting")
    path.write_bytes(path.read_bytes()[:-5])
    assert journal.read(path, alone=False).records == (mark(0),)
    assert journal.read(path, alone=False).damaged == (), "it may be a line under way"
    assert [line.number for line in journal.read(path, alone=True).damaged] == [2]
    journal.append(path, mark(2), Steps(), "noting")
    content = journal.read(path, alone=True)
    assert content.records == (mark(0), mark(2))
    (damaged,) = content.damaged
    assert (damaged.number, damaged.offset) == (2, len(journal.encoded(mark(0))))


def test_a_line_whose_end_alone_is_missing_still_counts(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal.append(path, mark(0), Steps(), "noting")
    path.write_bytes(path.read_bytes()[:-1])
    assert journal.read(path, alone=True) == journal.JournalContent((mark(0),))
    journal.append(path, mark(1), Steps(), "noting")
    assert journal.read(path, alone=True).records == (mark(0), mark(1))


def test_a_line_that_fails_half_way_is_taken_off_again(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal.append(path, mark(0), Steps(), "noting in the")
    before = path.read_bytes()

    def full(step: str) -> None:
        if step == "inside noting in the journal":
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StepError, match="No space left"):
        journal.append(path, mark(1), Steps(full), "noting in the")
    assert path.read_bytes() == before


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path / "root", tmp_path / "data")


def journal_of(world: World) -> Path:
    (found,) = world.data_dir.glob("changes/*/journal")
    return found


@pytest.mark.parametrize("noise", [b"\x00" * 512, b"\xff\xfe garbage", b"{}", b"0123456789abcdef {}", b"a\r\rb"])
def test_noise_in_the_journal_is_told_once_and_kept(world: World, noise: bytes) -> None:
    store = Store(world.data_dir)
    store.commit(world.truncate("A", end=3))
    path = journal_of(world)
    path.write_bytes(noise + b"\n" + path.read_bytes() + noise)
    store.commit(world.truncate("B", end=5))
    assert [(entry.title, entry.state) for entry in store.history(world.task_dir)] == [
        ("A", EntryState.DONE),
        ("B", EntryState.DONE),
    ]
    (told,) = store.recover()
    assert told.kind is RecoveredKind.DAMAGED
    assert told.task_dir == world.task_dir
    assert "line 1 at byte 0, line 4 at byte" in told.sentence
    assert store.recover() == ()
    assert path.read_bytes().count(noise) == 2
    store.undo(world.task_dir)
    store.undo(world.task_dir)
    assert world.index.read_bytes() == INDEX


def test_every_single_damaged_line_leaves_a_history_that_can_be_used(world: World) -> None:
    store = Store(world.data_dir)
    old = world.disk()
    store.commit(world.truncate("A", end=3))
    middle = world.disk()
    store.commit(world.truncate("B", end=5))
    new = world.disk()
    path = journal_of(world)
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 4  # intent A, done A, intent B, done B
    for number in range(4):
        path.write_bytes(b"".join(line if n != number else b"?" + line[1:] for n, line in enumerate(lines)))
        again = Store(world.data_dir)
        kinds = {found.kind for found in again.recover()}
        # A lost intent is found beside the copies; a lost 'done' of the newest is seen from the files; that of an older
        # one follows from the next intent.
        assert kinds == {RecoveredKind.DAMAGED} | ({RecoveredKind.FINISHED} if number == 3 else set())
        assert world.disk() == new
        entries = {entry.title: entry for entry in again.history(world.task_dir)}
        assert set(entries) == {"A", "B"}
        assert entries["B"].can_undo
        assert all(entry.backup_dir is not None for entry in entries.values())
        again.undo(world.task_dir)
        assert world.disk() == middle
        again.undo(world.task_dir)
        assert world.disk() == old
        again.redo(world.task_dir)
        again.redo(world.task_dir)
        assert world.disk() == new
        path.write_bytes(b"".join(lines))


def test_a_journal_that_is_gone_is_rebuilt_from_the_copies_as_far_as_the_files_show(world: World) -> None:
    store = Store(world.data_dir)
    old = world.disk()
    store.commit(world.truncate("A", end=3))
    journal_of(world).unlink()
    (entry,) = store.history(world.task_dir)
    assert entry.state is EntryState.PENDING
    assert [found.kind for found in store.recover()] == [RecoveredKind.FINISHED]
    store.undo(world.task_dir)
    assert world.disk() == old
