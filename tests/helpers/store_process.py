"""Runs store actions in processes that die or fail at a chosen step. A server forks one child for each action.

The server is a process of its own with one thread, so that forking is safe whatever the test run has loaded.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

KILLED = -signal.SIGKILL
DONE, REFUSED, UNFINISHED, CRASHED = 0, 3, 4, 5


@dataclass(frozen=True)
class Order:
    """One action on one world, and what goes wrong. Steps are counted from 0 in the order of the hook's calls."""

    root: str
    data_dir: str
    action: str
    """'roll_back', 'truncate', 'undo', 'redo', 'recover'."""
    kill_at: int = -1
    fail_at: int = -1
    fail_until: int = -1
    """Steps from `fail_at` to here (inclusive) fail; −1: only `fail_at`."""
    error: int = errno.ENOSPC
    log: str = ""
    """File that gets the names of the steps, one a line."""
    user: int = -1
    """User id to run as (the caller is root)."""
    largest_file: int = -1
    """Bytes that a file may have."""


@dataclass(frozen=True)
class Answer:
    """How the child ended, and what it said."""

    code: int
    """KILLED, DONE, REFUSED, UNFINISHED or CRASHED."""
    said: str


class StoreProcess:
    """The client's end of the server."""

    def __init__(self) -> None:
        project = Path(__file__).parents[2]
        path = os.pathsep.join([str(project), str(project / "tests")])
        self._server = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )

    def run(self, order: Order) -> Answer:
        """Carry out an order and wait for its end."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(asdict(order)) + "\n")
        self._server.stdin.flush()
        return Answer(**json.loads(self._server.stdout.readline()))

    def close(self) -> None:
        """End the server."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(60)
        self._server.stdout.close()


class Trouble:
    """A hook that kills or fails."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._count = 0
        self._log = open(order.log, "a") if order.log else None  # noqa: PTH123, SIM115 - lives as long as the child

    def __call__(self, step: str) -> None:
        number, self._count = self._count, self._count + 1
        if self._log is not None:
            self._log.write(step + "\n")
            self._log.flush()
        if number == self._order.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._order.fail_at <= number <= max(self._order.fail_until, self._order.fail_at):
            raise OSError(self._order.error, os.strerror(self._order.error))


def _child(order: Order) -> tuple[int, str]:
    from ctxviewer.domain.errors import RefusedError
    from ctxviewer.sources.store import Store, UnfinishedError
    from helpers.written_task import World, messages

    world = World(Path(order.root), Path(order.data_dir))
    store = Store(world.data_dir, hook=Trouble(order), lock_wait_s=0.2)
    if order.largest_file >= 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (order.largest_file, order.largest_file))
    if order.user >= 0:
        os.setuid(order.user)
    actions: dict[str, Any] = {
        "roll_back": lambda: store.commit(world.roll_back()).title,
        "truncate": lambda: store.commit(world.truncate()).title,
        "grow": lambda: store.commit(world.change("Grow", updates=b"[]", timeline=messages(300))).title,
        "undo": lambda: store.undo(world.task_dir).title,
        "redo": lambda: store.redo(world.task_dir).title,
        "recover": lambda: ", ".join(found.kind for found in store.recover()),
    }
    try:
        return DONE, actions[order.action]()
    except UnfinishedError as error:
        return UNFINISHED, error.sentence
    except RefusedError as error:
        return REFUSED, error.sentence


def _serve() -> None:
    import traceback

    import ctxviewer.sources.store  # noqa: F401 - as above
    import helpers.written_task  # noqa: F401 - loaded once, for all children

    for line in sys.stdin:
        order = Order(**json.loads(line))
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            code = CRASHED
            try:
                code, said = _child(order)
            except BaseException:  # noqa: BLE001 - the child must end here, and the test must read why
                said = traceback.format_exc()
            os.write(writing, said.encode("utf-8", "backslashreplace"))
            os._exit(code)
        os.close(writing)
        _, status = os.waitpid(child, 0)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read().decode()
        answer = Answer(os.waitstatus_to_exitcode(status), said)
        sys.stdout.write(json.dumps(asdict(answer)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
