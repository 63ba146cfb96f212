"""Where the words of pinned facts stand in a text that is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from PySide6.QtGui import QTextCharFormat

from ctxviewer.engine.search import Matcher
from ctxviewer.models.tracked import Mark
from ctxviewer.views import theme
from ctxviewer.views.fact_look import fact_color

MARGIN: Final = 400
"""Characters looked at on either side of a piece: longer words than this are not seen across its edges."""
TINT: Final = 48
"""Of 255: how much of the fact's colour lies behind its words."""


class PinnedSpan(NamedTuple):
    """Words of one fact in a text: start, and end exclusive."""

    mark: Mark
    low: int
    high: int


class PinnedWords:
    """The facts that are words, by place. Only messages that are marked with a fact are looked through for it."""

    def __init__(self, matchers: Mapping[int, Matcher] | None = None) -> None:
        self._matchers = dict(matchers or {})

    def spans(self, marks: tuple[Mark, ...], text: str, low: int, high: int) -> Iterator[PinnedSpan]:
        """Words that touch the characters from `low` to `high`."""
        for mark in marks:
            matcher = self._matchers.get(mark.place)
            if matcher is None:
                continue
            start = max(0, low - MARGIN)
            for first, end in matcher.hits(text[start : high + MARGIN]):
                if start + first < high and start + end > low:
                    yield PinnedSpan(mark, start + first, start + end)


def pinned_format(mark: Mark) -> QTextCharFormat:
    """A line below in the colour of the fact, dashed where it stands but is not sent; the letter is in the header."""
    color = fact_color(mark.place)
    made = QTextCharFormat()
    lines = QTextCharFormat.UnderlineStyle
    made.setUnderlineStyle(lines.SingleUnderline if mark.carried else lines.DashUnderline)
    made.setUnderlineColor(color)
    if not theme.current().doubles_patterns:  # high contrast keeps its grounds
        ground = color.toRgb()
        ground.setAlpha(TINT if mark.carried else TINT // 2)
        made.setBackground(ground)
    return made
