"""Cline's file-read optimisation alone."""

from collections.abc import Iterator

from ctxviewer.domain.plan import Plan
from ctxviewer.engine.plans.context import optimize_from
from ctxviewer.engine.strategies.base import Job, Strategy
from ctxviewer.engine.strategies.carried import Action, Turn
from ctxviewer.engine.strategies.cline_memory import ClineMemory
from ctxviewer.engine.strategies.cline_rules import (
    AGENT,
    SOURCE,
    ClineCarried,
    optimized,
    passes_of,
    with_pair_warning,
)


def _make(job: Job) -> Plan:
    return with_pair_warning(job, optimize_from(job.state, passes_of(job)))


def _act(memory: ClineMemory, turn: Turn) -> Iterator[Action]:
    result = memory.optimize(turn.timestamp)
    if result.changed:
        yield optimized(memory, result, decides=False)


def _start(job: Job) -> ClineCarried:
    return ClineCarried(job, _act)


OPTIMISE = Strategy(
    key="optimise",
    agent=AGENT,
    name="Optimise file reads",
    meaning="Replaces all but the newest copy of each file by a notice; the range stays.",
    source=SOURCE,
    make=_make,
    start=_start,
    can_apply=True,
)
