"""What lies where a file or folder should be: pipes, folders, links in a circle, links under other names."""

import errno
import os
import sys

import pytest

from ctxviewer.domain.errors import CtxError
from ctxviewer.sources import registry
from ctxviewer.sources.discover import known_roots
from ctxviewer.sources.files import open_file, read_content
from ctxviewer.sources.fingerprint import file_digest
from ctxviewer.sources.own_data import VARIABLE, data_dir
from ctxviewer.sources.places import Places
from ctxviewer.sources.watch.targets import TaskTarget
from helpers.cline_disk import Disk, codes, finding, say, started, turns

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and links")
FILES = ["api_conversation_history.json", "ui_messages.json", "context_history.json", "task_metadata.json"]


@pytest.fixture
def disk(tmp_path):
    disk = Disk(tmp_path / "root")
    disk.index(disk.item(conversationHistoryDeletedRange=[2, 3]))
    disk.api(turns(6))
    disk.ui([say(1, "task", "t", last=-1), started(2, last=-1), say(3, "text", "x", last=5)])
    disk.updates([[2, [2, [[0, [[5, "text", ["dup"], []]]]]]]])
    disk.write("task_metadata.json", {"files_in_context": []})
    return disk


@pytest.mark.parametrize("name", FILES)
def test_a_pipe_is_no_file_and_nobody_waits_for_it(disk, name):
    (disk.dir / name).unlink()
    os.mkfifo(disk.dir / name)
    snapshot = disk.read()
    assert "it is a pipe, a device or a socket, not a file" in finding(snapshot, "file-unreadable").sentence
    assert finding(snapshot, "file-unreadable").file == name


@pytest.mark.parametrize("name", FILES)
def test_a_folder_is_no_file(disk, name):
    (disk.dir / name).unlink()
    (disk.dir / name).mkdir()
    assert f"{name} cannot be read: it is a folder" in finding(disk.read(), "file-unreadable").sentence


def test_an_index_that_is_a_pipe_is_told(disk):
    index = disk.root / "state" / "taskHistory.json"
    index.unlink()
    os.mkfifo(index)
    assert "index-damaged" in codes(disk.read())
    assert [ref.task_id for ref in registry.open_path(disk.root)] == [disk.dir.name]
    with pytest.raises(CtxError, match="pipe"):
        registry.open_path(index)


def test_a_device_is_not_read_to_its_end(disk):
    (disk.dir / "ui_messages.json").unlink()
    (disk.dir / "ui_messages.json").symlink_to("/dev/zero")
    assert "file-unreadable" in codes(disk.read())


@pytest.mark.parametrize("read", [open_file, read_content, file_digest])
def test_every_reader_refuses_a_pipe(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe"):
        read(tmp_path / "pipe")


def test_a_link_in_a_circle_hides_nothing_beside_it(tmp_path):
    root = tmp_path / ".config" / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev"
    disk = Disk(root)
    disk.api(turns(2))
    for folder in (tmp_path, tmp_path / ".config", root / "tasks"):
        (folder / "1700000000000").symlink_to(folder / "1700000000000")
    assert [found.path for found in known_roots(Places(tmp_path, {}, "linux"))] == [root]
    assert [ref.task_id for ref in registry.open_path(root)] == [disk.dir.name]


@pytest.mark.parametrize("inside", ["", "ui_messages.json"])
def test_a_link_to_a_task_has_the_range_of_its_index(disk, tmp_path, inside):
    link = tmp_path / "mine"
    link.symlink_to(disk.dir)
    (ref,) = registry.open_path(link / inside)
    assert (ref.task_id, ref.in_index) == (disk.dir.name, True)
    assert registry.read(ref).range_now is not None


def test_a_task_in_a_linked_folder_stays_where_the_user_sees_it(disk, tmp_path):
    (tmp_path / "linked").symlink_to(disk.root)
    (ref,) = registry.open_path(tmp_path / "linked" / "tasks" / disk.dir.name)
    assert str(ref.directory).startswith(str(tmp_path / "linked"))
    assert ref.in_index


def test_a_link_that_leads_nowhere_says_so(tmp_path):
    (tmp_path / "lost").symlink_to("/nowhere/at/all")
    with pytest.raises(CtxError, match="is a link to /nowhere/at/all, where nothing is"):
        registry.open_path(tmp_path / "lost")


def test_a_home_that_nobody_knows_is_a_path_like_any_other():
    with pytest.raises(CtxError, match="There is no file or folder"):
        registry.open_path("~nobody-of-this-name/tasks")


def test_own_data_have_an_absolute_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv(VARIABLE, "own")
    assert data_dir() == tmp_path / "own"
    monkeypatch.setenv(VARIABLE, "~/own")
    assert data_dir() == tmp_path / "home" / "own"
    monkeypatch.setenv(VARIABLE, "~nobody-of-this-name")
    assert data_dir().is_absolute()


def test_a_machine_without_a_home_has_no_tasks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def unknown(path):
        return path

    monkeypatch.setattr(os.path, "expanduser", unknown)
    assert known_roots(Places.here()) == ()


@pytest.fixture
def forbid(monkeypatch):
    """Folders that nobody may enter: `stat` of what lies in them fails, as for another user's."""
    closed = []

    def guarded(name):
        real = getattr(os, name)

        def call(path, *arguments, **options):
            if any(
                isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith(f"{one}{os.sep}") for one in closed
            ):
                raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))
            return real(path, *arguments, **options)

        monkeypatch.setattr(os, name, call)

    for name in ("stat", "open", "scandir", "listdir"):
        guarded(name)
    return closed.append


def test_an_index_that_nobody_may_read_leaves_the_tasks(disk, forbid):
    forbid(disk.root / "state")
    assert [ref.task_id for ref in registry.open_path(disk.root)] == [disk.dir.name]
    (ref,) = registry.open_path(disk.dir)
    assert "index-damaged" in codes(registry.read(ref))


def test_a_root_that_nobody_may_enter_is_none(tmp_path, forbid):
    Disk(tmp_path / ".cline" / "data").api(turns(2))
    forbid(tmp_path / ".cline")
    assert known_roots(Places(tmp_path, {}, "linux")) == ()


@pytest.mark.parametrize("target", ["/nowhere/at/all", "itself"])
def test_a_watched_folder_with_a_bad_link_shows_its_other_files(disk, target):
    link = disk.dir / "itself"
    link.symlink_to(disk.dir / target)
    for number in range(8):  # before and behind it in the order of the directory
        (disk.dir / f"more-{number}.json").touch()
    look = TaskTarget(disk.dir, frozenset()).look()
    assert set(look.inside) == {path.name for path in disk.dir.iterdir()} - {"itself"}
