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
import sys, time
from pathlib import Path
from ctxviewer import app

def look(paths):
    from ctxviewer.sources.discover import Found
    return Found((), (), ())

sys.setswitchinterval(app.SWITCH_INTERVAL)
application = app.make_application()
desk = app.Desk(app.Start(Path(sys.argv[1])), look=look)
desk.window.first_shown.connect(application.quit)
desk.show()
application.exec()
print(time.monotonic_ns(), flush=True)
desk.close()
"""


def measure_start(_task: BenchTask) -> list[Row]:
    """The median of several starts; the first one, with cold caches, is told."""
    taken = [_once() for _ in range(TIMES)]
    detail = f"median of {TIMES}, first {taken[0]:.2f} s, Python alone {_python_alone():.2f} s"
    return [Row("process start to first paint, empty window", statistics.median(taken), "s", 0.6, detail)]


def _once() -> float:
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
        return (int(done.stdout.split()[-1]) - start) / 1e9


def _python_alone() -> float:
    start = time.monotonic_ns()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.monotonic_ns() - start) / 1e9
