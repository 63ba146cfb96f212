"""Finding words or a pattern in one text. Positions are those of the raw text, lone surrogates included.

Patterns are PCRE through QRegularExpression, because its matching has a limit: a pattern that would take for ever gives
up instead. They see a text in stretches of whole lines of about 32,000 characters.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QRegularExpression

from ctxviewer.domain.errors import CtxError
from ctxviewer.models.visible import REPLACEMENT

STRETCH = 32_768
MATCH_LIMIT = 1_000_000
"""Steps of one search of PCRE; about 10 ms."""

Span = tuple[int, int]
"""Start and end of a hit, end exclusive."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for."""

    text: str
    case_sensitive: bool = False
    regex: bool = False


class BadPatternError(CtxError):
    """A pattern that cannot be understood."""


class Matcher(Protocol):
    """Finds hits that do not overlap, from the beginning of a text."""

    gave_up: int
    """How many stretches of text were too costly for the pattern so far."""

    def counts(self, text: str) -> Iterator[int]:
        """Numbers of hits in stretches of the text, one after the other; one may stop in between."""
        ...

    def first(self, text: str, start: int) -> Span | None:
        """The first hit that starts at or behind `start`."""
        ...

    def last(self, text: str, end: int) -> Span | None:
        """The last hit that starts before `end`."""
        ...

    def spans(self, text: str, low: int, high: int) -> Iterator[Span]:
        """All hits that touch the characters from `low` to `high`."""
        ...


def make_matcher(query: Query) -> Matcher:
    """The matcher for a query with text. Raises BadPatternError."""
    return PatternMatcher(query) if query.regex else WordMatcher(query)


class WordMatcher:
    """Finds words as they are, with or without regard to case."""

    gave_up = 0

    def __init__(self, query: Query) -> None:
        self._needle = query.text
        self._exact = query.case_sensitive
        self._folded = query.text.lower() if query.text.isascii() else None
        self._pattern = re.compile(re.escape(query.text), re.IGNORECASE)
        self._last: tuple[str, str] = ("", "")
        """The newest text, and the same without case: the next question is mostly about it again."""

    def _plain(self, text: str) -> tuple[str, str] | None:
        """Text and needle for a search by `find`, None where only the pattern knows about case."""
        if self._exact:
            return text, self._needle
        if self._folded is None or not text.isascii():
            return None
        if self._last[0] is not text:
            self._last = (text, text.lower())
        return self._last[1], self._folded

    def counts(self, text: str) -> Iterator[int]:
        """One number for the whole text."""
        plain = self._plain(text)
        yield plain[0].count(plain[1]) if plain is not None else sum(1 for _ in self._pattern.finditer(text))

    def first(self, text: str, start: int) -> Span | None:
        """The first hit that starts at or behind `start`."""
        plain = self._plain(text)
        if plain is not None:
            found = plain[0].find(plain[1], start)
            return (found, found + len(plain[1])) if found >= 0 else None
        match = self._pattern.search(text, start)
        return match.span() if match else None

    def last(self, text: str, end: int) -> Span | None:
        """The last hit that starts before `end`."""
        plain = self._plain(text)
        if plain is not None:
            found = plain[0].rfind(plain[1], 0, end + len(plain[1]) - 1)
            return (found, found + len(plain[1])) if found >= 0 else None
        last: Span | None = None
        for match in self._pattern.finditer(text):
            if match.start() >= end:
                break
            last = match.span()
        return last

    def spans(self, text: str, low: int, high: int) -> Iterator[Span]:
        """All hits that touch the characters from `low` to `high`."""
        size = len(self._needle)
        part = text[max(0, low - size + 1) : high + size - 1]
        offset = max(0, low - size + 1)
        start = 0
        while (hit := self.first(part, start)) is not None:
            yield hit[0] + offset, hit[1] + offset
            start = hit[1]


class PatternMatcher:
    """Finds a regular expression of PCRE; `^` and `$` are ends of lines, empty hits do not count."""

    def __init__(self, query: Query) -> None:
        options = QRegularExpression.PatternOption
        wanted = options.MultilineOption | options.UseUnicodePropertiesOption
        if not query.case_sensitive:
            wanted |= options.CaseInsensitiveOption
        prefix = f"(*LIMIT_MATCH={MATCH_LIMIT})"
        self.gave_up = 0
        self._pattern = QRegularExpression(prefix + query.text, wanted)
        if not self._pattern.isValid():
            place = max(0, self._pattern.patternErrorOffset() - len(prefix))
            raise BadPatternError(
                f"The pattern is not complete: {self._pattern.errorString()}, at character {place}.",
                hint="Correct it, or look for the words as they are.",
            )
        self._pattern.optimize()

    def _hits(self, text: str, start: int, end: int) -> Iterator[Span]:
        """Hits within one stretch."""
        part = text[start:end]
        subject = _SURROGATE.sub(REPLACEMENT, part)
        wide = [match.start() + number + 1 for number, match in enumerate(_ASTRAL.finditer(part))]
        found = self._pattern.globalMatch(subject)
        if not found.isValid():
            self.gave_up += 1
            return
        while found.hasNext():
            match = found.next()
            if not match.isValid():
                self.gave_up += 1
                return
            low, high = match.capturedStart(), match.capturedEnd()
            if low < high:
                low, high = low - bisect_left(wide, low), high - bisect_left(wide, high)
                yield start + low, start + high

    def counts(self, text: str) -> Iterator[int]:
        """A number for each stretch."""
        for start, end in stretches(text):
            yield sum(1 for _ in self._hits(text, start, end))

    def first(self, text: str, start: int) -> Span | None:
        """The first hit that starts at or behind `start`."""
        for low, high in stretches(text):
            if high > start:
                for hit in self._hits(text, low, high):
                    if hit[0] >= start:
                        return hit
        return None

    def last(self, text: str, end: int) -> Span | None:
        """The last hit that starts before `end`."""
        for low, high in reversed([s for s in stretches(text) if s[0] < end]):
            last: Span | None = None
            for hit in self._hits(text, low, high):
                if hit[0] >= end:
                    break
                last = hit
            if last is not None:
                return last
        return None

    def spans(self, text: str, low: int, high: int) -> Iterator[Span]:
        """All hits that touch the characters from `low` to `high`."""
        for start, end in stretches(text):
            if start < high and end > low:
                yield from (hit for hit in self._hits(text, start, end) if hit[0] < high and hit[1] > low)


def stretches(text: str) -> Iterator[Span]:
    """The text in stretches of whole lines; a longer line is cut."""
    start, size = 0, len(text)
    while start < size:
        end = min(start + STRETCH, size)
        if end < size:
            newline = text.rfind("\n", start, end)
            end = newline + 1 if newline >= 0 else end
        yield start, end
        start = end
