"""The task index: which tasks a root lists, and one task's own entry with the bytes it has in the file.

Since version 3.28 it is `state/taskHistory.json`; before, it lived in the editor's own database, which is only read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from ctxviewer.domain.json import Json, JsonObject, as_text
from ctxviewer.domain.snapshot import FileRole, FileStamp
from ctxviewer.sources.cline import layout
from ctxviewer.sources.files import read_log
from ctxviewer.sources.fingerprint import digest
from ctxviewer.sources.rawjson import Damage, DamageKind, decode, encode, scan_array
from ctxviewer.sources.rawlog import RawLog
from ctxviewer.sources.sqlite_ro import query


class IndexKind(StrEnum):
    """Where the index of a root is."""

    FILE = "state/taskHistory.json"
    EDITOR = "the editor's database"
    NONE = "nowhere"


@dataclass(frozen=True, slots=True)
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
    """The index of a root. Never raises for content; an unreadable file becomes a problem and an empty list."""
    path = layout.index_path(root)
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
    return Index(IndexKind.FILE, path, content.log, stamp, _problem_of(path.name, content.log.damage))


def find_item(index: Index, task_id: str) -> OwnItem | None:
    """The entry with this id, None when there is none."""
    found = list(_places(index.log, task_id))
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
