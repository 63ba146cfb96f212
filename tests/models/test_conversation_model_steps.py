"""Stepping through the requests of whole tasks shows, row by row, what a fresh look at each request shows."""

import random
from pathlib import Path

import pytest

from ctxviewer import resources
from ctxviewer.domain.projection import Standing
from ctxviewer.domain.view import TextMode
from ctxviewer.engine.timeline import Timeline
from ctxviewer.models.conversation import ConversationModel
from ctxviewer.models.segments import Style
from ctxviewer.sources import registry

SHARED = Path(__file__).resolve().parents[3] / "shared" / "tasks" / "cline" / "tasks"
TASKS = [*sorted(resources.path("samples", "tasks").iterdir()), *(sorted(SHARED.iterdir()) if SHARED.is_dir() else ())]


def timeline_of(folder):
    snapshot = registry.read(registry.open_path(folder)[0], previous=None, generation=1, window_override=None)
    return Timeline(snapshot)


def looks(model, rows):
    return [(model.facts(row).accessible, model.body(row), model.stretch_of(row)) for row in rows]


@pytest.mark.parametrize("folder", TASKS, ids=lambda folder: folder.name)
def test_a_step_forgets_all_that_changed(folder):
    timeline = timeline_of(folder)
    if not timeline.snapshot.has_messages:
        pytest.skip("its messages cannot be read")
    rand = random.Random(folder.name)
    mode = rand.choice((TextMode.AS_SENT, TextMode.DIFFERENCE))
    model = ConversationModel()
    model.set_timeline(timeline)
    model.set_text_mode(mode)
    requests = len(timeline.requests)
    start = rand.randrange(max(1, requests - 8))
    near = range(start, min(requests, start + 8))
    count = model.rowCount()
    rows = sorted({*range(min(6, count)), *rand.sample(range(count), min(60, count))})
    first = range(min(2, requests))
    for number in (
        None,
        *first,
        *reversed(first),
        *near,
        *reversed(near),
        *(rand.randrange(requests) for _ in range(6)),
    ):
        projection = timeline.projection(number)
        model.set_projection(projection)
        fresh = ConversationModel()
        fresh.set_timeline(timeline)
        fresh.set_text_mode(mode)
        fresh.set_projection(projection)
        assert looks(model, rows) == looks(fresh, rows), number
        assert model.stretches == fresh.stretches


def texts_of(content):
    """All texts of a message as sent, in order, as the engine prints them."""
    if isinstance(content, str):
        return [content]
    texts = []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") == "text":
            texts.append(block.get("text"))
        elif isinstance(block, dict) and block.get("type") == "tool_result":
            texts += texts_of(block.get("content"))
    return texts


@pytest.mark.parametrize("folder", TASKS, ids=lambda folder: folder.name)
def test_what_is_shown_as_sent_is_what_the_engine_sends(folder):
    timeline = timeline_of(folder)
    model = ConversationModel()
    model.set_timeline(timeline)
    for number in (None, *range(len(timeline.requests))):
        projection = timeline.projection(number)
        if projection.repeated:
            continue
        model.set_projection(projection)
        rows = [row for row in range(model.rowCount()) if model.standing(row) is Standing.SENT]
        sent = timeline.sent(number)
        assert len(rows) == len(sent)
        for row, message in zip(rows, sent, strict=True):
            shown = [part.text for part in model.body(row).sections if part.style is not Style.REMOVED]
            for text in texts_of(message.get("content")) if isinstance(message, dict) else []:
                assert any(text in part for part in shown), (number, row)
