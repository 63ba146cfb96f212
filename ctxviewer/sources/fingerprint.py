"""Fingerprints of files: what the preview saw, compared with what stands on disk when it is written."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ctxviewer.domain.snapshot import FileRole, FileStamp
from ctxviewer.sources.files import open_file

CHUNK = 1 << 20
"""Bytes read at once."""

Signature = tuple[int, int, int]
"""(mtime_ns, size, inode): equal as long as nobody wrote, as far as `stat` can tell."""


def digest(content: bytes) -> str:
    """blake2b-128 of the bytes, as 32 hexadecimal digits."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def file_digest(path: Path) -> str:
    """`digest` of the file's content, read in pieces. Raises OSError."""
    state = hashlib.blake2b(digest_size=16)
    with open_file(path) as stream:
        while piece := stream.read(CHUNK):
            state.update(piece)
    return state.hexdigest()


def signature(path: Path) -> Signature | None:
    """The signature of the file behind `path` (links are followed), None when there is none. Raises other OSErrors."""
    try:
        found = os.stat(path)  # noqa: PTH116 - one call in a loop over thousands of files
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def stamp_of(role: FileRole, path: Path, content: bytes | None) -> FileStamp:
    """The stamp of a file whose content (INDEX: the task's own item) was just read. None: there is no file (no item).

    Raises OSError when the file cannot be examined.
    """
    found = signature(path)
    if found is None or (content is None and role is not FileRole.INDEX):
        return FileStamp(role, path, exists=False)
    own = "" if content is None else digest(content)
    return FileStamp(role, path, exists=True, size=found[1], mtime_ns=found[0], inode=found[2], digest=own)
