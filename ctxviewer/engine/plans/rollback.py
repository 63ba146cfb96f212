"""Back to a checkpoint, or to any message: the conversation only, with exactly the updates that still hold.

The agent's own restore forgets every update and keeps the range (rules §2). This one keeps each update that is not
later than the target, stands on a message that remains, and whose newer copy of the file remains as well. The plan
says where the two part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import JsonObject, is_object
from ctxviewer.domain.log import Prefix
from ctxviewer.domain.plan import Effects, Plan, PlanKind, Step
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Checkpoint, CheckpointKind, Usage
from ctxviewer.domain.snapshot import FileRole, UiEntry
from ctxviewer.domain.updates import Update
from ctxviewer.engine.cline.file_reads import EditType, ReadPlace, find_reads
from ctxviewer.engine.cline.js import UNDEFINED, JsValue
from ctxviewer.engine.cline.loaded import loaded
from ctxviewer.engine.cline.restore import edited_after, totals_entry
from ctxviewer.engine.cline.totals import task_totals, usage_totals
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.plans.common import characters, has_file, project_with, refusal
from ctxviewer.engine.timeline import Timeline, history_of
from ctxviewer.engine.words import plural, request_name, span


@dataclass(frozen=True, slots=True)
class Judged:
    """One stored update and whether it still holds after a rollback."""

    update: Update
    holds: bool
    reason: str
    """Why it goes, '' if it stays."""


def plan_rollback(timeline: Timeline, target: Checkpoint) -> Plan:
    """Back to an entry of the timeline: it stays, everything after it goes.

    Keeps `last_message` + 2 messages, as the reference's restore does (1 for -1, 2 where the entry gives none).
    """
    index = target.last_message if target.last_message is not None else 0
    return _plan(timeline, target, max(0, index + 2))


def plan_rollback_to_message(timeline: Timeline, message: int) -> Plan:
    """Back to message `message`, which stays as the last one. The timeline is cut behind the entries that belong to it.

    IndexError for a message that does not exist.
    """
    if not 0 <= message < len(timeline.snapshot.messages):
        raise IndexError(f"there is no message {message}; the task has {len(timeline.snapshot.messages)}")
    entry = _entry_of(timeline.snapshot.ui, message)
    if entry is None:
        none = Checkpoint(-1, 0, CheckpointKind.MESSAGE, "", message - 1, None, None, f"message {message}")
        return replace(
            _empty(timeline, none),
            refusal="ui_messages.json has no entry that belongs to this message, so its state is not known.",
        )
    request = max((r.number for r in timeline.requests if r.ui_index <= entry.index), default=None)
    target = Checkpoint(
        entry.index,
        entry.ts,
        CheckpointKind.MESSAGE,
        entry.checkpoint_hash,
        entry.last_message,
        entry.deleted_range,
        request,
        f"message {message}",
    )
    return _plan(timeline, target, message + 1)


def _entry_of(entries: tuple[UiEntry, ...], message: int) -> UiEntry | None:
    """The last entry made while no message after `message` existed; a request that was only started does not count."""
    found: UiEntry | None = None
    for entry in entries:
        if entry.kind == "api_req_started" or entry.last_message is None:
            continue
        if entry.last_message <= message - 1:
            found = entry
        elif found is not None:
            break
    return found


def _empty(timeline: Timeline, target: Checkpoint) -> Plan:
    snapshot = timeline.snapshot
    now = timeline.projection(None)
    return Plan(
        kind=PlanKind.ROLLBACK,
        title=f"Roll back to {_name(target)}",
        task_id=snapshot.task.task_id,
        generation=snapshot.generation,
        before=now,
        after=now,
        steps=(),
        effects=Effects(),
        refusal=refusal(timeline),
        settings={"ui_index": target.ui_index, "ts": target.ts},
    )


def _name(target: Checkpoint) -> str:
    """'checkpoint after request 10', 'message 20'."""
    title = target.title[:1].lower() + target.title[1:]
    return (
        title
        if target.request is None or title.startswith("message")
        else f"{title} after {request_name(target.request)}"
    )


def _plan(timeline: Timeline, target: Checkpoint, keep: int) -> Plan:
    snapshot = timeline.snapshot
    plan = _empty(timeline, target)
    if not snapshot.has_messages:
        return plan
    stored = len(snapshot.messages)
    keep = min(keep, stored)
    behind = snapshot.ui[target.ui_index + 1 :]
    if keep == stored and all(entry.kind == "deleted_api_reqs" for entry in behind):
        return replace(plan, refusal=plan.refusal or "This is the newest point: there is nothing to take back.")
    if keep == 0:
        return replace(plan, refusal=plan.refusal or "This point lies before the first message; nothing would be left.")
    try:
        judged = tuple(judge_updates(timeline, target, keep))
        removed = [snapshot.ui_items[i] for i in range(target.ui_index + 1, len(snapshot.ui_items))]
        totals = usage_totals(removed)
        edited = edited_after(removed, target.ts, snapshot.metadata)
    except BrokenInputError as err:
        words = f"A later entry of ui_messages.json is damaged, so the totals cannot be made: {err.sentence}"
        return replace(plan, refusal=words)
    history = history_of(item.update for item in judged if item.holds)
    gone = tuple(item for item in judged if not item.holds)
    target_range = target.deleted_range
    after = project_with(timeline, target_range, history, keep)
    recorded: JsValue = UNDEFINED if target_range is None else [target_range.start, target_range.end]
    entry = totals_entry(totals, 0, keep, recorded)
    keep_ui = target.ui_index + 1
    messages = loaded(snapshot.messages)
    effects = Effects(
        updates_text=history.dump() if gone else None,
        keep_messages=keep if keep < stored else None,
        keep_ui=keep_ui,
        append_ui=(entry,),
        set_range=target_range != snapshot.range_now,
        deleted_range=target_range,
        totals=_totals(timeline, keep_ui, entry),
    )
    return replace(
        plan,
        after=after,
        steps=tuple(_steps(timeline, target, keep, gone, history)),
        effects=effects,
        removed_updates=tuple(item.update for item in gone),
        lost_messages=range(keep, stored),
        lost_requests=range(
            next((r.number for r in timeline.requests if r.ui_index > target.ui_index), len(timeline.requests)),
            len(timeline.requests),
        ),
        lost_checkpoints=tuple(
            point
            for point in snapshot.checkpoints
            if point.ui_index > target.ui_index and point.kind is not CheckpointKind.MESSAGE
        ),
        characters_before=characters(messages, plan.before, timeline.history),
        characters_after=characters(messages, after, history),
        warnings=tuple(_warnings(timeline, edited)),
        differs_from_reference=tuple(_differences(timeline, target, keep, judged)),
    )


def judge_updates(timeline: Timeline, target: Checkpoint, keep: int) -> Iterator[Judged]:
    """Every stored update with whether it holds once only `keep` messages and the target's range remain.

    BrokenInputError where the search for file reads fails.
    """
    kept = Prefix(timeline.snapshot.messages, keep)
    found = find_reads(kept, min(2, keep), ContextHistory())
    newest = {path: places[-1] for path, places in found.by_path.items()}
    at: dict[tuple[int, int], list[ReadPlace]] = {}
    for places in found.by_path.values():
        for place in places:
            at.setdefault((place.message, place.block), []).append(place)
    cut = target.deleted_range is not None
    for update in timeline.updates:
        places = at.get((update.message, update.block), [])
        reason = _why_it_goes(update, target, keep, places, newest, cut=cut)
        yield Judged(update, not reason, reason)


def _why_it_goes(
    update: Update, target: Checkpoint, keep: int, places: list[ReadPlace], newest: dict[str, ReadPlace], *, cut: bool
) -> str:
    if (update.timestamp or 0) > target.ts:
        return "later than the point"
    if update.message >= keep:
        return "its message goes"
    if update.edit_type == EditType.NOTICE:
        return "" if cut else "the cut that it tells of is taken back"
    replaced = [place for place in places if place.kind is not EditType.MENTION or place.found not in update.text]
    if not replaced:
        return "the copy of a file that it replaced cannot be told any more"
    for place in replaced:
        if newest[place.path] is place:
            return f"the newer copy of {place.path} goes"
    return ""


def _totals(timeline: Timeline, keep_ui: int, entry: JsonObject) -> Usage | None:
    kept = [timeline.snapshot.ui_items[i] for i in range(keep_ui)]
    try:
        totals = task_totals([*kept, entry])
    except BrokenInputError:
        return None
    return Usage(
        totals.tokens_in, totals.tokens_out, totals.cache_writes or 0, totals.cache_reads or 0, float(totals.cost)
    )


def _steps(
    timeline: Timeline, target: Checkpoint, keep: int, gone: tuple[Judged, ...], history: ContextHistory
) -> Iterator[Step]:
    snapshot = timeline.snapshot
    stored = len(snapshot.messages)
    current: Range | None = snapshot.range_now
    if keep < stored:
        after = project_with(timeline, current, timeline.history, keep)
        lost = f"{keep}–{stored - 1}" if stored - keep > 1 else str(keep)
        sentence = f"Messages {lost} go ({stored - keep}); {plural(keep, 'message')} stay."
        yield Step(
            sentence, after, {"kept": keep, "lost": stored - keep}, tuple((n, None) for n in range(keep, stored))
        )
    if target.deleted_range != current:
        after = project_with(timeline, target.deleted_range, timeline.history, keep)
        before = timeline.project(current, {}, keep).hidden
        back = [number for number in before if number not in after.hidden]
        words = f"; {plural(len(back), 'message')} are sent again" if back else ""
        sentence = f"The deleted range is {span(target.deleted_range)} again, it was {span(current)}{words}."
        yield Step(sentence, after, {"back": len(back)}, tuple((number, None) for number in back))
    if gone:
        after = project_with(timeline, target.deleted_range, history, keep)
        reasons = dict.fromkeys(item.reason for item in gone)
        sentence = f"{plural(len(gone), 'update')} dropped ({'; '.join(list(reasons)[:3])})."
        yield Step(
            sentence, after, {"dropped": len(gone)}, tuple((item.update.message, item.update.block) for item in gone)
        )
    removed = len(snapshot.ui) - target.ui_index - 1
    after = project_with(timeline, target.deleted_range, history, keep)
    yield Step(
        f"{plural(removed, 'timeline entry', 'timeline entries')} go; their usage is kept as one totals entry.",
        after,
        {"entries": removed},
    )


def _warnings(timeline: Timeline, edited: tuple[object, ...]) -> Iterator[str]:
    if edited:
        paths = ", ".join(str(path) for path in edited[:5]) + (" …" if len(edited) > 5 else "")
        yield (
            f"Workspace files are not touched. {plural(len(edited), 'file')} changed after this point and will not "
            f"fit the conversation: {paths}"
        )
    else:
        yield "Workspace files are not touched."
    if timeline.requests and timeline.requests[-1].state == "running":
        yield "The last request is still running, or was left unfinished."


def _differences(timeline: Timeline, target: Checkpoint, keep: int, judged: tuple[Judged, ...]) -> Iterator[str]:
    staying = sum(item.holds for item in judged)
    if staying:
        yield f"The agent's own restore would drop all {len(judged)} updates; here {staying} stay."
    elif not judged and not has_file(timeline, FileRole.UPDATES):
        yield "The agent's own restore would write an empty context_history.json; here none is made."
    index = target.last_message if target.last_message is not None else 0
    if keep != min(max(0, index + 2), len(timeline.snapshot.messages)):
        yield f"The agent can only restore to entries of its timeline; the nearest keeps {index + 2} messages."
    entry = timeline.snapshot.ui_items[target.ui_index] if 0 <= target.ui_index < len(timeline.snapshot.ui) else None
    first = next((e for e in timeline.snapshot.ui if e.ts == target.ts), None)
    if is_object(entry) and first is not None and first.index != target.ui_index:
        yield "Another entry has the same time; the agent's own restore would go to that one."
