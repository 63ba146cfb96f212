"""Reads a bundled vocabulary and builds the tokenizer from it. Never touches the network or tiktoken's own cache.

tiktoken's own loader downloads the vocabulary when it is missing or differs; this one checks the digest of the bundled
file and refuses instead.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import importlib
import lzma
import tomllib
from dataclasses import dataclass
from typing import Protocol, cast

from ctxviewer import resources


class Encoding(Protocol):
    """The part of tiktoken's Encoding that is used here."""

    def encode_ordinary(self, text: str) -> list[int]:
        """Token ids of a text in which nothing is a special token."""
        ...


class VocabularyError(Exception):
    """A vocabulary that cannot be used; the text says why, in words for people."""


@dataclass(frozen=True, slots=True)
class EncodingFacts:
    """What `resources/tokens/encodings.toml` says about one encoding."""

    name: str
    file: str
    sha256: str
    """Of the unpacked rank file, hexadecimal."""
    ranks: int
    special: dict[str, int]
    pattern: str


def encoding_facts(name: str) -> EncodingFacts:
    """Facts of a bundled encoding. Raises VocabularyError for a name that is not bundled or a list that is lost."""
    try:
        table = tomllib.loads(resources.read_text("tokens", "encodings.toml"))
    except (OSError, ValueError) as err:
        raise VocabularyError(f"the list of bundled encodings cannot be read ({err})") from err
    entry = table.get(name)
    if entry is None:
        raise VocabularyError(f"no vocabulary named {name} is bundled")
    pattern = "|".join(entry["pattern"])
    return EncodingFacts(name, entry["file"], entry["sha256"], entry["ranks"], dict(entry["special"]), pattern)


def unpack(facts: EncodingFacts, packed: bytes) -> bytes:
    """The rank file. Raises VocabularyError if it is cut, not xz, or not the file that the digest names."""
    try:
        data = lzma.decompress(packed)
    except (lzma.LZMAError, EOFError) as err:
        raise VocabularyError(f"the bundled vocabulary {facts.file} cannot be unpacked ({err})") from err
    if hashlib.sha256(data).hexdigest() != facts.sha256:
        raise VocabularyError(f"the bundled vocabulary {facts.file} is not the file it should be (its digest differs)")
    return data


def parse_ranks(data: bytes) -> dict[bytes, int]:
    """Token bytes to rank, from lines of base64, a blank and a number. Raises VocabularyError on other lines."""
    ranks: dict[bytes, int] = {}
    for line in data.splitlines():
        token, _, rank = line.partition(b" ")
        try:
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except (binascii.Error, ValueError) as err:
            raise VocabularyError(f"a line of the vocabulary is no token and rank: {line[:40]!r}") from err
    return ranks


def load_encoding(name: str) -> Encoding:
    """The tokenizer of a bundled encoding; takes about 0.6 s. Raises VocabularyError with the reason."""
    facts = encoding_facts(name)
    try:
        packed = resources.read_bytes("tokens", facts.file)
    except OSError as err:
        raise VocabularyError(f"the bundled vocabulary {facts.file} cannot be read ({err})") from err
    ranks = parse_ranks(unpack(facts, packed))
    try:
        tiktoken = importlib.import_module("tiktoken")
    except ImportError as err:
        raise VocabularyError(f"the tiktoken package cannot be loaded ({err})") from err
    made = tiktoken.Encoding(
        f"ctxviewer_{name}",
        pat_str=facts.pattern,
        mergeable_ranks=ranks,
        special_tokens=facts.special,
    )
    ranks.clear()  # the tokenizer has its own copy and keeps this one for pickling only
    return cast("Encoding", made)
