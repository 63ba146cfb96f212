"""What is worked out once about a task's past, and shared by all questions: when, what, why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.projection import Projection, Standing
from ctxviewer.engine.anatomy import Anatomy, ReadBlocks
from ctxviewer.engine.contents import Contents, FilePlace, holds
from ctxviewer.engine.movements import Movements
from ctxviewer.engine.presence import Presence
from ctxviewer.engine.timeline import Timeline


def _never() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Known:
    """What was read of a task's messages, all of which are the first ones of a later reading. Holds no timeline."""

    contents: Contents | None = None
    blocks: ReadBlocks | None = None


class Past:
    """Keep one a timeline. Parts are made when they are first asked for, and then kept; any thread may ask."""

    def __init__(self, timeline: Timeline, known: Known = Known()) -> None:
        """`known`: of an earlier reading of the same task, which has only grown since."""
        self.timeline = timeline
        self._presence: Presence | None = None
        self._contents: Contents | None = None
        self._movements: Movements | None = None
        self._anatomy: Anatomy | None = None
        self._known = known

    def presence(self, check: Callable[[], None] = _never) -> Presence:
        """When every message was sent: milliseconds. `check` may raise to cancel; then nothing is kept."""
        if self._presence is None:
            self._presence = Presence(self.timeline, check)
        return self._presence

    def contents(self, check: Callable[[], None] = _never) -> Contents:
        """What the messages hold: a second for 100 MB. `check` is called every 64 messages and may raise."""
        if self._contents is None:
            known = self._known.contents
            kept = len(known) if known is not None else 0
            self._contents = Contents(self.timeline.snapshot.messages, check, known=known, kept=kept)
        return self._contents

    def anatomy(self, check: Callable[[], None] = _never) -> Anatomy:
        """What each block is for, by which tokens are shared out: a second for 20 MB. `check` as for `contents`."""
        if self._anatomy is None:
            self._anatomy = Anatomy(self.timeline, check, known=self._known.blocks)
        return self._anatomy

    @property
    def known(self) -> Known:
        """What a later reading can take over: what has been read already, here or before."""
        contents, anatomy = self._contents, self._anatomy
        return Known(
            contents if contents is not None else self._known.contents,
            anatomy.read if anatomy is not None else self._known.blocks,
        )

    def movements(self) -> Movements:
        """Why something left or came back."""
        if self._movements is None:
            self._movements = Movements(self.presence())
        return self._movements

    def holds(self, projection: Projection, place: FilePlace) -> bool:
        """Whether a projection sends the content of a place."""
        if projection.standing(place.message) is not Standing.SENT:
            return False
        touched = (
            place.message == projection.resume
            or bool(projection.gone_blocks)
            or any((place.message, block) in projection.updates for block in (place.block, place.block - 1))
            or any(repair.message == place.message for repair in projection.repairs)
        )
        return not touched or holds(place, self.timeline.blocks(projection, place.message))

    def number_of(self, request: int) -> int:
        """The number from 0 of a request that a person counts from 1. CtxError where there is none."""
        count = len(self.timeline.requests)
        if not 1 <= request <= count:
            raise CtxError(f"There is no request {request}; the task has {count}, counted from 1.")
        return request - 1
