"""Tokens of what requests send: by category, and of the rows of a difference. Counts come from a counter outside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from ctxviewer.domain.projection import BlockChange, Projection, SentBlock
from ctxviewer.engine.cline.tool_pairs import RESULT_MISSING
from ctxviewer.engine.contents import READ_REPLACED, Category, Contents, Use
from ctxviewer.engine.difference import QUIET, RequestDifference, Row, RowKind, sent_spans
from ctxviewer.engine.past import Past
from ctxviewer.engine.spans import Span, clipped, covers

EVERY = 64
"""A check is made each time so many messages were looked at."""


class Counts(Protocol):
    """Estimated tokens of a task's texts (`tokens.TokenTable` is one); None for what is not counted yet."""

    def message(self, number: int) -> int | None:
        """Of a message as stored."""
        ...

    def block(self, number: int, block: int) -> int | None:
        """Of a block as stored."""
        ...

    def update(self, text: str) -> int | None:
        """Of a replacement text."""
        ...

    def stretch(self, first: int, last: int) -> int | None:
        """Of messages `first` to `last`, both inclusive, as stored."""
        ...

    def message_as_sent(self, number: int, projection: Projection) -> int | None:
        """Of a message as a projection sends it, 0 if it does not."""
        ...


@dataclass(frozen=True, slots=True)
class CategoryTokens:
    """Estimated tokens of one category in both requests of a difference."""

    category: Category
    before: int
    after: int

    @property
    def change(self) -> int:
        """What the second one sends more; below 0 if less."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Files whose content only one of the two requests sends, in order of first sight."""

    left: tuple[str, ...]
    entered: tuple[str, ...]


def _never() -> None:
    return None


def row_tokens(found: RequestDifference, row: Row, counts: Counts) -> tuple[int, int] | None:
    """Tokens of a row in the first and in the second request; None where something is not counted yet.

    Rows that neither sends count as stored.
    """
    if row.kind is RowKind.NEITHER:
        stored = counts.stretch(row.first, row.last)
        return None if stored is None else (stored, stored)
    after = _stretch(found.after, row, counts)
    before = after if row.kind is RowKind.SAME else _stretch(found.before, row, counts)
    return None if before is None or after is None else (before, after)


def _stretch(projection: Projection, row: Row, counts: Counts) -> int | None:
    """Tokens of the row's messages that a projection sends."""
    total = 0
    touched = sorted(
        {message for message, _ in projection.updates if row.first <= message <= row.last}
        | {repair.message for repair in projection.repairs if row.first <= repair.message <= row.last}
    )
    for first, last in clipped(sent_spans(projection), row.first, row.last):
        stored = counts.stretch(first, last)
        if stored is None:
            return None
        total += stored
        for message in touched:
            if first <= message <= last:
                plain, sent = counts.message(message), counts.message_as_sent(message, projection)
                if plain is None or sent is None:
                    return None
                total += sent - plain
    return total


def category_tokens(
    past: Past, projection: Projection, counts: Counts, check: Callable[[], None] = _never
) -> dict[Category, int]:
    """Estimated tokens of all that a projection sends, by category. What is not counted yet adds nothing."""
    contents = past.contents(check)
    total = dict.fromkeys(Category, 0)
    _add(past, contents, projection, counts, sent_spans(projection), total, check)
    return total


def difference_tokens(
    past: Past, found: RequestDifference, counts: Counts, check: Callable[[], None] = _never
) -> tuple[CategoryTokens, ...]:
    """Tokens by category in both requests; categories that neither sends are left out."""
    contents = past.contents(check)
    before, after = (dict.fromkeys(Category, 0) for _ in range(2))
    same = [(row.first, row.last) for row in found.rows if row.kind is RowKind.SAME]
    changed = [(row.first, row.last) for row in found.rows if row.kind not in QUIET]
    _add(past, contents, found.after, counts, same, after, check)
    before.update(after)
    for projection, total in ((found.before, before), (found.after, after)):
        sent = sent_spans(projection)
        spans = [part for first, last in changed for part in clipped(sent, first, last)]
        _add(past, contents, projection, counts, spans, total, check)
    return tuple(
        CategoryTokens(category, before[category], after[category])
        for category in Category
        if before[category] or after[category]
    )


def _add(
    past: Past,
    contents: Contents,
    projection: Projection,
    counts: Counts,
    spans: Iterable[Span],
    total: dict[Category, int],
    check: Callable[[], None],
) -> None:
    touched = {message for message, _ in (*projection.updates, *projection.gone_blocks)}
    touched.update(repair.message for repair in projection.repairs)
    touched.add(projection.resume)
    for first, last in spans:
        for message in range(first, last + 1):
            if message % EVERY == 0:
                check()
            uses = contents.messages[message].uses
            if message in touched:
                blocks = past.timeline.blocks(projection, message)
                for category, tokens in _sent_weights(message, uses, blocks, counts):
                    total[category] += tokens
                continue
            if not uses:
                total[Category.OTHER] += counts.message(message) or 0
            for block, use in enumerate(uses):
                total[use.category] += counts.block(message, block) or 0


def _sent_weights(
    message: int, uses: tuple[Use, ...], blocks: tuple[SentBlock, ...], counts: Counts
) -> Iterator[tuple[Category, int]]:
    for block in blocks:
        if block.sent is None:
            continue
        if block.stored is None:
            yield Category.RESULTS, counts.update(RESULT_MISSING) or 0
            continue
        index = block.stored.index
        category = uses[index].category if index < len(uses) else Category.OTHER
        if block.change is BlockChange.REWRITTEN and block.update is not None:
            notice = block.update.edit_type in {0, READ_REPLACED}
            yield Category.NOTICES if notice else category, counts.update(block.update.text) or 0
        else:
            yield category, counts.block(message, index) or 0


def file_changes(past: Past, found: RequestDifference, check: Callable[[], None] = _never) -> FileChanges:
    """Files whose content left, and files whose content entered, between the two requests."""
    contents = past.contents(check)
    changed = [(row.first, row.last) for row in found.rows if row.kind not in QUIET]
    left: list[str] = []
    entered: list[str] = []
    for path, places in contents.files.items():
        if not any(covers(changed, place.message) for place in places):
            continue
        before = any(past.holds(found.before, place) for place in places)
        after = any(past.holds(found.after, place) for place in places)
        if before and not after:
            left.append(path)
        elif after and not before:
            entered.append(path)
    return FileChanges(tuple(left), tuple(entered))
