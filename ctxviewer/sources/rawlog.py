"""A JSON array as a file holds it: bytes and positions, items decoded when asked for.

A log that follows an earlier reading of the same file shares its bytes: the equal beginning is kept once, only the rest
is held anew. So a file of a hundred megabytes that grows by one item costs one item.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import overload

from ctxviewer.domain.json import Json
from ctxviewer.domain.log import JsonLog
from ctxviewer.sources.rawjson import Damage, Spans, decode

KEPT_BYTES = 4 << 20
"""Decoded items are remembered up to so many bytes of JSON; a single bigger one is not remembered."""

_CONTAINER_ENDS = b'}]"'


class RawLog(JsonLog):
    """Items of an array file. Immutable; may be read from several threads."""

    __slots__ = (
        "_base",
        "_base_count",
        "_base_view",
        "_cut",
        "_ends",
        "_kept",
        "_kept_bytes",
        "_lock",
        "_opening",
        "_starts",
        "_tail",
        "damage",
    )

    damage: tuple[Damage, ...]
    """What is wrong with the file; the items are those that can be read nevertheless."""

    def __init__(self, data: bytes, spans: Spans) -> None:
        self._base = data
        self._base_view = memoryview(data)
        self._tail = b""
        self._cut = len(data)
        """So many bytes of `_base` belong to this file; `_tail` follows them."""
        self._base_count = len(spans.starts)
        self._starts, self._ends = spans.starts, spans.ends
        self._opening = spans.opening
        self.damage = spans.damage
        self._kept: OrderedDict[int, Json] = OrderedDict()
        self._kept_bytes = 0
        self._lock = Lock()

    @classmethod
    def grown(cls, old: RawLog, count: int, tail: bytes, spans: Spans) -> RawLog:
        """The first `count` items of `old`'s own bytes, then what `tail` holds: all bytes of the file behind them.

        `spans` are positions in `tail`. `count` must be at least 1 and at most `old.base_count`; both are undamaged.
        """
        log = cls(old._base, Spans(old._starts[:count], old._ends[:count], old._opening))
        log._cut = old._ends[count - 1]
        log._tail = tail
        log._starts.extend(spans.starts)
        log._ends.extend(spans.ends)
        return log

    @property
    def base_count(self) -> int:
        """So many leading items lie in the bytes that a later reading can share."""
        return self._base_count

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._cut + len(self._tail)

    def base_view(self) -> memoryview:
        """The bytes up to the end of the last shareable item."""
        return self._base_view[: self._ends[self._base_count - 1] if self._base_count else 0]

    def items_within(self, position: int) -> int:
        """How many shareable items end at or before byte `position` of the base, so that nothing can continue them."""
        count = bisect_right(self._ends, position, 0, self._base_count)
        if count and self._base[self._ends[count - 1] - 1] not in _CONTAINER_ENDS:
            count -= 1
        return count

    def position_behind(self, count: int) -> int:
        """File position behind the first `count` shareable items, behind the opening bracket for 0."""
        return self._ends[count - 1] if count else self._opening

    def view(self, index: int) -> memoryview:
        """The bytes of one item, not copied."""
        data = self._base_view if index < self._base_count else memoryview(self._tail)
        return data[self._starts[index] : self._ends[index]]

    def begins(self, index: int, prefix: bytes) -> bool:
        """True when the bytes of an item begin with these, without making them."""
        data = self._base if index < self._base_count else self._tail
        return data.startswith(prefix, self._starts[index])

    def shared_with(self, earlier: JsonLog) -> int:
        """Items that lie in the same bytes of one reading."""
        if isinstance(earlier, RawLog) and earlier._base is self._base:  # noqa: SLF001 - another one of our own
            return min(self._base_count, earlier.base_count)
        return 0

    def raw(self, index: int) -> bytes:
        """The bytes of item `index` exactly as they stand in the file."""
        return bytes(self.view(range(len(self._starts))[index]))

    def byte_size(self, index: int) -> int:
        """Length of `raw(index)`."""
        return self._ends[index] - self._starts[index]

    def head(self, count: int) -> bytes:
        """The file from its beginning up to the end of item `count` - 1; up to the opening bracket for 0."""
        if count == 0:
            return self._base[: self._opening]
        if count <= self._base_count:
            return self._base[: self._ends[count - 1]]
        return self._base[: self._cut] + self._tail[: self._ends[count - 1]]

    def behind(self, count: int) -> bytes:
        """The file from the end of item `count` - 1 (for 0: from the opening bracket) to its own end."""
        if count > self._base_count:
            return self._tail[self._ends[count - 1] :]
        return self._base[self.position_behind(count) : self._cut] + self._tail

    def closing(self) -> bytes:
        """The file from the end of the last item to its own end: normally the closing bracket."""
        return self.behind(len(self._ends))

    def holds(self, data: bytes) -> bool:
        """True when the file is exactly `data`."""
        if len(data) != self.size:
            return False
        return data.startswith(self._base_view[: self._cut]) and data.endswith(self._tail)

    def separator(self) -> bytes:
        """What stands between the first two items: a comma, with the blanks of a formatted file."""
        if len(self._starts) < 2:
            return b","
        if self._base_count < 2:
            behind_first = self.behind(1)
            return (
                behind_first[: self._starts[1]]
                if self._base_count == 1
                else behind_first[: self._starts[1] - self._ends[0]]
            )
        return self._base[self._ends[0] : self._starts[1]]

    def digest(self) -> str:
        """blake2b-128 of the whole file. A file of 100 MB takes a tenth of a second."""
        state = hashlib.blake2b(self._base_view[: self._cut], digest_size=16)
        state.update(self._tail)
        return state.hexdigest()

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> Json: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Json]: ...

    def __getitem__(self, index: int | slice) -> Json | Sequence[Json]:
        numbers = range(len(self._starts))[index]
        if isinstance(numbers, range):
            return [decode(self.view(number)) for number in numbers]
        with self._lock:
            if numbers in self._kept:
                self._kept.move_to_end(numbers)
                return self._kept[numbers]
        value = decode(self.view(numbers))
        self._keep(numbers, value)
        return value

    def __iter__(self) -> Iterator[Json]:
        return (decode(self.view(number)) for number in range(len(self._starts)))

    def _keep(self, index: int, value: Json) -> None:
        size = self.byte_size(index)
        if size > KEPT_BYTES:
            return
        with self._lock:
            if index in self._kept:
                return
            self._kept[index] = value
            self._kept_bytes += size
            while self._kept_bytes > KEPT_BYTES:
                dropped, _ = self._kept.popitem(last=False)
                self._kept_bytes -= self.byte_size(dropped)
