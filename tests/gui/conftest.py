"""A window over tasks in a temporary folder. Jobs run at once unless a test asks for threads."""

from __future__ import annotations

import functools
import gc

import pytest

from ctxviewer import app
from ctxviewer.services import sources
from ctxviewer.services.runner import InlineExecutor
from ctxviewer.services.watchbridge import make_watcher
from ctxviewer.tokens import counter
from helpers.aging import age
from helpers.desks import NoWatcher
from helpers.working_agent import WorkingAgent


@pytest.fixture
def agent(tmp_path):
    """A task of twelve requests whose files are old."""
    made = WorkingAgent(tmp_path / "root")
    for number in range(12):
        made.turn(f"step {number}", read="src/a.py", body=f"line {number % 3}\n" * 40, tokens=10_000 * (number + 1))
    made.write()
    age(made)
    return made


_load_once = functools.cache(counter.load_encoding)


@pytest.fixture(autouse=True)
def _one_vocabulary(monkeypatch):
    """A vocabulary takes a second to load; the windows of these tests share one, as the windows of a program do.

    For each test anew: what is in force for longer than a test is in force for tests of other folders too.
    """
    monkeypatch.setattr(counter, "load_encoding", _load_once)


@pytest.fixture
def make_desk(qapp, qtbot, tmp_path):
    """Makes filled desks; all are closed at the end."""
    app.make_application()
    made = []

    def make(*paths, threads=False, watch=False, look=sources.look_at_given, shown=True):
        desk = app.Desk(
            app.Start(tmp_path / "own", tuple(paths)),
            look=look,
            watcher=make_watcher if watch else NoWatcher,
            executors=None if threads else (InlineExecutor(), InlineExecutor()),
        )
        made.append(desk)
        desk.window.resize(1280, 800)
        if shown:
            desk.show()
            qtbot.waitUntil(lambda: desk.begun)
        else:
            desk.fill()
        return desk

    yield make
    for desk in made:
        desk.window.close()
        desk.close()
        desk.window.deleteLater()
        desk.deleteLater()
    qapp.processEvents()
    gc.collect()


@pytest.fixture
def desk(make_desk, agent):
    """A desk on which the agent's task is open."""
    made = make_desk(agent.directory)
    assert made.session.snapshot is not None
    return made
