"""Who follows whom for the questions: panels are watched while they are seen, answers go to panels, graph and text."""

from __future__ import annotations

from PySide6.QtCore import QObject

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.actions.handlers import Handlers
from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.facts import FileQuestion, Question
from ctxviewer.engine.search import TextQuestion, matcher_of
from ctxviewer.models.conversation import ConversationModel
from ctxviewer.models.tracked import FactRow, tracked_rows
from ctxviewer.services.answers.comparing import Reference
from ctxviewer.services.answers.desk import Answers
from ctxviewer.services.answers.diagnosing import Diagnosed
from ctxviewer.services.answers.inquiry import Answer
from ctxviewer.services.answers.tracking import Tracked
from ctxviewer.services.counting import Counting
from ctxviewer.services.session import Session, SnapshotChange
from ctxviewer.views.conversation.pinned_words import PinnedWords
from ctxviewer.views.front import WindowFront
from ctxviewer.views.main_window import MainWindow

WRITES = "act.truncate-half"
"""An action that can be carried out when anything can be written to the task."""


class Asking(QObject):
    """All connections of the questions, as methods with names. Its parent is the window."""

    def __init__(
        self,
        window: MainWindow,
        front: WindowFront,
        *,
        session: Session,
        counting: Counting,
        answers: Answers,
        handlers: Handlers,
        actions: ActionSet,
        messages: ConversationModel,
    ) -> None:
        super().__init__(window)
        self._window, self._front, self._panels = window, front, window.panels
        self._session, self._counting, self._answers = session, counting, answers
        self._handlers, self._actions, self._messages = handlers, actions, messages
        self._connect_answers()
        self._connect_panels()
        session.task_changed.connect(self._follow_task)
        session.snapshot_changed.connect(self._follow_snapshot)
        session.request_changed.connect(self._show_cost)
        session.projection_changed.connect(self._mark_facts)
        counting.counts_changed.connect(self._follow_counts)
        window.panels_settled.connect(self._follow_panels)
        actions["ask.mark"].changed.connect(self._follow_mark)
        actions[WRITES].changed.connect(self._follow_writing)
        answers.diagnosing.watch(True)
        answers.costing.watch(True)
        self._follow_panels()
        self._follow_mark()
        self._follow_writing()

    def _connect_answers(self) -> None:
        answers, panels = self._answers, self._panels
        answers.comparing.changed.connect(panels.difference.set_answer)
        answers.comparing.reference_changed.connect(panels.difference.set_reference)
        answers.sums.changed.connect(panels.difference.set_sums)
        answers.texts.changed.connect(panels.difference.set_texts)
        answers.losing.changed.connect(panels.losses.set_answer)
        answers.weighing.changed.connect(panels.tokens.set_answer)
        answers.diagnosing.changed.connect(self._show_findings)
        answers.costing.changed.connect(self._show_cost)
        answers.tracking.changed.connect(self._show_facts)
        answers.tracking.added.connect(panels.facts.show_added)
        answers.tracking.refused.connect(self._show_refusal)
        answers.tracking.paths_changed.connect(panels.facts.line.set_paths)

    def _connect_panels(self) -> None:
        panels, session, answers = self._panels, self._session, self._answers
        panels.difference.reference_chosen.connect(self._choose_reference)
        panels.difference.mark_wanted.connect(self._actions["ask.mark"].trigger)
        panels.difference.message_wanted.connect(session.select_message)
        panels.difference.texts_wanted.connect(answers.texts.show)
        panels.difference.file_wanted.connect(self._track_file)
        panels.difference.copy_wanted.connect(self._front.copy_text)
        panels.facts.track_wanted.connect(answers.tracking.track)
        panels.facts.selection_wanted.connect(self._actions["ask.track"].trigger)
        panels.facts.remove_wanted.connect(answers.tracking.remove)
        panels.facts.clear_wanted.connect(answers.tracking.clear)
        panels.facts.place_wanted.connect(self._go_to)
        panels.facts.request_wanted.connect(session.select_request)
        panels.facts.line.paths_wanted.connect(answers.tracking.find_paths)
        panels.losses.place_wanted.connect(self._go_to)
        panels.losses.request_wanted.connect(session.select_request)
        panels.losses.track_wanted.connect(self._track)
        panels.losses.copy_wanted.connect(self._front.copy_text)
        panels.tokens.message_wanted.connect(session.select_message)
        panels.tokens.place_wanted.connect(self._go_to)
        panels.tokens.request_wanted.connect(session.select_request)
        panels.findings.message_wanted.connect(session.select_message)
        panels.findings.request_wanted.connect(session.select_request)
        panels.findings.copy_wanted.connect(self._front.copy_text)
        panels.findings.repair_wanted.connect(self._handlers.repair)

    # -- the session speaks -------------------------------------------------------------------------------------

    def _follow_task(self, _task: object) -> None:
        self._open(readable=False)
        self._panels.findings.set_findings(())
        self._window.show_findings(())

    def _follow_snapshot(self, change: SnapshotChange) -> None:
        self._open(readable=change.snapshot.has_messages and len(change.snapshot.messages) > 0)
        if self._answers.diagnosing.answer.value is None:  # what reading found is there at once
            self._panels.findings.set_findings(change.snapshot.findings, open_task=True)
            self._window.show_findings(change.snapshot.findings)
        if self._panels.facts.line.wants_paths:
            self._answers.tracking.find_paths()

    def _open(self, *, readable: bool) -> None:
        panels = self._panels
        for panel in (panels.difference, panels.facts, panels.losses, panels.tokens):
            panel.set_open(readable)

    def _follow_counts(self, _table: object) -> None:
        self._panels.tokens.set_counted(self._answers.weighing.counted_share)

    def _follow_panels(self) -> None:
        """Only what is seen is worked on."""
        seen, answers = self._window.is_seen, self._answers
        for inquiry in (answers.comparing, answers.sums, answers.texts):
            inquiry.watch(seen("difference"))
        answers.losing.watch(seen("losses"))
        answers.weighing.watch(seen("tokens"))

    def _follow_mark(self) -> None:
        action = self._actions["ask.mark"]
        self._panels.difference.set_mark_tip(action.toolTip(), possible=action.isEnabled())

    def _follow_writing(self) -> None:
        action = self._actions[WRITES]
        self._panels.findings.set_refusal("" if action.isEnabled() else action.statusTip())

    # -- the answers --------------------------------------------------------------------------------------------

    def _show_findings(self, answer: Answer[Diagnosed]) -> None:
        if answer.value is not None and not answer.working:
            self._panels.findings.set_findings(answer.value.findings, open_task=True)
            self._window.show_findings(answer.value.findings)

    def _show_cost(self, _news: object = None) -> None:
        """The cost of the shown change; that of another request is not shown."""
        answer = self._answers.costing.answer
        found, error = answer.value, answer.error
        words = found.cost.sentence if found is not None and found.cost is not None else ""
        if error is not None:
            words = " ".join(part for part in (error.sentence, error.hint, error.place) if part)
        plan = found.plan if found is not None else None
        self._front.show_cost(plan, words)
        shown = error is not None or (found is not None and plan is None and found.request == self._session.request)
        self._panels.details.request.set_cost(words if shown else "")

    def _show_facts(self, facts: tuple[Tracked, ...]) -> None:
        self._panels.facts.set_facts(facts)
        asked = {one.place: one.question for one in facts if one.fact is not None}
        words = {place: matcher_of(ask) for place, ask in asked.items() if isinstance(ask, TextQuestion)}
        self._window.stage.conversation.set_pinned_words(PinnedWords(words))
        self._mark_facts()

    def _mark_facts(self, _projection: object = None) -> None:
        """Strips above the graph, letters in the conversation."""
        known = [(one.place, one.fact) for one in self._answers.tracking.facts if one.fact is not None]
        column = self._session.request
        requests = self._session.request_count
        self._messages.set_tracked(tracked_rows(known, requests if column is None else column))
        strips = (FactRow(one.place, one.question, one.fact).strip for one in self._answers.tracking.facts)
        self._panels.usage.set_strips(tuple(strip for strip in strips if strip is not None))

    def _show_refusal(self, error: CtxError) -> None:
        self._window.show_panel("facts")
        self._panels.facts.line.say_problem(error)

    # -- the panels ---------------------------------------------------------------------------------------------

    def _choose_reference(self, reference: Reference) -> None:
        self._answers.comparing.set_reference(reference)

    def _go_to(self, place: tuple[int, int | None]) -> None:
        """Choose a message, and bring one of its blocks into view."""
        message, block = place
        self._session.select_message(message)
        if block is not None and block >= 0 and self._session.message == message:
            self._window.stage.conversation.reveal(message, block)

    def _track(self, question: Question) -> None:
        self._window.show_panel("facts")
        self._answers.tracking.track(question)

    def _track_file(self, path: str) -> None:
        self._track(FileQuestion(path))
