"""Cuts a text into pieces that the tokenizer can take without a panic and without long stalls.

tiktoken's Rust core panics on about a million blanks in a row, and builds one list for the whole text while other
threads wait. Pieces of about 32,000 characters avoid both. A cut after a line end that is followed by a letter or a
digit is where the split patterns of both encodings end a piece anyway, so the count stays exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SOFT = 32_768
"""Characters after which a cut is looked for."""
HARD = 131_072
"""A piece never gets longer: without a safe place the cut is made here, at the price of about one token."""

_SAFE = re.compile(r"\n(?=[^\W_])")


def pieces(text: str) -> Iterator[str]:
    """The text in order, in pieces of at most `HARD` characters; joined they are the text."""
    start, length = 0, len(text)
    while length - start > SOFT:
        found = _SAFE.search(text, start + SOFT - 1, min(length, start + HARD + 1))
        end = found.end() if found is not None and found.end() - start <= HARD else min(length, start + HARD)
        yield text[start:end]
        start = end
    if start < length or not text:
        yield text[start:] if start else text
