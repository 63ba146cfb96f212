"""Writes the open task, a request, its usage, pictures or a bug report to a file, off the GUI thread.

Nothing is ever written into the folder of a task. Secrets are masked unless the user says otherwise.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ctxviewer.domain.errors import CtxError, RefusedError
from ctxviewer.services.answers.knowledge import Insight, Knowledge
from ctxviewer.services.counting import Counting
from ctxviewer.services.runner import CancelToken, Job, Runner
from ctxviewer.services.session import Session

if TYPE_CHECKING:  # numpy loads with these; at run time jobs load them, off the GUI thread
    from ctxviewer.engine.timeline import Timeline
    from ctxviewer.exports.secrets import Mask
    from ctxviewer.tokens import TokenTable


class Format(StrEnum):
    """What is written."""

    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"
    USAGE = "csv"
    GRAPH = "graph"
    WINDOW = "window"
    BUNDLE = "bundle"


PICTURES = frozenset({Format.GRAPH, Format.WINDOW})
OF_A_REQUEST = frozenset({Format.HTML, Format.MARKDOWN, Format.JSON})
"""Formats that show one request, or the whole task."""
SUFFIXES = {
    Format.HTML: ".html",
    Format.MARKDOWN: ".md",
    Format.JSON: ".json",
    Format.USAGE: ".csv",
    Format.GRAPH: ".png",
    Format.WINDOW: ".png",
    Format.BUNDLE: ".zip",
}


@dataclass(frozen=True, slots=True)
class Order:
    """What the user wants."""

    format: Format
    target: Path
    request: int | None = None
    """For formats of a request: its number; None = the whole task as it stands."""
    event: int | None = None
    """For a bug report: the event, from 0 as in `Timeline.events`."""
    mask: bool = True
    """Mask what looks like a secret."""
    replace: bool = False
    """Write over a file that exists; the user was asked."""
    picture: bytes = b""
    """For a picture: its PNG."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    target: Path
    size: int
    """Bytes."""
    masked: str
    """How many secrets were masked, in words; '' for pictures."""
    notes: tuple[str, ...] = ()
    """What the user should know about it."""

    @property
    def sentence(self) -> str:
        """'Wrote 12,345 bytes to page.html. 2 places masked: …'."""
        return " ".join(part for part in (f"Wrote {self.size:,} bytes to {self.target.name}.", self.masked) if part)


class Exporting(QObject):
    """One export at a time. GUI thread only, but for the work."""

    progressed = Signal(object)  # tuple[int, int]: done, total
    finished = Signal(object)  # Exported
    failed = Signal(object)  # CtxError

    def __init__(
        self,
        runner: Runner,
        session: Session,
        knowledge: Knowledge,
        counting: Counting,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runner, self._session, self._knowledge, self._counting = runner, session, knowledge, counting
        self._token: CancelToken | None = None
        self._title = ""
        runner.jobs_changed.connect(self._note_progress)

    @property
    def working(self) -> bool:
        """True while something is being written."""
        return self._token is not None

    def start(self, order: Order) -> None:
        """Write it; `finished` or `failed` follows."""
        insight, table = self._knowledge.insight, self._counting.table
        self.cancel()
        if insight is None:
            self.failed.emit(RefusedError("There is no task to export.", hint="Open a task first."))
            return
        known = table if table is not None and table.complete else None

        def work(token: CancelToken) -> Exported:
            return _write(insight, known, order, token)

        started = CancelToken()
        self._token = started
        self._title = f"Exporting to {order.target.name}"
        token = self._runner.read(work, done=self._finish, failed=self._fail, title=self._title)
        self._token = token if self._token is started else None  # it may be done already

    def cancel(self) -> None:
        """Stop; a file that is being written is not left behind."""
        if self._token is not None:
            self._token.cancel()
            self._token = None

    def _note_progress(self, jobs: tuple[Job, ...]) -> None:
        job = next((job for job in jobs if job.title == self._title), None)
        if job is not None and self._token is not None:
            self.progressed.emit((job.done, job.total))

    def _finish(self, exported: Exported) -> None:
        self._token = None
        self.finished.emit(exported)

    def _fail(self, error: CtxError) -> None:
        self._token = None
        self.failed.emit(error)


def _write(insight: Insight, table: TokenTable | None, order: Order, token: CancelToken) -> Exported:
    from ctxviewer.exports.files import write_bytes, write_export  # noqa: PLC0415 - as above
    from ctxviewer.exports.secrets import Mask  # noqa: PLC0415

    timeline = insight.timeline
    outside = _check_place(order, timeline)
    mask = Mask(keep=not order.mask)
    if order.format is Format.BUNDLE:
        return _write_bundle(timeline, order, mask)
    if order.format in PICTURES:
        size = write_bytes(order.target, [order.picture], outside=outside, replace=order.replace)
        return Exported(order.target, size, "")
    timeline.find_repairs(token.check)
    parts = _told(_parts(insight, table, order, mask, token), len(timeline.snapshot.messages), token)
    size = write_export(order.target, parts, outside=outside, replace=order.replace)
    return Exported(order.target, size, mask.sentence)


def _check_place(order: Order, timeline: Timeline) -> Path:
    """The task's folder. RefusedError when the target lies where the agent keeps its tasks."""
    task = timeline.snapshot.task
    tasks = Path(task.root) / "tasks"
    if order.target.resolve().is_relative_to(tasks.resolve()) and tasks.is_dir():
        raise RefusedError(
            "The agent keeps its tasks in that folder; nothing is exported into it.", hint="Name a place elsewhere."
        )
    return Path(task.directory)


def _parts(insight: Insight, table: TokenTable | None, order: Order, mask: Mask, token: CancelToken) -> Iterable[str]:
    from ctxviewer.exports.data import request_export, task_export, usage_csv  # noqa: PLC0415 - as above
    from ctxviewer.exports.document import make_document  # noqa: PLC0415
    from ctxviewer.exports.html import to_html  # noqa: PLC0415
    from ctxviewer.exports.markdown import to_markdown  # noqa: PLC0415
    from ctxviewer.exports.values import json_text  # noqa: PLC0415

    timeline, number = insight.timeline, order.request
    if order.format is Format.HTML:
        return to_html(make_document(timeline, number, mask))
    if order.format is Format.MARKDOWN:
        return to_markdown(make_document(timeline, number, mask))
    if order.format is Format.JSON:
        value = task_export(timeline, mask) if number is None else request_export(timeline, number, mask)
        return [json_text(value), "\n"]
    counted: tuple[float | None, ...] = ()
    if table is not None:
        counted = tuple(one.point.counted for one in insight.calibration(table, token.check).residuals)
    return [usage_csv(timeline, mask, None, counted)]


def _told(parts: Iterable[str], total: int, token: CancelToken) -> Iterator[str]:
    """The same parts; says how far it is, roughly a part a message."""
    for number, part in enumerate(parts):
        token.report(min(number, total), total)
        yield part


def _write_bundle(timeline: Timeline, order: Order, mask: Mask) -> Exported:
    from ctxviewer.exports.bundle import make_bundle  # noqa: PLC0415 - as above
    from ctxviewer.exports.files import write_bundle  # noqa: PLC0415

    bundle = make_bundle(timeline, order.event or 0, secrets.token_bytes(32), mask)
    write_bundle(order.target, bundle, outside=timeline.snapshot.task.directory, replace=order.replace)
    words = f"Every word was replaced. {mask.sentence}"
    return Exported(order.target, bundle.size, words, bundle.shown.notes)
