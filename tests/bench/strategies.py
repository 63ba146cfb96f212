"""The strategy lab without a window: matrix, single steps, replay, and how replay grows with the requests."""

from __future__ import annotations

import time

from ctxviewer.engine.matrix import Choice, all_choices, matrix
from ctxviewer.engine.replay import replay
from ctxviewer.engine.replay_check import replay_check
from ctxviewer.engine.state import state_at
from ctxviewer.engine.stepper import Stepper
from ctxviewer.engine.strategies import STRATEGIES, Facts, strategy
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from tests.bench.engine import best_of
from tests.bench.generate import BenchTask, bench_task
from tests.bench.table import Row, percentile

CURVE = (500, 1_000, 2_000, 4_000)
MESSAGES_A_REQUEST = 5
CUTTING = ("decide", "optimise", "half", "subagent", "sage-prune", "sage-compact")


def _timeline(task: BenchTask) -> Timeline:
    return Timeline(registry.read(registry.open_path(task.directory)[0]))


def measure_strategies(task: BenchTask) -> list[Row]:
    """The matrix of all strategies cold, every step of the longest plan, each strategy over all requests."""
    timeline = _timeline(task)
    now = state_at(timeline, None)
    taken = best_of(lambda: matrix(now), 3)
    rows = [Row("matrix of all strategies", taken, "s", 1.5, f"{len(STRATEGIES)} strategies, messages decoded anew")]
    return [*rows, *_steps(timeline), *_replays(timeline)]


def _steps(timeline: Timeline) -> list[Row]:
    """Every message goes one by one: the longest plan there is, on a history of which nothing is hidden."""
    whole = state_at(timeline, 0)
    widest = type(whole)(timeline, 0, len(timeline.snapshot.messages), None, whole.history, None, None, None)
    plan = strategy("sage-prune").plan(widest, {"always": True, "recent": 0, "threshold": 0}, window=1)
    stepper, times = Stepper(plan), []
    while not stepper.at_end:
        start = time.perf_counter()
        stepper = stepper.to(stepper.position + 97)
        _ = stepper.projection, stepper.sentence, stepper.touched
        times.append((time.perf_counter() - start) * 1000)
    detail = f"{len(plan.steps):,} steps, every 97th; the engine's share of the 16 ms to the screen"
    return [Row("a single step, p95", percentile(times, 0.95), "ms", 8, detail)]


def _replays(timeline: Timeline) -> list[Row]:
    facts = Facts(timeline)
    facts.read(len(timeline.snapshot.messages))
    rows = []
    for choice in all_choices():
        start = time.perf_counter()
        (found,) = replay(timeline, [choice], facts=facts)
        taken = time.perf_counter() - start
        detail = f"{len(found.rows):,} requests, {len(found.events):,} events"
        rows.append(Row(f"replay {choice.strategy.key}", taken, "s", 10, detail))
    start = time.perf_counter()
    found = replay_check(timeline, facts=facts)
    rows.append(Row("replay check", time.perf_counter() - start, "s", 10, f"{len(found.steps)} steps"))
    return rows


def measure_curve(_: BenchTask) -> list[Row]:
    """Replay over tasks of growing length; every request adds as many messages. Linear cost is a ratio of 1."""
    known: dict[str, list[float]] = {key: [] for key in CUTTING}
    for requests in CURVE:
        timeline = _timeline(bench_task(MESSAGES_A_REQUEST * requests, requests, requests / 100))
        facts = Facts(timeline)
        facts.read(len(timeline.snapshot.messages))
        for key in CUTTING:
            choice = Choice(strategy(key))
            known[key].append(best_of(lambda choice=choice: replay(timeline, [choice], facts=facts)))  # noqa: B023
    rows = []
    for key, times in known.items():
        shown = ", ".join(f"{requests:,}: {taken:.2f} s" for requests, taken in zip(CURVE, times, strict=True))
        growth = times[-1] / CURVE[-1] / (times[0] / CURVE[0])
        rows.append(Row(f"replay {key}, a request at 4,000 ÷ at 500", growth, "×", 3, shown))
    return rows
