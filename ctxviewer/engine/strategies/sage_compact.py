"""Sage's auto-compaction: all but the last messages give way to one boundary that carries their summary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.plan import Plan, Step
from ctxviewer.domain.projection import Projection
from ctxviewer.engine.sage.auto_compact import AutoCompact, Compacted, Skipped
from ctxviewer.engine.sage.config import AutoCompactConfig
from ctxviewer.engine.sage.ledger import CostLedger
from ctxviewer.engine.sage.picture import Picture, draw
from ctxviewer.engine.strategies.base import Job, Setting, SettingKind, Strategy, start_plan
from ctxviewer.engine.strategies.carried import ActionKind, Turn
from ctxviewer.engine.strategies.sage_carried import Managed, SageCarried
from ctxviewer.engine.strategies.sage_rules import (
    AGENT,
    ALWAYS,
    SOURCE,
    failed_plan,
    hidden_by,
    inserted_rows,
    listed,
    makers,
    pair_steps,
    recent_setting,
    sage_list,
    task_warning,
    threshold_setting,
)
from ctxviewer.engine.words import grouped, percent, plural


def _config(job: Job) -> AutoCompactConfig:
    """Sage's settings for the job's window; the text of the override variable wins over the threshold.

    They are the same for every provider but for the window, which is the job's, and the reserve, which plays no part.
    """
    threshold, recent = job.number("threshold"), job.number("recent")
    config = AutoCompactConfig(max_context_tokens=int(job.window.window))
    if threshold is not None:
        config = replace(config, compact_threshold_ratio=threshold)
    if recent is not None:
        config = replace(config, preserve_recent_count=int(recent))
    return config.with_override(job.text("override"))


def _make(job: Job) -> Plan:
    start = start_plan(job, "Auto-compact")
    try:
        converted = sage_list(job)
    except BrokenInputError as err:
        return failed_plan(start, err)
    config = _config(job)
    now, new_id = makers(job.state.timestamp)
    auto = AutoCompact(config, now=now, new_id=new_id, model=job.model)
    ledger = CostLedger(converted.messages)
    act = auto.force_compact if job.switch("always") else auto.check_and_compact
    result = act(converted.messages, ledger=ledger)
    steps = [_first_step(job, start, config, ledger)]
    if isinstance(result, Skipped):
        if job.switch("always") or auto.needs_compaction(converted.messages, ledger=ledger):
            kept = plural(config.preserve_recent_count, "message")
            steps.append(Step(f"The last {kept} always stay: there is nothing to compact.", start.before))
        return replace(start, steps=tuple(steps))
    picture = draw(converted, result.numbers)
    after = hidden_by(start.before, picture, inserted_rows(picture, result.messages, job.state.until))
    steps.extend(_steps(start.before, picture, result, ledger, after))
    warning = task_warning(picture)
    return replace(
        start,
        title=f"Auto-compact: {plural(result.messages_compacted, 'message')} into one summary",
        after=after,
        steps=tuple(steps),
        warnings=(warning,) if warning else (),
    )


def _first_step(job: Job, start: Plan, config: AutoCompactConfig, ledger: CostLedger) -> Step:
    active, threshold = ledger.active_tokens(), config.threshold_tokens
    if job.switch("always"):
        verdict = "compaction is asked for in any case"
    else:
        share = f"{percent(config.compact_threshold_ratio)} of {grouped(config.max_context_tokens)}"
        reached = "is reached" if active >= threshold else "is not reached, nothing is done"
        verdict = f"the threshold of {grouped(threshold)} ({share}) {reached}"
    words = f"Estimated {grouped(active)} tokens since the last boundary; {verdict}."
    return Step(words, start.before, {"total": active, "threshold": threshold})


def _steps(
    before: Projection, picture: Picture, result: Compacted, ledger: CostLedger, after: Projection
) -> Iterator[Step]:
    spent = sum(ledger.cost(number) for number in result.compacted)
    gone = sorted(picture.hidden_messages)
    hoisted = plural(len(result.partition.hoisted), "system message")
    stay = plural(len(result.partition.recent), "message")
    words = (
        f"{plural(result.messages_compacted, 'message')} of Sage's list ({grouped(spent)} tokens) give way: stored "
        f"messages {listed(gone)}; the last {stay} stay, {hoisted} kept."
    )
    touched = (
        *((number, None) for number in gone),
        *((message, block) for message, blocks in picture.hidden_blocks.items() for block in blocks),
    )
    total = result.tokens_before
    yield Step(words, hidden_by(before, picture), {"before": total, "after": total - spent}, touched)
    boundary = result.tokens_after - (total - spent)
    yield Step(
        f"A boundary with their summary ({grouped(boundary)} tokens) takes their place: {grouped(total)} → "
        f"{grouped(result.tokens_after)}.",
        after,
        {"before": total, "after": result.tokens_after, "tokens": boundary},
    )
    yield from pair_steps(picture, after)


def _start(job: Job) -> SageCarried:
    config = _config(job)

    def manage(carried: SageCarried, turn: Turn) -> Managed:
        now, new_id = makers(turn.timestamp)
        auto = AutoCompact(config, now=now, new_id=new_id, model=job.model)
        session = carried.session
        active = session.ledger.active_tokens()
        due = auto.needs_compaction(session.messages, ledger=session.ledger)
        result = auto.force_compact(session.messages, ledger=session.ledger) if due else None
        if not isinstance(result, Compacted):
            return Managed(active, config.threshold_tokens, stuck=due)
        words = (
            f"{plural(result.messages_compacted, 'message')} compacted into one summary: "
            f"{grouped(result.tokens_before)} → {grouped(result.tokens_after)} estimated tokens."
        )
        return Managed(active, config.threshold_tokens, result, result.compacted, ActionKind.COMPACT, words)

    return SageCarried(job, CostLedger().estimator, manage)


AUTO_COMPACT = Strategy(
    key="sage-compact",
    agent=AGENT,
    name="Auto-compact",
    meaning="At the threshold: all but the last messages since the last boundary give way to one summary.",
    source=SOURCE,
    make=_make,
    start=_start,
    settings=(
        threshold_setting("Share of the window from which on it compacts; Sage's own is 0.95."),
        recent_setting("How many of the last messages stay; Sage's own is 5."),
        Setting(
            "override",
            SettingKind.TEXT,
            "",
            "Text of SAGE_AUTOCOMPACT_PCT_OVERRIDE: a percentage that replaces the threshold; '' leaves it.",
        ),
        ALWAYS,
    ),
)
