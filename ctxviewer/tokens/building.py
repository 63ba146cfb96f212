"""The whole table of a task's counts in one go, for commands and tests; the window counts in slices instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ctxviewer.domain.message import parse_message
from ctxviewer.domain.updates import Update
from ctxviewer.engine.timeline import Timeline
from ctxviewer.tokens.cache import CachedCounter
from ctxviewer.tokens.counter import TokenCounter
from ctxviewer.tokens.table import TokenTable
from ctxviewer.tokens.texts import count_message, count_updates

EVERY = 64


def _never() -> None:
    return None


def count_task(
    timeline: Timeline, counter: TokenCounter, more: Iterable[Update] = (), check: Callable[[], None] = _never
) -> TokenTable:
    """Counts of every stored message, of every stored update and of `more` (those that a plan adds).

    About a second for 10 MB. `check` is called every 64 messages and may raise to cancel.
    """
    cached = counter if isinstance(counter, CachedCounter) else CachedCounter(counter)
    messages = timeline.snapshot.messages
    counts = {}
    for number, value in enumerate(messages):
        if number % EVERY == 0:
            check()
        counts[number] = count_message(cached, parse_message(number, value))
    updates = count_updates(cached, (*timeline.updates, *more))
    return TokenTable(len(messages)).with_messages(counts).with_updates(updates)
