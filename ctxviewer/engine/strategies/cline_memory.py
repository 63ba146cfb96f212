"""Cline's deleted range and updates carried from request to request, at the price of what changed.

The rules themselves stay where they are (`engine.cline`). What is kept here are the results of passes that they make
over the whole history each time: where copies of files stand, how many characters and tokens are sent. Damaged
messages, and ranges that send the first pair twice, go the rules' own long way instead; both ways agree exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Protocol

from ctxviewer.domain.json import Messages
from ctxviewer.domain.log import Prefix
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.updates import Update
from ctxviewer.engine.cline.file_reads import EditType, FoundReads, ReadPlace, search_again
from ctxviewer.engine.cline.js import JsValue
from ctxviewer.engine.cline.notices import with_truncation_notice
from ctxviewer.engine.cline.optimize import Optimization, optimize_file_reads, optimize_found
from ctxviewer.engine.cline.prepare import Decision, decide
from ctxviewer.engine.cline.savings import Characters, count_messages
from ctxviewer.engine.cline.subagent import Compaction, compact
from ctxviewer.engine.cline.truncation import FIRST_DELETED, Keep, next_range, resume_index
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.cline.window import WindowInfo
from ctxviewer.engine.strategies.facts import FilesIn, MessageFacts

_NO_UPDATES = ContextHistory()


class KnownFacts(Protocol):
    """What a memory asks about messages: `Facts`, or facts of a conversation that differs from the stored one."""

    @property
    def messages(self) -> Messages:
        """All messages, at least as many as the memory was told of."""

    def read(self, until: int) -> None:
        """The messages before `until` will be asked for."""

    def __getitem__(self, number: int) -> MessageFacts: ...

    def files(self, number: int) -> FilesIn:
        """The files in one message."""

    def characters(self, number: int) -> int | None:
        """Characters of one message, None where it is damaged."""

    def tokens(self, first: int, end: int) -> int:
        """Tokens from `first` up to, not including, `end`, as stored."""

    def update_tokens(self, update: Update) -> int:
        """What an update adds to that."""


class ClineMemory:
    """The state of Cline's rules over a growing conversation. Nothing is sent away or written."""

    def __init__(self, facts: KnownFacts, *, searches_all: bool = False) -> None:
        """`searches_all`: file reads are looked for from message 2 on, whatever the range."""
        self._facts = facts
        self._searches_all = searches_all
        self.deleted: Range | None = None
        self.history = _NO_UPDATES
        self.until = 0
        """Messages 0 … until - 1 exist."""
        self._odd: list[int] = []
        """Damaged messages among those that are or were searched, ascending."""
        self._characters = 0
        """Of what is searched, with the newest update of each block; without damaged messages."""
        self._differences = 0
        """What the updates in force add to the tokens of what is sent."""
        self._copies = _Copies(facts)

    @classmethod
    def at(
        cls,
        facts: KnownFacts,
        deleted: Range | None,
        history: ContextHistory,
        until: int,
        *,
        searches_all: bool = False,
    ) -> ClineMemory:
        """The memory of a task that was managed before: its range, its updates, `until` messages."""
        memory = cls(facts, searches_all=searches_all)
        memory.deleted, memory.history = deleted, history
        memory.grow(until)
        return memory

    @property
    def messages(self) -> Messages:
        """The messages that exist."""
        messages = self._facts.messages
        return messages if len(messages) == self.until else Prefix(messages, self.until)

    @property
    def resume(self) -> int:
        """First message that is sent after the first pair."""
        return resume_index(self.deleted)

    @property
    def _start(self) -> int:
        """First message after the pair that is searched for file reads."""
        return FIRST_DELETED if self._searches_all else self.resume

    def grow(self, until: int) -> None:
        """More messages exist now."""
        self._facts.read(until)
        first, self.until = self.until, max(self.until, until)
        start, resume = self._start, self.resume
        pair = range(first, min(FIRST_DELETED, until))
        rest = range(max(first, FIRST_DELETED, min(start, resume)), until)
        for number in chain(pair, rest):
            if number >= start or number < FIRST_DELETED:
                if self._facts.characters(number) is None:
                    self._odd.append(number)
                else:
                    self._characters += self._counted(number, self.history)
            if number >= resume or number < FIRST_DELETED:
                self._differences += self._difference(number, self.history)

    @property
    def tokens(self) -> int:
        """Estimated tokens of what is sent: texts with their updates, without results that the cut orphans."""
        pair = min(FIRST_DELETED, self.until)
        start = min(max(self.resume, 0), self.until)
        texts = self._facts.tokens(0, pair) + self._facts.tokens(start, self.until)
        return max(0, texts + self._differences - orphans(self._facts, self.resume, self.until))

    def decide(self, window: WindowInfo, total: JsValue, timestamp: JsValue) -> Decision:
        """The full decision, taken over. Raises what the rule raises, and is then as before."""
        decision = decide(
            self.messages,
            window,
            self.deleted,
            self.history,
            total=total,
            timestamp=timestamp,
            optimize=lambda: self._optimization(timestamp),
        )
        changed = _replaced(decision.optimization)
        self._take(decision.range_after, decision.history_after, (1, *changed) if decision.notice_added else changed)
        return decision

    def optimize(self, timestamp: JsValue) -> Optimization:
        """The file-read optimisation alone, taken over. Raises what the rule raises, and is then as before."""
        result = self._optimization(timestamp)
        self._take(self.deleted, result.history, _replaced(result))
        return result

    def optimized(self, timestamp: JsValue) -> Optimization:
        """What `optimize` would make, not taken over."""
        return self._optimization(timestamp)

    def characters_with(self, deleted: Range | None, history: ContextHistory) -> int | None:
        """Characters of what is sent with a range that is not shorter and other updates; None where only the rule can
        tell."""
        resume = resume_index(deleted)
        if self._searches_all or resume < self.resume or self._needs_long_way():
            return None
        total = self._characters
        total -= sum(self._counted(number, self.history) for number in range(self.resume, min(resume, self.until)))
        for number in _changed(self.history, history):
            if number < self.until and (number < FIRST_DELETED or number >= resume):
                total += self._counted(number, history) - self._counted(number, self.history)
        return total

    def follow(self, deleted: Range | None, history: ContextHistory) -> None:
        """Go on from another range and other updates, whatever the rules say."""
        self._take(deleted, history)

    def truncate(self, keep: Keep, timestamp: JsValue) -> Range | None:
        """A cut with its notice, taken over; None when it would leave out nothing more."""
        fresh = next_range(self.messages, self.deleted, keep)
        if not self.resume <= fresh.end < self.until:
            return None
        self._take(fresh, with_truncation_notice(self.history, timestamp), (1,))
        return fresh

    def compact(self, timestamp: JsValue, view: Callable[[Optimization], Messages] | None = None) -> Compaction:
        """A subagent's compaction; its range and updates are taken over, the new conversation is not.

        `view` as the rule takes it. Raises what the rule raises, and is then as before.
        """
        compaction = compact(
            self.messages, self.deleted, self.history, timestamp, lambda: self._optimization(timestamp), view
        )
        self._take(compaction.deleted, compaction.history, _replaced(compaction.optimization))
        return compaction

    def rewrite(self, numbers: Iterable[int], write: Callable[[], None]) -> None:
        """`write` changes what these messages hold, facts included; they are counted before and after it."""
        places = [number for number in numbers if number < FIRST_DELETED or number >= self._start]
        whole = [number for number in places if self._facts.characters(number) is not None]
        self._characters -= sum(self._counted(number, self.history) for number in whole)
        self._copies.forget(places)
        write()
        whole = [number for number in places if self._facts.characters(number) is not None]
        self._characters += sum(self._counted(number, self.history) for number in whole)
        damaged = set(self._odd).difference(places)
        self._odd = sorted(damaged.union(number for number in places if self._facts.characters(number) is None))

    def _optimization(self, timestamp: JsValue) -> Optimization:
        if self._needs_long_way():
            deleted = None if self._searches_all else self.deleted
            return optimize_file_reads(self.messages, deleted, self.history, timestamp)
        found = self._copies.doubled(self._start, self.until, self.history)
        return optimize_found(found, self.messages, self.history, timestamp, self._count)

    def _needs_long_way(self) -> bool:
        if self._start < FIRST_DELETED or self.until < FIRST_DELETED:
            return True
        return any(number < FIRST_DELETED or number >= self._start for number in self._odd)

    def _count(self, after: ContextHistory, changed: AbstractSet[int]) -> Characters:
        """`count_characters` with new updates on `changed`, from the sum that is known."""
        numbers = sorted(changed)
        known = sum(self._counted(number, self.history) for number in numbers)
        counted = count_messages(self.messages, numbers, after, changed)
        total = counted.total if isinstance(counted.total, int) else 0  # whole, since no message here is damaged
        return Characters(self._characters - known + total, counted.saved, counted.blocks)

    def _counted(self, number: int, history: ContextHistory) -> int:
        """Characters of one message with the newest updates."""
        if history.entry(number) is None:
            return self._facts.characters(number) or 0
        total = count_messages(self.messages, (number,), history).total
        return total if isinstance(total, int) else 0

    def _difference(self, number: int, history: ContextHistory) -> int:
        if history.entry(number) is None:
            return 0
        newest = {update.block: update for update in history.updates_of(number)}
        return sum(self._facts.update_tokens(update) for update in newest.values())

    def _take(self, deleted: Range | None, history: ContextHistory, changed: Sequence[int] | None = None) -> None:
        """Go over to another range and other updates; only what differs is counted anew.

        `changed`: messages whose updates may differ, where that is known.
        """
        if history is not self.history:
            before, self.history = self.history, history
            if changed is None:
                changed = _changed(before, history)
            self._recount(changed, before)
            self._copies.forget(changed)
        if deleted != self.deleted:
            old_start, old, self.deleted = self._start, self.resume, deleted
            for number in range(max(old, FIRST_DELETED), min(self.resume, self.until)):
                self._differences -= self._difference(number, history)
            for number in range(max(old_start, FIRST_DELETED), min(self._start, self.until)):
                if self._facts.characters(number) is not None:
                    self._characters -= self._counted(number, history)
            if self.resume < old:
                self._start_again()

    def _recount(self, changed: Iterable[int], before: ContextHistory) -> None:
        for number in changed:
            if number >= self.until:
                continue
            whole = self._facts.characters(number) is not None
            if whole and (number < FIRST_DELETED or number >= self._start):
                self._characters += self._counted(number, self.history) - self._counted(number, before)
            if number < FIRST_DELETED or number >= self.resume:
                self._differences += self._difference(number, self.history) - self._difference(number, before)

    def _start_again(self) -> None:
        """Count everything: the range has shrunk."""
        pair = range(min(FIRST_DELETED, self.until))
        sent = range(max(FIRST_DELETED, self.resume), self.until)
        searched = (*pair, *range(max(FIRST_DELETED, self._start), self.until))
        self._differences = sum(self._difference(number, self.history) for number in (*pair, *sent))
        self._odd = [number for number in searched if self._facts.characters(number) is None]
        damaged = set(self._odd)
        self._characters = sum(self._counted(number, self.history) for number in searched if number not in damaged)
        self._copies = _Copies(self._facts)


def orphans(facts: KnownFacts, resume: int, until: int) -> int:
    """Tokens of the tool results in the first message after a cut: they are not sent."""
    if not FIRST_DELETED < resume < until or facts[resume].role != "user":
        return 0
    return sum(block.tokens for block in facts[resume].blocks if block.kind == "tool_result")


def _replaced(optimization: Optimization | None) -> Sequence[int]:
    """Messages that an optimisation put updates on."""
    return () if optimization is None else tuple(dict.fromkeys(read.message for read in optimization.replaced))


def _changed(before: ContextHistory, after: ContextHistory) -> list[int]:
    """Messages whose entries differ."""
    known, now = before.entries, after.entries
    fresh = [key for key, entry in now.items() if isinstance(key, int) and known.get(key) is not entry]
    return [*fresh, *(key for key in known if isinstance(key, int) and key not in now)]


class _Copies:
    """Where the files stand that may be replaced: as `find_reads` finds them, but each message is searched once."""

    def __init__(self, facts: KnownFacts) -> None:
        self._facts = facts
        self._by_path: dict[str, list[ReadPlace]] = {}
        """By message, ascending; those before the cut are dropped when the path is looked at."""
        self._twice: set[str] = set()
        """Paths that may have several places."""
        self._scanned = FIRST_DELETED
        self._again: dict[int, set[str]] = {}
        """Messages that have changed since they were searched, with the files that stood in them."""

    def forget(self, messages: Iterable[int]) -> None:
        """These messages hold new updates, or are about to be rewritten: they are searched again when it matters."""
        for number in messages:
            if FIRST_DELETED <= number < self._scanned:
                self._again.setdefault(number, set()).update(place.path for place in self._facts.files(number).places)

    def doubled(self, start: int, until: int, history: ContextHistory) -> FoundReads:
        """The files with several places from message `start` on, in the order of `find_reads`, and what is mentioned
        in their messages."""
        self._search_again(history)
        for number in range(max(self._scanned, start), until):
            if history.entry(number) is None:
                self._add(self._facts.files(number).places)
            else:
                self._add_again(number, history)
        self._scanned = max(self._scanned, until)
        several: list[tuple[int, int, str]] = []
        for path in self._twice:
            places = self._by_path[path] = [place for place in self._by_path.get(path, ()) if place.message >= start]
            if len(places) > 1:
                several.append((places[0].message, self._rank(places[0]), path))
        self._twice = {path for _, _, path in several}
        found = FoundReads({path: self._by_path[path] for _, _, path in sorted(several)})
        for places in found.by_path.values():
            for place in places:
                if place.kind is EditType.MENTION:
                    found.mentioned[place.message] = list(self._facts.files(place.message).mentioned)
        return found

    def _rank(self, place: ReadPlace) -> int:
        """Where in its message a file is first seen."""
        mentioned = self._facts.files(place.message).mentioned
        return mentioned.index(place.path) if place.path in mentioned else 0

    def _add(self, places: Iterable[ReadPlace]) -> None:
        for place in places:
            known = self._by_path.setdefault(place.path, [])
            known.append(place)
            if len(known) > 1:
                self._twice.add(place.path)

    def _search_again(self, history: ContextHistory) -> None:
        for message in sorted(self._again):
            for path in self._again[message]:
                self._by_path[path] = [place for place in self._by_path.get(path, ()) if place.message != message]
            self._add_again(message, history)
        self._again.clear()

    def _add_again(self, message: int, history: ContextHistory) -> None:
        found = FoundReads()
        search_again(found, message, self._facts.messages, history)
        for path, places in found.by_path.items():
            self._add(places)
            self._by_path[path].sort(key=_number)


def _number(place: ReadPlace) -> int:
    return place.message
