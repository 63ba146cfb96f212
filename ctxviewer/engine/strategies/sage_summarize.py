"""Sage's strategy Summarize: prune, and put one summary of what went at the head of the list."""

from ctxviewer.domain.plan import Plan
from ctxviewer.engine.sage.config import OverflowStrategy
from ctxviewer.engine.strategies.base import Job, Strategy
from ctxviewer.engine.strategies.carried import ActionKind
from ctxviewer.engine.strategies.sage_carried import SageCarried
from ctxviewer.engine.strategies.sage_prepare import CONTEXT_SETTINGS, prepare_plan, prepare_start
from ctxviewer.engine.strategies.sage_rules import AGENT, SOURCE


def _make(job: Job) -> Plan:
    return prepare_plan(job, OverflowStrategy.SUMMARIZE, "Summarise")


def _start(job: Job) -> SageCarried:
    return prepare_start(job, OverflowStrategy.SUMMARIZE, ActionKind.SUMMARIZE)


SUMMARIZE = Strategy(
    key="sage-summarize",
    agent=AGENT,
    name="Summarise",
    meaning="Prunes, and puts a summary of what was removed before the rest, without a model one line of counts.",
    source=SOURCE,
    make=_make,
    start=_start,
    settings=CONTEXT_SETTINGS,
)
