"""Estimated against reported, and what changes cost, as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxviewer.domain.json import JsonObject
from ctxviewer.domain.request import Usage
from ctxviewer.engine.change_cost import ChangeCost
from ctxviewer.engine.events import Event
from ctxviewer.engine.prices import Prices
from ctxviewer.engine.reconcile import Reconciled
from ctxviewer.engine.timeline import Timeline
from ctxviewer.exports.values import request_number


def reconciled_json(row: Reconciled, reason: str, *, off: bool) -> JsonObject:
    """One request."""
    return {
        "request": row.request + 1,
        "reported": row.reported,
        "expected": None if row.expected is None else round(row.expected, 1),
        "error": None if row.error is None else round(row.error, 1),
        "share": None if row.share is None else round(row.share, 6),
        "off": off,
        "reason": reason,
        "problems": [{"kind": str(problem.kind), "sentence": problem.sentence} for problem in row.problems],
    }


def event_cost_json(event: Event, cost: ChangeCost) -> JsonObject:
    """What was changed for the request of an event."""
    return {"request": request_number(event.request), "event": str(event.kind), **change_cost_json(cost)}


def change_cost_json(cost: ChangeCost) -> JsonObject:
    """One change."""
    return {
        "cached": cost.cached,
        "kept": cost.kept,
        "lost": cost.lost,
        "share": round(cost.share, 6),
        "written": cost.written,
        "written_without": cost.written_without,
        "sent": cost.sent,
        "sent_without": cost.sent_without,
        "cache_seen": cost.cache_seen,
        "dollars": None if cost.dollars is None else round(cost.dollars, 6),
        "saved_each": None if cost.saved_each is None else round(cost.saved_each, 6),
        "pays_after": cost.pays_after,
        "sentence": cost.sentence,
    }


def prices_json(prices: Prices | None, usages: Sequence[Usage]) -> JsonObject | None:
    """The prices that are used, and how they compare with what the requests reported; None without prices."""
    if prices is None:
        return None
    told = [usage for usage in usages if usage.cost is not None]
    return {
        "match": prices.pattern,
        "input": prices.input,
        "output": prices.output,
        "cache_write": prices.cache_write,
        "cache_read": prices.cache_read,
        "as_of": prices.as_of,
        "source": prices.sentence,
        "reported_cost": round(sum(usage.cost or 0 for usage in told), 6),
        "table_cost": round(sum(prices.cost(usage) for usage in told), 6),
    }


def price_lines(prices: Prices | None, usages: Sequence[Usage], model_id: str) -> Iterator[str]:
    """What the prices say, and whether they fit the task."""
    if prices is None:
        yield f"  No price table knows {model_id or 'the model'}; name your own with --prices."
        return
    told = [usage for usage in usages if usage.cost is not None]
    reported, listed = sum(usage.cost or 0 for usage in told), sum(prices.cost(usage) for usage in told)
    yield f"  Prices {prices.sentence}"
    if reported:
        yield f"  The requests reported ${reported:,.4f}; by the table they cost ${listed:,.4f}"


def cost_lines(timeline: Timeline, costs: Sequence[tuple[Event, ChangeCost]]) -> Iterator[str]:
    """One line for every request that something was changed for."""
    if not timeline.events:
        yield "  No event: the cached prefix was never thrown away by the agent."
    told: set[int | None] = set()
    for event, cost in costs:
        if event.request not in told:
            told.add(event.request)
            where = "now" if event.request is None else f"request {event.request + 1}"
            kinds = ", ".join(dict.fromkeys(str(one.kind) for one in timeline.events if one.request == event.request))
            yield f"  {where:>12}  {kinds}: {cost.sentence}"
