"""What a projection sends, in estimated tokens, and what is lost between one projection and another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from ctxviewer.domain.projection import BlockChange, Projection, Repair, SentBlock, Standing
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.updates import Update
from ctxviewer.engine.cline.file_reads import ReadPlace
from ctxviewer.engine.strategies.carried import runs
from ctxviewer.engine.strategies.facts import MESSAGE_TOKENS, Facts, block_tokens, still_there

FIRST_PAIR = (0, 1)


@dataclass(frozen=True, slots=True)
class Losses:
    """What was sent before and is sent no more."""

    messages: tuple[Range, ...]
    """Runs of stored messages, both ends inclusive."""
    message_count: int
    block_count: int
    """Stored blocks whose own content is sent no more: of lost messages, left out of others, or rewritten."""
    files: tuple[str, ...]
    """Paths of which the last content is sent no more, in order of their first copy."""
    first_pair: tuple[int, ...]
    """Of messages 0 and 1: those that are lost; message 0 also when the task in it was rewritten. The notice that a
    cut puts on message 1 does not count."""
    instructions: tuple[int, ...]
    """Lost messages from 2 on that hold words of the user."""


class Weigher:
    """Weighs projections of one task up to one moment; keeps what they share. For one thread at a time."""

    def __init__(self, facts: Facts, until: int) -> None:
        self._facts = facts
        self._until = until
        self._repaired: dict[int, int] = {}
        self._places: dict[str, list[ReadPlace]] | None = None

    def tokens(self, projection: Projection) -> int:
        """Estimated tokens of all that the projection sends. Images, documents and the system prompt count nothing."""
        facts, until = self._facts, projection.until
        pair, resume = min(projection.first_pair, until), min(projection.resume, until)
        total = facts.tokens(0, pair) + facts.tokens(resume, until)
        total += sum(facts[number].tokens for number in projection.repeated)
        hidden = projection.hidden
        total -= sum(facts[number].tokens for number in projection.gone if number < until and number not in hidden)
        repaired = _by_message(projection.repairs)
        for (message, block), update in projection.updates.items():
            if (
                message in repaired
                or not self._is_sent(projection, message)
                or (message, block) in projection.gone_blocks
            ):
                continue
            total += facts.update_tokens(update) * (2 if message in projection.repeated else 1)
        for message, block in projection.gone_blocks:
            if message not in repaired and self._is_sent(projection, message):
                total -= self._block(message, block)
        for message in repaired:
            if self._is_sent(projection, message):
                total += self._as_sent(projection, message) - facts[message].tokens
        return total + sum(MESSAGE_TOKENS + facts.text_tokens(row.text) for row in projection.inserted)

    def message_tokens(self, projection: Projection, message: int) -> int:
        """Estimated tokens of one message as the projection sends it; 0 when it does not."""
        if not self._is_sent(projection, message):
            return 0
        if any(repair.message == message for repair in projection.repairs):
            return self._as_sent(projection, message)
        total = self._facts[message].tokens
        for block in range(len(self._facts[message].blocks)):
            if (message, block) in projection.gone_blocks:
                total -= self._block(message, block)
            elif (update := projection.updates.get((message, block))) is not None:
                total += self._facts.update_tokens(update)
        return total

    def losses(self, before: Projection, after: Projection) -> Losses:
        """What `after` sends no more of what `before` sent. Both know the same messages."""
        lost = sorted((self._missing(after) - self._missing(before)).intersection(range(before.until)))
        gone = set(lost)
        facts = self._facts
        blocks = set(after.gone_blocks) - before.gone_blocks
        blocks.update(
            place
            for place, update in after.updates.items()
            if _text(before.updates.get(place)) != update.text
            and self._rewrites(place)
            and self._is_sent(after, place[0])
        )
        single = [place for place in blocks if place[0] not in gone]
        pair = [number for number in FIRST_PAIR if number in gone or (number == 0 and (0, 0) in blocks)]
        return Losses(
            messages=runs(lost),
            message_count=len(lost),
            block_count=sum(len(facts[number].blocks) for number in lost) + len(single),
            files=tuple(self._files(before, after, gone, single)),
            first_pair=tuple(pair),
            instructions=tuple(number for number in lost if number > 1 and facts.spoken(number)),
        )

    def common_prefix(self, previous: Projection, after: Projection) -> int:
        """Tokens of the leading messages and blocks that both lists have in common, from the first one on."""
        total = 0
        marks, other_marks = _marks(previous), _marks(after)
        for number, other in zip(_order(previous), _order(after), strict=False):
            if number != other:
                break
            if isinstance(number, str):
                total += MESSAGE_TOKENS + self._facts.text_tokens(number)
            elif marks.get(number) == other_marks.get(number):
                total += self._facts[number].tokens if number not in marks else self.message_tokens(after, number)
            else:
                return total + self._common_blocks(previous, after, number)
        return total

    def _common_blocks(self, previous: Projection, after: Projection, message: int) -> int:
        timeline = self._facts.timeline
        total = 0
        pairs = zip(_sent(timeline.blocks(previous, message)), _sent(timeline.blocks(after, message)), strict=False)
        for one, other in pairs:
            if one.sent is None or other.sent is None or one.sent.raw != other.sent.raw:
                break
            total += self._sent_block(message, one)
        return total

    def _files(
        self, before: Projection, after: Projection, gone: set[int], single: list[tuple[int, int]]
    ) -> Iterator[str]:
        if self._places is None:
            self._places = {}
            for path, place in self._facts.paths(self._until):
                self._places.setdefault(path, []).append(place)
        touched = {message for message, _ in single}
        for path, places in self._places.items():
            if not any(place.message in gone or place.message in touched for place in places):
                continue
            if self.holds(after, places) or not self.holds(before, places):
                continue
            yield path

    def holds(self, projection: Projection, places: list[ReadPlace]) -> bool:
        """Whether any of these places of a file is sent with its content."""
        return any(
            self._is_sent(projection, place.message)
            and (place.message, place.block) not in projection.gone_blocks
            and still_there(place, projection.updates.get((place.message, place.block)))
            for place in places
        )

    def _missing(self, projection: Projection) -> set[int]:
        return set(projection.hidden).union(projection.gone)

    def _is_sent(self, projection: Projection, message: int) -> bool:
        return projection.standing(message) is Standing.SENT

    def _rewrites(self, place: tuple[int, int]) -> bool:
        message, block = place
        if message >= self._until:
            return False
        blocks = self._facts[message].blocks
        return block < len(blocks) and blocks[block].replaceable >= 0

    def _block(self, message: int, block: int) -> int:
        blocks = self._facts[message].blocks
        return blocks[block].tokens if block < len(blocks) else 0

    def _as_sent(self, projection: Projection, message: int) -> int:
        """A repaired message, block by block. Away from the cut and without updates it is the same everywhere."""
        usual = message != projection.resume and not any(
            (message, block) in projection.updates or (message, block) in projection.gone_blocks
            for block in range(len(self._facts[message].blocks))
        )
        if usual and message in self._repaired:
            return self._repaired[message]
        blocks = _sent(self._facts.timeline.blocks(projection, message))
        tokens = MESSAGE_TOKENS + sum(self._sent_block(message, block) for block in blocks)
        if usual:
            self._repaired[message] = tokens
        return tokens

    def _sent_block(self, message: int, block: SentBlock) -> int:
        if block.sent is None:
            return 0
        if block.change in {BlockChange.SAME, BlockChange.MOVED} and block.stored is not None:
            return self._block(message, block.stored.index)
        if block.change is BlockChange.REWRITTEN and block.stored is not None and block.update is not None:
            held = self._facts[message].blocks
            known = held[block.stored.index] if block.stored.index < len(held) else None
            if known is not None and known.replaceable >= 0:
                return known.tokens - known.replaceable + self._facts.text_tokens(block.update.text)
        return block_tokens(block.sent.raw)


def _text(update: Update | None) -> str | None:
    return None if update is None else update.text


def _sent(blocks: tuple[SentBlock, ...]) -> list[SentBlock]:
    return [block for block in blocks if block.sent is not None]


def _by_message(repairs: tuple[Repair, ...]) -> Mapping[int, list[Repair]]:
    found: dict[int, list[Repair]] = {}
    for repair in repairs:
        found.setdefault(repair.message, []).append(repair)
    return found


def _order(projection: Projection) -> Iterator[int | str]:
    """The messages as sent: stored numbers, and the texts of made-up ones."""
    pair, resume = min(projection.first_pair, projection.until), min(projection.resume, projection.until)
    made = list(projection.inserted)
    for number in chain(range(pair), projection.repeated, range(resume, projection.until)):
        while made and made[0].before <= number:
            yield made.pop(0).text
        if number not in projection.gone:
            yield number
    for row in made:
        yield row.text


def _marks(projection: Projection) -> dict[int, tuple[object, ...]]:
    """By message what makes it differ from the stored one; equal marks mean equal as sent."""
    texts: dict[int, dict[int, str | None]] = {}
    for (message, block), update in projection.updates.items():
        texts.setdefault(message, {})[block] = update.text
    for message, block in projection.gone_blocks:
        texts.setdefault(message, {})[block] = None
    found: dict[int, tuple[object, ...]] = {message: tuple(sorted(held.items())) for message, held in texts.items()}
    for message, repairs in _by_message(projection.repairs).items():
        found[message] = (*found.get(message, ()), *((repair.kind, repair.tool_ids) for repair in repairs))
    return found
