"""Reading files that another program rewrites at any moment: whole contents with what `stat` said about them.

Files are read, not mapped: a writer that truncates a mapped file would end this process. Reading never writes, not even
access by a lock.
"""

from __future__ import annotations

import errno
import os
import stat
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from ctxviewer.sources.rawjson import Spans, scan_array
from ctxviewer.sources.rawlog import RawLog

SHARED_FROM = 1 << 20
"""Files of fewer bytes are simply read again."""
CHUNK = 4 << 20
"""Bytes compared at once."""
TAIL_LIMIT = 8 << 20
"""A changed rest of more bytes, and of more than a quarter of the file, is not worth sharing the beginning."""
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
SETTLED_NS = 2_000_000_000
"""A file that was last changed so long before it was read has other time stamps when somebody writes it again."""
ATTEMPTS = 3
"""Tries to read a file that changes while it is read."""


@dataclass(frozen=True, slots=True)
class Content:
    """One file as read."""

    data: bytes
    stat: os.stat_result


@dataclass(frozen=True, slots=True)
class LogContent:
    """One array file as read."""

    log: RawLog
    stat: os.stat_result
    shared: int
    """So many leading items are byte for byte those of the reading before."""


def open_file(path: Path) -> FileIO:
    """A file for reading. Never waits: a pipe, a device or a folder in its place is an error. Raises OSError."""
    _need_file(os.stat(path), path)  # noqa: PTH116 - and opening a pipe would wake its writer
    handle = os.open(path, _READ)
    try:
        _need_file(os.fstat(handle), path)
        return FileIO(handle)
    except BaseException:
        os.close(handle)
        raise


def _need_file(found: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe, a device or a socket, not a file", str(path))


def read_content(path: Path) -> Content:
    """The whole file. A file that changes under the reading is read again, a few times. Raises OSError."""
    return _steadily(path, lambda stream: stream.read())


def read_log(path: Path, previous: RawLog | None = None) -> LogContent:
    """The array file. After a previous reading only what changed is parsed, equal bytes are shared. Raises OSError."""
    if previous is None or previous.size < SHARED_FROM or not previous.base_count or previous.damage:
        return _fresh(read_content(path), previous)
    equal = 0

    def read_rest(stream: FileIO) -> bytes:
        nonlocal equal
        equal = _equal_bytes(stream, previous)
        count = previous.items_within(equal)
        start = previous.position_behind(count)
        size = os.fstat(stream.fileno()).st_size
        if count == 0 or _too_much(size - start, size):
            start = 0
        stream.seek(start)
        return stream.read()

    content = _steadily(path, read_rest)
    count = previous.items_within(equal)
    start = previous.position_behind(count)
    if len(content.data) == content.stat.st_size:
        return _fresh(content, previous)
    if count == 0 or len(content.data) + start != content.stat.st_size:
        return _fresh(read_content(path), previous)
    if previous.behind(count) == content.data:
        return LogContent(previous, content.stat, len(previous))
    spans = _scan_behind(content.data)
    if spans is None or spans.damage:
        return _fresh(read_content(path), previous)
    log = RawLog.grown(previous, count, content.data, spans)
    return LogContent(log, content.stat, _shared(log, previous, count))


def _fresh(content: Content, previous: RawLog | None) -> LogContent:
    if previous is not None and previous.holds(content.data):
        return LogContent(previous, content.stat, len(previous))
    log = RawLog(content.data, scan_array(content.data))
    return LogContent(log, content.stat, _shared(log, previous, 0) if previous is not None else 0)


def _steadily(path: Path, read: Callable[[FileIO], bytes]) -> Content:
    with open_file(path) as stream:
        before = os.fstat(stream.fileno())
        for _ in range(ATTEMPTS):
            stream.seek(0)
            data = read(stream)
            after = os.fstat(stream.fileno())
            if (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
                break
            before = after
    return Content(data, after)


def _equal_bytes(stream: FileIO, log: RawLog) -> int:
    """How many leading bytes of the file equal those that `log` can share."""
    known = log.base_view()
    buffer = bytearray(min(CHUNK, len(known)))
    at = 0
    while at < len(known):
        got = stream.readinto(memoryview(buffer)[: min(CHUNK, len(known) - at)])
        if not got:
            break
        piece = bytes(memoryview(buffer)[:got]) if got < len(buffer) else buffer
        if not piece.startswith(known[at : at + got]):
            return at + _equal_prefix(piece, known[at : at + got])
        at += got
    return at


def _equal_prefix(piece: bytes | bytearray, known: memoryview) -> int:
    low, high = 0, len(known)
    while low < high:
        middle = (low + high + 1) // 2
        if piece.startswith(known[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _too_much(rest: int, size: int) -> bool:
    return rest > TAIL_LIMIT and rest > size // 4


def _scan_behind(tail: bytes) -> Spans | None:
    """Items in the bytes behind a shared item; None when they do not continue an array."""
    blank = len(tail) - len(tail.lstrip(b" \t\r\n"))
    if tail.strip(b" \t\r\n") == b"]":
        return Spans(array("Q"), array("Q"), blank)
    if tail[blank : blank + 1] != b",":
        return None
    opened = bytearray(tail)
    opened[blank : blank + 1] = b"["
    return scan_array(opened)


def _shared(log: RawLog, previous: RawLog, known: int) -> int:
    count = min(len(log), len(previous))
    while known < count and log.byte_size(known) == previous.byte_size(known) and _same(log, previous, known):
        known += 1
    return known


def _same(log: RawLog, previous: RawLog, index: int) -> bool:
    return log.raw(index) == previous.raw(index)
