"""The main window: panes around the conversation, one shared selection, a remembered layout. It decides nothing."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QMimeData, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeySequence, QPaintEvent, QShortcut
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QMenu, QTabBar, QWidget

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.actions.catalogue import BY_ID, CATALOGUE
from ctxviewer.actions.spec import Menu
from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.services.runner import Runner
from ctxviewer.services.session import Session
from ctxviewer.services.settings import Settings
from ctxviewer.views import theme
from ctxviewer.views.dialogs.parts import StillLabel
from ctxviewer.views.progress_strip import ProgressStrip
from ctxviewer.views.stage import Stage
from ctxviewer.views.task_list import TaskList
from ctxviewer.views.toolbar import MainBar

if TYPE_CHECKING:  # they take long to load, and come after the first paint
    from ctxviewer.views.conversation import ConversationView
    from ctxviewer.views.panels import Panels

AREAS = {
    "tasks": Qt.DockWidgetArea.LeftDockWidgetArea,
    "details": Qt.DockWidgetArea.RightDockWidgetArea,
    "difference": Qt.DockWidgetArea.RightDockWidgetArea,
    "facts": Qt.DockWidgetArea.RightDockWidgetArea,
    "losses": Qt.DockWidgetArea.RightDockWidgetArea,
    "tokens": Qt.DockWidgetArea.RightDockWidgetArea,
    "lab": Qt.DockWidgetArea.RightDockWidgetArea,
    "events": Qt.DockWidgetArea.RightDockWidgetArea,
    "checkpoints": Qt.DockWidgetArea.RightDockWidgetArea,
    "findings": Qt.DockWidgetArea.RightDockWidgetArea,
    "history": Qt.DockWidgetArea.RightDockWidgetArea,
    "usage": Qt.DockWidgetArea.BottomDockWidgetArea,
}
"""Where each panel is on the first day."""
GROUPS = (
    ("details", "difference", "facts", "losses", "tokens", "lab"),
    ("events", "checkpoints", "findings", "history"),
)
"""Panels on the right that share a place as tabs, from the top down: answers above, lists below."""

SMALL, LARGE = (1280, 800), (1760, 1080)
"""The window of the first start: between these, in pixels."""
SHARE_OF_SCREEN = 0.85


class MainWindow(QMainWindow):
    """Stage in the middle, panels around it, toolbar above, progress below."""

    paths_dropped = Signal(object)  # tuple[Path, ...]
    closing = Signal()
    panels_settled = Signal()
    """Panels were shown, hidden or moved: others are seen now, see `is_seen`."""
    first_shown = Signal()
    """The window has been painted once: heavy things may be loaded now."""

    def __init__(
        self,
        *,
        session: Session,
        runner: Runner,
        settings: Settings,
        actions: ActionSet,
        stage: Stage,
        task_list: TaskList,
    ) -> None:
        super().__init__()
        self._session, self._settings, self._actions = session, settings, actions
        self._shown = False
        self.stage, self.task_list = stage, task_list
        self._panels: Panels | None = None
        self.setObjectName("ctxviewer")
        self.setWindowTitle("ctxviewer")
        self.setAcceptDrops(True)
        self.setDockOptions(
            QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.AnimatedDocks
        )
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        for area in AREAS.values():
            self.setTabPosition(area, self.tabPosition(area).North)
        self.setCentralWidget(stage)
        self.bar = MainBar(actions, self)
        self.addToolBar(self.bar)
        self._make_menus()
        self._settle_timer = QTimer(self)
        self._settle_timer.setSingleShot(True)
        self._settle_timer.timeout.connect(self._title_docks)
        self._docks = {name: self._make_dock(name) for name in AREAS}
        self.progress = ProgressStrip(runner, self)
        self._facts = StillLabel(self)
        self._facts.setProperty("look", "muted")
        self._facts.setContentsMargins(theme.current().px(8), 0, 0, 0)
        self.statusBar().addWidget(self._facts, 1)
        self._stream = QLabel("", self)
        self._stream.setProperty("look", "muted")
        self._stream.setTextFormat(Qt.TextFormat.PlainText)
        self._stream.hide()
        self.statusBar().addPermanentWidget(self._stream)
        self.statusBar().addPermanentWidget(self.progress)
        self.statusBar().setSizeGripEnabled(False)
        for action in actions.actions.values():
            self.addAction(action)
        for widget in (stage, self.bar.stepper):
            self._make_stage_shortcuts(widget)
        self._set_icons()
        theme.current().changed.connect(self._set_icons)
        self.resize(self.sizeHint())  # panels get the widths they ask for only where there is room
        self._arrange()
        self._first_day = self.saveState()
        self._restore_layout()
        self._title_docks()

    # -- panels -------------------------------------------------------------------------------------------------

    @property
    def panels(self) -> Panels:
        """The panels. RuntimeError before `fill`."""
        if self._panels is None:
            raise RuntimeError("the window has not been filled yet")
        return self._panels

    def fill(self, conversation: ConversationView, panels: Panels) -> None:
        """Give the window the panes that are slow to load, once, after its first paint."""
        self._panels = panels
        self.stage.set_conversation(conversation)
        for name, dock in self._docks.items():
            if name != "tasks":
                blank = dock.widget()
                dock.setWidget(panels.widget(name))
                blank.deleteLater()
        self._make_stage_shortcuts(panels.usage)
        self.stage.setFocus()

    def dock(self, name: str) -> QDockWidget:
        """A panel's frame by its name in AREAS."""
        return self._docks[name]

    def is_seen(self, name: str) -> bool:
        """True while a panel is shown and no other stands before it."""
        dock = self._docks[name]
        return dock.isVisible() and not dock.visibleRegion().isEmpty()

    def show_panel(self, name: str) -> None:
        """Show a panel, in front of those that share its place."""
        dock = self._docks[name]
        dock.show()
        dock.raise_()

    def toggle_panel(self, name: str) -> None:
        """Hide a panel that is seen; show one that is hidden or behind another."""
        dock = self._docks[name]
        if dock.isVisible() and not dock.visibleRegion().isEmpty():
            dock.hide()
        else:
            self.show_panel(name)
            dock.widget().setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._mark_panels()

    def reset_layout(self) -> None:
        """Put every panel back where it was on the first day."""
        self.restoreState(self._first_day)
        self._size_docks()

    def focus_pane(self, step: int) -> None:
        """Move the focus to the next pane that is seen, in reading order."""
        panes: list[QWidget] = [self.task_list, self.stage.conversation]
        panes += [self._docks[name].widget() for name in AREAS if name not in {"tasks", "usage"}]
        panes.append(self.panels.usage)
        seen = [pane for pane in panes if pane.isVisible() and not pane.visibleRegion().isEmpty()]
        if not seen:
            return
        focus = self.focusWidget()
        current = next((n for n, pane in enumerate(seen) if focus is not None and _within(focus, pane)), -1)
        start = current if current >= 0 else (-1 if step > 0 else 0)
        target = seen[(start + step) % len(seen)]
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def find_step(self, *, backwards: bool) -> None:
        """Go to the next or previous place; opens the find bar while there are no words."""
        bar = self.stage.find_bar
        if not bar.isVisible() or not bar.words:
            bar.open_bar()
        else:
            bar.step_wanted.emit(backwards)

    def show_facts(self, words: str, more: str = "") -> None:
        """The quiet line at the bottom; its tooltip says `more`."""
        self._facts.setText(words.encode("utf-16", "replace").decode("utf-16"))
        self._facts.setToolTip("\n".join(part for part in (self._facts.text(), more) if part))

    def show_stream(self, words: str) -> None:
        """What is known of the answer that a live task is writing; '' shows nothing."""
        self._stream.setText(words)
        self._stream.setToolTip(f"{words}\nCounted from the file as it grows, by Sage's estimator." if words else "")
        self._stream.setVisible(bool(words))

    @property
    def stream(self) -> str:
        """What is said of the answer that is being written."""
        return self._stream.text()

    def show_findings(self, findings: tuple[Finding, ...]) -> None:
        """Say in the panel's title how many things are odd, without the harmless ones."""
        count = sum(finding.severity is not Severity.INFO for finding in findings)
        name = BY_ID["view.panel-findings"].name
        self._docks["findings"].setWindowTitle(f"{name} · {count:,}" if count else name)

    @property
    def facts(self) -> str:
        """What the quiet line says."""
        return self._facts.text()

    # -- making -------------------------------------------------------------------------------------------------

    def _make_menus(self) -> None:
        menus: dict[Menu, QMenu] = {}
        submenus: dict[tuple[Menu, str], QMenu] = {}
        for spec in CATALOGUE:
            menu = menus.get(spec.menu)
            if menu is None:
                menu = menus[spec.menu] = self.menuBar().addMenu(spec.menu.value)
                menu.setToolTipsVisible(True)
            if spec.submenu:
                key = (spec.menu, spec.submenu)
                if key not in submenus:
                    if spec.separator:
                        menu.addSeparator()
                    submenus[key] = menu.addMenu(spec.submenu)
                    submenus[key].setToolTipsVisible(True)
                elif spec.separator:
                    submenus[key].addSeparator()
                submenus[key].addAction(self._actions[spec.id])
            else:
                if spec.separator:
                    menu.addSeparator()
                menu.addAction(self._actions[spec.id])

    def _make_dock(self, name: str) -> QDockWidget:
        title = BY_ID[f"view.panel-{name}"].name
        dock = QDockWidget(title, self)
        dock.setObjectName(f"panel-{name}")
        dock.setAccessibleName(title)
        dock.setWidget(self.task_list if name == "tasks" else _blank(dock))
        dock.visibilityChanged.connect(self._settle_docks)
        dock.topLevelChanged.connect(self._settle_docks)
        dock.dockLocationChanged.connect(self._settle_docks)
        self.addDockWidget(AREAS[name], dock)
        return dock

    def _make_stage_shortcuts(self, widget: QWidget) -> None:
        for spec in CATALOGUE:
            for key in spec.stage_keys:
                shortcut = QShortcut(QKeySequence(key), widget)
                shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
                shortcut.activated.connect(self._actions[spec.id].trigger)

    def _arrange(self) -> None:
        for name, area in AREAS.items():
            self.addDockWidget(area, self._docks[name])
        groups = [[self._docks[name] for name in group] for group in GROUPS]
        for upper, lower in pairwise(groups):
            self.splitDockWidget(upper[0], lower[0], Qt.Orientation.Vertical)
        for first, *others in groups:
            for dock in others:
                self.tabifyDockWidget(first, dock)
            first.raise_()
        self._size_docks()

    def _size_docks(self) -> None:
        look = theme.current()
        heads = [self._docks[group[0]] for group in GROUPS]
        more = self.size() - QSize(*SMALL)  # the reading matter gets most of what there is
        widths = [look.px(250) + max(0, more.width() // 8), look.px(390) + max(0, more.width() // 3)]
        self.resizeDocks(heads, [look.px(460), look.px(240)], Qt.Orientation.Vertical)
        self.resizeDocks([self._docks["usage"]], [look.px(200) + max(0, more.height() // 4)], Qt.Orientation.Vertical)
        self.resizeDocks([self._docks["tasks"], heads[0]], widths, Qt.Orientation.Horizontal)

    def _set_icons(self) -> None:
        look = theme.current()
        for spec in CATALOGUE:
            if spec.icon and spec.id != "request.live":
                self._actions[spec.id].setIcon(look.icon(spec.icon))
        self.setWindowIcon(theme.app_icon())

    def _settle_docks(self, _news: object = None) -> None:
        if not self._settle_timer.isActive():
            self._settle_timer.start(0)

    def _title_docks(self) -> None:
        """Panels that share a place are named by their tabs: a second title would only take room."""
        for dock in self._docks.values():
            shared = not dock.isFloating() and bool(self.tabifiedDockWidgets(dock))
            bare = dock.titleBarWidget() is not None
            if shared and not bare:
                dock.setTitleBarWidget(QWidget(dock))
            elif bare and not shared:
                title = dock.titleBarWidget()
                dock.setTitleBarWidget(None)  # type: ignore[arg-type]  # Qt's way to bring the own title back
                title.deleteLater()
        groups = {
            frozenset(other.windowTitle() for other in (dock, *self.tabifiedDockWidgets(dock)))
            for dock in self._docks.values()
        }
        lefts = {dock.geometry().left() for dock in self._docks.values() if dock.isVisible()}
        standing: dict[frozenset[str], QTabBar] = {}
        for bar in self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            # Qt leaves bars of earlier arrangements on the window: those that name no group of now are hidden, and of
            # two that name the same one, the older, unless only that one stands where panels stand.
            names = frozenset(bar.tabText(place) for place in range(bar.count()))
            if names not in groups:
                bar.hide()
            elif not bar.isHidden():
                other = standing.get(names)
                is_lost = other is not None and bar.x() not in lefts and other.x() in lefts
                if other is not None:
                    (bar if is_lost else other).hide()
                standing[names] = other if other is not None and is_lost else bar
            bar.setElideMode(Qt.TextElideMode.ElideNone)
            bar.setUsesScrollButtons(True)
            bar.setAccessibleName("Panels that share this place")
        self._mark_panels()
        self.panels_settled.emit()

    def _mark_panels(self, _visible: object = None) -> None:
        for name, dock in self._docks.items():
            self._actions.set_checked(f"view.panel-{name}", not dock.isHidden())

    # -- layout that is remembered ------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """For the first start: most of a bigger screen."""
        room = self.screen().availableSize() * SHARE_OF_SCREEN
        return room.boundedTo(QSize(*LARGE)).expandedTo(QSize(*SMALL))

    def _restore_layout(self) -> None:
        geometry, layout = self._settings.window()
        if geometry.isEmpty() or not self.restoreGeometry(geometry):
            self.resize(self.sizeHint())
        if not layout.isEmpty():
            self.restoreState(layout)
        self._mark_panels()

    def layout_state(self) -> tuple[QByteArray, QByteArray]:
        """Geometry and docks as they are now."""
        return self.saveGeometry(), self.saveState()

    # -- Qt -----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tell once, after the first paint."""
        super().paintEvent(event)
        if not self._shown:
            self._shown = True
            QTimer.singleShot(0, self._tell_shown)

    def _tell_shown(self) -> None:
        self.first_shown.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the layout, then let the owner shut everything down."""
        self._settings.remember_window(*self.layout_state())
        self.closing.emit()
        super().closeEvent(event)

    def take_apart(self) -> None:
        """The services are ending: stop clocks, let the panes go of models and of the plot."""
        self._settle_timer.stop()
        self.progress.close_strip()
        if self._panels is not None:
            self._panels.usage.release()
            self.stage.conversation.close()

    def changeEvent(self, event: QEvent) -> None:
        """Look at the files again when the user comes back: notifications may have been missed."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self._session.task is not None:
            self._session.reload()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Folders and files of this machine may be dropped."""
        if _local_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what was dropped."""
        paths = _local_paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.paths_dropped.emit(paths)


def _blank(parent: QWidget) -> QWidget:
    """What stands in a panel's place until the first paint is over."""
    blank = QWidget(parent)
    blank.setProperty("look", "pane")
    blank.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    return blank


def _within(widget: QWidget, pane: QWidget) -> bool:
    return widget is pane or pane.isAncestorOf(widget)


def _local_paths(data: QMimeData) -> tuple[Path, ...]:
    return tuple(Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
