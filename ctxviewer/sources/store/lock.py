"""One writer at a time, between threads and between processes.

The lock belongs to the open file, not to the file's existence: the system lets go of it when the process ends in any
way, so a lock left by a crash is never in the way. The process number written into the file is only for the sentence
that tells who holds it. A lock file lies in our own data folder and is never removed (removing it would let two
processes lock two different files of one name).
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ctxviewer.domain.errors import RefusedError
from ctxviewer.sources.store.files import make_private

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        os.lseek(handle, _LOCK_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            raise
        return True
else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            raise
        return True


_BUSY = {errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK, errno.EDEADLK}
_LOCK_BYTE = 1 << 20
"""Windows locks a region: one behind the text, so that the text stays readable."""
_PAUSE_S = 0.02


@contextmanager
def held(path: Path, *, what: str, wait_s: float) -> Iterator[None]:
    """Hold the lock at `path`; wait up to `wait_s` seconds for another holder.

    `what` names what is locked, for the sentence. Raises RefusedError when it stays taken or cannot be made.
    """
    handle = _opened(path, what)
    try:
        if not _locked_in_time(handle, path, what, wait_s):
            raise RefusedError(
                f"{what} is being written by another ctxviewer{_holder(path)}.",
                hint="Try again when it is done.",
                place=str(path),
            )
        _sign(handle)
        yield
    finally:
        os.close(handle)


@contextmanager
def held_if_free(path: Path, *, what: str) -> Iterator[bool]:
    """Hold the lock if nobody else does; yields whether it is held. Raises RefusedError when it cannot be made."""
    handle = _opened(path, what)
    try:
        got = _locked_in_time(handle, path, what, 0)
        if got:
            _sign(handle)
        yield got
    finally:
        os.close(handle)


def _opened(path: Path, what: str) -> int:
    try:
        make_private(path.parent)
        return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise _no_lock(path, what, error) from error


def _locked_in_time(handle: int, path: Path, what: str, wait_s: float) -> bool:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            if _try_lock(handle):
                return True
        except OSError as error:  # a file system without locks
            raise _no_lock(path, what, error) from error
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE_S)


def _no_lock(path: Path, what: str, error: OSError) -> RefusedError:
    return RefusedError(
        f"{what} cannot be locked: {error.strerror or error} ({path}).",
        hint="ctxviewer writes only when it can lock in its own data folder; make that folder writable.",
        place=str(path),
    )


def _sign(handle: int) -> None:
    """Write the process number; only for people, so a full disk does not matter."""
    with suppress(OSError):
        os.lseek(handle, 0, os.SEEK_SET)
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())


def _holder(path: Path) -> str:
    with suppress(OSError, ValueError):
        return f" (process {int(path.read_bytes()[:20])})"
    return ""
