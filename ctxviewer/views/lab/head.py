"""What all pages of the lab share: which page, at which request, with which window."""

from __future__ import annotations

import re
from enum import StrEnum

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QSpinBox, QVBoxLayout, QWidget

from ctxviewer.models.numbers import grouped
from ctxviewer.services.lab.choosing import WINDOW, Choosing
from ctxviewer.services.session import Session
from ctxviewer.views import theme
from ctxviewer.views.answers.parts import Segments
from ctxviewer.views.lab.fields import Field

NARROW = 520
"""Below so many pixels, at scale 1, things stand below each other."""
NOW = "next one (now)"
_DIGITS = re.compile(r"\d+")


class Page(StrEnum):
    """The pages."""

    STEPS = "steps"
    COMPARE = "compare"
    REPLAY = "replay"


PAGES: dict[StrEnum, tuple[str, str]] = {
    Page.STEPS: ("Steps", "Walk through what one strategy would do, step by step"),
    Page.COMPARE: ("Compare", "All strategies side by side at this request"),
    Page.REPLAY: ("Replay", "Strategies over the whole task, from its first request"),
}


class RequestSpin(QSpinBox):
    """Requests by people's numbers; behind the last one stands *now*."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(1, 1)
        self.setKeyboardTracking(False)
        self.setAccessibleName("Before which request")

    def set_place(self, request: int | None, count: int) -> None:
        """Show a request from 0, None = now, of so many."""
        with QSignalBlocker(self):
            self.setRange(1, count + 1)
            self.setValue(count + 1 if request is None else request + 1)
        self.setEnabled(count > 0)

    @property
    def request(self) -> int | None:
        """From 0; None = now."""
        return None if self.value() == self.maximum() else self.value() - 1

    def textFromValue(self, value: int) -> str:
        """The number, or that it is the next one."""
        return NOW if value == self.maximum() else f"request {grouped(value)}"

    def valueFromText(self, text: str) -> int:
        """The other way round; anything without a number is *now*."""
        found = _DIGITS.search(text.replace(",", ""))
        return int(found[0]) if found else self.maximum()

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """A number within the task, or a word on its way."""
        found = _DIGITS.search(text.replace(",", ""))
        good = found is None or 1 <= int(found[0][:12]) <= self.maximum()
        return (QValidator.State.Acceptable if good else QValidator.State.Invalid, text, position)


class LabHead(QWidget):
    """Segments, request, window."""

    page_chosen = Signal(object)
    """Page."""

    def __init__(self, session: Session, choosing: Choosing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._choosing = session, choosing
        self.pages = Segments(PAGES, self)
        self.pages.chosen.connect(self.page_chosen)
        self.request = RequestSpin(self)
        self.request.setToolTip("Before which request the rules run; it is the one that the window shows")
        self.request.valueChanged.connect(self._choose_request)
        self.window_field = Field(WINDOW, choosing.set_window, self._no_value, self)
        self._before = QLabel("before", self)
        self._window_label = QLabel("window", self)
        self._window_label.setBuddy(self.window_field.editor)
        for label in (self._before, self._window_label):
            label.setProperty("look", "muted")
        self._place = QHBoxLayout()
        self._place.addWidget(self._before)
        self._place.addWidget(self.request)
        self._place.addWidget(self._window_label)
        self._place.addWidget(self.window_field, 1)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.addWidget(self.pages)
        self._row.addLayout(self._place, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self._row)
        for signal in (session.task_changed, session.snapshot_changed, session.request_changed):
            signal.connect(self.refresh)
        choosing.changed.connect(self.refresh)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self.refresh()

    def set_untried(self, why: str) -> None:
        """Say why rules can be tried neither in steps nor side by side; '' when they can."""
        for page in (Page.STEPS, Page.COMPARE):
            button = self.pages.button(page)
            button.setEnabled(not why)
            button.setToolTip(why or PAGES[page][1])

    def set_narrow(self, narrow: bool) -> None:
        """Two lines instead of one."""
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._row.direction() is not way:
            self._row.setDirection(way)

    def refresh(self, _news: object = None) -> None:
        """Show the session's request and the window that holds."""
        self.request.set_place(self._session.request, self._session.request_count)
        window = self._choosing.window
        tokens = self._session.window
        editor = self.window_field.editor
        if hasattr(editor, "setPlaceholderText"):
            editor.setPlaceholderText(grouped(tokens) if tokens is not None else "as the task has it")
        self.window_field.show_value(window)
        self.window_field.setEnabled(self._session.task is not None)

    def _choose_request(self, _value: int) -> None:
        self._session.select_request(self.request.request)

    def _no_value(self, _value: object) -> None:
        """A window is typed, never ticked."""

    def _restyle(self) -> None:
        look = theme.current()
        self._place.setSpacing(look.px(6))
        self._row.setSpacing(look.px(8))
        self.request.setMinimumWidth(look.px(118))
        self.window_field.setMaximumWidth(look.px(220))
