"""What happens when files are touched: the open task is read again, the list is refreshed, a lost folder is told."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from ctxviewer.domain.finding import Severity
from ctxviewer.services.discovery import Discovery
from ctxviewer.services.notices import Notice, Notices
from ctxviewer.services.paths import is_dir
from ctxviewer.services.session import Session, SnapshotChange
from ctxviewer.services.watchbridge import WatchBridge

GONE_KEY = "task:gone"


class Following(QObject):
    """Between the watcher and those whom it concerns. GUI thread only."""

    def __init__(
        self,
        bridge: WatchBridge,
        session: Session,
        discovery: Discovery,
        notices: Notices,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge, self._session, self._discovery, self._notices = bridge, session, discovery, notices
        self._watched: tuple[Path, ...] = ()
        self._roots: tuple[Path, ...] = ()
        bridge.task_touched.connect(self._touched)
        bridge.task_gone.connect(self._gone)
        bridge.task_back.connect(self._back)
        bridge.roots_touched.connect(self._roots_touched)
        bridge.limited.connect(self._limited)
        session.snapshot_changed.connect(self._follow_snapshot)
        session.task_changed.connect(self._follow_task)
        discovery.tasks_changed.connect(self._follow_roots)
        discovery.searching_changed.connect(self._follow_roots)

    def _follow_snapshot(self, change: SnapshotChange) -> None:
        snapshot = change.snapshot
        files = (Path(snapshot.task.directory), *(Path(stamp.path) for stamp in snapshot.files))
        if files != self._watched:
            self._watched = files
            self._bridge.watch_task(snapshot)
        if is_dir(snapshot.task.directory):  # else this reading ended after the folder went
            self._notices.clear(GONE_KEY)
        before = change.previous
        if before is not None and (
            len(snapshot.messages) > len(before.messages) or len(snapshot.requests) > len(before.requests)
        ):
            self._discovery.note_running(snapshot.task.directory)

    def _follow_task(self, task: object) -> None:
        self._watched = ()
        if task is None:
            self._bridge.watch_task(None)

    def _follow_roots(self, _news: object = None) -> None:
        roots = self._discovery.roots
        if not self._discovery.searching and roots != self._roots:
            self._roots = roots
            self._bridge.watch_roots(roots)

    def _touched(self, path: Path) -> None:
        if self._is_open(path):
            self._session.reload()

    def _gone(self, path: Path) -> None:
        if self._is_open(path):
            self._notices.post(
                Notice(
                    Severity.WARNING,
                    f"The folder of this task is gone: {path.name}.",
                    "What was read last is still shown. It is read again as soon as the folder is back.",
                    str(path),
                    GONE_KEY,
                )
            )
        self._discovery.refresh_soon()

    def _back(self, path: Path) -> None:
        if self._is_open(path):
            self._notices.post(
                Notice(Severity.INFO, f"The folder of this task is back: {path.name}.", "", str(path), GONE_KEY)
            )
            self._session.reload()
        self._discovery.refresh_soon()

    def _roots_touched(self, path: Path) -> None:
        self._discovery.refresh_soon(path)

    def _limited(self, limit: tuple[str, str]) -> None:
        sentence, hint = limit
        self._notices.post(Notice(Severity.INFO, sentence, hint, key="watch:limit"))

    def _is_open(self, path: Path) -> bool:
        task = self._session.task
        return task is not None and Path(task.directory) == Path(path)
