"""How the files of a task stand on the disk, compared with the sides of a move. Reads only."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.snapshot import FileRole, FileStamp
from ctxviewer.sources.files import read_content
from ctxviewer.sources.fingerprint import digest, file_digest, signature
from ctxviewer.sources.index_splice import item_bytes
from ctxviewer.sources.store.records import Move, Side

DAMAGED = "damaged"
"""Stands for the digest of the task's item in an index that cannot be read as one."""


class Standing(StrEnum):
    """Which side of a move stands on the disk."""

    OLD = "old"
    NEW = "new"
    OTHER = "other"


def standing(move: Move) -> Standing:
    """Which side of a move stands on the disk now. Raises OSError when that cannot be read."""
    found = current(move.role, move.path, move.item_id)
    if shows(move.old, found):
        return Standing.OLD
    return Standing.NEW if shows(move.new, found) else Standing.OTHER


def current(role: FileRole, path: Path, item_id: str) -> FileStamp:
    """The stamp of the file (INDEX: the digest is that of the task's item, '' when it has none) as it is now.

    Raises OSError when it cannot be read.
    """
    found = signature(path)
    if found is None:
        return FileStamp(role, path, exists=False)
    if role is FileRole.INDEX:
        try:
            item = item_bytes(read_content(path).data, item_id)
            content = "" if item is None else digest(item)
        except BrokenInputError:
            content = DAMAGED
    else:
        content = file_digest(path)
    return FileStamp(role, path, exists=True, size=found[1], mtime_ns=found[0], inode=found[2], digest=content)


def is_there(stamp: FileStamp) -> bool:
    """True when the stamp is of a file that exists; for INDEX when the task has an item in it."""
    return stamp.digest != "" if stamp.role is FileRole.INDEX else stamp.exists


def shows(side: Side, found: FileStamp) -> bool:
    """True when what was found is this side."""
    return side.exists == is_there(found) and side.digest == found.digest


def is_item(side: Side, item: bytes | None) -> bool:
    """True when the bytes of the task's item (None: it has none) are this side of it."""
    return item is None if not side.exists else item is not None and digest(item) == side.digest
