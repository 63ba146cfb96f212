"""Keeps the actions true: after anything has changed, once per turn of the event loop, they are told the situation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.actions.handlers import event_requests
from ctxviewer.actions.needs import Situation
from ctxviewer.domain.finding import Severity
from ctxviewer.domain.view import TextMode
from ctxviewer.services.changes import Changes
from ctxviewer.services.runner import Runner
from ctxviewer.services.session import Session
from ctxviewer.services.settings import COMPACT, PROPORTIONAL, THEME, Settings

if TYPE_CHECKING:  # the engine loads with it
    from ctxviewer.services.lab.stepping import Stepping

_MODES = {"view.sent": TextMode.AS_SENT, "view.stored": TextMode.AS_STORED, "view.difference": TextMode.DIFFERENCE}
_THEMES = {
    "view.theme-system": "system",
    "view.theme-light": "light",
    "view.theme-dark": "dark",
    "view.theme-contrast": "high-contrast",
}


class Upkeep(QObject):
    """Watches the services on behalf of an ActionSet."""

    def __init__(
        self,
        actions: ActionSet,
        session: Session,
        changes: Changes,
        runner: Runner,
        settings: Settings,
        *,
        has_samples: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._actions, self._session, self._changes = actions, session, changes
        self._runner, self._settings, self._has_samples = runner, settings, has_samples
        self._stepping: Stepping | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self.refresh)
        for signal in (
            session.task_changed,
            session.snapshot_changed,
            session.request_changed,
            session.message_changed,
            session.plan_changed,
            session.text_mode_changed,
            session.task_failed,
            session.reading_changed,
            changes.history_changed,
            runner.jobs_changed,
            settings.changed,
            actions.triggered,
        ):
            signal.connect(self._note)
        self.refresh()

    def follow_lab(self, stepping: Stepping) -> None:
        """Watch the lab's stepper too, from now on."""
        self._stepping = stepping
        stepping.changed.connect(self._note)
        self._note()

    def situation(self) -> Situation:
        """What the needs look at, as it is now."""
        session, history = self._session, self._changes.history
        snapshot, timeline, plan = session.snapshot, session.timeline, session.plan
        stepping = self._stepping
        stepper = stepping.stepper if stepping is not None else None
        unreadable = ""
        readable = snapshot is not None and snapshot.has_messages and len(snapshot.messages) > 0
        if snapshot is not None and not readable:
            errors = [finding for finding in snapshot.findings if finding.severity is Severity.ERROR]
            unreadable = errors[0].sentence if errors else "The task has no messages yet."
        elif session.failure is not None:
            unreadable = session.failure.sentence
        return Situation(
            has_task=session.task is not None,
            reading=session.reading,
            readable=readable,
            unreadable_reason=unreadable,
            requests=session.request_count,
            request=session.request,
            event_requests=event_requests(timeline) if timeline is not None else (),
            message=session.message,
            checkpoints=len(snapshot.checkpoints) if snapshot is not None else 0,
            has_plan=plan is not None,
            plan_refusal=plan.refusal if plan is not None else "",
            plan_writes=plan is not None and not plan.effects.writes_nothing,
            writing=self._runner.busy_changing,
            undo_reason=history.undo_reason,
            redo_reason=history.redo_reason,
            steps_done=stepper.position if stepper is not None and stepping is not None and stepping.shown else 0,
            steps_ahead=stepper is None or stepping is None or not stepping.shown or not stepper.at_end,
            samples=self._has_samples(),
        )

    def refresh(self) -> None:
        """Tell the actions now."""
        actions, history = self._actions, self._changes.history
        actions.update(self.situation())
        for action_id, mode in _MODES.items():
            actions.set_checked(action_id, self._session.text_mode is mode)
        for action_id, theme in _THEMES.items():
            actions.set_checked(action_id, self._settings.get(THEME) == theme)
        actions.set_checked("view.proportional", self._settings.get(PROPORTIONAL))
        actions.set_checked("view.compact", self._settings.get(COMPACT))
        actions.set_checked("request.live", self._session.task is not None and self._session.live)
        undo, redo = history.undo, history.redo
        actions.set_text("edit.undo", f"&Undo: {_plain(undo.title)}" if undo is not None else "&Undo")
        actions.set_text("edit.redo", f"&Redo: {_plain(redo.title)}" if redo is not None else "&Redo")

    def close(self) -> None:
        """Watch no more."""
        self._soon.stop()

    def _note(self, _news: object = None) -> None:
        if not self._soon.isActive():
            self._soon.start(0)


def _plain(title: str) -> str:
    """A title in a menu: its ampersands are no mnemonics."""
    return title.replace("&", "&&")
