"""The strategy lab in a whole window: single steps to the redrawn screen, the matrix while the window is painted."""

from __future__ import annotations

import random
import time

from PySide6.QtWidgets import QApplication

from tests.bench.generate import BenchTask
from tests.bench.table import Row
from tests.bench.window import Bench, spread, window_on

STEPS = 200
RUNS = 3


def measure_lab(task: BenchTask) -> list[Row]:
    """Steps of the longest plan there is, on by one and to any place; then all strategies side by side."""
    with window_on(task) as bench:
        bench.window.show_panel("lab")
        bench.settle()
        return [*_steps(bench), *_matrix(bench)]


def _steps(bench: Bench) -> list[Row]:
    chance, lab = random.Random(5), bench.desk.lab
    lab.choosing.set_strategy("sage-prune")
    for setting in lab.choosing.strategy.settings:
        wanted = {"always": True, "recent": 1, "threshold": 0.0}
        if setting.name in wanted:
            lab.choosing.set_value(setting, wanted[setting.name])
    lab.choosing.set_window("1")
    bench.pump(lambda: lab.stepping.stepper is not None)
    length = lab.stepping.stepper.length
    lab.stepping.go_to(length // 2)
    bench.settle()
    on = [bench.painted_after(lab.stepping.step) for _ in range(STEPS)]
    places = [chance.randrange(1, length // 2) * 2 + number % 2 for number in range(STEPS)]  # never twice the same
    jumps = [bench.painted_after(lambda place=place: lab.stepping.go_to(place)) for place in places]
    lab.choosing.reset()
    bench.session.preview(None)
    bench.settle()
    detail = f" of {length:,}, with list, totals and graph"
    return [
        spread("step of a strategy → redrawn, p95", on, 16, detail),
        spread("jump to any step → redrawn, p95", jumps, 16, detail),
    ]


def _matrix(bench: Bench) -> list[Row]:
    """Each time as if for the first time: nothing of the messages is known."""
    lab, panel = bench.desk.lab, bench.window.panels.lab
    bar, viewport = bench.view.verticalScrollBar(), bench.view.viewport()
    taken, paints = [], []
    for number in range(RUNS):
        panel.show_page(type(panel.page).STEPS)
        bench.settle()
        lab.shelf.forget()
        bench.session.select_request(bench.session.request_count - 1 - number)
        bench.settle()
        lab.shelf.forget()
        request = bench.session.request
        start = time.perf_counter()
        panel.show_page(type(panel.page).COMPARE)
        while lab.comparing.answer.value is None or lab.comparing.answer.value.request != request:
            began = time.perf_counter()
            bar.setValue((bar.value() + 40) % max(1, bar.maximum()))
            viewport.repaint()
            paints.append((time.perf_counter() - began) * 1000)
            QApplication.processEvents()
            time.sleep(max(0, 1 / 60 - (time.perf_counter() - began)))
        taken.append(time.perf_counter() - start)
    detail = f"{len(lab.comparing.answer.value.rows)} strategies, in the window, slowest of {RUNS}"
    return [
        Row("matrix in the window", max(taken), "s", 1.5, detail),
        spread("paint while the matrix is worked out, p95", paints, 16),
    ]
