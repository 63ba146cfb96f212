"""Remembers counts by the content of a text, in memory and, if the caller names a folder, on disk.

The file holds digests and numbers, no text. A file that is damaged or of another encoding is ignored and replaced.
"""

from __future__ import annotations

import hashlib
import logging
import os
import struct
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from ctxviewer.tokens.counter import TokenCounter

_log = logging.getLogger(__name__)

SHORTEST = 48
"""Characters below which counting is as quick as looking up."""
_MAGIC = b"ctxviewer token counts 1\n"
_RECORD = struct.Struct("<16sI")
_CHECK = 16


def text_digest(text: str) -> bytes:
    """16 bytes that stand for the text; lone surrogates are allowed."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class CountCache:
    """Digest to count, the least recently used dropped first. Safe to use from several threads."""

    def __init__(self, limit: int = 100_000) -> None:
        """Hold at most `limit` counts (about 200 bytes each)."""
        self._limit = limit
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._counts)

    def get(self, digest: bytes) -> int | None:
        """The count, or None."""
        with self._lock:
            found = self._counts.get(digest)
            if found is not None:
                self._counts.move_to_end(digest)
            return found

    def put(self, digest: bytes, count: int) -> None:
        """Remember a count."""
        with self._lock:
            self._counts[digest] = count
            self._counts.move_to_end(digest)
            while len(self._counts) > self._limit:
                self._counts.popitem(last=False)

    def held(self) -> Mapping[bytes, int]:
        """A copy of what is held, oldest use first."""
        with self._lock:
            return dict(self._counts)


def load_counts(cache: CountCache, folder: Path, encoding: str) -> int:
    """Fill the cache from the folder's file for this encoding; returns how many were read, 0 for none or a bad file."""
    path = _file(folder, encoding)
    try:
        data = path.read_bytes()
    except OSError:
        return 0
    body = data[len(_MAGIC) + _CHECK :]
    whole = data.startswith(_MAGIC) and len(body) % _RECORD.size == 0
    if not whole or _checksum(body, encoding) != data[len(_MAGIC) : len(_MAGIC) + _CHECK]:
        _log.warning("ignoring a damaged file of token counts (%d bytes)", len(data))
        return 0
    records = list(_RECORD.iter_unpack(body))
    for digest, count in records:
        cache.put(digest, count)
    return len(records)


def save_counts(cache: CountCache, folder: Path, encoding: str) -> None:
    """Write the cache to the folder, atomically; makes the folder. Raises OSError when that is not possible."""
    body = b"".join(_RECORD.pack(digest, count) for digest, count in cache.held().items() if count < 1 << 32)
    folder.mkdir(parents=True, exist_ok=True)
    path = _file(folder, encoding)
    temporary = path.with_suffix(f".tmp{os.getpid()}")
    temporary.write_bytes(_MAGIC + _checksum(body, encoding) + body)
    temporary.replace(path)


def _file(folder: Path, encoding: str) -> Path:
    return folder / f"token-counts-{encoding}.bin"


def _checksum(body: bytes, encoding: str) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECK, person=encoding.encode()[:16]).digest()


class CachedCounter:
    """A counter that asks the cache first. Same numbers as the counter inside."""

    def __init__(self, counter: TokenCounter, cache: CountCache | None = None) -> None:
        self._counter = counter
        self._cache = CountCache() if cache is None else cache

    @property
    def name(self) -> str:
        """The name of the counter inside."""
        return self._counter.name

    @property
    def exact(self) -> bool:
        """As the counter inside says."""
        return self._counter.exact

    @property
    def reason(self) -> str:
        """As the counter inside says."""
        return self._counter.reason

    @property
    def cache(self) -> CountCache:
        """The cache, to load and save it."""
        return self._cache

    def count(self, text: str) -> int:
        """Tokens of the text."""
        if len(text) < SHORTEST:
            return self._counter.count(text)
        digest = text_digest(text)
        found = self._cache.get(digest)
        if found is None:
            found = self._counter.count(text)
            self._cache.put(digest, found)
        return found
