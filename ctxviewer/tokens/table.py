"""Counts of a task's stored messages, and how much of them a projection sends. All numbers are estimated.

A table is a value: counting in the background makes a new one for every slice that is done. Sums of any projection
then cost as much as the updates in force, whatever the length of the task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ctxviewer.domain.projection import Projection, Repair, RepairKind, Standing
from ctxviewer.tokens.texts import MessageCount

_Longs = npt.NDArray[np.int64]
_NO_UPDATES: Mapping[str, int] = MappingProxyType({})

RESULT_MISSING = 2
"""Tokens of the words that stand for a result that is not there."""


@dataclass(frozen=True, slots=True)
class TokenSums:
    """What one projection sends, in estimated tokens of text."""

    sent: int
    """As sent: stored texts with the updates in force and the repairs."""
    hidden: int
    """As stored, of the messages that are not sent."""
    later: int
    """As stored, of the messages that did not exist yet."""
    known_share: float
    """Share of the stored messages that are counted already, 0 to 1; uncounted ones add nothing to the sums."""
    pictures: int = 0
    """Images and documents that are sent; they are in none of the sums."""


class TokenTable:
    """Counts by stored message number. Never changed; `with_…` methods return another table."""

    def __init__(self, length: int = 0) -> None:
        """A table for `length` stored messages of which none is counted."""
        self._messages: tuple[MessageCount | None, ...] = (None,) * length
        self._updates: Mapping[str, int] = _NO_UPDATES
        self._facts = np.zeros((3, length), dtype=np.int64)
        """Rows: tokens, pictures, 1 if counted; one column a message."""

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def complete(self) -> bool:
        """True if every stored message is counted."""
        return bool(self._facts[2].all())

    @property
    def missing(self) -> tuple[int, ...]:
        """Numbers of the messages that are not counted yet, ascending."""
        return tuple(np.flatnonzero(self._facts[2] == 0).tolist())

    def with_messages(self, counts: Mapping[int, MessageCount]) -> TokenTable:
        """The table with these messages counted. Numbers beyond the table are ignored: they are of another reading."""
        messages, facts = list(self._messages), self._facts.copy()
        for number, blocks in counts.items():
            if 0 <= number < len(messages):
                messages[number] = blocks
                facts[:, number] = (sum(b.tokens for b in blocks), sum(b.pictures for b in blocks), 1)
        return self._made(tuple(messages), self._updates, facts)

    def with_updates(self, counts: Mapping[str, int]) -> TokenTable:
        """The table with these replacement texts counted."""
        return self._made(self._messages, {**self._updates, **counts}, self._facts)

    def resized(self, length: int, kept: int | None = None) -> TokenTable:
        """For a new reading of `length` messages of which the first `kept` are as before (None: all that both have)."""
        same = min(length, len(self), len(self) if kept is None else kept)
        facts = np.zeros((3, length), dtype=np.int64)
        facts[:, :same] = self._facts[:, :same]
        return self._made((*self._messages[:same], *(None,) * (length - same)), self._updates, facts)

    @classmethod
    def _made(cls, messages: tuple[MessageCount | None, ...], updates: Mapping[str, int], facts: _Longs) -> TokenTable:
        made = cls()
        made._messages, made._updates, made._facts = messages, updates, facts
        return made

    def message(self, number: int) -> int | None:
        """Tokens of a message as stored, None if it is not counted yet or does not exist."""
        blocks = self._messages[number] if 0 <= number < len(self._messages) else None
        return None if blocks is None else sum(block.tokens for block in blocks)

    def block(self, number: int, block: int) -> int | None:
        """Tokens of a block as stored, None if it is not counted yet or does not exist."""
        blocks = self._messages[number] if 0 <= number < len(self._messages) else None
        return None if blocks is None or not 0 <= block < len(blocks) else blocks[block].tokens

    def stretch(self, first: int, last: int) -> int | None:
        """Tokens of messages `first` to `last`, both inclusive, as stored; None if one is not counted or not there."""
        if not 0 <= first <= last < len(self._messages):
            return 0 if last < first else None
        tokens, _, known = self._prefixes
        all_known = known[last + 1] - known[first] == last + 1 - first
        return int(tokens[last + 1] - tokens[first]) if all_known else None

    def update(self, text: str) -> int | None:
        """Tokens of a replacement text, None if it is not counted yet."""
        return self._updates.get(text)

    def message_as_sent(self, number: int, projection: Projection) -> int | None:
        """Tokens of a message as the projection sends it, 0 if it does not; None if it is not counted yet."""
        stored = self.message(number)
        if stored is None or projection.standing(number) is not Standing.SENT:
            return None if stored is None else 0
        blocks = range(len(self._messages[number] or ()))
        updates = sum(self._difference(number, block, projection) for block in blocks)
        repairs = sum(self._repair(repair) for repair in projection.repairs if repair.message == number)
        return stored + updates + repairs

    def sums(self, projection: Projection) -> TokenSums:
        """Estimated tokens that the projection sends, hides and does not know yet."""
        count = len(self)
        until = max(0, min(projection.until, count))
        pair = min(projection.first_pair, until)
        resume = max(0, min(projection.resume, until))
        tokens, pictures, known = self._prefixes
        # A range that ends before the first pair sends some of it twice; the difference of prefixes counts it twice.
        sent = int(tokens[pair] + tokens[until] - tokens[resume])
        for number, block in projection.updates:
            if number < pair or resume <= number < until:
                times = 2 if resume <= number < pair else 1
                sent += times * self._difference(number, block, projection)
        sent += sum(self._repair(repair) for repair in projection.repairs)
        return TokenSums(
            sent=max(0, sent),
            hidden=int(max(0, tokens[resume] - tokens[pair])),
            later=int(tokens[count] - tokens[until]),
            known_share=int(known[count]) / count if count else 1.0,
            pictures=int(pictures[pair] + pictures[until] - pictures[resume]),
        )

    @cached_property
    def _prefixes(self) -> _Longs:
        """Sums of the facts before each number; one column more than messages."""
        sums = np.zeros((3, len(self._messages) + 1), dtype=np.int64)
        np.cumsum(self._facts, axis=1, out=sums[:, 1:])
        return sums

    def _difference(self, number: int, block: int, projection: Projection) -> int:
        """What the update in force on a block adds to the stored count; 0 where it has no effect or is unknown."""
        update = projection.updates.get((number, block))
        blocks = self._messages[number] if 0 <= number < len(self._messages) else None
        if update is None or blocks is None or not 0 <= block < len(blocks) or blocks[block].replaceable < 0:
            return 0
        new = self._updates.get(update.text)
        return 0 if new is None else new - blocks[block].replaceable

    def _repair(self, repair: Repair) -> int:
        """What a repair adds to the stored count of its message."""
        blocks = self._messages[repair.message] if 0 <= repair.message < len(self._messages) else None
        if blocks is None:
            return 0
        if repair.kind is RepairKind.ADDED:
            return RESULT_MISSING * len(repair.tool_ids)
        if repair.kind is RepairKind.WORDS_LOST:
            return -sum(block.tokens for block in blocks)
        if repair.kind in {RepairKind.STRIPPED, RepairKind.DROPPED}:
            return -sum(block.tokens for block in blocks if block.tool_id and block.tool_id in repair.tool_ids)
        return 0
