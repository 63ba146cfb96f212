"""Signs that the agent still has a task open."""

from __future__ import annotations

import os
import sqlite3

import pytest

from ctxviewer.sources.cline.openness import is_locked
from ctxviewer.sources.sqlite_ro import query
from helpers.cline_disk import Disk, FakeClock, say, started


@pytest.fixture
def disk(tmp_path):
    return Disk(tmp_path)


def signs(disk, now=1_800_000_000.0):
    return disk.read(clock=FakeClock(now).clock()).looks_open


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (0, "0 seconds ago"),
        (1, "1 second ago"),
        (59, "59 seconds ago"),
        (60, "1 minute ago"),
        (299, "4 minutes ago"),
        (-5, "0 seconds ago"),
    ],
)
def test_a_timeline_written_a_moment_ago(disk, age, words):
    path = disk.ui([say(1, "text")])
    now = 1_800_000_000
    os.utime(path, (now - age, now - age))
    assert signs(disk, now) == (f"its timeline was written {words}",)


def test_an_old_timeline_says_nothing(disk):
    path = disk.ui([say(1, "text")])
    os.utime(path, (1_800_000_000 - 300, 1_800_000_000 - 300))
    assert signs(disk) == ()


def test_a_partial_last_entry(disk):
    disk.ui([say(1, "text", partial=True)])
    assert signs(disk) == ("the last entry of its timeline is unfinished",)
    disk.ui([say(1, "text", partial=True), say(2, "text")])
    assert signs(disk) == ()


def test_a_request_without_end(disk):
    disk.ui([started(1, cost=None)])
    assert signs(disk) == ("its last request has no end yet",)
    disk.ui([started(1, cost=None, cancelReason="user_cancelled")])
    assert signs(disk) == ()


class TestLocks:
    @pytest.fixture
    def database(self, disk):
        path = disk.root / "locks.db"
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE locks (held_by TEXT, lock_type TEXT, lock_target TEXT, locked_at INTEGER)")
        database.commit()
        yield database
        database.close()

    def lock(self, database, kind, target):
        database.execute("INSERT INTO locks VALUES ('me', ?, ?, 1)", (kind, str(target)))
        database.commit()

    @pytest.mark.parametrize("inside", ["", "/ui_messages.json", "/checkpoints/x"])
    def test_a_row_that_names_the_folder(self, disk, database, inside):
        disk.ui([say(1, "text")])
        self.lock(database, "folder", f"{disk.dir}{inside}")
        assert signs(disk) == ("Cline's locks.db names its folder",)

    @pytest.mark.parametrize("target", ["/elsewhere", "other{}", "{}0"])
    def test_rows_of_other_folders(self, disk, database, target):
        self.lock(database, "folder", target.format(disk.dir))
        assert not is_locked(disk.dir, disk.root)

    def test_instances_are_no_locks_of_tasks(self, disk, database):
        self.lock(database, "instance", disk.dir)
        assert not is_locked(disk.dir, disk.root)

    def test_rows_that_are_still_in_the_log_count(self, disk, database):
        database.execute("PRAGMA journal_mode=WAL")
        self.lock(database, "folder", disk.dir)
        assert (disk.root / "locks.db-wal").stat().st_size
        assert is_locked(disk.dir, disk.root)

    @pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"x" * 100])
    def test_an_unreadable_database_says_nothing(self, disk, content):
        (disk.root / "locks.db").write_bytes(content)
        assert not is_locked(disk.dir, disk.root)

    def test_asking_leaves_no_trace(self, disk, database):
        self.lock(database, "folder", disk.dir)
        database.close()
        before = {path.name: path.stat().st_mtime_ns for path in disk.root.iterdir()}
        assert is_locked(disk.dir, disk.root)
        assert {path.name: path.stat().st_mtime_ns for path in disk.root.iterdir()} == before

    def test_it_cannot_be_written(self, disk, database):
        database.close()
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            query(disk.root / "locks.db", "INSERT INTO locks VALUES ('a', 'b', 'c', 1)")
