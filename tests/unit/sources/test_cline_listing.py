"""The tasks of a root, without reading them."""

from __future__ import annotations

import json
import os

import pytest

from ctxviewer.domain.errors import UnreadableTaskError
from ctxviewer.sources.cline import listing
from ctxviewer.sources.cline.listing import list_root, ref_for
from helpers.cline_disk import Disk, opened_files, say, turns
from helpers.work import Work


def test_facts_of_an_index_entry(tmp_path):
    disk = Disk(tmp_path)
    disk.api(turns(2))
    disk.index(disk.item(task="  fix\n the   bug ", isFavorited=True))
    (ref,) = list_root(disk.root, "Code")
    assert (ref.task_id, ref.title, ref.host, ref.in_index) == (disk.task_id, "fix the bug", "Code", True)
    assert (ref.created_ms, ref.updated_ms, ref.size) == (1747000000000, 1747000009000, 77)
    assert (ref.total_tokens, ref.total_cost, ref.favourite, ref.problem) == (10, 0.5, True, "")
    assert ref.directory == disk.dir
    assert ref.root == disk.root


def test_odd_values_in_the_index_do_no_harm(tmp_path):
    disk = Disk(tmp_path)
    disk.api(turns(2))
    odd = {
        "id": disk.task_id,
        "ts": "x",
        "task": 5,
        "tokensIn": "9",
        "totalCost": True,
        "size": -1,
        "isFavorited": "yes",
    }
    disk.index(5, None, [], {"id": 7}, {"id": "../../etc"}, {"id": ".."}, {"id": ""}, odd, odd)
    (ref,) = list_root(disk.root)
    assert (ref.title, ref.total_tokens, ref.total_cost, ref.size, ref.favourite) == ("", 0, 0, 0, False)
    assert ref.updated_ms == 1_747_000_000_000


def test_tasks_without_folder_or_files_are_listed_with_the_reason(tmp_path):
    disk = Disk(tmp_path)
    disk.index(disk.item(), {**disk.item(), "id": "1746000000000"})
    problems = {ref.task_id: ref.problem for ref in list_root(disk.root)}
    assert problems == {disk.task_id: listing.NO_FILES, "1746000000000": listing.NO_FOLDER}


def test_folders_without_index_entry_are_listed_with_a_title_of_their_own(tmp_path):
    disk = Disk(tmp_path)
    disk.api(turns(2))
    disk.ui([say(1, "task", "do  the\nthing" + "x" * 100_000)])
    other = Disk(tmp_path, "1748000000000")
    other.write("claude_messages.json", [say(1, "text", "old one")])
    os.utime(other.dir / "claude_messages.json", (1_750_000_000, 1_750_000_000))
    refs = list_root(disk.root)
    assert [(ref.task_id, ref.title, ref.in_index) for ref in refs] == [
        ("1748000000000", "old one", False),
        (disk.task_id, "", False),
    ]
    disk.ui([say(1, "task", "do  the\nthing"), say(2, "text", "x" * 100_000)])
    assert list_root(disk.root)[1].title == "do the thing"


def test_other_folders_are_no_tasks(tmp_path):
    disk = Disk(tmp_path)
    disk.api(turns(2))
    for name in ("notes", "0fa5ac76-4179-41e5-a8ee-6d9226f3221e", "12"):
        (disk.root / "tasks" / name).mkdir()
        (disk.root / "tasks" / name / "readme.txt").touch()
    roo = disk.root / "tasks" / "0fa5ac76-4179-41e5-a8ee-6d9226f3221e"
    (roo / "api_conversation_history.json").write_text('[{"role":"user","content":[]}]')
    renamed = disk.root / "tasks" / "from a bug report"
    renamed.mkdir()
    (renamed / "ui_messages.json").write_text('[{"ts":1,"type":"say","say":"text","text":"hello"}]')
    assert {ref.task_id for ref in list_root(disk.root)} == {disk.task_id, "from a bug report"}


def test_a_root_that_is_not_there_has_no_tasks(tmp_path):
    assert list_root(tmp_path / "none") == ()


def test_a_folder_that_may_not_be_listed_is_told(tmp_path, monkeypatch):
    disk = Disk(tmp_path)

    def scandir(_path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(listing.os, "scandir", scandir)
    with pytest.raises(UnreadableTaskError, match="Permission denied") as caught:
        list_root(disk.root)
    assert caught.value.place == str(disk.root / "tasks")


def test_one_folder_alone(tmp_path):
    folder = tmp_path / "attachment"
    folder.mkdir()
    (folder / "ui_messages.json").write_text(json.dumps([say(1, "task", "hello")]))
    ref = ref_for(folder)
    assert (ref.task_id, ref.title, ref.root, ref.in_index) == ("attachment", "hello", tmp_path, False)


def test_ten_thousand_tasks_are_listed_quickly_and_none_is_read(tmp_path):
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    items = []
    for number in range(10_000):
        task_id = str(1_700_000_000_000 + number)
        (tasks / task_id).mkdir()
        (tasks / task_id / "ui_messages.json").touch()
        items.append({"id": task_id, "ts": 1_700_000_000_000 + number, "task": f"task {number} " + "words " * 100})
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "taskHistory.json").write_text(json.dumps(items[:-50]))
    best = 9.0
    for _ in range(3):
        with Work() as work, opened_files() as opened:
            refs = list_root(tmp_path)
        best = min(best, work.seconds)
    assert len(refs) == 10_000
    assert refs[0].task_id == "1700000009999"
    assert sum(ref.in_index for ref in refs) == 9_950
    assert len(opened) < 120  # the index, the folder, and titles of those that the index does not name
    assert best < 2  # measured 0.25
