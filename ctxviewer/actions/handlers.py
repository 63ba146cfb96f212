"""What each action does: a few lines that ask a service. No widget, no rule of any agent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ctxviewer.actions.diagnostics import diagnostics
from ctxviewer.actions.front import Front
from ctxviewer.domain.errors import CtxError, RefusedError
from ctxviewer.domain.finding import Severity
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.request import Checkpoint
from ctxviewer.domain.snapshot import TaskRef
from ctxviewer.domain.view import TextMode
from ctxviewer.services.changes import Changes
from ctxviewer.services.discovery import Discovery
from ctxviewer.services.notices import Notices, notice_of
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Remake, Session
from ctxviewer.services.settings import (
    COMPACT,
    PROPORTIONAL,
    SCALE,
    SCALE_MAX,
    SCALE_MIN,
    SCALE_STEP,
    THEME,
    Field,
    Settings,
)

if TYPE_CHECKING:  # the engine loads with it; at run time jobs load it, off the GUI thread
    from ctxviewer.engine.timeline import Timeline


LAB_COMMANDS = ("step", "back", "play", "run", "reset", "break-message", "compare", "replay")


class Handlers(QObject):
    """Carries out actions by their id. GUI thread only."""

    def __init__(
        self,
        *,
        session: Session,
        runner: Runner,
        changes: Changes,
        discovery: Discovery,
        settings: Settings,
        notices: Notices,
        samples: Callable[[], Path],
        parent: QObject | None = None,
    ) -> None:
        """`samples` gives the folder of the bundled sample tasks."""
        super().__init__(parent)
        self._session, self._runner, self._changes, self._discovery = session, runner, changes, discovery
        self._settings, self._notices, self._samples = settings, notices, samples
        self._front: Front | None = None
        self._show_when_found = False
        self._early: list[str] = []
        """Actions that were triggered before there was a front; they run as soon as there is one."""
        self._fronted: MappingProxyType[str, Callable[[], object]] = MappingProxyType({})
        session_go = session.select_request
        self._table: MappingProxyType[str, Callable[[], object]] = MappingProxyType(
            {
                "task.open": self.open_folder,
                "task.samples": self.open_samples,
                "task.reload": self.reload,
                "task.folder": self.show_folder,
                "task.copy-path": self.copy_path,
                "task.close": session.close_task,
                "edit.undo": partial(self.turn_back, "undo"),
                "edit.redo": partial(self.turn_back, "redo"),
                "view.sent": partial(session.set_text_mode, TextMode.AS_SENT),
                "view.stored": partial(session.set_text_mode, TextMode.AS_STORED),
                "view.difference": partial(session.set_text_mode, TextMode.DIFFERENCE),
                "view.zoom-in": partial(self.zoom, SCALE_STEP),
                "view.zoom-out": partial(self.zoom, -SCALE_STEP),
                "view.zoom-reset": partial(settings.set, SCALE, 100),
                "view.theme-system": partial(settings.set, THEME, "system"),
                "view.theme-light": partial(settings.set, THEME, "light"),
                "view.theme-dark": partial(settings.set, THEME, "dark"),
                "view.theme-contrast": partial(settings.set, THEME, "high-contrast"),
                "view.proportional": partial(self.toggle, PROPORTIONAL),
                "view.compact": partial(self.toggle, COMPACT),
                "request.first": partial(session_go, 0),
                "request.previous": partial(session.step_request, -1),
                "request.next": partial(session.step_request, 1),
                "request.last": self.last_request,
                "request.live": self.go_live,
                "request.previous-event": partial(self.step_event, -1),
                "request.next-event": partial(self.step_event, 1),
                "act.truncate-half": partial(self.truncate, "half"),
                "act.truncate-quarter": partial(self.truncate, "quarter"),
                "act.truncate-last-two": partial(self.truncate, "lastTwo"),
                "act.truncate-none": partial(self.truncate, "none"),
                "act.optimize": self.optimize,
                "act.decide": self.decide,
                "act.rollback-message": self.rollback_to_message,
                "act.apply": self.show_plan,
                "act.drop": partial(session.preview, None),
                "help.diagnostics": self.copy_diagnostics,
            }
        )
        discovery.found.connect(self._show_found)

    def attach(self, front: Front) -> None:
        """The window that asks and shows; called once, before any action runs."""
        self._front = front
        self._fronted = MappingProxyType(
            {
                "task.window": front.ask_window,
                "task.export": front.show_export,
                "app.preferences": front.show_preferences,
                "app.quit": front.quit,
                "edit.copy": front.copy_selection,
                "edit.select-all": front.select_all,
                "edit.find": front.show_find,
                "edit.find-next": partial(front.find_next, backwards=False),
                "edit.find-previous": partial(front.find_next, backwards=True),
                "edit.filter": front.focus_filter,
                "view.fold-hidden": partial(front.fold_hidden, folded=True),
                "view.unfold": partial(front.fold_hidden, folded=False),
                "view.panel-tasks": partial(front.toggle_panel, "tasks"),
                "view.panel-details": partial(front.toggle_panel, "details"),
                "view.panel-difference": partial(front.toggle_panel, "difference"),
                "view.panel-facts": partial(front.toggle_panel, "facts"),
                "view.panel-losses": partial(front.toggle_panel, "losses"),
                "view.panel-tokens": partial(front.toggle_panel, "tokens"),
                "view.panel-events": partial(front.toggle_panel, "events"),
                "view.panel-checkpoints": partial(front.toggle_panel, "checkpoints"),
                "view.panel-findings": partial(front.toggle_panel, "findings"),
                "view.panel-history": partial(front.toggle_panel, "history"),
                "view.panel-usage": partial(front.toggle_panel, "usage"),
                "view.panel-lab": partial(front.toggle_panel, "lab"),
                "view.next-pane": partial(front.focus_pane, 1),
                "view.previous-pane": partial(front.focus_pane, -1),
                "view.reset-layout": front.reset_layout,
                "request.go-to": front.ask_request,
                "ask.why": partial(front.ask, "details"),
                "ask.difference": partial(front.ask, "difference"),
                "ask.facts": partial(front.ask, "facts"),
                "ask.losses": partial(front.ask, "losses"),
                "ask.tokens": partial(front.ask, "tokens"),
                "ask.findings": partial(front.ask, "findings"),
                "ask.track": front.track_selection,
                "ask.mark": front.mark_reference,
                **{f"lab.{name}": partial(front.run_lab, name) for name in LAB_COMMANDS},
                "act.rollback": front.ask_checkpoint,
                "help.shortcuts": partial(front.show_help, "shortcuts"),
                "help.legend": partial(front.show_help, "legend"),
                "help.about": partial(front.show_help, "about"),
            }
        )

        early, self._early = self._early, []
        for action_id in early:
            self.run(action_id)

    def detach(self) -> None:
        """The window closes."""
        self._front = None
        self._fronted = MappingProxyType({})

    @property
    def ids(self) -> frozenset[str]:
        """Ids of all actions that can be run."""
        return frozenset((*self._table, *self._fronted))

    def run(self, action_id: str) -> None:
        """Carry out an action. KeyError for an id without a handler."""
        if self._front is None:
            self._early.append(action_id)
            return
        handler = self._table.get(action_id) or self._fronted[action_id]
        try:
            handler()
        except CtxError as error:
            self._notices.post(notice_of(error, key="action", severity=Severity.WARNING))

    # -- tasks --------------------------------------------------------------------------------------------------

    def open_folder(self) -> None:
        """Ask for a folder and open what it holds."""
        if self._front is not None:
            self._front.ask_folder(partial(self.open_path, remember=True))

    def open_path(self, path: Path, *, remember: bool = False) -> None:
        """Open what one folder or file holds, and show its newest task."""
        self._show_when_found = True
        self._discovery.open_path(path, remember=remember)

    def open_samples(self) -> None:
        """Open the bundled sample tasks."""
        self.open_path(self._samples())

    def reload(self) -> None:
        """Read the open task again and look for new ones."""
        self._session.reload()
        self._discovery.refresh()

    def show_folder(self) -> None:
        """Open the task's folder in the file manager."""
        if self._front is not None and self._session.task is not None:
            self._front.show_folder(Path(self._session.task.directory))

    def copy_path(self) -> None:
        """Copy the path of the task's folder."""
        if self._front is not None and self._session.task is not None:
            self._front.copy_text(str(self._session.task.directory))

    def set_window(self, tokens: int | None) -> None:
        """Set the model window of the open task, or with None go back to what was found."""
        task = self._session.task
        if task is not None:
            self._settings.set_window_override(str(task.directory), tokens)

    def _show_found(self, refs: tuple[TaskRef, ...]) -> None:
        if self._show_when_found and refs:
            self._show_when_found = False
            usable = [ref for ref in refs if not ref.problem] or list(refs)
            self._session.open_task(max(usable, key=_age))

    # -- looking ------------------------------------------------------------------------------------------------

    def zoom(self, step: int) -> None:
        """Change the scale by so many percent."""
        self._settings.set(SCALE, max(SCALE_MIN, min(SCALE_MAX, self._settings.get(SCALE) + step)))

    def toggle(self, field: Field[bool]) -> None:
        """Switch a setting on or off."""
        self._settings.set(field, not self._settings.get(field))

    def last_request(self) -> None:
        """Pin the newest request."""
        self._session.select_request(self._session.request_count - 1)

    def go_live(self) -> None:
        """Esc: close what is open on the stage, else drop the what-if, else go live."""
        if self._front is not None and self._front.escape():
            return
        if self._session.plan is not None:
            self._session.preview(None)
        else:
            self._session.go_live()

    def step_event(self, way: int) -> None:
        """Go to the next request at which the context was changed, or with -1 the one before."""
        timeline = self._session.timeline
        if timeline is None:
            return
        position = self._session.request_count if self._session.request is None else self._session.request
        numbers = event_requests(timeline)
        candidates = [number for number in numbers if (number > position if way > 0 else number < position)]
        if candidates:
            self._session.select_request(candidates[0] if way > 0 else candidates[-1])

    def copy_diagnostics(self) -> None:
        """Copy what a bug report needs."""
        if self._front is not None:
            self._front.copy_text(diagnostics(self._session, self._settings, len(self._discovery.tasks)))

    def turn_back(self, way: str) -> None:
        """Undo or redo; a task that looks open needs the user's consent first."""
        history, snapshot = self._changes.history, self._session.snapshot
        entry, turn = (history.undo, self._changes.undo) if way == "undo" else (history.redo, self._changes.redo)
        if entry is None:
            return
        reasons = snapshot.looks_open if snapshot is not None else ()
        if reasons and self._front is not None:
            self._front.ask_consent(f"{way.capitalize()}: {entry.title}", reasons, partial(turn, consent_open=True))
        else:
            turn()

    # -- plans --------------------------------------------------------------------------------------------------

    def truncate(self, keep: str) -> None:
        """Work out a truncation and show it."""
        self._plan(partial(_make, "plan_truncate", keep=keep), f"Working out: keep {keep}")

    def optimize(self) -> None:
        """Work out which reads of files can be replaced, and show it."""
        self._plan(partial(_make, "plan_optimize"), "Working out: optimize file reads")

    def decide(self) -> None:
        """Work out the agent's own decision for the window that is set, and show it."""
        window = self._session.window
        if window is not None:
            self._plan(partial(_make, "plan_decide", window=window), "Working out the agent's decision")

    def rollback(self, target: Checkpoint) -> None:
        """Work out a rollback to a checkpoint and show it."""
        self._plan(partial(_make, "plan_rollback", target=target), "Working out the rollback")

    def rollback_to_message(self, message: int | None = None) -> None:
        """Work out a rollback that makes this message (None: the chosen one) the last one, and show it."""
        chosen = self._session.message if message is None else message
        if chosen is None:
            raise RefusedError("No message is chosen.", hint="Choose the message that should be the last one.")
        self._plan(partial(_make, "plan_rollback_to_message", message=chosen), f"Working out the rollback to {chosen}")

    def repair(self, code: str) -> None:
        """Work out the safe repair of what findings of this code name, and show it."""
        self._plan(partial(_make, "plan_repair", code=code), f"Working out the repair of {code}")

    def show_plan(self) -> None:
        """Show the preview of the what-if that is looked at."""
        plan = self._session.plan
        if plan is not None and self._front is not None:
            self._front.show_plan(plan)

    def _plan(self, make: Remake, title: str) -> None:
        timeline = self._session.timeline
        if timeline is None:
            return

        def work(token: CancelToken) -> tuple[Plan, Remake, Timeline]:
            plan = make(timeline)
            token.check()
            return plan, make, timeline

        self._runner.read(work, done=self._take_plan, failed=self._tell, title=title)

    def _take_plan(self, result: tuple[Plan, Remake, Timeline]) -> None:
        plan, make, timeline = result
        if self._session.timeline is not timeline:
            if self._session.task is not None and str(timeline.snapshot.task.directory) == str(
                self._session.task.directory
            ):
                self._plan(make, "Working it out again, because the task has changed")
            return
        self._session.preview(plan, make)
        if self._front is not None:
            self._front.show_plan(plan)

    def _tell(self, error: CtxError) -> None:
        self._notices.post(notice_of(error, key="task:plan", severity=Severity.WARNING))


def _make(rule: str, timeline: Timeline, **settings: object) -> Plan:
    """A plan by the name of its function in `engine.plans`."""
    from ctxviewer.engine import plans  # noqa: PLC0415 - as above

    plan: Plan = getattr(plans, rule)(timeline, **settings)
    return plan


def event_requests(timeline: Timeline) -> tuple[int, ...]:
    """Numbers of the requests at which the context was changed, ascending, each once."""
    return tuple(sorted({event.request for event in timeline.events if event.request is not None}))


def _age(ref: TaskRef) -> int:
    return max(ref.updated_ms, ref.created_ms)
