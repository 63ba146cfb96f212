"""The strategy lab on the command line: what it prints, in each form, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ctxviewer.cli import DONE, FINDING, UNREADABLE, UNUSABLE, Terminal, lab, main
from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.matrix import Choice
from ctxviewer.engine.strategies import STRATEGIES, strategy
from helpers.working_agent import WorkingAgent


@pytest.fixture
def agent(tmp_path, monkeypatch) -> WorkingAgent:
    monkeypatch.setenv("CTXVIEWER_DATA_DIR", str(tmp_path / "own"))
    made = WorkingAgent(tmp_path / "root")
    for number in range(8):
        read = "a.py" if number % 2 == 0 else ""
        made.turn(f"turn {number}", read=read, body="x" * 400, tokens=20_000 * (number + 1))
    made.write()
    return made


def run(*words: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = main([str(word) for word in words], Terminal(out, err, io.StringIO()))
    return status, out.getvalue(), err.getvalue()


def answer(*words: object) -> dict:
    status, out, err = run(*words, "--json")
    assert status == DONE, err
    return json.loads(out)


def test_strategies_are_listed_with_their_settings():
    made = answer("strategies")
    assert [row["key"] for row in made["strategies"]] == [row.key for row in STRATEGIES]
    prune = next(row for row in made["strategies"] if row["key"] == "sage-prune")
    assert {setting["name"] for setting in prune["parameters"]} == {
        "provider",
        "threshold",
        "recent",
        "keep_system",
        "always",
    }
    status, out, _ = run("strategies")
    assert status == DONE
    assert "--set override=…" in out
    assert "1e+" not in out


def test_simulate_prints_the_steps_and_what_is_lost(agent):
    before = agent.files()
    status, out, _ = run("simulate", agent.directory, "--strategy", "HALF", "--request", 5)
    assert status == DONE
    assert "Mode half: messages 2–3 go, 2 of the 7 that remain" in out
    assert "This is a what-if before request 5" in out
    assert re.search(r"Cline: Truncate: half +\d", out)
    assert agent.files() == before


def test_simulate_says_where_a_notice_is_longer_than_what_it_saves(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXVIEWER_DATA_DIR", str(tmp_path / "own"))
    short = WorkingAgent(tmp_path / "short")
    for number in range(4):
        short.turn(f"{number}")
    short.write()
    _, out, _ = run("simulate", short.directory, "--strategy", "half")
    assert re.search(r"characters as sent: \d+ → \d+ \([\d,.]+ % more\)", out)


def test_simulate_as_json(agent):
    made = answer("simulate", agent.directory, "--strategy", "sage-prune", "--set", "always=on", "--set", "recent=2",
                  "--window", 400)  # fmt: skip
    assert made["settings"]["recent"] == 2
    assert made["settings"]["window"] == 400
    assert made["measured"]["messages_lost"] == len(made["steps"]) - 2
    assert made["after"]["gone"] == [[0, made["measured"]["messages_lost"] - 1]]
    assert made["measured"]["strategy"] == "sage-prune"
    summary = answer("simulate", agent.directory, "--strategy", "sage-compact", "--set", "always=on")
    assert summary["after"]["inserted"][0]["role"] == "assistant"


def test_decide_as_a_strategy_is_the_plan(agent):
    simulated = answer("simulate", agent.directory, "--strategy", "decide", "--window", 128_000)
    status, out, _ = run("plan", "decide", agent.directory, "--window", 128_000, "--json")
    assert status == DONE
    planned = json.loads(out)
    assert simulated["steps"] == planned["steps"]
    assert simulated["after"] == planned["after"]


def test_compare_in_all_forms(agent):
    made = answer("compare", agent.directory)
    assert [row["strategy"] for row in made["rows"]] == [row.key for row in STRATEGIES]
    status, out, _ = run("compare", agent.directory, "--csv", "--sort", "kept")
    kept = [int(row["kept"]) for row in csv.DictReader(io.StringIO(out))]
    assert kept == sorted(kept)
    status, out, _ = run("compare", agent.directory, "--markdown", "--different-only", "--sort", "kept", "--descending")
    assert status == DONE
    assert out.startswith("Before the next request: ")
    assert "| Repairs |" not in out
    kept = [int(line.split("|")[2].replace(",", "")) for line in out.splitlines()[4:]]
    assert kept == sorted(kept, reverse=True)
    assert len(set(kept)) > 3
    status, out, _ = run("compare", agent.directory, "--strategy", "half", "--strategy", "none", "--request", 6)
    assert status == DONE
    assert out.count("Cline: Truncate") == 2


def test_a_comparison_takes_the_window(agent):
    made = answer("compare", agent.directory, "--window", 100_000)
    assert (made["window"], made["limit"]) == (100_000, 80_000)


def test_a_strategy_that_fails_is_a_finding_of_the_comparison(agent, monkeypatch):
    def fail(_job):
        raise CtxError("It cannot be done.")

    choices = (Choice(replace(strategy("half"), make=fail)), Choice(strategy("none")))
    monkeypatch.setattr(lab, "all_choices", lambda: choices)
    status, out, _ = run("compare", agent.directory, "--json")
    assert status == FINDING
    assert [row["problem"] for row in json.loads(out)["rows"]] == ["It cannot be done.", ""]


def test_settings_reach_the_strategies_that_have_them(agent):
    made = answer("compare", agent.directory, "--set", "recent=3", "--set", "sage-compact.recent=4")
    given = {row["strategy"]: row["settings"] for row in made["rows"]}
    assert given["sage-prune"] == {"recent": 3}
    assert given["sage-compact"] == {"recent": 4}
    assert given["half"] == {}


def test_replay_and_its_check(agent):
    made = answer("replay", agent.directory, "--strategy", "half", "--strategy", "sage-prune", "--window", 100_000)
    assert [item["strategy"] for item in made["replays"]] == ["half", "sage-prune"]
    assert [row["request"] for row in made["replays"][0]["rows"]] == list(range(1, 9))
    assert made["replays"][0]["events"][0]["request"] == 5
    assert made["check"]["compared"] == 7
    assert made["check"]["first_difference"]["cause"] == "another window"
    status, out, _ = run("replay", agent.directory)
    assert status == DONE
    assert out.startswith("decide (Cline: The full decision)")
    assert "replay check (window " in out
    status, out, _ = run("replay", agent.directory, "--csv", "--window", 100_000)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [int(row["request"]) for row in rows] == list(range(1, 9))
    assert rows[0]["compared"] == ""
    assert any(row["events"].startswith("Truncated (") for row in rows)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["simulate", "PATH", "--strategy", "third"], "There is no strategy 'third'"),
        (["simulate", "PATH", "--strategy", "half", "--set", "recent=1"], "no strategy that is run has a setting"),
        (["compare", "PATH", "--set", "recent=-1"], "recent cannot be -1"),
        (["compare", "PATH", "--set", "recent"], "is no setting"),
        (["compare", "PATH", "--set", "foo.recent=1"], "names a strategy that is not among"),
        (["compare", "PATH", "--set", "half.recent=1"], "has no setting 'recent'"),
        (["compare", "PATH", "--csv", "--markdown"], "cannot be given together"),
        (["replay", "PATH", "--json", "--csv"], "cannot be given together"),
        (["compare", "PATH", "--request", "99"], "there is no request 99"),
        (["simulate", "PATH"], "required"),
        (["compare", "PATH", "--window", "none"], "--window"),
        (["compare", "PATH", "--sort", "x"], "invalid choice"),
    ],
)
def test_unusable_arguments(agent, words, says, capsys):
    status, out, err = run(*(agent.directory if word == "PATH" else word for word in words))
    assert status == UNUSABLE
    assert out == ""
    assert says in err
    capsys.readouterr()


def test_a_task_without_messages_is_unreadable(agent):
    (agent.directory / "api_conversation_history.json").unlink()
    assert run("compare", agent.directory)[0] == UNREADABLE
    assert run("simulate", agent.directory, "--strategy", "half")[0] == UNREADABLE


def test_what_the_agent_did_is_checked_without_the_messages_too(agent):
    (agent.directory / "api_conversation_history.json").unlink()
    status, out, err = run("replay", agent.directory, "--window", 100_000)
    assert status == UNREADABLE
    assert "no strategy can be tried" in err
    assert out.startswith("replay check (window 100,000)")
    status, out, _ = run("replay", agent.directory, "--json")
    made = json.loads(out)
    assert (status, made["replays"], made["check"]["compared"]) == (UNREADABLE, [], 7)
    assert run("replay", agent.directory, "--csv")[:2] == (UNREADABLE, "")
    (agent.directory / "ui_messages.json").unlink()
    assert run("replay", agent.directory)[:2] == (UNREADABLE, "")


def test_damage_that_stops_a_replay_is_a_finding(agent):
    agent.messages[2]["content"] = [None]
    agent.write()
    status, out, _ = run("replay", agent.directory, "--window", 50_000)
    assert status == FINDING
    assert "Stopped before request" in out


def test_no_lab_command_loads_qt(agent):
    code = (
        "import sys; from ctxviewer.__main__ import main; status = main(sys.argv[1:]); "
        "sys.exit(status or any(name.startswith(('PySide6', 'pyqtgraph', 'qtawesome')) for name in sys.modules))"
    )
    for command in (["strategies"], ["replay", str(agent.directory)]):
        done = subprocess.run(
            [sys.executable, "-c", code, *command],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[2],
        )
        assert done.returncode == 0, done.stderr
