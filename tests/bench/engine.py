"""Measures without a window, each in its own process so that nothing else is in memory."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from ctxviewer.engine.cline.prepare import decide
from ctxviewer.engine.cline.project import project
from ctxviewer.engine.cline.updates import EMPTY
from ctxviewer.engine.cline.window import Api, window_info
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from tests.bench.generate import WINDOW, BenchTask
from tests.bench.table import Row, percentile


def best_of(work: Callable[[], object], times: int = 5) -> float:
    """Seconds of the quickest run: the one that other programs disturbed least."""
    taken = []
    for _ in range(times):
        gc.collect()
        start = time.perf_counter()
        result = work()
        taken.append(time.perf_counter() - start)
        del result
    return min(taken)


def raw_index(path: Path) -> list[msgspec.Raw]:
    """The baseline of opening: read the file, find where its items begin and end."""
    return msgspec.json.decode(path.read_bytes(), type=list[msgspec.Raw])


def measure_rules(task: BenchTask) -> list[Row]:
    """Optimise, next range and as sent on the whole history, against parsing it once."""
    data = task.api.read_bytes()
    baseline = best_of(lambda: json.loads(data), 3)
    messages = json.loads(data)
    window = window_info(Api(context_window=WINDOW))

    def rules() -> object:
        decision = decide(messages, window, None, EMPTY, total=170_000, timestamp=1)
        return project(messages, decision.range_after, decision.history_after)

    taken = best_of(rules)
    detail = f"{taken * 1000:.0f} ms ÷ json.loads {baseline * 1000:.0f} ms, {len(messages)} messages"
    return [Row("optimise + next range + as sent ÷ json.loads", taken / baseline, "×", 0.6, detail)]


def measure_reading(task: BenchTask) -> list[Row]:
    """What is read before anything can be painted; told, the bar is on the painted rows."""
    baseline = best_of(lambda: raw_index(task.api))
    (ref,) = registry.open_path(task.directory)
    read = best_of(lambda: registry.read(ref), 3)
    snapshot = registry.read(ref)
    timeline = Timeline(snapshot)
    timeline.projection(0)
    steps = []
    for number in range(0, len(timeline.requests), 7):
        start = time.perf_counter()
        timeline.projection(number)
        steps.append((time.perf_counter() - start) * 1000)
    return [
        Row("read file + raw index (baseline)", baseline * 1000, "ms"),
        Row("read the task ÷ (read file + raw index)", read / baseline, "×", detail=f"{read * 1000:.0f} ms"),
        Row("projection of a request, p95", percentile(steps, 0.95), "ms", detail=f"{len(steps)} requests"),
    ]
