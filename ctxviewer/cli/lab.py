"""Commands of the strategy lab: strategies, simulate, compare, replay. They look; nothing is written."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ctxviewer.cli.arguments import (
    Commands,
    command,
    need_messages,
    read,
    request_argument,
    request_of,
    task_argument,
    window_argument,
)
from ctxviewer.cli.terminal import DONE, FINDING, Terminal, UsageError
from ctxviewer.engine.matrix import (
    COLUMNS,
    Choice,
    Matrix,
    Row,
    all_choices,
    as_csv,
    as_markdown,
    column_of,
    matrix,
)
from ctxviewer.engine.replay import Replay, replay
from ctxviewer.engine.replay_check import ReplayCheck, replay_check
from ctxviewer.engine.state import state_at
from ctxviewer.engine.strategies import STRATEGIES, Facts, SettingsError, Strategy, strategy
from ctxviewer.engine.timeline import Timeline
from ctxviewer.exports.lab_report import (
    matrix_json,
    matrix_text,
    replay_csv,
    replay_json,
    replay_text,
    row_json,
    strategies_json,
    strategies_text,
)
from ctxviewer.exports.plan_report import plan_json, plan_text


def add(commands: Commands) -> None:
    """Register the commands of this module."""
    sub = command(commands, "strategies", "the strategies of context management, with their settings")
    sub.add_argument("--json", action="store_true", help="stable JSON instead of text")
    sub.set_defaults(run=_strategies)
    sub = command(commands, "simulate", "what a strategy would do before a request, step by step")
    task_argument(sub)
    sub.add_argument("--strategy", required=True, metavar="S", help="a key that `ctxviewer strategies` lists")
    request_argument(sub)
    _lab_arguments(sub)
    sub.set_defaults(run=_simulate)
    sub = command(commands, "compare", "strategies side by side at one request")
    task_argument(sub)
    _several_argument(sub, "all of them")
    request_argument(sub)
    _lab_arguments(sub)
    sub.add_argument("--sort", choices=[column.key for column in COLUMNS], help="the column to sort by")
    sub.add_argument("--descending", action="store_true", help="the largest first")
    sub.add_argument("--different-only", action="store_true", help="leave out columns that are the same in all rows")
    _forms(sub, "--csv", "--markdown")
    sub.set_defaults(run=_compare)
    sub = command(commands, "replay", "strategies over the whole task, and a check of what the agent did")
    task_argument(sub)
    _several_argument(sub, "decide")
    _lab_arguments(sub)
    _forms(sub, "--csv")
    sub.set_defaults(run=_replay)


def _lab_arguments(parser: argparse.ArgumentParser) -> None:
    window_argument(parser)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="K=V",
        help="a setting of the strategy; with several strategies S.K=V names one of them",
    )


def _several_argument(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument("--strategy", action="append", metavar="S", help=f"may be given again; default: {default}")


def _forms(parser: argparse.ArgumentParser, *forms: str) -> None:
    for form in forms:
        parser.add_argument(form, action="store_true", help=f"{form.removeprefix('--')} instead of text")


def _strategies(args: argparse.Namespace, terminal: Terminal) -> int:
    if args.json:
        terminal.json(strategies_json(STRATEGIES))
    else:
        terminal.say(strategies_text(STRATEGIES))
    return DONE


def _simulate(args: argparse.Namespace, terminal: Terminal) -> int:
    timeline = _read(args)
    number = request_of(timeline, args)
    (choice,) = _choices([args.strategy], args)
    found = matrix(state_at(timeline, number), [choice], window=args.window)
    (row,) = found.rows
    if row.plan is None:
        raise SettingsError(row.problem)
    if args.json:
        terminal.json({**plan_json(row.plan, (), None), "measured": row_json(row)})
    else:
        terminal.say(plan_text(row.plan, (), None) + matrix_text(found, found.rows))
    return DONE


def _compare(args: argparse.Namespace, terminal: Terminal) -> int:
    _one_form(args, "json", "csv", "markdown")
    timeline = _read(args)
    number = request_of(timeline, args)
    choices = _choices(args.strategy, args)
    found = matrix(state_at(timeline, number), choices, window=args.window)
    rows = _sorted(found, args)
    columns = found.different_columns() if args.different_only else COLUMNS
    if args.json:
        terminal.json(matrix_json(found, rows))
    elif args.csv:
        terminal.say(as_csv(found, rows, columns))
    elif args.markdown:
        terminal.say(as_markdown(found, rows, columns))
    else:
        terminal.say(matrix_text(found, rows, columns))
    return FINDING if any(row.problem for row in rows) else DONE


def _sorted(found: Matrix, args: argparse.Namespace) -> Sequence[Row]:
    if args.sort is None:
        return found.rows
    return found.sorted_by(column_of(args.sort).key, descending=args.descending)


def _replay(args: argparse.Namespace, terminal: Terminal) -> int:
    _one_form(args, "json", "csv")
    snapshot, timeline = read(args.path)
    choices = _choices(args.strategy or ["decide"], args)
    if not snapshot.has_messages:
        if snapshot.has_timeline and not args.csv:  # ranges can be checked by the number of messages
            _say_replays(terminal, args, (), replay_check(timeline, args.window))
        need_messages(snapshot, _UNTRIED)
    facts = Facts(timeline)
    replays = replay(timeline, choices, window=args.window, facts=facts)
    check = replay_check(timeline, args.window, facts=facts) if timeline.snapshot.has_timeline else None
    _say_replays(terminal, args, replays, check)
    return FINDING if any(item.failure for item in replays) else DONE


def _say_replays(
    terminal: Terminal, args: argparse.Namespace, replays: Sequence[Replay], check: ReplayCheck | None
) -> None:
    if args.json:
        terminal.json(replay_json(replays, check))
    elif args.csv:
        terminal.say(replay_csv(replays))
    else:
        terminal.say(replay_text(replays, check))


_UNTRIED = "no strategy can be tried"


def _read(args: argparse.Namespace) -> Timeline:
    snapshot, timeline = read(args.path)
    need_messages(snapshot, _UNTRIED)
    return timeline


def _one_form(args: argparse.Namespace, *forms: str) -> None:
    chosen = [f"--{form}" for form in forms if getattr(args, form)]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} cannot be given together")


def _choices(keys: Sequence[str] | None, args: argparse.Namespace) -> tuple[Choice, ...]:
    """The strategies with their settings; UsageError for what does not exist or is out of range."""
    rows = [choice.strategy for choice in all_choices()] if not keys else [_strategy(key) for key in keys]
    texts: dict[str, dict[str, str]] = {row.key: {} for row in rows}
    for item in args.set:
        name, sign, text = item.partition("=")
        if not sign:
            raise UsageError(f"--set {item} is no setting", hint="write --set name=value")
        for row in _owners(rows, name):
            texts[row.key][name.rpartition(".")[2]] = text
    try:
        return tuple(Choice(row, {**_given(row, texts[row.key])}) for row in rows)
    except SettingsError as err:
        raise UsageError(err.sentence, hint=err.hint) from err


def _strategy(key: str) -> Strategy:
    try:
        return strategy(key)
    except SettingsError as err:
        raise UsageError(err.sentence, hint=err.hint) from err


def _given(row: Strategy, texts: dict[str, str]) -> dict[str, bool | int | float | str | None]:
    """The checked values of those settings that were given."""
    values = row.read_values(texts)
    return {name: values[name] for name in texts}


def _owners(rows: Sequence[Strategy], name: str) -> list[Strategy]:
    """The strategies that a setting is meant for: the named one, else all that have it."""
    key, dot, setting = name.rpartition(".")
    if dot:
        named = [row for row in rows if row.key.lower() == key.lower()]
        if not named:
            raise UsageError(f"--set {name} names a strategy that is not among those that are run")
        return named
    owners = [row for row in rows if any(known.name == setting for known in row.settings)]
    if not owners:
        have = sorted({known.name for row in rows for known in row.settings})
        raise UsageError(
            f"no strategy that is run has a setting {setting!r}",
            hint=f"there are {', '.join(have)}" if have else "they have none",
        )
    return owners
