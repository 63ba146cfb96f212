"""The command for checks that run without people: assert."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ctxviewer.cli.arguments import Commands, command, find, need_messages, window_argument
from ctxviewer.cli.terminal import DONE, FINDING, UNREADABLE, Terminal, UsageError
from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.json import Json
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.engine.assertions import NEEDS_MESSAGES, Verdict, check_rules
from ctxviewer.engine.past import Past
from ctxviewer.engine.rules import USE, Rule, RuleError, parse_rule, parse_rules
from ctxviewer.engine.timeline import Timeline
from ctxviewer.exports.report import task_json
from ctxviewer.exports.values import SCHEMA
from ctxviewer.exports.verdicts import verdict_json, verdict_lines
from ctxviewer.sources import registry


def add(commands: Commands) -> None:
    """Register the commands of this module."""
    rules = "\n  ".join(USE.values())
    sub = command(
        commands, "assert", "check rules about a task; status 1 if one is broken", more=f"rules:\n  {rules}\n"
    )
    sub.add_argument("path", metavar="PATH", help="task directory, a file in it, or a folder of tasks: each is checked")
    sub.add_argument("--rule", action="append", default=[], metavar="RULE", help="a rule; may be given several times")
    sub.add_argument("--rules", action="append", type=Path, default=[], metavar="FILE", help="a TOML file of rules")
    window_argument(sub)
    sub.add_argument("--json", action="store_true", help="stable JSON instead of text")
    sub.set_defaults(run=_assert)


def _assert(args: argparse.Namespace, terminal: Terminal) -> int:
    rules = _rules(args)
    found: list[Json] = []
    broken = unread = False
    tasks = find(args.path, terminal.remark)
    for task in tasks:
        verdicts: tuple[Verdict, ...] = ()
        failure = ""
        try:
            verdicts = _verdicts(registry.read(task), rules, args.window)
        except CtxError as err:
            if len(tasks) == 1:
                raise
            unread, failure = True, err.sentence
        broken = broken or not all(verdict.holds for verdict in verdicts)
        if args.json:
            rows: list[Json] = [verdict_json(verdict) for verdict in verdicts]
            found.append({"task": task_json(task), "unreadable": failure, "rules": rows})
        else:
            lines = verdict_lines(verdicts) if not failure else [f"  ERROR   {failure}"]
            terminal.say("\n".join([str(task.directory), *lines]) + "\n")
    if args.json:
        terminal.json({"schema": SCHEMA, "holds": not broken and not unread, "tasks": found})
    return FINDING if broken else UNREADABLE if unread else DONE


def _verdicts(snapshot: Snapshot, rules: Sequence[Rule], window: float | None) -> tuple[Verdict, ...]:
    needing = next((rule for rule in rules if rule.kind in NEEDS_MESSAGES), None)
    if needing is not None:
        need_messages(snapshot, f"{needing.source} cannot be checked")
    return check_rules(Past(Timeline(snapshot)), rules, window=window)


def _rules(args: argparse.Namespace) -> list[Rule]:
    """The rules of all arguments. UsageError for one that cannot be understood, with its place, and for none."""
    try:
        rules = [parse_rule(source, f"--rule {number}") for number, source in enumerate(args.rule, 1)]
        for path in args.rules:
            rules.extend(parse_rules(_text(path), path.name))
    except RuleError as err:
        raise UsageError(err.sentence, hint=err.hint, place=err.place) from err
    if not rules:
        raise UsageError("there is no rule", hint="`--rule 'usage-below 80%'`, or `--rules FILE.toml`")
    return rules


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as err:
        reason = err.strerror if isinstance(err, OSError) and err.strerror else "it is no UTF-8 text"
        raise UsageError(f"the rules cannot be read: {reason}", place=str(path)) from err
