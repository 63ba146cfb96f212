"""The lab, its panel, the conversation and the graph: who tells whom."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.domain.errors import RefusedError
from ctxviewer.domain.plan import Step
from ctxviewer.domain.snapshot import TaskRef
from ctxviewer.engine.matrix import Row
from ctxviewer.engine.replay import Replay
from ctxviewer.engine.strategies.facts import files_in
from ctxviewer.models.conversation import ConversationModel
from ctxviewer.models.curves import curves_of
from ctxviewer.models.visible import one_line
from ctxviewer.services.lab.desk import Lab
from ctxviewer.services.lab.replaying import Replayed
from ctxviewer.services.session import Session
from ctxviewer.views import theme
from ctxviewer.views.front import WindowFront
from ctxviewer.views.lab.head import Page
from ctxviewer.views.lab.panel import LabPanel
from ctxviewer.views.main_window import MainWindow

MOST_FILES = 12
"""Files of a message that its menu offers to stop at."""


class LabWiring(QObject):
    """All connections of the lab in one window. Its parent is the window."""

    def __init__(
        self,
        window: MainWindow,
        front: WindowFront,
        panel: LabPanel,
        *,
        session: Session,
        lab: Lab,
        actions: ActionSet,
        messages: ConversationModel,
    ) -> None:
        super().__init__(window)
        self._window, self._front, self._panel = window, front, panel
        self._session, self._lab, self._actions, self._messages = session, lab, actions, messages
        self._runs: tuple[Replay, ...] = ()
        self._reader_moved = self._was_playing = False
        self._connect_panel()
        self._connect_services()
        panel.replay.set_keys((lab.choosing.strategy.key,))
        self._look(None)

    def _connect_panel(self) -> None:
        panel, lab, session = self._panel, self._lab, self._session
        self._window.panels_settled.connect(self._note_panels)
        panel.looked_at.connect(self._look)
        panel.open_wanted.connect(self._actions["task.open"].trigger)
        panel.steps.preferences_wanted.connect(self._actions["app.preferences"].trigger)
        panel.compare.preview_wanted.connect(self._preview)
        panel.compare.apply_wanted.connect(self._apply)
        panel.compare.copy_wanted.connect(self._front.copy_text)
        panel.replay.run_wanted.connect(lab.replaying.run)
        panel.replay.cancel_wanted.connect(lab.replaying.cancel)
        panel.replay.clear_wanted.connect(lab.replaying.forget)
        panel.replay.what_if_wanted.connect(self._show_replayed)
        panel.replay.request_wanted.connect(session.select_request)

    def _connect_services(self) -> None:
        session, lab = self._session, self._lab
        conversation = self._window.stage.conversation
        session.task_changed.connect(self._follow_task)
        session.step_changed.connect(self._follow_step)
        session.message_changed.connect(self._panel.steps.set_message)
        lab.comparing.changed.connect(self._panel.compare.show_answer)
        lab.replaying.changed.connect(self._follow_replays)
        lab.stepping.changed.connect(self._follow_stepping)
        conversation.reader_moved.connect(self._note_reader)
        self._follow_task(session.task)

    # -- commands

    def run(self, command: str) -> None:
        """Carry out `lab.<command>`. KeyError for one that does not exist."""
        stepping = self._lab.stepping
        moves = {
            "step": stepping.step,
            "back": stepping.back,
            "run": stepping.run,
            "reset": stepping.reset,
            "play": stepping.toggle_play,
        }
        pages = {"compare": Page.COMPARE, "replay": Page.REPLAY}
        if command == "break-message":
            self._toggle_stop()
        elif command in pages:
            self._show(pages[command])
            self._panel.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            move = moves[command]
            self._show(Page.STEPS)
            move()

    def _show(self, page: Page) -> None:
        if not self._window.is_seen("lab"):
            self._window.show_panel("lab")
            self._note_panels()
        if self._panel.page is not page:
            self._panel.show_page(page)

    def _toggle_stop(self) -> None:
        message = self._session.message
        if message is None:
            raise RefusedError("No message is chosen.", hint="Choose the message before whose loss steps should stop.")
        self._show(Page.STEPS)
        self._lab.stepping.toggle_message(message)

    def add_to_menu(self, menu: QMenu, message: int) -> None:
        """Offer breakpoints for the files of a message, below that for itself."""
        snapshot = self._session.snapshot
        if snapshot is None or not 0 <= message < len(snapshot.messages):
            return
        places = files_in(message, snapshot.messages[message]).places
        for path in tuple(dict.fromkeys(place.path for place in places))[:MOST_FILES]:
            name = one_line(path, 60).encode("utf-16", "replace").decode("utf-16").replace("&", "&&")
            action = menu.addAction(f"Stop before {name} goes")
            action.setToolTip("Stop the steps right before the last copy of this file is about to go")
            action.setData(path)
            action.triggered.connect(self._stop_at_file)

    def _stop_at_file(self, _checked: bool = False) -> None:
        action = self.sender()
        path = action.data() if isinstance(action, QAction) else None
        if isinstance(path, str):
            self._show(Page.STEPS)
            self._lab.stepping.add_file(path)

    # -- the panel speaks

    def _note_panels(self) -> None:
        self._panel.set_seen(self._window.is_seen("lab"))

    def _look(self, page: Page | None) -> None:
        """Only what is looked at is worked on."""
        lab = self._lab
        lab.stepping.watch(page is Page.STEPS)
        lab.comparing.watch(page is Page.COMPARE)
        if page is None and not lab.stepping.shown:
            lab.shelf.forget()

    def _preview(self, row: Row) -> None:
        """Look at what a strategy of the table would send: the stepper stands at its end."""
        if row.plan is None:
            return
        lab = self._lab
        lab.choosing.set_strategy(row.choice.strategy.key)
        if lab.stepping.planning.waits_for_consent:
            self._session.preview(row.plan, at=self._session.request, quiet=True)
        else:
            lab.stepping.take(row.plan)

    def _apply(self, row: Row) -> None:
        """The same preview as everywhere, from where it can be written."""
        self._preview(row)
        if row.plan is not None and self._session.plan is row.plan:
            self._session.show_step(None)
            self._front.show_plan(row.plan)

    def _show_replayed(self, wanted: tuple[Replay, int]) -> None:
        """Go to a request, and look at what a strategy would have sent with it."""
        run, number = wanted
        self._session.select_request(number)
        plan = self._lab.replaying.what_if(run, number)
        if plan is not None:
            self._session.preview(plan, at=number, quiet=True)

    # -- the services speak

    def _follow_task(self, _task: TaskRef | None) -> None:
        if self._session.task is None:
            words = "Open a task to compare what strategies would make of it."
        else:
            words = "All strategies run on this request, and are compared here: what each keeps, loses and costs."
        self._panel.compare.say(words)
        self._follow_replays(self._lab.replaying.state)

    def _follow_replays(self, state: Replayed) -> None:
        self._panel.replay.show_state(state, has_task=self._session.task is not None)
        if state.runs is not self._runs:
            self._runs = state.runs
            self._window.panels.usage.set_curves(curves_of(state.runs))

    def _follow_stepping(self) -> None:
        playing = self._lab.stepping.playing
        if playing == self._was_playing:
            return
        self._was_playing = playing
        if not playing:
            if theme.current().reduced_motion and not self._reader_moved:
                self._follow_step(self._session.step)  # it was not brought into view while it was played
            self._reader_moved = False

    def _note_reader(self) -> None:
        self._reader_moved = self._lab.stepping.playing

    def _follow_step(self, done: int | None) -> None:
        """Mark what the step changed, and bring it into view unless the reader reads elsewhere."""
        session = self._session
        step, plan = session.step_done, session.plan
        if step is None or plan is None or done is None:
            self._messages.set_touched(())
            return
        before = plan.steps[done - 2].after if done > 1 else plan.before
        shown = session.projection
        made_up = shown is not None and shown.inserted != before.inserted
        self._messages.set_touched(step.touched, made_up=made_up)
        if self._panel.steps.follows and not self._reader_moved and not self._is_still():
            self._reveal(step, made_up=made_up)

    def _is_still(self) -> bool:
        """Nothing scrolls by itself while steps are played and the system asks for little motion."""
        return self._lab.stepping.playing and theme.current().reduced_motion

    def _reveal(self, step: Step, *, made_up: bool) -> None:
        conversation = self._window.stage.conversation
        sheet = conversation.sheet
        if sheet is None:
            return
        rows = list(self._messages.made_up) if made_up else [place[0] for place in step.touched[:1]]
        if not rows or not 0 <= rows[0] < self._messages.rowCount():
            return
        row = rows[0]
        stretch = self._messages.stretch_of(row)
        if made_up or (stretch is not None and sheet.geometry.is_folded(row)):
            first = row if made_up or stretch is None else stretch.first
            conversation.movement.ensure_visible(first, lead=sheet.geometry.has_lead(first))
        else:
            conversation.movement.reveal(row, step.touched[0][1])
