"""What the shown request no longer knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ctxviewer.services.answers.inquiry import Inquiry
from ctxviewer.services.answers.knowledge import Insight, Knowledge
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session

if TYPE_CHECKING:  # numpy loads with it; at run time jobs load it, off the GUI thread
    from ctxviewer.engine.losses import LossReport


@dataclass(frozen=True, slots=True)
class LossQuestion:
    """A request, None = the present state."""

    insight: Insight
    request: int | None


class Losing(Inquiry[LossQuestion, "LossReport"]):
    """The loss report of the shown request."""

    def __init__(self, runner: Runner, session: Session, knowledge: Knowledge, parent: QObject | None = None) -> None:
        depends = (session.task_changed, session.snapshot_changed, session.request_changed)
        super().__init__(runner, depends, "Looking for what was lost", parent)
        self._session, self._knowledge = session, knowledge

    def question(self) -> LossQuestion | None:
        """The shown request; None without readable messages."""
        insight, snapshot = self._knowledge.insight, self._session.snapshot
        if insight is None or snapshot is None or not snapshot.has_messages:
            return None
        return LossQuestion(insight, self._session.request)

    def work(self, question: LossQuestion, token: CancelToken) -> LossReport:
        """The first report of a task reads the whole history."""
        from ctxviewer.engine.losses import find_losses  # noqa: PLC0415 - as above

        return find_losses(question.insight.past(), question.request, token.check)
