"""Arguments: what is said about wrong ones, by whom, and what is never guessed."""

import errno
import io
import json
import shutil

import pytest

from ctxviewer import resources
from ctxviewer.cli import DONE, FINDING, UNREADABLE, UNUSABLE, Terminal, main
from ctxviewer.sources import discover, registry

LOGIN = str(resources.path("samples", "tasks", "1770537600000"))
SAMPLES = str(resources.path("samples"))


def run(*words):
    out, err = io.StringIO(), io.StringIO()
    status = main([str(word) for word in words], Terminal(out, err, io.StringIO()))
    return status, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["report", LOGIN, "--request", "x"], "'x' is no whole number"),
        (["report", LOGIN, "--window", "5x"], "'5x' is no number of tokens; write it as 200000 or 200k"),
        (["report", LOGIN, "--window", "nan"], "'nan' is no number of tokens"),
        (["report", LOGIN, "--nope"], "usage: ctxviewer report "),
        (["plan", "truncate", LOGIN, "more"], "usage: ctxviewer plan truncate "),
        (["report", ""], "the path is empty"),
        (["apply", "truncate", "  ", "--yes"], "the path is empty"),
        (["doctor", ""], "the path is empty"),
        (["report", SAMPLES, "--request", "3"], "holds 4 tasks; --request is for one of them"),
        (["report", LOGIN, "--demo"], "goes with neither PATH nor --request"),
        (["track", LOGIN], "TEXT --path --message is required"),
        (["track", LOGIN, "x", "--path", "y"], "cannot be given together"),
        (["track", LOGIN, "--regex", "a", "b"], "unrecognized arguments: a b"),
        (["report", "--"], "name a task"),
    ],
)
def test_wrong_arguments_are_told_by_their_own_command(words, told):
    status, out, err = run(*words)
    assert (status, out) == (UNUSABLE, "")
    assert told in err
    assert err.startswith("ctxviewer: ")


def test_a_text_may_stand_behind_options():
    assert run("track", LOGIN, "--ignore-case", "LOCKED") == run("track", LOGIN, "LOCKED", "--ignore-case")


def test_a_task_without_its_history_names_the_file(tmp_path):
    shutil.copytree(LOGIN, tmp_path / "1770537600000")
    history = tmp_path / "1770537600000" / "api_conversation_history.json"
    for damage, words in ((history.unlink, "is missing"), (history.mkdir, "holds nothing readable")):
        damage()
        for command in (["sent"], ["tokens"], ["compare"], ["losses"], ["assert", "--rule", 'contains "x"']):
            status, out, err = run(command[0], history.parent, *command[1:])
            assert (status, out) == (UNREADABLE, "")
            assert f"the API history {words}, so" in err
            assert str(history) in err


@pytest.fixture
def root(tmp_path):
    """The samples, one of them without its history."""
    shutil.copytree(SAMPLES, tmp_path / "root")
    (tmp_path / "root" / "tasks" / "1769241600000" / "api_conversation_history.json").unlink()
    return tmp_path / "root"


def test_one_task_that_cannot_be_checked_leaves_the_others(root):
    status, out, err = run("assert", root, "--rule", 'contains "task"')
    assert (status, err) == (UNREADABLE, "")
    assert out.count("holds ") == 3
    assert "ERROR   the API history is missing" in out
    status, out, _ = run("assert", root, "--rule", 'contains "task"', "--json")
    found = json.loads(out)
    assert (status, found["holds"]) == (UNREADABLE, False)
    assert [bool(task["unreadable"]) for task in found["tasks"]].count(True) == 1


def test_a_broken_rule_counts_more_than_a_task_that_cannot_be_checked(root):
    assert run("assert", root, "--rule", 'never-contains "task"')[0] == FINDING


def test_doctor_tells_roots_that_cannot_be_listed_and_how_many_are_odd(root, monkeypatch, tmp_path):
    _, out, _ = run("doctor", root)
    assert out.endswith("4 tasks looked at: 2 tasks with findings.\n")
    monkeypatch.setattr(discover, "known_roots", lambda: ())
    around = discover.look_around([tmp_path / "gone"], places=discover.Places(tmp_path, {}, "linux"))
    monkeypatch.setattr(discover, "look_around", lambda: around)
    status, out, _ = run("doctor")
    assert status == FINDING
    assert f"{tmp_path / 'gone'}\n  WARNING root-unreadable: There is no file or folder" in out
    assert "No task was found on this machine" in out
    found = json.loads(run("doctor", "--json")[1])
    assert [row["code"] for row in found["unlisted"]] == ["root-unreadable"]


def test_a_search_that_ended_early_is_told_beside_the_output(root, monkeypatch):
    monkeypatch.setattr(registry, "MOST_FOLDERS", 1)
    for name in "xyz":
        (root.parent / name).mkdir()
    for command in ("report", "doctor", "assert"):
        status, out, err = run(command, root.parent, *(("--rule", 'never-contains "x"') if command == "assert" else ()))
        assert status in {DONE, FINDING}
        assert "the first 1 were" in (out if command == "doctor" else err)
    assert [row["code"] for row in json.loads(run("doctor", root.parent, "--json")[1])["unlisted"]] == [
        "search-too-wide"
    ]


def test_samples_that_cannot_be_written_are_no_fault(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CTXVIEWER_DATA_DIR", str(tmp_path / "file" / "below"))
    status, _, err = run("report", "--demo")
    assert status == FINDING
    assert "The samples cannot be put into" in err
    assert "CTXVIEWER_DATA_DIR" in err


def test_a_full_disk_under_the_samples_is_one_sentence(tmp_path, monkeypatch):
    def full(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    monkeypatch.setenv("CTXVIEWER_DATA_DIR", str(tmp_path))
    status, _, err = run("report", "--demo")
    assert status == FINDING
    assert err.splitlines()[0] == f"ctxviewer: The samples cannot be put into {tmp_path}: No space left on device."


def test_a_number_instead_of_a_folder_gets_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLINE_DIR", str(tmp_path / "cline"))
    shutil.copytree(SAMPLES, tmp_path / "cline" / "data")
    folder = tmp_path / "cline" / "data" / "tasks"
    status, _, err = run("report", "1770537600000")
    assert status == UNREADABLE
    assert f"  There is {folder / '1770537600000'}\n" in err
    assert run("sent", "17")[2].count("  There is ") == 3
    assert "and 1 more." in run("sent", "17")[2]
    assert "Check the spelling." in run("sent", "99")[2]


def test_help_is_no_error(capsys):
    with pytest.raises(SystemExit) as end:
        run("plan", "truncate", "--help")
    assert end.value.code == DONE
    assert "usage: ctxviewer plan truncate" in capsys.readouterr().out


def test_a_report_lists_what_other_commands_take_by_number():
    _, out, _ = run("report", LOGIN)
    assert (
        "Checkpoints\n       18 earlier ones: `report --json` lists all\n   19  request 18    keeps messages 0–36\n"
        in out
    )
    assert "   26  request 25    keeps messages 0–49\n" in out
    assert "\n    1  request 18   Optimised" in out
    assert "\n    2  request 18   Truncated" in out


def test_a_list_of_tasks_has_days_and_names_what_has_no_title(root):
    shutil.rmtree(root / "state")
    (root / "tasks" / "1749024000000" / "ui_messages.json").unlink()
    _, out, _ = run("report", root)
    assert "   1749024000000  " in out
    assert "  (no title)" in out


def test_the_table_of_strategies_is_not_much_wider_than_its_numbers():
    _, out, _ = run("compare", LOGIN)
    line = next(line for line in out.splitlines() if line.startswith("---"))
    assert len(line) < 160
