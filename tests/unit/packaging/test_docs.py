"""The docs name everything there is: commands, options, JSON fields, actions, keys, settings."""

import argparse
import importlib.util
import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxviewer import cli, resources
from ctxviewer.actions.catalogue import CATALOGUE
from ctxviewer.cli.examples import EXAMPLES
from ctxviewer.services.settings import FIELDS

PROJECT = Path(__file__).resolve().parents[3]
README = (PROJECT / "README.md").read_text("utf-8")
CLI = (PROJECT / "docs" / "cli.md").read_text("utf-8")
SPEC = importlib.util.spec_from_file_location("make_docs", PROJECT / "scripts" / "make_docs.py")
make_docs = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_docs)
LOGIN = "samples/tasks/1770537600000"


def parsers(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command with its parser."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, sub in action.choices.items():
                yield from parsers(sub, f"{name} {word}".strip())


def run_json(*arguments: str):
    out, err = io.StringIO(), io.StringIO()
    cli.main(arguments, cli.Terminal(out, err, io.StringIO()))
    assert err.getvalue() == ""
    return json.loads(out.getvalue())


def keys(value) -> set[str]:
    """All field names inside, except below `settings`, `numbers` and the like, which are not ours."""
    if isinstance(value, list):
        return {name for item in value for name in keys(item)}
    if not isinstance(value, dict):
        return set()
    open_ended = {"settings", "numbers", "by_kind", "sent"}
    return set(value) | {name for key, item in value.items() if key not in open_ended for name in keys(item)}


def test_every_command_and_option_is_documented():
    for name, parser in parsers(cli._parser()):
        assert all(re.search(rf"\b{word}\b", CLI) for word in name.split()), name
        for action in parser._actions:
            for option in action.option_strings:
                assert option in {"-h", "--help"} or re.search(rf"{option}\b", CLI), f"{name} {option}"
            for choice in action.choices or ():
                assert re.search(rf"\b{choice}\b", CLI), f"{name} {choice}"


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "{task}", "--request", "18", "--json"),
        ("report", "{root}", "--json"),
        ("why", "{task}", "--json"),
        ("why", "{task}", "--request", "18", "--json"),
        ("diff", "{task}", "--request", "18", "--against", "17", "--json"),
        ("track", "{task}", "SESSION_TTL", "--json"),
        ("track", "{task}", "--path", "harbor/auth/views.py", "--json"),
        ("losses", "{task}", "--request", "18", "--json"),
        ("plan", "truncate", "{task}", "--json"),
        ("plan", "rollback", "{task}", "--checkpoint", "2", "--json"),
        ("doctor", "{root}", "--json"),
        ("tokens", "{task}", "--request", "18", "--json"),
        ("reconcile", "{task}", "--json"),
        ("assert", "{root}", "--rule", "no-duplicate-files", "--json"),
        ("export", "{task}", "--format", "json", "-o", "-"),
        ("export", "{task}", "--format", "json", "--request", "18", "-o", "-"),
        ("strategies", "--json"),
        ("simulate", "{task}", "--strategy", "sage-prune", "--set", "always=on", "--json"),
        ("compare", "{task}", "--json"),
        ("replay", "{task}", "--strategy", "half", "--json"),
    ],
    ids=" ".join,
)
def test_every_json_field_is_documented(arguments):
    places = {"task": resources.path(*LOGIN.split("/")), "root": resources.path("samples")}
    fields = keys(run_json(*(word.format(**places) for word in arguments)))
    assert {name for name in fields if f"`{name}`" not in CLI} == set()


@pytest.mark.parametrize("command", [(), ("screenshot",)], ids=["window", "screenshot"])
def test_every_option_of_the_entry_is_documented(command):
    shown = subprocess.run(
        [sys.executable, "-m", "ctxviewer", *command, "--help"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", shown.stdout)) - {"--help"}:
        assert option in CLI, option


def test_schema_is_the_documented_one():
    shown = run_json("report", str(resources.path("samples")), "--json")["schema"]
    assert f"| `schema` | {shown} |" in CLI


@pytest.mark.parametrize("page", list(make_docs.PAGES))
def test_tables_of_actions_and_keys_are_up_to_date(page: str):
    text = (PROJECT / page).read_text("utf-8")
    assert make_docs.with_table(page, text) == text, "run `make docs`"


def test_the_tables_name_every_action_and_key():
    window = (PROJECT / "docs" / "window.md").read_text("utf-8")
    for spec in CATALOGUE:
        assert f"| `{spec.id}` |" in window
        assert all(f"<kbd>{key}</kbd>" in README for key in spec.all_keys)


def test_every_setting_is_described_with_its_default():
    window = (PROJECT / "docs" / "window.md").read_text("utf-8")
    for field in FIELDS:
        default = json.dumps(field.default, default=dict)
        assert f"| `{field.key}` | `{default}` |" in window, field.key


@pytest.mark.parametrize(
    "page", sorted([PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")]), ids=lambda p: p.name
)
def test_links_lead_somewhere(page: Path):
    text = page.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)|src=\"([^\"]+)\"", text):
        link = target[0] or target[1]
        if "://" not in link:
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def synopses() -> dict[str, set[str]]:
    """The options that the synopsis of `docs/cli.md` gives to each command; a command may have several lines."""
    block = CLI.split("```")[1]
    found: dict[str, set[str]] = {}
    for line in re.sub(r"\n {20,}(?=\[)", " ", block).splitlines():
        words = re.match(r"ctxviewer ((?:plan +)?[a-z]+)\b", line)
        if words:
            name = " ".join(words[1].split())
            found.setdefault(name, set()).update(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", line))
    return found


@pytest.mark.parametrize("name", sorted(name for name, parser in parsers(cli._parser()) if " apply" not in f" {name}"))
def test_the_synopsis_has_the_options_of_each_command_and_no_others(name: str):
    parser = dict(parsers(cli._parser()))[name]
    if not name or name == "plan":
        return
    known = {option for action in parser._actions for option in action.option_strings}
    shown = synopses()[name]
    assert shown <= known
    for action in parser._actions:
        assert set(action.option_strings) & (shown | {"--help"}) or not action.option_strings, action.option_strings


def test_apply_has_what_plan_has_and_the_consents():
    found = dict(parsers(cli._parser()))
    for name, parser in found.items():
        if name.startswith("plan "):
            own = {option for action in parser._actions for option in action.option_strings}
            applied = found[name.replace("plan", "apply", 1)]
            assert {option for action in applied._actions for option in action.option_strings} == {
                *own,
                "--yes",
                "--even-if-open",
            }


def leaves() -> dict[str, argparse.ArgumentParser]:
    """Commands that do something."""
    return {name: parser for name, parser in parsers(cli._parser()) if parser.get_default("run") is not None}


def test_every_command_has_a_sentence_and_examples_that_can_be_given():
    assert set(EXAMPLES) == set(leaves())
    for name, parser in leaves().items():
        shown = parser.format_help()
        assert parser.description.endswith("."), name
        assert all(action.help for action in parser._actions), name
        for example in EXAMPLES[name]:
            assert f"  ctxviewer {example}\n" in shown
            words = shlex.split(example.partition(" > ")[0])
            assert words[: len(name.split())] == name.split()
            assert cli._parser().parse_args(words).run is parser.get_default("run")
