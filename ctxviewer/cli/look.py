"""Commands that show a task: report, sent."""

from __future__ import annotations

import argparse

from ctxviewer.cli.arguments import (
    Commands,
    command,
    find,
    need_messages,
    read,
    request_argument,
    request_of,
    task_argument,
    window_argument,
)
from ctxviewer.cli.terminal import DONE, FINDING, Terminal, UsageError
from ctxviewer.domain.errors import RefusedError
from ctxviewer.domain.finding import Severity
from ctxviewer.engine.timeline import Timeline
from ctxviewer.exports.report import report, report_text, tasks_json, tasks_text
from ctxviewer.exports.values import SCHEMA
from ctxviewer.sources import registry
from ctxviewer.sources.own_data import VARIABLE, data_dir
from ctxviewer.sources.samples import fresh_samples


def add(commands: Commands) -> None:
    """Register the commands of this module."""
    sub = command(commands, "report", "what a task sent, what it did not, and why")
    task_argument(sub, many=True, optional=True)
    sub.add_argument("--demo", action="store_true", help="one report for each of the sample tasks")
    request_argument(sub)
    window_argument(sub)
    sub.set_defaults(run=_report)
    sub = command(commands, "sent", "the messages of one request exactly as sent, as JSON")
    task_argument(sub)
    request_argument(sub)
    sub.set_defaults(run=_sent)


def _report(args: argparse.Namespace, terminal: Terminal) -> int:
    if args.demo:
        if args.path is not None or args.request is not None:
            raise UsageError("--demo reports all the samples; it goes with neither PATH nor --request")
        return _report_samples(args, terminal)
    if args.path is None:
        raise UsageError("name a task, or --demo for the samples", hint="`ctxviewer doctor` looks for tasks.")
    tasks = find(args.path, terminal.remark)
    if len(tasks) > 1:
        if args.request is not None:
            raise UsageError(
                f"{args.path} holds {len(tasks)} tasks; --request is for one of them",
                hint=f"`ctxviewer report {args.path}` lists them.",
            )
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


def _report_samples(args: argparse.Namespace, terminal: Terminal) -> int:
    """Reports of the demo's tasks, newest first, on a fresh copy of them."""
    own = data_dir()
    try:
        samples = fresh_samples(own)
    except OSError as err:
        raise RefusedError(
            f"The samples cannot be put into {own}: {err.strerror or err}.",
            hint=f"Name another folder in {VARIABLE}.",
            place=str(own),
        ) from err
    tasks = sorted(find(str(samples)), key=lambda task: -task.updated_ms)
    timelines = [Timeline(registry.read(task)) for task in tasks]
    if args.json:
        terminal.json({"schema": SCHEMA, "reports": [report(timeline, None, args.window) for timeline in timelines]})
    else:
        terminal.say("\n".join(report_text(timeline, None, args.window) for timeline in timelines))
    return DONE


def _sent(args: argparse.Namespace, terminal: Terminal) -> int:
    snapshot, timeline = read(args.path)
    need_messages(snapshot, "what was sent is not known")
    terminal.json(timeline.sent(request_of(timeline, args)))
    return DONE
