"""Questions about recorded tasks: presence, facts, differences and losses against what every request really sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxviewer import resources
from ctxviewer.domain.message import parse_message
from ctxviewer.domain.projection import Standing
from ctxviewer.engine.block_texts import block_texts
from ctxviewer.engine.difference import RowKind, difference_of
from ctxviewer.engine.explain import explain_event
from ctxviewer.engine.facts import FileQuestion, Sending, TextQuestion, track
from ctxviewer.engine.losses import LossKind, find_losses
from ctxviewer.engine.past import Past
from ctxviewer.engine.spans import covers
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry

PROJECT = Path(__file__).parents[3]
SHARED = PROJECT.parent / "shared" / "tasks" / "cline" / "tasks"
FOLDERS = [
    *resources.path("samples", "tasks").iterdir(),
    *(PROJECT / "tests" / "data" / "tasks" / "cline" / "tasks").iterdir(),
    *(SHARED.iterdir() if SHARED.is_dir() else ()),
]
TASKS = sorted({folder.name: folder for folder in FOLDERS if folder.is_dir()}.values(), key=lambda folder: folder.name)


@pytest.fixture(params=TASKS, ids=lambda folder: folder.name)
def timeline(request) -> Timeline:
    (ref,) = registry.open_path(request.param)
    found = Timeline(registry.read(ref))
    if not found.snapshot.has_messages:
        pytest.skip("no history")
    return found


def some_requests(timeline: Timeline) -> list[int]:
    """The requests of all events, those before them, and a few more."""
    count = len(timeline.requests)
    near = {
        number
        for event in timeline.events
        if event.request is not None
        for number in (event.request - 1, event.request)
    }
    return sorted(number for number in near | set(range(0, count, max(1, count // 6))) if 0 <= number < count)


def test_presence_is_what_each_request_sends(timeline):
    presence = Past(timeline).presence()
    for number in [*some_requests(timeline), None]:
        projection = timeline.projection(number)
        column = presence.column(number)
        for message in range(len(timeline.snapshot.messages)):
            sent = projection.standing(message) is Standing.SENT
            assert presence.is_sent(message, column) == sent == covers(presence.spans(message), column)
            form = presence.form_at(message, column)
            if form is not None and not presence.untouched(form):
                assert presence.blocks(form) == timeline.blocks(projection, message)


def test_words_are_tracked_as_they_were_sent(timeline):
    texts = [
        block.text
        for number in range(0, len(timeline.snapshot.messages), max(1, len(timeline.snapshot.messages) // 5))
        for block in timeline.message(number).blocks[:1]
    ]
    needles = [text[len(text) // 3 :][:40] for text in texts if len(text) > 60]
    past = Past(timeline)
    for needle in needles:
        if not needle.strip():
            continue
        fact = track(past, TextQuestion(needle))
        assert fact.carriers or fact.never_sent
        for number in [*some_requests(timeline)[:6], None]:
            found = any(
                needle in text
                for message in timeline.sent(number)
                for block in parse_message(0, message).blocks
                for text in block_texts(block)
            )
            assert (fact.sending(number) is Sending.WHOLE) == found


def test_files_that_left_a_request_are_lost_at_it(timeline):
    past = Past(timeline)
    for event in timeline.events:
        if event.request:
            report = find_losses(past, event.request)
            lost = {loss.title for loss in report.of(LossKind.FILE)}
            for path in past.contents().files:
                fact = track(past, FileQuestion(path))
                gone = any(turn.request == event.request and turn.event is not None for turn in fact.turns)
                if (
                    gone
                    and fact.sending(event.request) is Sending.ABSENT
                    and fact.sending(event.request - 1) is Sending.WHOLE
                ):
                    assert path in lost
    report = find_losses(past, None)
    for loss in report.losses:
        assert loss.score > 0
        assert loss.reasons
        assert loss.why
        if loss.kind is LossKind.FILE:
            projection = timeline.projection(None)
            assert not any(past.holds(projection, place) for place in past.contents().files[loss.title])
        if loss.request is not None and loss.kind is not LossKind.RESULT:
            before = min(loss.request, len(timeline.requests) - 1)
            assert timeline.projection(before).standing(loss.message) is not Standing.LATER


def test_a_difference_adds_up(timeline):
    for number in some_requests(timeline):
        if number:
            found = difference_of(timeline, number - 1, number)
            sent = found.after.sent_count
            kept = found.count(RowKind.SAME, RowKind.REWRITTEN, RowKind.REPAIRED)
            assert kept + found.count(RowKind.ENTERED, RowKind.RETURNED) == sent
            assert kept + found.count(RowKind.LEFT) == found.before.sent_count


def test_every_event_has_an_answer_with_its_range(timeline):
    for event in timeline.events:
        answer = explain_event(timeline, event)
        assert answer.sentences
        if event.request is not None:
            assert event in answer.events
            assert answer.range_after == timeline.moments[event.request].deleted_range
            if event.range_after is not None and not event.range_after.is_empty:
                assert answer.keep


def test_answers_can_be_written_as_json(timeline):
    from ctxviewer.exports.fact_report import fact_json, fact_text
    from ctxviewer.exports.loss_report import losses_json, losses_text
    from ctxviewer.exports.why_report import why_json, why_text

    past = Past(timeline)
    fact = track(past, TextQuestion("a"))
    report = find_losses(past, None)
    for made in (fact_json(fact), losses_json(report), why_json(timeline, None)):
        assert json.dumps(made, allow_nan=False)
    assert fact_text(fact)
    assert losses_text(report)
    assert why_text(timeline, None)
