"""The bar at the top: find, request stepper, live, text, window, and what can be done. It only shows actions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.domain.snapshot import ModelFact, WindowSource
from ctxviewer.domain.view import TextMode
from ctxviewer.models.numbers import grouped
from ctxviewer.views import theme

WINDOW_SIZES = (32_000, 64_000, 128_000, 200_000, 256_000, 400_000, 1_000_000)
"""Sizes offered at a click; any other can be typed."""

ACTS = ("act.optimize", "act.decide", "act.rollback")


def window_words(tokens: int) -> str:
    """'200k', '1M', '131,072' for the odd ones."""
    if tokens % 1_000_000 == 0:
        return f"{tokens // 1_000_000}M"
    return f"{tokens // 1_000}k" if tokens % 1_000 == 0 else grouped(tokens)


class BarButton(QToolButton):
    """A button for one action: icon, words and tooltip follow it. Can be reached with Tab."""

    def __init__(
        self, action: QAction | None = None, *, text: bool = False, menu: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if text else Qt.ToolButtonStyle.ToolButtonIconOnly
        self.setToolButtonStyle(style)
        if action is not None:
            self.setDefaultAction(action)
            self.setAccessibleName(action.iconText())
        if menu:
            self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)


class RequestStepper(QWidget):
    """|◀ ◀ request 31 of 48 ▶ ▶|"""

    def __init__(self, actions: ActionSet, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Requests")
        self._where = QToolButton(self)
        self._where.setAutoRaise(True)
        self._where.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._where.clicked.connect(actions["request.go-to"].trigger)
        self._actions = actions
        self._buttons = [
            BarButton(actions[f"request.{name}"], parent=self) for name in ("first", "previous", "next", "last")
        ]
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in self.controls:
            layout.addWidget(widget)
        theme.current().changed.connect(self._restyle)
        self.show_place(None, 0)
        self._restyle()

    @property
    def controls(self) -> tuple[QToolButton, ...]:
        """Its buttons from left to right."""
        return (*self._buttons[:2], self._where, *self._buttons[2:])

    @property
    def words(self) -> str:
        """What it says."""
        return self._where.text()

    def show_place(self, request: int | None, count: int, *, what_if: bool = False) -> None:
        """Say which request is shown; None = live. `what_if`: not what was or will be sent, but what would be."""
        if what_if:
            text = "what-if, from now" if request is None else f"what-if, request {grouped(request + 1)}"
        elif count == 0:
            text = "no requests"
        elif request is None:
            text = f"now, after request {grouped(count)}"
        else:
            text = f"request {grouped(request + 1)} of {grouped(count)}"
        self._where.setText(text)
        self._where.setEnabled(count > 0)
        self._where.setToolTip(self._actions["request.go-to"].toolTip())
        self._where.setAccessibleName(f"{text}. Go to request…")

    def _restyle(self) -> None:
        look = theme.current()
        self._where.setFont(look.ui_font(bold=True))
        longest = self._where.fontMetrics().horizontalAdvance("now, after request 10,000")
        self._where.setFixedWidth(longest + look.px(16))


class MainBar(QToolBar):
    """The toolbar of the window."""

    window_chosen = Signal(object)  # int tokens, or None = as found

    def __init__(self, actions: ActionSet, parent: QWidget | None = None) -> None:
        super().__init__("Toolbar", parent)
        self.setObjectName("toolbar")
        self.setMovable(False)
        self.setAccessibleName("Toolbar")
        self._actions = actions
        self._model: ModelFact | None = None
        self._shown_live, self._shown_mode = (True, 0), TextMode.AS_SENT
        self.stepper = RequestStepper(actions, self)
        self._live = BarButton(actions["request.live"], text=True, parent=self)
        self._mode = BarButton(text=True, menu=True, parent=self)
        self._mode.setAccessibleName("Which text is shown")
        self._mode.setMenu(self._menu_of(("view.sent", "view.stored", "view.difference")))
        self._window = BarButton(text=True, menu=True, parent=self)
        self._window.setAccessibleName("Model window")
        self._window_menu = QMenu(self._window)
        self._sizes = QActionGroup(self)
        self._sizes.triggered.connect(self._choose_window)
        self._window_menu.aboutToShow.connect(self._fill_windows)
        self._window.setMenu(self._window_menu)
        self._truncate = BarButton(text=True, menu=True, parent=self)
        self._truncate.setAccessibleName("Truncate")
        self._truncate.setText("Truncate ▾")
        names = ("half", "quarter", "last-two", "none")
        self._truncate.setMenu(self._menu_of(f"act.truncate-{name}" for name in names))
        actions["act.truncate-half"].changed.connect(self._follow_truncate)
        gap = QWidget(self)
        gap.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        for name, words in (
            ("edit.find", "Find"),
            ("act.optimize", "Optimize"),
            ("act.decide", "Decide"),
            ("act.rollback", "Roll back…"),
            ("request.live", "live"),
        ):
            actions[name].setIconText(words)
        find = BarButton(actions["edit.find"], text=True, parent=self)
        acts = [BarButton(actions[name], text=True, parent=self) for name in ACTS]
        self.addWidget(find)
        self.addSeparator()
        self.addWidget(self.stepper)
        self.addWidget(self._live)
        self.addSeparator()
        self.addWidget(self._mode)
        self.addWidget(self._window)
        self.addWidget(gap)
        self.addWidget(self._truncate)
        for button in acts:
            self.addWidget(button)
        order = (find, *self.stepper.controls, self._live, self._mode, self._window, self._truncate, *acts)
        for first, second in pairwise(order):
            self.setTabOrder(first, second)
        theme.current().changed.connect(self._restyle)
        self.show_window(None, None)
        self._follow_truncate()
        self._restyle()

    @property
    def live_words(self) -> str:
        """What the live button says."""
        return self._live.text()

    @property
    def window_words(self) -> str:
        """What the window button says."""
        return self._window.text()

    def show_live(self, *, live: bool, unseen: int) -> None:
        """Filled while live; says how many requests came since while pinned."""
        look = theme.current()
        self._shown_live = (live, unseen)
        words = "live" if live or not unseen else f"live · +{grouped(unseen)} new"
        self._actions["request.live"].setIconText(words)
        self._actions["request.live"].setIcon(look.icon("live", "accent" if live else "faint"))
        self._live.setText(words)
        state = "following the task" if live else f"{grouped(unseen)} new requests" if unseen else "pinned"
        self._live.setAccessibleName(f"Live: {state}")

    def show_mode(self, mode: TextMode) -> None:
        """Name the text that is shown."""
        self._shown_mode = mode
        icon = {TextMode.AS_SENT: "sent", TextMode.AS_STORED: "file", TextMode.DIFFERENCE: "difference"}[mode]
        self._mode.setText(f"{mode.value.capitalize()} ▾")
        self._mode.setIcon(theme.current().icon(icon))
        self._mode.setToolTip("Which text of messages is shown (Ctrl+1, Ctrl+2, Ctrl+3)")

    def show_window(self, tokens: int | None, model: ModelFact | None) -> None:
        """Name the model window; None = no task."""
        self._model = model
        self._window.setEnabled(tokens is not None)
        self._window.setText(f"window {window_words(tokens)} ▾" if tokens is not None else "window ▾")
        if tokens is None:
            self._window.setToolTip("Open a task first.")
        else:
            source = model.window_source.value if model is not None else WindowSource.DEFAULT.value
            self._window.setToolTip(f"Context window of the model: {grouped(tokens)} tokens, {source}")

    def _menu_of(self, names: Iterable[str]) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for name in names:
            menu.addAction(self._actions[name])
        return menu

    def _fill_windows(self) -> None:
        menu = self._window_menu
        for action in list(self._sizes.actions()):
            self._sizes.removeAction(action)
            action.deleteLater()
        menu.clear()
        model = self._model
        overridden = model is not None and model.window_source is WindowSource.OVERRIDE
        as_found = QAction("As found" if overridden or model is None else f"As found: {grouped(model.window)}", menu)
        as_found.setData(None)
        as_found.setCheckable(True)
        as_found.setChecked(not overridden)
        self._sizes.addAction(as_found)
        menu.addAction(as_found)
        menu.addSeparator()
        for size in WINDOW_SIZES:
            action = QAction(f"{window_words(size)} tokens", menu)
            action.setData(size)
            action.setCheckable(True)
            action.setChecked(overridden and model is not None and model.window == size)
            self._sizes.addAction(action)
            menu.addAction(action)
        menu.addSeparator()
        menu.addAction(self._actions["task.window"])

    def _choose_window(self, action: QAction) -> None:
        self.window_chosen.emit(action.data())

    def _follow_truncate(self) -> None:
        action = self._actions["act.truncate-half"]
        self._truncate.setEnabled(action.isEnabled())
        tip = "Leave out older messages; shows a preview first" if action.isEnabled() else action.toolTip()
        self._truncate.setToolTip(tip)

    def _restyle(self) -> None:
        look = theme.current()
        self.setIconSize(QSize(look.px(16), look.px(16)))
        live, unseen = self._shown_live
        self.show_live(live=live, unseen=unseen)
        self.show_mode(self._shown_mode)
        self._window.setIcon(look.icon("window"))
        self._truncate.setIcon(look.icon("truncate"))
