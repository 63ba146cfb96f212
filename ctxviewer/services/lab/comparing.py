"""All strategies side by side at the request that is shown, worked out while somebody looks. No model is asked."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject

from ctxviewer.engine.matrix import Choice, Matrix, matrix
from ctxviewer.engine.state import state_at
from ctxviewer.engine.timeline import Timeline
from ctxviewer.services.answers.inquiry import Inquiry
from ctxviewer.services.lab.choosing import Choosing
from ctxviewer.services.lab.shelf import Shelf
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session


@dataclass(frozen=True, slots=True)
class MatrixQuestion:
    """What is compared."""

    timeline: Timeline
    request: int | None
    choices: tuple[Choice, ...]
    window: int | None


class SideBySide(Inquiry[MatrixQuestion, Matrix]):
    """Follows the session and the settings of the strategies."""

    def __init__(
        self, runner: Runner, session: Session, choosing: Choosing, shelf: Shelf, parent: QObject | None = None
    ) -> None:
        depends = (session.task_changed, session.snapshot_changed, session.request_changed, choosing.changed)
        super().__init__(runner, depends, "Comparing the strategies", parent)
        self._session, self._choosing, self._shelf = session, choosing, shelf

    def question(self) -> MatrixQuestion | None:
        """None without a task."""
        timeline = self._session.timeline
        if timeline is None or not timeline.snapshot.has_messages:
            return None
        return MatrixQuestion(
            timeline, self._session.request, self._choosing.choices(), self._choosing.effective_window
        )

    def work(self, question: MatrixQuestion, token: CancelToken) -> Matrix:
        """One row a strategy."""
        with self._shelf.borrow(question.timeline, token) as facts:
            return matrix(
                state_at(question.timeline, question.request),
                question.choices,
                window=question.window,
                facts=facts,
                check=token.check,
            )
