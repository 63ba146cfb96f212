"""The command line: the same engine as the window, without Qt.

Exit status: 0 done, 1 finding or refusal, 2 unusable arguments, 3 unreadable task.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NoReturn

from ctxviewer import __version__
from ctxviewer.domain.errors import CtxError, RefusedError, UnreadableTaskError
from ctxviewer.domain.finding import Severity
from ctxviewer.domain.json import Json
from ctxviewer.domain.message import parse_message
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.request import Checkpoint, CheckpointKind
from ctxviewer.domain.snapshot import Snapshot, TaskRef
from ctxviewer.engine.doctor import diagnose
from ctxviewer.engine.plans import (
    plan_decide,
    plan_optimize,
    plan_repair,
    plan_rollback,
    plan_rollback_to_message,
    plan_truncate,
)
from ctxviewer.engine.plans.repair import REPAIRS
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import plural
from ctxviewer.exports.plan_report import Estimate, FileLine, plan_json, plan_text
from ctxviewer.exports.report import finding_lines, report, report_text, task_json, tasks_json, tasks_text
from ctxviewer.exports.values import SCHEMA, finding_json
from ctxviewer.sources import discover, registry
from ctxviewer.sources.change import Change
from ctxviewer.sources.own_data import data_dir
from ctxviewer.sources.store.store import Store
from ctxviewer.sources.store.values import Outcome
from ctxviewer.tokens import TokenTable, count_message, count_updates, encoding_for, load_counter

DONE, FINDING, UNUSABLE, UNREADABLE = range(4)
COUNT_LIMIT = 32_000_000
"""Histories up to so many bytes get an estimate of tokens in a plan; it takes about a second for 10 MB."""


class UsageError(CtxError):
    """Arguments that cannot be used."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise UsageError(message)


class Terminal:
    """Where a command reads and writes. `ask` is False where nobody can answer."""

    def __init__(self, out: IO[str], err: IO[str], source: IO[str]) -> None:
        self.out, self.err, self.source = out, err, source

    def say(self, text: str) -> None:
        """Text for people; characters that the terminal cannot show become escapes."""
        encoding = getattr(self.out, "encoding", None) or "utf-8"
        self.out.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def json(self, value: Json) -> None:
        """One JSON value and a line end; lone surrogates become escapes, which is how they stand in files."""
        text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
        self.say(text + "\n")

    def confirm(self, question: str) -> bool:
        """Ask and wait; anything but y or yes is a no, and so is a source that is no terminal."""
        if not self.source.isatty():
            return False
        self.say(f"{question} [y/N] ")
        self.out.flush()
        return self.source.readline().strip().lower() in {"y", "yes"}


def main(argv: Sequence[str], terminal: Terminal | None = None) -> int:
    """Run one command, the exit status as result. Never raises for what a user can cause."""
    terminal = terminal or Terminal(sys.stdout, sys.stderr, sys.stdin)
    try:
        args = _parser().parse_args(argv)
        run: Callable[[argparse.Namespace, Terminal], int] = args.run
        return run(args, terminal)
    except UsageError as err:
        return _failed(terminal, err, UNUSABLE)
    except UnreadableTaskError as err:
        return _failed(terminal, err, UNREADABLE)
    except CtxError as err:
        return _failed(terminal, err, FINDING)
    except BrokenPipeError:
        return DONE


def _failed(terminal: Terminal, err: CtxError, status: int) -> int:
    place = f" [{err.place}]" if err.place else ""
    hint = f"\n  {err.hint}" if err.hint else ""
    terminal.err.write(f"ctxviewer: {err.sentence}{place}{hint}\n")
    return status


def _parser() -> _Parser:
    parser = _Parser(prog="ctxviewer", description="See exactly what a coding agent's model was sent, and why.")
    parser.add_argument("--version", action="version", version=f"ctxviewer {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser, metavar="COMMAND")
    sub = commands.add_parser("report", help="what a task sent, what it did not, and why")
    _task_argument(sub, many=True)
    _request_argument(sub)
    _window_argument(sub)
    sub.set_defaults(run=_report)
    sub = commands.add_parser("sent", help="the messages of one request exactly as sent, as JSON")
    _task_argument(sub)
    _request_argument(sub)
    sub.set_defaults(run=_sent)
    for name, run, words in (("plan", _plan, "what an action would do"), ("apply", _apply, "do it, after asking")):
        sub = commands.add_parser(name, help=words)
        _plan_arguments(sub, run, applies=name == "apply")
    for name, run, words in (
        ("undo", _undo, "take back the last applied action"),
        ("redo", _redo, "apply the undone action again"),
    ):
        sub = commands.add_parser(name, help=words)
        _task_argument(sub)
        _consent_arguments(sub)
        sub.set_defaults(run=run)
    sub = commands.add_parser("history", help="what was applied to a task and can be undone")
    _task_argument(sub)
    sub.set_defaults(run=_history)
    sub = commands.add_parser("doctor", help="what is wrong with the files of a task, or of all tasks found")
    sub.add_argument(
        "path", nargs="?", help="task directory, a file in it, or a storage root; default: all that is found"
    )
    sub.add_argument("--json", action="store_true", help="stable JSON instead of text")
    sub.set_defaults(run=_doctor)
    return parser


def _task_argument(parser: argparse.ArgumentParser, *, many: bool = False) -> None:
    words = "task directory or a file in it" + ("; a storage root lists its tasks" if many else "")
    parser.add_argument("path", metavar="PATH", help=words)
    parser.add_argument("--json", action="store_true", help="stable JSON instead of text")


def _request_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--request", type=int, metavar="N", help="request number from 1; default: the present state")


def _window_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--window", type=_tokens, metavar="TOKENS", help="context window; 200000 or 200k")


def _consent_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--even-if-open", action="store_true", help="also when the agent seems to have the task open")


def _plan_arguments(parser: argparse.ArgumentParser, run: object, *, applies: bool) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, parser_class=_Parser, metavar="ACTION")
    truncate = kinds.add_parser("truncate", help="let the deleted range grow")
    _task_argument(truncate)
    truncate.add_argument("--keep", choices=["none", "lastTwo", "half", "quarter"], default="half")
    optimize = kinds.add_parser("optimize", help="replace older copies of files")
    _task_argument(optimize)
    decide = kinds.add_parser("decide", help="what the agent would do before its next request")
    _task_argument(decide)
    _window_argument(decide)
    decide.add_argument("--total", type=_tokens, metavar="TOKENS", help="instead of the last reported total")
    repair = kinds.add_parser("repair", help="set right what a finding names")
    _task_argument(repair)
    repair.add_argument("--code", required=True, choices=sorted(REPAIRS), help="code of the finding")
    rollback = kinds.add_parser("rollback", help="back to a checkpoint or a message")
    _task_argument(rollback)
    where = rollback.add_mutually_exclusive_group(required=True)
    where.add_argument("--checkpoint", type=int, metavar="N", help="number from 1, as `report` lists them")
    where.add_argument("--message", type=int, metavar="N", help="the message that stays as the last one, from 0")
    where.add_argument("--ts", type=int, metavar="MS", help="time of an entry of the timeline")
    for sub in (truncate, optimize, decide, repair, rollback):
        if applies:
            _consent_arguments(sub)
        sub.set_defaults(run=run)


def _tokens(text: str) -> int:
    factor = {"k": 1_000, "m": 1_000_000}.get(text[-1:].lower(), 1)
    number = float(text[:-1] if factor > 1 else text)
    if not 1 <= number * factor <= 1e12:
        raise argparse.ArgumentTypeError(f"{text} is no number of tokens")
    return int(number * factor)


def _find(path: str) -> tuple[TaskRef, ...]:
    try:
        return registry.open_path(Path(path))
    except UnreadableTaskError:
        raise
    except CtxError as err:
        raise UnreadableTaskError(err.sentence, hint=err.hint, place=err.place) from err


def _one(path: str) -> TaskRef:
    tasks = _find(path)
    if len(tasks) != 1:
        raise UsageError(
            f"{path} holds {len(tasks)} tasks; name one of them", hint="`ctxviewer report PATH` lists them"
        )
    return tasks[0]


def _read(path: str) -> tuple[Snapshot, Timeline]:
    snapshot = registry.read(_one(path))
    return snapshot, Timeline(snapshot)


def _request_of(timeline: Timeline, args: argparse.Namespace) -> int | None:
    number: int | None = args.request
    if number is None:
        return None
    count = len(timeline.requests)
    if not 1 <= number <= count:
        raise UsageError(f"there is no request {number}; the task has {count}, counted from 1")
    return number - 1


def _report(args: argparse.Namespace, terminal: Terminal) -> int:
    tasks = _find(args.path)
    if len(tasks) > 1:
        if args.json:
            terminal.json(tasks_json(tasks))
        else:
            terminal.say(tasks_text(tasks))
        return DONE
    snapshot, timeline = _read(args.path)
    number = _request_of(timeline, args)
    if args.json:
        terminal.json(report(timeline, number, args.window))
    else:
        terminal.say(report_text(timeline, number, args.window))
    return FINDING if any(finding.severity is Severity.ERROR for finding in snapshot.findings) else DONE


def _sent(args: argparse.Namespace, terminal: Terminal) -> int:
    snapshot, timeline = _read(args.path)
    if not snapshot.has_messages:
        raise UnreadableTaskError("the API history is missing, so what was sent is not known", place=args.path)
    terminal.json(timeline.sent(_request_of(timeline, args)))
    return DONE


def _make_plan(timeline: Timeline, args: argparse.Namespace) -> Plan:
    match args.kind:
        case "truncate":
            return plan_truncate(timeline, args.keep)
        case "optimize":
            return plan_optimize(timeline)
        case "decide":
            return plan_decide(timeline, args.window, args.total)
        case "repair":
            return plan_repair(timeline, args.code)
        case _:
            if args.message is not None:
                try:
                    return plan_rollback_to_message(timeline, args.message)
                except IndexError as err:
                    raise UsageError(str(err)) from err
            return plan_rollback(timeline, _target(timeline.snapshot, args))


def _target(snapshot: Snapshot, args: argparse.Namespace) -> Checkpoint:
    if args.ts is not None:
        for point in snapshot.checkpoints:
            if point.ts == args.ts:
                return point
        raise UsageError(f"no entry of the timeline has the time {args.ts}")
    points = [point for point in snapshot.checkpoints if point.kind is not CheckpointKind.MESSAGE]
    if not 1 <= args.checkpoint <= len(points):
        raise UsageError(f"there is no checkpoint {args.checkpoint}; the task has {len(points)}, counted from 1")
    chosen: Checkpoint = points[args.checkpoint - 1]
    return chosen


def _show_plan(timeline: Timeline, plan: Plan, args: argparse.Namespace, terminal: Terminal) -> Change | None:
    change = None
    if not plan.refusal:
        change = registry.change_for(timeline.snapshot, plan, int(time.time() * 1000))
    files = tuple(
        FileLine(str(effect.role), str(effect.path), None if effect.content is None else len(effect.content))
        for effect in (change.effects if change else ())
    )
    estimate = _estimate(timeline, plan)
    if args.json:
        terminal.json(plan_json(plan, files, estimate))
    else:
        terminal.say(plan_text(plan, files, estimate))
    return change


def _estimate(timeline: Timeline, plan: Plan) -> Estimate | None:
    messages = timeline.snapshot.messages
    if sum(messages.byte_size(index) for index in range(len(messages))) > COUNT_LIMIT:
        return None
    counter = load_counter(encoding_for(timeline.snapshot.model.model_id).encoding)
    counts = {index: count_message(counter, parse_message(index, value)) for index, value in enumerate(messages)}
    updates = count_updates(counter, (*timeline.updates, *plan.added_updates))
    table = TokenTable(len(messages)).with_messages(counts).with_updates(updates)
    return Estimate(table.sums(plan.before).sent, table.sums(plan.after).sent, counter.name)


def _plan(args: argparse.Namespace, terminal: Terminal) -> int:
    _, timeline = _read(args.path)
    plan = _make_plan(timeline, args)
    _show_plan(timeline, plan, args, terminal)
    return FINDING if plan.refusal else DONE


def _apply(args: argparse.Namespace, terminal: Terminal) -> int:
    _, timeline = _read(args.path)
    plan = _make_plan(timeline, args)
    change = _show_plan(timeline, plan, args, terminal)
    if change is None:
        raise RefusedError(plan.refusal)
    if not change.effects:
        raise RefusedError("There is nothing to write.")
    _consent(args, terminal, change.looks_open, f"Apply: {plan.title}?")
    outcome = _store(terminal).commit(change, consent_open=args.even_if_open)
    return _tell(outcome, args, terminal)


def _consent(args: argparse.Namespace, terminal: Terminal, looks_open: Sequence[str], question: str) -> None:
    """Both consents, or RefusedError."""
    if looks_open and not args.even_if_open:
        reasons = "; ".join(looks_open)
        raise RefusedError(
            f"The task looks open in its editor: {reasons}. Nothing was written.",
            hint="Close the task there: an open task overwrites what others write. Or repeat with --even-if-open.",
        )
    if not args.yes and not terminal.confirm(question):
        raise RefusedError("Not confirmed; nothing was written.", hint="`--yes` applies without asking.")


def _store(terminal: Terminal) -> Store:
    """The store, after it has finished or taken back what was interrupted; that is told."""
    store = Store(data_dir())
    for item in store.recover():
        terminal.err.write(f"ctxviewer: {item.sentence}\n" + (f"  {item.hint}\n" if item.hint else ""))
    return store


def _tell(outcome: Outcome, args: argparse.Namespace, terminal: Terminal) -> int:
    files = sorted({str(role) for role in outcome.touched})
    if args.json:
        terminal.json({"schema": SCHEMA, "done": outcome.title, "entry": outcome.entry_id, "files": list(files)})
    else:
        terminal.say(f"Done: {outcome.title} ({', '.join(files)}). `ctxviewer undo` takes it back.\n")
    return DONE


def _undo(args: argparse.Namespace, terminal: Terminal) -> int:
    return _step_history(args, terminal, "undo")


def _redo(args: argparse.Namespace, terminal: Terminal) -> int:
    return _step_history(args, terminal, "redo")


def _step_history(args: argparse.Namespace, terminal: Terminal, way: str) -> int:
    snapshot = registry.read(_one(args.path))
    directory = Path(snapshot.task.directory)
    store = _store(terminal)
    entries = store.history(directory)
    able = [entry for entry in entries if (entry.can_undo if way == "undo" else entry.can_redo)]
    if not able:
        reasons = [entry.undo_reason if way == "undo" else entry.redo_reason for entry in entries]
        raise RefusedError(
            f"There is nothing to {way}.", hint=next((reason for reason in reversed(reasons) if reason), "")
        )
    entry = able[-1] if way == "undo" else able[0]
    _consent(args, terminal, snapshot.looks_open, f"{way.capitalize()}: {entry.title}?")
    step = store.undo if way == "undo" else store.redo
    return _tell(step(directory, looks_open=snapshot.looks_open, consent_open=args.even_if_open), args, terminal)


def _history(args: argparse.Namespace, terminal: Terminal) -> int:
    entries = _store(terminal).history(Path(_one(args.path).directory))
    if args.json:
        terminal.json(
            {
                "schema": SCHEMA,
                "entries": [
                    {
                        "id": entry.id,
                        "title": entry.title,
                        "when_ms": entry.when_ms,
                        "state": str(entry.state),
                        "files": [str(role) for role in entry.roles],
                        "can_undo": entry.can_undo,
                        "can_redo": entry.can_redo,
                    }
                    for entry in entries
                ],
            }
        )
        return DONE
    for entry in entries:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.when_ms / 1000))
        terminal.say(f"{when}  {entry.state!s:9}  {entry.title}\n")
    if not entries:
        terminal.say("Nothing was applied to this task with ctxviewer.\n")
    return DONE


def _doctor(args: argparse.Namespace, terminal: Terminal) -> int:
    tasks = _find(args.path) if args.path else discover.find_tasks()
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
