"""The plan of the chosen strategy at the request that is shown, made in the background."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject

from ctxviewer.domain.plan import Plan
from ctxviewer.engine.sage.message import ModelCall
from ctxviewer.engine.state import state_at
from ctxviewer.engine.strategies import Value
from ctxviewer.engine.timeline import Timeline
from ctxviewer.services.answers.inquiry import Inquiry
from ctxviewer.services.lab.choosing import Choosing
from ctxviewer.services.lab.shelf import Shelf
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session

SUMMARISING: Final = frozenset({"sage-summarize", "sage-compact"})
"""Strategies that ask for summaries."""

Summariser = Callable[[CancelToken], ModelCall]
"""Makes the model that writes summaries, for one job; asking it may raise a CtxError."""


@dataclass(frozen=True, slots=True)
class StepQuestion:
    """Which plan is wanted."""

    timeline: Timeline
    request: int | None
    strategy: str
    values: Mapping[str, Value]
    window: int | None
    with_model: bool
    attempt: int = 0
    """Raised to ask again what could not be answered."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A plan, and what it answers."""

    question: StepQuestion
    plan: Plan


class Planning(Inquiry[StepQuestion, Walk]):
    """Follows the session and what is chosen."""

    def __init__(
        self, runner: Runner, session: Session, choosing: Choosing, shelf: Shelf, parent: QObject | None = None
    ) -> None:
        depends = (session.task_changed, session.snapshot_changed, session.request_changed, choosing.changed)
        super().__init__(runner, depends, "Working out the strategy", parent)
        self._session, self._choosing, self._shelf = session, choosing, shelf
        self.summariser: Summariser | None = None
        self.agreed: StepQuestion | None = None
        """A model is only asked for this question, because the user has asked for it."""
        self.attempt = 0

    def wanted(self) -> StepQuestion | None:
        """What would be asked if nothing held it back; None without a task."""
        timeline = self._session.timeline
        if timeline is None:
            return None
        choice = self._choosing.choice()
        with_model = self.summariser is not None and choice.strategy.key in SUMMARISING
        return StepQuestion(
            timeline,
            self._session.request,
            choice.strategy.key,
            choice.values,
            self._choosing.effective_window,
            with_model,
            self.attempt,
        )

    @property
    def waits_for_consent(self) -> bool:
        """True while a model would be asked that the user has not asked for."""
        wanted = self.wanted()
        return wanted is not None and wanted.with_model and wanted != self.agreed

    def question(self) -> StepQuestion | None:
        """What is wanted, once nothing holds it back."""
        return None if self.waits_for_consent else self.wanted()

    def work(self, question: StepQuestion, token: CancelToken) -> Walk:
        """The plan."""
        strategy = self._choosing.choice(question.strategy).strategy
        model = self.summariser(token) if question.with_model and self.summariser is not None else None
        with self._shelf.borrow(question.timeline, token) as facts:
            state = state_at(question.timeline, question.request)
            plan = strategy.plan(
                state, question.values, window=question.window, facts=facts, check=token.check, model=model
            )
        return Walk(question, plan)
