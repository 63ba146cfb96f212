"""The commands tokens, reconcile, export and assert: what they print, what they write, and how they end."""

import io
import json
import subprocess
import sys
import zipfile

import pytest

from ctxviewer import cli, resources

LOGIN = "1770537600000"
CONDENSED = "1769241600000"
HALF_READ = "1762430400000"


def task(name=LOGIN):
    return str(resources.path("samples", "tasks", name))


def run(*arguments):
    """Status, output and errors of a command."""
    out, err = io.StringIO(), io.StringIO()
    status = cli.main(arguments, cli.Terminal(out, err, io.StringIO()))
    return status, out.getvalue(), err.getvalue()


def run_json(*arguments):
    status, out, err = run(*arguments, "--json")
    assert err == ""
    return status, json.loads(out)


def test_tokens_of_a_request_add_up_to_what_was_reported():
    status, found = run_json("tokens", task(), "--request", "18")
    assert status == 0
    assert found["request"] == 18
    assert found["reported"] == pytest.approx(found["total"])
    assert sum(row["tokens"] for row in found["categories"]) == found["counted"]
    assert sum(row["tokens"] for row in found["by_message"]) == found["counted"]
    assert 20_000 < found["system"]["tokens"] < 23_000
    assert found["fits"][0]["slope"] == pytest.approx(1, abs=0.05)
    assert {row["name"] for row in found["categories"]} >= {"files", "tool results", "task", "notices"}
    assert "harbor/auth/models.py" in {row["name"] for row in found["files"]}


def test_tokens_as_text_names_repeats_and_the_fit():
    status, out, _ = run("tokens", task())
    assert status == 0
    assert "Next request" in out
    assert "reported ≈" in out
    assert "2× in messages 38, 42" in out


def test_reconcile_says_what_a_cut_costs():
    status, found = run_json("reconcile", task())
    assert status == 0
    assert [row["problems"] for row in found["requests"] if row["problems"]] == []
    assert all(abs(row["share"]) < 0.01 for row in found["requests"])
    (cost,) = [row for row in found["costs"] if row["event"] == "truncate"]
    assert cost["request"] == 18
    assert cost["share"] > 0.9
    assert cost["pays_after"] == 3
    assert found["prices"]["table_cost"] == pytest.approx(found["prices"]["reported_cost"], rel=0.01)


def test_reconcile_ends_with_1_where_a_number_cannot_be_right():
    status, found = run_json("reconcile", task(), "--window", "30k")
    assert status == 1
    assert any(problem["kind"] == "above the window" for row in found["requests"] for problem in row["problems"])
    status, out, _ = run("reconcile", task(), "--window", "30k")
    assert (status, "Numbers that cannot be right" in out) == (1, True)


def test_prices_of_ones_own(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text(
        "[[family]]\nname='mine'\nas_of='2026'\nsource='x'\nprices=[{match='deepseek*', input=100, output=1}]",
        encoding="utf-8",
    )
    _, found = run_json("reconcile", task(), "--prices", str(path))
    assert (found["prices"]["input"], "your price table" in found["prices"]["source"]) == (100, True)
    path.write_text("nothing", encoding="utf-8")
    status, _, err = run("reconcile", task(), "--prices", str(path))
    assert (status, "no TOML" in err) == (2, True)


def test_rules_that_hold_and_rules_that_do_not(tmp_path):
    assert run("assert", task(), "--rule", "usage-below 80%", "--rule", "no-finding error")[0] == 0
    status, out, _ = run("assert", task(), "--rule", "no-truncation-before 20")
    assert status == 1
    assert "BROKEN" in out
    assert "request 18" in out
    rules = tmp_path / "rules.toml"
    rules.write_text(
        "rules = ['no-duplicate-files']\n[[rule]]\nname='mode'\nrule='contains \"ACT MODE\"'\n", encoding="utf-8"
    )
    status, found = run_json("assert", task(), "--rules", str(rules))
    assert (status, found["holds"]) == (1, False)
    twice, mode = found["tasks"][0]["rules"]
    assert (mode["name"], mode["holds"], mode["checked"], mode["place"]) == ("mode", True, 25, "rules.toml, [[rule]] 1")
    assert next(breach["request"] for breach in twice["breaches"]) == 9


def test_every_task_of_a_folder_is_checked():
    status, found = run_json("assert", str(resources.path("samples")), "--rule", "no-finding error")
    assert status == 1
    assert {row["task"]["id"]: row["rules"][0]["holds"] for row in found["tasks"]} == {
        LOGIN: True, CONDENSED: True, HALF_READ: False, "1749024000000": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "there is no rule"),
        (("--rule", "contains x"), "[--rule 1, column 10]"),
        (("--rule", "no-truncation", "--rule", "what"), "[--rule 2, column 1]"),
        (("--rules", "/nowhere/r.toml"), "cannot be read"),
        (("--rule", "no-truncation", "--window", "x"), "--window"),
    ],
)
def test_bad_rules_end_with_2_and_the_place(arguments, words):
    status, out, err = run("assert", task(), *arguments)
    assert (status, out) == (2, "")
    assert words in err


@pytest.mark.parametrize("form", ["html", "markdown", "json", "csv"])
def test_exports_are_written_once(form, tmp_path):
    path = tmp_path / f"out.{form}"
    status, out, err = run("export", task(), "--format", form, "-o", str(path))
    assert (status, err) == (0, "")
    assert f"Wrote {path}" in out
    assert "No secret was found." in out
    assert len(path.read_text(encoding="utf-8")) > 1_000
    status, _, err = run("export", task(), "--format", form, "-o", str(path))
    assert (status, "exists already" in err) == (1, True)
    assert run("export", task(), "--format", form, "-o", str(path), "--force")[0] == 0


def test_an_export_to_standard_output_is_nothing_but_the_export():
    _, out, err = run("export", task(), "--format", "json", "--request", "3", "-o", "-")
    assert err == ""
    exported = json.loads(out)
    _, sent, _ = run("sent", task(), "--request", "3")
    assert exported["sent"] == json.loads(sent)


def test_a_bundle_shows_the_same_event(tmp_path):
    folder = tmp_path / "report"
    status, out, _ = run("export", task(), "--format", "bundle", "--event", "2", "-o", str(folder))
    assert status == 0
    assert "Opened again, it shows the same event." in out
    _, original = run_json("report", task(), "--request", "18")
    _, bundled = run_json("report", str(folder), "--request", "18")
    for name in ("compared", "limit", "saved_share"):
        assert bundled["at"]["why"][name] == original["at"]["why"][name]
    assert bundled["events"] == original["events"][: len(bundled["events"])]
    assert bundled["at"]["projection"]["not_sent"] == [2, 17]
    assert run("export", task(), "--format", "bundle", "--request", "18", "-o", str(tmp_path / "b.zip"))[0] == 0
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert "README.md" in archive.namelist()


def test_the_only_event_need_not_be_named(tmp_path):
    assert run("export", task(CONDENSED), "--format", "bundle", "-o", str(tmp_path / "b"))[0] == 0


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("--format", "bundle", "-o", "-"), 2, "folder or a .zip"),
        (("--format", "bundle", "-o", "x"), 2, "name one with --event"),
        (("--format", "bundle", "--event", "3", "-o", "x"), 2, "there is no event 3"),
        (("--format", "bundle", "--event", "0", "-o", "x"), 2, "there is no event 0"),
        (("--format", "bundle", "--request", "3", "-o", "x"), 2, "request 3 has no event"),
        (("--format", "html", "--event", "1", "-o", "x"), 2, "--event is for"),
        (("--format", "html", "--request", "99", "-o", "x"), 2, "there is no request 99"),
        (("--format", "csv", "--request", "1", "-o", "x"), 2, "leave --request out"),
        (("--format", "html", "-o", "/nowhere/at/all/x.html"), 1, "There is no folder"),
        (("--format", "pdf", "-o", "x"), 2, "invalid choice"),
    ],
)
def test_bad_questions_get_a_sentence(arguments, status, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, out, err = run("export", task(), *arguments)
    assert (found, out) == (status, "")
    assert words in err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_into_the_task():
    status, _, err = run("export", task(), "--format", "html", "-o", f"{task()}/x.html")
    assert (status, "inside the task" in err) == (1, True)


def test_secrets_in_a_task_are_masked_and_counted(tmp_path):
    folder = tmp_path / "1770000000000"
    folder.mkdir()
    password = "hunter" + "2!x"
    messages = [{"role": "user", "content": [{"type": "text", "text": f'password = "{password}"'}]}]
    (folder / "api_conversation_history.json").write_text(json.dumps(messages), encoding="utf-8")
    _, out, err = run("export", str(folder), "--format", "markdown", "-o", "-")
    assert password not in out.replace("\\", "")
    assert "1 place masked: assigned secret 1×." in err
    _, out, _ = run("export", str(folder), "--format", "markdown", "-o", "-", "--keep-secrets")
    assert password in out


def test_commands_need_no_qt():
    code = (
        "import sys\nfrom ctxviewer.__main__ import COMMANDS, main\n"
        f"main(['tokens', {task()!r}])\nassert {{'tokens', 'reconcile', 'export', 'assert'}} <= COMMANDS\n"
        "sys.exit('PySide6' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
