"""Strategies of context management: the one table. The README of this folder shows how to add a row."""

from __future__ import annotations

from ctxviewer.engine.strategies.base import (
    Job,
    Setting,
    SettingKind,
    SettingsError,
    Strategy,
    Value,
    Values,
)
from ctxviewer.engine.strategies.cline_decide import DECIDE
from ctxviewer.engine.strategies.cline_half import HALF
from ctxviewer.engine.strategies.cline_last_two import LAST_TWO
from ctxviewer.engine.strategies.cline_none import NONE
from ctxviewer.engine.strategies.cline_optimise import OPTIMISE
from ctxviewer.engine.strategies.cline_quarter import QUARTER
from ctxviewer.engine.strategies.cline_subagent import SUBAGENT
from ctxviewer.engine.strategies.facts import Costs, Facts
from ctxviewer.engine.strategies.sage_compact import AUTO_COMPACT
from ctxviewer.engine.strategies.sage_prune import PRUNE
from ctxviewer.engine.strategies.sage_summarize import SUMMARIZE

STRATEGIES: tuple[Strategy, ...] = (
    DECIDE,
    OPTIMISE,
    HALF,
    QUARTER,
    LAST_TWO,
    NONE,
    SUBAGENT,
    PRUNE,
    SUMMARIZE,
    AUTO_COMPACT,
)
"""In the order in which they are shown."""


def strategy(key: str) -> Strategy:
    """The strategy with this key, in any case. SettingsError, with the keys that exist, for any other."""
    for row in STRATEGIES:
        if row.key.lower() == key.strip().lower():
            return row
    raise SettingsError(f"There is no strategy {key!r}.", hint=f"There are {', '.join(row.key for row in STRATEGIES)}.")


__all__ = [
    "STRATEGIES",
    "Costs",
    "Facts",
    "Job",
    "Setting",
    "SettingKind",
    "SettingsError",
    "Strategy",
    "Value",
    "Values",
    "strategy",
]
