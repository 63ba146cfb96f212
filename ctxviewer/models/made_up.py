"""Messages that rules make up (summaries, boundaries), and where among the stored ones they are shown. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxviewer.domain.projection import Inserted, Projection
from ctxviewer.models.segments import Section, Style
from ctxviewer.models.stretches import Stretch, StretchKind
from ctxviewer.models.visible import one_line


@dataclass(frozen=True, slots=True)
class MadeUp:
    """One message that is sent although nothing of it is stored."""

    title: str
    """'Boundary with a summary'."""
    role: str
    """As sent, made visible."""
    section: Section
    """Its text."""
    below: bool = False
    """True when it stands below the line of the stretch that its row begins, because nothing follows it."""

    @property
    def sentence(self) -> str:
        """For a screen reader: 'made up: Summary, sent as system'."""
        return f"made up: {self.title}, sent as {self.role or 'no role'}"


NOTHING_MADE_UP: Mapping[int, tuple[MadeUp, ...]] = {}


def made_up_rows(projection: Projection, stored: int, stretches: Sequence[Stretch]) -> Mapping[int, tuple[MadeUp, ...]]:
    """By stored message the messages that are shown above it, in order.

    What is sent behind all stored messages is shown below the line of the last stretch that is not sent, whose place it
    takes; without one, above the last message. Without stored messages nothing is shown.
    """
    if not projection.inserted or not stored:
        return NOTHING_MADE_UP
    found: dict[int, list[MadeUp]] = {}
    for item in projection.inserted:
        row, below = _place(item, stored, stretches)
        section = Section(item.text, Style.MADE_UP)
        found.setdefault(row, []).append(MadeUp(one_line(item.title, 80), one_line(item.role, 40), section, below))
    return {row: tuple(items) for row, items in found.items()}


def _place(item: Inserted, stored: int, stretches: Sequence[Stretch]) -> tuple[int, bool]:
    row = max(0, item.before)
    if row < stored:
        inside = next((s for s in stretches if s.first < row <= s.last and s.kind is StretchKind.NOT_SENT), None)
        return (row, False) if inside is None else (inside.first, True)
    last = stretches[-1] if stretches else None
    if last is not None and last.last == stored - 1 and last.kind is StretchKind.NOT_SENT:
        return last.first, True
    return stored - 1, False
