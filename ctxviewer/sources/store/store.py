"""The one place that writes to a task: as one transaction, backed up first, undoable, crash-safe.

A commit goes: own lock → the files as the preview saw them (else refuse) → permissions and space → copies of old and
new content in our data folder → *intent* in the journal → new content beside each file → one rename after the other in
the order of `FileRole`, the task's item in the index last → *done* in the journal. Undo and redo are the same with the
copies of an entry. Nothing outside the task's files, its index and the data folder is ever written.
"""

from __future__ import annotations

import hashlib
import logging
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from ctxviewer.domain.errors import CtxError, RefusedError
from ctxviewer.domain.snapshot import FileRole, FileStamp
from ctxviewer.sources.change import Change
from ctxviewer.sources.fingerprint import Signature, signature
from ctxviewer.sources.store.area import Area
from ctxviewer.sources.store.backup import back_up, moves_of
from ctxviewer.sources.store.disk import Standing, current, standing
from ctxviewer.sources.store.files import resolved
from ctxviewer.sources.store.history import ledger_of
from ctxviewer.sources.store.limit import shrink, usage
from ctxviewer.sources.store.lock import held, held_if_free
from ctxviewer.sources.store.preflight import (
    FreeSpace,
    check_shape,
    check_space,
    check_still,
    check_writable,
    compared,
)
from ctxviewer.sources.store.records import Intent, Mark, MarkKind, Move
from ctxviewer.sources.store.recovery import Recovery
from ctxviewer.sources.store.steps import StepError, StepHook, Steps, hint, reason, refused
from ctxviewer.sources.store.transaction import ForeignWriteError, Writer
from ctxviewer.sources.store.values import (
    Action,
    BackupUsage,
    Entry,
    Outcome,
    Recovered,
    RecoveredKind,
    UnfinishedError,
)

log = logging.getLogger(__name__)

MAX_BACKUP_BYTES = 1 << 30
"""Default limit of all backups together."""

_NAMES = {Action.COMMIT: "{}", Action.UNDO: "Undo {}", Action.REDO: "Redo {}"}
_LOOK_AGAIN = "Look at the task as it is now and repeat the action."


def free_space(folder: Path) -> int:
    """Bytes that we may still write on the file system of the folder."""
    return shutil.disk_usage(folder).free


class Store:
    """Writes, undoes, redoes and remembers. May be used by several threads and several processes at once."""

    def __init__(
        self,
        data_dir: Path,
        *,
        clock: Callable[[], float] = time.time,
        max_backup_bytes: int = MAX_BACKUP_BYTES,
        lock_wait_s: float = 3.0,
        free: FreeSpace = free_space,
        hook: StepHook | None = None,
    ) -> None:
        """`data_dir` is our own folder and is made when first needed. `hook` is for tests, see `steps`."""
        self._data_dir = data_dir
        self._clock = clock
        self._limit = max_backup_bytes
        self._wait_s = lock_wait_s
        self._free = free
        self._steps = Steps(hook)

    def commit(self, change: Change, *, consent_open: bool = False) -> Outcome:
        """Write the change. `consent_open` says that the user wants it although the task looks open.

        Raises RefusedError (nothing was written) or UnfinishedError (`recover` goes on).
        """
        check_shape(change)
        _want_consent(change.title, change.looks_open, consent_open)
        area = Area.of_task(self._data_dir, change.task_dir, self._steps)
        with self._locked(area, change.task_dir, change.title):
            self._settled(area)
            found = compared(change)
            seen = {path: _signature(stamp) for path, stamp in found.items() if stamp.role is not FileRole.INDEX}
            with _examined(change.title):
                moves = moves_of(change, found)
            self._check(change.title, moves, sum(move.old.size + move.new.size for move in moves))
            intent = self._new_intent(area, change, moves)
            try:
                back_up(area, intent, change)
            except BaseException as error:
                area.drop(intent.entry)
                if isinstance(error, StepError):
                    raise refused(change.title, error) from error
                raise
            outcome = self._carry_out(area, intent, seen)
            self._shrink(area)
            return outcome

    def undo(self, task_dir: Path, *, looks_open: Sequence[str] = (), consent_open: bool = False) -> Outcome:
        """Take back the newest change that is not undone. Raises as `commit`; refuses when a file changed since."""
        return self._repeat(Action.UNDO, task_dir, looks_open, consent_open=consent_open)

    def redo(self, task_dir: Path, *, looks_open: Sequence[str] = (), consent_open: bool = False) -> Outcome:
        """Carry out again what was undone last. Raises as `commit`; refuses when a file changed since."""
        return self._repeat(Action.REDO, task_dir, looks_open, consent_open=consent_open)

    def history(self, task_dir: Path) -> tuple[Entry, ...]:
        """The changes of one task, newest last. Raises CtxError when our data folder cannot be read."""
        area = Area.of_task(self._data_dir, task_dir, self._steps)
        with _readable(self._data_dir):
            return ledger_of(area, alone=False).entries(area)

    def all_history(self) -> tuple[Entry, ...]:
        """The changes of all tasks, newest last. Raises CtxError when our data folder cannot be read."""
        with _readable(self._data_dir):
            found = [
                entry
                for area in Area.every(self._data_dir, self._steps)
                for entry in ledger_of(area, alone=False).entries(area)
            ]
        return tuple(sorted(found, key=lambda entry: entry.when_ms))

    def usage(self) -> BackupUsage:
        """How much the backups take. Raises CtxError when our data folder cannot be read."""
        with _readable(self._data_dir):
            return usage(Area.every(self._data_dir, self._steps), self._limit)

    def recover(self) -> tuple[Recovered, ...]:
        """Finish or take back every interrupted write, see `recovery`. To be called once at start.

        Tells instead of raising. A task that another ctxviewer is writing this moment is passed over.
        """
        found: list[Recovered] = []
        try:
            areas = Area.every(self._data_dir, self._steps)
        except OSError as error:
            return (_unreadable(self._data_dir, error),)
        for area in areas:
            try:
                with held_if_free(area.lock, what="A task") as free:
                    if free:
                        found += self._recover(area)
            except OSError as error:
                found.append(_unreadable(area.directory, error))
            except StepError as failed:
                found.append(_unreadable(failed.path, failed.error))
            except CtxError as error:
                found.append(Recovered(RecoveredKind.WAITING, area.directory, "", error.sentence, error.hint))
        return tuple(found)

    def _repeat(self, action: Action, task_dir: Path, looks_open: Sequence[str], *, consent_open: bool) -> Outcome:
        area = Area.of_task(self._data_dir, task_dir, self._steps)
        with self._locked(area, task_dir, f"{action.value.capitalize()}"):
            self._settled(area)
            with _readable(self._data_dir):
                ledger = ledger_of(area, alone=True)
                first = ledger.next_undo if action is Action.UNDO else ledger.next_redo
                entry = next((entry for entry in ledger.entries(area) if first and entry.id == first.id), None)
            if first is None or entry is None:
                raise RefusedError(f"There is nothing to {action.value} in this task.")
            title = _NAMES[action].format(first.title)
            why_not = entry.undo_reason if action is Action.UNDO else entry.redo_reason
            if why_not:
                raise RefusedError(f"“{title}” was not carried out: {why_not}")
            _want_consent(title, looks_open, consent_open)
            moves = first.moves if action is Action.REDO else tuple(move.swapped() for move in first.moves)
            seen = _as_left(title, moves)
            self._check(title, moves, 0)
            intent = self._again(area, action, first, moves)
            return self._carry_out(area, intent, seen)

    def _carry_out(self, area: Area, intent: Intent, seen: Mapping[Path, Signature | None]) -> Outcome:
        """Write the intent, the files, the mark; on any failure take everything back. Raises as `commit`."""
        title = _NAMES[intent.action].format(intent.title)
        writer = Writer(area, intent.entry, intent.id, intent.moves, self._steps)
        try:
            with self._index_lock(intent.moves):
                try:
                    area.append(intent, "noting in the")
                    writer.run(seen, lambda: check_still(title, seen))
                    area.append(_mark(MarkKind.DONE, intent), "marking in the")
                except BaseException:
                    self._take_back(area, intent, writer)
                    raise
                writer.clean()
        except StepError as failed:
            raise refused(title, failed) from failed
        except ForeignWriteError as error:
            raise RefusedError(
                f"“{title}” was not carried out: {error.path.name} was written by somebody else at this very moment.",
                hint=_LOOK_AGAIN,
                place=str(error.path),
            ) from error
        stamps = _stamps(intent.moves)
        return Outcome(intent.entry, intent.title, intent.action, stamps, tuple(move.role for move in intent.moves))

    def _take_back(self, area: Area, intent: Intent, writer: Writer) -> None:
        """Put everything back after a failure. Raises UnfinishedError when that fails too."""
        title = _NAMES[intent.action].format(intent.title)
        kept = f"The contents before and after lie in {area.entry_dir(intent.entry)}."
        try:
            writer.put_back()
        except StepError as failed:
            raise UnfinishedError(
                f"“{title}” failed half-way, and {failed.path.name} could not be put back: {reason(failed.error)}.",
                hint=f"{hint(failed.error)} ctxviewer puts the task right when it starts next. {kept}",
                place=str(failed.path),
            ) from failed
        except ForeignWriteError as error:
            sentence = f"“{title}” failed half-way, and {error.path.name} was written by somebody else meanwhile."
            with suppress(StepError):
                area.append(_mark(MarkKind.LEFT, intent, sentence), "marking in the")
            raise UnfinishedError(sentence, hint=f"Look at the task. {kept}", place=str(error.path)) from error
        with suppress(StepError):
            area.append(_mark(MarkKind.REVERTED, intent, "It failed, and every file was put back."), "marking in the")
            if intent.action is Action.COMMIT:
                area.drop(intent.entry)

    def _settled(self, area: Area) -> None:
        """Put an earlier interrupted write of the task right. Raises RefusedError when that is not possible now."""
        with _readable(self._data_dir):
            ledger = ledger_of(area, alone=True)
        for found in Recovery(area, self._steps, self._index_lock).settle(ledger):
            log.warning("%s %s", found.entry_id, found.sentence)
            if found.kind is RecoveredKind.WAITING:
                raise RefusedError(found.sentence, hint=found.hint, place=str(found.task_dir))

    def _recover(self, area: Area) -> list[Recovered]:
        found: list[Recovered] = []
        content = area.read(alone=True)
        ledger = ledger_of(area, alone=True)
        fresh = [line for line in content.damaged if line.digest not in ledger.told]
        if fresh:
            places = ", ".join(f"line {line.number} at byte {line.offset:,}" for line in fresh)
            found.append(
                Recovered(
                    RecoveredKind.DAMAGED,
                    ledger.task_dir or area.directory,
                    "",
                    f"The journal of this task is damaged: {places} cannot be read. Changes noted there may be missing "
                    "from the history.",
                    hint=f"Nothing needs to be done. The lines stay in {area.journal}.",
                )
            )
            for line in fresh:
                area.append(Mark(MarkKind.TOLD, line.digest), "marking in the")
        recovery = Recovery(area, self._steps, self._index_lock)
        found += recovery.settle(ledger)
        recovery.tidy(ledger_of(area, alone=True), whole=not content.damaged)
        return found

    def _check(self, title: str, moves: Sequence[Move], kept: int) -> None:
        check_writable(title, moves)
        check_space(title, moves, kept, self._data_dir, self._free)

    def _shrink(self, area: Area) -> None:
        with suppress(OSError):
            shrink(Area.every(self._data_dir, self._steps), area, self._limit)

    def _locked(self, area: Area, task_dir: Path, title: str) -> AbstractContextManager[None]:
        if not task_dir.is_dir():
            raise RefusedError(
                f"“{title}” was not carried out: the folder of the task is not there ({task_dir}).",
                hint="Bring the folder back and try again.",
                place=str(task_dir),
            )
        return held(area.lock, what="The task", wait_s=self._wait_s)

    def _index_lock(self, moves: Sequence[Move]) -> AbstractContextManager[None]:
        index = next((move.path for move in moves if move.role is FileRole.INDEX), None)
        if index is None:
            return nullcontext()
        name = hashlib.blake2b(os.fsencode(resolved(index)), digest_size=8).hexdigest()
        return held(self._data_dir / "locks" / f"index-{name}", what="The task index", wait_s=self._wait_s)

    def _new_intent(self, area: Area, change: Change, moves: tuple[Move, ...]) -> Intent:
        ident, when_ms = self._new_id(area)
        return Intent(ident, Action.COMMIT, ident, change.title, change.task_dir, when_ms, moves)

    def _again(self, area: Area, action: Action, entry: Intent, moves: tuple[Move, ...]) -> Intent:
        ident, when_ms = self._new_id(area)
        return Intent(ident, action, entry.id, entry.title, entry.task_dir, when_ms, moves)

    def _new_id(self, area: Area) -> tuple[str, int]:
        """An id that sorts behind those of the task's entries, also when the clock was put back; and the time in ms."""
        when_ms = int(self._clock() * 1000)
        last = max((int(entry.partition("-")[0]) for entry in area.entry_ids()), default=0)
        return f"{max(when_ms, last + 1):013d}-{secrets.token_hex(3)}", when_ms


def _mark(kind: MarkKind, intent: Intent, note: str = "") -> Mark:
    return Mark(kind, intent.id, intent.action, intent.entry, note)


def _signature(stamp: FileStamp) -> Signature | None:
    """What `signature` gave when the stamp was taken."""
    return (stamp.mtime_ns, stamp.size, stamp.inode) if stamp.exists else None


def _as_left(title: str, moves: Sequence[Move]) -> dict[Path, Signature | None]:
    """Signatures of the files (but the index) that are as the entry left them. Raises RefusedError when one is not."""
    seen: dict[Path, Signature | None] = {}
    changed: list[Path] = []
    with _examined(title):
        for move in moves:
            if move.role is not FileRole.INDEX:
                seen[move.path] = signature(move.path)
            if standing(move) is not Standing.OLD:
                changed.append(move.path)
    if changed:
        names = ", ".join(path.name for path in changed)
        raise RefusedError(
            f"“{title}” was not carried out, because the task was written by somebody else since: {names} changed.",
            hint="The agent has gone on with this task. Its present state is kept.",
            place=", ".join(map(str, changed)),
        )
    return seen


def _stamps(moves: Sequence[Move]) -> tuple[FileStamp, ...]:
    """The written files as they are now; one that cannot be read any more is left out."""
    stamps: list[FileStamp] = []
    for move in moves:
        with suppress(OSError):
            stamps.append(current(move.role, move.path, move.item_id))
    return tuple(stamps)


def _want_consent(title: str, looks_open: Sequence[str], consent: bool) -> None:
    if looks_open and not consent:
        raise RefusedError(
            f"“{title}” was not carried out, because the task looks open: {'; '.join(looks_open)}.",
            hint="Close the task in the agent first: it keeps an open task in memory and overwrites these files.",
        )


@contextmanager
def _readable(data_dir: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CtxError(
            f"The history of changes in {data_dir} cannot be read: {reason(error)}.",
            hint=hint(error),
            place=str(data_dir),
        ) from error


@contextmanager
def _examined(title: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        name = Path(str(error.filename)).name if error.filename else "a file"
        raise RefusedError(
            f"“{title}” was not carried out: {name} cannot be read, {reason(error)}.",
            hint=hint(error),
            place=str(error.filename or ""),
        ) from error


def _unreadable(place: Path, error: OSError) -> Recovered:
    return Recovered(
        RecoveredKind.WAITING,
        place,
        "",
        f"The journal in {place} could not be read or written: {reason(error)}.",
        hint(error),
    )
