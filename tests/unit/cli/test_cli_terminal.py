"""What stands on a terminal: nothing that it would obey, nothing that it cannot show, and JSON that stays JSON."""

import errno
import io
import json
import os
import shutil

import pytest

from ctxviewer import resources
from ctxviewer.cli import DONE, FINDING, Terminal, main
from ctxviewer.cli.terminal import OutputError

LOGIN = resources.path("samples", "tasks", "1770537600000")
HOSTILE = "a\x1b[31m\x07\x00\r\x08\x7f\x9b\x85\u202e\u2066\u200f\u2028z"


def coded(encoding):
    """A stream of one encoding, and its bytes."""
    raw = io.BytesIO()
    return io.TextIOWrapper(raw, encoding=encoding), raw


class Full(io.StringIO):
    """A full disk, or a reader that has gone."""

    def __init__(self, error, *, at="write"):
        super().__init__()
        self.error, self.at = error, at

    def write(self, text):
        if self.at == "write":
            raise self.error
        return super().write(text)

    def flush(self):
        if self.at == "flush":
            raise self.error


def full():
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_control_and_direction_signs_become_escapes_for_people():
    out = io.StringIO()
    Terminal(out, None, None).say(HOSTILE + "\tb\n")
    assert out.getvalue() == r"a\x1b[31m\x07\x00\x0d\x08\x7f\x9b\x85\u202e\u2066\u200f\u2028z" + "\tb\n"


def test_errors_are_as_safe_as_the_output():
    err = io.StringIO()
    status = main(["report", f"/no{HOSTILE}\nwhere"], Terminal(io.StringIO(), err, None))
    assert status != DONE
    first, hint = err.getvalue().splitlines()
    assert r"\x1b[31m\x07" in first
    assert r"z\nwhere" in first
    assert hint == "  Check the spelling."


def test_a_place_is_not_told_twice():
    err = io.StringIO()
    main(["report", "/nowhere/at/all"], Terminal(io.StringIO(), err, None))
    assert err.getvalue().count("/nowhere/at/all") == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8", "utf-16"])
def test_json_stays_json_in_every_encoding(encoding):
    value = {"text": f"é … 😀 \ud83d {HOSTILE}", "é": [1]}
    stream, raw = coded(encoding)
    Terminal(stream, None, None).json(value)
    stream.flush()
    text = raw.getvalue().decode(encoding)
    assert json.loads(text) == value
    assert not set(text) & set("\x7f\x9b\x85\u202e\u2066\u200f\u2028")


def test_our_signs_have_plain_ones_and_other_texts_have_escapes():
    stream, raw = coded("ascii")
    Terminal(stream, None, None).say("2–4 · “a” → b… 80 % × 2 é 😀\n")
    stream.flush()
    assert raw.getvalue().decode() == r'2-4 - "a" -> b... 80 % x 2 \xe9 \U0001f600' + "\n"


def test_a_document_is_utf_8_whatever_the_terminal_speaks():
    stream, raw = coded("ascii")
    status = main(["export", str(LOGIN), "--format", "html", "-o", "-"], Terminal(stream, io.StringIO(), None))
    assert status == DONE
    assert "–" in raw.getvalue().decode("utf-8")


@pytest.mark.parametrize("at", ["write", "flush"])
def test_a_full_disk_is_told_in_one_sentence(at):
    err = io.StringIO()
    status = main(["report", str(LOGIN)], Terminal(Full(full(), at=at), err, None))
    assert status == FINDING
    assert err.getvalue() == f"ctxviewer: The output cannot be written: {os.strerror(errno.ENOSPC)}.\n"


@pytest.mark.parametrize("at", ["write", "flush"])
def test_a_reader_that_has_seen_enough_is_no_failure(at):
    err = io.StringIO()
    status = main(["report", str(LOGIN)], Terminal(Full(BrokenPipeError(), at=at), err, None))
    assert (status, err.getvalue()) == (DONE, "")


def test_closed_streams_are_no_fault():
    err = io.StringIO()
    assert main(["report", str(LOGIN)], Terminal(None, err, None)) == FINDING
    assert "The output is closed" in err.getvalue()
    assert main(["report", "/nowhere"], Terminal(None, None, None)) != DONE
    assert not Terminal(io.StringIO(), None, None).confirm("Really?")
    with pytest.raises(OutputError):
        Terminal(None, None, None).say("x")


def test_the_question_stands_beside_the_output():
    class Person(io.StringIO):
        def isatty(self):
            return True

    out, err = io.StringIO(), io.StringIO()
    assert Terminal(out, err, Person("yes\n")).confirm("Apply?")
    assert (out.getvalue(), err.getvalue()) == ("", "Apply? [y/N] ")


@pytest.mark.parametrize("at", ["write", "flush"])
@pytest.mark.parametrize("error", [BrokenPipeError(), full()], ids=["nobody", "full"])
def test_nothing_is_applied_before_its_preview_is_out(tmp_path, monkeypatch, at, error):
    monkeypatch.setenv("CTXVIEWER_DATA_DIR", str(tmp_path / "own"))
    shutil.copytree(LOGIN.parents[1], tmp_path / "root")
    task = tmp_path / "root" / "tasks" / LOGIN.name
    before = {path: path.read_bytes() for path in (tmp_path / "root").rglob("*") if path.is_file()}
    err = io.StringIO()
    words = ["apply", "truncate", str(task), "--yes", "--even-if-open"]
    assert main(words, Terminal(Full(error, at=at), err, None)) == FINDING
    assert {path: path.read_bytes() for path in before} == before
    assert "nothing was written" in err.getvalue() or "cannot be written" in err.getvalue()


def test_what_was_applied_is_told_even_if_the_output_is_gone(tmp_path, monkeypatch):
    class UntilDone(Full):
        def write(self, text):
            if "Done:" in text:
                raise self.error
            return io.StringIO.write(self, text)

    monkeypatch.setenv("CTXVIEWER_DATA_DIR", str(tmp_path / "own"))
    shutil.copytree(LOGIN.parents[1], tmp_path / "root")
    task = tmp_path / "root" / "tasks" / LOGIN.name
    err = io.StringIO()
    words = ["apply", "truncate", str(task), "--yes", "--even-if-open"]
    assert main(words, Terminal(UntilDone(full()), err, None)) == DONE
    assert "Done: Truncate" in err.getvalue()
    err = io.StringIO()
    assert main(["undo", *words[2:]], Terminal(io.StringIO(), err, None)) == DONE


def test_a_models_name_stays_on_its_line(tmp_path):
    shutil.copytree(resources.path("samples"), tmp_path / "samples")
    folder = tmp_path / "samples" / "tasks" / "1770537600000"
    for name in ("ui_messages.json", "api_conversation_history.json"):
        text = (folder / name).read_text("utf-8")
        odd = text.replace('"modelId":"deepseek-chat"', '"modelId":"odd\\n name\\u2028x"')
        assert odd != text, name
        (folder / name).write_text(odd, "utf-8")
    for command in ("report", "tokens", "reconcile"):
        out = io.StringIO()
        main([command, str(folder)], Terminal(out, io.StringIO(), io.StringIO()))
        lines = [line for line in out.getvalue().splitlines() if "odd" in line]
        assert lines, command
        assert all("odd name x" in line for line in lines), command
