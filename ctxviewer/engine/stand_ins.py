"""Facts of a history that is not, or no longer, stored to its end: stand-ins take the place of what is missing.

Cline's histories alternate, so a stand-in is the user's at even numbers and the assistant's at odd ones. It holds
nothing: ranges can be worked out from how many messages there were, file reads and savings cannot.
"""

from __future__ import annotations

from typing import Final

from ctxviewer.domain.json import Json, Messages
from ctxviewer.domain.log import DerivedMessages
from ctxviewer.domain.updates import Update
from ctxviewer.engine.strategies.facts import Facts, FilesIn, MessageFacts, facts_of, files_in

_PAIR: Final[tuple[Json, Json]] = ({"role": "user", "content": []}, {"role": "assistant", "content": []})


class _Lengthened(DerivedMessages):
    """A history with stand-ins behind its end."""

    def __init__(self, stored: Messages, length: int) -> None:
        super().__init__(max(length, len(stored)))
        self._stored = stored

    def _at(self, number: int) -> Json:
        return self._stored[number] if number < len(self._stored) else _PAIR[number % 2]


class StandIns:
    """Facts of `length` messages, or of all that are stored if these are more. What is stored is the task's."""

    def __init__(self, facts: Facts, length: int) -> None:
        self._facts, self._stored = facts, len(facts.messages)
        self._messages = _Lengthened(facts.messages, length)

    @property
    def messages(self) -> Messages:
        """All messages, with the stand-ins."""
        return self._messages

    def read(self, until: int) -> None:
        """Read the stored ones before `until`."""
        self._facts.read(until)

    def __getitem__(self, number: int) -> MessageFacts:
        return self._facts[number] if number < self._stored else facts_of(number, _PAIR[number % 2])

    def files(self, number: int) -> FilesIn:
        """The files in one message; none in a stand-in."""
        return self._facts.files(number) if number < self._stored else files_in(number, _PAIR[number % 2])

    def characters(self, number: int) -> int | None:
        """Characters of one message, 0 of a stand-in; None where it is damaged."""
        return self._facts.characters(number) if number < self._stored else 0

    def tokens(self, first: int, end: int) -> int:
        """Tokens of the stored messages from `first` up to, not including, `end`."""
        return self._facts.tokens(first, end)

    def update_tokens(self, update: Update) -> int:
        """What an update adds to that; 0 on a stand-in."""
        return self._facts.update_tokens(update)
