"""A JSON array as it stands in a file: the items, and the bytes of each item, so that a write can reuse them."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import overload

from ctxviewer.domain.json import Json


class JsonLog(Sequence[Json]):
    """Items of one JSON array, numbered from 0 as stored.

    Indexing may decode and is then expensive: iterate once instead of indexing the same item twice.
    What it returns is owned by the log and must never be changed.
    """

    @abstractmethod
    def raw(self, index: int) -> bytes:
        """The bytes of item `index` exactly as they stand in the file, without the comma around them."""

    @abstractmethod
    def byte_size(self, index: int) -> int:
        """Length of `raw(index)`, without making the bytes."""

    def begins(self, index: int, prefix: bytes) -> bool:
        """True when the bytes of item `index` begin with these."""
        return self.raw(index).startswith(prefix)

    def shared_with(self, _earlier: JsonLog) -> int:
        """How many leading items are known to equal those of another log without looking at them; 0 if not known."""
        return 0

    @overload
    def __getitem__(self, index: int) -> Json: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Json]: ...

    @abstractmethod
    def __getitem__(self, index: int | slice) -> Json | Sequence[Json]: ...


class PlainLog(JsonLog):
    """A log over values that are already decoded; the bytes are made when asked for. For tests and made-up tasks."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[Json] = ()) -> None:
        self._items = tuple(items)

    def raw(self, index: int) -> bytes:
        """Compact JSON of the item, lone surrogates as escapes."""
        text = json.dumps(self._items[index], ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")

    def byte_size(self, index: int) -> int:
        """Length of `raw(index)`."""
        return len(self.raw(index))

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Json: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Json]: ...

    def __getitem__(self, index: int | slice) -> Json | Sequence[Json]:
        return self._items[index]


class DerivedMessages(Sequence[Json]):
    """Messages that stand for others: `length` of them, each made by `_at`. Slices are lists."""

    __slots__ = ("_length",)

    def __init__(self, length: int) -> None:
        self._length = max(0, length)

    def _at(self, number: int) -> Json:
        """The message of a number from 0 up to, not including, the length."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Json: ...

    @overload
    def __getitem__(self, index: slice) -> list[Json]: ...

    def __getitem__(self, index: int | slice) -> Json | list[Json]:
        if isinstance(index, slice):
            return [self._at(number) for number in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._at(index % self._length)


class Prefix(DerivedMessages):
    """The first messages of a sequence, without decoding the others."""

    __slots__ = ("_source",)

    def __init__(self, source: Sequence[Json], length: int) -> None:
        super().__init__(min(length, len(source)))
        self._source = source

    def _at(self, number: int) -> Json:
        return self._source[number]


EMPTY_LOG = PlainLog()
