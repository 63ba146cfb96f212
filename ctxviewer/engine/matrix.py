"""All strategies side by side at one request: what each keeps, loses and costs, as rows of numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ctxviewer.domain.errors import CancelledWorkError, CtxError
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.window import WindowInfo
from ctxviewer.engine.sage.message import ModelCall
from ctxviewer.engine.state import State
from ctxviewer.engine.strategies import STRATEGIES
from ctxviewer.engine.strategies.base import Check, Strategy, Values, check_window
from ctxviewer.engine.strategies.facts import Facts
from ctxviewer.engine.strategies.weigh import Weigher
from ctxviewer.engine.words import grouped, percent, plural, request_name

Cell: TypeAlias = float | str | bool | None


@dataclass(frozen=True, slots=True)
class Choice:
    """A strategy with settings, as a row of the matrix."""

    strategy: Strategy
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One strategy at the request. Tokens are estimated."""

    choice: Choice
    plan: Plan | None
    """None when the strategy could not be run; `problem` says why."""
    problem: str = ""
    tokens_kept: int = 0
    tokens_saved: int = 0
    """Below 0 when more is sent than before."""
    messages_kept: int = 0
    messages_lost: int = 0
    lost: tuple[Range, ...] = ()
    """The lost messages as runs, both ends inclusive."""
    blocks_lost: int = 0
    """Stored blocks whose own content is sent no more, rewritten ones included."""
    files_lost: tuple[str, ...] = ()
    """Files of which the last content is sent no more."""
    first_pair_lost: tuple[int, ...] = ()
    """Of messages 0 and 1; 0 also when the task in it was rewritten."""
    instructions_lost: tuple[int, ...] = ()
    """Other messages with words of the user."""
    repairs: int = 0
    """Repairs of calls and results that what is sent needs."""
    cached_share: float | None = None
    """Part of the previous request's messages that the cache can still serve; None without a previous request."""
    total: float = 0
    """Tokens kept with the overhead of the system prompt and tools, as far as it is known."""
    fits: bool = True
    """The total is within the window."""
    below_limit: bool = True
    """The total is below the agent's limit, so that the next request is not managed again at once."""

    @property
    def name(self) -> str:
        """'Cline: Truncate: half', with the settings that were chosen."""
        chosen = ", ".join(f"{name} {_words(value)}" for name, value in self.choice.values.items())
        return f"{self.choice.strategy.agent}: {self.choice.strategy.name}" + (f" ({chosen})" if chosen else "")

    @property
    def can_apply(self) -> bool:
        """The plan can be written to the task's files."""
        return self.plan is not None and not self.plan.refusal


@dataclass(frozen=True, slots=True)
class Column:
    """One column: a key for sorting and files, a title, and a value that sorts."""

    key: str
    title: str
    value: Callable[[Row], Cell]
    is_share: bool = False

    def text(self, row: Row) -> str:
        """The value as people read it."""
        value = self.value(row)
        if row.problem and self.key not in {"strategy", "note"}:
            return "–"
        if self.is_share and isinstance(value, (int, float)):
            return percent(value)
        return _words(value)


COLUMNS: Final = (
    Column("strategy", "Strategy", lambda row: row.name),
    Column("kept", "Tokens kept", lambda row: row.tokens_kept),
    Column("saved", "Tokens saved", lambda row: row.tokens_saved),
    Column("messages", "Messages lost", lambda row: row.messages_lost),
    Column("blocks", "Blocks lost", lambda row: row.blocks_lost),
    Column("files", "Files lost", lambda row: len(row.files_lost)),
    Column("pair", "First pair lost", lambda row: len(row.first_pair_lost)),
    Column("instructions", "User messages lost", lambda row: len(row.instructions_lost)),
    Column("repairs", "Repairs", lambda row: row.repairs),
    Column("cached", "Cached prefix kept", lambda row: row.cached_share, is_share=True),
    Column("total", "Total, estimated", lambda row: row.total),
    Column("fits", "Fits the window", lambda row: row.fits),
    Column("limit", "Below the limit", lambda row: row.below_limit),
    Column("note", "Note", lambda row: row.problem or _note(row)),
)
"""In the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The rows, and what they are measured against."""

    request: int | None
    """The request whose management is looked at; None = the next one."""
    until: int
    """So many messages exist."""
    window: WindowInfo
    tokens_before: int
    """Estimated tokens that would be sent if nothing were done."""
    messages_before: int
    total_before: float
    overhead: float
    """Reported tokens of the previous request beyond the estimate of its messages: system prompt, tools, images and
    the error of the estimate; 0 where nothing was reported."""
    rows: tuple[Row, ...]

    def sorted_by(self, key: str, *, descending: bool = False) -> tuple[Row, ...]:
        """The rows by one column; rows that could not be run come last. KeyError for no such column."""
        column = column_of(key)
        good = [row for row in self.rows if not row.problem]
        good.sort(key=lambda row: _sortable(column.value(row)), reverse=descending)
        return (*good, *(row for row in self.rows if row.problem))

    def different_columns(self) -> tuple[Column, ...]:
        """The columns in which the rows that could be run differ, with the strategy always."""
        good = [row for row in self.rows if not row.problem]
        return tuple(
            column
            for column in COLUMNS
            if column.key == "strategy" or len({_sortable(column.value(row)) for row in good}) > 1
        )


def column_of(key: str) -> Column:
    """The column with this key. KeyError when there is none."""
    for column in COLUMNS:
        if column.key == key:
            return column
    raise KeyError(key)


def _never() -> None:
    return None


def all_choices() -> tuple[Choice, ...]:
    """Every strategy with its default settings."""
    return tuple(Choice(strategy) for strategy in STRATEGIES)


def matrix(
    state: State,
    choices: Iterable[Choice] | None = None,
    *,
    window: float | None = None,
    facts: Facts | None = None,
    check: Check = _never,
    model: ModelCall | None = None,
) -> Matrix:
    """Run the strategies (None = all, as they are) from this state and measure what each leaves.

    `check` is called every 64 messages and may raise to cancel. A strategy that fails, by its settings or by a
    summariser, makes a row with the problem. SettingsError for a window that cannot be used.
    """
    timeline = state.timeline
    info = check_window(window, timeline.snapshot.model)
    known = facts if facts is not None and facts.timeline is timeline else Facts(timeline)
    known.read(state.until, check)
    timeline.find_repairs(check)
    weigher = Weigher(known, state.until)
    before = state.projection
    tokens = weigher.tokens(before)
    overhead = _overhead(state, weigher)
    measure = _Measure(weigher, before, tokens, overhead, info, _previous(state))
    rows: list[Row] = []
    for choice in choices if choices is not None else all_choices():
        check()
        try:
            plan = choice.strategy.plan(state, choice.values, window=window, facts=known, check=check, model=model)
        except CancelledWorkError:
            raise
        except CtxError as err:
            rows.append(Row(choice, None, problem=err.sentence))
            continue
        rows.append(measure.row(choice, plan))
    return Matrix(state.request, state.until, info, tokens, before.sent_count, tokens + overhead, overhead, tuple(rows))


def _previous(state: State) -> Projection | None:
    """What the request before sent."""
    number = len(state.timeline.requests) - 1 if state.request is None else state.request - 1
    return state.timeline.projection(number) if number >= 0 else None


def _overhead(state: State, weigher: Weigher) -> float:
    """What the last reported total holds beyond the messages it counts, the answer included."""
    if state.total is None or state.total_request is None:
        return 0
    sent = state.timeline.projection(state.total_request)
    answer = sent.until
    tokens = weigher.tokens(sent)
    if answer < state.until:
        tokens += weigher.message_tokens(state.projection, answer)
    return max(0.0, state.total - tokens)


@dataclass(frozen=True, slots=True)
class _Measure:
    """What every plan is measured against."""

    weigher: Weigher
    before: Projection
    tokens: int
    overhead: float
    window: WindowInfo
    previous: Projection | None

    def row(self, choice: Choice, plan: Plan) -> Row:
        after = plan.after
        kept = self.weigher.tokens(after)
        losses = self.weigher.losses(self.before, after)
        total = kept + self.overhead
        return Row(
            choice,
            plan,
            tokens_kept=kept,
            tokens_saved=self.tokens - kept,
            messages_kept=after.sent_count,
            messages_lost=losses.message_count,
            lost=losses.messages,
            blocks_lost=losses.block_count,
            files_lost=losses.files,
            first_pair_lost=losses.first_pair,
            instructions_lost=losses.instructions,
            repairs=len(after.repairs),
            cached_share=self._cached(after),
            total=total,
            fits=total <= self.window.window,
            below_limit=total < self.window.limit,
        )

    def _cached(self, after: Projection) -> float | None:
        if self.previous is None:
            return None
        whole = self.weigher.tokens(self.previous)
        if not whole:
            return None
        return min(1.0, self.weigher.common_prefix(self.previous, after) / whole)


def as_markdown(found: Matrix, rows: Sequence[Row] | None = None, columns: Sequence[Column] = COLUMNS) -> str:
    """The rows as a Markdown table under one line that says what was compared."""
    where = "the next request" if found.request is None else request_name(found.request)
    measured = (
        f"Before {where}: {grouped(found.tokens_before)} estimated tokens in "
        f"{plural(found.messages_before, 'message')}, "
        f"window {grouped(found.window.window)}, limit {grouped(found.window.limit)}."
    )
    lines = [
        measured,
        "",
        "| " + " | ".join(column.title for column in columns) + " |",
        "|" + "|".join(" --- " if column.key in {"strategy", "note"} else " ---: " for column in columns) + "|",
    ]
    for row in found.rows if rows is None else rows:
        cells = (column.text(row).replace("|", "\\|").replace("\n", " ") for column in columns)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def as_csv(found: Matrix, rows: Sequence[Row] | None = None, columns: Sequence[Column] = COLUMNS) -> str:
    """The rows as CSV: keys of the columns first, numbers without grouping, shares as fractions, empty = unknown."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.key for column in columns])
    for row in found.rows if rows is None else rows:
        writer.writerow(["" if _empty(row, column) else _plain(column.value(row)) for column in columns])
    return text.getvalue()


def _empty(row: Row, column: Column) -> bool:
    return bool(row.problem) and column.key not in {"strategy", "note"}


def _note(row: Row) -> str:
    if row.plan is None:
        return ""
    return " ".join((*row.plan.warnings, *((row.plan.steps[-1].sentence,) if not row.tokens_saved else ())))


def _plain(value: Cell) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _words(value: Cell) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return grouped(value) if float(value).is_integer() or abs(value) >= 10 else f"{value:g}"
    return "–" if value is None else value


def _sortable(value: Cell) -> tuple[bool, float, str]:
    """Unknown values first, then numbers, then texts."""
    if isinstance(value, str):
        return True, 0.0, value.casefold()
    return value is not None, float(value or 0), ""
