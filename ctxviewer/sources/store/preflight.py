"""Everything that can be refused before anything is touched: changed files, missing permissions, a full disk."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath

from ctxviewer.domain.errors import RefusedError
from ctxviewer.domain.snapshot import FileRole, FileStamp
from ctxviewer.sources.change import Change
from ctxviewer.sources.fingerprint import Signature, signature
from ctxviewer.sources.store.disk import DAMAGED, current, is_there
from ctxviewer.sources.store.files import device_of, resolved
from ctxviewer.sources.store.records import Move
from ctxviewer.sources.store.steps import hint, reason

FreeSpace = Callable[[Path], int]
"""Bytes that we may still write on the file system of a folder."""

MARGIN = 1 << 20
"""Bytes that stay free beside the contents themselves: names, journal, temporary index."""

_LOOK_AGAIN = "Look at the task as it is now and repeat the action."


def check_shape(change: Change) -> None:
    """Raises ValueError for a change that no source may make: foreign paths, two effects on one file, no effect."""
    if not change.effects:
        raise ValueError("a change without effects")
    places = {place_of(effect.path) for effect in change.effects}
    if len(places) != len(change.effects):
        raise ValueError("two effects on one file")
    for effect in change.effects:
        inside = resolved(effect.path.parent) == resolved(change.task_dir)
        if effect.role is FileRole.INDEX:
            if not effect.item_id:
                raise ValueError("an index effect without an item")
        elif not inside:
            raise ValueError(f"{effect.path} is not a file of the task")
    if sum(effect.role is FileRole.INDEX for effect in change.effects) > 1:
        raise ValueError("two index effects")


def place_of(path: PurePath) -> Path:
    """The path under which the store knows a file: absolute, symbolic links as they are."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - Path has no way to do it without following links


def item_id_of(change: Change) -> str:
    """The id of the task's own item: as the index effect names it, else the name of the folder."""
    return next((effect.item_id for effect in change.effects if effect.item_id), change.task_dir.name)


def compared(change: Change) -> dict[Path, FileStamp]:
    """The stamps of all files of the change as they are now, by `place_of`, after comparing them with the preview's.

    A file that is written but was not expected must not be there. Raises RefusedError when something differs.
    """
    item_id = item_id_of(change)
    written = {place_of(effect.path) for effect in change.effects}
    expected = {place_of(stamp.path): stamp for stamp in change.expected}
    for effect in change.effects:
        expected.setdefault(place_of(effect.path), FileStamp(effect.role, effect.path, exists=False))
    found: dict[Path, FileStamp] = {}
    differences: list[str] = []
    places: list[str] = []
    for path, stamp in expected.items():
        try:
            now = current(stamp.role, path, item_id)
        except OSError as error:
            raise RefusedError(
                f"“{change.title}” was not carried out: {path.name} cannot be read, {reason(error)}.",
                hint=hint(error),
                place=str(path),
            ) from error
        found[path] = now
        if now.digest == DAMAGED and now.role is FileRole.INDEX and path in written:
            raise RefusedError(
                f"“{change.title}” was not carried out: the task index {path.name} is damaged.",
                hint="Start the agent once, it repairs its index; then look at the task again.",
                place=str(path),
            )
        if not _same(stamp, now):
            differences.append(_difference(stamp, now))
            places.append(str(path))
    if differences:
        raise RefusedError(
            f"“{change.title}” was not carried out, because the task changed since the preview: "
            f"{'; '.join(differences)}.",
            hint=_LOOK_AGAIN,
            place=", ".join(places),
        )
    return found


def check_still(title: str, seen: Mapping[Path, Signature | None]) -> None:
    """Refuse when a file was written since its signature was seen. Not for the index (others write there)."""
    for path, known in seen.items():
        if signature(path) != known:
            raise RefusedError(
                f"“{title}” was not carried out: {path.name} was written by somebody else at this very moment.",
                hint=_LOOK_AGAIN,
                place=str(path),
            )


def check_writable(title: str, moves: Sequence[Move]) -> None:
    """Refuse when a file or its folder is not writable, as far as the system tells beforehand."""
    for move in moves:
        target = resolved(move.path)
        if not target.parent.is_dir():
            why, advice = f"its folder {target.parent} is not there", "Bring the folder back and try again."
        elif not os.access(target.parent, os.W_OK | os.X_OK):
            why, advice = f"the folder {target.parent} is not writable", "Make the folder writable and try again."
        elif target.exists() and not os.access(target, os.R_OK | os.W_OK):
            why, advice = "the file is not writable", "Make the file writable and try again."
        else:
            continue
        raise RefusedError(
            f"“{title}” was not carried out: {move.path.name} cannot be written, {why}.", hint=advice, place=str(target)
        )


def check_space(title: str, moves: Sequence[Move], kept: int, data_dir: Path, free: FreeSpace) -> None:
    """Refuse when the new contents (beside the old ones) or `kept` bytes in our data folder do not fit."""
    needs: dict[int, tuple[int, Path]] = {}
    folders = [(resolved(move.path).parent, _temp_size(move)) for move in moves]
    for folder, size in [*folders, (data_dir, kept)]:
        device = device_of(folder)
        before, first = needs.get(device, (MARGIN, folder))
        needs[device] = before + size, first
    for need, folder in needs.values():
        try:
            left = free(next(place for place in (folder, *folder.parents) if place.exists()))
        except OSError:  # a system that cannot tell: the write itself will
            continue
        if left < need:
            raise RefusedError(
                f"“{title}” was not carried out: the disk is full. It needs {amount(need)} in {folder}, "
                f"{amount(left)} are left.",
                hint="Free some space there and try again.",
                place=str(folder),
            )


def amount(size: int) -> str:
    """A number of bytes for people."""
    if size < 1024:
        return f"{size:,} bytes"
    number = float(size)
    for unit in ("KiB", "MiB"):
        number /= 1024
        if number < 1024:
            return f"{number:,.1f} {unit}"
    return f"{number / 1024:,.1f} GiB"


def _temp_size(move: Move) -> int:
    """Upper bound of what stands beside the target for a moment."""
    if move.role is not FileRole.INDEX:
        return move.new.size
    found = signature(move.path)
    return move.new.size + (found[1] if found is not None else 0)


def _same(stamp: FileStamp, now: FileStamp) -> bool:
    if now.role is FileRole.INDEX and now.digest != DAMAGED:
        return stamp.digest == now.digest
    if stamp.exists != now.exists:
        return False
    if not stamp.exists or (stamp.digest and now.digest != DAMAGED):
        return stamp.digest == now.digest
    return (stamp.size, stamp.mtime_ns, stamp.inode) == (now.size, now.mtime_ns, now.inode)


def _difference(stamp: FileStamp, now: FileStamp) -> str:
    what = f"the task's entry in {now.path.name}" if now.role is FileRole.INDEX else now.path.name
    if is_there(stamp) and not is_there(now):
        return f"{what} is gone"
    if is_there(now) and not is_there(stamp):
        return f"{what} was not there and is there now"
    if now.role is FileRole.INDEX:
        return f"{what} was written at {_time(now.mtime_ns)}"
    before = f"{stamp.size:,} bytes of {_time(stamp.mtime_ns)}" if stamp.mtime_ns else f"{stamp.size:,} bytes"
    return f"{what} was {before} and is now {now.size:,} bytes of {_time(now.mtime_ns)}"


def _time(mtime_ns: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(mtime_ns / 1e9))
