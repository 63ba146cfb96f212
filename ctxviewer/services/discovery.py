"""Finds tasks in the background: the usual places of the agents and the folders that the user added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from ctxviewer.domain.errors import CancelledWorkError, CtxError
from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.snapshot import TaskRef
from ctxviewer.services.notices import Notice, Notices, notice_of
from ctxviewer.services.paths import exists, is_dir
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.settings import EXTRA_ROOTS, Settings

if TYPE_CHECKING:  # the sources load with it; at run time jobs load them, off the GUI thread
    from ctxviewer.sources.discover import Found

LookAround = Callable[[Sequence[Path]], "Found"]
"""`sources.discover.look_around`."""
OpenPath = Callable[[Path, Callable[[Finding], None]], Sequence[TaskRef]]
"""`sources.registry.open_path`."""

LIVE_MS = 30_000
"""So long after it has grown a task counts as running."""
REFRESH_MS = 400
"""Pause between a touched root and the next look at all of them."""


@dataclass(frozen=True, slots=True)
class _Given:
    """What a path that the user gave holds."""

    path: Path
    remember: bool
    tasks: tuple[TaskRef, ...]
    findings: tuple[Finding, ...]


class Discovery(QObject):
    """All tasks that are known, newest first. GUI thread only."""

    tasks_changed = Signal(object)  # tuple[TaskRef, ...]
    live_changed = Signal(object)  # frozenset[str]: directories of tasks that have grown a moment ago
    found = Signal(object)  # tuple[TaskRef, ...]: what a path that the user gave holds
    searching_changed = Signal(object)  # bool

    def __init__(
        self,
        runner: Runner,
        notices: Notices,
        settings: Settings,
        look_around: LookAround,
        open_path: OpenPath,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runner, self._notices, self._settings = runner, notices, settings
        self._look_around, self._open_path = look_around, open_path
        self._found: Found | None = None
        self._given: dict[str, tuple[TaskRef, ...]] = {}
        """Paths that were opened by hand in this run, with what they hold."""
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
        """Directories of tasks that have grown within the last half minute."""
        return frozenset(self._live)

    @property
    def searching(self) -> bool:
        """True while the places are looked through."""
        return self._searching

    @property
    def roots(self) -> tuple[Path, ...]:
        """Storage roots that exist, with or without tasks: what is worth watching."""
        roots = {root.path: None for root in (self._found.roots if self._found is not None else ())}
        given = dict.fromkeys(ref.root for refs in self._given.values() for ref in refs)  # thousands of few roots
        roots.update((Path(root), None) for root in given)
        return tuple(roots)

    def refresh(self) -> None:
        """Look through all places again. While a search is under way, one more follows it."""
        if self._searching:
            self._again = True
            return
        folders = dict.fromkeys((*self._settings.get(EXTRA_ROOTS), *self._given))
        extra = tuple(Path(folder) for folder in folders)
        look_around = self._look_around

        def work(_token: CancelToken) -> Found:
            return look_around(extra)

        self._set_searching(True)
        self._runner.read(work, done=self._take, failed=self._fail, title="Looking for tasks")

    def refresh_soon(self, _path: object = None) -> None:
        """Look again in a moment; several wishes become one."""
        if not self._soon.isActive():
            self._soon.start()

    def open_path(self, path: Path, *, remember: bool = False) -> None:
        """Add what this folder or file holds; `found` follows. With `remember`, the folder is looked at from now on."""
        opener = self._open_path

        def work(_token: CancelToken) -> _Given:
            findings: list[Finding] = []
            return _Given(path, remember, tuple(opener(path, findings.append)), tuple(findings))

        self._runner.read(work, done=self._take_given, failed=self._fail_given, title=f"Opening {path.name or path}")

    def forget_folder(self, folder: str) -> None:
        """Stop looking at a folder that the user added."""
        self._settings.set(EXTRA_ROOTS, tuple(path for path in self._settings.get(EXTRA_ROOTS) if path != folder))
        self._given.pop(folder, None)
        self.refresh()

    def note_running(self, path: object) -> None:
        """A task has grown a moment ago."""
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

    def _take(self, found: Found) -> None:
        self._found = found
        self._given = {path: refs for path, refs in self._given.items() if any(exists(ref.directory) for ref in refs)}
        self._set_searching(False)
        self._notices.clear_prefix("discovery:root:")
        self._tell(found.findings)
        self._merge()
        if self._again:
            self._again = False
            self.refresh()

    def _tell(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            key = f"discovery:root:{finding.file}"
            self._notices.post(Notice(finding.severity, finding.sentence, finding.advice, finding.place, key))

    def _fail(self, error: CtxError) -> None:
        self._set_searching(False)
        if not isinstance(error, CancelledWorkError):
            self._notices.post(notice_of(error, key="discovery:failed", severity=Severity.WARNING))

    def _take_given(self, given: _Given) -> None:
        path = given.path
        self._notices.clear("discovery:given")
        self._tell(given.findings)
        self._given[str(path)] = given.tasks
        if given.remember and is_dir(path):
            self._settings.set(EXTRA_ROOTS, tuple(dict.fromkeys((*self._settings.get(EXTRA_ROOTS), str(path)))))
        self._merge()
        self.found.emit(given.tasks)

    def _fail_given(self, error: CtxError) -> None:
        self._notices.post(notice_of(error, key="discovery:given", severity=Severity.WARNING, action="task.open"))

    def _merge(self) -> None:
        known = {str(ref.directory): ref for ref in (self._found.tasks if self._found is not None else ())}
        for refs in self._given.values():
            for ref in refs:
                known.setdefault(str(ref.directory), ref)
        tasks = tuple(sorted(known.values(), key=_newest_first))
        if tasks != self._tasks:
            before = {str(ref.directory): ref.updated_ms for ref in self._tasks}
            for ref in tasks:
                if ref.updated_ms > before.get(str(ref.directory), ref.updated_ms):
                    self.note_running(ref.directory)
            self._tasks = tasks
            self.tasks_changed.emit(tasks)


def _newest_first(ref: TaskRef) -> tuple[int, str]:
    return (-max(ref.updated_ms, ref.created_ms), ref.task_id)
