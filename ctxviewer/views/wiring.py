"""Who follows whom: the session speaks to every pane, and every pane speaks to the session. Panes never meet."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QMenu

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.actions.handlers import Handlers
from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.snapshot import TaskRef
from ctxviewer.domain.view import TextMode
from ctxviewer.engine.cline.window import window_info
from ctxviewer.engine.explain import Explanation, api_of
from ctxviewer.models.conversation import ConversationModel
from ctxviewer.models.details import message_details, request_details
from ctxviewer.models.status import find_words, status_words, title_words
from ctxviewer.models.tasks import TaskTreeModel
from ctxviewer.services.changes import Changes, History
from ctxviewer.services.counting import Counting
from ctxviewer.services.discovery import Discovery
from ctxviewer.services.explaining import Explaining
from ctxviewer.services.session import Session, SnapshotChange
from ctxviewer.views.conversation import ContextRequest
from ctxviewer.views.conversation.finder import FindState
from ctxviewer.views.front import WindowFront
from ctxviewer.views.main_window import MainWindow

REQUEST_PAUSE_MS = 40
"""After fast steps the words about a request follow the picture so much later."""


class Wiring(QObject):
    """All connections of one window, as methods with names. Its parent is the window."""

    def __init__(
        self,
        window: MainWindow,
        front: WindowFront,
        *,
        session: Session,
        changes: Changes,
        counting: Counting,
        explaining: Explaining,
        discovery: Discovery,
        handlers: Handlers,
        actions: ActionSet,
        messages: ConversationModel,
        tasks: TaskTreeModel,
    ) -> None:
        super().__init__(window)
        self._window, self._front, self._stage, self._panels = window, front, window.stage, window.panels
        self._session, self._changes, self._counting, self._explaining = session, changes, counting, explaining
        self._handlers, self._actions = handlers, actions
        self._messages, self._tasks = messages, tasks
        self._menu: QMenu | None = None
        self._request_soon = QTimer(self)
        self._request_soon.setSingleShot(True)
        self._request_soon.setInterval(REQUEST_PAUSE_MS)
        self._request_soon.timeout.connect(self._show_request)
        self._around_soon = QTimer(self)
        self._around_soon.setSingleShot(True)
        self._around_soon.timeout.connect(self._show_around)
        self._connect_session(discovery)
        self._connect_panes()
        self._follow_tasks(discovery.tasks)
        self._follow_mode(session.text_mode)
        self._show_place()

    def _connect_session(self, discovery: Discovery) -> None:
        session = self._session
        session.task_changed.connect(self._follow_task)
        session.snapshot_changed.connect(self._follow_snapshot)
        session.request_changed.connect(self._follow_request)
        session.projection_changed.connect(self._follow_projection)
        session.message_changed.connect(self._follow_message)
        session.plan_changed.connect(self._follow_plan)
        session.step_changed.connect(self._follow_step)
        session.text_mode_changed.connect(self._follow_mode)
        session.new_requests.connect(self._show_place)
        session.window_changed.connect(self._show_window)
        self._counting.counts_changed.connect(self._follow_counts)
        self._explaining.explained.connect(self._follow_explanation)
        self._changes.history_changed.connect(self._follow_history)
        discovery.tasks_changed.connect(self._follow_tasks)
        discovery.live_changed.connect(self._tasks.set_live)
        discovery.searching_changed.connect(self._follow_search)

    def _connect_panes(self) -> None:
        session, panels, stage = self._session, self._panels, self._stage
        conversation, find_bar = stage.conversation, stage.find_bar
        panels.tasks.task_chosen.connect(session.open_task)
        panels.tasks.open_wanted.connect(self._actions["task.open"].trigger)
        stage.action_wanted.connect(self._trigger)
        conversation.message_selected.connect(session.select_message)
        conversation.context_requested.connect(self._show_menu)
        conversation.find_progressed.connect(self._show_found)
        conversation.verticalScrollBar().valueChanged.connect(self._prefer_visible)
        find_bar.words_changed.connect(self._find)
        find_bar.step_wanted.connect(self._find_step)
        find_bar.closed.connect(self._leave_find)
        stage.notices.copy_wanted.connect(self._front.copy_text)
        panels.usage.request_selected.connect(session.select_request)
        panels.usage.help_wanted.connect(self._help_graph)
        panels.details.text_mode_chosen.connect(session.set_text_mode)
        panels.details.copy_wanted.connect(self._front.copy_text)
        panels.events.request_wanted.connect(session.select_request)
        panels.checkpoints.request_wanted.connect(session.select_request)
        panels.checkpoints.rollback_wanted.connect(self._handlers.rollback)
        panels.history.folder_wanted.connect(self._front.show_folder)
        self._window.bar.window_chosen.connect(self._handlers.set_window)
        self._actions["act.rollback"].changed.connect(self._follow_rollback)

    # -- the session speaks -------------------------------------------------------------------------------------

    def _follow_tasks(self, tasks: tuple[TaskRef, ...]) -> None:
        self._tasks.set_tasks(tasks)
        self._panels.tasks.show_open(self._session.task)
        if tasks:
            self._stage.set_any_tasks(True)

    def _follow_search(self, searching: bool) -> None:
        self._panels.tasks.set_searching(searching)
        if not searching:
            self._stage.set_any_tasks(self._tasks.rowCount() > 0)

    def _follow_task(self, task: TaskRef | None) -> None:
        self._window.setWindowTitle(title_words(task, None))
        self._panels.tasks.show_open(task)
        self._messages.set_timeline(None)
        self._counting.forget()
        self._panels.usage.set_timeline(None)
        self._panels.events.set_events(())
        self._panels.checkpoints.set_checkpoints(())
        self._panels.details.set_message(None)
        self._panels.details.set_request(None)
        self._stage.find_bar.close_bar()
        self._window.bar.show_window(None, None)
        self._window.show_facts("")
        self._show_place()

    def _follow_snapshot(self, change: SnapshotChange) -> None:
        snapshot, timeline = change.snapshot, change.timeline
        self._window.setWindowTitle(title_words(snapshot.task, snapshot))
        self._messages.set_timeline(timeline, same_task=change.same_task, grown=change.grown)
        self._counting.follow(change)
        self._stage.conversation.set_following(self._session.live)
        self._show_place()
        if change.same_task:
            self._show_around()
        else:  # the messages are painted first
            self._around_soon.start()

    def _follow_request(self, number: int | None) -> None:
        self._panels.usage.set_request(number)
        self._stage.conversation.set_following(number is None)
        self._show_place()
        self._request_soon.start()

    def _follow_projection(self, projection: Projection | None) -> None:
        if self._session.timeline is None:
            return
        self._messages.set_projection(projection)
        self._bring_back(projection)
        self._show_message()
        self._show_facts()

    def _bring_back(self, projection: Projection | None) -> None:
        """When only messages that did not exist yet are in view, show the last one that did."""
        sheet = self._stage.conversation.sheet
        if projection is None or sheet is None or not sheet.placed or projection.until <= 0:
            return
        if sheet.placed[0].row >= projection.until:
            self._stage.conversation.reveal(projection.until - 1)
            self._stage.conversation.set_current_message(self._session.message)

    def _follow_message(self, number: int | None) -> None:
        conversation = self._stage.conversation
        if number is not None and conversation.current_message != number:
            conversation.reveal(number)
        elif number is None:
            conversation.set_current_message(None)
        self._show_message()

    def _follow_plan(self, plan: Plan | None) -> None:
        if plan is None and self._stage.plan_bar.has_the_focus:
            self._stage.conversation.setFocus(Qt.FocusReason.OtherFocusReason)
        self._stage.plan_bar.show_plan(plan)
        self._counting.count_plan(plan)
        self._show_plan_in_graph()
        self._show_place()

    def _follow_step(self, done: int | None) -> None:
        plan = self._session.plan
        self._stage.plan_bar.show_step(done, len(plan.steps) if plan is not None else 0)
        if plan is not None:
            self._show_plan_in_graph()

    def _follow_mode(self, mode: TextMode) -> None:
        self._messages.set_text_mode(mode)
        self._panels.details.set_text_mode(mode)
        self._window.bar.show_mode(mode)

    def _follow_counts(self, table: object) -> None:
        self._messages.set_counts(self._counting.table)
        self._show_facts()
        if table is not None:
            self._show_plan_in_graph()
            self._show_message()

    def _follow_explanation(self, _explanation: Explanation | None) -> None:
        self._show_request()

    def _follow_history(self, history: History) -> None:
        self._panels.history.show_history(history)

    def _follow_rollback(self) -> None:
        action = self._actions["act.rollback"]
        self._panels.checkpoints.set_refusal("" if action.isEnabled() else action.toolTip())

    # -- showing ------------------------------------------------------------------------------------------------

    def _show_around(self) -> None:
        """What surrounds the messages of the task: graph, events, checkpoints, the words about the request."""
        self._around_soon.stop()
        snapshot, timeline = self._session.snapshot, self._session.timeline
        if snapshot is None or timeline is None:
            return
        self._show_window()
        self._panels.events.set_events(timeline.events, open_task=True)
        self._panels.checkpoints.set_checkpoints(snapshot.checkpoints, open_task=True)
        self._show_request()

    def _show_place(self, _news: object = None) -> None:
        session, bar = self._session, self._window.bar
        bar.stepper.show_place(session.request, session.request_count, what_if=session.plan is not None)
        bar.show_live(live=session.live, unseen=session.unseen_requests)

    def _show_window(self, _news: object = None) -> None:
        snapshot, timeline, window = self._session.snapshot, self._session.timeline, self._session.window
        if snapshot is None or timeline is None:
            return
        info = window_info(api_of(snapshot.model, window))
        self._window.bar.show_window(window, snapshot.model)
        self._panels.usage.set_timeline(timeline, float(info.window), float(info.limit))
        self._panels.usage.set_request(self._session.request)

    def _show_plan_in_graph(self) -> None:
        plan, shown = self._session.plan, self._session.projection
        tokens = self._estimated_total(plan, shown) if plan is not None and shown is not None else None
        self._panels.usage.set_plan(plan, tokens, shown.what_if_at if plan is not None and shown is not None else None)

    def _estimated_total(self, plan: Plan, shown: Projection) -> float | None:
        """What the request of a what-if would report: the last reported total, moved by what is sent less or more."""
        before, after, timeline = self._counting.sums(plan.before), self._counting.sums(shown), self._session.timeline
        if before is None or after is None or timeline is None or after.known_share < 1:
            return None
        if len(plan.lost_requests):
            return float(after.sent)
        count = len(timeline.requests) if shown.what_if_at is None else shown.what_if_at
        earlier = (timeline.requests[number] for number in range(count - 1, -1, -1))
        reported = next((request.usage.total for request in earlier if request.usage_reported), None)
        if reported is None:
            return float(after.sent)
        moved = float(reported + after.sent - before.sent)
        return moved if moved > 0 else reported * after.sent / max(1, before.sent)

    def _show_facts(self) -> None:
        projection = self._session.projection
        sums = self._counting.sums(projection) if projection is not None else None
        self._window.show_facts(status_words(projection, sums), self._counting.sentence)

    def _show_message(self) -> None:
        timeline, projection, number = self._session.timeline, self._session.projection, self._session.message
        if timeline is None or projection is None or number is None:
            self._panels.details.set_message(None)
            return
        table = self._counting.table
        tokens = table.message_as_sent(number, projection) if table is not None else None
        try:
            self._panels.details.set_message(message_details(timeline, projection, number, tokens))
        except CtxError:
            self._panels.details.set_message(None)

    def _show_request(self) -> None:
        timeline, number = self._session.timeline, self._session.request
        self._request_soon.stop()
        if timeline is None:
            return
        explanation = self._explaining.current
        if explanation is not None and explanation.request != number:
            explanation = None
        self._panels.details.set_request(request_details(timeline, number, explanation, self._session.projection))

    # -- the panes speak ----------------------------------------------------------------------------------------

    def _trigger(self, action_id: str) -> None:
        self._actions[action_id].trigger()

    def _help_graph(self, _what: object) -> None:
        self._actions["task.open"].trigger()

    def _prefer_visible(self, _value: int) -> None:
        sheet = self._stage.conversation.sheet
        if sheet is not None:
            self._counting.prefer(sheet.anchor.row)

    def _find(self, words: str) -> None:
        bar = self._stage.find_bar
        if words:
            self._stage.conversation.find(words, case_sensitive=bar.match_case)
        else:
            self._stage.conversation.clear_find()
            bar.show_result("")

    def _find_step(self, backwards: bool) -> None:
        bar, conversation = self._stage.find_bar, self._stage.conversation
        if conversation.find_state.query is None and bar.words:
            self._find(bar.words)
        else:
            conversation.find_next(backwards=backwards)

    def _leave_find(self) -> None:
        self._stage.conversation.clear_find()
        self._stage.conversation.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_found(self, state: FindState) -> None:
        if state.query is None:
            self._stage.find_bar.show_result("")
            return
        words = find_words(
            total=state.total,
            messages=state.messages,
            current=state.current,
            share=state.share,
            complete=state.complete,
            problem=state.problem,
        )
        nothing = bool(state.problem) or (state.complete and not state.total)
        self._stage.find_bar.show_result(words, nothing=nothing)

    def _show_menu(self, asked: ContextRequest) -> None:
        if asked.message is not None:
            self._session.select_message(asked.message)
        if self._menu is not None:
            self._menu.deleteLater()
        menu = self._menu = QMenu(self._window)
        menu.setToolTipsVisible(True)
        for group in (("edit.copy", "edit.select-all"), ("ask.track",),
                      ("view.sent", "view.stored", "view.difference"), ("act.rollback-message",)):  # fmt: skip
            for action_id in group:
                menu.addAction(self._actions[action_id])
            menu.addSeparator()
        if asked.message is not None:
            menu.addAction(self._actions["lab.break-message"])
            self._front.add_lab(menu, asked.message)
        menu.popup(asked.place)
