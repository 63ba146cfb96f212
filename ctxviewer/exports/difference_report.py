"""The difference of two requests, as stable JSON and as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.engine.difference import QUIET, BlockText, RequestDifference, Row, RowKind, summary, text_changes, title
from ctxviewer.engine.line_difference import Side
from ctxviewer.engine.past import Past
from ctxviewer.engine.weights import CategoryTokens, FileChanges
from ctxviewer.engine.words import grouped, plural
from ctxviewer.exports.report import one_line
from ctxviewer.exports.values import SCHEMA, request_number

MOST_LINES = 12
"""Lines of a text difference that a terminal shows a block."""
SIGNS = {
    RowKind.SAME: " ",
    RowKind.NEITHER: " ",
    RowKind.ENTERED: "+",
    RowKind.RETURNED: "+",
    RowKind.LEFT: "-",
    RowKind.REWRITTEN: "~",
    RowKind.REPAIRED: "~",
}
LINE_SIGNS = {Side.BOTH: " ", Side.OLD: "-", Side.NEW: "+"}


@dataclass(frozen=True, slots=True)
class Weights:
    """What a difference weighs, counted by somebody."""

    categories: tuple[CategoryTokens, ...]
    rows: tuple[tuple[int, int] | None, ...]
    """Tokens of each row before and after."""
    counter: str


def difference_json(past: Past, found: RequestDifference, files: FileChanges, weights: Weights | None) -> JsonObject:
    """Rows, texts of rewritten and repaired messages, files; tokens where they were counted."""
    rows: list[Json] = []
    for place, row in enumerate(found.rows):
        tokens = weights.rows[place] if weights is not None else None
        rows.append({**_row_json(row), "tokens": None if tokens is None else {"before": tokens[0], "after": tokens[1]}})
    return {
        "schema": SCHEMA,
        "before": request_number(found.before.request),
        "after": request_number(found.after.request),
        "summary": list(summary(found)),
        "rows": rows,
        "texts": [
            {
                "message": row.first,
                "blocks": [_text_json(text) for text in text_changes(past.timeline, found, row.first)],
            }
            for row in _told(found)
        ],
        "files": {"left": list(files.left), "entered": list(files.entered)},
        "tokens": None
        if weights is None
        else {
            "source": f"estimated ({weights.counter})",
            "categories": [
                {"category": str(one.category), "before": one.before, "after": one.after} for one in weights.categories
            ],
        },
    }


def _row_json(row: Row) -> JsonObject:
    return {
        "kind": str(row.kind),
        "first": row.first,
        "last": row.last,
        "sentence": row.sentence,
        "event": None if row.event is None else str(row.event.kind),
    }


def _text_json(text: BlockText) -> JsonObject:
    return {
        "block": text.block,
        "label": text.label,
        "lines": [{"side": str(run.side), "text": run.text} for run in text.lines().runs],
    }


def _told(found: RequestDifference) -> tuple[Row, ...]:
    return tuple(row for row in found.changes if row.kind in {RowKind.REWRITTEN, RowKind.REPAIRED})


def difference_text(past: Past, found: RequestDifference, files: FileChanges, weights: Weights | None) -> str:
    """The same for people: unchanged stretches in one line, changed lines of rewritten messages."""
    return "\n".join(_lines(past, found, files, weights)) + "\n"


def _lines(past: Past, found: RequestDifference, files: FileChanges, weights: Weights | None) -> Iterator[str]:
    yield f"Difference: {title(found)}"
    if found.is_empty:
        yield "  Both send the same."
        return
    yield from (f"  {sentence}" for sentence in summary(found))
    yield ""
    for place, row in enumerate(found.rows):
        yield _row_line(row, weights.rows[place] if weights is not None else None)
        if row.kind in {RowKind.REWRITTEN, RowKind.REPAIRED}:
            for text in text_changes(past.timeline, found, row.first):
                yield from _text_lines(text)
    for name, paths in (("Files that left", files.left), ("Files that entered", files.entered)):
        if paths:
            yield ""
            yield f"{name}: {len(paths)}"
            yield from (f"  {one_line(path)}" for path in paths)
    if weights is not None:
        yield ""
        yield f"Tokens by category (estimated, {weights.counter})"
        for one in weights.categories:
            change = f"{one.change:+,}" if one.change else "="
            yield f"  {one.category!s:20} {grouped(one.before):>12} → {grouped(one.after):>12}  {change:>12}"


def _row_line(row: Row, tokens: tuple[int, int] | None) -> str:
    where = str(row.first) if row.first == row.last else f"{row.first}–{row.last}"
    weight = ""
    if tokens is not None:
        before, after = tokens
        weight = f", {grouped(before)} → {grouped(after)} tokens" if before != after else f", {grouped(after)} tokens"
    count = "" if row.first == row.last else f" ({plural(row.count, 'message')}{weight})"
    sentence = f": {row.sentence}" if row.sentence and row.kind not in QUIET else ""
    return f"{SIGNS[row.kind]} {where:>11}  {row.kind}{count}{sentence}"


def _text_lines(text: BlockText) -> Iterator[str]:
    block = "made-up block" if text.block is None else f"block {text.block}"
    yield f"               {block}{': ' + text.label if text.label else ''}"
    shown = 0
    for run in text.lines().runs:
        if run.side is Side.BOTH:
            continue
        for line in run.text.splitlines() or [""]:
            if shown == MOST_LINES:
                yield "                 …"
                return
            shown += 1
            yield f"               {LINE_SIGNS[run.side]} {one_line(line)}"
