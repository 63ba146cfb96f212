"""Errors a person can act on. Everything expected derives from CtxError; anything else is a bug."""

from __future__ import annotations


class CtxError(Exception):
    """A sentence for people, and a hint what to do. `place` names the file and the position in it, if known."""

    def __init__(self, sentence: str, *, hint: str = "", place: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint
        self.place = place


class BrokenInputError(CtxError):
    """Data of a task on which the reference's rules themselves fail (where the reference throws)."""


class UnreadableTaskError(CtxError):
    """A task that cannot be shown at all."""


class RefusedError(CtxError):
    """An action that is not carried out, with the reason. Nothing was written."""


class CancelledWorkError(CtxError):
    """Work that was asked to stop. Not a failure."""
