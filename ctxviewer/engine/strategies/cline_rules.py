"""What the strategies by Cline's rules share: their source, the first pair's warning, and the rules with a memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ctxviewer.domain.plan import Plan
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.js import at_least
from ctxviewer.engine.cline.optimize import Optimization
from ctxviewer.engine.cline.truncation import FIRST_DELETED, Keep
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.explain import optimization_sentence, replaced_words
from ctxviewer.engine.plans.common import PLAIN, Passes
from ctxviewer.engine.plans.context import truncate_from
from ctxviewer.engine.state import State
from ctxviewer.engine.strategies.base import Job, Strategy
from ctxviewer.engine.strategies.carried import Action, ActionKind, Sending, Turn
from ctxviewer.engine.strategies.cline_memory import ClineMemory
from ctxviewer.engine.words import grouped, plural

AGENT = "Cline"
SOURCE = "Cline 4.0.10, as recorded in its reference cases"
Act = Callable[[ClineMemory, Turn], Iterator[Action]]
"""Manages the memory's context once the limit is reached, and tells what it did."""


def truncation(key: str, keep: Keep, name: str, meaning: str) -> Strategy:
    """A strategy that cuts by one mode, whatever the total; in a replay each time the limit is reached."""

    def make(job: Job) -> Plan:
        return with_pair_warning(job, truncate_from(job.state, keep, passes_of(job)))

    def act(memory: ClineMemory, turn: Turn) -> Iterator[Action]:
        before = memory.resume
        fresh = memory.truncate(keep, turn.timestamp)
        if fresh is not None:
            yield truncated(memory, before, str(keep))

    def start(job: Job) -> ClineCarried:
        return ClineCarried(job, act)

    return Strategy(key, AGENT, name, meaning, SOURCE, make, start, can_apply=True)


def passes_of(job: Job) -> Passes:
    """The passes over the history by what is known of the task, once for all strategies that look at one state."""
    facts = job.facts

    def memory(state: State) -> ClineMemory:
        return facts.remembered(
            "memory", state, lambda: ClineMemory.at(facts, state.deleted_range, state.history, state.until)
        )

    def optimize(state: State) -> Optimization:
        return facts.remembered("optimisation", state, lambda: memory(state).optimized(state.timestamp))

    def characters(state: State, projection: Projection, history: ContextHistory) -> int:
        known = (
            memory(state).characters_with(projection.deleted_range, history)
            if projection.first_pair == FIRST_DELETED and projection.until == state.until
            else None
        )
        return PLAIN.characters(state, projection, history) if known is None else known

    return Passes(optimize, characters)


def with_pair_warning(job: Job, plan: Plan) -> Plan:
    """The plan, warned where the first pair, which no cut takes, is larger than the window by itself."""
    words = pair_warning(job)
    return replace(plan, warnings=(*plan.warnings, words)) if words else plan


def pair_warning(job: Job) -> str:
    """A sentence where messages 0 and 1 alone are estimated larger than the window, else ''."""
    pair = job.facts.tokens(0, min(FIRST_DELETED, job.state.until))
    if pair <= job.window.window:
        return ""
    return (
        f"The first pair alone is about {grouped(pair)} tokens, more than the window of {grouped(job.window.window)}: "
        "no cut can make this fit."
    )


class ClineCarried:
    """Rules that act whenever the previous request's total reaches the limit."""

    def __init__(
        self, job: Job, act: Act, *, memory: ClineMemory | None = None, threshold: float | None = None
    ) -> None:
        """`threshold` None = the agent's limit for the window."""
        self._memory = memory if memory is not None else ClineMemory(job.facts)
        self._threshold = threshold if threshold is not None else job.window.limit
        self._act = act
        self._stuck = False
        """The limit was reached and nothing could be freed: told once, until something is freed again."""

    def send(self, turn: Turn) -> Sending:
        """See `Carried.send`."""
        memory = self._memory
        memory.grow(turn.until)
        actions: tuple[Action, ...] = ()
        if turn.total is not None and at_least(turn.total, self._threshold):
            actions = tuple(self._act(memory, turn))
            if not actions and not self._stuck:
                self._stuck = True
                actions = (self._nothing(turn.total),)
            elif actions:
                self._stuck = False
        return Sending(memory.tokens, turn.total, self._threshold, actions)

    def _nothing(self, total: float) -> Action:
        words = f"{grouped(total)} tokens reach the limit of {grouped(self._threshold)}, but nothing can be freed."
        return Action(ActionKind.NOTHING, words, deleted_range=self._memory.deleted)


def truncated(memory: ClineMemory, before: int, mode: str) -> Action:
    """What a cut did; `before` is the first message that was sent after the pair until then."""
    fresh = Range(before, memory.resume - 1)
    words = f"Truncated ({mode}): messages {fresh} are sent no more ({plural(fresh.length, 'message')})."
    notice = tuple(memory.history.updates_of(1))
    return Action(ActionKind.TRUNCATE, words, lost=(fresh,), updates=notice, deleted_range=memory.deleted)


def optimized(memory: ClineMemory, result: Optimization, *, decides: bool = True) -> Action:
    """What replacing older copies did; `decides`: whether a cut follows depends on what it saved."""
    places = tuple(dict.fromkeys((read.message, read.block) for read in result.replaced))
    newest = {
        (update.message, update.block): update
        for message in dict.fromkeys(message for message, _ in places)
        for update in memory.history.updates_of(message)
    }
    return Action(
        ActionKind.OPTIMIZE,
        optimization_sentence(result) if decides else f"{replaced_words(result)}.",
        lost_blocks=places,
        updates=tuple(newest[place] for place in places if place in newest),
        deleted_range=memory.deleted,
    )
