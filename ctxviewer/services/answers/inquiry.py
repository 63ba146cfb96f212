"""One question that follows the session: asked again when what it depends on has changed, while somebody looks.

The answer before stays until the next one is there, so that stepping through requests does not flicker. An answer that
comes late, after the question has changed, is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from ctxviewer.domain.errors import CtxError
from ctxviewer.services.runner import CancelToken, Runner

Q = TypeVar("Q")
A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)

PAUSE_MS = 40
"""After fast steps a question is asked once, at the end."""
PATIENCE_MS = 250
"""Only work that takes longer is told."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[A_co]):
    """What is known of a question."""

    value: A_co | None = None
    """The newest answer; while `working`, that of the question before."""
    working: bool = False
    """True while a new answer is being worked out, and it takes a while."""
    error: CtxError | None = None
    """Why there is no answer."""


NOTHING: Answer[object] = Answer()


class Emitter(Protocol):
    """A signal of a QObject."""

    def connect(self, slot: Callable[..., object], /) -> object:
        """Call the slot from now on."""
        ...


class Inquiry(QObject, Generic[Q, A]):
    """Subclasses say what the question is and how it is answered. GUI thread only, but for the work."""

    changed = Signal(object)  # Answer

    def __init__(self, runner: Runner, depends: Iterable[Emitter], title: str, parent: QObject | None = None) -> None:
        """`depends`: signals after which the question may be another one. `title` names the work for the user."""
        super().__init__(parent)
        self._runner, self._title = runner, title
        self._answer: Answer[A] = Answer()
        self._answered: Q | None = None
        """The question that `_answer.value` or its error belongs to."""
        self._asked: Q | None = None
        """The question that is being worked on."""
        self._token: CancelToken | None = None
        self._watched = False
        self._stale = True
        self._pause, self._patience = QTimer(self), QTimer(self)
        for timer, wait, then in (
            (self._pause, PAUSE_MS, self.refresh),
            (self._patience, PATIENCE_MS, self._tell_working),
        ):
            timer.setSingleShot(True)
            timer.setInterval(wait)
            timer.timeout.connect(then)
        for signal in depends:
            signal.connect(self._note)

    # -- what a subclass says

    def question(self) -> Q | None:
        """What is asked now, a value that can be compared; None = nothing, because no task is open."""
        raise NotImplementedError

    def work(self, question: Q, token: CancelToken) -> A:
        """The answer. Runs on the pool; touches no QObject."""
        raise NotImplementedError

    # -- for everybody

    @property
    def answer(self) -> Answer[A]:
        """What is known now."""
        return self._answer

    @property
    def pending(self) -> bool:
        """True while an answer is being worked out, or about to be."""
        return self._watched and (self._pause.isActive() or self._token is not None)

    @property
    def watched(self) -> bool:
        """True while somebody looks."""
        return self._watched

    def watch(self, watched: bool) -> None:
        """Somebody looks now, or nobody any more. Questions are only worked on while somebody looks."""
        self._watched = watched
        if not watched:
            self._stop()
            self._stale = True
        elif self._stale:
            self.refresh()

    def refresh(self) -> None:
        """Ask now, without a pause."""
        self._pause.stop()
        question = self.question()
        if question is None:
            self._stop()
            self._answered = None
            self._set(Answer())
            return
        if not self._watched:
            self._stale = True
            return
        self._stale = False
        if question == self._answered:
            self._stop()
            if self._answer.working:
                self._set(Answer(self._answer.value, error=self._answer.error))
            return
        if self._token is not None and question == self._asked:
            return
        self._stop()
        self._start(question)

    def close(self) -> None:
        """Work on nothing any more."""
        self._watched = False
        self._stop()

    # -- inside

    def _note(self, _news: object = None) -> None:
        if self.question() is None:
            self.refresh()
        elif not self._watched:
            self._stale = True
        else:
            self._pause.start()

    def _start(self, question: Q) -> None:
        work = self.work

        def job(token: CancelToken) -> tuple[Q, A]:
            token.check()
            return question, work(question, token)

        self._asked = question
        self._patience.start()
        token = self._runner.read(job, done=self._take, failed=self._fail, title=self._title)
        self._token = token if self._asked is not None else None  # it may be done already

    def _stop(self) -> None:
        self._pause.stop()
        self._patience.stop()
        if self._token is not None:
            self._token.cancel()
        self._token, self._asked = None, None

    def _take(self, result: tuple[Q, A]) -> None:
        question, value = result
        self._token, self._asked = None, None
        self._patience.stop()
        if question != self.question():
            self._note()
            return
        self._answered = question
        self._set(Answer(value))

    def _fail(self, error: CtxError) -> None:
        self._patience.stop()
        self._answered, self._token, self._asked = self._asked, None, None
        self._set(Answer(error=error))

    def _tell_working(self) -> None:
        self._set(Answer(self._answer.value, working=True, error=self._answer.error))

    def _set(self, answer: Answer[A]) -> None:
        if answer != self._answer:
            self._answer = answer
            self.changed.emit(answer)
