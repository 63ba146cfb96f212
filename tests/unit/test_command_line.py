"""The command line on a working agent's task: what it says, writes, refuses, and its exit status."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ctxviewer.cli import DONE, FINDING, UNREADABLE, UNUSABLE, Terminal, main
from ctxviewer.engine.cline.notices import CONTEXT_TRUNCATION
from helpers.working_agent import WorkingAgent


class Answer(io.StringIO):
    """A person at a terminal who types one line."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def agent(tmp_path, monkeypatch) -> WorkingAgent:
    monkeypatch.setenv("CTXVIEWER_DATA_DIR", str(tmp_path / "own"))
    made = WorkingAgent(tmp_path / "root")
    for number in range(8):
        made.turn(f"turn {number}", read="a.py" if number % 2 == 0 else "", body="x" * 400)
    made.write()
    return made


def run(*words: object, typed: str | None = None) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    source = io.StringIO() if typed is None else Answer(typed)
    status = main([str(word) for word in words], Terminal(out, err, source))
    return status, out.getvalue(), err.getvalue()


def answer(*words: object) -> dict:
    status, out, err = run(*words, "--json")
    assert status == DONE, err
    return json.loads(out)


def test_report_tells_numbers_and_state(agent):
    made = answer("report", agent.directory)
    assert made["schema"] == 1
    assert made["messages"] == 16
    assert [request["number"] for request in made["requests"]] == list(range(1, 9))
    assert made["requests"][0]["usage"]["total"] == 20_500
    assert made["at"]["projection"]["sent"] == 16
    assert len(made["checkpoints"]) == 8


def test_report_for_people_names_the_request(agent):
    status, out, _ = run("report", agent.directory, "--request", 3)
    assert status == DONE
    assert "Request 3 of 8" in out
    assert "Request 2 reported 20,500 tokens, below the limit" in out


def test_sent_is_the_exact_list_of_a_request(agent):
    assert answer("sent", agent.directory, "--request", 3) == agent.messages[:5]


def test_a_plan_writes_nothing_and_apply_does_what_it_said(agent):
    before = agent.files()
    plan = answer("plan", "truncate", agent.directory, "--keep", "half")
    assert agent.files() == before
    assert plan["range_after"] == [2, 7]
    assert plan["tokens"]["after"] < plan["tokens"]["before"]
    assert {line["role"] for line in plan["files"]} == {"updates", "index"}
    status, _, err = run("apply", "truncate", agent.directory, "--yes", "--even-if-open")
    assert status == DONE, err
    agent.load()
    assert agent.deleted == [2, 7]
    assert answer("sent", agent.directory)[1]["content"][0]["text"] == CONTEXT_TRUNCATION


def test_undo_and_redo_bring_the_bytes_back(agent):
    before = agent.files()
    run("apply", "optimize", agent.directory, "--yes", "--even-if-open")
    after = agent.files()
    assert after != before
    assert run("undo", agent.directory, "--yes", "--even-if-open")[0] == DONE
    assert agent.files() == before
    assert run("redo", agent.directory, "--yes", "--even-if-open")[0] == DONE
    assert agent.files() == after
    states = [entry["state"] for entry in answer("history", agent.directory)["entries"]]
    assert states == ["done"]


def test_rolling_back_to_a_checkpoint(agent):
    status, _, err = run("apply", "rollback", agent.directory, "--checkpoint", 3, "--yes", "--even-if-open")
    assert status == DONE, err
    kept = agent.messages[:7]
    agent.load()
    assert agent.messages == kept
    assert agent.ui[-1]["say"] == "deleted_api_reqs"
    assert json.loads(agent.ui[-1]["text"])["tokensIn"] == 5 * 20_000


@pytest.mark.parametrize(
    ("typed", "done"), [("y\n", True), ("yes\n", True), ("\n", False), ("n\n", False), ("", False)]
)
def test_apply_asks_and_no_is_the_default(agent, typed, done):
    before = agent.files()
    status, _, err = run("apply", "optimize", agent.directory, "--even-if-open", typed=typed)
    assert (status == DONE) is done
    assert (agent.files() != before) is done
    assert done or "nothing was written" in err


def test_nobody_to_ask_is_a_no(agent):
    before = agent.files()
    assert run("apply", "optimize", agent.directory, "--even-if-open")[0] == FINDING
    assert agent.files() == before


def test_a_task_that_looks_open_wants_a_second_consent(agent):
    before = agent.files()
    status, _, err = run("apply", "optimize", agent.directory, "--yes")
    assert status == FINDING
    assert "looks open" in err
    assert "--even-if-open" in err
    assert agent.files() == before


def test_a_refused_plan_says_why(agent):
    run("apply", "optimize", agent.directory, "--yes", "--even-if-open")
    status, out, _ = run("plan", "optimize", agent.directory)
    assert status == FINDING
    assert "cannot be applied: No file is in the conversation twice" in out


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["report", "TASK", "--request", "99"], UNUSABLE, "there is no request 99; the task has 8"),
        (["report", "TASK", "--request", "0"], UNUSABLE, "counted from 1"),
        (["report", "/nowhere/at/all"], UNREADABLE, "/nowhere/at/all"),
        (["plan", "rollback", "TASK"], UNUSABLE, "--checkpoint"),
        (["plan", "rollback", "TASK", "--checkpoint", "9"], UNUSABLE, "there is no checkpoint 9"),
        (["plan", "rollback", "TASK", "--message", "16"], UNUSABLE, "there is no message 16"),
        (["plan", "rollback", "TASK", "--ts", "5"], UNUSABLE, "no entry of the timeline has the time 5"),
        (["plan", "truncate", "TASK", "--keep", "most"], UNUSABLE, "invalid choice"),
        (["plan", "decide", "TASK", "--window", "lots"], UNUSABLE, "--window"),
        (["plan", "decide", "TASK", "--window", "-5"], UNUSABLE, "--window"),
        (["undo", "TASK", "--yes"], FINDING, "nothing to undo"),
        (["redo", "TASK", "--yes"], FINDING, "nothing to redo"),
        (["sing"], UNUSABLE, "sing"),
    ],
)
def test_wrong_words_get_a_sentence_and_a_status(agent, words, status, told):
    got, _, err = run(*[agent.directory if word == "TASK" else word for word in words])
    assert (got, told in err) == (status, True), err


def test_the_samples_are_reported_one_by_one_and_none_looks_open(agent):
    reports = answer("report", "--demo")["reports"]
    assert len(reports) == 4
    assert [made["looks_open"] for made in reports] == [[]] * 4
    status, out, _ = run("report", "--demo")
    assert (status, out.count("managed from")) == (DONE, 4)
    assert run("report")[0] == UNUSABLE


def test_a_root_is_a_list_of_tasks(agent):
    tasks = answer("report", agent.root)["tasks"]
    assert {task["id"] for task in tasks} == {agent.task_id, "1"}


def test_a_root_is_no_task_to_change(agent):
    status, _, err = run("plan", "optimize", agent.root)
    assert status == UNUSABLE
    assert "holds 2 tasks" in err


def test_doctor_finds_and_repair_mends(agent):
    agent.deleted = [2, 5]
    agent.write()
    status, out, _ = run("doctor", agent.directory)
    assert status == FINDING
    assert "cut-without-notice" in out
    status, _, err = run("apply", "repair", agent.directory, "--code", "cut-without-notice", "--yes", "--even-if-open")
    assert status == DONE, err
    assert run("doctor", agent.directory)[0] == DONE


def test_lone_surrogates_come_out_as_escapes(agent):
    agent.messages[2]["content"][0]["text"] = "cut \ud83d"
    agent.write()
    _, out, _ = run("sent", agent.directory)
    assert r"cut \ud83d" in out
    assert json.loads(out) == agent.messages


def test_an_orphan_can_be_looked_at_but_not_cut(agent):
    agent.index.write_text("[]")
    status, out, _ = run("plan", "truncate", agent.directory)
    assert status == FINDING
    assert "does not list this task" in out


def test_a_task_whose_index_cannot_be_read_can_be_looked_at_but_not_cut(agent):
    agent.index.write_text("[{")
    status, out, _ = run("plan", "truncate", agent.directory)
    assert status == FINDING
    assert "The task index cannot be read" in out


def test_no_command_loads_qt(agent):
    code = (
        "import sys; from ctxviewer.__main__ import main; status = main(sys.argv[1:]); "
        "sys.exit(status or any(name.startswith(('PySide6', 'pyqtgraph', 'qtawesome')) for name in sys.modules))"
    )
    command = [sys.executable, "-c", code, "report", str(agent.directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
