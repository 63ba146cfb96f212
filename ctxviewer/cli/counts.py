"""Commands about token numbers: tokens, reconcile."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

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
from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.json import Json
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.engine.anatomy import Anatomy
from ctxviewer.engine.change_cost import ChangeCost, CostMeter
from ctxviewer.engine.composition import compose
from ctxviewer.engine.events import Event
from ctxviewer.engine.reconcile import Reconciled, reconcile
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, percent, plural
from ctxviewer.exports.composition_report import composition_json, composition_lines
from ctxviewer.exports.reconcile_report import (
    cost_lines,
    event_cost_json,
    price_lines,
    prices_json,
    reconciled_json,
)
from ctxviewer.exports.report import one_line, task_json
from ctxviewer.exports.values import SCHEMA
from ctxviewer.tokens import TokenTable, count_task, encoding_for, load_counter
from ctxviewer.tokens.calibration import Calibration, calibrate, points
from ctxviewer.tokens.price_file import load_prices


def add(commands: Commands) -> None:
    """Register the commands of this module."""
    sub = command(commands, "tokens", "where the tokens of a request go, and what is sent more than once")
    task_argument(sub)
    request_argument(sub)
    sub.set_defaults(run=_tokens)
    sub = command(commands, "reconcile", "counted against reported tokens, and what changes cost at the cache")
    task_argument(sub)
    window_argument(sub)
    sub.add_argument("--prices", type=Path, metavar="FILE", help="a TOML file of prices that count first")
    sub.set_defaults(run=_reconcile)


def counted(timeline: Timeline) -> tuple[TokenTable, Calibration, str]:
    """The counts of a task, the fits, and how was counted. UnreadableTaskError without the API history."""
    snapshot = timeline.snapshot
    need_messages(snapshot, "there is nothing to count")
    timeline.find_repairs()
    choice = encoding_for(snapshot.model.model_id)
    counter = load_counter(choice.encoding)
    table = count_task(timeline, counter)
    return table, calibrate(points(timeline, table)), choice.sentence if counter.exact else counter.reason


def _tokens(args: argparse.Namespace, terminal: Terminal) -> int:
    snapshot, timeline = read(args.path)
    number = request_of(timeline, args)
    table, calibration, how = counted(timeline)
    model = snapshot.model.model_id if number is None else timeline.requests[number].model_id
    projection = timeline.projection(number)
    made = compose(Anatomy(timeline), projection, table, scale=calibration.scale(model))
    if args.json:
        terminal.json(
            {
                "schema": SCHEMA,
                "task": task_json(snapshot.task),
                "counter": how,
                "fits": _fits_json(calibration),
                **composition_json(made),
            }
        )
        return DONE
    where = "Next request" if number is None else f"Request {number + 1} of {len(timeline.requests)}"
    lines = [one_line(snapshot.task.title) or snapshot.task.task_id, f"  {where}, {how}"]
    lines += [f"  {fit.sentence}" for fit in calibration.fits]
    terminal.say("\n".join([*lines, *composition_lines(made)]) + "\n")
    return DONE


def _fits_json(calibration: Calibration) -> Json:
    return [
        {
            "model": fit.model_id,
            "slope": round(fit.slope, 6),
            "per_image": round(fit.per_picture, 3),
            "system": round(fit.system, 3),
            "used": fit.used,
            "typical_error": round(fit.typical_error, 3),
            "typical_share": round(fit.typical_share, 6),
            "sloped": fit.sloped,
            "sentence": fit.sentence,
        }
        for fit in calibration.fits
    ]


def _reconcile(args: argparse.Namespace, terminal: Terminal) -> int:
    try:
        table = load_prices(args.prices)
    except CtxError as err:
        raise UsageError(err.sentence, hint=err.hint, place=err.place) from err
    snapshot, timeline = read(args.path)
    counts, calibration, how = counted(timeline)
    rows = reconcile(timeline, calibration.expected, args.window)
    prices = table.of(snapshot.model.model_id)
    meter = CostMeter(timeline, counts, prices, calibration.scale(snapshot.model.model_id).slope)
    costs = [(event, cost) for event in timeline.events if (cost := meter.event(event)) is not None]
    usages = [request.usage for request in timeline.requests]
    problems = [problem for row in rows for problem in row.problems]
    if args.json:
        terminal.json(
            {
                "schema": SCHEMA,
                "task": task_json(snapshot.task),
                "counter": how,
                "fits": _fits_json(calibration),
                "requests": [
                    reconciled_json(row, residual.reason, off=residual.off)
                    for row, residual in zip(rows, calibration.residuals, strict=True)
                ],
                "prices": prices_json(prices, usages),
                "costs": [event_cost_json(event, cost) for event, cost in costs],
            }
        )
    else:
        terminal.say("\n".join(_lines(snapshot, timeline, calibration, rows, costs, how)) + "\n")
        terminal.say("\n".join(price_lines(prices, usages, snapshot.model.model_id)) + "\n")
    return FINDING if problems else DONE


def _lines(
    snapshot: Snapshot,
    timeline: Timeline,
    calibration: Calibration,
    rows: Sequence[Reconciled],
    costs: Sequence[tuple[Event, ChangeCost]],
    how: str,
) -> list[str]:
    lines = [one_line(snapshot.task.title) or snapshot.task.task_id, f"  {how}"]
    lines += [f"  {fit.sentence}" for fit in calibration.fits] or ["  Nothing usable was reported, so there is no fit."]
    known = [row for row in rows if row.share is not None]
    if known:
        worst = max(known, key=lambda row: abs(row.share or 0))
        error = percent(abs(worst.share or 0))
        lines.append(
            f"  {plural(len(known), 'request')} compared; the largest error is {error} (request {worst.request + 1})"
        )
    off = calibration.off
    lines += ["", f"Off by more than usual: {plural(len(off), 'request')}"] if off else []
    for residual in off:
        point, error_tokens = residual.point, residual.error or 0
        lines.append(
            f"  request {point.request + 1}: {grouped(point.reported or 0)} reported, "
            f"{grouped(round(residual.expected or 0))} expected ({'+' if error_tokens > 0 else '−'}"
            f"{grouped(abs(round(error_tokens)))}): {residual.reason}"
        )
    problems = [problem for row in rows for problem in row.problems]
    lines += ["", "Numbers that cannot be right"] if problems else []
    lines += [f"  {problem.sentence}" for problem in problems]
    lines += ["", "What changes of the context cost at the provider's cache"]
    return [*lines, *cost_lines(timeline, costs)]
