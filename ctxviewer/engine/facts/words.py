"""Words in a history: which blocks carry them in which requests, and what a rewrite left of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from ctxviewer.domain.message import Block, parse_message
from ctxviewer.domain.projection import BlockChange, SentBlock
from ctxviewer.engine.block_texts import block_texts
from ctxviewer.engine.cline.tool_pairs import RESULT_MISSING
from ctxviewer.engine.facts.values import Carrier, Found, Part
from ctxviewer.engine.past import Past
from ctxviewer.engine.presence import Form, Presence
from ctxviewer.engine.search import Matcher, TextQuestion, matcher_of
from ctxviewer.engine.spans import Span, merged

EVERY: Final = 64
"""A check is made each time so many messages were looked at."""
LEAST_PART: Final = 8
"""Characters of the words that must be left for a partial hit."""
MOST_LINES: Final = 200
"""Lines of long words that are looked for one by one."""
AROUND: Final = 40
"""Characters of an excerpt on each side of a hit."""


def find_text(past: Past, question: TextQuestion, check: Callable[[], None]) -> Found:
    """Every block that carried the words. BadQuestionError as `matcher_of`."""
    matcher = matcher_of(question)
    presence = past.presence(check)
    messages = past.timeline.snapshot.messages
    rewritten = {update.message for update in past.timeline.updates if matcher.find(update.text)}
    made_up = matcher.find(RESULT_MISSING) is not None
    found = Found([], [], [])
    for number in range(len(messages)):
        if number % EVERY == 0:
            check()
        if matcher.may_hold(messages.raw(number)) or number in rewritten or (made_up and number > 0):
            _TextOf(presence, matcher, question, number).add_to(found)
    return found


class _TextOf:
    """The words in one message, in all its forms."""

    def __init__(self, presence: Presence, matcher: Matcher, question: TextQuestion, number: int) -> None:
        self._presence = presence
        self._matcher = matcher
        self._question = question
        self._message = parse_message(number, presence.timeline.snapshot.messages[number])
        self._known: dict[tuple[int, int], str | None] = {}

    def add_to(self, found: Found) -> None:
        """Add what carries the words, and what is left of them where a rewrite cut them."""
        message, forms = self._message, self._presence.forms(self._message.index)
        if len(forms) == 1 and self._presence.untouched(forms[0]):
            found.carriers.extend(self._as_stored(forms[0]))
            return
        carried: dict[tuple[int, int], tuple[Carrier, list[Span]]] = {}
        cut: dict[tuple[int, int], tuple[SentBlock, list[Span]]] = {}
        for form in forms:
            for block in as_sent(self._presence, form, message.blocks):
                if block.sent is None:
                    continue
                number = block.stored.index if block.stored is not None else None
                version = block.update.ordinal if block.update is not None else -1
                # Made-up blocks have no number; each is one of its own.
                key = (number, version) if number is not None else (-1, len(carried))
                hit = self._look(key, block.sent)
                if hit is not None:
                    carrier = Carrier(message.index, number, _how(message.role, block), (), hit)
                    carried.setdefault(key, (carrier, []))[1].extend(form.spans)
                elif block.change is BlockChange.REWRITTEN:
                    cut.setdefault(key, (block, []))[1].extend(form.spans)
        stored = [block for block in message.blocks if self._look((block.index, -1), block) is not None]
        for (at, _), (block, spans) in cut.items():
            if any(one.index == at for one in stored) or any(place == at for place, _ in carried):
                found.parts.extend(self._part(block, tuple(merged(spans))))
        for carrier, spans in carried.values():
            found.carriers.append(replace(carrier, spans=merged(spans)))
        sent = {at for at, _ in carried}
        if any(block.index not in sent for block in stored):
            found.never_sent.append(message.index)

    def _as_stored(self, form: Form) -> Iterator[Carrier]:
        """Carriers of a message that was only ever sent as it is stored: most are."""
        for block in self._message.blocks:
            hit = self._excerpt_in(block)
            if hit is not None:
                how = _how(self._message.role, SentBlock(BlockChange.SAME, block, block))
                yield Carrier(form.message, block.index, how, form.spans, hit)

    def _excerpt_in(self, block: Block) -> str | None:
        for text in block_texts(block):
            hit = self._matcher.find(text)
            if hit is not None:
                return _excerpt(text, *hit)
        return None

    def _look(self, key: tuple[int, int], block: Block) -> str | None:
        """The excerpt of a hit in a version of a block, by its number and the update's; looked at once."""
        if key in self._known:
            return self._known[key]
        found = self._excerpt_in(block)
        if key[0] >= 0:
            self._known[key] = found
        return found

    def _part(self, block: SentBlock, spans: tuple[Span, ...]) -> Iterator[Part]:
        if block.stored is None or block.sent is None:
            return
        words = self._question.text
        if self._question.regex:
            hit = self._matcher.find(block.stored.text)
            if hit is None:
                return
            words = block.stored.text[slice(*hit)]
        part = longest_part(words, block.sent.text, fold=self._question.ignore_case)
        if part:
            yield Part(self._message.index, block.stored.index, part, len(part) / len(words), spans)


def as_sent(presence: Presence, form: Form, stored: tuple[Block, ...]) -> tuple[SentBlock, ...]:
    """The blocks of a form; without work where they are the stored ones."""
    if presence.untouched(form):
        return tuple(SentBlock(BlockChange.SAME, block, block) for block in stored)
    return presence.blocks(form)


def _how(role: str, block: SentBlock) -> str:
    if block.label:
        return block.label
    shown = block.sent
    kind = "" if shown is None else {"tool_use": f"call of {shown.name}", "tool_result": "tool result"}.get(shown.kind)
    return kind or f"{role or 'unknown'} {shown.kind if shown is not None else ''}".strip()


def _excerpt(text: str, start: int, end: int) -> str:
    """The hit with some words around it, in one line."""
    end = min(end, start + 2 * AROUND)
    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    head = "…" if start > AROUND else ""
    tail = "…" if end + AROUND < len(text) else ""
    return f"{head}{' '.join((before + text[start:end] + after).split())}{tail}"


def longest_part(words: str, text: str, *, fold: bool = False) -> str:
    """The longest part of the words that a text still holds: their beginning, their end, or a whole line; '' if none.

    A part must have `LEAST_PART` characters and a quarter of the words. Time grows with the text, not with its square.
    """
    if fold:
        words, text = words.casefold(), text.casefold()
    sizes = range(1, len(words) + 1)
    head = words[: bisect_left(sizes, True, key=lambda size: words[:size] not in text)]
    tail_size = bisect_left(sizes, True, key=lambda size: words[-size:] not in text)
    tail = words[len(words) - tail_size :]
    lines = [line for line in words.split("\n")[:MOST_LINES] if line in text]
    part = max((head, tail, *lines), key=len)
    enough = len(part.strip()) >= LEAST_PART and 4 * len(part) >= len(words)
    return part if enough and len(part) < len(words) else ""
