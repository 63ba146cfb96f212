"""The panel of the lab: one head, three pages."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.services.lab.choosing import Choosing
from ctxviewer.services.lab.stepping import Stepping
from ctxviewer.services.lab.summaries import Summaries
from ctxviewer.services.session import Session
from ctxviewer.views import theme
from ctxviewer.views.empty import EmptyState
from ctxviewer.views.lab.compare_page import ComparePage
from ctxviewer.views.lab.head import NARROW, LabHead, Page
from ctxviewer.views.lab.replay_page import ReplayPage
from ctxviewer.views.lab.steps_page import StepsPage

_UNTRIED: Final = "The messages of this task cannot be read, so no rules can be tried on it."


class LabPanel(QWidget):
    """Tells which page is looked at, so that only that is worked on."""

    looked_at = Signal(object)
    """Page, or None while the panel cannot be seen."""
    open_wanted = Signal()
    """The user wants to open a task."""

    def __init__(
        self,
        session: Session,
        choosing: Choosing,
        stepping: Stepping,
        summaries: Summaries,
        actions: ActionSet,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("look", "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Lab")
        self._session = session
        self._seen = False
        self.head = LabHead(session, choosing, self)
        self.steps = StepsPage(stepping, choosing, summaries, actions, self)
        self.compare = ComparePage(self)
        self.replay = ReplayPage(self)
        self.empty = EmptyState(parent=self)
        self.empty.activated.connect(self.open_wanted)
        self._pages = QStackedWidget(self)
        for page in (self.steps, self.compare, self.replay):
            self._pages.addWidget(page)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.empty)
        self._page = QWidget(self)
        self._stack.addWidget(self._page)
        self._column = QVBoxLayout(self._page)
        self._column.addWidget(self.head)
        self._column.addWidget(self._pages, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self.setFocusProxy(self.steps.list)
        self.head.page_chosen.connect(self._show_page)
        for signal in (session.task_changed, session.snapshot_changed, session.task_failed):
            signal.connect(self._settle)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self.head.set_narrow(True)
        self.steps.set_narrow(True)
        self._settle()

    @property
    def page(self) -> Page:
        """The page that is chosen."""
        return Page(self.head.pages.current)

    def show_page(self, page: Page) -> None:
        """Choose a page."""
        self.head.pages.choose(page)

    @property
    def shows_pages(self) -> bool:
        """False while a sentence says why nothing can be tried."""
        return self._stack.currentWidget() is self._page

    def _show_page(self, page: Page) -> None:
        widget = {Page.STEPS: self.steps, Page.COMPARE: self.compare, Page.REPLAY: self.replay}[page]
        self._pages.setCurrentWidget(widget)
        focus = {Page.STEPS: self.steps.list, Page.COMPARE: self.compare.table, Page.REPLAY: self.replay.run_button}
        self.setFocusProxy(focus[page])
        self._tell()

    def _settle(self, _news: object = None) -> None:
        session, snapshot = self._session, self._session.snapshot
        if session.task is None:
            self.empty.set_words(
                "Open a task to see what other rules would have made of it: step by step, side by side, or over all "
                "its requests. Nothing is written.",
                "Open a folder…",
                "lab",
            )
        elif snapshot is not None and not snapshot.has_messages and not (snapshot.has_timeline and snapshot.requests):
            self.empty.set_words(_UNTRIED, "", "lab")
        elif snapshot is None and session.failure is not None:
            self.empty.set_words("This task cannot be read, so no rules can be tried on it.", "", "lab")
        elif snapshot is None:
            self.empty.set_words("The task is being read…", "", "lab")
        else:
            lost = not snapshot.has_messages
            self.head.set_untried(_UNTRIED if lost else "")
            if lost and self.page is not Page.REPLAY:
                self.show_page(Page.REPLAY)
            self._stack.setCurrentWidget(self._page)
            self._tell()
            return
        self._stack.setCurrentWidget(self.empty)
        self._tell()

    def set_seen(self, seen: bool) -> None:
        """Somebody looks at the panel now, or nobody any more: it is hidden, or another one stands before it."""
        if seen != self._seen:
            self._seen = seen
            self._tell()

    def _tell(self) -> None:
        self.looked_at.emit(self.page if self._seen and self.shows_pages else None)

    def minimumSizeHint(self) -> QSize:
        """As narrow as it can be with one thing below the other, however wide it is now."""
        look = theme.current()
        return QSize(look.px(300), look.px(180))

    def sizeHint(self) -> QSize:
        """Like its neighbours."""
        look = theme.current()
        return QSize(look.px(390), look.px(420))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Side by side where there is room."""
        super().resizeEvent(event)
        self._settle_width()

    def _settle_width(self) -> None:
        narrow = self.width() < theme.current().px(NARROW)
        self.head.set_narrow(narrow)
        self.steps.set_narrow(narrow)

    def _restyle(self) -> None:
        look = theme.current()
        self._column.setContentsMargins(look.px(10), look.px(6), look.px(10), look.px(6))
        self._column.setSpacing(look.px(6))
