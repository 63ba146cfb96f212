"""Replays: which strategies, progress, what they did when, and how the recorded decisions compare with the rules."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.engine.replay import Replay
from ctxviewer.engine.strategies import STRATEGIES
from ctxviewer.models.curves import LOOKS
from ctxviewer.models.listing import plain_tip
from ctxviewer.models.numbers import counted, grouped
from ctxviewer.models.replay_events import CheckModel, ReplayEvents, run_sentence
from ctxviewer.services.lab.replaying import Replayed
from ctxviewer.views import theme
from ctxviewer.views.answers.parts import Remark, Segments
from ctxviewer.views.details.rows import RowList
from ctxviewer.views.dialogs.parts import drawable, plain_label
from ctxviewer.views.empty import EmptyState
from ctxviewer.views.usage.dashes import curve_pen


class Listed(StrEnum):
    """Which list is shown."""

    EVENTS = "events"
    CHECK = "check"


_LISTS: dict[StrEnum, tuple[str, str]] = {
    Listed.EVENTS: ("Events", "What the strategies did, by request"),
    Listed.CHECK: ("Check", "What the folder shows was done, against the agent's own rules"),
}


class RunLine(QWidget):
    """One run in a sentence, with a piece of its curve."""

    def __init__(self, run: Replay, look: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self._sample = QLabel(self)
        self._words = plain_label(run_sentence(run), "", self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._sample, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._words, 1)
        self.restyle()

    @property
    def words(self) -> str:
        """What it says."""
        return self._words.text()

    def restyle(self) -> None:
        """Draw the piece of the curve in the colours of the theme."""
        look, ratio = theme.current(), self.devicePixelRatioF()
        size = QSize(look.px(30), look.px(16))
        pixmap = QPixmap(size * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            painter.setPen(curve_pen(self._look))
            painter.drawLine(0, size.height() // 2, size.width(), size.height() // 2)
        self._sample.setPixmap(pixmap)


class ReplayPage(QWidget):
    """Says what the user wants to be run, and shows what came of it."""

    run_wanted = Signal(object)
    """tuple[str, ...]: keys of strategies."""
    cancel_wanted = Signal()
    clear_wanted = Signal()
    what_if_wanted = Signal(object)
    """(Replay, int): what a run sent with a request."""
    request_wanted = Signal(object)
    """int or None."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.events, self.check = ReplayEvents(self), CheckModel(self)
        self._keys: tuple[str, ...] = ()
        self._lines: list[RunLine] = []
        self._make_top()
        self._runs = QVBoxLayout()
        self._verdict = plain_label("", "", self)
        self._limits = plain_label("", "muted", self)
        self.remark = Remark(self)
        self.lists = Segments(_LISTS, self)
        self.lists.chosen.connect(self._show_list)
        self.event_list, self.check_list = RowList("Events of the replay", self), RowList("Replay check", self)
        self.event_list.setModel(self.events)
        self.check_list.setModel(self.check)
        self.event_list.row_chosen.connect(self._choose_event)
        self.check_list.row_chosen.connect(self._choose_check)
        self.empty = EmptyState(parent=self)
        self._stack = QStackedWidget(self)
        for widget in (self.empty, self.event_list, self.check_list):
            self._stack.addWidget(widget)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addLayout(self._top)
        self._column.addWidget(self._limits)
        self._column.addWidget(self.remark)
        self._column.addWidget(self.lists)
        self._column.addLayout(self._runs)
        self._column.addWidget(self._verdict)
        self._column.addWidget(self._stack, 1)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self.show_state(Replayed(), has_task=False)

    def _make_top(self) -> None:
        self._choose = QToolButton(self)
        self._choose.setAccessibleName("Strategies to replay")
        self._choose.setToolTip("Which strategies run over the whole task; several can be chosen")
        self._choose.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self._choose)
        self._menu.setToolTipsVisible(True)
        for row in STRATEGIES:
            action = self._menu.addAction(f"{row.agent}: {row.name}")
            action.setCheckable(True)
            action.setData(row.key)
            action.setToolTip(plain_tip(row.meaning))
        self._menu.triggered.connect(self._toggle)
        self._choose.setMenu(self._menu)
        self.run_button = QPushButton("Run", self)
        self.run_button.clicked.connect(self._run)
        self.cancel_button = QPushButton("Cancel", self)
        self.cancel_button.setToolTip("Stop; what was known before stays")
        self.cancel_button.clicked.connect(self.cancel_wanted)
        self._clear = QToolButton(self)
        self._clear.setText("Clear")
        self._clear.setProperty("look", "link")
        self._clear.setToolTip("Take the curves out of the graph, and the lists away")
        self._clear.clicked.connect(self.clear_wanted)
        self._bar = QProgressBar(self)
        self._bar.setRange(0, 1_000)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("How much is replayed")
        self._share = QLabel(self)
        self._share.setProperty("look", "number")
        self._top = QHBoxLayout()
        for widget in (self._choose, self.run_button, self.cancel_button, self._bar, self._share):
            self._top.addWidget(widget)
        self._top.addStretch(1)
        self._top.addWidget(self._clear)

    # -- what others ask

    @property
    def keys(self) -> tuple[str, ...]:
        """Strategies that are chosen, in the order of the table."""
        return self._keys

    @property
    def run_words(self) -> tuple[str, ...]:
        """A sentence for each run."""
        return tuple(line.words for line in self._lines)

    @property
    def verdict(self) -> str:
        """What the replay check found."""
        return self._verdict.text()

    @property
    def share_words(self) -> str:
        """'34 %' while a run is under way, else ''."""
        return self._share.text() if not self._share.isHidden() else ""

    def set_keys(self, keys: tuple[str, ...]) -> None:
        """Choose strategies."""
        self._keys = tuple(row.key for row in STRATEGIES if row.key in keys)
        for action in self._menu.actions():
            action.setChecked(action.data() in self._keys)
        names = [f"{row.agent}: {row.name}" for row in STRATEGIES if row.key in self._keys]
        words = names[0] if len(names) == 1 else f"{len(names)} strategies" if names else "Choose strategies"
        self._choose.setText(f"{words} ▾")
        self._choose.setToolTip("\n".join(names) or "Choose at least one strategy.")
        self._settle_run()

    # -- showing

    def show_state(self, state: Replayed, *, has_task: bool) -> None:
        """Show what is known of the last run."""
        self._has_task = has_task
        self._replayed = any(run.rows for run in state.runs)
        self._swap(working=state.working)
        self._clear.setVisible(bool(state.runs))
        self._bar.setValue(round(state.share * 1_000))
        self._share.setText(f"{state.share:.0%}")
        self._settle_run()
        self._show_runs(state.runs)
        self._limits.setText(_limits(state))
        self._limits.setVisible(bool(state.runs))
        self.events.set_runs(state.runs)
        self.check.set_check(state.check)
        self._verdict.setText(drawable(f"Replay check: {state.check.verdict}") if state.check is not None else "")
        if state.error is not None:
            self.remark.say_error(state.error)
        else:
            old = state.stale and not state.working
            self.remark.say(
                "The task has grown since: run again to include the newest requests." if old else "", "later"
            )
        self.lists.set_words(Listed.EVENTS, f"Events {grouped(self.events.rowCount())}")
        odd = sum(not step.agrees for step in self.check.items)
        self.lists.set_words(Listed.CHECK, f"Check · {grouped(odd)} differ" if odd else "Check · all agree")
        self.lists.setVisible(bool(state.runs))
        self._show_list(self.lists.current)

    def _swap(self, *, working: bool) -> None:
        """Run, or cancel and how far it is. The one that comes takes the focus of the one that goes."""
        comes, goes = (self.cancel_button, self.run_button) if working else (self.run_button, self.cancel_button)
        comes.show()
        if goes.hasFocus():
            comes.setFocus(Qt.FocusReason.OtherFocusReason)
        goes.hide()
        self._bar.setVisible(working)
        self._share.setVisible(working)

    def _show_runs(self, runs: tuple[Replay, ...]) -> None:
        if tuple(run_sentence(run) for run in runs) == self.run_words:
            return
        for line in self._lines:
            self._runs.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._lines = [RunLine(run, place % LOOKS, self) for place, run in enumerate(runs)]
        for line in self._lines:
            self._runs.addWidget(line)

    def _show_list(self, which: object) -> None:
        checking = which == Listed.CHECK and self.lists.isVisibleTo(self)
        self._verdict.setVisible(checking and bool(self._verdict.text()))
        for line in self._lines:
            line.setVisible(not checking)
        if not self.lists.isVisibleTo(self):
            words = (
                "Choose strategies and run them over the whole task, from its first request: each keeps its own state. "
                "Their curves are drawn over the reported bars."
                if self._has_task
                else "Open a task to let other rules loose on it, from its first request."
            )
            self.empty.set_words(words, "", "replay")
            self._stack.setCurrentWidget(self.empty)
        elif not checking:
            words = (
                "The strategies had nothing to do at this window."
                if self._replayed
                else "No request could be replayed. What the agent did is checked all the same."
            )
            self._list_or(self.event_list, self.events.rowCount(), words)
        else:
            self._list_or(
                self.check_list,
                self.check.rowCount(),
                "Nothing was done to the context, and by the rules nothing had to be.",
            )

    def _list_or(self, rows: QWidget, count: int, words: str) -> None:
        self.empty.set_words(words, "", "replay")
        self._stack.setCurrentWidget(rows if count else self.empty)

    def _settle_run(self) -> None:
        why = (
            ""
            if self._keys and self._has_task
            else "Choose at least one strategy."
            if self._has_task
            else "Open a task first."
        )
        self.run_button.setEnabled(not why)
        self.run_button.setToolTip(why or "Run the chosen strategies over every request of the task, in the background")

    # -- choosing

    _has_task = _replayed = False

    def _toggle(self, _action: object) -> None:
        self.set_keys(tuple(str(action.data()) for action in self._menu.actions() if action.isChecked()))

    def _run(self, _checked: bool = False) -> None:
        self.run_wanted.emit(self._keys)

    def _choose_event(self, row: int) -> None:
        event = self.events.item(row)
        self.what_if_wanted.emit((event.run, event.request))

    def _choose_check(self, row: int) -> None:
        self.request_wanted.emit(self.check.item(row).request)

    def _restyle(self) -> None:
        look = theme.current()
        self._column.setSpacing(look.px(5))
        self._top.setSpacing(look.px(6))
        self._runs.setSpacing(look.px(3))
        self._bar.setFixedSize(look.px(140), look.px(6))
        for line in self._lines:
            line.restyle()


def _limits(state: Replayed) -> str:
    """Over what was run, and by which numbers."""
    if not state.runs:
        return ""
    window, count = state.runs[0].window, max(len(run.rows) for run in state.runs)
    requests = f"{counted(count, 'request')}, " if count else ""
    return f"{requests}window {grouped(window.window)}, limit {grouped(window.limit)}"
