"""Where the tokens of a request go: by category, by message, by tool, by file, and what is in it more than once.

Every number of a part is *estimated*. What the provider *reported* beyond them is the system prompt with the tools,
which no task stores. A `Scale` turns counted tokens into the provider's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol, TypeVar

from ctxviewer.domain.projection import BlockChange, Projection, SentBlock, Standing
from ctxviewer.domain.request import Request
from ctxviewer.engine.anatomy import Anatomy, BlockAnatomy, Piece
from ctxviewer.engine.contents import Category

K = TypeVar("K")

MADE_UP = "made-up results"


class BlockTokens(Protocol):
    """Counted tokens and pictures of one stored block, as some request sends it."""

    @property
    def tokens(self) -> int:
        """Tokens of its text."""

    @property
    def pictures(self) -> int:
        """Images and documents in it; they are in no count of tokens."""


class Counts(Protocol):
    """Counted tokens of a task's blocks (`tokens.TokenTable`)."""

    def blocks_as_sent(self, number: int, projection: Projection, /) -> Sequence[BlockTokens] | None:
        """By stored block, 0 where one is left out; None if the message is not counted yet."""

    def made_up(self, number: int, projection: Projection, /) -> int:
        """Tokens of the results that repairs add to a message."""

    def update(self, text: str, /) -> int | None:
        """Tokens of a replacement text, or of a made-up message; None if it is not counted yet."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What counted tokens are in those of the provider."""

    slope: float = 1.0
    """Tokens of the provider for one counted token of text."""
    per_picture: float = 0.0
    """Tokens of the provider for one image."""
    system: float | None = None
    """Tokens of the system prompt and the tools, None if it is not known."""
    sentence: str = "not calibrated"
    """Where the numbers come from."""


NO_SCALE = Scale()


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of one block as a request sends it."""

    category: Category
    group: str
    """Tool, path or kind inside the category; '' where there is only one."""
    message: int
    """Stored message; of a message that a strategy made up, the one before which it stands."""
    block: int
    """Stored block; -1 for what is made up."""
    tokens: int
    """Counted, not scaled."""
    pictures: int = 0
    path: str = ""
    """The file it is about, '' if none."""
    tool: str = ""
    """The tool whose call or result it is, '' if none."""
    digest: bytes = field(default=b"", repr=False)
    head: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Branch:
    """A sum over parts, and what it consists of."""

    name: str
    tokens: int
    pictures: int
    messages: tuple[int, ...]
    """Stored messages that it comes from, ascending."""
    category: Category | None = None
    """None where parts of several categories are summed."""
    children: tuple[Branch, ...] = ()
    """Largest first."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """The same content more than once in one request."""

    title: str
    """The path of a file, or how the text begins."""
    is_file: bool
    """True: copies of one file, which may differ; False: the same text, character by character."""
    places: tuple[tuple[int, int], ...]
    """(message, block) of every copy, oldest first; at least two."""
    tokens: int
    """Counted tokens of all copies."""
    spare: int
    """Counted tokens of all copies but the newest."""


@dataclass(frozen=True, slots=True)
class Composition:
    """What one request is made of."""

    request: int | None
    """None = the next request, or a plan."""
    parts: tuple[Part, ...]
    """In the order in which they are sent."""
    counted: int
    """Sum of the parts' tokens."""
    pictures: int
    unknown: tuple[int, ...]
    """Messages that are sent and not counted yet; they are in no sum."""
    reported: float | None
    """Input as the provider reported it (input, cache reads and cache writes), None if it did not."""
    scale: Scale
    categories: tuple[Branch, ...]
    """One for each category that is there, largest first, with its groups as children. System prompt and tools are not
    among them: `system`."""
    repeats: tuple[Repeat, ...]
    """Largest waste first. No block is in two of them."""

    @property
    def system(self) -> float | None:
        """Tokens of the system prompt and tools, in the provider's: reported minus counted, else what a fit says."""
        if self.reported is not None and not self.unknown:
            return max(0.0, self.reported - self.scaled(self.counted, self.pictures))
        return self.scale.system

    @property
    def system_sentence(self) -> str:
        """Where `system` comes from."""
        if self.reported is not None and not self.unknown:
            rest = self.reported - self.scaled(self.counted, self.pictures)
            return "reported minus counted" if rest >= 0 else "nothing is left: more was counted than reported"
        return "by the fit" if self.scale.system is not None else "not known: nothing was reported"

    @property
    def total(self) -> float:
        """All that is sent, in the provider's tokens as far as they are known."""
        return self.scaled(self.counted, self.pictures) + (self.system or 0)

    @property
    def spare(self) -> int:
        """Counted tokens of all copies but the newest ones."""
        return sum(repeat.spare for repeat in self.repeats)

    def scaled(self, tokens: float, pictures: float = 0) -> float:
        """Counted tokens and pictures in the provider's tokens."""
        return tokens * self.scale.slope + pictures * self.scale.per_picture

    def by_message(self) -> tuple[Branch, ...]:
        """One row a message, in the order in which they are sent; named by its number."""
        return tuple(_sum(str(number), parts) for number, parts in _grouped(self.parts, lambda part: part.message))

    def by_file(self) -> tuple[Branch, ...]:
        """One row a file, largest first, with everything that is about it: its content, calls, results, notices.

        Children are the categories.
        """
        return _ranked(
            _sum(path, parts, tuple(_by_category(parts)))
            for path, parts in _grouped((part for part in self.parts if part.path), lambda part: part.path)
        )

    def by_tool(self) -> tuple[Branch, ...]:
        """One row a tool, largest first, with its calls and results; children are the categories."""
        return _ranked(
            _sum(tool, parts, tuple(_by_category(parts)))
            for tool, parts in _grouped((part for part in self.parts if part.tool), lambda part: part.tool)
        )


def _never() -> None:
    return None


def compose(
    anatomy: Anatomy,
    projection: Projection,
    counts: Counts,
    *,
    scale: Scale = NO_SCALE,
    check: Callable[[], None] = _never,
) -> Composition:
    """What a projection sends. The parts' tokens add up to what `counts` says that it sends.

    Some ten milliseconds for thousands of messages. `check` is called now and then and may raise to cancel.
    """
    requests = anatomy.timeline.requests
    request = requests[projection.request] if projection.request is not None else None
    unknown: list[int] = []
    parts = tuple(_parts(anatomy, projection, counts, unknown, check))
    return Composition(
        projection.request,
        parts,
        sum(part.tokens for part in parts),
        sum(part.pictures for part in parts),
        tuple(unknown),
        reported_input(request) if request is not None else None,
        scale,
        _ranked(_by_category(parts)),
        _repeats(parts),
    )


def reported_input(request: Request) -> float | None:
    """What a request reported for what was sent: all counts but the output. None if it reported nothing, or zero."""
    usage = request.usage
    total = usage.tokens_in + usage.cache_reads + usage.cache_writes
    return total if request.usage_reported and total > 0 else None


def _order(projection: Projection) -> Iterator[int]:
    pair, resume = min(projection.first_pair, projection.until), min(projection.resume, projection.until)
    return chain(range(pair), projection.repeated, range(max(pair, resume), projection.until))


def _parts(
    anatomy: Anatomy, projection: Projection, counts: Counts, unknown: list[int], check: Callable[[], None]
) -> Iterator[Part]:
    touched = {place[0] for place in chain(projection.updates, projection.gone_blocks)}
    touched.update(repair.message for repair in projection.repairs)
    made = list(projection.inserted)
    for place, number in enumerate(_order(projection)):
        if place % 64 == 0:
            check()
        while made and made[0].before <= number:
            yield from _inserted(made.pop(0).text, number, counts)
        if projection.standing(number) is not Standing.SENT:
            continue
        tokens = counts.blocks_as_sent(number, projection) if number < len(anatomy) else None
        if tokens is None:
            unknown.append(number)
        elif number in touched:
            yield from _changed(anatomy, projection, counts, number, tokens)
        else:
            for block, (known, count) in enumerate(zip(anatomy.message(number), tokens, strict=True)):
                yield from _shared(number, block, known, count)
    for row in made:
        yield from _inserted(row.text, projection.until, counts)


def _inserted(text: str, number: int, counts: Counts) -> Iterator[Part]:
    yield Part(Category.NOTICES, "made-up message", number, -1, counts.update(text) or 0)


def _changed(
    anatomy: Anatomy, projection: Projection, counts: Counts, number: int, tokens: Sequence[BlockTokens]
) -> Iterator[Part]:
    """A message with updates, repairs or left out blocks."""
    blocks = anatomy.timeline.blocks(projection, number)
    sent = {block.stored.index: block for block in blocks if block.stored is not None and block.sent is not None}
    for place, (stored, count) in enumerate(zip(anatomy.message(number), tokens, strict=True)):
        if place in sent and (number, place) not in projection.gone_blocks:
            yield from _shared(number, place, _as_sent(anatomy, sent[place], number, place, stored), count)
    made_up = counts.made_up(number, projection)
    if made_up:
        yield Part(Category.NOTICES, MADE_UP, number, -1, made_up)


def _as_sent(anatomy: Anatomy, block: SentBlock, number: int, place: int, stored: BlockAnatomy) -> BlockAnatomy:
    if block.change is BlockChange.REWRITTEN and block.update is not None:
        return anatomy.updated(number, place, block.update)
    return stored


def _shared(number: int, block: int, known: BlockAnatomy, count: BlockTokens) -> Iterator[Part]:
    """The parts of one block: its tokens shared out by the characters of its pieces, so that they add up."""
    pieces = known.pieces
    pictures = count.pictures
    for piece, tokens in zip(pieces, _shares(count.tokens, pieces), strict=True):
        if tokens or pictures or piece.length:
            yield Part(
                piece.category,
                piece.group,
                number,
                block,
                tokens,
                pictures,
                piece.path,
                piece.tool,
                known.digest if len(pieces) == 1 else b"",
                known.head if len(pieces) == 1 else "",
            )
        pictures = 0


def _shares(tokens: int, pieces: tuple[Piece, ...]) -> Iterator[int]:
    """Whole numbers in proportion to the lengths; their sum is `tokens`."""
    length = sum(piece.length for piece in pieces)
    given = seen = 0
    for place, piece in enumerate(pieces):
        seen += piece.length
        upto = tokens if place == len(pieces) - 1 or not length else tokens * seen // length
        yield upto - given
        given = upto


def _grouped(parts: Iterable[Part], key: Callable[[Part], K]) -> Iterable[tuple[K, list[Part]]]:
    groups: dict[K, list[Part]] = {}
    for part in parts:
        groups.setdefault(key(part), []).append(part)
    return groups.items()


def _sum(
    name: str, parts: Sequence[Part], children: tuple[Branch, ...] = (), category: Category | None = None
) -> Branch:
    messages = tuple(sorted({part.message for part in parts}))
    tokens, pictures = sum(part.tokens for part in parts), sum(part.pictures for part in parts)
    return Branch(name, tokens, pictures, messages, category, children)


def _by_category(parts: Iterable[Part]) -> Iterator[Branch]:
    for category, held in _grouped(parts, lambda part: part.category):
        groups = list(_grouped(held, lambda part: part.group))
        named = groups if len(groups) > 1 or groups[0][0] else []
        children = _ranked(_sum(group, rows, category=category) for group, rows in named)
        yield _sum(str(category), held, children, category)


def _ranked(branches: Iterable[Branch]) -> tuple[Branch, ...]:
    return tuple(sorted(branches, key=lambda branch: (-branch.tokens, -branch.pictures, branch.name)))


def _repeats(parts: Sequence[Part]) -> tuple[Repeat, ...]:
    """Copies of files first; other texts only where they are no such copy."""
    files: list[Repeat] = []
    held: set[tuple[int, int]] = set()
    contents = (part for part in parts if part.category is Category.FILES and part.path)
    for path, copies in _grouped(contents, lambda part: part.path):
        if len(copies) > 1:
            files.append(_repeat(path, copies, is_file=True))
            held.update((part.message, part.block) for part in copies)
    others = (part for part in parts if part.digest and (part.message, part.block) not in held)
    texts = [
        _repeat(copies[0].head, copies, is_file=False)
        for _, copies in _grouped(others, lambda part: part.digest)
        if len(copies) > 1
    ]
    return tuple(sorted((*files, *texts), key=lambda repeat: (-repeat.spare, repeat.places)))


def _repeat(title: str, copies: list[Part], *, is_file: bool) -> Repeat:
    tokens = sum(part.tokens for part in copies)
    places = tuple((part.message, part.block) for part in copies)
    return Repeat(title, is_file, places, tokens, tokens - copies[-1].tokens)
