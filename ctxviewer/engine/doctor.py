"""What is odd about a task once its rules are known: pairs that do not match, updates that hit the wrong block.

What a file by itself shows is found while reading (`Snapshot.findings`); here are the findings that need the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.json import Json, is_object
from ctxviewer.domain.log import JsonLog
from ctxviewer.domain.projection import BlockChange, Projection, RepairKind
from ctxviewer.domain.request import CheckpointKind
from ctxviewer.engine.events import EventKind
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import plural

MESSAGES, UPDATES, TIMELINE = ("api_conversation_history.json", "context_history.json", "ui_messages.json")
_SURROGATE = re.compile(rb"\\u[dD][89abAB]|\\u[dD][c-fC-F]")


def _never() -> None:
    return None


def diagnose(timeline: Timeline, check: Callable[[], None] = _never) -> tuple[Finding, ...]:
    """Every finding of a task: those of the reading, then those of the rules. Worst first, stable otherwise.

    Decodes messages with tool calls, so not for the GUI thread; `check` is called now and then and may raise to cancel.
    """
    timeline.find_repairs(check)
    found = [*timeline.snapshot.findings]
    if timeline.snapshot.has_messages:
        found.extend(_pairs(timeline))
        found.extend(_orphan_results(timeline.snapshot.messages, check))
        found.extend(_surrogates(timeline.snapshot.messages, check))
        found.extend(_shifted_updates(timeline))
        found.extend(_stripped_summary(timeline))
        found.extend(_first_request(timeline))
    found.extend(_missing_notice(timeline))
    found.extend(_checkpoints(timeline))
    order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    return tuple(sorted(found, key=lambda finding: order.index(finding.severity)))


def _pairs(timeline: Timeline) -> Iterator[Finding]:
    """Calls without a result and results without a call, between messages that are sent now."""
    repairs = timeline.projection(None).repairs
    for kind, code, words, advice in (
        (
            RepairKind.ADDED,
            "call-without-result",
            "has no result for a tool call before it",
            "The model is sent a made-up result that says that it is missing.",
        ),
        (
            RepairKind.DROPPED,
            "result-dropped",
            "holds a result for which there is no call",
            "The model does not see that result.",
        ),
        (
            RepairKind.WORDS_LOST,
            "words-replaced",
            "is plain text behind a tool call",
            "The model gets a made-up result instead of the user's words, and the agent's memory loses them for good.",
        ),
    ):
        hit = [repair.message for repair in repairs if repair.kind is kind]
        if hit:
            where = plural(len(hit), "message")
            severity = Severity.WARNING if kind is RepairKind.WORDS_LOST else Severity.INFO
            sentence = f"{where} in {MESSAGES}: message {hit[0]} {words}."
            yield Finding(code, severity, sentence, MESSAGES, f"message {hit[0]}", advice, message=hit[0])


def _orphan_results(messages: JsonLog, check: Callable[[], None]) -> Iterator[Finding]:
    """Results whose previous message has no tool call at all: no rule mends them, providers refuse them."""
    hits: list[int] = []
    for index in range(1, len(messages)):
        if index % 64 == 0:
            check()
        if b'"tool_result"' in messages.raw(index) and b'"tool_use"' not in messages.raw(index - 1):
            content = _content(messages[index])
            if any(is_object(block) and block.get("type") == "tool_result" for block in content):
                hits.append(index)
    if hits:
        sentence = (
            f"{plural(len(hits), 'message')} with a tool result and no tool call before, first message {hits[0]}."
        )
        advice = "It is sent as it is; most providers refuse such a request."
        yield Finding(
            "result-without-call", Severity.WARNING, sentence, MESSAGES, f"message {hits[0]}", advice, hits[0]
        )


def _content(message: Json) -> list[Json]:
    content = message.get("content") if is_object(message) else None
    return content if isinstance(content, list) else []


def _surrogates(messages: JsonLog, check: Callable[[], None]) -> Iterator[Finding]:
    hits: list[int] = []
    for index in range(len(messages)):
        if index % 64 == 0:
            check()
        if _SURROGATE.search(messages.raw(index)) and _has_lone(messages[index]):
            hits.append(index)
    if hits:
        sentence = f"{plural(len(hits), 'message')} with half of an emoji or another cut character, first {hits[0]}."
        advice = "Text was cut inside a character. It is kept as it is; some providers refuse it."
        yield Finding("lone-surrogate", Severity.INFO, sentence, MESSAGES, f"message {hits[0]}", advice, hits[0])


def _has_lone(value: Json) -> bool:
    if isinstance(value, str):
        return any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, list):
        return any(_has_lone(item) for item in value)
    return isinstance(value, dict) and any(_has_lone(item) for pair in value.items() for item in pair)


def _cuts(timeline: Timeline) -> Iterator[tuple[int | None, Projection]]:
    """The present, and the first request after each change of the range."""
    yield None, timeline.projection(None)
    seen: set[int] = set()
    for event in timeline.events:
        if event.range_after is not None and event.request is not None and event.request not in seen:
            seen.add(event.request)
            yield event.request, timeline.projection(event.request)


def _shifted_updates(timeline: Timeline) -> Iterator[Finding]:
    """Updates on the first message after a cut whose results were taken out before the updates were put in."""
    told: set[int] = set()
    for request, projection in _cuts(timeline):
        number = projection.resume
        if not projection.hidden or number >= projection.until or number in told:
            continue
        blocks = timeline.blocks(projection, number)
        if not any(block.change is BlockChange.REMOVED for block in blocks):
            continue
        wrong = [
            block
            for block in blocks
            if block.update is not None and block.stored is not None and block.stored.index != block.update.block
        ]
        if wrong:
            told.add(number)
            sentence = (
                f"In message {number} an update meant for block {wrong[0].update.block if wrong[0].update else 0} "
                f"replaces block {wrong[0].stored.index if wrong[0].stored else 0}, because tool results before it "
                "are taken out after the cut."
            )
            advice = "The model does not see the words that stand there. Rolling back before the cut brings them back."
            place = f"message {number}"
            yield Finding("update-shifted", Severity.WARNING, sentence, UPDATES, place, advice, number, request)


def _stripped_summary(timeline: Timeline) -> Iterator[Finding]:
    for event in timeline.events:
        if event.kind not in {EventKind.CONDENSE, EventKind.SUMMARIZE} or event.request is None:
            continue
        projection = timeline.projection(event.request)
        lost = [repair for repair in projection.repairs if repair.kind is RepairKind.STRIPPED]
        if lost:
            number = lost[0].message
            sentence = (
                f"The summary of request {event.request + 1} is a tool result that is taken out of message {number}."
            )
            advice = "The model goes on without the summary. Use text instead of native tools, or restate what matters."
            place = f"message {number}"
            yield Finding(
                "summary-stripped", Severity.WARNING, sentence, MESSAGES, place, advice, number, event.request
            )


def _first_request(timeline: Timeline) -> Iterator[Finding]:
    for number, moment in enumerate(timeline.moments[:2]):
        deleted = moment.deleted_range
        if deleted is not None and deleted.is_empty and timeline.requests[number].failure:
            sentence = f"Request {number + 1} failed for its size when there was nothing to cut (range {deleted})."
            advice = "The task itself is larger than the window. Start with less text, or a model with a larger window."
            yield Finding("first-request-failed", Severity.WARNING, sentence, TIMELINE, "", advice, None, number)
            return


def _missing_notice(timeline: Timeline) -> Iterator[Finding]:
    """A cut without the notice on message 1: updates were lost, mostly by the agent's own restore."""
    deleted = timeline.snapshot.range_now
    if deleted is None or deleted.is_empty or not timeline.snapshot.has_messages:
        return
    if timeline.history.entry(1) is not None:
        return
    restored = any(entry.kind == "deleted_api_reqs" for entry in timeline.snapshot.ui)
    code = "updates-lost-by-restore" if restored else "cut-without-notice"
    why = "A restore by the agent wipes every update." if restored else "context_history.json is missing or was lost."
    sentence = f"Messages {deleted} are not sent, but no notice on message 1 tells the model so."
    yield Finding(code, Severity.WARNING, sentence, UPDATES, "message 1", f"{why} The notice can be put back.", 1)


def _checkpoints(timeline: Timeline) -> Iterator[Finding]:
    points = [point for point in timeline.snapshot.checkpoints if point.kind is CheckpointKind.CHECKPOINT]
    without = [point for point in points if not point.hash]
    if without:
        verb = "has" if len(without) == 1 else "have"
        sentence = f"{len(without)} of {plural(len(points), 'checkpoint')} {verb} no commit of the workspace."
        advice = "The conversation can be rolled back to them, the agent cannot bring back the files."
        yield Finding(
            "checkpoint-without-hash", Severity.INFO, sentence, TIMELINE, f"entry {without[0].ui_index}", advice
        )


def dangling(timeline: Timeline) -> tuple[tuple[int, int], ...]:
    """(message, block) of updates in force for which there is no block. Decodes the messages that have updates."""
    messages = timeline.snapshot.messages
    return tuple(
        place
        for place in timeline.history.in_force()
        if place[0] >= len(messages) or place[1] >= max(1, len(_content(messages[place[0]])))
    )
