"""What is worked out once about the open task and serves many questions: when, why, and what each block is for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ctxviewer.services.session import Session, SnapshotChange

if TYPE_CHECKING:  # numpy loads with these; at run time jobs load them, off the GUI thread
    from ctxviewer.domain.projection import Projection
    from ctxviewer.engine.composition import Composition, Scale
    from ctxviewer.engine.past import Known, Past
    from ctxviewer.engine.timeline import Timeline
    from ctxviewer.tokens import TokenTable
    from ctxviewer.tokens.calibration import Calibration


class Insight:
    """Knowledge of one timeline. Made at once, filled by the jobs that need it; any thread may ask."""

    def __init__(self, timeline: Timeline, known: Known | None = None) -> None:
        """`known` was read of an earlier reading of the same task, which has only grown since."""
        self.timeline = timeline
        self._known = known
        self._past_lock = threading.Lock()
        self.anatomy_lock = threading.Lock()
        """An anatomy serves one thread at a time: whoever weighs what is sent holds this."""
        self._past: Past | None = None
        self._calibration: tuple[TokenTable, Calibration] | None = None

    def past(self) -> Past:
        """When every message was sent, and what it holds; its parts are made when they are asked for."""
        from ctxviewer.engine.past import Past  # noqa: PLC0415 - as above

        with self._past_lock:
            if self._past is None:
                self._past = Past(self.timeline) if self._known is None else Past(self.timeline, self._known)
                self._known = None
            return self._past

    @property
    def known(self) -> Known | None:
        """What the insight into a later reading can take over."""
        with self._past_lock:
            return self._past.known if self._past is not None else self._known

    def calibration(self, table: TokenTable, check: Callable[[], None]) -> Calibration:
        """The fit of counted to reported tokens, made once for a table of counts."""
        from ctxviewer.tokens.calibration import calibrate, points  # noqa: PLC0415 - as above

        known = self._calibration
        if known is None or known[0] is not table:
            known = self._calibration = (table, calibrate(points(self.timeline, table, check)))
        return known[1]

    def compose(
        self, projection: Projection, table: TokenTable, scale: Scale, check: Callable[[], None]
    ) -> Composition:
        """What a projection is made of. The first call decodes the whole history."""
        from ctxviewer.engine.composition import compose  # noqa: PLC0415 - as above

        with self.anatomy_lock:
            return compose(self.past().anatomy(check), projection, table, scale=scale, check=check)


class Knowledge(QObject):
    """The insight into the open task; what is known of messages is carried on while the task grows.

    Make it right behind the session: it must hear of a new reading before those who ask about it.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._insight: Insight | None = None
        session.task_changed.connect(self._forget)
        session.snapshot_changed.connect(self._follow)

    @property
    def insight(self) -> Insight | None:
        """Of the newest reading; None without a task."""
        timeline = self._session.timeline
        if timeline is None:
            return None
        if self._insight is None or self._insight.timeline is not timeline:
            self._insight = Insight(timeline)
        return self._insight

    def _follow(self, change: SnapshotChange) -> None:
        before = self._insight if change.same_task and change.grown else None
        self._insight = Insight(change.timeline, before.known if before is not None else None)

    def _forget(self, _task: object) -> None:
        self._insight = None
