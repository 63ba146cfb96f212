"""The services that answer questions, over a task in memory, with jobs that run at once or when a test says so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from ctxviewer.domain.snapshot import FileRole, FileStamp
from ctxviewer.engine.cline.updates import EMPTY
from ctxviewer.services.answers.comparing import Comparing, ComparingSums, ComparingTexts
from ctxviewer.services.answers.costing import Costing
from ctxviewer.services.answers.diagnosing import Diagnosing
from ctxviewer.services.answers.knowledge import Knowledge
from ctxviewer.services.answers.losing import Losing
from ctxviewer.services.answers.tracking import Tracking
from ctxviewer.services.answers.weighing import Weighing
from ctxviewer.services.counting import Counting
from ctxviewer.services.notices import Notices
from ctxviewer.services.runner import InlineExecutor, Runner
from ctxviewer.services.session import Session
from helpers.past_tasks import Step, past, update
from helpers.snapshots import FakeDisk, HeldExecutor

READ = "[read_file for 'src/a.py'] Result:\n"


def story(rounds=8, cut_at=5, *, more=0):
    """Rounds of user and assistant; one file is read in round 1; from request `cut_at` on messages 2–5 are not sent."""
    talk = ["u <task>\nbuild the thing\n</task>", "a I will use port 8080."]
    talk += [f"u {READ}def a(): return {'x ' * 60}", "a read it"]
    for number in range(2, rounds + more):
        talk += [f"u step {number}", f"a done {number}"]
    steps = [
        Step(2 * number + 1, (2, 5) if number >= cut_at else None, 1_000 * (number + 1))
        for number in range(rounds + more)
    ]
    history = update(EMPTY, 1, 0, "a notice", cut_at, kind=0)
    made = past(talk, steps, history=history, model="claude-sonnet-4-5").snapshot
    stamp = FileStamp(FileRole.MESSAGES, PurePosixPath("/task/messages"), exists=True, size=len(talk))
    return replace(made, files=(stamp,))


class WordCounter:
    """Counts words."""

    name, exact, reason = "words", True, ""

    def count(self, text):
        return len(text.split())


class Bench:
    """A session over snapshots, and everything that asks about it. `held` keeps the jobs until `run`."""

    def __init__(self, *snapshots, held=False):
        self.executor = HeldExecutor() if held else InlineExecutor()
        self.runner = Runner(read=self.executor, change=InlineExecutor())
        self.disk = FakeDisk(*snapshots)
        self.notices = Notices()
        self.session = Session(self.runner, self.notices, self.disk)
        self.knowledge = Knowledge(self.session)
        self.counting = Counting(self.runner)
        self.session.snapshot_changed.connect(self.counting.follow)
        self.session.task_changed.connect(self._forget)
        self.comparing = Comparing(self.runner, self.session, self.knowledge)
        self.sums = ComparingSums(self.runner, self.knowledge, self.comparing, self.counting)
        self.texts = ComparingTexts(self.runner, self.knowledge, self.comparing)
        self.losing = Losing(self.runner, self.session, self.knowledge)
        self.diagnosing = Diagnosing(self.runner, self.session)
        self.weighing = Weighing(self.runner, self.session, self.knowledge, self.counting)
        self.prices = ""
        self.costing = Costing(self.runner, self.session, self.knowledge, self.counting, lambda: self.prices)
        self.tracking = Tracking(self.runner, self.session, self.knowledge)

    def _forget(self, _task):
        self.counting.forget()

    def open(self, snapshot):
        """Open the task of a snapshot that the disk has."""
        self.session.open_task(snapshot.task)
        self.run()
        return self

    def show(self, snapshot):
        """The files of the open task have changed to this."""
        self.disk.put(snapshot)
        self.session.reload()
        self.run()

    def run(self):
        """Let all jobs run."""
        if isinstance(self.executor, HeldExecutor):
            self.executor.run_all()
