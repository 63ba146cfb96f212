"""The program's entry: misspelt commands, machines without a screen, places for pictures, output that cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctxviewer import __main__ as entry
from ctxviewer import resources

LOGIN = resources.path("samples", "tasks", "1770537600000")
HERE = Path(__file__).parents[2]


def run(*words: str, **streams: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    command = [sys.executable, "-m", "ctxviewer", *words]
    return subprocess.run(command, text=True, check=False, cwd=HERE, env=environment, timeout=600, **streams)


def test_a_misspelt_command_is_no_window(capsys):
    assert entry.main(["reprot", str(LOGIN)]) == entry.UNUSABLE
    assert "Did you mean `ctxviewer report`?" in capsys.readouterr().err
    assert entry.main(["sing"]) == entry.UNUSABLE
    assert "`ctxviewer --help` lists the commands" in capsys.readouterr().err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a screen")
def test_without_a_screen_the_window_is_refused(monkeypatch, capsys):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert entry.main([str(LOGIN)]) == entry.REFUSED
    told = capsys.readouterr().err
    assert "there is no screen" in told
    assert "ctxviewer report PATH" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--size", "5x"], "--size needs width x height"),
        (["--size", "99999x10"], "--size needs width x height"),
        (["--size", "²x10"], "--size needs width x height"),
        (["--request", "0"], "--request counts from 1"),
        (["--message", "-1"], "--message counts from 0"),
        (["--demo"], "--demo draws the samples"),
        (["--request", "26"], "there is no request 26; the task has 25, counted from 1"),
        (["--message", "50"], "there is no message 50; the task has 50, counted from 0"),
    ],
)
def test_pictures_that_cannot_be_are_unusable(tmp_path, words, told, capsys):
    arguments = ["screenshot", str(LOGIN), "-o", str(tmp_path / "a.png"), *words]
    assert entry.main(arguments) == entry.UNUSABLE
    assert told in capsys.readouterr().err


def test_a_picture_never_takes_the_place_of_something_else(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "ui_messages").mkdir()
    task = tmp_path / "task"
    task.mkdir()
    (task / "ui_messages.json").write_text("[]")
    for out, told in (
        (tmp_path / "notes.txt", "is no PNG picture"),
        (tmp_path / "ui_messages", "is a folder"),
        (tmp_path / "no" / "a.png", "lies in no folder"),
        (task / "ui_messages.json", "lies in a task's own folder"),
        (task / "a.png", "lies in a task's own folder"),
        (Path(os.devnull), "is no PNG picture"),
    ):
        assert entry.main(["screenshot", str(LOGIN), "-o", str(out)]) == entry.REFUSED
        assert told in capsys.readouterr().err
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_fault_is_one_sentence_unless_asked_for_more(monkeypatch, capsys):
    def broken(_arguments):
        raise KeyError("x\x1b[31m")

    monkeypatch.setattr(entry, "_main", broken)
    assert entry.main([]) == entry.REFUSED
    told = capsys.readouterr().err
    assert "a fault of ctxviewer itself: KeyError" in told
    assert "test_entry.py, line" in told
    assert "\x1b" not in told
    monkeypatch.setenv(entry.TRACEBACKS, "1")
    with pytest.raises(KeyError):
        entry.main([])


def test_an_interruption_is_no_traceback(monkeypatch, capsys):
    def interrupted(_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "_main", interrupted)
    assert entry.main([]) == entry.INTERRUPTED
    assert capsys.readouterr().err == "ctxviewer: interrupted\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["--help"], ["report", "--help"], ["report", str(LOGIN)]])
def test_a_full_disk_is_told_and_the_program_ends_well(words):
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = run(*words, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, len(done.stderr.splitlines())) == (entry.REFUSED, 1), done.stderr
    assert "output cannot be written" in done.stderr


@pytest.mark.parametrize("words", [["--help"], ["report", "--help"], ["report", str(LOGIN)]])
def test_a_reader_that_is_gone_is_no_failure(words):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(*words, stdout=writing, stderr=subprocess.PIPE)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (entry.DONE, "")
