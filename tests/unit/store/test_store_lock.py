"""One writer at a time, between threads and processes; a dead one is not in the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ctxviewer.domain.errors import RefusedError
from ctxviewer.sources.store.lock import held, held_if_free

HOLD = """
import sys
from pathlib import Path
from ctxviewer.sources.store.lock import held
with held(Path(sys.argv[1]), what="The task", wait_s=0):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_holder_is_refused_and_told_who_has_it(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "task"
    with held(path, what="The task", wait_s=0):
        with pytest.raises(RefusedError) as caught, held(path, what="The task", wait_s=0.05):
            pytest.fail("two holders")
        assert caught.value.sentence == f"The task is being written by another ctxviewer (process {os.getpid()})."
        with held_if_free(path, what="The task") as free:
            assert not free
    with held_if_free(path, what="The task") as free:
        assert free


def test_a_waiting_holder_gets_it_in_time(tmp_path: Path) -> None:
    path = tmp_path / "task"
    waiting, order = threading.Event(), []

    def second() -> None:
        waiting.set()
        with held(path, what="The task", wait_s=600):
            order.append("second")

    with held(path, what="The task", wait_s=0):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(60)
        order.append("first")
    thread.join(60)
    assert order == ["first", "second"]


def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    path = tmp_path / "task"
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(RefusedError, match=rf"process {other.pid}\)"),
            held(path, what="The task", wait_s=0),
        ):
            pytest.fail("two holders")
        other.send_signal(signal.SIGKILL)
        other.wait(60)
    assert path.exists()
    with held(path, what="The task", wait_s=0):
        pass


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("in the way")
    with (
        pytest.raises(RefusedError, match="The task cannot be locked"),
        held(tmp_path / "locks" / "task", what="The task", wait_s=0),
    ):
        pytest.fail("held without a file")
