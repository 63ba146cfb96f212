"""The facts that the user has pinned: questions with their answers through all requests of the open task.

They stay pinned while the task is open and are answered again when it changes; those of other tasks are kept until the
program ends. Each fact has a place of its own, which gives it its letter, colour and pattern.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ctxviewer.domain.errors import CtxError, RefusedError
from ctxviewer.services.answers.knowledge import Insight, Knowledge
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session

if TYPE_CHECKING:  # numpy loads with these; at run time jobs load them, off the GUI thread
    from ctxviewer.engine.facts import Fact, Question

MOST = 6
"""So many facts can be told apart at a glance."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """One pinned fact."""

    place: int
    """From 0; no other pinned fact has it."""
    question: Question
    fact: Fact | None = None
    """The newest answer; may be that of the reading before while `working`."""
    working: bool = True
    error: CtxError | None = None
    """Why there is no answer in this reading: a message that is gone."""


@dataclass(frozen=True, slots=True)
class _Answers:
    insight: Insight
    answers: Mapping[Question, Fact | CtxError]


def _renewed(one: Tracked, answers: Mapping[Question, Fact | CtxError]) -> Tracked:
    answer = answers.get(one.question)
    if answer is None:  # pinned in the meantime
        return one
    if isinstance(answer, CtxError):
        return replace(one, fact=None, working=False, error=answer)
    return replace(one, fact=answer, working=False, error=None)


class Tracking(QObject):
    """The pinned facts. GUI thread only, but for the search."""

    changed = Signal(object)  # tuple[Tracked, ...]
    refused = Signal(object)  # CtxError: a question that cannot be asked
    added = Signal(object)  # Tracked: a question was answered for the first time
    paths_changed = Signal(object)  # tuple[str, ...]: files whose content stands in the conversation

    def __init__(self, runner: Runner, session: Session, knowledge: Knowledge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner, self._session, self._knowledge = runner, session, knowledge
        self._facts: tuple[Tracked, ...] = ()
        self._kept: dict[PurePath, tuple[Tracked, ...]] = {}
        self._task: PurePath | None = None
        self._token: CancelToken | None = None
        self._asking: CancelToken | None = None
        self._asked: Question | None = None
        self._waiting: deque[Question] = deque()
        self._paths: tuple[str, ...] = ()
        self._paths_of: Insight | None = None
        session.task_changed.connect(self._follow_task)
        session.snapshot_changed.connect(self._follow_snapshot)

    @property
    def facts(self) -> tuple[Tracked, ...]:
        """What is pinned, in the order of pinning."""
        return self._facts

    @property
    def paths(self) -> tuple[str, ...]:
        """Files whose content stands in the conversation, as far as that was looked for; see `find_paths`."""
        return self._paths

    @property
    def pending(self) -> bool:
        """True while something is looked for."""
        return self._token is not None or self._asking is not None

    def track(self, question: Question) -> None:
        """Pin one more fact, once its question has been answered; `refused` tells when it cannot be asked.

        While one question is being answered, others wait.
        """
        if self._asking is not None:
            if question != self._asked and question not in self._waiting:
                self._waiting.append(question)
            return
        known = next((fact for fact in self._facts if fact.question == question), None)
        insight = self._knowledge.insight
        if known is not None:
            self.added.emit(known)
        elif insight is None:
            self.refused.emit(RefusedError("There is no task to look in.", hint="Open a task first."))
        elif len(self._facts) >= MOST:
            self.refused.emit(RefusedError(f"{MOST} facts are pinned already.", hint="Remove one of them first."))
        else:
            self._ask(insight, question)

    def remove(self, place: int) -> None:
        """Unpin a fact."""
        self._put(tuple(fact for fact in self._facts if fact.place != place))

    def clear(self) -> None:
        """Unpin all facts."""
        self._put(())

    def find_paths(self) -> None:
        """Look which files stand in the conversation, for the field in which a path is typed."""
        insight = self._knowledge.insight
        if insight is None or insight is self._paths_of:
            return
        self._paths_of = insight

        def work(token: CancelToken) -> tuple[Insight, tuple[str, ...]]:
            return insight, tuple(insight.past().contents(token.check).files)

        self._runner.read(work, done=self._take_paths)

    def close(self) -> None:
        """Look for nothing any more."""
        for token in (self._token, self._asking):
            if token is not None:
                token.cancel()
        self._token = self._asking = None
        self._waiting.clear()

    # -- inside

    def _ask(self, insight: Insight, question: Question) -> None:
        self._asked = question

        def work(token: CancelToken) -> tuple[Insight, Fact]:
            from ctxviewer.engine.facts import track  # noqa: PLC0415 - as above

            insight.timeline.find_repairs(token.check)
            return insight, track(insight.past(), question, token.check)

        asking = CancelToken()
        self._asking = asking
        token = self._runner.read(work, done=self._take_new, failed=self._refuse, title="Looking for a fact")
        self._asking = token if self._asking is asking else None  # it may be done already

    def _take_new(self, result: tuple[Insight, Fact]) -> None:
        self._asking = None
        insight, fact = result
        if insight is not self._knowledge.insight:
            self.track(fact.question)
            return
        taken = {one.place for one in self._facts}
        place = next(number for number in range(MOST) if number not in taken)
        fresh = Tracked(place, fact.question, fact, working=False)
        self._put((*self._facts, fresh))
        self.added.emit(fresh)
        self._ask_next()

    def _refuse(self, error: CtxError) -> None:
        self._asking = None
        self.refused.emit(error)
        self._ask_next()

    def _ask_next(self) -> None:
        while self._waiting and self._asking is None:
            self.track(self._waiting.popleft())

    def _follow_task(self, _task: object) -> None:
        self.close()
        if self._task is not None:
            self._kept[self._task] = self._facts
        task = self._session.task
        self._task = PurePath(task.directory) if task is not None else None
        kept = self._kept.get(self._task, ()) if self._task is not None else ()
        self._take_paths((None, ()))
        self._put(tuple(replace(fact, fact=None, working=True, error=None) for fact in kept))

    def _follow_snapshot(self, _change: object) -> None:
        insight = self._knowledge.insight
        if self._token is not None:
            self._token.cancel()
            self._token = None
        if not self._facts or insight is None:
            return
        self._put(tuple(replace(fact, working=True) for fact in self._facts))
        questions = tuple(fact.question for fact in self._facts)

        def work(token: CancelToken) -> _Answers:
            from ctxviewer.engine.facts import track  # noqa: PLC0415 - as above
            from ctxviewer.engine.search import BadQuestionError  # noqa: PLC0415

            insight.timeline.find_repairs(token.check)
            answers: dict[Question, Fact | CtxError] = {}
            for question in questions:
                try:
                    answers[question] = track(insight.past(), question, token.check)
                except BadQuestionError as error:
                    answers[question] = error
            return _Answers(insight, answers)

        started = CancelToken()
        self._token = started
        token = self._runner.read(work, done=self._take_all, title="Looking for the pinned facts")
        self._token = token if self._token is started else None

    def _take_all(self, found: _Answers) -> None:
        self._token = None
        if found.insight is self._knowledge.insight:
            self._put(tuple(_renewed(one, found.answers) for one in self._facts))

    def _take_paths(self, result: tuple[Insight | None, tuple[str, ...]]) -> None:
        insight, paths = result
        if insight is None:
            self._paths_of = None
        elif insight is not self._knowledge.insight:
            self._paths_of = None
            return
        if paths != self._paths:
            self._paths = paths
            self.paths_changed.emit(paths)

    def _put(self, facts: tuple[Tracked, ...]) -> None:
        if facts != self._facts:
            self._facts = facts
            self.changed.emit(facts)
