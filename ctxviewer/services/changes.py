"""Everything that writes: prepare a preview, commit it, undo, redo, recover. All on the runner's change queue.

Nothing is written before a preview. When files differ from those that the preview was computed from, nothing is written
either: the task is read again and the user is told what changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal

from ctxviewer.domain.errors import CtxError, RefusedError
from ctxviewer.domain.finding import Severity
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.services.notices import Notice, Notices, notice_of
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session, SnapshotChange

if TYPE_CHECKING:  # the store loads with them; at run time jobs load it, off the GUI thread
    from ctxviewer.sources.change import Change
    from ctxviewer.sources.store.values import Entry, Outcome, Recovered

ChangeFor = Callable[[Snapshot, Plan, int], "Change"]
"""`sources.registry.change_for`."""


class TaskStore(Protocol):
    """What is asked of `sources.store.Store`."""

    def commit(self, change: Change, *, consent_open: bool = False) -> Outcome:
        """Write it all, or nothing."""
        ...

    def undo(self, task_dir: Path, *, looks_open: Sequence[str] = (), consent_open: bool = False) -> Outcome:
        """Take back the newest change of a task."""
        ...

    def redo(self, task_dir: Path, *, looks_open: Sequence[str] = (), consent_open: bool = False) -> Outcome:
        """Do again what was undone last."""
        ...

    def history(self, task_dir: Path) -> tuple[Entry, ...]:
        """Entries of a task, newest last."""
        ...

    def recover(self) -> tuple[Recovered, ...]:
        """Finish or revert what was interrupted."""
        ...


@dataclass(frozen=True, slots=True)
class Preview:
    """A plan with the bytes that it would write."""

    plan: Plan
    snapshot: Snapshot
    """The reading that it was made from."""
    change: Change | None
    """None for a plan that is refused or writes nothing."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that was not carried out."""

    preview: Preview | None
    """None for an undo or a redo."""
    error: CtxError


@dataclass(frozen=True, slots=True)
class History:
    """What can be undone and redone in the open task."""

    entries: tuple[Entry, ...] = ()
    """Newest last."""

    @property
    def undo(self) -> Entry | None:
        """The entry that Undo takes back."""
        return next((entry for entry in reversed(self.entries) if entry.can_undo), None)

    @property
    def redo(self) -> Entry | None:
        """The entry that Redo does again."""
        return next((entry for entry in self.entries if entry.can_redo), None)

    @property
    def undo_reason(self) -> str:
        """Why nothing can be undone; '' when something can."""
        if self.undo is not None:
            return ""
        reasons = [entry.undo_reason for entry in reversed(self.entries) if entry.undo_reason]
        return reasons[0] if reasons else "Nothing was changed in this task yet."

    @property
    def redo_reason(self) -> str:
        """Why nothing can be redone; '' when something can."""
        return "" if self.redo is not None else "Nothing was undone in this task."


def what_changed(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """How a newer reading differs, in sentences for people; empty when it does not."""
    said: list[str] = []
    for name, before, after in (
        ("message", len(old.messages), len(new.messages)),
        ("request", len(old.requests), len(new.requests)),
        ("checkpoint", len(old.checkpoints), len(new.checkpoints)),
    ):
        if before != after:
            number = abs(after - before)
            verb = "added" if after > before else "removed"
            said.append(f"{number:,} {name}{'s' if number != 1 else ''} {verb}")
    if old.range_now != new.range_now:
        said.append(f"deleted range {old.range_now or 'none'} → {new.range_now or 'none'}")
    before_files = {stamp.path: stamp for stamp in old.files}
    for stamp in new.files:
        was = before_files.get(stamp.path)
        if was is not None and was.digest != stamp.digest:
            how = "removed" if not stamp.exists else "appeared" if not was.exists else "rewritten"
            said.append(f"{stamp.path.name} {how}")
    return tuple(said)


def _now_ms() -> int:
    return int(time.time() * 1000)


class Changes(QObject):
    """The one door to the store. GUI thread only; the work runs on the runner."""

    previewed = Signal(object)  # Preview
    committed = Signal(object)  # Outcome
    refused = Signal(object)  # Refusal
    history_changed = Signal(object)  # History

    def __init__(
        self,
        runner: Runner,
        session: Session,
        notices: Notices,
        store: TaskStore,
        change_for: ChangeFor,
        *,
        now_ms: Callable[[], int] = _now_ms,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runner, self._session, self._notices = runner, session, notices
        self._store, self._change_for, self._now_ms = store, change_for, now_ms
        self._history = History()
        self._refused_from: Snapshot | None = None
        self._asked = 0
        session.task_changed.connect(self._follow_task)
        session.snapshot_changed.connect(self._follow_snapshot)

    @property
    def history(self) -> History:
        """Of the open task."""
        return self._history

    def prepare(self, snapshot: Snapshot, plan: Plan) -> None:
        """Compute the bytes of a plan in the background; `previewed` follows, unless another was asked for since."""
        self._asked += 1
        asked, change_for, now = self._asked, self._change_for, self._now_ms()
        idle = bool(plan.refusal) or plan.effects.writes_nothing

        def work(_token: CancelToken) -> tuple[int, Preview]:
            change = None if idle else change_for(snapshot, plan, now)
            return asked, Preview(plan, snapshot, change)

        self._runner.read(work, done=self._take_preview, failed=self._fail_preview, title=f"Preparing: {plan.title}")

    def commit(self, preview: Preview, *, consent_open: bool = False) -> None:
        """Write a preview. `consent_open`: the user knows that the task looks open and wants it all the same."""
        change, store = preview.change, self._store
        if change is None:
            return

        def work(_token: CancelToken) -> Outcome:
            return store.commit(change, consent_open=consent_open)

        def failed(error: CtxError) -> None:
            self._refuse(preview, error)

        self._runner.change(work, done=self._finish, failed=failed, title=change.title)

    def undo(self, *, consent_open: bool = False) -> None:
        """Take back the newest change of the open task. `consent_open` as in `commit`."""
        self._turn("undo", self._history.undo, consent_open)

    def redo(self, *, consent_open: bool = False) -> None:
        """Do again what was undone last. `consent_open` as in `commit`."""
        self._turn("redo", self._history.redo, consent_open)

    def refresh_history(self) -> None:
        """Read the open task's history from the store."""
        task, store = self._session.task, self._store
        if task is None:
            self._set_history(History())
            return
        directory = Path(task.directory)

        def work(_token: CancelToken) -> tuple[Path, History]:
            return directory, History(store.history(directory))

        self._runner.read(work, done=self._take_history, failed=self._tell_history)

    def recover(self) -> None:
        """Put right what an earlier run left unfinished. Called once at the start."""
        store = self._store

        def work(_token: CancelToken) -> tuple[Recovered, ...]:
            return store.recover()

        self._runner.change(work, done=self._tell_recovered, failed=self._tell_history, title="Checking the journal")

    def _turn(self, way: str, entry: Entry | None, consent: bool) -> None:
        task, snapshot, store = self._session.task, self._session.snapshot, self._store
        if task is None or entry is None:
            return
        directory = Path(task.directory)
        looks_open = snapshot.looks_open if snapshot is not None else ()

        def work(_token: CancelToken) -> Outcome:
            turn = store.undo if way == "undo" else store.redo
            return turn(directory, looks_open=looks_open, consent_open=consent)

        def failed(error: CtxError) -> None:
            self._refuse(None, error)

        self._runner.change(work, done=self._finish, failed=failed, title=f"{way.capitalize()}: {entry.title}")

    def _take_preview(self, result: tuple[int, Preview]) -> None:
        asked, preview = result
        if asked == self._asked:
            self.previewed.emit(preview)

    def _fail_preview(self, error: CtxError) -> None:
        self._notices.post(notice_of(error, key="task:preview"))

    def _finish(self, outcome: Outcome) -> None:
        words = {"commit": "Done", "undo": "Undone", "redo": "Done again"}[str(outcome.action)]
        self._notices.post(
            Notice(
                Severity.INFO,
                f"{words}: {outcome.title}.",
                details="\n".join(str(stamp.path) for stamp in outcome.stamps),
                key="task:outcome",
                action="edit.redo" if str(outcome.action) == "undo" else "edit.undo",
            )
        )
        self._notices.clear("task:refused")
        self.committed.emit(outcome)
        self._session.reload()
        self.refresh_history()

    def _refuse(self, preview: Preview | None, error: CtxError) -> None:
        self._notices.clear("task:outcome")
        self._notices.post(notice_of(error, key="task:refused"))
        if isinstance(error, RefusedError):
            self._refused_from = preview.snapshot if preview is not None else self._session.snapshot
        self.refused.emit(Refusal(preview, error))
        self._session.reload()
        self.refresh_history()

    def _follow_task(self, _task: object) -> None:
        self._refused_from = None
        self._asked += 1
        self._set_history(History())
        self.refresh_history()

    def _follow_snapshot(self, change: SnapshotChange) -> None:
        old, self._refused_from = self._refused_from, None
        if old is not None and old.task.directory == change.snapshot.task.directory:
            said = what_changed(old, change.snapshot)
            if said:
                self._notices.post(
                    Notice(
                        Severity.WARNING,
                        "The task was changed by somebody else: " + "; ".join(said) + ".",
                        "Nothing of ours was written. Look at the new state and start the action again.",
                        key="task:refused",
                    )
                )

    def _take_history(self, result: tuple[Path, History]) -> None:
        directory, history = result
        task = self._session.task
        if task is not None and Path(task.directory) == directory:
            self._set_history(history)

    def _set_history(self, history: History) -> None:
        if history != self._history:
            self._history = history
            self.history_changed.emit(history)

    def _tell_history(self, error: CtxError) -> None:
        self._notices.post(notice_of(error, key="store", severity=Severity.WARNING))

    def _tell_recovered(self, found: tuple[Recovered, ...]) -> None:
        for item in found:
            calm = str(item.kind) in {"finished", "reverted"}
            severity = Severity.INFO if calm else Severity.WARNING
            self._notices.post(
                Notice(severity, item.sentence, item.hint, str(item.task_dir), f"recovered:{item.entry_id}")
            )
        if found:
            self.refresh_history()
