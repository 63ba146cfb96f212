"""From Sage's new list back to the stored conversation: what is hidden, where summaries stand, which pairs split."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ctxviewer.engine.sage.convert import CallPair, Converted, Origin


class Half(StrEnum):
    """The part of a call and its result that is hidden while the other is shown."""

    CALL = "call"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class MadeRow:
    """A row for a summary or boundary, which has no stored message of its own."""

    number: int
    """Its number in the new list."""
    before: int | None
    """The stored message above which it is drawn; None at the end."""


@dataclass(frozen=True, slots=True)
class SplitPair:
    """A call that lost its result, or a result that lost its call."""

    tool_id: str
    hidden: Half
    call_message: int | None
    """Stored number of the message that calls; None when it is not stored."""
    call_block: int | None
    result_message: int | None
    result_block: int | None
    """None when a repair added the result."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What to draw over the stored conversation. Everything that is not named is shown."""

    hidden_messages: frozenset[int]
    """Stored messages that are hidden whole."""
    hidden_blocks: Mapping[int, tuple[int, ...]]
    """By stored message that is shown in part: its hidden blocks, ascending."""
    rows: tuple[MadeRow, ...]
    """In the order of the new list."""
    split: tuple[SplitPair, ...]
    """In the order of the results."""

    def shows(self, message: int, block: int | None = None) -> bool:
        """True if the stored message, or the block of it, is shown."""
        if message in self.hidden_messages:
            return False
        return block is None or block not in self.hidden_blocks.get(message, ())


def draw(converted: Converted, new_list: Sequence[int | None]) -> Picture:
    """The picture of a new list, given for each of its messages the number in `converted`, or None if Sage made it.

    What is not in the new list was pruned or compacted. `numbers` of a pruned, prepared or compacted list, or of a
    session, are such lists when the rules were given `converted.messages`.
    """
    kept = set(new_list)
    messages, blocks = _hidden(converted, kept)
    return Picture(messages, blocks, tuple(_rows(converted, new_list)), tuple(_split(converted, kept)))


def draw_removed(converted: Converted, removed: Iterable[int]) -> Picture:
    """The picture after these Sage messages were removed and none was made."""
    gone = set(removed)
    return draw(converted, [number for number in range(len(converted.messages)) if number not in gone])


def compose(earlier: Sequence[int | None], numbers: Sequence[int | None]) -> list[int | None]:
    """Numbers of a list made from a list that was itself made: `numbers` point into it, `earlier` are its own."""
    return [None if number is None else earlier[number] for number in numbers]


def _hidden(converted: Converted, kept: set[int | None]) -> tuple[frozenset[int], dict[int, tuple[int, ...]]]:
    """Messages hidden whole, and hidden blocks of the others."""
    whole: list[int] = []
    partly: dict[int, tuple[int, ...]] = {}
    for message, numbers in converted.parts.items():
        if kept.issuperset(numbers):
            continue
        if kept.isdisjoint(numbers):
            whole.append(message)
            continue
        parts = _counting(converted, numbers)
        gone = [number for number in parts if number not in kept]
        if len(gone) == len(parts):
            whole.append(message)
        else:
            blocks = _blocks(converted, gone) - _blocks(converted, kept.intersection(parts))
            if blocks:
                partly[message] = tuple(sorted(blocks))
    return frozenset(whole), partly


def _counting(converted: Converted, numbers: Sequence[int]) -> Sequence[int]:
    """The Sage messages that decide on a stored message: those of repairs only where there are no others."""
    stored = [number for number in numbers if not _is_repair(converted.origins[number])]
    return stored or numbers


def _is_repair(origin: Origin | None) -> bool:
    return origin is None or origin.is_repair


def _blocks(converted: Converted, numbers: Iterable[int | None]) -> set[int]:
    """Stored blocks that these Sage messages stand for. A message sent twice gives the same ones twice."""
    found: set[int] = set()
    for number in numbers:
        origin = None if number is None else converted.origins[number]
        if origin is not None:
            found.update(origin.blocks)
    return found


def _rows(converted: Converted, new_list: Sequence[int | None]) -> list[MadeRow]:
    rows: list[MadeRow] = []
    before: int | None = None
    for place in range(len(new_list) - 1, -1, -1):
        number = new_list[place]
        if number is None:
            rows.append(MadeRow(place, before))
        else:
            origin = converted.origins[number]
            if origin is not None and origin.message is not None:
                before = origin.message
    return rows[::-1]


def _split(converted: Converted, kept: set[int | None]) -> list[SplitPair]:
    return [
        _split_pair(converted, pair, Half.RESULT if pair.call in kept else Half.CALL)
        for pair in converted.pairs
        if (pair.call in kept) != (pair.result in kept)
    ]


def _split_pair(converted: Converted, pair: CallPair, hidden: Half) -> SplitPair:
    call, result = converted.origins[pair.call], converted.origins[pair.result]
    return SplitPair(
        tool_id=pair.tool_id,
        hidden=hidden,
        call_message=call.message if call else None,
        call_block=pair.call_block,
        result_message=result.message if result else None,
        result_block=result.blocks[0] if result and result.blocks else None,
    )
