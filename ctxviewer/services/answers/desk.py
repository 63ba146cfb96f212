"""All questions about the open task, made and closed in one place."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from ctxviewer.services.answers.comparing import Comparing, ComparingSums, ComparingTexts
from ctxviewer.services.answers.costing import Costing
from ctxviewer.services.answers.diagnosing import Diagnosing
from ctxviewer.services.answers.inquiry import Inquiry
from ctxviewer.services.answers.knowledge import Knowledge
from ctxviewer.services.answers.losing import Losing
from ctxviewer.services.answers.tracking import Tracking
from ctxviewer.services.answers.weighing import Weighing
from ctxviewer.services.counting import Counting
from ctxviewer.services.runner import Runner
from ctxviewer.services.session import Session
from ctxviewer.services.settings import PRICES, Settings


class Answers(QObject):
    """One of each inquiry, and the pinned facts."""

    def __init__(
        self, runner: Runner, session: Session, counting: Counting, settings: Settings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self.knowledge = Knowledge(session, self)
        self.comparing = Comparing(runner, session, self.knowledge, self)
        self.sums = ComparingSums(runner, self.knowledge, self.comparing, counting, self)
        self.texts = ComparingTexts(runner, self.knowledge, self.comparing, self)
        self.losing = Losing(runner, session, self.knowledge, self)
        self.diagnosing = Diagnosing(runner, session, self)
        self.weighing = Weighing(runner, session, self.knowledge, counting, self)
        self.costing = Costing(
            runner, session, self.knowledge, counting, self._own_prices, (settings.changed,), parent=self
        )
        self.tracking = Tracking(runner, session, self.knowledge, self)

    @property
    def inquiries(self) -> tuple[Inquiry[Any, Any], ...]:
        """Every question that follows the session."""
        return (
            self.comparing,
            self.sums,
            self.texts,
            self.losing,
            self.diagnosing,
            self.weighing,
            self.costing,
        )

    @property
    def pending(self) -> bool:
        """True while an answer that somebody waits for is being worked out."""
        return self.tracking.pending or any(inquiry.pending for inquiry in self.inquiries)

    def close(self) -> None:
        """Work on nothing any more."""
        for inquiry in self.inquiries:
            inquiry.close()
        self.tracking.close()

    def _own_prices(self) -> str:
        return self._settings.get(PRICES)
