"""Where the tokens of what is shown go, how well they were counted, and what does not fit what was reported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ctxviewer.domain.plan import Plan
from ctxviewer.domain.projection import Projection
from ctxviewer.services.answers.inquiry import Inquiry
from ctxviewer.services.answers.knowledge import Insight, Knowledge
from ctxviewer.services.counting import Counting
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session

if TYPE_CHECKING:  # numpy loads with these; at run time jobs load them, off the GUI thread
    from ctxviewer.engine.composition import Composition
    from ctxviewer.engine.reconcile import Reconciled
    from ctxviewer.tokens import TokenTable
    from ctxviewer.tokens.calibration import Calibration, Fit


@dataclass(frozen=True, slots=True)
class WeighQuestion:
    """What is to be weighed."""

    insight: Insight
    request: int | None
    """None = the present state."""
    plan: Plan | None
    """The what-if that is looked at takes the place of the request."""
    table: TokenTable
    window: int | None
    """Tokens."""

    @property
    def projection(self) -> Projection:
        """What is sent."""
        return self.plan.after if self.plan is not None else self.insight.timeline.projection(self.request)


@dataclass(frozen=True, slots=True)
class Weighed:
    """The answer for one request, and for the task as a whole."""

    composition: Composition
    calibration: Calibration
    fit: Fit | None
    """The one that the composition's scale is from."""
    reconciled: tuple[Reconciled, ...]
    """Every request, in order."""
    encoding: str
    """How tokens were counted, in words."""


class Weighing(Inquiry[WeighQuestion, Weighed]):
    """What the shown request is made of; waits until every message is counted."""

    def __init__(
        self,
        runner: Runner,
        session: Session,
        knowledge: Knowledge,
        counting: Counting,
        parent: QObject | None = None,
    ) -> None:
        depends = (
            session.task_changed,
            session.snapshot_changed,
            session.request_changed,
            session.plan_changed,
            session.window_changed,
            counting.counts_changed,
        )
        super().__init__(runner, depends, "Looking where the tokens go", parent)
        self._session, self._knowledge, self._counting = session, knowledge, counting

    @property
    def counted_share(self) -> float:
        """Share of the messages that are counted; 1 without a task."""
        table = self._counting.table
        return 1.0 - len(table.missing) / len(table) if table is not None and len(table) else 1.0

    def question(self) -> WeighQuestion | None:
        """What is shown; None while messages are being counted."""
        session, insight, table = self._session, self._knowledge.insight, self._counting.table
        if insight is None or session.snapshot is None or not session.snapshot.has_messages:
            return None
        if table is None or not table.complete:
            return None
        return WeighQuestion(insight, session.request, session.plan, table, session.window)

    def work(self, question: WeighQuestion, token: CancelToken) -> Weighed:
        """The first one for a task reads the whole history."""
        from ctxviewer.engine.reconcile import reconcile  # noqa: PLC0415 - as above

        insight, table = question.insight, question.table
        timeline = insight.timeline
        timeline.find_repairs(token.check)
        calibration = insight.calibration(table, token.check)
        number = question.request if question.plan is None else None
        model = timeline.requests[number].model_id if number is not None else timeline.snapshot.model.model_id
        fit = calibration.fit_for(model or timeline.snapshot.model.model_id)
        scale = calibration.scale(model or timeline.snapshot.model.model_id)
        composition = insight.compose(question.projection, table, scale, token.check)
        window = float(question.window) if question.window is not None else None
        reconciled = reconcile(timeline, calibration.expected, window)
        return Weighed(composition, calibration, fit, reconciled, self._counting.sentence)
