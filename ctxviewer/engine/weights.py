"""What a difference weighs: tokens of its rows and by category, and the files whose content it takes or brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ctxviewer.domain.projection import Projection
from ctxviewer.engine.composition import Counts, compose
from ctxviewer.engine.contents import Category
from ctxviewer.engine.difference import QUIET, RequestDifference, Row, RowKind, sent_spans
from ctxviewer.engine.past import Past
from ctxviewer.engine.spans import clipped, covers


class RowCounts(Protocol):
    """Estimated tokens of a task's messages (`tokens.TokenTable` is one); None for what is not counted yet."""

    def message(self, number: int, /) -> int | None:
        """Of a message as stored."""
        ...

    def stretch(self, first: int, last: int, /) -> int | None:
        """Of messages `first` to `last`, both inclusive, as stored."""
        ...

    def message_as_sent(self, number: int, projection: Projection, /) -> int | None:
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


def row_tokens(found: RequestDifference, row: Row, counts: RowCounts) -> tuple[int, int] | None:
    """Tokens of a row in the first and in the second request; None where something is not counted yet.

    Rows that neither sends count as stored.
    """
    if row.kind is RowKind.NEITHER:
        stored = counts.stretch(row.first, row.last)
        return None if stored is None else (stored, stored)
    after = _stretch(found.after, row, counts)
    before = after if row.kind is RowKind.SAME else _stretch(found.before, row, counts)
    return None if before is None or after is None else (before, after)


def _stretch(projection: Projection, row: Row, counts: RowCounts) -> int | None:
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


def difference_tokens(
    past: Past, found: RequestDifference, counts: Counts, check: Callable[[], None] = _never
) -> tuple[CategoryTokens, ...]:
    """Tokens by category in both requests, as `composition` counts them; those that neither sends are left out."""
    anatomy = past.anatomy(check)
    before, after = (
        {branch.category: branch.tokens for branch in compose(anatomy, one, counts, check=check).categories}
        for one in (found.before, found.after)
    )
    return tuple(
        CategoryTokens(category, before.get(category, 0), after.get(category, 0))
        for category in Category
        if before.get(category) or after.get(category)
    )


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
