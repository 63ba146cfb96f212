"""The composition root: makes every service, the window and their connections, and takes them apart again.

Nothing else in the program knows all rooms. The order of the start is: window on the screen, then libraries that are
slow to load, then the disk.
"""

from __future__ import annotations

import gc
import logging
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.actions.handlers import Handlers
from ctxviewer.actions.upkeep import Upkeep
from ctxviewer.domain.snapshot import TaskRef
from ctxviewer.domain.view import TextMode
from ctxviewer.models.status import stream_words
from ctxviewer.models.tasks import TaskTreeModel
from ctxviewer.services import settings as fields
from ctxviewer.services import sources
from ctxviewer.services.answers.desk import Answers
from ctxviewer.services.changes import Changes
from ctxviewer.services.counting import Counting
from ctxviewer.services.discovery import Discovery
from ctxviewer.services.explaining import Explaining
from ctxviewer.services.exporting import Exporting
from ctxviewer.services.following import Following
from ctxviewer.services.key_keeper import KeyKeeper
from ctxviewer.services.keys import Keys
from ctxviewer.services.notices import Notices
from ctxviewer.services.paths import is_dir
from ctxviewer.services.runner import CancelToken, Executor, Runner
from ctxviewer.services.samples import copy_samples, has_samples
from ctxviewer.services.session import Session, SnapshotChange
from ctxviewer.services.settings import Settings
from ctxviewer.services.streaming import Stream, Streaming
from ctxviewer.services.watchbridge import MakeWatcher, WatchBridge, make_watcher
from ctxviewer.sources.own_data import data_dir
from ctxviewer.views import theme
from ctxviewer.views.crash_reporter import CrashReporter
from ctxviewer.views.main_window import MainWindow
from ctxviewer.views.stage import Stage
from ctxviewer.views.task_list import TaskList

if TYPE_CHECKING:  # slow to load
    from ctxviewer.services.lab.desk import Lab
    from ctxviewer.sources.discover import Found
    from ctxviewer.views.asking import Asking
    from ctxviewer.views.front import WindowFront
    from ctxviewer.views.wiring import Wiring

_log = logging.getLogger(__name__)

COUNT_AFTER_MS = 120
"""A task is painted first, and counted then."""
LOG_BYTES = 500_000
SWITCH_INTERVAL = 0.0005
"""Seconds a thread may keep the interpreter: painting stays fluent while a job runs in Python."""


@dataclass(frozen=True, slots=True)
class Start:
    """What the program was asked to open, and where it keeps its own things."""

    data_folder: Path
    paths: tuple[Path, ...] = ()
    demo: bool = False
    """Only the sample tasks; nothing of this machine is looked at."""

    @classmethod
    def of(cls, paths: Sequence[Path] = (), *, demo: bool = False) -> Start:
        """For this user; the demo keeps its things apart."""
        own = data_dir()
        return cls(own / "demo" if demo else own, tuple(path.expanduser().absolute() for path in paths), demo)


class Desk(QObject):
    """One window with everything behind it. `close` ends all threads; the window closes through it."""

    def __init__(
        self,
        start: Start,
        *,
        look: Callable[[Sequence[Path]], Found] | None = None,
        watcher: MakeWatcher = make_watcher,
        executors: tuple[Executor, Executor] | None = None,
        parent: QObject | None = None,
    ) -> None:
        """`look`, `watcher` and `executors` (for reads, for changes) are exchanged by tests."""
        super().__init__(parent)
        self._start = start
        self._closed = False
        self.begun = False
        """True once the window has been painted and filled, and what was asked for is being opened."""
        self.front: WindowFront | None = None
        """Dialogs and movements; None until the window has been filled."""
        self.wiring: Wiring | None = None
        self.asking: Asking | None = None
        self._tasks = TaskTreeModel(_now_ms, self)
        data = start.data_folder
        self.settings = Settings(data / "settings.ini", self)
        self.notices = Notices(self)
        read, change = executors if executors is not None else (None, None)
        self.runner = Runner(self, read=read, change=change)
        self.session = Session(self.runner, self.notices, sources.read, window_override=self._override, parent=self)
        self.session.set_text_mode(TextMode(self.settings.get(fields.TEXT_MODE)))
        store = sources.LateStore(data)
        self.changes = Changes(self.runner, self.session, self.notices, store, sources.change_for, parent=self)
        if look is None:
            look = sources.look_at_given if start.demo else sources.look_around
        self.discovery = Discovery(self.runner, self.notices, self.settings, look, sources.open_path, self)
        patience = COUNT_AFTER_MS if executors is None else 0
        self.counting = Counting(self.runner, data / "counts", patience_ms=patience, parent=self)
        self.explaining = Explaining(self.runner, self.session, self)
        self.answers = Answers(self.runner, self.session, self.counting, self.settings, self)
        self.exporting = Exporting(self.runner, self.session, self.answers.knowledge, self.counting, self)
        self.keys = Keys()
        self.lab: Lab | None = None
        """The strategy lab; None until the window has been filled."""
        self.streaming = Streaming(self.session, parent=self)
        self.bridge = WatchBridge(watcher, self)
        self.following = Following(self.bridge, self.session, self.discovery, self.notices, self)
        self.handlers = Handlers(
            session=self.session,
            runner=self.runner,
            changes=self.changes,
            discovery=self.discovery,
            settings=self.settings,
            notices=self.notices,
            samples=partial(copy_samples, data),
            parent=self,
        )
        self.actions = ActionSet(self.handlers.run, self)
        self._dress()
        self.window = self._make_window()
        self.upkeep = Upkeep(
            self.actions,
            self.session,
            self.changes,
            self.runner,
            self.settings,
            has_samples=has_samples,
            parent=self,
        )
        self.settings.changed.connect(self._follow_setting)
        self.session.text_mode_changed.connect(self._keep_mode)
        self.streaming.changed.connect(self._show_stream)
        self.session.task_changed.connect(self._thaw)
        self.session.snapshot_changed.connect(self._settle_memory)
        self.window.paths_dropped.connect(self._open_dropped)
        self.window.first_shown.connect(self._begin)
        self.window.closing.connect(self.close)

    # -- start --------------------------------------------------------------------------------------------------

    def _make_window(self) -> MainWindow:
        self.task_list = TaskList(self._tasks)
        stage = Stage(self.session, self.notices, self.actions)
        return MainWindow(
            session=self.session,
            runner=self.runner,
            settings=self.settings,
            actions=self.actions,
            stage=stage,
            task_list=self.task_list,
        )

    def show(self) -> None:
        """Show the window; everything slow follows after its first paint."""
        self.window.show()

    def _begin(self) -> None:
        if not self._closed:
            self.runner.read(_load_rest, done=self._loaded)

    def _loaded(self, _nothing: object) -> None:
        self.fill()
        self._open_first()
        self.begun = True

    def fill(self) -> None:
        """Make the panes that are slow to load, and connect everything. Once; after the first paint."""
        if self.wiring is not None or self._closed:
            return
        theme.current().release_icons()
        from ctxviewer.models.conversation import ConversationModel  # noqa: PLC0415 - these wait for the first paint
        from ctxviewer.models.history import HistoryModel  # noqa: PLC0415
        from ctxviewer.services.lab.desk import Lab  # noqa: PLC0415
        from ctxviewer.views.answers.difference import DifferencePanel  # noqa: PLC0415
        from ctxviewer.views.answers.facts import FactsPanel  # noqa: PLC0415
        from ctxviewer.views.answers.losses import LossesPanel  # noqa: PLC0415
        from ctxviewer.views.answers.tokens import TokensPanel  # noqa: PLC0415
        from ctxviewer.views.asking import Asking  # noqa: PLC0415
        from ctxviewer.views.conversation import ConversationView  # noqa: PLC0415
        from ctxviewer.views.details import (  # noqa: PLC0415
            CheckpointsPanel,
            DetailsView,
            EventsPanel,
            FindingsPanel,
        )
        from ctxviewer.views.front import WindowFront  # noqa: PLC0415
        from ctxviewer.views.history_panel import HistoryPanel  # noqa: PLC0415
        from ctxviewer.views.lab.panel import LabPanel  # noqa: PLC0415
        from ctxviewer.views.lab.wiring import LabWiring  # noqa: PLC0415
        from ctxviewer.views.panels import Panels  # noqa: PLC0415
        from ctxviewer.views.usage import UsageGraph  # noqa: PLC0415
        from ctxviewer.views.wiring import Wiring  # noqa: PLC0415

        lab = self.lab = Lab(self.runner, self.session, self.settings, self.keys, self)
        messages = ConversationModel(self)
        conversation = ConversationView()
        conversation.set_model(messages)
        conversation.set_compact(self.settings.get(fields.COMPACT))
        panels = Panels(
            tasks=self.task_list,
            details=DetailsView(),
            difference=DifferencePanel(),
            facts=FactsPanel(),
            losses=LossesPanel(),
            tokens=TokensPanel(),
            events=EventsPanel(),
            checkpoints=CheckpointsPanel(),
            findings=FindingsPanel(),
            history=HistoryPanel(HistoryModel(_now_ms, self), self.actions),
            usage=UsageGraph(),
            lab=LabPanel(self.session, lab.choosing, lab.stepping, lab.summaries, self.actions),
        )
        self.window.fill(conversation, panels)
        self.front = WindowFront(
            self.window,
            session=self.session,
            changes=self.changes,
            counting=self.counting,
            discovery=self.discovery,
            settings=self.settings,
            handlers=self.handlers,
            answers=self.answers,
            exporting=self.exporting,
            data_folder=self._start.data_folder,
        )
        self.wiring = Wiring(
            self.window,
            self.front,
            session=self.session,
            changes=self.changes,
            counting=self.counting,
            explaining=self.explaining,
            discovery=self.discovery,
            handlers=self.handlers,
            actions=self.actions,
            messages=messages,
            tasks=self._tasks,
        )
        self.asking = Asking(
            self.window,
            self.front,
            session=self.session,
            counting=self.counting,
            answers=self.answers,
            handlers=self.handlers,
            actions=self.actions,
            messages=messages,
        )
        working = LabWiring(
            self.window,
            self.front,
            panels.lab,
            session=self.session,
            lab=lab,
            actions=self.actions,
            messages=messages,
        )
        self.front.attach_lab(working.run, working.add_to_menu, KeyKeeper(self.runner, self.keys, self))
        self.upkeep.follow_lab(lab.stepping)
        self.handlers.attach(self.front)

    def _open_first(self) -> None:
        if self._closed:
            return
        self.changes.recover()
        if self._start.demo:
            self.handlers.open_path(copy_samples(self._start.data_folder, fresh=True))
            return
        self.discovery.refresh()
        if self._start.paths:
            self.open_paths(self._start.paths)
        elif self.settings.get(fields.REOPEN) and self.settings.get(fields.LAST_TASK):
            last = Path(self.settings.get(fields.LAST_TASK))
            if is_dir(last):
                self.handlers.open_path(last)

    def open_paths(self, paths: Sequence[Path], *, remember: bool = False) -> None:
        """Open what these folders and files hold; the newest task of the first one is shown."""
        for number, path in enumerate(paths):
            if number == 0:
                self.handlers.open_path(path, remember=remember)
            else:
                self.discovery.open_path(path, remember=remember)

    def _open_dropped(self, paths: tuple[Path, ...]) -> None:
        self.open_paths(paths, remember=True)

    # -- what the services do not know of each other -------------------------------------------------------------

    def _override(self, task: TaskRef) -> int | None:
        return self.settings.window_override(str(task.directory))

    def _dress(self) -> None:
        look = theme.current()
        look.set_choice(theme.Choice(self.settings.get(fields.THEME)))
        look.set_scale(self.settings.get(fields.SCALE) / 100)
        look.set_proportional_text(self.settings.get(fields.PROPORTIONAL))

    def _follow_setting(self, field: object) -> None:
        if field in {fields.THEME, fields.SCALE, fields.PROPORTIONAL}:
            self._dress()
        elif field is fields.COMPACT and self.wiring is not None:
            self.window.stage.conversation.set_compact(self.settings.get(fields.COMPACT))
        elif field is fields.WINDOWS:
            self.session.refresh_window()

    def _show_stream(self, stream: Stream | None) -> None:
        words = "" if stream is None else stream_words(stream.request, stream.reading, finished=stream.finished)
        self.window.show_stream(words)

    def _keep_mode(self, mode: TextMode) -> None:
        self.settings.set(fields.TEXT_MODE, mode.value)

    def _thaw(self, _task: object) -> None:
        gc.unfreeze()

    def _settle_memory(self, change: SnapshotChange) -> None:
        """After a task was read: its many values live long, the collector need not look at them again."""
        if change.previous is None:
            if not self._start.demo:
                self.settings.note_recent(str(change.snapshot.task.directory))
            QTimer.singleShot(0, gc.freeze)

    # -- end ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Cancel all work, end all threads, let go of the window. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        self.upkeep.close()
        self.bridge.close()
        self.explaining.close()
        self.answers.close()
        self.exporting.cancel()
        self.streaming.close()
        if self.lab is not None:
            self.lab.close()
        self.counting.close()
        self.discovery.close()
        self.runner.close()
        self.session.close()
        self.handlers.detach()
        self.window.take_apart()
        self.settings.sync()
        gc.unfreeze()


def _load_rest(_token: CancelToken) -> None:
    sources.load_all()


def _now_ms() -> int:
    return int(time.time() * 1000)


def make_application(argv: Sequence[str] = ()) -> QApplication:
    """The QApplication, dressed. Made once per process."""
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        application = existing
    else:
        QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontShowIconsInMenus, on=False)
        application = QApplication([sys.argv[0], *argv])
    application.setApplicationName("ctxviewer")
    application.setApplicationDisplayName("ctxviewer")
    application.setDesktopFileName("ctxviewer")
    theme.current().apply(application)
    return application


def run(start: Start) -> int:
    """Open the window and stay until it is closed. The exit status is 0."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C in the terminal; a write is whole or mended at the next start
    log_to(start.data_folder)
    application = make_application()
    theme.current().hold_icons()
    desk = Desk(start)
    reporter = CrashReporter(desk.window)
    reporter.install()
    desk.show()
    status = application.exec()
    desk.close()
    reporter.remove()
    return status


def log_to(folder: Path) -> None:
    """Keep warnings and worse in a small file of our own: paths, counts and timings, never text of a conversation."""
    from logging.handlers import RotatingFileHandler  # noqa: PLC0415 - only the running program needs it

    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(folder / "log.txt", maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
    except OSError as error:
        logging.basicConfig(level=logging.WARNING)
        _log.warning("no log file can be kept: %s", error)
        return
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s", handlers=[handler]
    )
