"""The changes of a fact's strip: what carried it, and the event behind each change."""

from __future__ import annotations

from collections.abc import Iterator

from ctxviewer.domain.projection import BlockChange
from ctxviewer.engine.events import Event
from ctxviewer.engine.facts.values import Carrier, Fact, Found, Part, Question, Turn, TurnKind
from ctxviewer.engine.movements import when
from ctxviewer.engine.past import Past
from ctxviewer.engine.presence import Presence
from ctxviewer.engine.spans import Span, covers, merged, minus
from ctxviewer.engine.words import plural


def answer(past: Past, question: Question, title: str, found: Found) -> Fact:
    """The answer that what was found amounts to."""
    presence = past.presence()
    spans = merged(span for carrier in found.carriers for span in carrier.spans)
    partly = minus((span for part in found.parts for span in part.spans), spans)
    turns = tuple(_Turns(past, presence, found, spans, partly).all())
    return Fact(
        question,
        title,
        presence.now,
        spans,
        partly,
        tuple(found.carriers),
        tuple(found.parts),
        turns,
        tuple(found.never_sent),
    )


class _Turns:
    """The changes of a strip, each with what carried the fact and why it changed."""

    def __init__(
        self, past: Past, presence: Presence, found: Found, spans: tuple[Span, ...], partly: tuple[Span, ...]
    ) -> None:
        self._presence = presence
        self._movements = past.movements()
        self._spans, self._partly = spans, partly
        self._starts: dict[int, list[Carrier | Part]] = {}
        self._ends: dict[int, list[Carrier | Part]] = {}
        ones: tuple[Carrier | Part, ...] = (*found.parts, *found.carriers)
        for one in ones:
            for first, last in one.spans:
                self._starts.setdefault(first, []).append(one)
                self._ends.setdefault(last, []).append(one)

    def all(self) -> Iterator[Turn]:
        """Every turn, in order."""
        edges = {at for first, last in (*self._spans, *self._partly) for at in (first, last + 1)}
        seen = False
        before = 0
        for column in sorted(edges):
            if column > self._presence.now:
                break
            after = 2 if covers(self._spans, column) else int(covers(self._partly, column))
            if after > before:
                yield self._gained(column, TurnKind.RETURNED if seen else TurnKind.CAME, whole=after > 1)
            elif after < before:
                yield self._lost(column, TurnKind.CUT if after else TurnKind.LEFT)
            seen = seen or after > 1
            before = after

    def _gained(self, column: int, kind: TurnKind, *, whole: bool) -> Turn:
        wanted = Carrier if whole else Part
        ones = [one for one in self._starts.get(column, ()) if isinstance(one, wanted)]
        one = max(ones, key=lambda one: one.message)
        event: Event | None = None
        where = _place_words(one)
        if column and self._presence.is_sent(one.message, column - 1):
            move = self._block_move(one, column)
            event, reason = move
        else:
            moved = self._movements.message_came(one.message, column)
            event, reason = moved.event, moved.sentence
        amount = "" if whole else "a part of it "
        verb = "came back" if kind is TurnKind.RETURNED else "first sent"
        sentence = f"{amount}{verb} {when(self._request(column))} through {where}: {reason}"
        return Turn(kind, self._request(column), one.message, one.block, event, _capital(sentence))

    def _lost(self, column: int, kind: TurnKind) -> Turn:
        ones = self._ends.get(column - 1, [])
        one = max(ones, key=lambda one: (isinstance(one, Carrier), one.message))
        if not self._presence.is_sent(one.message, column):
            moved = self._movements.message_left(one.message, column)
            event, reason = moved.event, moved.sentence
        else:
            event, reason = self._block_move(one, column)
        others = len({other.message for other in ones}) - 1
        more = f" (and {plural(others, 'more message')})" if others else ""
        verb = "only a part is left" if kind is TurnKind.CUT else "no longer sent"
        return Turn(
            kind,
            self._request(column),
            one.message,
            one.block,
            event,
            _capital(f"{verb} {when(self._request(column))}: {reason}{more}"),
        )

    def _block_move(self, one: Carrier | Part, column: int) -> tuple[Event | None, str]:
        form = self._presence.form_at(one.message, column)
        if form is None:
            return None, f"message {one.message} changed"
        blocks = self._presence.blocks(form)
        block = one.block
        if block is None:
            changed = [b for b in blocks if b.stored is not None and b.change is not BlockChange.SAME]
            block = next((b.stored.index for b in changed if b.stored is not None), 0)
        moved = self._movements.block_changed(form, block, blocks, column)
        return moved.event, moved.sentence

    def _request(self, column: int) -> int | None:
        return column if column < self._presence.now else None


def _place_words(one: Carrier | Part) -> str:
    block = "" if one.block is None else f", block {one.block}"
    how = f" ({one.how})" if isinstance(one, Carrier) and one.how else ""
    return f"message {one.message}{block}{how}"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
