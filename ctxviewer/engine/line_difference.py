"""The difference of two texts by lines, in time that cannot blow up.

Common lines at both ends are set aside; between them, lines that occur once on both sides anchor the rest (patience
difference); only small gaps between anchors are compared line by line. Texts beyond a size are not aligned, and say so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

MOST_CHARACTERS = 1_000_000
"""Both texts together, without their common ends; beyond, the middle is one replacement."""
SMALL_GAP = 4_096
"""Product of line numbers up to which a gap is compared line by line."""
MOST_STEPS = 3_000_000
"""Lines looked at and cells filled in; when they are used up, what is left is one replacement each."""


class Side(StrEnum):
    """To which text a run of lines belongs."""

    BOTH = "both"
    OLD = "old"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Run:
    """Lines next to each other that belong to the same side; with their ends of line."""

    side: Side
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Runs in order. All but the NEW ones make the old text, all but the OLD ones the new text."""

    runs: tuple[Run, ...]
    aligned: bool
    """False when the texts were too large or too repetitive to be aligned in full."""


def line_difference(old: str, new: str) -> Difference:
    """The difference by lines. A line is told apart with its end of line."""
    if old == new:
        return Difference((Run(Side.BOTH, old),) if old else (), aligned=True)
    head = _common_head(old, new)
    tail = _common_tail(old, new, head)
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    runs = [(Side.BOTH, old[:head])]
    aligned = True
    if middle_old and middle_new and len(middle_old) + len(middle_new) <= MOST_CHARACTERS:
        aligner = _Aligner(_lines(middle_old), _lines(middle_new))
        runs += aligner.run()
        aligned = not aligner.gave_up
    else:
        aligned = not (middle_old and middle_new)
        runs += [(Side.OLD, middle_old), (Side.NEW, middle_new)]
    runs.append((Side.BOTH, old[len(old) - tail :]))
    return Difference(tuple(_joined(runs)), aligned)


def _common_head(old: str, new: str) -> int:
    """Length of the whole lines with which both texts begin."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        half = (low + high + 1) // 2
        if old[low:half] == new[low:half]:
            low = half
        else:
            high = half - 1
    return old.rfind("\n", 0, low) + 1


def _common_tail(old: str, new: str, head: int) -> int:
    """Length of the whole lines with which both texts end, behind their first `head` characters."""
    low, most = 0, min(len(old), len(new)) - head
    high = most
    while low < high:
        half = (low + high + 1) // 2
        if old[len(old) - half : len(old) - low] == new[len(new) - half : len(new) - low]:
            low = half
        else:
            high = half - 1
    if not low:
        return 0
    # The tail must begin where a line begins in both texts.
    start = len(old) - low
    if _begins_line(old, start, head) and _begins_line(new, len(new) - low, head):
        return low
    newline = old.find("\n", start)
    return 0 if newline < 0 else len(old) - newline - 1


def _begins_line(text: str, position: int, head: int) -> bool:
    return position == head or text[position - 1] == "\n"


def _lines(text: str) -> list[str]:
    """Lines with their ends; only a newline ends a line."""
    lines = text.split("\n")
    whole = [line + "\n" for line in lines[:-1]]
    return [*whole, lines[-1]] if lines[-1] else whole


class _Aligner:
    """Aligns two lists of lines with an explicit stack, so that no text is too deep, and with a budget of steps."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._old, self._new = old, new
        self._budget = MOST_STEPS
        self._done: list[tuple[Side, str]] = []

    @property
    def gave_up(self) -> bool:
        """True if some stretch was left as one replacement because the budget was used up."""
        return self._budget < 0

    def run(self) -> list[tuple[Side, str]]:
        """Runs of lines in order."""
        old, new = self._old, self._new
        work = [(0, len(old), 0, len(new))]
        while work:
            a, a_end, b, b_end = work.pop()
            start, stop = a, a_end
            while a < a_end and b < b_end and old[a] == new[b]:
                a, b = a + 1, b + 1
            self._add(Side.BOTH, old[start:a])
            while a < a_end and b < b_end and old[a_end - 1] == new[b_end - 1]:
                a_end, b_end = a_end - 1, b_end - 1
            if a_end < stop:
                work.append((a_end, stop, b_end, b_end + stop - a_end))
            work += reversed(self._align(a, a_end, b, b_end))
        return self._done

    def _align(self, a: int, a_end: int, b: int, b_end: int) -> list[tuple[int, int, int, int]]:
        """Write down a stretch that differs at both ends, or return the smaller stretches that it falls into."""
        old, new = self._old, self._new
        rows, columns = a_end - a, b_end - b
        small = rows * columns <= SMALL_GAP
        self._budget -= rows * columns if small else rows + columns
        if small and rows and columns and self._budget >= 0:
            for side, index in _common_lines(old[a:a_end], new[b:b_end]):
                self._add(side, (new[b + index],) if side is Side.NEW else (old[a + index],))
            return []
        anchors = [] if small or self._budget < 0 else _anchors(old, new, (a, a_end, b, b_end))
        if not anchors:
            self._add(Side.OLD, old[a:a_end])
            self._add(Side.NEW, new[b:b_end])
            return []
        gaps: list[tuple[int, int, int, int]] = []
        for next_a, next_b in (*anchors, (a_end, b_end)):
            gaps.append((a, next_a, b, next_b))
            a, b = next_a, next_b
        return gaps

    def _add(self, side: Side, lines: Sequence[str]) -> None:
        if lines:
            self._done.append((side, "".join(lines)))


def _common_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Side, int]]:
    """Every line with its side, by the longest common subsequence: a table of rows times columns."""
    rows, columns = len(old), len(new)
    longest = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        line, here, below = old[i], longest[i], longest[i + 1]
        for j in range(columns - 1, -1, -1):
            here[j] = below[j + 1] + 1 if line == new[j] else max(below[j], here[j + 1])
    i = j = 0
    while i < rows or j < columns:
        if i < rows and j < columns and old[i] == new[j]:
            yield Side.BOTH, i
            i, j = i + 1, j + 1
        elif j == columns or (i < rows and longest[i + 1][j] >= longest[i][j + 1]):
            yield Side.OLD, i
            i += 1
        else:
            yield Side.NEW, j
            j += 1


def _anchors(old: Sequence[str], new: Sequence[str], place: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    """Places of lines that occur once in both stretches, in the longest order common to both."""
    a, a_end, b, b_end = place
    in_old, in_new = _once(old, a, a_end), _once(new, b, b_end)
    pairs = [(index, in_new[line]) for line, index in in_old.items() if line in in_new]
    pairs.sort()
    return _longest_rise(pairs)


def _once(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    found: dict[str, int] = {}
    twice: set[str] = set()
    for index in range(start, end):
        if lines[index] in found:
            twice.add(lines[index])
        else:
            found[lines[index]] = index
    return {line: index for line, index in found.items() if line not in twice}


def _longest_rise(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest choice of pairs, ascending in both members; patience sorting."""
    tops: list[int] = []
    top_pairs: list[int] = []
    before: list[int] = []
    for number, (_, value) in enumerate(pairs):
        pile = bisect_left(tops, value)
        before.append(top_pairs[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(value)
            top_pairs.append(number)
        else:
            tops[pile], top_pairs[pile] = value, number
    chain: list[tuple[int, int]] = []
    number = top_pairs[-1] if top_pairs else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _joined(runs: Sequence[tuple[Side, str]]) -> Iterator[Run]:
    """Neighbours of one side as one run, empty ones dropped, in each change the old lines first."""
    old: list[str] = []
    new: list[str] = []
    both: list[str] = []
    for side, text in (*runs, (Side.BOTH, "\n")):
        if not text:
            continue
        if side is Side.BOTH:
            if old or new:
                if both:
                    yield Run(Side.BOTH, "".join(both))
                    both = []
                if old:
                    yield Run(Side.OLD, "".join(old))
                if new:
                    yield Run(Side.NEW, "".join(new))
                old, new = [], []
            both.append(text)
        else:
            (old if side is Side.OLD else new).append(text)
    if len(both) > 1:
        yield Run(Side.BOTH, "".join(both[:-1]))
