"""What the messages of a growing list cost, as running sums, so that no rule estimates a message twice.

A ledger serves a list, or any beginning of it: every question takes the length it is asked for. It is the one value of
this package that changes; it never touches a message. Its owner appends to it; it is not for two threads.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Self

from ctxviewer.engine.sage.boundary import is_boundary
from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR, TokenEstimator
from ctxviewer.engine.sage.message import Role, SageMessage


class CostLedger:
    """Running sums over the costs of messages 0, 1, … of one list, and where system messages and boundaries are."""

    __slots__ = ("_boundaries", "_open", "_open_sums", "_sums", "estimator")

    def __init__(
        self,
        messages: Iterable[SageMessage] = (),
        costs: Iterable[int] | None = None,
        *,
        estimator: TokenEstimator = DEFAULT_ESTIMATOR,
    ) -> None:
        """A ledger of these messages. `costs`: tokens of each one, where already known; else they are estimated."""
        self.estimator = estimator
        self._sums = [0]
        self._open: list[int] = []
        self._open_sums = [0]
        self._boundaries: list[int] = []
        self.extend(messages, costs)

    @classmethod
    def of(cls, messages: Sequence[SageMessage], estimator: TokenEstimator, known: CostLedger | None) -> CostLedger:
        """`known` if it is given, else a new ledger of the messages.

        Raises ValueError when `known` belongs to another estimator or covers fewer messages.
        """
        if known is None:
            return cls(messages, estimator=estimator)
        if known.estimator != estimator or len(known) < len(messages):
            raise ValueError("the ledger is not one of these messages and this estimator")
        return known

    def __len__(self) -> int:
        return len(self._sums) - 1

    def extend(self, messages: Iterable[SageMessage], costs: Iterable[int] | None = None) -> Self:
        """Append messages. `costs`, where known, must be as many as the messages, else ValueError."""
        if costs is None:
            for message in messages:
                self._append(message, self.estimator.message(message))
        else:
            for message, cost in zip(messages, costs, strict=True):
                self._append(message, cost)
        return self

    def _append(self, message: SageMessage, cost: int) -> None:
        number = len(self._sums) - 1
        self._sums.append(self._sums[-1] + cost)
        if message.role is not Role.SYSTEM:
            self._open.append(number)
            self._open_sums.append(self._open_sums[-1] + cost)
        if is_boundary(message):
            self._boundaries.append(number)

    def truncate(self, length: int) -> Self:
        """Forget the messages from number `length` on."""
        del self._sums[length + 1 :]
        kept = bisect_left(self._open, length)
        del self._open[kept:]
        del self._open_sums[kept + 1 :]
        del self._boundaries[bisect_left(self._boundaries, length) :]
        return self

    def cost(self, number: int) -> int:
        """Tokens of message `number`."""
        return self._sums[number + 1] - self._sums[number]

    def costs(self, first: int = 0, end: int | None = None) -> list[int]:
        """Tokens of each message from `first` up to, not including, `end`."""
        sums = self._sums[first : None if end is None else end + 1]
        return [after - before for before, after in pairwise(sums)]

    def total(self, first: int = 0, end: int | None = None) -> int:
        """Tokens of the messages from `first` up to, not including, `end` (the whole list if not given)."""
        return self._sums[len(self) if end is None else end] - self._sums[first]

    def last_boundary(self, length: int | None = None) -> int | None:
        """Number of the last boundary among the first `length` messages, or None."""
        place = len(self._boundaries) if length is None else bisect_left(self._boundaries, length)
        return self._boundaries[place - 1] if place else None

    def active_start(self, length: int | None = None) -> int:
        """Number of the first message after the last boundary; `length` when the boundary comes last."""
        last = self.last_boundary(length)
        return 0 if last is None else last + 1

    def active_tokens(self, length: int | None = None) -> int:
        """Tokens of the messages after the last boundary."""
        return self.total(self.active_start(length), length)

    def unprotected(self, length: int, *, protect_system: bool) -> tuple[Sequence[int], Sequence[int]]:
        """Numbers of the messages that may be pruned, and running sums of their costs, starting with 0.

        Both may reach beyond `length`; how many lie before it is `unprotected_count`.
        """
        if protect_system:
            return self._open, self._open_sums
        return range(length), self._sums

    def unprotected_count(self, length: int, *, protect_system: bool) -> int:
        """How many of the first `length` messages may be pruned."""
        return bisect_left(self._open, length) if protect_system else length
