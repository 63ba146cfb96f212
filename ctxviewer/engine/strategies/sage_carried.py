"""Sage's list carried from request to request, and which stored messages are sent no more because of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxviewer.domain.projection import Inserted
from ctxviewer.engine.sage.auto_compact import Compacted
from ctxviewer.engine.sage.convert import Converter
from ctxviewer.engine.sage.estimator import TokenEstimator
from ctxviewer.engine.sage.manager import Prepared
from ctxviewer.engine.sage.session import SageSession
from ctxviewer.engine.strategies.base import Job
from ctxviewer.engine.strategies.carried import Action, ActionKind, Sending, Turn, runs
from ctxviewer.engine.strategies.facts import MESSAGE_TOKENS
from ctxviewer.engine.strategies.sage_rules import inserted_row
from ctxviewer.engine.words import grouped


@dataclass(frozen=True, slots=True)
class Managed:
    """What Sage's rules did before one request. Without a result the list stays as it is."""

    compared: int
    threshold: int
    result: Prepared | Compacted | None = None
    """Made from the session's list; not adopted yet."""
    removed: Sequence[int] = ()
    """Numbers in the session's list of the messages that leave it."""
    kind: ActionKind = ActionKind.NOTHING
    sentence: str = ""
    stuck: bool = False
    """The threshold was reached, and nothing can be removed."""


Manage = Callable[["SageCarried", Turn], Managed]


class SageCarried:
    """Sage's rules with a memory. The list starts as the task's stored messages; Cline's own cuts play no part."""

    def __init__(self, job: Job, estimator: TokenEstimator, manage: Manage) -> None:
        self.session = SageSession(estimator)
        self._facts = job.facts
        self._manage = manage
        self._converter = Converter()
        self._until = 0
        self._owner: list[int] = []
        """By Sage number the stored message it comes from."""
        self._left: list[int] = []
        """By stored message how many of its Sage messages are still in the list."""
        self._lost: dict[int, int] = {}
        """By stored message that is sent in part the tokens of the blocks that are not."""
        self._tokens = 0
        """Of the stored messages and blocks that are sent."""
        self._made = 0
        """Tokens of the messages that Sage made."""
        self._stuck = False

    def send(self, turn: Turn) -> Sending:
        """See `Carried.send`."""
        self._grow(turn.until)
        managed = self._manage(self, turn)
        if managed.result is not None:
            actions: tuple[Action, ...] = (self._adopt(managed, managed.result),)
            self._stuck = False
        elif managed.stuck and not self._stuck:
            self._stuck = True
            words = (
                f"{grouped(managed.compared)} estimated tokens reach the threshold of {grouped(managed.threshold)}, "
                "but nothing can be removed."
            )
            actions = (Action(ActionKind.NOTHING, words, inserted=self._inserted()),)
        else:
            actions = ()
        return Sending(self._tokens + self._made, managed.compared, managed.threshold, actions)

    def _grow(self, until: int) -> None:
        self._facts.read(until)
        for number in range(self._until, until):
            made = self._converter.add(self._facts.messages[number], number)
            self.session.extend(made)
            self._owner.extend([number] * len(made))
            self._left.append(len(made))
        self._tokens += self._facts.tokens(self._until, until)
        self._until = max(self._until, until)

    def _adopt(self, managed: Managed, result: Prepared | Compacted) -> Action:
        removed = [number for place in managed.removed if (number := self.session.numbers[place]) is not None]
        self.session.adopt(result)
        parts: dict[int, list[int]] = {}
        for number in removed:
            parts.setdefault(self._owner[number], []).append(number)
        whole: list[int] = []
        blocks: list[tuple[int, int]] = []
        for message, numbers in sorted(parts.items()):
            self._left[message] -= len(numbers)
            if not self._left[message]:
                whole.append(message)
                self._tokens -= self._facts[message].tokens - self._lost.pop(message, 0)
            else:
                blocks.extend((message, block) for block in self._lose(message, numbers))
        inserted = self._inserted()
        self._made = sum(MESSAGE_TOKENS + self._facts.text_tokens(row.text) for row in inserted)
        return Action(managed.kind, managed.sentence, runs(whole), tuple(blocks), inserted=inserted)

    def _lose(self, message: int, numbers: Sequence[int]) -> list[int]:
        """The stored blocks that go with these Sage messages, while others of the same stored message stay."""
        origins = [origin for number in numbers if (origin := self._converter.origin(number)) is not None]
        places = [block for origin in origins for block in origin.blocks]
        held = self._facts[message].blocks
        spent = sum(held[block].tokens for block in places)
        self._tokens -= spent
        self._lost[message] = self._lost.get(message, 0) + spent
        return places

    def _inserted(self) -> tuple[Inserted, ...]:
        found: list[Inserted] = []
        before = self._until
        for place in range(len(self.session.numbers) - 1, -1, -1):
            number = self.session.numbers[place]
            if number is None:
                found.append(inserted_row(self.session.messages[place], before))
            else:
                before = self._owner[number]
        return tuple(reversed(found))
