"""The task index: which tasks a root lists, and one task's own entry with the bytes it has in the file.

Since version 3.28 it is `state/taskHistory.json`; before, it lived in the editor's own database, which is only read.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from ctxviewer.domain.json import Json, JsonObject, as_text
from ctxviewer.domain.snapshot import FileRole, FileStamp
from ctxviewer.sources.cline import layout
from ctxviewer.sources.files import SETTLED_NS, read_log
from ctxviewer.sources.fingerprint import digest
from ctxviewer.sources.rawjson import Damage, DamageKind, decode, encode, scan_array
from ctxviewer.sources.rawlog import RawLog
from ctxviewer.sources.sqlite_ro import query

KEPT_INDEXES = 4
"""So many indexes are kept for the next task of their roots."""


class IndexKind(StrEnum):
    """Where the index of a root is."""

    FILE = "state/taskHistory.json"
    EDITOR = "the editor's database"
    NONE = "nowhere"


@dataclass(frozen=True)
class Index:
    """One reading of a root's index."""

    kind: IndexKind
    path: Path
    """Of the index file, whether it exists or not; of the database for EDITOR."""
    log: RawLog
    stamp: FileStamp
    """Of the file as a whole, without a digest."""
    problem: str = ""
    """Why the index, or a part of it, cannot be read."""
    is_reused: bool = False
    """True when it was read for another task before: then it pays to note where each task stands."""

    @cached_property
    def numbers(self) -> dict[str, list[int]]:
        """Numbers of the entries by id, in the order of the file."""
        found: dict[str, list[int]] = {}
        for number in range(len(self.log)):
            found.setdefault(_id_of(self.log, number), []).append(number)
        return found


@dataclass(frozen=True, slots=True)
class OwnItem:
    """The index entry of one task."""

    raw: bytes
    value: JsonObject
    number: int
    repeated: bool
    """True when the index has more than one entry with this id; the first counts."""


class Facts(msgspec.Struct):
    """What a list of tasks shows of an entry; unknown fields are skipped unread, any value is accepted."""

    id: Any = None
    ts: Any = None
    task: Any = None
    size: Any = None
    tokensIn: Any = None  # noqa: N815 - the file's name
    tokensOut: Any = None  # noqa: N815
    cacheWrites: Any = None  # noqa: N815
    cacheReads: Any = None  # noqa: N815
    totalCost: Any = None  # noqa: N815
    isFavorited: Any = None  # noqa: N815


class _Id(msgspec.Struct):
    id: Any = None


class _GlobalState(msgspec.Struct):
    taskHistory: msgspec.Raw = msgspec.Raw(b"[]")  # noqa: N815


_FACTS = msgspec.json.Decoder(Facts)
_ID = msgspec.json.Decoder(_Id)
_ID_FIRST = b'{"id":"'
_STATE = msgspec.json.Decoder(_GlobalState)


def read_index(root: Path) -> Index:
    """The index of a root. Never raises for content; an unreadable file becomes a problem and an empty list.

    The newest ones are kept: a root of ten thousand tasks would be read for each of them.
    """
    path = layout.index_path(root)
    if (known := _KEPT.get(path)) is not None:
        return known
    read_at = time.time_ns()
    try:
        content = read_log(path)
    except FileNotFoundError:
        return _from_editor(root, path)
    except OSError as error:
        stamp = FileStamp(FileRole.INDEX, path, exists=True)
        return Index(IndexKind.FILE, path, _no_items(), stamp, f"{path.name} cannot be read: {error.strerror}")
    stat = content.stat
    stamp = FileStamp(
        FileRole.INDEX, path, exists=True, size=stat.st_size, mtime_ns=stat.st_mtime_ns, inode=stat.st_ino
    )
    index = Index(IndexKind.FILE, path, content.log, stamp, _problem_of(path.name, content.log.damage))
    _KEPT.put(index, stat, read_at)
    return index


class _Kept:
    """Indexes that nobody has written since, by what `stat` says of their files. Safe on every thread."""

    def __init__(self) -> None:
        self._indexes: dict[Path, tuple[tuple[int, ...], Index]] = {}
        self._lock = Lock()

    def get(self, path: Path) -> Index | None:
        """The kept index of this file, if it is as it was."""
        with self._lock:
            known = self._indexes.get(path)
        if known is None:
            return None
        try:
            now = _signature(path.stat())
        except OSError:
            return None
        return known[1] if known[0] == now else None

    def put(self, index: Index, stat: os.stat_result, read_at: int) -> None:
        """Keep an index that was read `read_at` nanoseconds after 1970, unless its file is so fresh that `stat` proves
        nothing."""
        with self._lock:
            self._indexes.pop(index.path, None)
            if max(stat.st_mtime_ns, stat.st_ctime_ns) + SETTLED_NS <= read_at:
                self._indexes[index.path] = (_signature(stat), replace(index, is_reused=True))
            while len(self._indexes) > KEPT_INDEXES:
                del self._indexes[next(iter(self._indexes))]


def _signature(stat: os.stat_result) -> tuple[int, ...]:
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_dev


_KEPT = _Kept()


def find_item(index: Index, task_id: str) -> OwnItem | None:
    """The entry with this id, None when there is none."""
    found = index.numbers.get(task_id, []) if index.is_reused else list(_places(index.log, task_id))
    if not found:
        return None
    raw = index.log.raw(found[0])
    value = decode(raw)
    return OwnItem(raw, value, found[0], len(found) > 1) if isinstance(value, dict) else None


def item_stamp(index: Index, item: OwnItem | None) -> FileStamp:
    """The stamp of the index as one task sees it: the digest is that of its own entry, '' when it has none."""
    own = digest(item.raw) if item is not None and index.kind is IndexKind.FILE else ""
    known = index.stamp
    return FileStamp(FileRole.INDEX, known.path, known.exists, known.size, known.mtime_ns, known.inode, own)


def facts_of(index: Index) -> Iterator[Facts]:
    """The entries in the order of the file; what is no object is left out."""
    for number in range(len(index.log)):
        try:
            yield _FACTS.decode(index.log.view(number))
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            value = index.log[number]
            if isinstance(value, dict):
                yield Facts(**{name: value.get(name) for name in Facts.__struct_fields__})


def _places(log: RawLog, task_id: str) -> Iterator[int]:
    """Numbers of the entries with this id. The agent writes the id first, which spares decoding the others."""
    own = b'{"id":' + encode(task_id)
    for number in range(len(log)):
        if log.begins(number, _ID_FIRST):
            if log.begins(number, own):
                yield number
        elif _id_of(log, number) == task_id:
            yield number


def _id_of(log: RawLog, number: int) -> str:
    try:
        found: Json = _ID.decode(log.view(number)).id
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        value = log[number]
        found = value.get("id") if isinstance(value, dict) else None
    return as_text(found)


def _no_items() -> RawLog:
    return RawLog(b"[]", scan_array(b"[]"))


def _problem_of(name: str, damage: tuple[Damage, ...]) -> str:
    bad = next((one for one in damage if one.kind is not DamageKind.NOT_UTF8), None)
    return f"{name} is damaged: {bad.reason}" if bad else ""


def _from_editor(root: Path, path: Path) -> Index:
    stamp = FileStamp(FileRole.INDEX, path, exists=False)
    database = root.parent / layout.EDITOR_STATE
    try:
        rows = query(database, "SELECT value FROM ItemTable WHERE key = ?", (root.name,))
    except FileNotFoundError:
        return Index(IndexKind.NONE, path, _no_items(), stamp)
    except (OSError, sqlite3.Error) as error:
        return Index(IndexKind.NONE, path, _no_items(), stamp, f"{database.name} of the editor cannot be read: {error}")
    if not rows or not isinstance(rows[0][0], (str, bytes)):
        return Index(IndexKind.NONE, path, _no_items(), stamp)
    value = rows[0][0]
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    try:
        history = bytes(_STATE.decode(data).taskHistory)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return Index(IndexKind.NONE, path, _no_items(), stamp, f"{database.name} of the editor holds no readable index")
    log = RawLog(history, scan_array(history))
    return Index(IndexKind.EDITOR, database, log, stamp, _problem_of(database.name, log.damage))
