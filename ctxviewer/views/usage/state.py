"""What the graph shows, as one value that its parts share. No widgets."""

from __future__ import annotations

from dataclasses import dataclass, field

from ctxviewer.models.curves import Curve
from ctxviewer.models.marks import EMPTY_LANE, Lane
from ctxviewer.models.tracked import Strip
from ctxviewer.models.usage import EMPTY, Level, Stacks, WhatIf


@dataclass(slots=True)
class Picture:
    """Mutable, owned by the graph; parts read it when they paint."""

    stacks: Stacks = EMPTY
    levels: tuple[Level, ...] = ()
    window: float = 0
    """Tokens, 0 when it is not known."""
    events: Lane = EMPTY_LANE
    checkpoints: Lane = EMPTY_LANE
    selected: int | None = None
    """None = live."""
    what_if: WhatIf | None = None
    curves: tuple[Curve, ...] = ()
    """Replays, drawn over the bars."""
    strips: tuple[Strip, ...] = ()
    """Pinned facts, a lane each above the bars."""
    hovered: int | None = None
    top: float = 1.0
    """Tokens at the upper edge."""
    version: int = field(default=0)
    """Counts changes of what the bars, lines and marks show (not of selection, hover and what-if)."""

    @property
    def end(self) -> int:
        """How many places are taken: requests, and one for what a what-if would send next."""
        ahead = 0 if self.what_if is None else max(0, self.what_if.at + 1 - len(self.stacks))
        return len(self.stacks) + ahead
