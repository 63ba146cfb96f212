"""Measures in a whole window, off the screen: opening, moving, working beside a job, following a live task."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from ctxviewer import app
from ctxviewer.engine.cline.optimize import optimize_file_reads
from ctxviewer.engine.cline.updates import EMPTY
from ctxviewer.sources import registry
from ctxviewer.sources.discover import Found
from ctxviewer.views.conversation import ConversationView
from tests.bench.engine import best_of, raw_index
from tests.bench.generate import BUILD, BenchTask
from tests.bench.table import Row, percentile

SIZE = (1280, 800)
STEPS = 400
PATIENCE_S = 180


class Watch(QObject):
    """Counts the paints of the conversation, and how many rows there were at the last one."""

    def __init__(self, view: ConversationView) -> None:
        super().__init__(view.viewport())
        self._view = view
        self.paints = 0
        self.rows = 0
        view.viewport().installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt calls this
        """Only looks."""
        if event.type() == QEvent.Type.Paint:
            self.paints += 1
            self.rows = 0 if self._view.model is None else self._view.model.rowCount()
        return False


class Bench:
    """A window on nothing yet, shown and quiet."""

    def __init__(self, folder: Path) -> None:
        sys.setswitchinterval(app.SWITCH_INTERVAL)
        self.application = app.make_application()
        self.desk = app.Desk(app.Start(folder), look=lambda _paths: Found((), (), ()))
        self.window = self.desk.window
        self.session = self.desk.session
        self.window.resize(*SIZE)
        self.desk.show()
        # The conversation is loaded after the first paint.
        self.pump(lambda: bool(self.window.findChildren(ConversationView)))
        self.settle()
        self.view = self.window.stage.conversation
        self.watch = Watch(self.view)

    def pump(self, until: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        """Process events until something is so. Raises TimeoutError.

        It sleeps between, as the event loop does: a loop that spins takes the interpreter from the jobs.
        """
        deadline = time.monotonic() + patience_s
        while not until():
            QApplication.processEvents()
            time.sleep(0.0005)
            if time.monotonic() > deadline:
                raise TimeoutError("the window did not come so far")

    def settle(self, quiet_s: float = 0.5) -> None:
        """Wait until no job has run for so long."""
        since = [time.monotonic()]

        def quiet() -> bool:
            if self.desk.runner.jobs or self.desk.discovery.searching:
                since[0] = time.monotonic()
            return time.monotonic() - since[0] > quiet_s

        self.pump(quiet)

    def open(self, directory: Path) -> float:
        """Open a task; seconds until its rows were painted."""
        (ref,) = registry.open_path(directory)
        self.watch.rows = 0
        start = time.perf_counter()
        self.session.open_task(ref)
        self.pump(lambda: self.window.stage.shows_conversation and self.watch.rows > 0)
        return time.perf_counter() - start

    @property
    def rows(self) -> int:
        """Rows of the conversation now."""
        model = self.view.model
        return 0 if model is None else model.rowCount()

    def painted_after(self, work: Callable[[], None]) -> float:
        """Milliseconds of doing something until the conversation is painted."""
        painted = self.watch.paints
        start = time.perf_counter()
        work()
        QApplication.processEvents()
        taken = (time.perf_counter() - start) * 1000
        if self.watch.paints == painted:
            self.pump(lambda: self.watch.paints > painted, 2)
            taken = (time.perf_counter() - start) * 1000
        return taken


@contextmanager
def window_on(task: BenchTask | None) -> Iterator[Bench]:
    """A window, on a task whose tokens are counted already or on none."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        try:
            if task is not None:
                bench.open(task.directory)
                bench.settle()
            yield bench
        finally:
            bench.window.close()
            bench.desk.close()


def resident_bytes() -> int:
    """Resident memory of this process now."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise OSError("no VmRSS")


def measure_opening(task: BenchTask) -> list[Row]:
    """Open to first painted rows against reading and indexing; memory when all is counted."""
    baseline = best_of(lambda: raw_index(task.api))
    size = task.api.stat().st_size
    with window_on(None) as bench:
        empty = resident_bytes()
        taken = []
        for _ in range(5):
            taken.append(bench.open(task.directory))
            bench.session.close_task()
            bench.settle(0.2)
        bench.open(task.directory)
        bench.settle()
        full = resident_bytes()
    open_s = statistics.median(taken)
    detail = (
        f"{open_s * 1000:.0f} ms ÷ {baseline * 1000:.0f} ms, median of {len(taken)}, first {taken[0] * 1000:.0f} ms"
    )
    memory = f"{full / 1e6:.0f} MB ÷ {size / 1e6:.0f} MB, tokens counted; empty window {empty / 1e6:.0f} MB"
    return [
        Row("open to first painted rows ÷ (read file + raw index)", open_s / baseline, "×", 3, detail),
        Row("resident memory ÷ file size", full / size, "×", 3.5, memory),
    ]


def measure_moving(task: BenchTask) -> list[Row]:
    """Wheel, jump and request steps, everything unfolded."""
    chance = random.Random(3)
    with window_on(task) as bench:
        bench.desk.handlers.run("view.unfold")
        bench.settle()
        bar, viewport = bench.view.verticalScrollBar(), bench.view.viewport()
        bar.setValue(bar.maximum() // 3)
        bench.settle(0.2)

        def wheel(step: int) -> None:
            middle = QPointF(viewport.rect().center())
            delta = QPoint(0, 120 if step % 5 == 0 else -120)
            glob = QPointF(viewport.mapToGlobal(middle.toPoint()))
            event = QWheelEvent(
                middle,
                glob,
                QPoint(),
                delta,
                Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier,
                Qt.ScrollPhase.NoScrollPhase,
                False,
            )
            QApplication.sendEvent(viewport, event)

        wheels = [bench.painted_after(lambda step=step: wheel(step)) for step in range(STEPS)]
        jumps = [bench.painted_after(lambda: bar.setValue(chance.randrange(bar.maximum()))) for _ in range(STEPS)]
        count = len(bench.session.timeline.requests)
        numbers = [chance.randrange(count) for _ in range(STEPS // 2)]
        steps = [bench.painted_after(lambda number=number: bench.session.select_request(number)) for number in numbers]
        bench.session.select_request(count // 2)
        bench.settle()
        steps += [bench.painted_after(lambda: bench.session.step_request(1)) for _ in range(STEPS // 2)]
    return [
        spread("wheel step, p95", wheels, 8),
        spread("jump, p95", jumps, 16),
        spread("request step, p95", steps, 16),
    ]


def measure_working(task: BenchTask) -> list[Row]:
    """Scroll and paint sixty times a second while the optimisation runs again and again beside it."""
    with window_on(task) as bench:
        bar, viewport = bench.view.verticalScrollBar(), bench.view.viewport()
        messages, runner = bench.session.snapshot.messages, bench.desk.runner
        running, finished = [False], [0]

        def done(_plan: object) -> None:
            running[0] = False
            finished[0] += 1

        paints = []
        while len(paints) < STEPS or finished[0] < 3:
            if not running[0]:
                running[0] = True
                runner.read(lambda _token: optimize_file_reads(messages, None, EMPTY, 1), done=done)
            start = time.perf_counter()
            bar.setValue((bar.value() + 40) % max(1, bar.maximum()))
            viewport.repaint()
            taken = time.perf_counter() - start
            paints.append(taken * 1000)
            QApplication.processEvents()
            time.sleep(max(0, 1 / 60 - (time.perf_counter() - start)))
        bench.settle()
    return [spread("paint while optimise runs, p95", paints, 16, f", {finished[0]} times over all messages meanwhile")]


def measure_following(task: BenchTask) -> list[Row]:
    """Another program appends a message and renames the file over: until the new row is painted."""
    work = BUILD / f"following-{os.getpid()}"
    copy = BenchTask(work, work / "tasks" / task.directory.name, task.messages, task.requests)
    shutil.copytree(task.root / "tasks", work / "tasks")
    shutil.copytree(task.root / "state", work / "state")
    taken = []
    try:
        with window_on(copy) as bench:
            bar = bench.view.verticalScrollBar()
            data = copy.api.read_bytes()
            for number in range(20):
                bench.settle(0.3)
                bar.setValue(bar.maximum())
                role = "assistant" if bench.rows % 2 else "user"
                message = f'{{"role":"{role}","content":[{{"type":"text","text":"appended {number}"}}]}}'
                data = data[:-1] + b"," + message.encode() + b"]"
                fresh = copy.api.with_suffix(".tmp.1.json")
                with fresh.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())  # else the rename itself waits for the disk, a tenth of a second
                bench.settle(0.3)
                rows = bench.rows
                start = time.perf_counter()
                fresh.replace(copy.api)
                bench.pump(lambda rows=rows: bench.watch.rows > rows)
                taken.append((time.perf_counter() - start) * 1000)
    finally:
        shutil.rmtree(work)
    return [spread("append by rename → painted, p95", taken, 150)]


def spread(name: str, values: list[float], bar: float, more: str = "") -> Row:
    """A row of milliseconds: the 95th part of a hundred against the bar, with median and largest."""
    middle, most = statistics.median(values), max(values)
    detail = f"median {middle:.1f}, max {most:.1f}, {len(values)} times{more}"
    return Row(name, percentile(values, 0.95), "ms", bar, detail)
