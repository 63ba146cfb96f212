"""Commands that change a task, or say what would change: plan, apply, undo, redo, history."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from ctxviewer.cli.arguments import (
    Commands,
    Parser,
    command,
    consent_arguments,
    one,
    read,
    task_argument,
    token_number,
    whole_number,
    window_argument,
)
from ctxviewer.cli.terminal import DONE, FINDING, OutputError, Terminal, UsageError
from ctxviewer.domain.errors import RefusedError
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.request import Checkpoint, CheckpointKind
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.engine.change_cost import CostMeter
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
from ctxviewer.exports.plan_report import Estimate, FileLine, plan_json, plan_text
from ctxviewer.exports.values import SCHEMA
from ctxviewer.sources import registry
from ctxviewer.sources.change import Change
from ctxviewer.sources.own_data import data_dir
from ctxviewer.sources.store.store import Store
from ctxviewer.sources.store.values import Outcome
from ctxviewer.tokens import count_task, encoding_for, load_counter
from ctxviewer.tokens.calibration import calibrate, points
from ctxviewer.tokens.price_file import load_prices

COUNT_LIMIT = 32_000_000
"""Histories up to so many bytes get an estimate of tokens in a plan; it takes about a second for 10 MB."""

UNDONE = "Undone"


def add(commands: Commands) -> None:
    """Register the commands of this module."""
    for name, run, words in (("plan", _plan, "what an action would do"), ("apply", _apply, "do it, after asking")):
        sub = command(commands, name, words)
        _plan_arguments(sub, run, applies=name == "apply")
    for name, run, words in (
        ("undo", _undo, "take back the last applied action"),
        ("redo", _redo, "apply the undone action again"),
    ):
        sub = command(commands, name, words)
        task_argument(sub)
        consent_arguments(sub)
        sub.set_defaults(run=run)
    sub = command(commands, "history", "what was applied to a task and can be undone")
    task_argument(sub)
    sub.set_defaults(run=_history)


def _plan_arguments(parser: argparse.ArgumentParser, run: object, *, applies: bool) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, parser_class=Parser, metavar="ACTION")
    truncate = command(kinds, "truncate", "let the deleted range grow")
    task_argument(truncate)
    truncate.add_argument(
        "--keep",
        choices=["none", "lastTwo", "half", "quarter"],
        default="half",
        help="how much of what is still sent stays; half unless given",
    )
    optimize = command(kinds, "optimize", "replace older copies of files")
    task_argument(optimize)
    decide = command(kinds, "decide", "what the agent would do before its next request")
    task_argument(decide)
    window_argument(decide)
    decide.add_argument("--total", type=token_number, metavar="TOKENS", help="instead of the last reported total")
    repair = command(kinds, "repair", "set right what a finding names")
    task_argument(repair)
    repair.add_argument("--code", required=True, choices=sorted(REPAIRS), help="code of the finding")
    rollback = command(kinds, "rollback", "back to a checkpoint or a message")
    task_argument(rollback)
    where = rollback.add_mutually_exclusive_group(required=True)
    where.add_argument("--checkpoint", type=whole_number, metavar="N", help="number from 1, as `report` lists them")
    where.add_argument(
        "--message", type=whole_number, metavar="N", help="the message that stays as the last one, from 0"
    )
    where.add_argument("--ts", type=whole_number, metavar="MS", help="time of an entry of the timeline")
    for sub in (truncate, optimize, decide, repair, rollback):
        if applies:
            consent_arguments(sub)
        sub.set_defaults(run=run)


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
    model = timeline.snapshot.model.model_id
    counter = load_counter(encoding_for(model).encoding)
    table = count_task(timeline, counter, plan.added_updates)
    cost = None
    if timeline.snapshot.has_messages:
        slope = calibrate(points(timeline, table)).scale(model).slope
        cost = CostMeter(timeline, table, load_prices().of(model), slope).plan(plan)
    return Estimate(table.sums(plan.before).sent, table.sums(plan.after).sent, counter.name, cost)


def _plan(args: argparse.Namespace, terminal: Terminal) -> int:
    _, timeline = read(args.path)
    plan = _make_plan(timeline, args)
    _show_plan(timeline, plan, args, terminal)
    return FINDING if plan.refusal else DONE


def _apply(args: argparse.Namespace, terminal: Terminal) -> int:
    _, timeline = read(args.path)
    plan = _make_plan(timeline, args)
    try:
        change = _show_plan(timeline, plan, args, terminal)
        terminal.flush()
    except BrokenPipeError:
        terminal.silence()
        raise RefusedError("Nobody reads the preview any more; nothing was written.") from None
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
        terminal.complain(f"ctxviewer: {item.sentence}" + (f"\n  {item.hint}" if item.hint else ""))
    return store


def _tell(outcome: Outcome, args: argparse.Namespace, terminal: Terminal, what: str = "Done") -> int:
    files = sorted({str(role) for role in outcome.touched})
    next_words = "`ctxviewer redo` applies it again" if what == UNDONE else "`ctxviewer undo` takes it back"
    told = f"{what}: {outcome.title} ({', '.join(files)}). {next_words}."
    try:
        if args.json:
            terminal.json({"schema": SCHEMA, "done": outcome.title, "entry": outcome.entry_id, "files": list(files)})
        else:
            terminal.say(told + "\n")
        terminal.flush()
    except (OutputError, BrokenPipeError):
        terminal.silence()
        terminal.complain(f"ctxviewer: {told}")
    return DONE


def _undo(args: argparse.Namespace, terminal: Terminal) -> int:
    return _step_history(args, terminal, "undo")


def _redo(args: argparse.Namespace, terminal: Terminal) -> int:
    return _step_history(args, terminal, "redo")


def _step_history(args: argparse.Namespace, terminal: Terminal, way: str) -> int:
    snapshot = registry.read(one(args.path))
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
    outcome = step(directory, looks_open=snapshot.looks_open, consent_open=args.even_if_open)
    return _tell(outcome, args, terminal, UNDONE if way == "undo" else "Done again")


def _history(args: argparse.Namespace, terminal: Terminal) -> int:
    entries = Store(data_dir()).history(Path(one(args.path).directory))
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
