"""The usage graph as the window sees it: plain inputs, one signal, keyboard, words for screen readers.

The plot (and pyqtgraph with it) is made when the graph is first shown, after the window has been painted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from ctxviewer.domain.plan import Plan
from ctxviewer.engine.timeline import Timeline
from ctxviewer.models.curves import Curve, curve_sentences
from ctxviewer.models.marks import checkpoint_lane, event_lane
from ctxviewer.models.tracked import Strip
from ctxviewer.models.usage import EMPTY, levels, request_sentence, stack, summary, what_if
from ctxviewer.views import theme
from ctxviewer.views.empty import EmptyState
from ctxviewer.views.usage.legend import KEYS, Legend
from ctxviewer.views.usage.state import Picture
from ctxviewer.views.usage.strips import LANE

if TYPE_CHECKING:
    from ctxviewer.views.usage.plot import PlotArea

OPEN: Final = "open"
"""Sent by `help_wanted`: the user wants to open a task."""
PAN: Final = 0.25
SMALLEST: Final = 80
"""Least height in pixels."""


class UsageGraph(QWidget):
    """One stacked bar per request, with the lines of window and limit, events and checkpoints."""

    request_selected = Signal(object)
    """int: the request that was clicked or reached by key. The graph itself waits for `set_request`."""
    help_wanted = Signal(object)
    """str: what the action of the empty state asks for, `OPEN`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture = Picture()
        self._task: object = None
        self._timeline: Timeline | None = None
        self._plan: Plan | None = None
        self._plan_tokens: float | None = None
        self._plan_at: int | None = None
        self._area: PlotArea | None = None
        self._legend = Legend(self._picture, self)
        self._empty = EmptyState(parent=self)
        self._empty.activated.connect(self._ask_for_help)
        self._body = QWidget(self)
        self._stack = QStackedWidget(self)
        frame = QVBoxLayout(self)
        frame.setContentsMargins(2, 2, 2, 2)
        frame.addWidget(self._stack)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._body)
        self._column = QVBoxLayout(self._body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._legend)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Usage graph")
        self.setMinimumHeight(SMALLEST)
        theme.current().changed.connect(self._restyle)
        self._describe()
        self._choose_page()

    def sizeHint(self) -> QSize:
        return QSize(theme.current().px(900), theme.current().px(190))

    # -- inputs

    def set_timeline(self, timeline: Timeline | None, window: float = 0, limit: float = 0) -> None:
        """Show the requests of a task. `window` and `limit` in tokens, 0 = not known.

        A timeline of the same task keeps what is visible, and follows the end if the end was visible.
        """
        picture = self._picture
        task = None if timeline is None else (timeline.snapshot.task.directory, timeline.snapshot.task.task_id)
        same = task is not None and task == self._task
        self._task, self._timeline = task, timeline
        requests = timeline.requests if timeline is not None else ()
        picture.stacks = stack(requests, picture.stacks if same else EMPTY)
        picture.window = window
        picture.levels = levels(window, limit)
        picture.events = event_lane(timeline.events if timeline is not None else (), len(requests))
        points = timeline.snapshot.checkpoints if timeline is not None else ()
        picture.checkpoints = checkpoint_lane(points, picture.checkpoints)
        if picture.hovered is not None and picture.hovered >= len(requests):
            picture.hovered = None
        self._refresh(keep_view=same)

    def set_request(self, number: int | None) -> None:
        """Choose a request from outside; None = live."""
        if number == self._picture.selected:
            return
        self._picture.selected = number
        if self._area is not None:
            if number is not None:
                self._area.reveal(number)
            self._area.selection_changed()
        self._legend.refresh()
        self._describe()

    def set_plan(self, plan: Plan | None, tokens: float | None = None, at: int | None = None) -> None:
        """Draw the estimate of a what-if, or none. `tokens`: a better estimate than scaling by characters.

        `at`: the request that the what-if is about, None = the next one.
        """
        if plan is self._plan and tokens == self._plan_tokens and at == self._plan_at:
            return
        self._plan, self._plan_tokens, self._plan_at = plan, tokens, at
        self._estimate()
        if self._area is not None:
            self._area.what_if_changed()
        self._describe()

    def set_curves(self, curves: tuple[Curve, ...]) -> None:
        """Draw replays over the bars, or with none take them away."""
        if curves is not self._picture.curves:
            self._picture.curves = curves
            self._refresh(keep_view=True)

    def set_strips(self, strips: tuple[Strip, ...]) -> None:
        """Show in which requests pinned facts were sent, a lane each."""
        if strips != self._picture.strips:
            self._picture.strips = strips
            self._make_room()
            if self._area is not None:
                self._area.strips_changed()

    def _make_room(self) -> None:
        """Strips take nothing from the bars: the graph becomes as much higher."""
        look = theme.current()
        strips = len(self._picture.strips) * look.px(LANE)
        self.setMinimumHeight(look.px(160) + strips if strips else SMALLEST)

    # -- view, also for actions

    def zoom_in(self) -> None:
        """Show fewer requests, the chosen one stays in place."""
        if self._area is not None:
            self._area.zoom(1 / 1.5)

    def zoom_out(self) -> None:
        """Show more requests."""
        if self._area is not None:
            self._area.zoom(1.5)

    def fit(self) -> None:
        """Show all requests."""
        if self._area is not None:
            self._area.fit()

    def pan(self, share: float) -> None:
        """Move by a share of what is visible; positive to later requests."""
        if self._area is not None:
            self._area.pan(share)

    def visible(self) -> tuple[float, float] | None:
        """Visible positions, in requests; None before the graph was first shown."""
        if self._area is None:
            return None
        span = self._area.span()
        return span.first, span.last

    @property
    def plot(self) -> PlotArea | None:
        """The plot, None before it was first shown."""
        return self._area

    def hover_text(self, number: int) -> str:
        """What the mouse shows over request `number`."""
        lines = request_sentence(self._picture.stacks, number, self._picture.window)
        return "\n".join((*lines, *curve_sentences(self._picture.curves, number)))

    def summary(self) -> str:
        """The graph in words."""
        words = summary(self._picture.stacks, self._picture.levels, self._picture.selected, self._picture.window)
        guess = self._picture.what_if
        if guess is not None and guess.tokens is not None:
            words += f" What-if {guess.title}: {guess.tokens:,.0f} tokens estimated."
        for curve in self._picture.curves:
            words += f" Replay {curve.name}: at most {curve.peak:,.0f} tokens estimated."
        return words

    # -- keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, shift = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        other = event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier)
        if other:
            super().keyPressEvent(event)
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal}:
            self.zoom_in()
        elif key in {Qt.Key.Key_Minus, Qt.Key.Key_Underscore}:
            self.zoom_out()
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key in {Qt.Key.Key_Left, Qt.Key.Key_Right}:
            sign = 1 if key == Qt.Key.Key_Right else -1
            if shift:
                self.pan(sign * PAN)
            else:
                self._step(sign)
        elif key in {Qt.Key.Key_Home, Qt.Key.Key_End} and len(self._picture.stacks):
            self.request_selected.emit(0 if key == Qt.Key.Key_Home else len(self._picture.stacks) - 1)
        else:
            super().keyPressEvent(event)

    def _step(self, by: int) -> None:
        count = len(self._picture.stacks)
        if count:
            start = count if self._picture.selected is None else self._picture.selected
            self.request_selected.emit(min(max(0, start + by), count - 1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        look = theme.current()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), look.color("surface"))
            if self.hasFocus():
                painter.setPen(QPen(look.color("accent"), 2))
                painter.drawRect(self.rect().adjusted(1, 1, -1, -1))

    # -- first show

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._area is None:
            QTimer.singleShot(0, self._build)

    def _build(self) -> None:
        """Make the plot. Takes what importing pyqtgraph takes."""
        if self._area is not None:
            return
        from ctxviewer.views.usage.plot import PlotArea  # noqa: PLC0415 - pyqtgraph is imported when it is needed

        self._area = PlotArea(self._picture, self._body)
        self._area.request_clicked.connect(self._clicked)
        self._column.addWidget(self._area, 1)
        self._refresh(keep_view=False)

    def release(self) -> None:
        """Let go of the plot; the graph can be shown again. Call it before the window goes."""
        if self._area is not None:
            self._area.release()
            self._area.deleteLater()
            self._area = None

    # -- inside

    def _refresh(self, *, keep_view: bool) -> None:
        self._picture.version += 1
        self._estimate()
        if self._area is not None:
            self._area.data_changed(keep_view=keep_view)
        self._legend.refresh()
        self._describe()
        self._choose_page()

    def _estimate(self) -> None:
        plan, stacks = self._plan, self._picture.stacks
        guess = what_if(plan, stacks, self._plan_tokens, self._plan_at) if plan is not None else None
        self._picture.what_if = guess

    def _choose_page(self) -> None:
        if self._timeline is None:
            self._empty.set_words("Open a task to see how full the window was at each request.", "Open task…", "usage")
        elif not len(self._picture.stacks):
            self._empty.set_words(
                "This task has made no request yet; the first one appears here by itself.", "", "usage"
            )
        elif not self._picture.stacks.known.any():
            self._empty.set_words(
                "No request of this task reports token numbers, so there are no bars to draw.", "", "usage"
            )
        else:
            self._stack.setCurrentWidget(self._body)
            return
        self._stack.setCurrentWidget(self._empty)

    def _describe(self) -> None:
        self.setAccessibleDescription(f"{self.summary()} {KEYS}")
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def _clicked(self, number: int) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.request_selected.emit(number)

    def _ask_for_help(self) -> None:
        self.help_wanted.emit(OPEN)

    def _restyle(self) -> None:
        self._legend.restyle()
        self._make_room()
        if self._area is not None:
            self._area.restyle()
        self.update()
