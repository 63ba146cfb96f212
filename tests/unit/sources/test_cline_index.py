"""The task index is read once for many tasks, and never taken for what it was before somebody wrote it."""

import json
import os

import pytest

from ctxviewer.sources.cline import index as module
from ctxviewer.sources.cline.index import find_item, read_index

OLD_NS = 1_700_000_000_000_000_000


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes the index of a root as if long ago. The clock is far ahead, so that times of change count as old."""
    monkeypatch.setattr(module, "_KEPT", module._Kept())
    monkeypatch.setattr(module.time, "time_ns", lambda: 4_000_000_000_000_000_000)
    path = tmp_path / "state" / "taskHistory.json"
    path.parent.mkdir()

    def write(*ids):
        path.write_text(json.dumps([{"id": name, "size": number} for number, name in enumerate(ids)]))
        os.utime(path, ns=(OLD_NS, OLD_NS))
        return tmp_path

    return write


@pytest.fixture
def reads(monkeypatch):
    """Files that were read."""
    seen = []
    read = module.read_log
    monkeypatch.setattr(module, "read_log", lambda path: seen.append(path.name) or read(path))
    return seen


def test_it_is_read_once_for_all_tasks_of_a_root(written, reads):
    root = written("a", "b", "a", "c")
    found = [find_item(read_index(root), name) for name in "abcx"]
    assert reads == ["taskHistory.json"]
    assert [(item.number, item.repeated) if item else None for item in found] == [
        (0, True),
        (1, False),
        (3, False),
        None,
    ]


def test_a_file_of_the_same_size_and_time_is_another_one(written, reads):
    root = written("a", "b")
    assert find_item(read_index(root), "b").number == 1
    written("b", "a")
    assert find_item(read_index(root), "b").number == 0
    assert len(reads) == 2


def test_a_fresh_file_is_read_again_each_time(written, reads, monkeypatch):
    root = written("a")
    monkeypatch.setattr(module.time, "time_ns", lambda: OLD_NS + 1_000_000_000)
    for _ in range(3):
        assert find_item(read_index(root), "a").number == 0
    assert len(reads) == 3


def test_a_file_that_vanished_is_no_index(written):
    root = written("a")
    read_index(root)
    (root / "state" / "taskHistory.json").unlink()
    assert find_item(read_index(root), "a") is None


def test_few_are_kept(written, tmp_path):
    for number in range(module.KEPT_INDEXES + 3):
        root = tmp_path / f"root-{number}"
        (root / "state").mkdir(parents=True)
        (root / "state" / "taskHistory.json").write_text("[]")
        read_index(root)
    assert len(module._KEPT._indexes) == module.KEPT_INDEXES


@pytest.mark.parametrize("odd", ["7", "null", '"x"', '{"id":5}', '{"id":null}', "[]", '{"size":1}'])
def test_odd_entries_are_passed_over_either_way(written, odd):
    root = written("a")
    path = root / "state" / "taskHistory.json"
    path.write_text(f'[{odd},{{"size":1,"id":"a"}},{{"id":"a"}}]')
    once, again = find_item(read_index(root), "a"), find_item(read_index(root), "a")
    assert once == again
    assert (again.number, again.repeated) == (1, True)
