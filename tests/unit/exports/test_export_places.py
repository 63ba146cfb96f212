"""Where exports go: all of them or nothing, over nothing that is no file, with the rights that a file had."""

import errno
import os
import sys
import zipfile
from pathlib import Path

import pytest

from ctxviewer.domain.errors import RefusedError
from ctxviewer.exports import files
from ctxviewer.exports.bundle import BundleFile
from ctxviewer.exports.files import write_bundle, write_bytes, write_export

ELSEWHERE = Path("/nowhere/at/all")


class Small:
    """As much of a bundle as writing looks at."""

    files = (BundleFile("README.md", b"read me"), BundleFile("tasks/1/ui_messages.json", b"[]"))


def full(*_arguments, **_options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def breaking():
    yield "begun"
    full()


@pytest.mark.parametrize("replace", [False, True])
def test_an_export_that_fails_leaves_what_was_there(tmp_path, replace):
    path = tmp_path / "out.html"
    if replace:
        path.write_text("old")
    with pytest.raises(RefusedError, match=r"out\.html cannot be written: No space left"):
        write_export(path, breaking(), outside=ELSEWHERE, replace=replace)
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("out.html", "old")][: int(replace)]


def test_an_archive_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "out.zip"
    write_bundle(path, Small(), outside=ELSEWHERE)
    before = path.read_bytes()
    assert zipfile.ZipFile(path).namelist() == ["README.md", "tasks/1/ui_messages.json"]
    monkeypatch.setattr(files.os, "replace", full)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(RefusedError, match="No space left"):
        write_bundle(path, Small(), outside=ELSEWHERE, replace=True)
    assert [found.name for found in tmp_path.iterdir()] == ["out.zip"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("there", [False, True])
def test_a_folder_that_fails_leaves_nothing_behind(tmp_path, monkeypatch, there):
    path = tmp_path / "out"
    if there:
        path.mkdir()
    write = Path.write_bytes

    def fails_at_the_second(self, data):
        if self.name == "ui_messages.json":
            full()
        return write(self, data)

    monkeypatch.setattr(Path, "write_bytes", fails_at_the_second)
    with pytest.raises(RefusedError, match="No space left"):
        write_bundle(path, Small(), outside=ELSEWHERE)
    assert sorted(found.name for found in tmp_path.rglob("*")) == ["out"][: int(there)]
    monkeypatch.undo()
    write_bundle(path, Small(), outside=ELSEWHERE)
    assert (path / "tasks" / "1" / "ui_messages.json").read_bytes() == b"[]"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes, links and rights")
class TestOnPosix:
    @pytest.mark.parametrize("name", ["out.html", "out.zip"])
    def test_a_pipe_or_a_device_is_never_replaced(self, tmp_path, name):
        path = tmp_path / name
        os.mkfifo(path)
        with pytest.raises(RefusedError, match="is no file"):
            write_export(path, ["x"], outside=ELSEWHERE, replace=True)
        with pytest.raises(RefusedError, match="is no"):
            write_bundle(path, Small(), outside=ELSEWHERE, replace=True)
        assert path.is_fifo()

    def test_a_link_stays_a_link(self, tmp_path):
        (tmp_path / "real.html").write_text("old")
        (tmp_path / "link.html").symlink_to("real.html")
        write_export(tmp_path / "link.html", ["new"], outside=ELSEWHERE, replace=True)
        assert (tmp_path / "link.html").is_symlink()
        assert (tmp_path / "real.html").read_text() == "new"

    def test_a_link_to_nothing_is_there_already(self, tmp_path):
        (tmp_path / "link.html").symlink_to("gone.html")
        with pytest.raises(RefusedError, match="exists already"):
            write_export(tmp_path / "link.html", ["new"], outside=ELSEWHERE)
        write_export(tmp_path / "link.html", ["new"], outside=ELSEWHERE, replace=True)
        assert (tmp_path / "gone.html").read_text() == "new"

    def test_rights_are_those_of_the_file_before_or_of_any_new_file(self, tmp_path):
        (tmp_path / "plain").touch()
        write_bytes(tmp_path / "new", [b"x"], outside=ELSEWHERE)
        assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
        (tmp_path / "new").chmod(0o640)
        write_bytes(tmp_path / "new", [b"y"], outside=ELSEWHERE, replace=True)
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640

    def test_a_name_may_be_as_long_as_the_system_allows(self, tmp_path):
        write_export(tmp_path / ("n" * 250 + ".html"), ["x"], outside=ELSEWHERE)
        with pytest.raises(RefusedError, match="cannot be written"):
            write_export(tmp_path / ("n" * 300 + ".html"), ["x"], outside=ELSEWHERE)
