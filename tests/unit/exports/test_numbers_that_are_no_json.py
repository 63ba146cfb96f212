"""Numbers that a file can hold and JSON cannot, or no double: told as the agent sees them, and never a fault."""

import io
import json
import shutil

import pytest

from ctxviewer import cli, resources
from ctxviewer.domain.json import as_int, as_number
from ctxviewer.exports.values import json_text
from ctxviewer.sources import registry

OPTIMISED = resources.path("samples", "tasks", "1749024000000")
HUGE = "1" + "0" * 400
WEIRD = ["1e400", "-1e400", "NaN", HUGE, "-" + HUGE, "1" * 5000, '"12"', "null", "[]", "true", "0.5", "-1", str(2**64)]


def run(*words):
    out, err = io.StringIO(), io.StringIO()
    status = cli.main([str(word) for word in words], cli.Terminal(out, err, None))
    return status, out.getvalue(), err.getvalue()


def no_constant(name):
    raise AssertionError(f"{name} is no JSON")


def test_infinity_is_null():
    value = {"a": [1.5, float("inf"), {"b": float("nan")}], "c": 10**400}
    assert json.loads(json_text(value), parse_constant=no_constant) == {"a": [1.5, None, {"b": None}], "c": 10**400}


@pytest.mark.parametrize("read", [as_int, as_number])
def test_a_number_that_no_double_holds_is_none(read):
    assert [read(10**400), read(-(10**400)), read(float("inf")), read(float("nan")), read(True)] == [None] * 5
    assert read(2**64) == 2**64


def test_fractions_are_numbers():
    assert (as_number(0.5), as_number(3), as_int(3.0), as_int(0.5)) == (0.5, 3, 3, None)


@pytest.fixture
def task(tmp_path):
    shutil.copytree(OPTIMISED.parents[1], tmp_path / "root")
    return tmp_path / "root" / "tasks" / OPTIMISED.name


def in_usage(task, number):
    path = task / "ui_messages.json"
    entries = json.loads(path.read_text())
    for entry in entries:
        if entry.get("say") == "api_req_started":
            names = ("tokensIn", "tokensOut", "cacheReads", "cost")
            entry["text"] = "{" + ", ".join(f'"{name}": {number}' for name in names) + "}"
    path.write_text(json.dumps(entries))


def in_entries(task, number):
    path = task / "ui_messages.json"
    entries = json.loads(path.read_text())
    for place, entry in enumerate(entries):
        names = ("ts", "conversationHistoryIndex")[: 1 + place % 2] if place % 3 else ()
        entry.update(dict.fromkeys(names, "@"))
        if place % 5 == 0:
            entry["conversationHistoryDeletedRange"] = ["@", "@"]
    path.write_text(json.dumps(entries).replace('"@"', number))


def in_index(task, number):
    path = task.parents[1] / "state" / "taskHistory.json"
    items = json.loads(path.read_text())
    for item in items:
        item.update(dict.fromkeys(("ts", "tokensIn", "totalCost", "size", "task"), "@"))
        item["conversationHistoryDeletedRange"] = [2, "@"]
    path.write_text(json.dumps(items).replace('"@"', number))


def in_messages(task, number):
    path = task / "api_conversation_history.json"
    messages = json.loads(path.read_text())
    for message in messages:
        message.update({"ts": "@", "metrics": {"tokens": {"prompt": "@", "completion": "@"}, "cost": "@"}})
    path.write_text(json.dumps(messages).replace('"@"', number))
    (task / "ui_messages.json").unlink()


@pytest.mark.parametrize("number", WEIRD, ids=lambda number: number[:8])
@pytest.mark.parametrize("damage", [in_usage, in_entries, in_index, in_messages])
def test_weird_numbers_are_no_fault(task, damage, number):
    damage(task, number)
    for words in (["report"], ["sent"], ["why"], ["plan", "truncate"], ["doctor"]):
        status, out, err = run(*words, task, "--json")
        assert status in {cli.DONE, cli.FINDING}, err
        json.loads(out, parse_constant=no_constant)
        assert run(*words, task)[0] == status
    assert registry.open_path(task.parents[1])


@pytest.mark.parametrize("number", [*WEIRD, '{"a": 1}'], ids=lambda number: number[:8])
def test_weird_times_and_places_of_updates_are_no_fault(task, number):
    path = task / "context_history.json"
    updates = json.loads(path.read_text())
    for _, (_, blocks) in updates:
        for _, changes in blocks:
            for change in changes:
                change[0] = "@"
    updates.append(["@", ["@", [["@", [["@", "text", ["y"], []]]]]]])
    path.write_text(json.dumps(updates).replace('"@"', number))
    for words in (["report", task], ["plan", "optimize", task]):
        assert run(*words)[0] in {cli.DONE, cli.FINDING}
    status, out, err = run("export", task, "--format", "bundle", "--event", "1", "-o", task.parents[2] / "b")
    assert (status, bool(out)) in {(cli.DONE, True), (cli.FINDING, True), (cli.UNUSABLE, False)}, err


def test_nesting_beyond_what_python_walks_is_one_sentence(task):
    path = task / "api_conversation_history.json"
    messages = json.loads(path.read_text())
    messages[3]["content"].append({"type": "tool_use", "id": "x", "name": "n", "input": "@"})
    path.write_text(json.dumps(messages).replace('"@"', '{"a":' * 600 + "1" + "}" * 600))
    for words in (
        ["report", task],
        ["sent", task],
        ["export", task, "--format", "bundle", "-o", task.parents[2] / "b"],
    ):
        status, out, err = run(*words)
        assert out or "nested too deeply" in err
        assert status in {cli.DONE, cli.FINDING}
