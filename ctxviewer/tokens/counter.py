"""Counts tokens of a text: exactly for an encoding, or by characters when that is not possible.

Every number made here is *estimated*: even an exact count is that of one encoding, and providers count in their own
way. Counters are safe to use from several threads.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Protocol

from ctxviewer.tokens.chunks import pieces
from ctxviewer.tokens.vocabulary import Encoding, VocabularyError, load_encoding

_log = logging.getLogger(__name__)

DEFAULT_ENCODING = "o200k_base"
BYTES_A_TOKEN = 4
"""UTF-8 bytes of a token on average, over English, code and CJK text alike."""


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """The encoding, or what is counted instead."""
        ...

    @property
    def exact(self) -> bool:
        """True if `count` is the tokenizer's own number for the encoding `name`."""
        ...

    @property
    def reason(self) -> str:
        """Why the counts are not exact; '' when they are."""
        ...

    def count(self, text: str) -> int:
        """Tokens of the text, 0 for the empty one. Never raises for any string."""
        ...


@dataclass(frozen=True, slots=True)
class CharacterEstimator:
    """A quarter of the UTF-8 length, rounded up. Within about a fifth of the truth on ordinary text."""

    reason: str
    name: str = "a quarter of the bytes"
    exact: bool = False

    def count(self, text: str) -> int:
        """Estimated tokens; 0 only for the empty text."""
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        return -(-size // BYTES_A_TOKEN)


@dataclass(frozen=True, slots=True)
class EncodingCounter:
    """Counts with a tokenizer. Text that looks like a special token is counted as the text it is."""

    name: str
    encoding: Encoding = field(repr=False)
    exact: bool = True
    reason: str = ""

    def count(self, text: str) -> int:
        """Tokens of the text; see `chunks` for the one place where a count can be off by one."""
        return sum(self._count_piece(piece) for piece in pieces(text))

    def _count_piece(self, piece: str) -> int:
        try:
            return len(self.encoding.encode_ordinary(piece))
        except BaseException as err:
            # A panic of the Rust core derives from BaseException and ends the thread; its class has no public name.
            if type(err).__name__ != "PanicException":
                raise
            _log.warning("the tokenizer panicked on a piece of %d characters; estimated instead", len(piece))
            return CharacterEstimator("the tokenizer failed").count(piece)


def load_counter(encoding: str = DEFAULT_ENCODING) -> TokenCounter:
    """A counter for a bundled encoding; loading takes about 0.6 s. Falls back to an estimator that says why."""
    try:
        return EncodingCounter(encoding, load_encoding(encoding))
    except VocabularyError as err:
        _log.warning("exact counts unavailable: %s", err)
        return CharacterEstimator(f"Exact counts unavailable: {err}.")
