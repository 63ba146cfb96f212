"""Messages that are decoded at most once, however often a rule looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from ctxviewer.domain.json import Json, Messages


class _Loaded(Sequence[Json]):
    """A view of messages that keeps each one once it was asked for."""

    __slots__ = ("_known", "_source")

    def __init__(self, source: Messages) -> None:
        self._source = source
        self._known: dict[int, Json] = {}

    def __len__(self) -> int:
        return len(self._source)

    @overload
    def __getitem__(self, index: int) -> Json: ...

    @overload
    def __getitem__(self, index: slice) -> list[Json]: ...

    def __getitem__(self, index: int | slice) -> Json | list[Json]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self._source)))]
        known = self._known
        if index in known:
            return known[index]
        message = self._source[index]
        known[index] = message
        return message


def loaded(messages: Messages) -> Messages:
    """The same messages for repeated reading: decoded ones as they are, others behind a view that keeps them."""
    return messages if isinstance(messages, (list, tuple, _Loaded)) else _Loaded(messages)
