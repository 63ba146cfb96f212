"""Cline's full decision before a request: limit, optimise, and unless that saved enough half or quarter."""

from collections.abc import Iterator
from typing import Final

from ctxviewer.domain.plan import Plan
from ctxviewer.engine.plans.context import decide_from
from ctxviewer.engine.strategies.base import Job, Setting, SettingKind, Strategy
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

_LARGEST: Final = 10**12


def _make(job: Job) -> Plan:
    return with_pair_warning(job, decide_from(job.state, job.window.window, job.number("total"), passes_of(job)))


def _start(job: Job) -> ClineCarried:
    def act(memory: ClineMemory, turn: Turn) -> Iterator[Action]:
        before = memory.resume
        decision = memory.decide(job.window, turn.total, turn.timestamp)
        if decision.optimization is not None and decision.optimization.changed:
            yield optimized(memory, decision.optimization)
        if memory.resume > before:
            yield truncated(memory, before, str(decision.keep))

    return ClineCarried(job, act)


DECIDE = Strategy(
    key="decide",
    agent=AGENT,
    name="The full decision",
    meaning="At the limit: optimise file reads; if that saves less than 30 %, cut half, or keep a quarter.",
    source=SOURCE,
    make=_make,
    start=_start,
    settings=(
        Setting(
            "total",
            SettingKind.WHOLE,
            None,
            "Tokens of the previous request, instead of the reported ones; a replay has its own.",
            low=0,
            high=_LARGEST,
        ),
    ),
    can_apply=True,
)
