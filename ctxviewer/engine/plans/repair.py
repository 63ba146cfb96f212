"""Safe repairs of findings. Each is a plan like any other: previewed, backed up, undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ctxviewer.domain.finding import Finding
from ctxviewer.domain.plan import Effects, Plan, PlanKind, Step
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.moments import role_of
from ctxviewer.engine.cline.notices import with_truncation_notice
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.doctor import dangling
from ctxviewer.engine.plans.common import characters, new_updates, refusal
from ctxviewer.engine.state import State, state_now
from ctxviewer.engine.timeline import Timeline, history_of
from ctxviewer.engine.words import plural, span

_Made = tuple[str, Range | None, ContextHistory]
"""Sentence, range afterwards, updates afterwards."""


def _clamp(state: State) -> _Made:
    """A range beyond the end, cut to the last message of the assistant."""
    deleted = state.deleted_range
    end = state.until - 1
    while end > 1 and role_of(state.timeline.snapshot, end) != "assistant":
        end -= 1
    fresh = Range(2, max(1, end))
    return f"The deleted range becomes {span(fresh)}, it was {span(deleted)}.", fresh, state.history


def _empty(state: State) -> _Made:
    """A range that ends below 1 becomes the legal empty one."""
    fresh = Range(2, 1)
    was = span(state.deleted_range)
    words = f"The deleted range becomes {span(fresh)}, so that no message is sent twice; it was {was}."
    return words, fresh, state.history


def _start(state: State) -> _Made:
    """The start of a range is ignored by the agent; 2 says what it does."""
    deleted = state.deleted_range
    fresh = Range(2, deleted.end) if deleted is not None else None
    return f"The deleted range becomes {span(fresh)}, which is what the agent does already.", fresh, state.history


def _notice(state: State) -> _Made:
    """Put back the truncation notice."""
    history = with_truncation_notice(state.history, state.timestamp)
    return "The truncation notice is put on message 1 again.", state.deleted_range, history


def _drop_dangling(state: State) -> _Made:
    """Updates for blocks that do not exist would hit the next message put there."""
    gone = set(dangling(state.timeline))
    kept = [update for update in state.timeline.updates if (update.message, update.block) not in gone]
    words = f"{plural(len(gone), 'update')} for blocks that do not exist dropped."
    return words, state.deleted_range, history_of(kept)


REPAIRS: dict[str, Callable[[State], _Made]] = {
    "range-beyond-end": _clamp,
    "range-below-start": _empty,
    "range-odd-start": _start,
    "cut-without-notice": _notice,
    "updates-lost-by-restore": _notice,
    "update-dangling": _drop_dangling,
}
"""Codes of findings that have a safe repair."""


def can_repair(finding: Finding) -> bool:
    """Whether there is a safe repair for a finding."""
    return finding.code in REPAIRS


def plan_repair(timeline: Timeline, code: str) -> Plan:
    """The plan that sets right what findings of this code name. KeyError for a code without a repair."""
    state = state_now(timeline)
    sentence, deleted, history = REPAIRS[code](state)
    before, after = state.projection, state.project(deleted, history)
    updates_changed = history.dump() != state.history.dump()
    plan = Plan(
        kind=PlanKind.REPAIR,
        title=f"Repair: {code}",
        task_id=timeline.snapshot.task.task_id,
        generation=timeline.snapshot.generation,
        before=before,
        after=after,
        steps=(Step(sentence, after),),
        effects=Effects(
            updates_text=history.dump() if updates_changed else None,
            set_range=deleted != state.deleted_range,
            deleted_range=deleted,
        ),
        added_updates=new_updates(state.history, history),
        removed_updates=new_updates(history, state.history),
        characters_before=characters(state.messages, before, state.history),
        characters_after=characters(state.messages, after, history),
        refusal=refusal(timeline),
    )
    if plan.effects.writes_nothing:
        return replace(plan, refusal=plan.refusal or "There is nothing to repair any more.")
    return plan
