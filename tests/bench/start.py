"""Process start to the first paint of the empty window, in fresh processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from tests.bench.generate import PROJECT, BenchTask
from tests.bench.table import Row

TIMES = 7

CHILD = """
import resource, sys, time
from pathlib import Path
from ctxviewer import app

def look(paths):
    from ctxviewer.sources.discover import Found
    return Found((), (), ())

sys.setswitchinterval(app.SWITCH_INTERVAL)
application = app.make_application()
desk = app.Desk(app.Start(Path(sys.argv[1])), look=look)
painted = []
def shown():
    painted.append(time.monotonic_ns())
    application.quit()

desk.window.first_shown.connect(shown)
desk.show()
application.exec()
print(painted[0], resource.getrusage(resource.RUSAGE_SELF).ru_utime, flush=True)
desk.close()
"""


def measure_start(_task: BenchTask) -> list[Row]:
    """The median of several starts; the first one, with cold caches, is told."""
    runs = [_once() for _ in range(TIMES)]
    taken, busy = [wall for wall, _ in runs], [cpu for _, cpu in runs]
    detail = (
        f"median of {TIMES}, first {taken[0]:.2f} s, processor {min(busy):.2f} s, Python alone {_python_alone():.2f} s"
    )
    return [Row("process start to first paint, empty window", statistics.median(taken), "s", 0.6, detail)]


def _once() -> tuple[float, float]:
    """Seconds from the start of the process to the first paint, and of processor time."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic_ns()
        done = subprocess.run(
            [sys.executable, "-c", CHILD, folder],
            cwd=PROJECT,
            env=os.environ,
            capture_output=True,
            text=True,
            check=True,
        )
        painted, cpu = done.stdout.split()[-2:]
        return (int(painted) - start) / 1e9, float(cpu)


def _python_alone() -> float:
    start = time.monotonic_ns()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.monotonic_ns() - start) / 1e9
