"""The journal of one task: a file that only grows, one record a line, each with a checksum in front.

A line that cannot be read (cut by a crash, damaged by the disk) is skipped and told; it stays in the file.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from ctxviewer.sources.fingerprint import digest
from ctxviewer.sources.store.files import PRIVATE, sync_directory
from ctxviewer.sources.store.records import Record, from_json, to_json
from ctxviewer.sources.store.steps import Steps


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A line that is not a record."""

    number: int
    """From 1."""
    offset: int
    """In bytes from the start of the file."""
    size: int
    digest: str
    """Of the line, so that it is told only once."""


@dataclass(frozen=True, slots=True)
class JournalContent:
    """What a journal says now."""

    records: tuple[Record, ...] = ()
    damaged: tuple[DamagedLine, ...] = ()


def encoded(record: Record) -> bytes:
    """The line of a record, with its line end."""
    body = to_json(record)
    return _checksum(body) + b" " + body + b"\n"


def decoded(line: bytes) -> Record:
    """The record of a line without its line end. Raises ValueError."""
    sum_, _, body = line.partition(b" ")
    if sum_ != _checksum(body):
        raise ValueError("the checksum does not fit")
    return from_json(body)


def read(path: Path, *, alone: bool) -> JournalContent:
    """Everything that stands in the journal; a journal that is not there is empty. Raises other OSErrors.

    `alone` says that the caller holds the task's lock: then a last line without an end is damage, else it may be a
    line that is being written this moment, and is passed over.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return JournalContent()
    records: list[Record] = []
    damaged: list[DamagedLine] = []
    offset = 0
    for number, line in enumerate(content.split(b"\n"), 1):
        last = offset + len(line) == len(content)
        if line:
            try:
                records.append(decoded(line))
            except ValueError:
                if alone or not last:
                    damaged.append(DamagedLine(number, offset, len(line), digest(line)))
        offset += len(line) + 1
    return JournalContent(tuple(records), tuple(damaged))


def append(path: Path, record: Record, steps: Steps, doing: str) -> None:
    """Add a record and bring it to the disk. The caller holds the task's lock.

    Raises StepError; what was added is then cut off again if the disk allows, so the caller cannot know whether the
    record stands. Of several marks about one intent the last one counts.
    """
    with steps.step(doing, path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), PRIVATE)
        try:
            size = os.lseek(handle, 0, os.SEEK_END)
            try:
                _write(handle, size, encoded(record), steps, doing, path)
                if not size:
                    sync_directory(path.parent)
            except OSError:
                os.ftruncate(handle, size)
                raise
        finally:
            os.close(handle)


def _write(handle: int, size: int, line: bytes, steps: Steps, doing: str, path: Path) -> None:
    if size:
        os.lseek(handle, size - 1, os.SEEK_SET)
        if os.read(handle, 1) != b"\n":  # the line before was cut: end it, so that only that one is damaged
            line = b"\n" + line
    half = len(line) // 2
    for piece in (line[:half], line[half:]):
        view = memoryview(piece)
        while view:
            view = view[os.write(handle, view) :]
        steps.inside(doing, path)
    os.fsync(handle)


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=8).hexdigest().encode("ascii")
