"""The one shared selection: task, request, message, what-if, text mode. Every pane follows it and never another pane.

*Live* (`request is None`) shows the history as it stands now. A chosen request is pinned: it never moves by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Severity
from ctxviewer.domain.plan import Plan, Step
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.snapshot import Snapshot, TaskRef
from ctxviewer.domain.view import TextMode
from ctxviewer.services.notices import Notice, Notices, notice_of
from ctxviewer.services.readings import (
    Reader,
    Reading,
    Remake,
    SnapshotChange,
    differs,
)
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.task_reader import TaskReader

__all__ = ["Remake", "Session", "SnapshotChange"]

if TYPE_CHECKING:  # the engine loads with it; at run time jobs load it, off the GUI thread
    from ctxviewer.engine.timeline import Timeline


class Session(QObject):
    """The shared selection. GUI thread only; reading happens on the runner."""

    task_changed = Signal(object)  # TaskRef | None
    snapshot_changed = Signal(object)  # SnapshotChange
    request_changed = Signal(object)  # int | None
    message_changed = Signal(object)  # int | None
    projection_changed = Signal(object)  # Projection | None
    plan_changed = Signal(object)  # Plan | None
    step_changed = Signal(object)  # int | None: how many steps of the what-if are shown; None = all, or no what-if
    text_mode_changed = Signal(object)  # TextMode
    task_failed = Signal(object)  # CtxError
    new_requests = Signal(object)  # int: how many requests came since a request was pinned
    window_changed = Signal(object)  # int, tokens
    reading_changed = Signal(object)  # bool: True while the first reading of a task is under way

    def __init__(
        self,
        runner: Runner,
        notices: Notices,
        read: Reader,
        *,
        window_override: Callable[[TaskRef], int | None] = lambda _ref: None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runner, self._notices = runner, notices
        self._window_override = window_override
        self._task: TaskRef | None = None
        self._snapshot: Snapshot | None = None
        self._timeline: Timeline | None = None
        self._request: int | None = None
        self._message: int | None = None
        self._plan: Plan | None = None
        self._remake: Remake | None = None
        self._return_to: int | None = None
        """The request that was pinned before a what-if was looked at."""
        self._plan_at: int | None = None
        self._quiet = False
        self._step: int | None = None
        self._projection: Projection | None = None
        self._text_mode = TextMode.AS_SENT
        self._seen_requests = 0
        self._failure: CtxError | None = None
        self._reader = TaskReader(runner, read, window_override, self)
        self._reader.begun.connect(self._tell_reading)
        self._reader.ended.connect(self._tell_reading)
        self._reader.taken.connect(self._take)
        self._reader.failed.connect(self._fail)
        self._reader.wanted.connect(self._start_reading)

    # -- what is selected ---------------------------------------------------------------------------------------

    @property
    def task(self) -> TaskRef | None:
        """The open task; set as soon as it is asked for, before it has been read."""
        return self._task

    @property
    def snapshot(self) -> Snapshot | None:
        """The newest reading, None until the first one is there."""
        return self._snapshot

    @property
    def timeline(self) -> Timeline | None:
        """What each request of the newest reading sent."""
        return self._timeline

    @property
    def request(self) -> int | None:
        """Number of the pinned request, None when live."""
        return self._request

    @property
    def live(self) -> bool:
        """True while the newest state is followed."""
        return self._request is None

    @property
    def message(self) -> int | None:
        """Number of the chosen stored message."""
        return self._message

    @property
    def plan(self) -> Plan | None:
        """The what-if that is looked at."""
        return self._plan

    @property
    def step(self) -> int | None:
        """How many steps of the what-if are shown; None = all of them, or there is no what-if."""
        return self._step

    @property
    def step_done(self) -> Step | None:
        """The step of the what-if that was done last where it is looked at step by step."""
        return self._plan.steps[self._step - 1] if self._plan is not None and self._step else None

    @property
    def text_mode(self) -> TextMode:
        """Which text of messages is shown."""
        return self._text_mode

    @property
    def projection(self) -> Projection | None:
        """What is shown: of the what-if, else of the pinned request, else now. None without a readable history."""
        return self._projection

    @property
    def window(self) -> int | None:
        """Model window in tokens, None without a task."""
        if self._task is None:
            return None
        override = self._window_override(self._task)
        return override if override is not None else self._snapshot.model.window if self._snapshot else None

    @property
    def request_count(self) -> int:
        """How many requests the newest reading has."""
        return len(self._timeline.requests) if self._timeline is not None else 0

    @property
    def reading(self) -> bool:
        """True while a task has been asked for and nothing of it is there yet."""
        return self._reader.is_reading and self._snapshot is None

    @property
    def failure(self) -> CtxError | None:
        """Why the open task cannot be shown, None when it can."""
        return self._failure

    @property
    def unseen_requests(self) -> int:
        """How many requests came since a request was pinned; 0 when live."""
        return 0 if self.live else max(0, self.request_count - self._seen_requests)

    # -- choosing -----------------------------------------------------------------------------------------------

    def open_task(self, ref: TaskRef | None) -> None:
        """Show another task, read in the background. Opening the open one reads it again."""
        if ref is None:
            self.close_task()
            return
        if self._task is not None and self._task.directory == ref.directory:
            self._task = ref
            self.reload()
            return
        self._drop()
        self._task = ref
        self._reader.turn()
        self.task_changed.emit(ref)
        self._start_reading()

    def close_task(self) -> None:
        """Show no task."""
        if self._task is not None:
            self._drop()
            self._reader.turn()
            self.task_changed.emit(None)

    def reload(self) -> None:
        """Look at the files again. While a reading is under way, one more follows it."""
        if self._task is not None:
            self._reader.ask()

    def select_request(self, number: int | None) -> None:
        """Pin a request, or with None go live. Numbers outside the task are brought to its ends."""
        count = self.request_count
        if number is not None:
            number = max(0, min(number, count - 1)) if count else None
        self._return_to = None
        if self._plan is not None:
            self._set_plan(None, None)
            self._tell_step()
        if number == self._request:
            self._refresh_projection()
            return
        if self._request is None:
            self._seen_requests = count
        self._request = number
        if number is None:
            self._seen_requests = count
        self.request_changed.emit(number)
        self.new_requests.emit(self.unseen_requests)
        self._refresh_projection()

    def step_request(self, by: int) -> None:
        """Move by so many requests. Beyond the newest request lies *live*."""
        count = self.request_count
        if not count:
            return
        position = (count if self._request is None else self._request) + by
        self.select_request(None if position >= count else max(0, position))

    def go_live(self) -> None:
        """Follow the newest state."""
        self.select_request(None)

    def select_message(self, number: int | None) -> None:
        """Choose a stored message; numbers outside the history choose none."""
        stored = len(self._snapshot.messages) if self._snapshot is not None else 0
        if number is not None and not 0 <= number < stored:
            number = None
        if number != self._message:
            self._message = number
            self.message_changed.emit(number)

    def preview(
        self,
        plan: Plan | None,
        remake: Remake | None = None,
        *,
        at: int | None = None,
        step: int | None = None,
        quiet: bool = False,
    ) -> None:
        """Look at a what-if, or at none. With `remake` it is made again when the task grows, else it is dropped.

        A what-if that starts from now is looked at live; the request that was pinned comes back when it is dropped.
        `at`: it starts from this pinned request instead. `step` as in `show_step`. `quiet`: whoever shows it makes it
        anew when the task grows, so nobody need be told that it is dropped.
        """
        self._plan_at, self._quiet = at, quiet
        if plan is not None and at is None and self._request is not None:
            self._return_to = self._request
            self._request = None
            self.request_changed.emit(None)
            self.new_requests.emit(0)
        self._set_plan(plan, remake, step)
        if plan is None and self._return_to is not None:
            self.select_request(self._return_to)
        else:
            self._refresh_projection()
        self._tell_step()

    def show_step(self, done: int | None) -> None:
        """Show the what-if after so many of its steps: 0 = before the first one, None = its end."""
        if self._plan is None:
            return
        if done is not None:
            done = max(0, min(done, len(self._plan.steps)))
        if done != self._step:
            self._step = done
            self._refresh_projection()
            self._tell_step()

    def set_text_mode(self, mode: TextMode) -> None:
        """Choose which text of messages is shown."""
        if mode != self._text_mode:
            self._text_mode = mode
            self.text_mode_changed.emit(mode)

    def refresh_window(self) -> None:
        """The override of the model window was changed: tell everybody, and read with the new number."""
        window = self.window
        if window is not None:
            self.window_changed.emit(window)
            self.reload()

    def close(self) -> None:
        """Let go of the task; no signal is emitted."""
        self._reader.drop()
        self._task = self._snapshot = self._timeline = self._projection = self._plan = self._remake = None

    # -- reading ------------------------------------------------------------------------------------------------

    def _drop(self) -> None:
        self._reader.drop()
        had_plan, had_message, had_request = self._plan, self._message, self._request
        self._task = self._snapshot = self._timeline = self._projection = None
        self._request = self._message = self._plan = self._remake = self._failure = self._return_to = None
        self._step = self._plan_at = None
        self._seen_requests = 0
        self._notices.clear_prefix("task:")
        if had_plan is not None:
            self.plan_changed.emit(None)
        if had_message is not None:
            self.message_changed.emit(None)
        if had_request is not None:
            self.request_changed.emit(None)
            self.new_requests.emit(0)
        self.projection_changed.emit(None)

    def _start_reading(self) -> None:
        if self._task is not None:
            self._reader.start(self._task, self._snapshot, self._timeline)

    def _tell_reading(self) -> None:
        if not self._reader.is_reading or self._snapshot is None:
            self.reading_changed.emit(self._reader.is_reading)

    def _take(self, reading: Reading) -> None:
        previous = self._snapshot
        if previous is None or differs(previous, reading.snapshot):
            self._publish(reading, previous)

    def _fail(self, error: CtxError) -> None:
        if self._snapshot is None:
            self._failure = error
            self.task_failed.emit(error)
        else:
            self._notices.post(notice_of(error, key="task:reading", severity=Severity.WARNING, action="task.reload"))

    def _publish(self, reading: Reading, previous: Snapshot | None) -> None:
        pinned_plan, remake = self._plan, self._remake
        self._snapshot, self._timeline, self._failure = reading.snapshot, reading.timeline, None
        self._task = reading.snapshot.task
        count, stored = self.request_count, len(reading.snapshot.messages)
        request_lost = self._request is not None and self._request >= count
        if request_lost:
            self._request = count - 1 if count else None
        if self.live:
            self._seen_requests = count
        self._seen_requests = min(self._seen_requests, count)
        if pinned_plan is not None:
            self._plan = self._step = None
        self._projection = self._compute_projection()
        change = SnapshotChange(reading.snapshot, reading.timeline, previous, previous is not None, reading.grown)
        self.snapshot_changed.emit(change)
        if request_lost:
            self.request_changed.emit(self._request)
        if self._message is not None and self._message >= stored:
            self._message = None
            self.message_changed.emit(None)
        if not self.live:
            self.new_requests.emit(self.unseen_requests)
        if pinned_plan is not None and self._plan is None:  # whoever showed it may have made it anew already
            self._renew_plan(remake)
        self.projection_changed.emit(self._projection)
        self._look_for_repairs()

    def _look_for_repairs(self) -> None:
        """In long tasks repairs need a pass over the history: made in the background, then the picture is renewed."""
        timeline, projection = self._timeline, self._projection
        if timeline is None or projection is None or projection.repairs_known:
            return

        def work(token: CancelToken) -> Timeline:
            timeline.find_repairs(token.check)
            return timeline

        self._runner.read(work, done=self._take_repairs, generation=self._reader.generation)

    def _take_repairs(self, timeline: Timeline) -> None:
        if timeline is self._timeline:
            self._refresh_projection()

    def _renew_plan(self, remake: Remake | None) -> None:
        plan: Plan | None = None
        if remake is not None and self._timeline is not None:
            try:
                plan = remake(self._timeline)
            except CtxError as error:
                self._notices.post(notice_of(error, key="task:what-if", severity=Severity.WARNING))
        if plan is None and not self._quiet:
            self._notices.post(
                Notice(
                    Severity.INFO,
                    "The what-if was dropped, because the task has changed.",
                    "Start the action again to see it on the new state.",
                    key="task:what-if",
                )
            )
        self._plan, self._remake = plan, remake if plan is not None else None
        self._projection = self._compute_projection()
        self.plan_changed.emit(plan)
        self._tell_step()

    # -- the picture --------------------------------------------------------------------------------------------

    def _set_plan(self, plan: Plan | None, remake: Remake | None, step: int | None = None) -> None:
        self._remake = remake
        self._step = None if plan is None or step is None else max(0, min(step, len(plan.steps)))
        if plan is not self._plan:
            self._plan = plan
            self.plan_changed.emit(plan)

    def _tell_step(self) -> None:
        """Comes after the projection, which the marks of a step are drawn on."""
        self.step_changed.emit(self._step)

    def _planned(self, plan: Plan) -> Projection:
        """What the what-if sends as far as it is shown, and at which request if that is not the present."""
        step = self._step
        shown = plan.after if step is None else plan.steps[step - 1].after if step else plan.before
        return shown if self._plan_at is None else replace(shown, what_if_at=self._plan_at)

    def _compute_projection(self) -> Projection | None:
        snapshot, timeline = self._snapshot, self._timeline
        if self._plan is not None:
            return self._planned(self._plan)
        if snapshot is None or timeline is None or not snapshot.has_messages:
            return None
        try:
            return timeline.projection(self._request)
        except CtxError as error:
            self._notices.post(notice_of(error, key="task:projection", severity=Severity.WARNING))
            return None

    def _refresh_projection(self) -> None:
        projection = self._compute_projection()
        if projection != self._projection or projection is None:
            self._projection = projection
            self.projection_changed.emit(projection)
