"""Why a message or a block is no longer sent from some request on, or is sent again: the event, and a sentence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ctxviewer.domain.projection import BlockChange, RepairKind, SentBlock
from ctxviewer.domain.updates import Update
from ctxviewer.engine.events import RANGE_KINDS, Event, EventKind
from ctxviewer.engine.presence import Form, Presence
from ctxviewer.engine.words import request_name


@dataclass(frozen=True, slots=True)
class Move:
    """What happened to one message or block at one request."""

    request: int | None
    """The first request for which it holds; None = from now on, no request has been made since."""
    message: int
    block: int | None
    """None = the whole message."""
    event: Event | None
    """What caused it; None where nothing is recorded, and for messages that are simply new."""
    sentence: str


class Movements:
    """Answers for one task. Columns are those of its Presence."""

    def __init__(self, presence: Presence) -> None:
        self._presence = presence
        self._by_column: dict[int, list[Event]] = {}
        self._by_update: dict[int, Event] = {}
        for event in presence.timeline.events:
            column = presence.now if event.request is None else event.request
            self._by_column.setdefault(column, []).append(event)
            for update in event.updates:
                self._by_update.setdefault(id(update), event)
        self._range_columns = sorted(column for column in self._by_column if self._ranges(column))

    def events_at(self, column: int) -> Sequence[Event]:
        """Events that are first in force in a column."""
        return self._by_column.get(column, ())

    def event_of(self, update: Update) -> Event | None:
        """The event that made an update of this timeline."""
        return self._by_update.get(id(update))

    def message_left(self, message: int, column: int) -> Move:
        """Why `column` does not send a message that the column before sent."""
        bounds = self._presence.bounds[column]
        if message >= bounds.until:
            event = self._rollback(column)
            words = "was taken back by a rollback" if event else "does not exist for this request"
            return self._move(message, None, column, event, f"message {message} {words}")
        event = self._cut(message, column)
        reason = event.sentence if event else "it is in the deleted range; what put it there is not recorded"
        return self._move(message, None, column, event, f"message {message} is no longer sent: {reason}")

    def message_came(self, message: int, column: int) -> Move:
        """Why `column` sends a message that the column before did not send."""
        before = self._presence.bounds[column - 1] if column else None
        if before is None or message >= before.until:
            sentence = f"message {message} is new"
            return self._move(message, None, column, None, sentence)
        event = self._rollback(column) or next(iter(self._ranges(column)), None)
        reason = f": {event.sentence}" if event else "; the deleted range became shorter"
        return self._move(message, None, column, event, f"message {message} is sent again{reason}")

    def block_changed(self, form: Form, block: int, blocks: Sequence[SentBlock], column: int) -> Move:
        """Why stored block `block` of a message looks different in `column`, which sends `form` with these blocks."""
        where = f"block {block} of message {form.message}"
        here = next((one for one in blocks if one.stored is not None and one.stored.index == block), None)
        if here is None or here.change is BlockChange.REMOVED:
            label = here.label if here is not None and here.label else "it is left out"
            event = self._cut_before(column) if label == RepairKind.STRIPPED else None
            return self._move(form.message, block, column, event, f"{where} is not sent: {label}")
        if here.change is BlockChange.REWRITTEN and here.update is not None:
            event = self.event_of(here.update)
            return self._move(form.message, block, column, event, f"{where} was rewritten: {here.label}")
        event = self._rollback(column)
        reason = f": {event.sentence}" if event else ""
        return self._move(form.message, block, column, event, f"{where} is sent as stored again{reason}")

    def _move(self, message: int, block: int | None, column: int, event: Event | None, sentence: str) -> Move:
        request = column if column < self._presence.now else None
        return Move(request, message, block, event, sentence)

    def _ranges(self, column: int) -> list[Event]:
        return [event for event in self.events_at(column) if event.kind in RANGE_KINDS]

    def _rollback(self, column: int) -> Event | None:
        return next((event for event in self.events_at(column) if event.kind is EventKind.ROLLBACK), None)

    def _cut(self, message: int, column: int) -> Event | None:
        """The event that let the deleted range reach a message: in this column, else the newest one before."""
        for at in self._range_columns[: bisect_right(self._range_columns, column)][::-1]:
            for event in self._ranges(at):
                if event.range_after is not None and event.range_after.end >= message:
                    return event
        return None

    def _cut_before(self, column: int) -> Event | None:
        """The newest change of the range up to a column."""
        place = bisect_right(self._range_columns, column)
        return self._ranges(self._range_columns[place - 1])[-1] if place else None


def when(request: int | None) -> str:
    """'with request 31', 'now' for None."""
    return "now" if request is None else f"with {request_name(request)}"
