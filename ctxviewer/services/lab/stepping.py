"""Walks through the plan of the chosen strategy, by hand or by the clock, and stops at breakpoints.

The plan is shown through the session, as a what-if that is looked at step by step; what else looks at the session need
not know of the lab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, QTimer, Signal

from ctxviewer.domain.plan import Plan
from ctxviewer.engine.stepper import Breakpoint, Stepper, break_at_file, break_at_message, files_in
from ctxviewer.services.answers.inquiry import Answer
from ctxviewer.services.lab.choosing import Choosing
from ctxviewer.services.lab.planning import Planning, Summariser, Walk
from ctxviewer.services.lab.shelf import Shelf
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session, SnapshotChange

LONGEST_TICK_MS, SHORTEST_TICK_MS, PLAY_MS = 700, 60, 20_000
"""Playing takes at most so long in all, unless a step would then be too short to be seen."""

Move = Callable[[Stepper], Stepper]


class Stepping(QObject):
    """The stepper of the open task. GUI thread only."""

    changed = Signal()
    """Place, plan, breakpoints, playing or error are others."""
    stopped = Signal(object)  # Breakpoint that a run, or the clock, came to
    files_listed = Signal(object)  # tuple[str, ...]: paths of the files in the conversation

    def __init__(
        self, runner: Runner, session: Session, choosing: Choosing, shelf: Shelf, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._runner, self._session, self._shelf = runner, session, shelf
        self.planning = Planning(runner, session, choosing, shelf, self)
        self._walk: Walk | None = None
        self._stepper: Stepper | None = None
        self._hits: Mapping[int, Breakpoint] | None = None
        self._points: tuple[Breakpoint, ...] = ()
        self._pending: Move | None = None
        """A move that waits for the plan."""
        self._resume: int | None = None
        """Where the next plan is shown at once: the one before was shown there, and no longer holds."""
        self._shown_plan: Plan | None = None
        self._renewing = False
        self._looked_at = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._play_on)
        self.planning.changed.connect(self._take)
        choosing.changed.connect(self._sync)
        session.snapshot_changed.connect(self._follow_snapshot)
        session.request_changed.connect(self._follow_request)
        session.task_changed.connect(self._leave)
        session.plan_changed.connect(self._follow_plan)

    # -- what there is

    @property
    def stepper(self) -> Stepper | None:
        """The place in the plan; None until there is a plan for what is chosen now."""
        return self._stepper

    @property
    def shown(self) -> bool:
        """True while the session shows this plan."""
        return self._stepper is not None and self._session.plan is self._stepper.plan

    @property
    def answer(self) -> Answer[Walk]:
        """How far the plan has come, and why there is none."""
        return self.planning.answer

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """In the order in which they were set."""
        return self._points

    @property
    def hits(self) -> Mapping[int, Breakpoint]:
        """By number of the step, from 0, the breakpoint that stops before it."""
        if self._hits is None:
            self._hits = dict(self._stepper.hits()) if self._stepper is not None else {}
        return self._hits

    @property
    def playing(self) -> bool:
        """True while steps are done by the clock."""
        return self._timer.isActive()

    # -- moves

    def step(self) -> None:
        """One step on."""
        self._halt(Stepper.step)

    def back(self) -> None:
        """One step back."""
        self._halt(Stepper.back)

    def run(self) -> None:
        """On to the end or the next breakpoint."""
        self._halt(Stepper.run)

    def reset(self) -> None:
        """Before the first step."""
        self._halt(Stepper.reset)

    def go_to(self, position: int) -> None:
        """To after so many steps."""
        self._halt(lambda stepper: stepper.to(position))

    def toggle_play(self) -> None:
        """Do the steps one after the other, or stop. From the end it starts anew."""
        if self.playing:
            self._timer.stop()
            self.changed.emit()
        else:
            self._move(_begin_to_play)

    def take(self, plan: Plan) -> None:
        """A plan that was made elsewhere for what is chosen now: show its end."""
        wanted = self.planning.wanted()
        if wanted is not None:
            self._timer.stop()
            self._pending = self._resume = None
            self._set(Walk(wanted, plan), len(plan.steps))
            self._show()

    # -- breakpoints

    def toggle_message(self, message: int) -> None:
        """Stop before a message goes, or no longer."""
        point = break_at_message(message)
        if point in self._points:
            self.remove(point)
        else:
            self._set_points((*self._points, point))

    def add_file(self, path: str) -> None:
        """Stop before the last copy of a file goes; its places are looked up in the background."""
        self._find_files((path,))

    def remove(self, point: Breakpoint) -> None:
        """Stop there no longer."""
        self._set_points(tuple(other for other in self._points if other.title != point.title))

    def list_files(self) -> None:
        """Find the files in the conversation; `files_listed` follows."""
        timeline, shelf = self._session.timeline, self._shelf
        if timeline is None:
            self.files_listed.emit(())
            return

        def work(token: CancelToken) -> tuple[str, ...]:
            with shelf.borrow(timeline, token) as facts:
                facts.read(len(timeline.snapshot.messages), token.check)
                return files_in(facts, len(timeline.snapshot.messages))

        self._runner.read(work, done=self._tell_files, title="Looking for files in the conversation")

    # -- life

    def watch(self, watched: bool) -> None:
        """Somebody looks at the steps now, or nobody any more."""
        self._looked_at = watched
        if not watched and self.playing:
            self._timer.stop()
            self.changed.emit()
        self._watch()

    def set_summariser(self, summariser: Summariser | None) -> None:
        """Let a model write summaries, or with None the rules without one."""
        if summariser is not self.planning.summariser:
            self.planning.summariser = summariser
            self._sync()
            self.planning.refresh()

    def close(self) -> None:
        """Work on nothing any more."""
        self._timer.stop()
        self.planning.close()

    # -- inside

    def _halt(self, move: Move) -> None:
        self._timer.stop()
        self._move(move)

    def _move(self, move: Move) -> None:
        """Move now, or as soon as the plan is there."""
        if self.planning.wanted() is None:
            return
        if self._stepper is None:
            self._pending = move
            if self.planning.answer.error is not None:
                self.planning.attempt += 1
            self.planning.agreed = self.planning.wanted()
            self._watch()
            self.planning.refresh()
            self.changed.emit()
            return
        before, self._stepper = self._stepper, move(self._stepper)
        if move is _begin_to_play:
            self._start_clock(self._stepper)
        self._show()
        stopped = self._stepper.stopped_by
        if stopped is not None and before.stopped_by is not stopped:
            self.stopped.emit(stopped)

    def _show(self) -> None:
        stepper = self._stepper
        if stepper is None or self._walk is None:
            return
        self._shown_plan = stepper.plan
        if self.shown:
            self._session.show_step(stepper.position)
        else:
            at = self._walk.question.request
            self._session.preview(stepper.plan, at=at, step=stepper.position, quiet=True)
        self.changed.emit()

    def _set(self, walk: Walk, position: int) -> None:
        self._walk, self._hits = walk, None
        self._stepper = Stepper(walk.plan, breakpoints=self._points).to(position)

    def _clear(self, *, resume: bool) -> None:
        """The plan no longer answers what is chosen."""
        self._timer.stop()
        shown, stepper = self.shown, self._stepper
        self._walk = self._stepper = self._hits = None
        if shown and stepper is not None:
            if resume:
                self._resume = stepper.position
            else:
                self._session.preview(None)

    def _sync(self) -> None:
        """What is chosen may be something else: a plan that was shown is followed by the next one at the same place."""
        wanted = self.planning.wanted()
        if self._walk is not None and self._walk.question != wanted:
            self._clear(resume=not self.planning.waits_for_consent)
        answer = self.planning.answer
        known = answer.value
        if self._walk is None and known is not None and known.question == wanted and answer.error is None:
            self._adopt(known)
        self._watch()
        self.changed.emit()

    def _adopt(self, walk: Walk) -> None:
        resume, self._resume = self._resume, None
        self._set(walk, resume or 0)
        if resume is not None:
            self._show()
        pending, self._pending = self._pending, None
        if pending is not None:
            self._move(pending)

    def _take(self, answer: Answer[Walk]) -> None:
        if answer.error is not None:
            self._pending = self._resume = None
            self._clear(resume=False)
            if self._shown_plan is not None and self._session.plan is self._shown_plan:
                self._session.preview(None)
        self._sync()

    def _watch(self) -> None:
        """A plan is made while somebody looks, a move waits for it, or the one before was shown."""
        self.planning.watch(self._looked_at or self._pending is not None or self._resume is not None)

    def _follow_snapshot(self, change: SnapshotChange) -> None:
        """The session has just dropped the plan, because the task has changed: it is made anew and shown again."""
        stepper, shown = self._stepper, self._shown_plan is not None
        self._renewing = shown and change.previous is not None
        self._timer.stop()
        self._walk = self._stepper = self._hits = None
        if shown and stepper is not None and change.same_task:
            self._resume = stepper.position
        files = tuple(point.path for point in self._points if point.message is None)
        if files:
            self._find_files(files)
        self._watch()
        self.changed.emit()

    def _follow_request(self, _number: object) -> None:
        if self._walk is not None and self._walk.question.request != self._session.request:
            self._resume = None
            self._clear(resume=False)
        self._sync()

    def _follow_plan(self, plan: Plan | None) -> None:
        if self._renewing:
            self._renewing = False
            return
        if plan is self._shown_plan:
            return
        self._timer.stop()
        self._shown_plan = self._resume = None
        if self._stepper is not None:
            self._stepper = self._stepper.reset()
        self._watch()
        self.changed.emit()

    def _leave(self, _task: object) -> None:
        self._timer.stop()
        self._pending = self._resume = self._shown_plan = self.planning.agreed = None
        self._walk = self._stepper = self._hits = None
        self._points = ()
        self._renewing = False
        self._shelf.forget()
        self.changed.emit()

    def _set_points(self, points: tuple[Breakpoint, ...]) -> None:
        self._points, self._hits = points, None
        if self._stepper is not None:
            self._stepper = self._stepper.with_breakpoints(*points)
        self.changed.emit()

    def _find_files(self, paths: tuple[str, ...]) -> None:
        timeline, shelf = self._session.timeline, self._shelf
        if timeline is None:
            return

        def work(token: CancelToken) -> tuple[Breakpoint, ...]:
            count = len(timeline.snapshot.messages)
            with shelf.borrow(timeline, token) as facts:
                facts.read(count, token.check)
                return tuple(break_at_file(facts, path, count) for path in paths)

        self._runner.read(work, done=self._take_files, title="Looking for files in the conversation")

    def _take_files(self, points: tuple[Breakpoint, ...]) -> None:
        fresh = {point.title: point for point in points}
        kept = tuple(fresh.pop(point.title, point) for point in self._points)
        self._set_points((*kept, *fresh.values()))

    def _tell_files(self, paths: tuple[str, ...]) -> None:
        self.files_listed.emit(paths)

    # -- the clock

    def _start_clock(self, stepper: Stepper) -> None:
        if not stepper.at_end:
            tick = PLAY_MS // max(1, stepper.length)
            self._timer.start(max(SHORTEST_TICK_MS, min(LONGEST_TICK_MS, tick)))

    def _play_on(self) -> None:
        stepper = self._stepper
        if stepper is None or not self.shown or stepper.at_end:
            self._timer.stop()
            self.changed.emit()
            return
        hit = self.hits.get(stepper.position)
        if hit is not None and stepper.stopped_by is None:
            self._timer.stop()
            self._stepper = stepper.run()  # it stays, and remembers where it has stopped
            self.changed.emit()
            self.stopped.emit(hit)
            return
        self._stepper = stepper.step()
        if self._stepper.at_end:
            self._timer.stop()
        self._show()


def _begin_to_play(stepper: Stepper) -> Stepper:
    """Keeps where it has stopped, so that playing goes on from there."""
    return stepper.reset() if stepper.at_end else stepper
