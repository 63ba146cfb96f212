"""Strategies over the whole task, when the user asks for it: in the background, with progress, until cancelled.

No model is asked: one run would send it much of the task, again and again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.plan import Effects, Plan, PlanKind, Step
from ctxviewer.engine.replay import Replay, replay
from ctxviewer.engine.replay_check import ReplayCheck, replay_check
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import request_name
from ctxviewer.services.lab.choosing import Choosing
from ctxviewer.services.lab.shelf import Shelf
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session, SnapshotChange

PER_MILLE = 1_000


@dataclass(frozen=True, slots=True)
class Replayed:
    """What is known of the last run."""

    timeline: Timeline | None = None
    """The reading that it went over; the task may have grown since."""
    runs: tuple[Replay, ...] = ()
    check: ReplayCheck | None = None
    """What was recorded against the agent's own rules; None where nothing of it is recorded."""
    working: bool = False
    share: float = 0
    """Of the work under way, 0 to 1."""
    error: CtxError | None = None
    stale: bool = False
    """True when the task has grown since."""


class Replaying(QObject):
    """One run at a time; a new one takes the place of the one before. GUI thread only, but for the work."""

    changed = Signal(object)  # Replayed
    _progressed = Signal(object)  # tuple[CancelToken, float]

    def __init__(
        self, runner: Runner, session: Session, choosing: Choosing, shelf: Shelf, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._runner, self._session, self._choosing, self._shelf = runner, session, choosing, shelf
        self._state = Replayed()
        self._token: CancelToken | None = None
        self._working = False
        self._progressed.connect(self._note_progress)
        session.task_changed.connect(self._leave)
        session.snapshot_changed.connect(self._follow)

    @property
    def state(self) -> Replayed:
        """What is known now."""
        return self._state

    def run(self, keys: tuple[str, ...]) -> None:
        """Run strategies by their keys, with the settings and the window that are chosen, and the replay check."""
        timeline = self._session.timeline
        if timeline is None or not keys:
            return
        self._stop()
        choices, window = tuple(self._choosing.choice(key) for key in keys), self._choosing.effective_window
        shelf, progressed = self._shelf, self._progressed

        def work(token: CancelToken) -> Replayed:
            def tell(share: float) -> None:
                token.report(round(share * PER_MILLE), PER_MILLE)
                progressed.emit((token, share))

            with shelf.borrow(timeline, token) as facts:
                runs = replay(timeline, choices, window=window, facts=facts, check=token.check, progress=tell)
                check = replay_check(timeline, window, facts=facts, check=token.check) if _recorded(timeline) else None
            return Replayed(timeline, runs, check)

        names = ", ".join(choice.strategy.name for choice in choices[:2]) + (", …" if len(choices) > 2 else "")
        self._working = True
        self._set(replace(self._state, working=True, share=0, error=None))
        token = self._runner.read(work, done=self._take, failed=self._fail, title=f"Replaying {names} (‰)")
        self._token = token if self._working else None

    def cancel(self) -> None:
        """Stop the run under way; what was known before stays."""
        if self._working:
            self._stop()
            self._set(replace(self._state, working=False, share=0))

    def forget(self) -> None:
        """Show no run."""
        self._stop()
        self._set(Replayed())

    def what_if(self, run: Replay, number: int) -> Plan | None:
        """What a run would have sent with a request, as something to look at; None beyond its rows."""
        timeline = self._state.timeline
        if timeline is None or not 0 <= number < len(run.rows):
            return None
        before, after = timeline.projection(number), run.projection(timeline, number)
        row, name = run.rows[number], f"{run.choice.strategy.agent}: {run.choice.strategy.name}"
        said = [action.sentence for action in row.actions] or [f"Nothing was done before {request_name(number)}."]
        return Plan(
            kind=PlanKind.STRATEGY,
            title=f"{name}, replayed up to {request_name(number)}",
            task_id=timeline.snapshot.task.task_id,
            generation=timeline.snapshot.generation,
            before=before,
            after=after,
            steps=tuple(Step(sentence, after) for sentence in said),
            effects=Effects(),
            refusal="It is a replay of the past.",
        )

    def close(self) -> None:
        """Work on nothing any more."""
        self._stop()

    # -- inside

    def _stop(self) -> None:
        if self._token is not None:
            self._token.cancel()
        self._token, self._working = None, False

    def _note_progress(self, news: tuple[CancelToken, float]) -> None:
        token, share = news
        if token is self._token:
            self._set(replace(self._state, share=share))

    def _take(self, found: Replayed) -> None:
        self._token, self._working = None, False
        self._set(replace(found, stale=found.timeline is not self._session.timeline))

    def _fail(self, error: CtxError) -> None:
        self._token, self._working = None, False
        self._set(replace(self._state, working=False, share=0, error=error))

    def _leave(self, _task: object) -> None:
        self.forget()

    def _follow(self, change: SnapshotChange) -> None:
        if self._state.runs and not (change.same_task and change.grown):
            self.forget()
        elif self._state.runs and not self._state.stale:
            self._set(replace(self._state, stale=True))

    def _set(self, state: Replayed) -> None:
        if state != self._state:
            self._state = state
            self.changed.emit(state)


def _recorded(timeline: Timeline) -> bool:
    """True where there is something to compare the agent's rules with."""
    return timeline.snapshot.has_timeline and bool(timeline.requests)
