"""What the change at the shown request, or the what-if that is looked at, costs at the provider's cache."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ctxviewer.domain.plan import Plan
from ctxviewer.services.answers.inquiry import Emitter, Inquiry
from ctxviewer.services.answers.knowledge import Insight, Knowledge
from ctxviewer.services.counting import Counting
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session

if TYPE_CHECKING:  # numpy loads with these; at run time jobs load them, off the GUI thread
    from ctxviewer.engine.change_cost import ChangeCost, CostMeter
    from ctxviewer.tokens import TokenTable


@dataclass(frozen=True, slots=True)
class CostQuestion:
    """A request at which the context was changed (None = since the last one), or a what-if."""

    insight: Insight
    table: TokenTable
    request: int | None
    plan: Plan | None
    own_prices: str
    """Path of the user's own price table, '' = none."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The answer, and what it is about."""

    request: int | None
    plan: Plan | None
    cost: ChangeCost | None
    """None where nothing was cached before."""


class Costing(Inquiry[CostQuestion, Cost]):
    """Asked only for requests at which something was changed, and for what-ifs."""

    def __init__(
        self,
        runner: Runner,
        session: Session,
        knowledge: Knowledge,
        counting: Counting,
        own_prices: Callable[[], str],
        depends: tuple[Emitter, ...] = (),
        parent: QObject | None = None,
    ) -> None:
        """`own_prices` gives the path of the user's price table, '' for none; `depends` are signals that change it."""
        signals = (
            session.task_changed,
            session.snapshot_changed,
            session.request_changed,
            session.plan_changed,
            counting.counts_changed,
            *depends,
        )
        super().__init__(runner, signals, "Working out what the change costs", parent)
        self._session, self._knowledge, self._counting, self._own_prices = session, knowledge, counting, own_prices
        self._lock = threading.Lock()
        self._meter: tuple[TokenTable, str, CostMeter] | None = None

    def question(self) -> CostQuestion | None:
        """What is shown, if something was changed there; None while messages are being counted."""
        session, insight, table = self._session, self._knowledge.insight, self._counting.table
        if insight is None or table is None or not table.complete or not session.request_count:
            return None
        if session.snapshot is None or not session.snapshot.has_messages:
            return None
        shown, plan = session.request, session.plan
        if plan is None and not any(event.request == shown for event in insight.timeline.events):
            return None
        return CostQuestion(insight, table, shown, plan, self._own_prices())

    def work(self, question: CostQuestion, token: CancelToken) -> Cost:
        """CtxError when the user's price table cannot be read."""
        with self._lock:  # a meter serves one thread at a time
            meter = self._meter_for(question, token)
            token.check()
            plan = question.plan
            cost = meter.plan(plan) if plan is not None else meter.request(question.request)
        return Cost(question.request, question.plan, cost)

    def _meter_for(self, question: CostQuestion, token: CancelToken) -> CostMeter:
        from ctxviewer.engine.change_cost import CostMeter  # noqa: PLC0415 - as above
        from ctxviewer.tokens.price_file import load_prices  # noqa: PLC0415

        known = self._meter
        if known is not None and known[0] is question.table and known[1] == question.own_prices:
            return known[2]
        timeline = question.insight.timeline
        model = timeline.snapshot.model.model_id
        prices = load_prices(Path(question.own_prices) if question.own_prices else None).of(model)
        scale = question.insight.calibration(question.table, token.check).scale(model)
        meter = CostMeter(timeline, question.table, prices, scale.slope)
        self._meter = (question.table, question.own_prices, meter)
        return meter
