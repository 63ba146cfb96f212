"""The command that looks for what is odd or damaged: doctor."""

from __future__ import annotations

import argparse

from ctxviewer.cli.arguments import Commands, find
from ctxviewer.cli.terminal import DONE, FINDING, Terminal
from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Severity
from ctxviewer.domain.json import Json
from ctxviewer.engine.doctor import diagnose
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import plural
from ctxviewer.exports.report import finding_lines, task_json
from ctxviewer.exports.values import SCHEMA, finding_json
from ctxviewer.sources import discover, registry


def add(commands: Commands) -> None:
    """Register the commands of this module."""
    sub = commands.add_parser("doctor", help="what is wrong with the files of a task, or of all tasks found")
    sub.add_argument(
        "path", nargs="?", help="task directory, a file in it, or a storage root; default: all that is found"
    )
    sub.add_argument("--json", action="store_true", help="stable JSON instead of text")
    sub.set_defaults(run=_doctor)


def _doctor(args: argparse.Namespace, terminal: Terminal) -> int:
    tasks = find(args.path) if args.path else discover.find_tasks()
    found: list[Json] = []
    worst = DONE
    for task in tasks:
        try:
            snapshot = registry.read(task)
        except CtxError as err:
            worst = FINDING
            found.append({"task": task_json(task), "unreadable": err.sentence, "findings": []})
            if not args.json:
                terminal.say(f"{task.directory}\n  ERROR   cannot be read: {err.sentence}\n")
            continue
        findings = diagnose(Timeline(snapshot))
        if any(finding.severity is not Severity.INFO for finding in findings):
            worst = FINDING
        found.append(
            {
                "task": task_json(snapshot.task),
                "unreadable": "",
                "findings": [finding_json(finding) for finding in findings],
            }
        )
        if findings and not args.json:
            lines = "\n".join(finding_lines(findings))
            terminal.say(f"{task.directory}\n{lines}\n")
    if args.json:
        terminal.json({"schema": SCHEMA, "tasks": found})
    else:
        terminal.say(f"{plural(len(tasks), 'task')} looked at.\n")
    return worst
