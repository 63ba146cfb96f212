"""Strategies, their comparison, replays and the replay check as stable JSON and as text for a terminal."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Iterator, Sequence

from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.engine.matrix import COLUMNS, Column, Matrix, Row
from ctxviewer.engine.replay import Replay, ReplayRow
from ctxviewer.engine.replay_check import Checked, ReplayCheck
from ctxviewer.engine.strategies.base import Setting, Strategy
from ctxviewer.engine.strategies.carried import Action
from ctxviewer.engine.words import grouped, plural, request_name
from ctxviewer.exports.values import SCHEMA, range_json, request_number

ESTIMATED = "estimated by length"
"""Source of the token numbers here: four bytes a token, which needs no vocabulary."""


def strategies_json(strategies: Sequence[Strategy]) -> JsonObject:
    """The table of strategies."""
    return {"schema": SCHEMA, "strategies": [_strategy_json(strategy) for strategy in strategies]}


def _strategy_json(strategy: Strategy) -> JsonObject:
    return {
        "key": strategy.key,
        "agent": strategy.agent,
        "name": strategy.name,
        "meaning": strategy.meaning,
        "source": strategy.source,
        "can_apply": strategy.can_apply,
        "parameters": [_setting_json(setting) for setting in strategy.settings],
    }


def _setting_json(setting: Setting) -> JsonObject:
    return {
        "name": setting.name,
        "kind": str(setting.kind),
        "default": setting.default,
        "low": setting.low,
        "high": setting.high,
        "choices": list(setting.choices),
        "meaning": setting.meaning,
    }


def strategies_text(strategies: Sequence[Strategy]) -> str:
    """The table for people."""
    return "\n".join(_strategy_lines(strategies)) + "\n"


def _strategy_lines(strategies: Sequence[Strategy]) -> Iterator[str]:
    width = max(len(strategy.key) for strategy in strategies)
    for strategy in strategies:
        yield f"{strategy.key:<{width}}  {strategy.agent}: {strategy.name}. {strategy.meaning}"
        for setting in strategy.settings:
            default = "from the task" if setting.default is None else _shown(setting.default)
            yield f"{'':<{width}}    --set {setting.name}=…  {setting.meaning} ({setting.allowed}; default {default})"
        yield f"{'':<{width}}    rules: {strategy.source}"


def _shown(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(value) if isinstance(value, str) else f"{value:g}"


def row_json(row: Row) -> JsonObject:
    """What one strategy keeps and loses."""
    values: dict[str, Json] = dict(row.choice.values)
    return {
        "strategy": row.choice.strategy.key,
        "settings": values,
        "problem": row.problem,
        "tokens_kept": row.tokens_kept,
        "tokens_saved": row.tokens_saved,
        "messages_kept": row.messages_kept,
        "messages_lost": row.messages_lost,
        "lost": [range_json(run) for run in row.lost],
        "blocks_lost": row.blocks_lost,
        "files_lost": list(row.files_lost),
        "first_pair_lost": list(row.first_pair_lost),
        "instructions_lost": list(row.instructions_lost),
        "repairs": row.repairs,
        "cached_share": row.cached_share,
        "total": row.total,
        "fits": row.fits,
        "below_limit": row.below_limit,
        "can_apply": row.can_apply,
        "warnings": list(row.plan.warnings) if row.plan is not None else [],
    }


def matrix_json(found: Matrix, rows: Sequence[Row]) -> JsonObject:
    """The comparison, with the rows in the order given."""
    return {
        "schema": SCHEMA,
        "request": request_number(found.request),
        "messages": found.until,
        "window": found.window.window,
        "limit": found.window.limit,
        "tokens_before": found.tokens_before,
        "messages_before": found.messages_before,
        "total_before": found.total_before,
        "overhead": found.overhead,
        "source": ESTIMATED,
        "rows": [row_json(row) for row in rows],
    }


def matrix_text(found: Matrix, rows: Sequence[Row], columns: Sequence[Column] = COLUMNS) -> str:
    """The comparison as an aligned table; notes stand below it."""
    shown = [column for column in columns if column.key != "note"]
    cells = [[column.text(row) for column in shown] for row in rows]
    titles = [column.title for column in shown]
    heads = _heads(titles)
    widths = [max(len(line[place]) for line in [*heads, *cells]) for place in range(len(shown))]
    where = "the next request" if found.request is None else request_name(found.request)
    before = f"{grouped(found.tokens_before)} tokens ({ESTIMATED}) in {plural(found.messages_before, 'message')}"
    lines = [
        f"Before {where}: {before}; window {grouped(found.window.window)}, limit {grouped(found.window.limit)}.",
        *(_line(line, widths) for line in heads),
        _line(["-" * width for width in widths], widths),
        *(_line(line, widths) for line in cells),
    ]
    note = next(column for column in COLUMNS if column.key == "note")
    lines.extend(f"{row.name}: {note.text(row)}" for row in rows if note.value(row))
    return "\n".join(lines) + "\n"


def _heads(titles: Sequence[str]) -> list[list[str]]:
    """The titles in as few lines as their longest words allow, so that a table is not much wider than its numbers."""
    wrapped = [textwrap.wrap(title, max(8, *map(len, ["", *title.split()]))) for title in titles]
    height = max(map(len, wrapped), default=0)
    filled = [[""] * (height - len(lines)) + lines for lines in wrapped]
    return [[lines[row] for lines in filled] for row in range(height)]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    return "  ".join([first, *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))]).rstrip()


def replay_json(replays: Sequence[Replay], check: ReplayCheck | None) -> JsonObject:
    """Replays of several strategies over one task; `check` None where nothing is recorded to compare with."""
    return {
        "schema": SCHEMA,
        "source": ESTIMATED,
        "replays": [_replay_json(item) for item in replays],
        "check": None if check is None else check_json(check),
    }


def _replay_json(item: Replay) -> JsonObject:
    values: dict[str, Json] = dict(item.choice.values)
    return {
        "strategy": item.choice.strategy.key,
        "settings": values,
        "window": item.window.window,
        "limit": item.window.limit,
        "failure": item.failure,
        "peak": item.peak,
        "total_tokens": item.total_tokens,
        "over_window": item.over_window,
        "rows": [_row_json(row) for row in item.rows],
        "events": [{"request": number + 1, **action_json(action)} for number, action in item.events],
    }


def _row_json(row: ReplayRow) -> JsonObject:
    return {
        "request": row.number + 1,
        "messages": row.until,
        "tokens": row.tokens,
        "total": row.total,
        "reported": row.reported,
        "compared": row.compared,
        "threshold": row.threshold,
    }


def action_json(action: Action) -> JsonObject:
    """One thing that was done."""
    return {
        "kind": str(action.kind),
        "sentence": action.sentence,
        "lost": [range_json(run) for run in action.lost],
        "lost_blocks": [list(place) for place in action.lost_blocks],
        "range": range_json(action.deleted_range),
    }


def replay_csv(replays: Sequence[Replay]) -> str:
    """One line a request and strategy; what was done stands in the last column, joined by '; '."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["strategy", "request", "messages", "tokens", "total", "reported", "compared", "threshold", "events"]
    )
    for item in replays:
        for row in item.rows:
            numbers = (row.total, row.reported, row.compared)
            writer.writerow(
                [
                    item.choice.strategy.key,
                    row.number + 1,
                    row.until,
                    row.tokens,
                    *("" if number is None else number for number in numbers),
                    row.threshold,
                    "; ".join(action.sentence.rstrip(".") for action in row.actions),
                ]
            )
    return text.getvalue()


def replay_text(replays: Sequence[Replay], check: ReplayCheck | None) -> str:
    """The outcome of each strategy, its events, and what the recorded decisions have to do with the rules."""
    return "\n".join(_replay_lines(replays, check)) + "\n"


def _replay_lines(replays: Sequence[Replay], check: ReplayCheck | None) -> Iterator[str]:
    for item in replays:
        strategy = item.choice.strategy
        yield f"{strategy.key} ({strategy.agent}: {strategy.name})"
        yield (
            f"  {plural(len(item.rows), 'request')}, window {grouped(item.window.window)}; totals, {ESTIMATED} against "
            f"the reported ones: {grouped(item.total_tokens)} in all, at most {grouped(item.peak)}, "
            f"{plural(item.over_window, 'request')} above the window"
        )
        for number, action in item.events:
            yield f"  {request_name(number)}: {action.sentence}"
        if not item.events:
            yield "  nothing was done"
        if item.failure:
            yield f"  {item.failure}"
    if check is not None:
        yield from check_lines(check)


def check_json(check: ReplayCheck) -> JsonObject:
    """The replay check."""
    first = check.first_difference
    return {
        "window": check.window.window,
        "limit": check.window.limit,
        "compared": check.compared,
        "verdict": check.verdict,
        "first_difference": None if first is None else checked_json(first),
        "steps": [checked_json(step) for step in check.steps],
    }


def checked_json(step: Checked) -> JsonObject:
    """One step of the replay check."""
    return {
        "subject": str(step.subject),
        "request": request_number(step.request),
        "cause": str(step.cause),
        "agrees": step.agrees,
        "sentence": step.sentence,
        "messages": step.length,
        "range_before": range_json(step.before),
        "range_after": range_json(step.recorded),
        "range_by_rules": range_json(step.by_rules),
    }


def check_lines(check: ReplayCheck) -> Iterator[str]:
    """The replay check for people."""
    yield f"replay check (window {grouped(check.window.window)})"
    yield f"  {check.verdict}"
    for step in check.steps:
        where = "now" if step.request is None else request_name(step.request)
        yield f"  {where}, {step.subject}: {step.cause}. {step.sentence}"
