"""Cline's compaction of a subagent: reads are searched from message 2 on, and the conversation itself changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json, Messages
from ctxviewer.domain.plan import Plan, Step
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.updates import Update
from ctxviewer.engine.cline.js import at_least
from ctxviewer.engine.cline.optimize import Optimization
from ctxviewer.engine.cline.project import project_one
from ctxviewer.engine.cline.subagent import AUTO_CONDENSE_FRACTION, Compaction
from ctxviewer.engine.cline.truncation import FIRST_DELETED, resume_index
from ctxviewer.engine.cline.window import compaction_threshold
from ctxviewer.engine.explain import optimization_sentence
from ctxviewer.engine.plans.common import new_updates
from ctxviewer.engine.plans.context import read_steps, repair_steps, savings_numbers
from ctxviewer.engine.strategies.base import Job, Setting, SettingKind, Strategy, start_plan
from ctxviewer.engine.strategies.carried import Action, Turn
from ctxviewer.engine.strategies.cline_memory import ClineMemory
from ctxviewer.engine.strategies.cline_rules import (
    AGENT,
    SOURCE,
    ClineCarried,
    optimized,
    passes_of,
    truncated,
    with_pair_warning,
)
from ctxviewer.engine.strategies.facts import Facts, FilesIn, MessageFacts, characters_of, facts_of, files_in
from ctxviewer.engine.words import grouped, plural, request_name, span

_WRITTEN: Final = (
    "A subagent's conversation is overwritten by its compaction; it is stored nowhere, so this is a what-if only."
)


def _threshold(job: Job) -> float:
    return compaction_threshold(job.window, AUTO_CONDENSE_FRACTION if job.switch("auto_condense") else None)


def _make(job: Job) -> Plan:
    state, threshold = job.state, _threshold(job)
    start = start_plan(job, "Compact as a subagent does", refused=_WRITTEN)
    steps: list[Step] = []
    if not job.switch("always"):
        if state.total is None or state.total_request is None:
            words = "No request before has reported its size, so there is nothing to compare."
            return replace(start, steps=(Step(words, start.before),))
        due = at_least(state.total, threshold)
        words = (
            f"{request_name(state.total_request).capitalize()} reported {grouped(state.total)} tokens; a subagent "
            f"compacts from {grouped(threshold)} on: {'reached' if due else 'not reached, nothing is done'}."
        )
        steps.append(Step(words, start.before, {"total": state.total, "threshold": threshold}))
        if not due:
            return replace(start, steps=tuple(steps))
    try:
        memory = ClineMemory.at(job.facts, state.deleted_range, state.history, state.until, searches_all=True)
        result = memory.compact(state.timestamp)
    except BrokenInputError as err:
        words = f"The rules fail on this history: {err.sentence}"
        return replace(start, steps=(*steps, Step(words, start.before)))
    steps.extend(_steps(job, result))
    after, passes = state.project(result.deleted, result.history), passes_of(job)
    plan = replace(
        start,
        after=after,
        steps=tuple(steps),
        added_updates=new_updates(state.history, result.history),
        characters_before=passes.characters(state, start.before, state.history),
        characters_after=passes.characters(state, after, result.history),
    )
    return with_pair_warning(job, plan)


def _steps(job: Job, result: Compaction) -> Iterator[Step]:
    state, optimization = job.state, result.optimization
    replaced = read_steps(state, optimization)
    yield from replaced
    shown = replaced[-1].shown if replaced else state.projection
    yield Step(optimization_sentence(optimization), shown, savings_numbers(optimization))
    if not optimization.need_to_truncate:
        return
    first, after = resume_index(state.deleted_range), state.project(result.deleted, result.history)
    if result.deleted == state.deleted_range:
        yield Step(f"The range stays {span(result.deleted)}: there is nothing more to take.", after)
        return
    gone = Range(first, resume_index(result.deleted) - 1)
    if gone.is_empty:
        yield Step(f"The range would become {span(result.deleted)}, which leaves out nothing more.", after)
        return
    rest = state.until - first
    words = f"Quarter of {plural(rest, 'remaining message')}: messages {gone} go ({gone.length} of {rest})."
    touched = tuple((number, None) for number in range(first, gone.end + 1))
    yield Step(words, after, {"first": gone.start, "last": gone.end}, touched)
    yield from repair_steps(state, state.projection, after)


class Conversation:
    """Facts of a conversation that compactions overwrite; of what is not overwritten they are the task's."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._own: dict[int, tuple[MessageFacts, FilesIn, int | None]] = {}
        self.held: list[Json] = []
        self._viewed_until = 0
        """Messages before it were part of a view already."""
        self._mended: set[int] = set()
        """Messages in which a view moved or made up results."""

    @property
    def messages(self) -> Messages:
        return self.held

    def read(self, until: int) -> None:
        self._facts.read(until)
        self.held.extend(self._facts.messages[number] for number in range(len(self.held), until))

    def __getitem__(self, number: int) -> MessageFacts:
        own = self._own.get(number)
        return self._facts[number] if own is None else own[0]

    def files(self, number: int) -> FilesIn:
        own = self._own.get(number)
        return self._facts.files(number) if own is None else own[1]

    def characters(self, number: int) -> int | None:
        own = self._own.get(number)
        return self._facts.characters(number) if own is None else own[2]

    def tokens(self, first: int, end: int) -> int:
        return self._facts.tokens(first, end)

    def update_tokens(self, update: Update) -> int:
        return self._facts.update_tokens(update)

    def compact(self, memory: ClineMemory, timestamp: int | None) -> Compaction:
        """One compaction of this conversation, of which `memory` keeps count; only messages that can differ are viewed.

        Raises what the rule raises; conversation and memory are then as before.
        """
        fresh: dict[int, Json] = {}
        mended: set[int] = set()

        def view(optimization: Optimization) -> Messages:
            fresh.update(self._viewed(optimization, mended))
            seen = list(self.held)
            for number, value in fresh.items():
                seen[number] = value
            return seen

        result = memory.compact(timestamp, view)
        if result.optimization.changed:
            self._mended |= mended
            self._viewed_until = len(self.held)
            memory.rewrite(fresh, lambda: self._put(fresh))
        return result

    def _viewed(self, optimization: Optimization, mended: set[int]) -> Iterator[tuple[int, Json]]:
        """The messages that the view changes: with new updates, not viewed yet, or whose blocks have moved before.

        Updates go by block number. In a message in which results were moved or made up they hit other blocks the next
        time, and so once more at every compaction.
        """
        if len(self.held) < FIRST_DELETED:
            return
        history = optimization.history
        numbers = {read.message for read in optimization.replaced}
        numbers.update(number for number in self._mended if history.entry(number) is not None)
        for number in sorted(numbers.union(range(self._viewed_until, len(self.held)))):
            value, is_mended = project_one(self.held, number, history)
            if is_mended:
                mended.add(number)
            if value is not self.held[number] and value != self.held[number]:
                yield number, value

    def _put(self, fresh: dict[int, Json]) -> None:
        for number, value in fresh.items():
            self.held[number] = value
            files = files_in(number, value)
            self._own[number] = (facts_of(number, value), files, characters_of(files, value))


def _start(job: Job) -> ClineCarried:
    conversation = Conversation(job.facts)

    def act(memory: ClineMemory, turn: Turn) -> Iterator[Action]:
        before = memory.resume
        result = conversation.compact(memory, turn.timestamp)
        if result.optimization.changed:
            yield optimized(memory, result.optimization)
        if memory.resume > before:
            yield truncated(memory, before, "quarter")

    return ClineCarried(job, act, memory=ClineMemory(conversation, searches_all=True), threshold=_threshold(job))


SUBAGENT = Strategy(
    key="subagent",
    agent=AGENT,
    name="Subagent compaction",
    meaning="Replaces older copies of files for good; if that saves less than 30 %, keeps a quarter of the rest.",
    source=SOURCE,
    make=_make,
    start=_start,
    settings=(
        Setting(
            "auto_condense",
            SettingKind.SWITCH,
            False,
            "Compact at 75 % of the window already, where that is below the limit.",
        ),
        Setting(
            "always",
            SettingKind.SWITCH,
            False,
            "Compact even below the threshold; a replay looks at the threshold all the same.",
        ),
    ),
)
