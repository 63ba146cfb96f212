"""`make bench`: measures on one generated task, one table. Exit status 1 when a bar is not kept.

Each group runs in a process of its own, one after the other; ratios are between numbers of one run on one machine.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys

from tests.bench.generate import PROJECT, bench_task
from tests.bench.table import Row, render

GROUPS = {
    "rules": "tests.bench.engine:measure_rules",
    "reading": "tests.bench.engine:measure_reading",
    "questions": "tests.bench.questions:measure_questions",
    "strategies": "tests.bench.strategies:measure_strategies",
    "curve": "tests.bench.strategies:measure_curve",
    "start": "tests.bench.start:measure_start",
    "opening": "tests.bench.window:measure_opening",
    "moving": "tests.bench.window:measure_moving",
    "working": "tests.bench.window:measure_working",
    "lab": "tests.bench.lab:measure_lab",
    "following": "tests.bench.window:measure_following",
}


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"one or more of: {', '.join(GROUPS)}; default: all")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--megabytes", type=float, default=123)
    parser.add_argument("--child", choices=list(GROUPS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if unknown := set(args.groups) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    task = bench_task(args.messages, args.requests, args.megabytes)
    if args.child:
        module, _, function = GROUPS[args.child].partition(":")
        rows: list[Row] = getattr(importlib.import_module(module), function)(task)
        print(json.dumps([row.as_json() for row in rows]))
        return 0
    size = task.api.stat().st_size
    print(
        f"{size / 1e6:.0f} MB, {task.messages:,} messages, {task.requests:,} requests · Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
    )
    rows = []
    for group in args.groups or GROUPS:
        rows += _run(group, args)
    print(render(rows))
    return 0 if all(row.passed for row in rows) else 1


def _run(group: str, args: argparse.Namespace) -> list[Row]:
    size = ["--messages", args.messages, "--requests", args.requests, "--megabytes", args.megabytes]
    command = [sys.executable, "-m", "tests.bench", "--child", group, *map(str, size)]
    environment = {"QT_QPA_PLATFORM": "offscreen", "QT_LOGGING_RULES": "default.warning=false", **os.environ}
    done = subprocess.run(command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return [Row(f"{group}: the measure itself failed", float("inf"), "", 0)]
    return [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]


if __name__ == "__main__":
    sys.exit(main())
