"""Finds tasks in the background: the usual places of the agents and the folders that the user added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Severity
from ctxviewer.domain.snapshot import TaskRef
from ctxviewer.services.notices import Notice, Notices, notice_of
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.settings import EXTRA_ROOTS, Settings

FindTasks = Callable[[Sequence[Path]], Sequence[TaskRef]]
"""`sources.discover.find_tasks`."""
OpenPath = Callable[[Path], Sequence[TaskRef]]
"""`sources.registry.open_path`."""

LIVE_MS = 30_000
"""So long after its files were touched a task counts as running."""
REFRESH_MS = 400
"""Pause between a touched root and the next look at all of them."""


class Discovery(QObject):
    """All tasks that are known, newest first. GUI thread only."""

    tasks_changed = Signal(object)  # tuple[TaskRef, ...]
    live_changed = Signal(object)  # frozenset[str]: directories of tasks that were touched a moment ago
    found = Signal(object)  # tuple[TaskRef, ...]: what a path that the user gave holds
    searching_changed = Signal(object)  # bool

    def __init__(
        self,
        runner: Runner,
        notices: Notices,
        settings: Settings,
        find: FindTasks,
        open_path: OpenPath,
        *,
        usual_places: bool = True,
        parent: QObject | None = None,
    ) -> None:
        """`usual_places` False: show only what is opened by hand (the demo, tests)."""
        super().__init__(parent)
        self._runner, self._notices, self._settings = runner, notices, settings
        self._find, self._open_path = find, open_path
        self._usual_places = usual_places
        self._found: tuple[TaskRef, ...] = ()
        self._given: dict[str, TaskRef] = {}
        self._tasks: tuple[TaskRef, ...] = ()
        self._live: dict[str, QTimer] = {}
        self._searching, self._again = False, False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(REFRESH_MS)
        self._soon.timeout.connect(self.refresh)

    @property
    def tasks(self) -> tuple[TaskRef, ...]:
        """Known tasks, newest first."""
        return self._tasks

    @property
    def live(self) -> frozenset[str]:
        """Directories of tasks whose files were touched within the last half minute."""
        return frozenset(self._live)

    @property
    def searching(self) -> bool:
        """True while the places are looked through."""
        return self._searching

    @property
    def roots(self) -> tuple[Path, ...]:
        """Storage roots of the known tasks and the folders that the user added."""
        roots = {Path(ref.root): None for ref in self._tasks}
        roots.update((Path(folder), None) for folder in self._settings.get(EXTRA_ROOTS))
        return tuple(roots)

    def refresh(self) -> None:
        """Look through all places again. While a search is under way, one more follows it."""
        if self._searching:
            self._again = True
            return
        extra = tuple(Path(folder) for folder in self._settings.get(EXTRA_ROOTS))
        find, usual = self._find, self._usual_places

        def work(_token: CancelToken) -> tuple[TaskRef, ...]:
            return tuple(find(extra)) if usual or extra else ()

        self._set_searching(True)
        self._runner.read(work, done=self._take, failed=self._fail, title="Looking for tasks")

    def refresh_soon(self, _path: object = None) -> None:
        """Look again in a moment; several wishes become one."""
        if not self._soon.isActive():
            self._soon.start()

    def open_path(self, path: Path, *, remember: bool = False) -> None:
        """Add what this folder or file holds; `found` follows. With `remember`, the folder is looked at from now on."""
        opener = self._open_path

        def work(_token: CancelToken) -> tuple[Path, bool, tuple[TaskRef, ...]]:
            return path, remember, tuple(opener(path))

        self._runner.read(work, done=self._take_given, failed=self._fail_given, title=f"Opening {path.name or path}")

    def forget_folder(self, folder: str) -> None:
        """Stop looking at a folder that the user added."""
        self._settings.set(EXTRA_ROOTS, tuple(path for path in self._settings.get(EXTRA_ROOTS) if path != folder))
        inside = Path(folder)
        gone = [
            key for key, ref in self._given.items() if inside in (Path(key), *Path(key).parents) or ref.root == inside
        ]
        for key in gone:
            del self._given[key]
        self.refresh()

    def note_touched(self, path: object) -> None:
        """A task's files were touched: it is running."""
        key = str(path)
        timer = self._live.get(key)
        if timer is None:
            timer = QTimer(self)
            timer.setSingleShot(True)
            timer.setInterval(LIVE_MS)
            timer.timeout.connect(self._drop_still)
            self._live[key] = timer
            timer.start()
            self.live_changed.emit(self.live)
        else:
            timer.start()

    def close(self) -> None:
        """Stop the clocks."""
        self._soon.stop()
        for timer in self._live.values():
            timer.stop()
        self._live.clear()

    def _drop_still(self) -> None:
        for key in [key for key, timer in self._live.items() if not timer.isActive()]:
            self._live.pop(key).deleteLater()
        self.live_changed.emit(self.live)

    def _set_searching(self, searching: bool) -> None:
        if searching != self._searching:
            self._searching = searching
            self.searching_changed.emit(searching)

    def _take(self, found: tuple[TaskRef, ...]) -> None:
        self._set_searching(False)
        self._found = found
        self._merge()
        if self._again:
            self._again = False
            self.refresh()

    def _fail(self, error: CtxError) -> None:
        self._set_searching(False)
        self._notices.post(notice_of(error, key="discovery", severity=Severity.WARNING))

    def _take_given(self, result: tuple[Path, bool, tuple[TaskRef, ...]]) -> None:
        path, remember, refs = result
        if not refs:
            self._notices.post(
                Notice(
                    Severity.WARNING,
                    f"No task was found in {path}.",
                    "Choose a task's own folder, or the storage folder that holds 'tasks'.",
                    key="discovery:given",
                )
            )
            return
        self._notices.clear("discovery:given")
        self._given.update((str(ref.directory), ref) for ref in refs)
        if remember:
            folder = str(path if path.is_dir() else path.parent)
            self._settings.set(EXTRA_ROOTS, tuple(dict.fromkeys((*self._settings.get(EXTRA_ROOTS), folder))))
        self._merge()
        self.found.emit(refs)

    def _fail_given(self, error: CtxError) -> None:
        self._notices.post(notice_of(error, key="discovery:given"))

    def _merge(self) -> None:
        known = {str(ref.directory): ref for ref in self._found}
        for key, ref in self._given.items():
            known.setdefault(key, ref)
        tasks = tuple(sorted(known.values(), key=_newest_first))
        if tasks != self._tasks:
            self._tasks = tasks
            self.tasks_changed.emit(tasks)


def _newest_first(ref: TaskRef) -> tuple[int, str]:
    return (-max(ref.updated_ms, ref.created_ms), ref.task_id)
