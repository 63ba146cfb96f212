"""The middle of the window: what-if bar, conversation (or why there is none), find bar, notices.

Bars that come and go by themselves lie below the text, so that no line moves under the reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.snapshot import FileRole, Snapshot
from ctxviewer.models.tasks import one_line
from ctxviewer.services.notices import Notices
from ctxviewer.services.session import Session
from ctxviewer.views.empty import EmptyState
from ctxviewer.views.find_bar import FindBar
from ctxviewer.views.leftover_page import LeftoverPage
from ctxviewer.views.notice_bar import NoticeBar
from ctxviewer.views.plan_bar import PlanBar

if TYPE_CHECKING:  # it loads numpy, and comes after the first paint
    from ctxviewer.views.conversation import ConversationView


class Stage(QWidget):
    """Conversation and its bars."""

    action_wanted = Signal(object)  # str: id of the action that the empty state offers

    def __init__(
        self,
        session: Session,
        notices: Notices,
        actions: ActionSet,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._offer = ""
        self._any_tasks = True
        self._conversation: ConversationView | None = None
        self.empty = EmptyState(parent=self)
        self.empty.activated.connect(self._pass_offer)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.empty)
        self.leftover = LeftoverPage(self)
        self.leftover.activated.connect(self._pass_offer)
        self._stack.addWidget(self.leftover)
        self.plan_bar = PlanBar(actions, self)
        self.find_bar = FindBar(actions, self)
        self.notices = NoticeBar(notices, actions, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.plan_bar)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.find_bar)
        layout.addWidget(self.notices)
        for signal in (session.task_changed, session.snapshot_changed, session.task_failed, session.reading_changed):
            signal.connect(self._settle)
        self._settle()

    @property
    def conversation(self) -> ConversationView:
        """The messages. RuntimeError before `set_conversation`."""
        if self._conversation is None:
            raise RuntimeError("the stage has no conversation yet")
        return self._conversation

    def set_conversation(self, conversation: ConversationView) -> None:
        """Give the stage its conversation, once; it takes long to load and comes after the first paint."""
        self._conversation = conversation
        self._stack.addWidget(conversation)
        self.setFocusProxy(conversation)
        self._settle()

    def set_any_tasks(self, any_tasks: bool) -> None:
        """Where no task was found, the samples are offered."""
        if any_tasks != self._any_tasks:
            self._any_tasks = any_tasks
            self._settle()

    @property
    def shows_conversation(self) -> bool:
        """False while a sentence says why there is nothing to show."""
        return self._conversation is not None and self._stack.currentWidget() is self._conversation

    def _settle(self, _news: object = None) -> None:
        session, snapshot = self._session, self._session.snapshot
        if session.task is None and not self._any_tasks:
            self._say(
                "The samples show what a model was sent, and what it was not.",
                "Open the samples",
                "task.samples",
                "task",
            )
        elif session.task is None:
            self._say("Open a task to see what its model was sent.", "Open a folder…", "task.open", "open")
        elif session.failure is not None:
            words = " ".join(part for part in (session.failure.sentence, session.failure.hint) if part)
            self._say(words, "Read again", "task.reload", "error")
        elif snapshot is None:
            self._say(f"Reading {one_line(session.task.title, 60) or session.task.task_id}…", icon="task")
        elif not snapshot.has_messages or (not len(snapshot.messages) and _errors(snapshot)):
            errors = _errors(snapshot)
            first = errors[0] if errors else None
            sentence = first.sentence if first is not None else "The messages of this task cannot be read."
            advice = first.advice if first is not None else ""
            words = " ".join(part for part in (sentence, advice) if part)
            if snapshot.ui:
                self._show_leftovers(snapshot, words)
            else:
                self._say(words, "Read again", "task.reload", "error")
        elif not len(snapshot.messages):
            self._say("This task has no messages yet.", "Read again", "task.reload", "task")
        elif self._conversation is not None:
            self._stack.setCurrentWidget(self._conversation)

        if self._stack.currentWidget() is not self.leftover:
            self.leftover.forget()

    def _show_leftovers(self, snapshot: Snapshot, words: str) -> None:
        self._offer = "task.reload"
        self.leftover.show_leftovers(snapshot, words, "Read again")
        self._stack.setCurrentWidget(self.leftover)

    def _say(self, sentence: str, action: str = "", offer: str = "", icon: str = "") -> None:
        self._offer = offer
        self.empty.set_words(sentence.encode("utf-16", "replace").decode("utf-16"), action, icon)
        self._stack.setCurrentWidget(self.empty)

    def _pass_offer(self) -> None:
        if self._offer:
            self.action_wanted.emit(self._offer)


def _errors(snapshot: Snapshot) -> list[Finding]:
    """What cannot be shown, the history first: it is what should stand here."""
    history = {stamp.path.name for stamp in snapshot.files if stamp.role is FileRole.MESSAGES}
    errors = [finding for finding in snapshot.findings if finding.severity is Severity.ERROR]
    return sorted(errors, key=lambda finding: finding.file not in history)
