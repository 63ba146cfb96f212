"""Strategies let loose on a whole task from its first request, each with its own state carried on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ctxviewer.domain.errors import CancelledWorkError, CtxError
from ctxviewer.domain.projection import Cut, Inserted, Projection
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.updates import Update
from ctxviewer.engine.cline.window import WindowInfo
from ctxviewer.engine.matrix import Choice
from ctxviewer.engine.recorded import Recorded, recorded
from ctxviewer.engine.sage.message import ModelCall
from ctxviewer.engine.state import state_now
from ctxviewer.engine.strategies.base import NO_MESSAGES, Check, check_window
from ctxviewer.engine.strategies.carried import Action, ActionKind, Turn
from ctxviewer.engine.strategies.facts import Facts
from ctxviewer.engine.strategies.sage_rules import without
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import request_name

Progress = Callable[[float], None]
"""Told the share of the work that is done, 0 to 1, now and then."""

_TOLD_EVERY = 16
"""Progress is told each time so many requests were replayed."""


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """One request under a strategy."""

    number: int
    """From 0, as the task's requests."""
    until: int
    """So many messages existed."""
    tokens: int
    """Estimated tokens of the messages that are sent."""
    total: float | None
    """What the request would have reported: the reported total, moved by the difference of the estimates. Equal to the
    reported one where the same is sent; None where nothing was reported."""
    reported: float | None
    """What was reported in fact."""
    compared: float | None
    """What the strategy compared with its threshold."""
    threshold: float
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Lost:
    """A run of stored messages and the request from which on they were sent no more."""

    request: int
    messages: Range


@dataclass(frozen=True, slots=True)
class Replay:
    """One strategy over a whole task."""

    choice: Choice
    window: WindowInfo
    rows: tuple[ReplayRow, ...]
    failure: str = ""
    """Why it stopped early, '' if it came to the end; the rows before hold."""
    failed_request: int | None = None

    @property
    def events(self) -> tuple[tuple[int, Action], ...]:
        """Everything that was done, with the number of its request, in order."""
        return tuple((row.number, action) for row in self.rows for action in row.actions)

    @property
    def lost(self) -> tuple[Lost, ...]:
        """What was lost when, in order."""
        return tuple(Lost(number, run) for number, action in self.events for run in action.lost)

    @property
    def peak(self) -> float:
        """The largest total, 0 when none is known."""
        return max((row.total for row in self.rows if row.total is not None), default=0)

    @property
    def total_tokens(self) -> float:
        """Sum of all known totals: what the task would have cost in tokens."""
        return sum(row.total for row in self.rows if row.total is not None)

    @property
    def over_window(self) -> int:
        """How many requests would not have fitted the window."""
        return sum(1 for row in self.rows if row.total is not None and row.total > self.window.window)

    def lost_at(self, message: int) -> int | None:
        """The request from which on a stored message was sent no more; None if it always was."""
        return next((lost.request for lost in self.lost if lost.messages.start <= message <= lost.messages.end), None)

    def projection(self, timeline: Timeline, number: int) -> Projection:
        """What request `number` would have sent, as a picture over the stored messages. IndexError beyond the rows."""
        if not 0 <= number < len(self.rows):
            raise IndexError(f"{request_name(number)} was not replayed")
        return _folded(timeline, self.rows[: number + 1])


def replay(
    timeline: Timeline,
    choices: Iterable[Choice],
    *,
    window: float | None = None,
    facts: Facts | None = None,
    check: Check | None = None,
    progress: Progress | None = None,
    model: ModelCall | None = None,
) -> tuple[Replay, ...]:
    """Run each strategy from the first request on; Cline's own recorded decisions play no part.

    Raises SettingsError for settings and windows that cannot be used, and what `check` raises (every request and
    every 64 messages). A strategy that fails on the way keeps its rows so far and tells why; all do without messages.
    """
    info = check_window(window, timeline.snapshot.model)
    known = facts if facts is not None and facts.timeline is timeline else Facts(timeline)
    stop = check if check is not None else _never
    tell = progress if progress is not None else _silent
    wanted = tuple(choices)
    for choice in wanted:
        choice.strategy.values(choice.values)
    if not timeline.snapshot.has_messages:
        return tuple(Replay(choice, info, (), NO_MESSAGES) for choice in wanted)
    known.read(len(timeline.snapshot.messages), stop)
    base = recorded(known)
    found: list[Replay] = []
    for place, choice in enumerate(wanted):
        run = _Run(timeline, known, base, choice, info, stop, model)
        count = max(1, len(timeline.requests))
        rows: list[ReplayRow] = []
        failure, failed = "", None
        try:
            for row in run.rows():
                rows.append(row)
                if row.number % _TOLD_EVERY == 0:
                    tell((place + row.number / count) / len(wanted))
        except CancelledWorkError:
            raise
        except CtxError as err:
            failed = len(rows)
            failure = f"Stopped before {request_name(failed)}: {err.sentence}"
        found.append(Replay(choice, info, tuple(rows), failure, failed))
    tell(1.0)
    return tuple(found)


def _never() -> None:
    return None


def _silent(_: float) -> None:
    return None


@dataclass(frozen=True, slots=True)
class _Run:
    """One strategy's way through the requests."""

    timeline: Timeline
    facts: Facts
    base: Recorded
    choice: Choice
    window: WindowInfo
    check: Check
    model: ModelCall | None

    def rows(self) -> Iterator[ReplayRow]:
        strategy = self.choice.strategy
        job = strategy.job(
            state_now(self.timeline),
            self.choice.values,
            window=self.window.window,
            facts=self.facts,
            check=self.check,
            model=self.model,
        )
        carried = strategy.start(job)
        total: float | None = None
        timestamp: int | None = None
        for request in self.timeline.requests:
            self.check()
            until = self.base.until[request.number]
            sending = carried.send(Turn(request.number, until, total, timestamp))
            reported = request.usage.total if request.usage_reported else None
            total = None if reported is None else self.base.total_with(request.number, sending.tokens, reported)
            timestamp = request.ts
            yield ReplayRow(
                request.number,
                until,
                sending.tokens,
                total,
                reported,
                sending.compared,
                sending.threshold,
                sending.actions,
            )


def _folded(timeline: Timeline, rows: tuple[ReplayRow, ...]) -> Projection:
    """All actions up to a request, laid over the stored messages of then."""
    deleted: Range | None = None
    updates: dict[tuple[int, int], Update] = {}
    cuts: list[Cut] = []
    blocks: list[tuple[int, int]] = []
    inserted: tuple[Inserted, ...] = ()
    for row in rows:
        for action in row.actions:
            if action.kind is ActionKind.NOTHING:
                continue
            deleted, inserted = action.deleted_range, action.inserted
            updates.update({(update.message, update.block): update for update in action.updates})
            cuts.extend(Cut(run.start, run.end, row.number) for run in action.lost)
            if action.kind is not ActionKind.OPTIMIZE:
                blocks.extend(action.lost_blocks)
    base = replace(timeline.project(deleted, updates, rows[-1].until), cuts=tuple(cuts))
    gone = [number for cut in cuts for number in range(cut.first, cut.last + 1) if number not in base.hidden]
    thinned = without(base, gone, blocks, inserted) if gone or blocks or inserted else base
    return replace(thinned, cuts=tuple(sorted(cuts, key=lambda cut: cut.first)))
