"""The bench's own arithmetic, and that it runs at all; the real run is `make bench`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(PROJECT))
from tests.bench.table import Row, percentile, render  # noqa: E402

TINY = ("--messages", "200", "--requests", "40", "--megabytes", "1")


@pytest.mark.parametrize(
    ("values", "share", "wanted"),
    [([5.0], 0.95, 5.0), (list(range(1, 101)), 0.95, 95), (list(range(1, 21)), 0.95, 19), ([3, 1, 2], 0.5, 2)],
)
def test_percentile_is_the_smallest_that_so_many_do_not_exceed(values, share, wanted):
    assert percentile(values, share) == wanted


def test_a_row_passes_at_its_bar_and_fails_above_it():
    assert Row("a", 3.0, "×", 3).passed
    assert not Row("a", 3.01, "×", 3).passed
    assert Row("a", 99, "ms").passed
    table = render([Row("opening", 3.01, "×", 3, "why"), Row("told", 1.5, "ms")])
    assert "FAIL" in table
    assert "why" in table.splitlines()[2]
    assert "≤" not in table.splitlines()[3]


def test_the_bench_runs_on_a_tiny_task(tmp_path):
    command = [sys.executable, "-m", "tests.bench", "rules", "reading", *TINY]
    environment = {**os.environ, "CTXVIEWER_BENCH_FOLDER": str(tmp_path)}
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    assert "optimise + next range + as sent" in done.stdout
    assert "measure itself failed" not in done.stdout
    api = json.loads(next(tmp_path.rglob("api_conversation_history.json")).read_text("utf-8"))
    assert [message["role"] for message in api] == ["user", "assistant"] * 100
    entries = json.loads(next(tmp_path.rglob("ui_messages.json")).read_text("utf-8"))
    assert sum(entry.get("say") == "api_req_started" for entry in entries) == 40
