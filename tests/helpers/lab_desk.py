"""The services of the lab over a task made by hand; jobs run at once unless a test holds them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from PySide6.QtWidgets import QApplication

from ctxviewer.domain.snapshot import FileRole, FileStamp
from ctxviewer.services.lab.choosing import Choosing
from ctxviewer.services.lab.comparing import SideBySide
from ctxviewer.services.lab.replaying import Replaying
from ctxviewer.services.lab.shelf import Shelf
from ctxviewer.services.lab.stepping import Stepping
from ctxviewer.services.notices import Notices
from ctxviewer.services.runner import InlineExecutor, Runner
from ctxviewer.services.session import Session
from ctxviewer.services.settings import Settings
from helpers.cline_talk import a, pairs, read, u
from helpers.lab import lab_task
from helpers.snapshots import FakeDisk

READS = pairs(*(read("a.py", f"{number} " + "x" * 600) for number in range(6)), *(u("word " * 200) for _ in range(4)))
"""22 messages: the task, six reads of one file, four of plain words."""
TOTALS = tuple(2_000 + 700 * number for number in range(10))
"""Ten requests; the last one reported 8,300, above the limit of 8,000."""


def grown(timeline, turns=1):
    """The same task with further turns, as a reading."""
    old = list(timeline.snapshot.messages)
    more = [message for number in range(turns) for message in (u(f"more {number}"), a("ok"))]
    requests = tuple(request.usage.total for request in timeline.requests)
    made = lab_task([*old, *more], (*requests, *(3_000,) * turns)).snapshot
    stamp = FileStamp(FileRole.MESSAGES, PurePosixPath("/nowhere/api"), exists=True, size=0, digest=str(len(old)))
    return replace(made, files=(stamp,))


class LabDesk:
    """Session and lab."""

    def __init__(self, folder, messages=READS, totals=TOTALS, *, read=None, **more):
        self.timeline = lab_task(messages, totals, **more)
        snapshot = self.timeline.snapshot
        self.disk = FakeDisk(snapshot)
        self.settings = Settings(folder / "settings.ini")
        self.runner = Runner(read=read or InlineExecutor(), change=InlineExecutor())
        self.notices = Notices()
        self.session = Session(self.runner, self.notices, self.disk)
        self.choosing = Choosing(self.settings, self.session)
        self.shelf = Shelf()
        self.stepping = Stepping(self.runner, self.session, self.choosing, self.shelf)
        self.comparing = SideBySide(self.runner, self.session, self.choosing, self.shelf)
        self.replaying = Replaying(self.runner, self.session, self.choosing, self.shelf)
        self.session.open_task(snapshot.task)
        self.turn()

    def grow(self, turns=1):
        self.disk.put(grown(self.session.timeline, turns))
        self.session.reload()
        self.turn()

    @staticmethod
    def turn():
        """Let what waits for the end of this turn happen."""
        QApplication.processEvents()

    @property
    def place(self):
        stepper = self.stepping.stepper
        return None if stepper is None else (stepper.position, stepper.length)

    def close(self):
        self.stepping.close()
        self.comparing.close()
        self.replaying.close()
        self.runner.close()
        self.session.close()
