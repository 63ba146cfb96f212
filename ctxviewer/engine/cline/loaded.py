"""Messages that are decoded at most once, however often a rule looks at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, overload

from ctxviewer.domain.json import Json, Messages

EVERY: Final = 64
"""So many messages are asked for between two calls of `check`."""


def _never() -> None:
    """Nobody wants to stop."""


class Decoded(Sequence[Json]):
    """A view of messages that keeps each one once it was asked for."""

    __slots__ = ("_asked", "_known", "_source", "check")

    def __init__(self, source: Messages) -> None:
        self._source = source
        self._known: dict[int, Json] = {}
        self._asked = 0
        self.check: Callable[[], None] = _never
        """Called every 64 messages that are asked for; may raise."""

    def __len__(self) -> int:
        return len(self._source)

    @overload
    def __getitem__(self, index: int) -> Json: ...

    @overload
    def __getitem__(self, index: slice) -> list[Json]: ...

    def __getitem__(self, index: int | slice) -> Json | list[Json]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self._source)))]
        self._asked += 1
        if self._asked % EVERY == 0:
            self.check()
        known = self._known
        if index in known:
            return known[index]
        place = range(len(self._source))[index]  # IndexError beyond the ends
        if place not in known:
            known[place] = self._source[place]
        return known[place]


def loaded(messages: Messages) -> Messages:
    """The same messages for repeated reading: decoded ones as they are, others behind a view that keeps them."""
    return messages if isinstance(messages, (list, tuple, Decoded)) else Decoded(messages)
