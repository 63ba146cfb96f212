"""Commands that show a task: report, sent."""

from __future__ import annotations

import argparse

from ctxviewer.cli.arguments import Commands, find, read, request_argument, request_of, task_argument, window_argument
from ctxviewer.cli.terminal import DONE, FINDING, Terminal
from ctxviewer.domain.errors import UnreadableTaskError
from ctxviewer.domain.finding import Severity
from ctxviewer.exports.report import report, report_text, tasks_json, tasks_text


def add(commands: Commands) -> None:
    """Register the commands of this module."""
    sub = commands.add_parser("report", help="what a task sent, what it did not, and why")
    task_argument(sub, many=True)
    request_argument(sub)
    window_argument(sub)
    sub.set_defaults(run=_report)
    sub = commands.add_parser("sent", help="the messages of one request exactly as sent, as JSON")
    task_argument(sub)
    request_argument(sub)
    sub.set_defaults(run=_sent)


def _report(args: argparse.Namespace, terminal: Terminal) -> int:
    tasks = find(args.path)
    if len(tasks) > 1:
        if args.json:
            terminal.json(tasks_json(tasks))
        else:
            terminal.say(tasks_text(tasks))
        return DONE
    snapshot, timeline = read(args.path)
    number = request_of(timeline, args)
    if args.json:
        terminal.json(report(timeline, number, args.window))
    else:
        terminal.say(report_text(timeline, number, args.window))
    return FINDING if any(finding.severity is Severity.ERROR for finding in snapshot.findings) else DONE


def _sent(args: argparse.Namespace, terminal: Terminal) -> int:
    snapshot, timeline = read(args.path)
    if not snapshot.has_messages:
        raise UnreadableTaskError("the API history is missing, so what was sent is not known", place=args.path)
    terminal.json(timeline.sent(request_of(timeline, args)))
    return DONE
