"""Questions about the past of the whole task: when, what, why, what was lost, and the difference of neighbours."""

from __future__ import annotations

import time
from collections.abc import Callable

from ctxviewer.engine.contents import Contents
from ctxviewer.engine.difference import difference_of
from ctxviewer.engine.facts import FileQuestion, MessageQuestion, Question, TextQuestion, track
from ctxviewer.engine.losses import find_losses
from ctxviewer.engine.past import Past
from ctxviewer.engine.presence import Presence
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from tests.bench.engine import best_of
from tests.bench.generate import BenchTask
from tests.bench.table import Row, percentile

QUESTIONS: dict[str, Question] = {
    "words that are nowhere": TextQuestion("no such words anywhere"),
    "words in half of all messages": TextQuestion("ACT MODE"),
    "the same without regard to case": TextQuestion("act mode", ignore_case=True),
    "words beyond ASCII": TextQuestion("登录表单"),
    "a pattern": TextQuestion(r"run \d+7\b", regex=True),
    "a message": MessageQuestion(4),
}


def measure_questions(task: BenchTask) -> list[Row]:
    """Every question from nothing: when messages were sent is worked out anew each time."""
    (ref,) = registry.open_path(task.directory)
    timeline = Timeline(registry.read(ref))
    size = f"{len(timeline.snapshot.messages):,} messages, {len(timeline.requests):,} requests"
    rows = [Row("when every message was sent", best_of(lambda: Presence(timeline)) * 1000, "ms", detail=size)]
    for name, question in QUESTIONS.items():
        taken = best_of(_asker(timeline, question), 3)
        fact = track(Past(timeline), question)
        rows.append(Row(f"track {name}", taken, "s", 1, f"{len(fact.carriers):,} places, {len(fact.turns)} turns"))
    rows.append(Row("read what messages hold", best_of(lambda: Contents(timeline.snapshot.messages), 3), "s"))
    past = Past(timeline)
    path = next(iter(past.contents().files))
    rows.append(Row("track a file, contents known", best_of(lambda: track(past, FileQuestion(path))) * 1000, "ms"))
    timeline.find_repairs()
    find_losses(past, None)
    rows.append(Row("losses, contents known", best_of(lambda: find_losses(past, None), 3) * 1000, "ms"))
    return [*rows, *_stepping(timeline)]


def _asker(timeline: Timeline, question: Question) -> Callable[[], object]:
    return lambda: track(Past(timeline), question)


def _stepping(timeline: Timeline) -> list[Row]:
    steps = []
    for number in range(1, len(timeline.requests)):
        start = time.perf_counter()
        difference_of(timeline, number - 1, number)
        steps.append((time.perf_counter() - start) * 1000)
    detail = f"median {percentile(steps, 0.5):.1f} ms, slowest {max(steps):.0f} ms (files were replaced)"
    return [Row("difference to the request before, p95", percentile(steps, 0.95), "ms", 50, detail)]
