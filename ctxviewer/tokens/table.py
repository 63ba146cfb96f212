"""Counts of a task's stored messages, and how much of them a projection sends. All numbers are estimated.

A table is a value: counting in the background makes a new one for every slice that is done. Sums of any projection
then cost as much as the updates in force, whatever the length of the task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ctxviewer.domain.projection import Projection, Repair, RepairKind, Standing
from ctxviewer.tokens.texts import BlockCount, MessageCount

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


class SentCount(NamedTuple):
    """What one stored block counts as sent."""

    tokens: int
    pictures: int


_NOTHING = SentCount(0, 0)


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
        blocks = self.blocks_as_sent(number, projection)
        return None if blocks is None else sum(block.tokens for block in blocks) + self.made_up(number, projection)

    def blocks_as_sent(self, number: int, projection: Projection) -> tuple[SentCount, ...] | None:
        """What each stored block of a message counts as the projection sends it, 0 where it is left out.

        None if the message is not counted yet or does not exist. Results that a repair makes up: `made_up`.
        """
        blocks = self._messages[number] if 0 <= number < len(self._messages) else None
        if blocks is None:
            return None
        repairs = [repair for repair in projection.repairs if repair.message == number]
        return self._as_sent(number, blocks, projection, repairs)

    def _as_sent(
        self, number: int, blocks: MessageCount, projection: Projection, repairs: Sequence[Repair]
    ) -> tuple[SentCount, ...]:
        if projection.standing(number) is not Standing.SENT:
            return (_NOTHING,) * len(blocks)
        counts = [SentCount(block.tokens, block.pictures) for block in blocks]
        for block, hit in self._hits(number, blocks, projection, repairs):
            tokens, pictures = counts[hit]
            counts[hit] = SentCount(tokens + self._difference(block, blocks[hit], number, projection), pictures)
        for place in range(len(blocks)):
            if (number, place) in projection.gone_blocks or any(_takes_out(one, blocks[place]) for one in repairs):
                counts[place] = _NOTHING
        return tuple(counts)

    def made_up(self, number: int, projection: Projection) -> int:
        """Tokens of the results that repairs add to a message; 0 if there are none or it is not sent."""
        if projection.standing(number) is not Standing.SENT:
            return 0
        return _made_up([repair for repair in projection.repairs if repair.message == number])

    def sums(self, projection: Projection) -> TokenSums:
        """Estimated tokens that the projection sends, hides and does not know yet.

        Messages that a strategy made up count with the texts that `with_updates` has counted.
        """
        count = len(self)
        until = max(0, min(projection.until, count))
        pair = min(projection.first_pair, until)
        resume = max(0, min(projection.resume, until))
        tokens, pictures, known = self._prefixes
        # A range that ends before the first pair sends some of it twice; the difference of prefixes counts it twice.
        sent = int(tokens[pair] + tokens[until] - tokens[resume])
        images = int(pictures[pair] + pictures[until] - pictures[resume])
        touched = {place[0] for places in (projection.updates, projection.gone_blocks) for place in places}
        repairs: dict[int, list[Repair]] = {}
        for repair in projection.repairs:
            repairs.setdefault(repair.message, []).append(repair)
        for number in touched.union(repairs) - projection.gone:
            if not (0 <= number < pair or resume <= number < until):
                continue
            stored, mending = self._messages[number] or (), repairs.get(number, [])
            now = self._as_sent(number, stored, projection, mending)
            times = 2 if resume <= number < pair else 1
            change = sum(block.tokens for block in now) - sum(block.tokens for block in stored)
            sent += times * (change + _made_up(mending))
            images += times * (sum(block.pictures for block in now) - sum(block.pictures for block in stored))
        if projection.gone:
            gone = np.fromiter(projection.gone, dtype=np.int64, count=len(projection.gone))
            for first, end in ((0, pair), (resume, until)):
                lost = self._facts[:2, gone[(first <= gone) & (gone < end)]].sum(axis=1)
                sent, images = sent - int(lost[0]), images - int(lost[1])
        sent += sum(self._updates.get(row.text, 0) for row in projection.inserted)
        return TokenSums(
            sent=max(0, sent),
            hidden=int(max(0, tokens[resume] - tokens[pair])),
            later=int(tokens[count] - tokens[until]),
            known_share=int(known[count]) / count if count else 1.0,
            pictures=images,
        )

    @cached_property
    def _prefixes(self) -> _Longs:
        """Sums of the facts before each number; one column more than messages."""
        sums = np.zeros((3, len(self._messages) + 1), dtype=np.int64)
        np.cumsum(self._facts, axis=1, out=sums[:, 1:])
        return sums

    def _hits(
        self, number: int, blocks: MessageCount, projection: Projection, repairs: Sequence[Repair]
    ) -> Iterator[tuple[int, int]]:
        """Blocks with an update in force, each with the stored number of the block that it hits."""
        if projection.until <= 1:  # the rules apply no update to a message that is alone
            return
        places = range(len(blocks))
        if number == projection.resume and projection.hidden:  # results go before updates are put in
            stripped = [one for one in repairs if one.kind is RepairKind.STRIPPED]
            kept = [place for place in places if not any(_takes_out(one, blocks[place]) for one in stripped)]
        else:
            kept = list(places)
        for block in places:
            if (number, block) in projection.updates and block < len(kept):
                yield block, kept[block]

    def _difference(self, block: int, hit: BlockCount, number: int, projection: Projection) -> int:
        """What the update on a block adds to the count of the block it hits; 0 if it has no effect or is unknown."""
        new = self._updates.get(projection.updates[number, block].text)
        return 0 if new is None or hit.replaceable < 0 else new - hit.replaceable


def _made_up(repairs: Sequence[Repair]) -> int:
    return sum(RESULT_MISSING * len(repair.tool_ids) for repair in repairs if repair.kind is RepairKind.ADDED)


def _takes_out(repair: Repair, block: BlockCount) -> bool:
    """Whether a repair leaves a stored block of its message out."""
    if repair.kind is RepairKind.WORDS_LOST:
        return True
    if repair.kind in {RepairKind.STRIPPED, RepairKind.DROPPED}:
        return bool(block.tool_id) and block.tool_id in repair.tool_ids
    return False
