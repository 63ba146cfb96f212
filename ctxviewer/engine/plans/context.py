"""Truncate, optimise, and the full decision, on the task as it stands or as it stood before any request.

`plan_…` take a task and a request, `…_from` a state that is already there (and may hold its messages decoded).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Messages
from ctxviewer.domain.plan import Effects, Plan, PlanKind, Step
from ctxviewer.domain.projection import Projection, Repair, RepairKind
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.blocks import role_and_content, with_text
from ctxviewer.engine.cline.loaded import loaded
from ctxviewer.engine.cline.notices import with_truncation_notice
from ctxviewer.engine.cline.optimize import Optimization, ReplacedRead
from ctxviewer.engine.cline.pairs_of import seam_repairs
from ctxviewer.engine.cline.prepare import Verdict, decide
from ctxviewer.engine.cline.truncation import FIRST_DELETED, Keep, next_range, resume_index
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.cline.window import window_info
from ctxviewer.engine.explain import api_of, decision_sentences, limit_words, optimization_sentence
from ctxviewer.engine.plans.common import PLAIN, Passes, new_updates, refusal
from ctxviewer.engine.state import State, state_at
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, plural, request_name, span

_KEEP_WORDS = {
    Keep.NONE: "everything after the first pair",
    Keep.LAST_TWO: "everything but the first pair and the last two messages",
    Keep.HALF: "the older half of the rest",
    Keep.QUARTER: "the older three quarters of the rest",
}


def plan_truncate(timeline: Timeline, keep: Keep | str, number: int | None = None) -> Plan:
    """Let the deleted range grow as the rules do for `keep`, with the truncation notice on message 1.

    `number` None = now; else a what-if before that request. ValueError for a word that is no mode, IndexError for no
    such request.
    """
    return truncate_from(state_at(timeline, number), keep)


def truncate_from(state: State, keep: Keep | str, passes: Passes = PLAIN) -> Plan:
    """`plan_truncate` from a state."""
    keep = Keep(keep)
    state = _decoded_once(state)
    timeline, messages, deleted = state.timeline, state.messages, state.deleted_range
    start = _start(state, PlanKind.TRUNCATE, f"Truncate ({keep})", {"keep": str(keep)})
    if start.refusal and not timeline.snapshot.has_messages:
        return start
    fresh = next_range(messages, deleted, keep)
    first = resume_index(deleted)
    if fresh.end < first or fresh.end >= len(messages):
        words = f"The mode {keep} would set the range {fresh}, which leaves out nothing more."
        return _nothing(start, words)
    noticed = with_truncation_notice(state.history, state.timestamp)
    steps = [
        Step(
            f"Mode {keep}: messages {Range(first, fresh.end)} go, {fresh.end - first + 1} of the "
            f"{len(messages) - first} that remain ({_KEEP_WORDS[keep]}).",
            state.project(fresh, state.history),
            {"remaining": len(messages) - first, "first": first, "last": fresh.end},
            tuple((number, None) for number in range(max(first, FIRST_DELETED), fresh.end + 1)),
        )
    ]
    steps.extend(repair_steps(state, start.before, steps[-1].after))
    if noticed is not state.history:
        steps.append(_notice_step(state, fresh, noticed))
    plan = _finish(state, start, steps, fresh, noticed, passes)
    return replace(plan, title=f"Truncate to {keep} (messages {Range(first, fresh.end)})")


def plan_optimize(timeline: Timeline, number: int | None = None) -> Plan:
    """Replace the older copies of files that are read more than once; the range stays. `number` as in plan_truncate."""
    return optimize_from(state_at(timeline, number))


def optimize_from(state: State, passes: Passes = PLAIN) -> Plan:
    """`plan_optimize` from a state."""
    state = _decoded_once(state)
    timeline = state.timeline
    start = _start(state, PlanKind.OPTIMIZE, "Optimise file reads", {})
    if not timeline.snapshot.has_messages:
        return start
    deleted = state.deleted_range
    try:
        result = passes.optimize(state)
    except BrokenInputError as err:
        return _nothing(replace(start, refusal=""), f"The rules fail on this history: {err.sentence}")
    if not result.changed:
        words = "No file is in the conversation twice after the deleted range, so there is nothing to replace."
        return _nothing(start, words)
    steps = read_steps(state, result)
    steps.append(Step(optimization_sentence(result), steps[-1].shown, savings_numbers(result)))
    plan = _finish(state, start, steps, deleted, result.history, passes)
    files = len({read.path for read in result.replaced})
    return replace(plan, title=f"Optimise reads of {plural(files, 'file')}")


def plan_decide(
    timeline: Timeline, window: float | None = None, total: float | None = None, number: int | None = None
) -> Plan:
    """What the agent would do before a request, for a window and a total of the one before it (both tokens).

    None = the model's window, the last reported total. `number` as in plan_truncate.
    """
    return decide_from(state_at(timeline, number), window, total)


def decide_from(state: State, window: float | None = None, total: float | None = None, passes: Passes = PLAIN) -> Plan:
    """`plan_decide` from a state."""
    state = _decoded_once(state)
    snapshot = state.timeline.snapshot
    start = _start(state, PlanKind.DECIDE, "What the agent would do now", {"window": window})
    if not snapshot.has_messages:
        return start
    info = window_info(api_of(snapshot.model, window))
    name = "the given total is"
    if total is None:
        total = state.total
        if total is None or state.total_request is None:
            return _nothing(start, "No request before has reported its size, so there is nothing to compare.")
        name = f"{request_name(state.total_request)} reported"
    deleted = state.deleted_range
    try:
        decision = decide(
            state.messages,
            info,
            deleted,
            state.history,
            total=total,
            timestamp=state.timestamp,
            optimize=lambda: passes.optimize(state),
        )
    except BrokenInputError as err:
        return _nothing(replace(start, refusal=""), f"The rules fail on this history: {err.sentence}")
    over = decision.verdict is not Verdict.WITHIN_LIMIT
    compared = f"{name.capitalize()} {grouped(total)} tokens; the limit is {limit_words(info)}"
    sentence = f"{compared}: {'reached' if over else 'not reached, nothing is done'}."
    numbers: dict[str, float | int | str | None] = {"total": total, "limit": info.limit, "window": info.window}
    steps = [Step(sentence, start.before, numbers)]
    if not over:
        return replace(
            start, steps=tuple(steps), refusal=start.refusal or "Below the limit: there is nothing to apply."
        )
    optimization = decision.optimization
    if optimization is not None and optimization.changed:
        steps.extend(read_steps(state, optimization))
    sentences = decision_sentences(decision, state.until)
    if optimization is not None:
        steps.append(Step(sentences[0], steps[-1].shown, savings_numbers(optimization)))
    if decision.verdict is Verdict.TRUNCATED and optimization is not None:
        fresh = decision.range_after
        after = state.project(fresh, optimization.history)
        touched = tuple((number, None) for number in after.hidden if number >= resume_index(deleted))
        steps.append(Step(sentences[1], after, {"range": span(fresh)}, touched))
        steps.extend(repair_steps(state, start.before, after))
        if decision.notice_added and fresh is not None:
            steps.append(_notice_step(state, fresh, decision.history_after))
    return _finish(state, start, steps, decision.range_after, decision.history_after, passes)


def _decoded_once(state: State) -> State:
    return state if state.decoded is not None else replace(state, decoded=loaded(state.timeline.snapshot.messages))


def _start(state: State, kind: PlanKind, title: str, settings: dict[str, str | float | None]) -> Plan:
    """A plan without steps; refused already if nothing on this task can be applied."""
    snapshot = state.timeline.snapshot
    now = state.projection
    earlier = (
        "" if state.request is None else f"This is a what-if before {request_name(state.request)}, not the present."
    )
    return Plan(
        kind=kind,
        title=title,
        task_id=snapshot.task.task_id,
        generation=snapshot.generation,
        before=now,
        after=now,
        steps=(),
        effects=Effects(),
        refusal=refusal(state.timeline) or earlier,
        settings=dict(settings),
    )


def _nothing(start: Plan, words: str) -> Plan:
    """A plan that changes nothing, and the one sentence why."""
    return replace(start, refusal=start.refusal or words, steps=(Step(words, start.before),))


def _finish(
    state: State, start: Plan, steps: list[Step], deleted: Range | None, history: ContextHistory, passes: Passes
) -> Plan:
    timeline = state.timeline
    after = state.project(deleted, history)
    added = new_updates(state.history, history)
    warnings = list(start.warnings)
    if timeline.requests and timeline.requests[-1].state == "running":
        warnings.append("The last request is still running, or was left unfinished.")
    return replace(
        start,
        after=after,
        steps=tuple(steps),
        effects=Effects(
            updates_text=history.dump() if added else None,
            set_range=deleted != state.deleted_range,
            deleted_range=deleted,
        ),
        added_updates=added,
        characters_before=passes.characters(state, start.before, state.history),
        characters_after=passes.characters(state, after, history),
        warnings=tuple(warnings),
    )


def _notice_step(state: State, deleted: Range, history: ContextHistory) -> Step:
    words = "The truncation notice is put on message 1" + (", which does not exist yet." if state.until < 2 else ".")
    return Step(words, state.project(deleted, history), {}, ((1, 0),) if state.until > 1 else ())


def repair_steps(state: State, before: Projection, after: Projection) -> Iterator[Step]:
    """What a new range does to tool calls and results: one step for each message that is mended because of it."""
    repairs = after.repairs if after.repairs_known else _seam(state, after)
    for repair in repairs:
        if repair.message == after.resume and repair not in before.repairs:
            numbers: dict[str, float | int | str | None] = {
                "message": repair.message,
                "kind": str(repair.kind),
                "results": len(repair.tool_ids),
            }
            yield Step(_repair_sentence(repair), after, numbers, ((repair.message, None),))


def _seam(state: State, after: Projection) -> tuple[Repair, ...]:
    cut = after.hidden and after.resume < after.until
    return seam_repairs(state.timeline.snapshot.messages, after) if cut else ()


def _repair_sentence(repair: Repair) -> str:
    results = len(repair.tool_ids)
    match repair.kind:
        case RepairKind.STRIPPED:
            return (
                f"Message {repair.message} loses {plural(results, 'orphan result')}: the calls are not sent any more."
            )
        case RepairKind.ADDED:
            return f"Message {repair.message} gets {plural(results, 'made-up result')} for calls that have none."
        case RepairKind.MOVED:
            return f"In message {repair.message} {plural(results, 'result')} move to the front."
        case RepairKind.DROPPED:
            return f"Message {repair.message} loses {plural(results, 'result')} for unknown calls."
        case RepairKind.WORDS_LOST:
            return f"The text of message {repair.message} gives way to {plural(results, 'made-up result')}."


def read_steps(state: State, result: Optimization) -> list[Step]:
    """One step per replaced copy; the projection after it holds the updates of the steps so far."""
    timeline, deleted, until = state.timeline, state.deleted_range, state.until
    messages = loaded(state.messages)
    before = state.history.in_force()
    finals = result.history.in_force()
    places = [(read.message, read.block) for read in result.replaced]

    def after(count: int) -> Projection:
        fresh = {place: finals[place] for place in places[:count] if place in finals}
        return timeline.project(deleted, {**before, **fresh}, until)

    made = lru_cache(maxsize=4)(after)
    return [
        Step(
            _read_sentence(messages, read),
            partial(made, count),
            {"path": read.path, "message": read.message, "saved": read.saved, "newest_message": read.newest_message},
            (place,),
        )
        for count, (read, place) in enumerate(zip(result.replaced, places, strict=True), 1)
    ]


def _read_sentence(messages: Messages, read: ReplacedRead) -> str:
    kind = {2: "Read", 3: "Edit", 4: "Mention"}.get(int(read.kind), "Copy")
    saved = f"−{grouped(read.saved)}" if read.saved >= 0 else f"+{grouped(-read.saved)}"
    sentence = (
        f"{kind} of {read.path} in message {read.message} replaced: {saved} characters; "
        f"the newest copy is in message {read.newest_message}."
    )
    _, content = role_and_content(messages[read.message])
    shows = isinstance(content, list) and read.block < len(content) and with_text(content[read.block], "") is not None
    return sentence if shows else sentence + " It shows nowhere, since that block holds no text of its own."


def savings_numbers(result: Optimization) -> dict[str, float | int | str | None]:
    """What an optimisation saved, for the numbers of a step."""
    counted = result.characters
    if counted is None:
        return {"saved": 0, "share": 0.0}
    saved = counted.saved if isinstance(counted.saved, (int, float)) else None
    return {"saved": saved, "share": counted.share}
