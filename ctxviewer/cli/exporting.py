"""The command that writes a task elsewhere: export."""

from __future__ import annotations

import argparse
import os
import secrets
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ctxviewer.cli.arguments import Commands, command, read, request_argument, request_of, whole_number, window_argument
from ctxviewer.cli.counts import counted
from ctxviewer.cli.terminal import DONE, FINDING, Terminal, UsageError
from ctxviewer.domain.json import Json
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import plural
from ctxviewer.exports.bundle import Bundle, likeness, make_bundle
from ctxviewer.exports.data import request_export, task_export, usage_csv
from ctxviewer.exports.document import make_document
from ctxviewer.exports.files import write_bundle, write_export
from ctxviewer.exports.html import to_html
from ctxviewer.exports.markdown import to_markdown
from ctxviewer.exports.secrets import Mask
from ctxviewer.exports.values import json_text
from ctxviewer.sources import registry

STDOUT = "-"


def add(commands: Commands) -> None:
    """Register the commands of this module."""
    sub = command(commands, "export", "write a task, a request as sent, its usage, or a bug report")
    sub.add_argument("path", metavar="PATH", help="task directory or a file in it")
    sub.add_argument(
        "--format",
        required=True,
        choices=["html", "markdown", "json", "csv", "bundle"],
        help="csv is the usage of all requests, bundle a bug report of one event",
    )
    request_argument(sub)
    sub.add_argument(
        "--event", type=whole_number, metavar="N", help="bundle: the event, from 1, as `report` lists them"
    )
    sub.add_argument("-o", "--out", required=True, metavar="FILE", help="where to; - is standard output")
    sub.add_argument("--keep-secrets", action="store_true", help="do not mask what looks like a secret")
    sub.add_argument("--force", action="store_true", help="write over a file that exists")
    window_argument(sub)
    sub.set_defaults(run=_export)


def _export(args: argparse.Namespace, terminal: Terminal) -> int:
    _, timeline = read(args.path)
    number = request_of(timeline, args)
    mask = Mask(keep=args.keep_secrets)
    if args.format == "bundle":
        return _bundle(args, terminal, timeline, number, mask)
    if args.event is not None:
        raise UsageError("--event is for --format bundle only")
    parts = _parts(args, timeline, number, mask)
    if args.out == STDOUT:
        terminal.write_parts(parts)
        if mask.count:
            terminal.complain(f"ctxviewer: {mask.sentence}")
        return DONE
    size = write_export(_target(args.out), parts, outside=timeline.snapshot.task.directory, replace=args.force)
    terminal.say(f"Wrote {args.out} ({plural(size, 'byte')}). {mask.sentence}\n")
    return DONE


def _target(text: str) -> Path:
    """The file that `-o` names. UsageError for none."""
    if not text.strip():
        raise UsageError("-o names no file", hint="`-o -` writes to standard output.")
    return Path(os.path.expanduser(text))  # noqa: PTH111 - Path raises for '~nobody'


def _parts(args: argparse.Namespace, timeline: Timeline, number: int | None, mask: Mask) -> Iterable[str]:
    match args.format:
        case "html":
            return to_html(make_document(timeline, number, mask))
        case "markdown":
            return to_markdown(make_document(timeline, number, mask))
        case "json":
            value: Json = task_export(timeline, mask) if number is None else request_export(timeline, number, mask)
            return [json_text(value), "\n"]
        case _:
            if number is not None:
                raise UsageError("the usage is of all requests; leave --request out")
            estimated: tuple[float | None, ...] = ()
            if timeline.snapshot.has_messages:
                _, calibration, _ = counted(timeline)
                estimated = tuple(residual.point.counted for residual in calibration.residuals)
            return [usage_csv(timeline, mask, args.window, estimated)]


def _bundle(args: argparse.Namespace, terminal: Terminal, timeline: Timeline, number: int | None, mask: Mask) -> int:
    if args.out == STDOUT:
        raise UsageError("a bundle is a folder or a .zip; name one with -o")
    bundle = make_bundle(timeline, _event_of(args, timeline, number), secrets.token_bytes(32), mask)
    same = _opened_again(bundle)
    write_bundle(_target(args.out), bundle, outside=timeline.snapshot.task.directory, replace=args.force)
    checked = "Opened again, it shows the same event." if same else "Opened again, it does NOT show the same event."
    notes = "".join(f"  {note}\n" for note in bundle.shown.notes)
    terminal.say(
        f"Wrote {args.out} ({plural(bundle.size, 'byte')}): {bundle.shown.event.sentence}.\n"
        f"  {checked} Every word was replaced. {mask.sentence}\n{notes}"
    )
    return DONE if same else FINDING


def _event_of(args: argparse.Namespace, timeline: Timeline, number: int | None) -> int:
    """The event, from 0: the chosen one, the last one of the chosen request, or the only one."""
    events = timeline.events
    listed = "; ".join(f"{place}: {event.sentence}" for place, event in enumerate(events[:8], 1))
    listed += " …" if len(events) > 8 else ""
    if not events:
        raise UsageError("the task has no event, so there is nothing for a bug report to show")
    if args.event is not None:
        if not 1 <= args.event <= len(events):
            raise UsageError(f"there is no event {args.event}; the task has {len(events)}, counted from 1", hint=listed)
        return int(args.event) - 1
    if number is not None:
        places = [place for place, event in enumerate(events) if event.request == number]
        if not places:
            raise UsageError(f"request {number + 1} has no event of its own", hint=listed)
        return places[-1]
    if len(events) > 1:
        raise UsageError(f"the task has {len(events)} events; name one with --event", hint=listed)
    return 0


def _opened_again(bundle: Bundle) -> bool:
    """Whether the bundle, read from disk like any other task, shows the event."""
    with tempfile.TemporaryDirectory(prefix="ctxviewer-") as folder:
        for file in bundle.files:
            target = Path(folder).joinpath(*file.name.split("/"))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.content)
        task = next(ref for ref in registry.open_path(folder) if ref.task_id == bundle.task_id)
        events = Timeline(registry.read(task)).events
    return any(likeness(event) == likeness(bundle.shown.event) for event in events)
