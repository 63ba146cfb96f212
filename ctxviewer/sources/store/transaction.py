"""Carries moves out on the disk: first every new content beside its target, then one rename after the other.

Whatever fails, `put_back` brings back what was there. Until the end the old file stays beside the new one under a
second name (where the file system can), so that putting back needs no space. The names of both kinds of helper files
start with a dot and end in `.tmp`; the agent and the watcher pass over them.

The index is special: only the task's own item moves. The index is read again right before it is written, and every
byte around the item stays as it is at that moment. The caller holds the lock of the index.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.snapshot import FileRole
from ctxviewer.sources.files import read_content
from ctxviewer.sources.fingerprint import Signature, signature
from ctxviewer.sources.index_splice import EMPTY_INDEX, item_bytes, splice_item
from ctxviewer.sources.store.area import Area
from ctxviewer.sources.store.disk import Standing, is_item, standing
from ctxviewer.sources.store.files import (
    PRIVATE,
    USUAL,
    pieces_of,
    remove_quietly,
    resolved,
    sync_directory,
    take_over,
    write_new,
)
from ctxviewer.sources.store.records import Move, Side
from ctxviewer.sources.store.steps import StepError, Steps

_INDEX_TRIES = 5


class DamagedBackupError(OSError):
    """A copy in the backup is not what was put there."""


class ForeignWriteError(Exception):
    """Somebody else wrote `path`: it shows neither side, or changed while we worked."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


@dataclass(slots=True)
class _Work:
    """One move under way."""

    move: Move
    target: Path
    """Behind symbolic links."""
    temp: Path
    kept: Path
    """Second name of the old file."""
    seen: Signature | None = None
    """Of the target when its old side was seen there."""
    is_kept: bool = False
    is_made: bool = False
    made: Signature | None = None
    """Of the target after we wrote it."""

    @property
    def is_index(self) -> bool:
        return self.move.role is FileRole.INDEX


class Writer:
    """Carries moves out in their order. For one use by one thread."""

    def __init__(self, area: Area, entry: str, ident: str, moves: Sequence[Move], steps: Steps) -> None:
        """`entry` names the folder of the copies, `ident` the transaction (for the names of helper files)."""
        self._area = area
        self._entry = entry
        self._steps = steps
        self._works = [_work(move, ident) for move in moves]

    def run(self, seen: Mapping[Path, Signature | None], check: Callable[[], None]) -> None:
        """Bring every move from its old to its new side.

        `seen` holds signatures of files whose old side is known to stand there; the others are read. `check` runs when
        all is prepared and may raise. Raises StepError, ForeignWriteError, or what `check` raises; the caller then
        calls `put_back`.
        """
        for work in self._works:
            with self._steps.step("writing", work.target):
                self._prepare(work, seen)
        check()
        for work in self._works:
            with self._steps.step("replacing", work.target):
                self._make(work)

    def put_back(self) -> None:
        """Take back what `run` did, the last first, and clean up.

        Raises StepError at the first file that cannot be put back; ForeignWriteError after the last one when somebody
        else wrote some of them meanwhile (those are not touched).
        """
        foreign: ForeignWriteError | None = None
        for work in reversed(self._works):
            if work.is_made:
                with self._steps.step("putting back", work.target):
                    try:
                        self._unmake(work)
                    except ForeignWriteError as error:
                        foreign = error
        self.clean()
        if foreign is not None:
            raise foreign

    def clean(self) -> None:
        """Remove the helper files, as far as possible; what stays is harmless."""
        for work in self._works:
            with contextlib.suppress(StepError), self._steps.step("cleaning up", work.target):
                remove_quietly(work.temp)
                if work.is_kept:
                    remove_quietly(work.kept)

    def _prepare(self, work: _Work, seen: Mapping[Path, Signature | None]) -> None:
        move = work.move
        remove_quietly(work.temp)
        remove_quietly(work.kept)
        if work.is_index:
            self._prepare_index(work, move.old, move.new)
            return
        work.seen = signature(work.target)
        known = move.path in seen and seen[move.path] == work.seen
        if not known and standing(move) is not Standing.OLD:
            raise ForeignWriteError(move.path)
        if move.new.exists:
            self._write_side(work, move.new)

    def _prepare_index(self, work: _Work, old: Side, new: Side) -> None:
        """Write the index with `new` in place of `old` beside it, from the index as it is now."""
        item = None
        if new.exists:
            item = self._area.whole_blob(self._entry, new)
            if item is None:
                raise DamagedBackupError(None, "the copy in the backup is damaged")
        work.seen = signature(work.target)
        index = EMPTY_INDEX if work.seen is None else read_content(work.target).data
        try:
            if not is_item(old, item_bytes(index, work.move.item_id)):
                raise ForeignWriteError(work.move.path)
            spliced = splice_item(index, work.move.item_id, item)
        except BrokenInputError:
            raise ForeignWriteError(work.move.path) from None
        self._write_temp(work, pieces_of(spliced), None)

    def _write_side(self, work: _Work, side: Side) -> None:
        """Write the copy of a side beside the target."""
        found, _ = self._write_temp(work, self._area.blob_pieces(self._entry, side), side.mode)
        if found != side.digest:
            raise DamagedBackupError(None, "the copy in the backup is damaged")

    def _write_temp(self, work: _Work, pieces: Iterable[bytes], mode: int | None) -> tuple[str, int]:
        """`mode` is for a target that is not there; one that is there hands on its own permissions."""
        remove_quietly(work.temp)
        try:
            model = work.target.stat()
        except FileNotFoundError:
            model = None
        written = write_new(work.temp, pieces, self._steps, "writing", USUAL if model is None else PRIVATE)
        if model is not None:
            take_over(work.temp, model)
        elif mode is not None:
            work.temp.chmod(mode)
        return written

    def _make(self, work: _Work) -> None:
        """Put the prepared file in place."""
        move = work.move
        if work.is_index:
            self._follow_index(work, move.old, move.new)
        elif signature(work.target) != work.seen:
            raise ForeignWriteError(move.path)
        if work.seen is not None:
            with contextlib.suppress(OSError):  # a file system without second names: the backup is there too
                os.link(work.target, work.kept)
                work.is_kept = True
        self._steps.inside("replacing", work.target)
        if move.new.exists or work.is_index:
            work.temp.replace(work.target)
        else:
            work.target.unlink()
        work.is_made = True
        work.made = signature(work.target)
        self._steps.inside("replacing", work.target)
        sync_directory(work.target.parent)

    def _follow_index(self, work: _Work, old: Side, new: Side) -> None:
        """Prepare the index again when somebody wrote it since, so that their items stay."""
        for _ in range(_INDEX_TRIES):
            if signature(work.target) == work.seen:
                return
            self._prepare_index(work, old, new)
        raise ForeignWriteError(work.move.path)

    def _unmake(self, work: _Work) -> None:
        """Put the old file in place again."""
        move = work.move
        untouched = signature(work.target) == work.made
        if work.is_index and not untouched:
            self._follow_index(work, move.new, move.old)
            work.temp.replace(work.target)
        elif not untouched:
            raise ForeignWriteError(move.path)
        elif work.is_kept:
            work.kept.replace(work.target)
            work.is_kept = False
        elif work.seen is None:
            work.target.unlink()
        elif work.is_index:
            self._prepare_index(work, move.new, move.old)
            work.temp.replace(work.target)
        else:
            self._write_side(work, move.old)
            work.temp.replace(work.target)
        work.is_made = False
        sync_directory(work.target.parent)


def helper_files(move: Move, ident: str) -> tuple[Path, Path]:
    """The files beside the target that a transaction may leave when it is interrupted."""
    work = _work(move, ident)
    return work.temp, work.kept


def _work(move: Move, ident: str) -> _Work:
    target = resolved(move.path)
    name = f".{target.name}.ctxviewer-{ident}"
    return _Work(move, target, target.with_name(f"{name}.tmp"), target.with_name(f"{name}.old.tmp"))
