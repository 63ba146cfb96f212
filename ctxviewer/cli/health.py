"""The command that looks for what is odd or damaged: doctor."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from ctxviewer.cli.arguments import Commands, command, find
from ctxviewer.cli.terminal import DONE, FINDING, Terminal
from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.json import Json
from ctxviewer.domain.snapshot import TaskRef
from ctxviewer.engine.doctor import diagnose
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import plural
from ctxviewer.exports.report import finding_lines, task_json
from ctxviewer.exports.values import SCHEMA, finding_json
from ctxviewer.sources import discover, registry


def add(commands: Commands) -> None:
    """Register the commands of this module."""
    sub = command(commands, "doctor", "what is wrong with the files of a task, or of all tasks found")
    sub.add_argument(
        "path",
        nargs="?",
        metavar="PATH",
        help="task directory, a file in it, or a storage root; else all that is found",
    )
    sub.add_argument("--json", action="store_true", help="stable JSON instead of text")
    sub.set_defaults(run=_doctor)


def _doctor(args: argparse.Namespace, terminal: Terminal) -> int:
    tasks, unlisted = _tasks(args.path)
    found: list[Json] = []
    worst = FINDING if unlisted else DONE
    odd = 0
    for task in tasks:
        try:
            snapshot = registry.read(task)
        except CtxError as err:
            worst = FINDING
            odd += 1
            found.append({"task": task_json(task), "unreadable": err.sentence, "findings": []})
            if not args.json:
                terminal.say(f"{task.directory}\n  ERROR   cannot be read: {err.sentence}\n")
            continue
        findings = diagnose(Timeline(snapshot))
        odd += bool(findings)
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
        lost: list[Json] = [finding_json(finding) for finding in unlisted]
        terminal.json({"schema": SCHEMA, "tasks": found, "unlisted": lost})
    else:
        for finding in unlisted:
            lines = "\n".join(finding_lines([replace(finding, file="", place="")]))
            terminal.say(f"{finding.file}\n{lines}\n")
        terminal.say(_summary(len(tasks), odd))
    return worst


def _tasks(path: str | None) -> tuple[Sequence[TaskRef], Sequence[Finding]]:
    """What is looked at, and what is to be said of tasks that could not be listed."""
    if path is None:
        around = discover.look_around()
        return around.tasks, around.findings
    findings: list[Finding] = []
    return find(path, findings.append), findings


def _summary(looked_at: int, odd: int) -> str:
    if not looked_at:
        return "No task was found on this machine; `ctxviewer doctor PATH` looks elsewhere.\n"
    findings = f"{plural(odd, 'task')} with findings" if odd else "nothing is odd"
    return f"{plural(looked_at, 'task')} looked at: {findings}.\n"
