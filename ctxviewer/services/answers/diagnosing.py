"""Everything that is odd about the open task: what reading its files found, and what needs the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ctxviewer.domain.finding import Finding
from ctxviewer.services.answers.inquiry import Inquiry
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session

if TYPE_CHECKING:  # the engine loads with it; at run time jobs load it, off the GUI thread
    from ctxviewer.engine.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """All findings of one reading."""

    timeline: Timeline
    findings: tuple[Finding, ...]
    """Worst first."""


class Diagnosing(Inquiry["Timeline", Diagnosed]):
    """Findings of the newest reading."""

    def __init__(self, runner: Runner, session: Session, parent: QObject | None = None) -> None:
        super().__init__(
            runner, (session.task_changed, session.snapshot_changed), "Looking for what is odd in the files", parent
        )
        self._session = session

    def question(self) -> Timeline | None:
        """The newest reading."""
        return self._session.timeline

    def work(self, question: Timeline, token: CancelToken) -> Diagnosed:
        """Decodes messages with calls."""
        from ctxviewer.engine.doctor import diagnose  # noqa: PLC0415 - as above

        return Diagnosed(question, diagnose(question, token.check))
