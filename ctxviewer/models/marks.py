"""Marks above the usage graph: events and checkpoints at their requests, and how they share the pixels. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import cache
from operator import is_
from typing import Final

import numpy as np

from ctxviewer.domain.request import Checkpoint, CheckpointKind
from ctxviewer.engine.events import Event, EventKind
from ctxviewer.models.usage import Floats, Ints


class Mark(IntFlag):
    """Kinds of marks. The larger one is shown where two do not fit."""

    CHECKPOINT = 1
    OPTIMIZE = 2
    ROLLBACK = 4
    CONDENSE = 8
    TRUNCATE = 16

    @property
    def word(self) -> str:
        """What the legend calls it."""
        return WORDS[self]


WORDS: Final = {
    Mark.TRUNCATE: "truncated",
    Mark.CONDENSE: "condensed",
    Mark.OPTIMIZE: "optimised",
    Mark.ROLLBACK: "rolled back",
    Mark.CHECKPOINT: "checkpoint",
}
_OF_EVENT: Final = {
    EventKind.OPTIMIZE: Mark.OPTIMIZE,
    EventKind.TRUNCATE: Mark.TRUNCATE,
    EventKind.FORCED_TRUNCATE: Mark.TRUNCATE,
    EventKind.CONDENSE: Mark.CONDENSE,
    EventKind.SUMMARIZE: Mark.CONDENSE,
    EventKind.ROLLBACK: Mark.ROLLBACK,
}


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """Marks of one lane, by position."""

    at: Floats
    """Positions in requests, ascending."""
    kinds: Ints
    """Values of `Mark`, one each."""
    sentences: tuple[str, ...]
    source: tuple[Checkpoint, ...] = ()
    """All checkpoints that a checkpoint lane was made from."""

    def __len__(self) -> int:
        return len(self.sentences)


EMPTY_LANE: Final = Lane(np.zeros(0), np.zeros(0, dtype=np.int64), ())


def event_lane(events: Sequence[Event], count: int) -> Lane:
    """Events above the middle of the request they first held for; those of no request yet, behind the last."""
    return _lane(
        [
            ((count if event.request is None else event.request) + 0.5, _OF_EVENT[event.kind], event.sentence)
            for event in events
        ]
    )


def checkpoint_lane(checkpoints: tuple[Checkpoint, ...], previous: Lane = EMPTY_LANE) -> Lane:
    """Checkpoints between the request they follow and the next one; other entries of the timeline are not drawn.

    If `previous` was made from the same objects and fewer, only the new ones are looked at.
    """
    known = len(previous.source)
    if known > len(checkpoints) or not all(map(is_, previous.source, checkpoints)):
        previous, known = EMPTY_LANE, 0
    fresh = _lane(
        [
            (0.0 if point.request is None else point.request + 1.0, Mark.CHECKPOINT, point.title or "checkpoint")
            for point in checkpoints[known:]
            if point.kind is not CheckpointKind.MESSAGE
        ]
    )
    if len(fresh) and len(previous) and fresh.at[0] < previous.at[-1]:
        return checkpoint_lane(checkpoints)
    return Lane(
        np.concatenate([previous.at, fresh.at]),
        np.concatenate([previous.kinds, fresh.kinds]),
        previous.sentences + fresh.sentences,
        checkpoints,
    )


def _lane(marks: list[tuple[float, Mark, str]]) -> Lane:
    if not marks:
        return EMPTY_LANE
    at = np.fromiter((mark[0] for mark in marks), dtype=np.float64, count=len(marks))
    kinds = np.fromiter((mark[1] for mark in marks), dtype=np.int64, count=len(marks))
    order = np.argsort(at, kind="stable")
    return Lane(at[order], kinds[order], tuple(marks[place][2] for place in order))


@dataclass(frozen=True, slots=True)
class Group:
    """Marks that are drawn together."""

    x: float
    """Middle in pixels."""
    shown: tuple[Mark, ...]
    """Kinds to draw side by side, from left to right; never empty."""
    first: int
    end: int
    """The marks of the lane it stands for, `end` exclusive."""
    left: float
    """Where its first glyph begins, in pixels; glyphs follow each other at the glyph width."""
    reach: tuple[float, float]
    """Pixels of its first and last mark; the same for a single one."""


def groups(lane: Lane, origin: float, scale: float, width: float, glyph: float) -> tuple[Group, ...]:
    """Marks placed on `width` pixels where x = (position - origin) * scale, with glyphs `glyph` pixels wide.

    Glyphs of different groups never overlap. Work grows with the pixels, not with the marks.
    """
    if not len(lane) or scale <= 0 or glyph <= 0:
        return ()
    low = int(np.searchsorted(lane.at, origin - glyph / scale, side="left"))
    high = int(np.searchsorted(lane.at, origin + (width + glyph) / scale, side="right"))
    if low == high:
        return ()
    x = (lane.at[low:high] - origin) * scale
    starts = np.flatnonzero(np.diff(np.floor(x / glyph), prepend=-np.inf))
    kinds = np.bitwise_or.reduceat(lane.kinds[low:high], starts)
    ends = np.append(starts[1:], high - low)
    merged: list[tuple[int, int, int]] = []
    for start, end, bits in zip(starts.tolist(), ends.tolist(), kinds.tolist(), strict=True):
        if merged and x[start] - _middle(x, merged[-1][0], merged[-1][1]) < glyph:
            merged[-1] = (merged[-1][0], end, merged[-1][2] | bits)
        else:
            merged.append((start, end, bits))
    reaches = [(float(x[start]), float(x[end - 1])) for start, end, _ in merged]
    return tuple(_spread(merged, reaches, low, glyph))


def _middle(x: Floats, start: int, end: int) -> float:
    return float(x[start] + x[end - 1]) / 2


@cache
def _kinds(bits: int) -> tuple[Mark, ...]:
    return tuple(kind for kind in sorted(Mark, reverse=True) if bits & kind)


def _spread(
    merged: list[tuple[int, int, int]], reaches: list[tuple[float, float]], low: int, glyph: float
) -> list[Group]:
    """Give each group as many glyphs as its kinds need and its neighbours leave room for."""
    middles = [(first + last) / 2 for first, last in reaches]
    result: list[Group] = []
    free = -np.inf
    for place, (start, end, bits) in enumerate(merged):
        middle = middles[place]
        until = middles[place + 1] - glyph / 2 if place + 1 < len(middles) else np.inf
        kinds = _kinds(bits)
        room = int((until - max(free, middle - len(kinds) * glyph / 2)) / glyph) if np.isfinite(until) else len(kinds)
        kinds = kinds[: max(1, min(room, len(kinds)))]
        left = max(free, min(middle - len(kinds) * glyph / 2, until - len(kinds) * glyph))
        free = left + len(kinds) * glyph
        result.append(Group(middle, kinds, low + start, low + end, left, reaches[place]))
    return result


def group_sentence(lane: Lane, group: Group, most: int = 6) -> str:
    """What a group stands for, a line each, at most `most` of them."""
    sentences = lane.sentences[group.first : group.end]
    if len(sentences) <= most:
        return "\n".join(sentences)
    kinds = lane.kinds[group.first : group.end]
    counts = [f"{int((kinds == mark).sum()):,} {mark.word}" for mark in sorted(Mark, reverse=True) if mark in kinds]
    return "\n".join([", ".join(counts) + ":", *sentences[:most], "…"])
