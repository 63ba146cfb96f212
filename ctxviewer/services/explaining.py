"""Why the shown request was sent as it was, worked out in the background for the details panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from ctxviewer.domain.errors import CtxError
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session

if TYPE_CHECKING:  # the engine loads with them; at run time jobs load it, off the GUI thread
    from ctxviewer.engine.explain import Explanation
    from ctxviewer.engine.timeline import Timeline

PAUSE_MS = 60
"""Fast steps through requests are explained once, at the end."""


class Explaining(QObject):
    """Follows the session's request. GUI thread only."""

    explained = Signal(object)  # Explanation | None: None while it is being worked out, or without a task
    failed = Signal(object)  # CtxError

    def __init__(self, runner: Runner, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner, self._session = runner, session
        self._token: CancelToken | None = None
        self._working = False
        self._current: Explanation | None = None
        self._made_for: tuple[Timeline, int | None, int | None] | None = None
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.refresh)
        for signal in (session.snapshot_changed, session.request_changed, session.window_changed, session.task_changed):
            signal.connect(self._wait)

    @property
    def current(self) -> Explanation | None:
        """The newest explanation that still holds."""
        return self._current

    @property
    def pending(self) -> bool:
        """True while an explanation is being worked out, or about to be."""
        return self._pause.isActive() or self._token is not None

    def refresh(self) -> None:
        """Explain what is shown now."""
        self._pause.stop()
        self._cancel()
        timeline = self._session.timeline
        if timeline is None:
            self._set(None)
            return
        number, window = self._session.request, self._session.window
        wanted = (timeline, number, window)
        if self._made_for == wanted and self._current is not None:
            return
        override = window if window != timeline.snapshot.model.window else None

        def work(token: CancelToken) -> tuple[tuple[Timeline, int | None, int | None], Explanation]:
            from ctxviewer.engine.explain import explain  # noqa: PLC0415 - as above

            token.check()
            return wanted, explain(timeline, number, override)

        self._working = True
        token = self._runner.read(work, done=self._take, failed=self._fail)
        self._token = token if self._working else None

    def close(self) -> None:
        """Explain no more."""
        self._pause.stop()
        self._cancel()

    def _wait(self, _news: object) -> None:
        if self._session.timeline is None:
            self.refresh()
        else:
            self._pause.start()

    def _cancel(self) -> None:
        if self._token is not None:
            self._token.cancel()
            self._token = None

    def _take(self, result: tuple[tuple[Timeline, int | None, int | None], Explanation]) -> None:
        wanted, explanation = result
        self._working, self._token = False, None
        if wanted == (self._session.timeline, self._session.request, self._session.window):
            self._made_for = wanted
            self._set(explanation)

    def _fail(self, error: CtxError) -> None:
        self._working, self._token = False, None
        self._set(None)
        self.failed.emit(error)

    def _set(self, explanation: Explanation | None) -> None:
        if explanation is None:
            self._made_for = None
        if explanation is not self._current:
            self._current = explanation
            self.explained.emit(explanation)
