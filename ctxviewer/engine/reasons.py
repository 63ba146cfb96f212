"""The words of explanations: what was compared, what a decision did, what stands behind each kind of event."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ctxviewer.domain.json import as_text, is_object
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Request, RequestState
from ctxviewer.engine.cline.moments import role_of
from ctxviewer.engine.cline.optimize import ENOUGH, Optimization
from ctxviewer.engine.cline.prepare import Decision, Verdict
from ctxviewer.engine.cline.truncation import Keep, resume_index
from ctxviewer.engine.cline.window import WindowInfo
from ctxviewer.engine.events import Event, EventKind
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, percent, plural, request_name, span

SUMMARY_MARK = b"summarize_task"
"""Stands in the message of a request that asks the model for a summary instead of being cut (auto-condense)."""
SEARCHED = 2_000_000
"""Messages of more bytes are not searched for it."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one event came about."""

    sentences: tuple[str, ...]
    doubts: tuple[str, ...] = ()
    """What does not fit the rules."""
    keep: Keep | None = None
    """How much the rules keep in such a case; None where the limit decides, and for a rollback."""


def limit_words(info: WindowInfo, source: str = "") -> str:
    """'160,000 (window 200,000 − 40,000; from the model table)'; the last part only with a `source`."""
    reserve = info.window - info.limit
    words = f"window {grouped(info.window)} − {grouped(reserve)}"
    return f"{grouped(info.limit)} ({words}; {source})" if source else f"{grouped(info.limit)} ({words})"


def decision_sentences(decision: Decision, length: int) -> list[str]:
    """The stages of a decision on a history of `length` messages, one sentence each."""
    sentences = []
    if decision.optimization is not None:
        sentences.append(optimization_sentence(decision.optimization))
    if decision.verdict is Verdict.TRUNCATED and decision.range_after is not None:
        sentences.append(_cut_sentence(decision, length))
        if decision.notice_added:
            sentences.append("The truncation notice was put on message 1.")
    return sentences


def optimization_sentence(optimization: Optimization) -> str:
    """What replacing older reads did, with the savings and the verdict."""
    if not optimization.changed:
        return "No file is in the conversation twice, so there was nothing to replace and a cut was needed."
    words = replaced_words(optimization)
    if optimization.characters is None:
        return f"{words}."
    verdict = (
        f"less than {percent(ENOUGH)}, so a cut was needed as well"
        if optimization.need_to_truncate
        else f"at least {percent(ENOUGH)}, so no cut was needed"
    )
    return f"{words}, {verdict}."


def replaced_words(optimization: Optimization) -> str:
    """'7 older copies of 2 files replaced: saved 12 % (4,000 of 33,000 characters)'."""
    files = len({read.path for read in optimization.replaced})
    copies = plural(len(optimization.replaced), "older copy", "older copies")
    characters = optimization.characters
    if characters is None:
        return f"{copies} of {plural(files, 'file')} replaced"
    saved = characters.saved if isinstance(characters.saved, (int, float)) else 0
    total = characters.total if isinstance(characters.total, (int, float)) else 0
    return (
        f"{copies} of {plural(files, 'file')} replaced: saved {percent(characters.share)} ({grouped(saved)} of "
        f"{grouped(total)} characters)"
    )


def _cut_sentence(decision: Decision, length: int) -> str:
    after = decision.range_after
    rest = length - resume_index(decision.range_before)
    if decision.keep is Keep.QUARTER:
        why = "half of the total is still above the limit, so three quarters of the rest go"
    else:
        why = "half of the total is not above the limit, so half of the rest goes"
    if after is None or after.is_empty:
        return (
            f"{why.capitalize()}; with {plural(rest, 'message')} left there was nothing to take (range {span(after)})."
        )
    fresh = Range(resume_index(decision.range_before), after.end)
    if fresh.is_empty:
        return f"{why.capitalize()}; with {plural(rest, 'message')} left there was nothing to take."
    whole = "" if fresh.start == after.start else f"; the deleted range is then {after}"
    return f"{why.capitalize()}: messages {fresh} ({fresh.length} of {rest}){whole}."


def reason_of(timeline: Timeline, event: Event) -> Reason:
    """Why an event came about that the limit does not decide; just its sentence for the others."""
    match event.kind:
        case EventKind.ROLLBACK:
            return _rollback(timeline, event)
        case EventKind.FORCED_TRUNCATE:
            return _forced(timeline, event)
        case EventKind.CONDENSE:
            return _condense(timeline, event)
        case EventKind.SUMMARIZE:
            return _summarize(timeline, event)
        case EventKind.TRUNCATE | EventKind.OPTIMIZE:
            return Reason((f"{event.sentence}.",))


def keep_of(event: Event, expected: Keep | None) -> str:
    """How much a cut kept: what the rules expect, if the recorded range fits it; else all modes that it fits."""
    return str(expected) if expected is not None and str(expected) in event.keep.split(" or ") else event.keep


def _rollback(timeline: Timeline, event: Event) -> Reason:
    sentences = [f"{event.sentence}."]
    used = _removed_tokens(timeline, event)
    if used is not None:
        sentences.append(f"The requests that went with it had used {grouped(used)} tokens (reported).")
    if not timeline.updates_at(event.request):
        sentences.append("No update is in force any more: the agent's restore empties context_history.json.")
    doubts: list[str] = []
    earlier = {entry.deleted_range for entry in timeline.snapshot.ui[: max(event.ui_index, 0)]}
    if event.ui_index >= 0 and event.range_after not in earlier:
        doubts.append(
            f"A restore puts back the range of the entry that it goes to, but no entry that is left has "
            f"{span(event.range_after)}."
        )
    return Reason(tuple(sentences), tuple(doubts))


def _removed_tokens(timeline: Timeline, event: Event) -> float | None:
    """What the entry of a rollback says that the removed requests used."""
    snapshot = timeline.snapshot
    if not 0 <= event.ui_index < len(snapshot.ui) or snapshot.ui[event.ui_index].kind != "deleted_api_reqs":
        return None
    item = snapshot.ui_items[event.ui_index]
    try:
        found = json.loads(as_text(item.get("text"))) if is_object(item) else None
    except (ValueError, RecursionError):
        return None
    if not is_object(found):
        return None
    keys = ("tokensIn", "tokensOut", "cacheWrites", "cacheReads")
    values = [found.get(key) for key in keys]
    return float(sum(value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)))


def _forced(timeline: Timeline, event: Event) -> Reason:
    failure = _refusal(timeline, event)
    said = f": {failure}" if failure else ""
    sentences = [
        f"The provider refused the request as too large{said}.",
        "The agent then cuts and tries again, whatever the limit: it keeps a quarter.",
        f"{event.sentence}.",
        *_notices(event),
    ]
    doubts: list[str] = []
    if event.keep and str(Keep.QUARTER) not in event.keep.split(" or "):
        doubts.append(f"After a refusal a quarter is kept; the recorded range fits {event.keep}.")
    return Reason(tuple(sentences), tuple(doubts), Keep.QUARTER)


def _refusal(timeline: Timeline, event: Event) -> str:
    """What the provider answered, where the timeline keeps it: at the request itself or the one before."""
    last = len(timeline.requests) - 1
    here = last if event.request is None else event.request
    for number in (here, here - 1):
        if 0 <= number <= last and timeline.requests[number].failure:
            words = " ".join(timeline.requests[number].failure.split())
            return words if len(words) <= 200 else words[:199] + "…"
    return ""


def _condense(timeline: Timeline, event: Event) -> Reason:
    answered = role_of(timeline.snapshot, event.length - 1) == "assistant"
    rule = Keep.LAST_TWO if answered else Keep.NONE
    last = "is the assistant's, so the last two stay" if answered else "is not the assistant's, so none stays"
    sentences = [
        "The user accepted a summary of the conversation.",
        f"The last of {plural(event.length, 'message')} {last} ({rule}).",
        f"{event.sentence}.",
        *_notices(event),
    ]
    doubts: list[str] = []
    if event.keep and str(rule) not in event.keep.split(" or "):
        doubts.append(f"By the rules it would be {rule}; the recorded range fits {event.keep}.")
    return Reason(tuple(sentences), tuple(doubts), rule)


def _summarize(timeline: Timeline, event: Event) -> Reason:
    before = len(timeline.requests) if event.request is None else event.request
    asked = f" {request_name(before - 1)} asked the model for" if before else " it was asked for"
    sentences = [
        f"Auto-condense: the summary that{asked} takes the place of what was said so far (none).",
        f"{event.sentence}.",
        *_notices(event),
    ]
    doubts: list[str] = []
    fitting = event.keep.split(" or ") if event.keep else []
    if fitting and not {str(Keep.NONE), str(Keep.LAST_TWO)} & set(fitting):
        doubts.append(f"A summary leaves none of the earlier messages; the recorded range fits {event.keep}.")
    return Reason(tuple(sentences), tuple(doubts), Keep.NONE)


def _notices(event: Event) -> Iterator[str]:
    messages = {update.message for update in event.updates}
    if 1 in messages:
        yield "The truncation notice was put on message 1."
    if 0 in messages:
        yield "The task text in message 0 was replaced by a notice."


def asks_for_summary(timeline: Timeline, number: int) -> bool:
    """Whether the own message of a request asks the model for a summary (auto-condense)."""
    message = timeline.moments[number].until - 1
    log = timeline.snapshot.messages
    if not 0 <= message < len(log) or log.byte_size(message) > SEARCHED:
        return False
    raw = log.raw(message)
    return SUMMARY_MARK in raw and b"explicit_instructions" in raw


def ending(request: Request) -> tuple[str, ...]:
    """How a request ended, where that is not simply done."""
    if request.state is RequestState.RUNNING:
        return ("The request is still running, or was left unfinished.",)
    if request.state in {RequestState.CANCELLED, RequestState.FAILED}:
        words = "was cancelled" if request.state is RequestState.CANCELLED else "failed"
        return (f"The request {words}: {request.failure}." if request.failure else f"The request {words}.",)
    return ()
