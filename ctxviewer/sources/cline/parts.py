"""The files of one task, read one by one: patiently where they may be half written, sparingly where nothing changed."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.log import JsonLog
from ctxviewer.domain.snapshot import FileRole, FileStamp, Snapshot
from ctxviewer.sources.cline.checks import damage_findings
from ctxviewer.sources.cline.index import Index, read_index
from ctxviewer.sources.files import SETTLED_NS, Content, LogContent, read_content, read_log
from ctxviewer.sources.fingerprint import digest
from ctxviewer.sources.rawjson import DamageKind, decode
from ctxviewer.sources.rawlog import RawLog

RETRY_DELAYS = (0.1, 0.4)
"""Seconds to wait before reading a half-written file again."""
FRESH_MS = 10_000
"""A damaged file that was not written for longer is not being written at this moment."""

ASIDE_FROM = 1 << 20
"""Bytes of a file from which a thread of its own pays for itself."""

READ_AT = "read_at_ms"
"""Key of Snapshot.extra: when the task was read."""
KEPT = "kept-last-good"
"""Code of the finding that a file is shown as it was at an earlier reading."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as a reader sees it; tests hand in their own."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return int(self.now() * 1000)


@dataclass(slots=True)
class ArrayPart:
    """One array file of a task."""

    path: Path
    log: RawLog | None
    """None when the file is missing or holds no array."""
    stamp: FileStamp
    """Without a digest, which takes long for big files."""
    shared: int = 0
    """So many leading items are those of the reading before."""
    findings: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class TextPart:
    """One small file of a task."""

    text: str | None
    """None when the file is missing or cannot be read; bytes that are no UTF-8 are replacement characters."""
    stamp: FileStamp
    data: bytes = b""
    """The same as read."""
    findings: list[Finding] = field(default_factory=list)


class PartReader:
    """Reads the files of one folder. Holds the reading before; may be used from two threads."""

    def __init__(self, directory: Path, previous: Snapshot | None, clock: Clock) -> None:
        self._directory, self._previous, self._clock = directory, previous, clock
        self._stamps = {stamp.role: stamp for stamp in previous.files} if previous else {}

    def array(self, role: FileRole, name: str) -> ArrayPart:
        """An array file. Missing and damaged files are no errors."""
        path = self._directory / name
        log, known = self._known_log(role), self._stamps.get(role)
        if known is not None and Path(known.path) != path:
            log = known = None
        if known is not None and log is not None and self._is_unchanged(known):
            findings = damage_findings(name, log.damage, len(log))
            return ArrayPart(path, log, known, len(log), list(findings))
        try:
            content = self._patiently(path, log, known)
        except FileNotFoundError:
            return ArrayPart(path, None, FileStamp(role, path, exists=False))
        except OSError as error:
            return ArrayPart(path, None, FileStamp(role, path, exists=True), findings=[_unreadable(name, error)])
        damage = content.log.damage
        if log is not None and known is not None and not log.damage:
            broken = next((one for one in damage if one.may_be_half_written), None)
            if broken is not None:
                return ArrayPart(path, log, known, len(log), [_kept(name, broken.reason)])
        usable = not any(one.kind in {DamageKind.NOT_ARRAY, DamageKind.EMPTY} for one in damage)
        return ArrayPart(
            path,
            content.log if usable else None,
            _stamp(role, path, content.stat),
            content.shared,
            list(damage_findings(name, damage, len(content.log))),
        )

    @contextmanager
    def array_meanwhile(self, role: FileRole, name: str) -> Iterator[Callable[[], ArrayPart]]:
        """As `array`, but a big file is fetched by another thread until the result is called for: it waits for the
        disk while something else is parsed."""
        if _size_of(self._directory / name) < ASIDE_FROM:
            yield lambda: self.array(role, name)
            return
        with ThreadPoolExecutor(1, thread_name_prefix="reading") as aside:
            yield aside.submit(self.array, role, name).result

    def text(self, role: FileRole, name: str) -> TextPart:
        """A small file whole, with the digest of its bytes in its stamp."""
        path = self._directory / name
        try:
            content = self._small_patiently(path)
        except FileNotFoundError:
            return TextPart(None, FileStamp(role, path, exists=False))
        except OSError as error:
            return TextPart(None, FileStamp(role, path, exists=True), findings=[_unreadable(name, error)])
        stamp = replace(_stamp(role, path, content.stat), digest=digest(content.data))
        return TextPart(content.data.decode("utf-8", "replace"), stamp, content.data)

    def index(self, root: Path) -> Index:
        """The index of a root; one that is half written again a little later: versions before 3.40 write in place."""
        for delay in RETRY_DELAYS:
            index = read_index(root)
            if not index.problem or not self._is_fresh(index.stamp.mtime_ns):
                return index
            self._clock.sleep(delay)
        return read_index(root)

    def _small_patiently(self, path: Path) -> Content:
        """Read a small file; one that is half written again a little later: the agent writes these in place."""
        for delay in RETRY_DELAYS:
            content = read_content(path)
            if not self._is_fresh(content.stat.st_mtime_ns) or isinstance(decode(content.data), (list, dict)):
                return content
            self._clock.sleep(delay)
        return read_content(path)

    def _is_fresh(self, mtime_ns: int) -> bool:
        """True for a time so short ago that the file may be being written at this moment."""
        return self._clock.now_ms() - mtime_ns // 1_000_000 <= FRESH_MS

    def _patiently(self, path: Path, log: RawLog | None, known: FileStamp | None) -> LogContent:
        """Read an array; one that is half written, or has vanished for the moment of a rename, again a little later."""
        for delay in RETRY_DELAYS:
            try:
                content = read_log(path, log)
            except FileNotFoundError:
                if known is None or not known.exists:
                    raise
            else:
                fresh = self._is_fresh(content.stat.st_mtime_ns)
                if not fresh or not any(one.may_be_half_written for one in content.log.damage):
                    return content
            self._clock.sleep(delay)
        return read_log(path, log)

    def _is_unchanged(self, known: FileStamp) -> bool:
        """True when `stat` alone proves that the file is as it was at the reading before."""
        read_at = self._previous.extra.get(READ_AT) if self._previous else None
        if not known.exists or not isinstance(read_at, int) or known.mtime_ns + SETTLED_NS > read_at * 1_000_000:
            return False
        try:
            now = os.stat(known.path)  # noqa: PTH116 - one system call
        except OSError:
            return False
        return (now.st_size, now.st_mtime_ns, now.st_ino) == (known.size, known.mtime_ns, known.inode)

    def _known_log(self, role: FileRole) -> RawLog | None:
        if self._previous is None:
            return None
        log: JsonLog = self._previous.messages if role is FileRole.MESSAGES else self._previous.ui_items
        return log if isinstance(log, RawLog) else None


def _size_of(path: Path) -> int:
    """Bytes of a file; 0 for what cannot be looked at, whose reading will tell why."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _stamp(role: FileRole, path: Path, stat: os.stat_result) -> FileStamp:
    return FileStamp(role, path, exists=True, size=stat.st_size, mtime_ns=stat.st_mtime_ns, inode=stat.st_ino)


def _unreadable(name: str, error: OSError) -> Finding:
    sentence = f"{name} cannot be read: {error.strerror or error}."
    advice = "Check the rights of the file."
    if error.errno in {errno.EISDIR, errno.EINVAL}:  # as open_file raises them
        advice = "Nothing that the agent writes; something else stands in the file's place."
    return Finding("file-unreadable", Severity.ERROR, sentence, name, advice=advice)


def _kept(name: str, reason: str) -> Finding:
    return Finding(
        KEPT,
        Severity.ERROR,
        f"{name} cannot be read at the moment ({reason}); the last good reading of it is shown.",
        name,
        advice="If the agent is writing it, the next change brings it back. The file cannot be changed until then.",
    )
