"""Small operations on files that a transaction is made of. Each raises OSError and leaves nothing half-done behind it
but the new file that it was writing."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ctxviewer.sources.files import open_file
from ctxviewer.sources.fingerprint import CHUNK
from ctxviewer.sources.store.steps import Steps

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
PRIVATE = 0o600
"""Permissions of everything that is ours: a history may hold secrets."""
USUAL = 0o666
"""Permissions of a new file of a task, less the umask."""
_NO_DIRECTORY_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.ENOSYS}
"""What file systems answer that cannot sync a directory (some network and user-space ones)."""


def pieces_of(content: bytes) -> Iterator[bytes]:
    """The content in pieces of at most CHUNK bytes."""
    view = memoryview(content)
    for start in range(0, len(view), CHUNK):
        yield bytes(view[start : start + CHUNK])


def file_pieces(path: Path) -> Iterator[bytes]:
    """The file's content in pieces of at most CHUNK bytes."""
    with open_file(path) as stream:
        while piece := stream.read(CHUNK):
            yield piece


def write_new(path: Path, pieces: Iterable[bytes], steps: Steps, doing: str, mode: int = PRIVATE) -> tuple[str, int]:
    """Make a new file and bring it to the disk. Returns digest and size of what was written.

    Raises FileExistsError when it is there already. After another OSError the file may be there, incomplete.
    """
    state = hashlib.blake2b(digest_size=16)
    size = 0
    handle = os.open(path, _NEW, mode)
    try:
        for piece in pieces:
            steps.inside(doing, path)
            view = memoryview(piece)
            while view:
                view = view[os.write(handle, view) :]
            state.update(piece)
            size += len(piece)
        steps.inside(doing, path)
        os.fsync(handle)
    finally:
        os.close(handle)
    return state.hexdigest(), size


def sync_directory(path: Path) -> None:
    """Bring the names in a directory to the disk, where the system can."""
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_DIRECTORY_SYNC:
            raise
    finally:
        os.close(handle)


def take_over(path: Path, model: os.stat_result) -> None:
    """Give a new file the permissions and, where possible, the owner of the one that it replaces."""
    if sys.platform != "win32":
        found = path.stat()
        if (found.st_uid, found.st_gid) != (model.st_uid, model.st_gid):
            with contextlib.suppress(PermissionError):  # only root may give a file away
                os.chown(path, model.st_uid, model.st_gid)
    path.chmod(stat.S_IMODE(model.st_mode))


def make_private(folder: Path) -> None:
    """Make a folder and the missing ones above it, for us alone. Raises FileExistsError when it is a file."""
    missing = [folder, *folder.parents]
    missing = missing[: next(number for number, place in enumerate(missing) if place.is_dir())]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)
        sync_directory(place.parent)


def remove_quietly(path: Path) -> bool:
    """Remove a file of our own; False when it could not be removed and is still there."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def resolved(path: Path) -> Path:
    """The file behind symbolic links, so that a link stays a link. Need not exist."""
    return Path(os.path.realpath(path))


def device_of(path: Path) -> int:
    """The number of the file system that `path`, or its nearest existing parent, lies on."""
    for place in (path, *path.parents):
        with contextlib.suppress(OSError):
            return place.stat().st_dev
    return 0
