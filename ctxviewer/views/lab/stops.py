"""Breakpoints in one row: what a run stops before, and a menu that adds messages and files."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from ctxviewer.engine.stepper import Breakpoint
from ctxviewer.models.listing import plain_tip
from ctxviewer.models.numbers import grouped
from ctxviewer.models.visible import one_line
from ctxviewer.services.lab.stepping import Stepping
from ctxviewer.views import theme
from ctxviewer.views.dialogs.parts import drawable

MOST_BUTTONS = 3
"""Breakpoints with a button of their own; the menu has all."""
MOST_FILES = 40
"""Files that the menu offers."""
_TAKE_AWAY = "\0"


class Stops(QWidget):
    """Follows the stepper's breakpoints when it is told to refresh."""

    def __init__(self, stepping: Stepping, parent: QWidget) -> None:
        super().__init__(parent)
        self._stepping = stepping
        self._message: int | None = None
        self._buttons: list[QToolButton] = []
        words = QLabel("Stop before:", self)
        words.setProperty("look", "muted")
        self.menu = QMenu(self)
        self.menu.setToolTipsVisible(True)
        self.menu.aboutToShow.connect(self.fill_menu)
        self.menu.triggered.connect(self._choose)
        self._add = QToolButton(self)
        self._add.setProperty("look", "link")
        self._add.setAccessibleName("Add a breakpoint")
        self._add.setToolTip("Stop the run right before a message, or the last copy of a file, is about to go")
        self._add.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._add.setMenu(self.menu)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(words)
        self._row.addWidget(self._add)
        self._row.addStretch(1)
        stepping.files_listed.connect(self._offer_files)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self.refresh()

    @property
    def buttons(self) -> tuple[QToolButton, ...]:
        """Each takes its breakpoint away."""
        return tuple(self._buttons)

    @property
    def titles(self) -> tuple[str, ...]:
        """The breakpoints, as on their buttons."""
        return tuple(button.text() for button in self._buttons)

    def set_message(self, message: int | None) -> None:
        """The chosen message, which the menu offers."""
        self._message = message

    def refresh(self) -> None:
        """Show the breakpoints that there are."""
        points = self._stepping.breakpoints
        titles = tuple(_short(point) for point in points[:MOST_BUTTONS])
        more = len(points) - len(titles)
        self._add.setText("+ message or file ▾" if not points else f"+{grouped(more)} ▾" if more else "+ ▾")
        if titles == self.titles:
            return
        for button in self._buttons:
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = [self._button(place, *each) for place, each in enumerate(zip(points, titles, strict=False))]
        for place, button in enumerate(self._buttons):
            self._row.insertWidget(1 + place, button)

    def _button(self, place: int, point: Breakpoint, title: str) -> QToolButton:
        button = QToolButton(self)
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        button.setText(title)
        button.setIcon(theme.current().icon("close"))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setToolTip(plain_tip(f"{point.title}\nA click takes the breakpoint away."))
        button.setAccessibleName(f"Breakpoint {one_line(point.title, 80)}: take it away")
        button.setProperty("place", place)
        button.clicked.connect(self._remove)
        return button

    # -- the menu

    def fill_menu(self) -> None:
        """All breakpoints, the chosen message, and the files as soon as they are found."""
        self.menu.clear()
        for place, point in enumerate(self._stepping.breakpoints):
            action = self.menu.addAction(f"{one_line(point.title, 80)}: take it away".replace("&", "&&"))
            action.setIcon(theme.current().icon("close"))
            action.setData(f"{_TAKE_AWAY}{place}")
        if self._stepping.breakpoints:
            self.menu.addSeparator()
        if self._message is not None:
            self.menu.addAction(f"message {self._message}, the chosen one").setData(self._message)
        else:
            self.menu.addAction("Choose a message in the conversation to offer it here").setEnabled(False)
        self.menu.addSeparator()
        self.menu.addAction("looking for files…").setEnabled(False)
        self._stepping.list_files()

    def _offer_files(self, paths: tuple[str, ...]) -> None:
        waiting = self.menu.actions()[-1] if self.menu.actions() else None
        if waiting is None or waiting.isEnabled():
            return
        self.menu.removeAction(waiting)
        if not paths:
            self.menu.addAction("no file was read in this conversation").setEnabled(False)
        for path in paths[:MOST_FILES]:
            self.menu.addAction(drawable(one_line(path, 80)).replace("&", "&&")).setData(path)
        if len(paths) > MOST_FILES:
            more = f"and {grouped(len(paths) - MOST_FILES)} more: use the menu of a message"
            self.menu.addAction(more).setEnabled(False)

    def _choose(self, action: QAction) -> None:
        data = action.data()
        if isinstance(data, str) and data.startswith(_TAKE_AWAY):
            self._stepping.remove(self._stepping.breakpoints[int(data.removeprefix(_TAKE_AWAY))])
        elif isinstance(data, int):
            self._stepping.toggle_message(data)
        elif isinstance(data, str):
            self._stepping.add_file(data)

    def _remove(self, _checked: bool = False) -> None:
        place = self.sender().property("place")
        points = self._stepping.breakpoints
        if isinstance(place, int) and place < len(points):
            self._stepping.remove(points[place])

    def _restyle(self) -> None:
        look = theme.current()
        self._row.setSpacing(look.px(4))
        for button in self._buttons:
            button.setIcon(look.icon("close"))


def _short(point: Breakpoint) -> str:
    """'message 14', and for a file its name without the folders."""
    return point.title if point.message is not None else one_line(point.path.replace("\\", "/").rsplit("/", 1)[-1], 24)
