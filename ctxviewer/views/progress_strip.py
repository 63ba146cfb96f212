"""What is being worked on, with a number and a way to stop it, once it has taken 300 ms. Lives in the status bar."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QToolButton, QWidget

from ctxviewer.models.numbers import grouped
from ctxviewer.services.runner import Job, Runner
from ctxviewer.views import theme

PATIENCE_MS = 300
TICK_MS = 100


class ProgressStrip(QWidget):
    """Shows the oldest job that takes long; the others wait behind it."""

    def __init__(self, runner: Runner, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Progress")
        self._runner = runner
        self._ticket = 0
        self._words = QLabel(self)
        self._words.setProperty("look", "muted")
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("How much is done")
        self._cancel = QToolButton(self)
        self._cancel.setText("Cancel")
        self._cancel.setProperty("look", "link")
        self._cancel.setToolTip("Stop this work; nothing is changed by it")
        self._cancel.setAccessibleName("Cancel the work under way")
        self._cancel.clicked.connect(self._stop)
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self._refresh)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._words)
        self._row.addWidget(self._bar)
        self._row.addWidget(self._cancel)
        runner.jobs_changed.connect(self._note)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self._hide_all()

    @property
    def words(self) -> str:
        """What it says, '' while nothing takes long."""
        return self._words.text() if not self._words.isHidden() else ""

    @property
    def cancel_button(self) -> QToolButton:
        """Stops the work that is shown."""
        return self._cancel

    def close_strip(self) -> None:
        """Stop the clock."""
        self._tick.stop()

    def _note(self, jobs: tuple[Job, ...]) -> None:
        if jobs and not self._tick.isActive():
            self._tick.start()
        self._refresh()

    def _refresh(self) -> None:
        now = time.monotonic()
        jobs = self._runner.jobs
        late = [job for job in jobs if (now - job.started) * 1000 >= PATIENCE_MS]
        if not jobs:
            self._tick.stop()
        if not late:
            self._hide_all()
            return
        job, others = late[0], len(jobs) - 1
        self._ticket = job.ticket
        number = f"{grouped(job.done)} of {grouped(job.total)}" if job.total else f"{now - job.started:.1f} s"
        behind = f" (and {others} more)" if others else ""
        self._words.setText(f"{job.title} · {number}{behind}")
        self._bar.setRange(0, job.total)
        self._bar.setValue(job.done)
        self._words.show()
        self._bar.setVisible(job.total > 0)
        self._cancel.setVisible(job.cancellable)

    def _hide_all(self) -> None:
        for widget in (self._words, self._bar, self._cancel):
            widget.hide()

    def _stop(self, _checked: bool = False) -> None:
        self._runner.cancel(self._ticket)

    def _restyle(self) -> None:
        look = theme.current()
        self._row.setContentsMargins(look.px(8), 0, look.px(4), 0)
        self._row.setSpacing(look.px(8))
        self._bar.setFixedSize(look.px(120), look.px(6))
