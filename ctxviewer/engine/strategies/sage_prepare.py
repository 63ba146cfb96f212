"""Sage's preparation of a request as a plan and with a memory; pruning and summarising differ in one word."""

from __future__ import annotations

from dataclasses import replace

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.plan import Plan, Step
from ctxviewer.domain.projection import Projection
from ctxviewer.engine.sage.config import OverflowStrategy
from ctxviewer.engine.sage.convert import Converted
from ctxviewer.engine.sage.ledger import CostLedger
from ctxviewer.engine.sage.manager import ContextManager, Prepared
from ctxviewer.engine.sage.picture import Picture, draw
from ctxviewer.engine.strategies.base import Job, start_plan
from ctxviewer.engine.strategies.carried import ActionKind, Turn
from ctxviewer.engine.strategies.sage_carried import Managed, SageCarried
from ctxviewer.engine.strategies.sage_rules import (
    ALWAYS,
    KEEP_SYSTEM,
    PROVIDER,
    context_config,
    estimator_of,
    failed_plan,
    gone_messages,
    hidden_by,
    inserted_rows,
    makers,
    pair_steps,
    recent_setting,
    removal_steps,
    sage_list,
    task_warning,
    threshold_setting,
)
from ctxviewer.engine.words import grouped, percent, plural

CONTEXT_SETTINGS = (
    PROVIDER,
    threshold_setting("Share of the window from which on it acts; None = the provider's and model's, 0.75 as a rule."),
    recent_setting("How many unprotected messages always stay; None = the provider's and model's, 10 as a rule."),
    KEEP_SYSTEM,
    ALWAYS,
)


def manager_of(job: Job, strategy: OverflowStrategy, *, always: bool = False) -> ContextManager:
    """A manager with the job's settings; `always` sets the threshold to 0."""
    config = replace(context_config(job), overflow_strategy=strategy)
    return ContextManager(replace(config, threshold_ratio=0.0) if always else config, estimator_of(job))


def prepare_plan(job: Job, strategy: OverflowStrategy, title: str) -> Plan:
    """What preparing the next request would do. A failing summariser propagates; nothing is half done then."""
    start = start_plan(job, title)
    try:
        converted = sage_list(job)
    except BrokenInputError as err:
        return failed_plan(start, err)
    manager = manager_of(job, strategy, always=job.switch("always"))
    ledger = CostLedger(converted.messages, estimator=manager.estimator)
    now, new_id = makers(job.state.timestamp)
    prepared = manager.prepare(converted.messages, now=now, new_id=new_id, model=job.model, ledger=ledger)
    steps = [_first_step(job, start, prepared)]
    if not prepared.changed:
        if prepared.original_tokens >= prepared.threshold_tokens:
            steps.append(Step(_stuck(manager, prepared), start.before))
        return replace(start, steps=tuple(steps))
    picture = draw(converted, prepared.numbers)
    costs = [ledger.cost(number) for number in prepared.removed]
    going = gone_messages(converted, picture, prepared.removed, costs)
    steps.extend(removal_steps(start.before, going, prepared.original_tokens))
    inserted = inserted_rows(picture, prepared.messages, job.state.until)
    after = hidden_by(start.before, picture, inserted)
    steps.append(_last_step(manager, prepared, len(prepared.messages), after))
    steps.extend(pair_steps(picture, after))
    return replace(
        start, after=after, steps=tuple(steps), warnings=_warnings(picture), title=_title(title, converted, prepared)
    )


def _title(title: str, converted: Converted, prepared: Prepared) -> str:
    return f"{title}: {prepared.removed_count:,} of {plural(len(converted.messages), 'message')} go"


def _warnings(picture: Picture) -> tuple[str, ...]:
    words = task_warning(picture)
    return (words,) if words else ()


def _first_step(job: Job, start: Plan, prepared: Prepared) -> Step:
    config = context_config(job)
    due = prepared.original_tokens >= prepared.threshold_tokens
    threshold = (
        "pruning is asked for in any case"
        if job.switch("always")
        else f"the threshold of {grouped(config.threshold_tokens)} ({percent(config.threshold_ratio)} of "
        f"{grouped(config.max_context_tokens)}) {'is reached' if due else 'is not reached, nothing is done'}"
    )
    words = f"Estimated {grouped(prepared.original_tokens)} tokens; {threshold}."
    if due:
        words += (
            f" Pruning aims at {grouped(prepared.target_tokens)} and keeps the last "
            f"{plural(config.preserve_recent_count, 'message')}."
        )
    numbers = {"total": prepared.original_tokens, "threshold": prepared.threshold_tokens}
    return Step(words, start.before, {**numbers, "target": prepared.target_tokens})


def _stuck(manager: ContextManager, prepared: Prepared) -> str:
    if prepared.original_tokens <= prepared.target_tokens:
        return f"The target of {grouped(prepared.target_tokens)} is met already: nothing is removed."
    return (
        f"Only the last {plural(manager.config.preserve_recent_count, 'message')} and protected ones are there: "
        "nothing can be removed."
    )


def _last_step(manager: ContextManager, prepared: Prepared, kept: int, after: Projection) -> Step:
    """Where pruning stopped and why, or the summary that took the place of what was removed."""
    if prepared.made is not None:
        spent = manager.estimator.message(prepared.made)
        words = (
            f"A summary of {plural(prepared.removed_count, 'message')} ({grouped(spent)} tokens, as a "
            f"{prepared.made.role} message) takes their place: {grouped(prepared.final_tokens - spent)} → "
            f"{grouped(prepared.final_tokens)}."
        )
        return Step(words, after, {"tokens": spent, "after": prepared.final_tokens})
    if prepared.final_tokens <= prepared.target_tokens:
        words = f"Stopped at {grouped(prepared.final_tokens)}: the target of {grouped(prepared.target_tokens)} is met."
    else:
        words = (
            f"Stopped at {grouped(prepared.final_tokens)}, above the target of {grouped(prepared.target_tokens)}: "
            f"only {plural(kept, 'message')} are left, which always stay."
        )
    return Step(words, after, {"after": prepared.final_tokens, "target": prepared.target_tokens})


def prepare_start(job: Job, strategy: OverflowStrategy, kind: ActionKind) -> SageCarried:
    """The same for a replay: each prepared list takes the place of the one before."""
    manager = manager_of(job, strategy)

    def manage(carried: SageCarried, turn: Turn) -> Managed:
        now, new_id = makers(turn.timestamp)
        prepared = carried.session.prepare(manager, now=now, new_id=new_id, model=job.model)
        compared = prepared.original_tokens
        if not prepared.changed:
            return Managed(compared, prepared.threshold_tokens, stuck=compared >= prepared.threshold_tokens)
        summary = " and summarised" if prepared.was_summarized else ""
        words = (
            f"{plural(prepared.removed_count, 'message')} removed{summary}: {grouped(compared)} → "
            f"{grouped(prepared.final_tokens)} estimated tokens."
        )
        return Managed(compared, prepared.threshold_tokens, prepared, prepared.removed, kind, words)

    return SageCarried(job, manager.estimator, manage)
