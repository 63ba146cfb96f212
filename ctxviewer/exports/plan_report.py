"""A plan as one JSON object and as text: the same facts as the preview in the window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.projection import Projection
from ctxviewer.engine.change_cost import ChangeCost
from ctxviewer.engine.words import grouped, percent, plural, span
from ctxviewer.exports.reconcile_report import change_cost_json
from ctxviewer.exports.values import (
    SCHEMA,
    checkpoint_json,
    projection_json,
    range_json,
    span_json,
    update_json,
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated tokens as sent, before and after; by which counter."""

    before: int
    after: int
    counter: str
    cost: ChangeCost | None = None
    """At the provider's cache; None where no request was made yet."""


@dataclass(frozen=True, slots=True)
class FileLine:
    """One file that a commit would write."""

    role: str
    path: str
    size: int | None
    """Bytes of the new content (INDEX: of the task's item); None = removed."""


def plan_json(plan: Plan, files: tuple[FileLine, ...], estimate: Estimate | None) -> JsonObject:
    """The whole plan. `refusal` is '' when it can be applied."""
    settings: dict[str, Json] = dict(plan.settings)
    return {
        "schema": SCHEMA,
        "kind": str(plan.kind),
        "title": plan.title,
        "task": plan.task_id,
        "settings": settings,
        "refusal": plan.refusal,
        "steps": [{"sentence": step.sentence, "numbers": dict(step.numbers)} for step in plan.steps],
        "range_before": range_json(plan.before.deleted_range),
        "range_after": range_json(plan.after.deleted_range),
        "before": projection_json(plan.before),
        "after": projection_json(plan.after),
        "characters": {"before": plan.characters_before, "after": plan.characters_after},
        "tokens": None
        if estimate is None
        else {"before": estimate.before, "after": estimate.after, "source": f"estimated ({estimate.counter})"},
        "cache": change_cost_json(estimate.cost) if estimate is not None and estimate.cost is not None else None,
        "added_updates": [update_json(update) for update in plan.added_updates],
        "removed_updates": [update_json(update) for update in plan.removed_updates],
        "lost_messages": span_json(plan.lost_messages),
        "lost_requests": span_json(range(plan.lost_requests.start + 1, plan.lost_requests.stop + 1)),
        "lost_checkpoints": [checkpoint_json(None, point) for point in plan.lost_checkpoints],
        "files": [{"role": line.role, "path": line.path, "bytes": line.size} for line in files],
        "warnings": list(plan.warnings),
        "differs_from_reference": list(plan.differs_from_reference),
    }


def plan_text(plan: Plan, files: tuple[FileLine, ...], estimate: Estimate | None) -> str:
    """The plan for people on a terminal."""
    return "\n".join(_lines(plan, files, estimate)) + "\n"


def _lines(plan: Plan, files: tuple[FileLine, ...], estimate: Estimate | None) -> Iterator[str]:
    yield plan.title
    for number, step in enumerate(plan.steps, 1):
        yield f"  {number}. {step.sentence}"
    yield f"  sent now: {_sent(plan.before)}"
    yield f"  then:     {_sent(plan.after)}"
    before, after = plan.characters_before, plan.characters_after
    if before:
        change = f"{percent(abs(after - before) / before)} {'less' if after <= before else 'more'}"
        yield f"  characters as sent: {grouped(before)} → {grouped(after)} ({change})"
    if estimate is not None:
        yield f"  tokens, estimated with {estimate.counter}: {grouped(estimate.before)} → {grouped(estimate.after)}"
        if estimate.cost is not None and estimate.cost.lost:
            yield f"  cache: {estimate.cost.sentence}"
    if plan.lost_messages:
        yield f"  {plural(len(plan.lost_messages), 'message')} go: {plan.lost_messages[0]}–{plan.lost_messages[-1]}"
    if plan.lost_checkpoints:
        yield f"  {plural(len(plan.lost_checkpoints), 'checkpoint')} go"
    if plan.added_updates or plan.removed_updates:
        yield f"  updates: {len(plan.added_updates)} new, {len(plan.removed_updates)} dropped"
    for line in files:
        yield f"  writes {line.path} ({'removed' if line.size is None else plural(line.size, 'byte')})"
    for warning in plan.warnings:
        yield f"  note: {warning}"
    for difference in plan.differs_from_reference:
        yield f"  differs from the agent's own action: {difference}"
    if plan.refusal:
        yield f"  cannot be applied: {plan.refusal}"


def _sent(projection: Projection) -> str:
    messages = plural(projection.until, "message")
    return f"{projection.sent_count} of {messages}; deleted range {span(projection.deleted_range)}"
