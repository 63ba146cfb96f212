"""Decisions that the assistant stated: a heuristic over English sentences, and always shown as one.

Looked at is the assistant's text outside of fenced code, calls written as tags, and its thinking. A sentence counts as
*settled* where it names a choice ("decided", "instead of", "let's use", "from now on" …) and as *announced* where it
only says what will be done ("I will", "I'll", "we are going to" …). Sentences of other languages are not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

LONGEST: Final = 400
"""Characters of a sentence; longer ones are cut, they are lists or tables."""

_SETTLED: Final = re.compile(
    r"\b(?:decided|decision|chose|chosen|settled on|agreed|instead of|rather than|from now on|going forward|"
    r"in favou?r of|stays? as (?:it is|they are)|(?:do|will) not (?:touch|change)|"
    r"let(?:'|\u2019)s (?:use|keep|go with|stick|stay|switch|make|leave|avoid|skip|drop)|"
    r"(?:will|must|should) (?:never|always|not)|won(?:'|\u2019)t|the (?:plan|approach) is|"
    r"will (?:use|keep|stay|stick|leave|avoid)|I(?:'|\u2019)ll (?:use|keep|stick|leave|avoid))\b",
    re.IGNORECASE,
)
_ANNOUNCED: Final = re.compile(
    r"\b(?:(?:I|we) will|(?:I|we)(?:'|\u2019)ll|(?:I|we)(?:'|\u2019)(?:m|re) going to|(?:I am|we are) going to)\b",
    re.IGNORECASE,
)
_SIGNS: Final = (
    "will",
    "'ll",
    "\u2019ll",
    "going to",
    "let's",
    "let\u2019s",
    "instead of",
    "rather than",
    "decided",
    "decision",
    "chose",
    "settled on",
    "agreed",
    "from now on",
    "going forward",
    "favo",
    "stay",
    " not ",
    "must ",
    "should ",
    "won't",
    "won\u2019t",
    "plan is",
    "approach is",
)
"""One of these stands in every sentence that the patterns fit."""
_FENCE: Final = re.compile(r"^[ \t]*(```+|~~~+)", re.MULTILINE)
_TAG: Final = re.compile(r"<([A-Za-z_][\w.-]*)(?:\s[^<>]*)?>")
_SENTENCE: Final = re.compile(r"[^\n.!?]*(?:[.!?](?!\s|$)[^\n.!?]*)*(?:[.!?]+|(?=\n)|$)")
_MARKS: Final = " \t-*#>\u2022"


class Decision(NamedTuple):
    """One sentence of the assistant."""

    message: int
    block: int
    text: str
    settled: bool
    """True for a choice, False for an announcement."""


def decisions_in(text: str, message: int, block: int) -> Iterator[Decision]:
    """Stated decisions of one text of the assistant, in order, each once."""
    lower = text.lower()
    if not any(sign in lower for sign in _SIGNS):  # much quicker than the patterns, and most texts end here
        return
    seen: set[str] = set()
    for sentence in _sentences(prose(text)):
        settled = _SETTLED.search(sentence) is not None
        if (settled or _ANNOUNCED.search(sentence)) and sentence not in seen:
            seen.add(sentence)
            yield Decision(message, block, sentence, settled)


def prose(text: str) -> str:
    """The text without fenced code and without what stands between tags; each leaves a line end."""
    return _without_tags(_without_fences(text))


def _without_fences(text: str) -> str:
    kept: list[str] = []
    at = 0
    while opening := _FENCE.search(text, at):
        kept.append(text[at : opening.start()])
        closing = re.compile(rf"^[ \t]*{re.escape(opening[1])}[`~]*[ \t]*$", re.MULTILINE).search(text, opening.end())
        at = len(text) if closing is None else closing.end()
    kept.append(text[at:])
    return "\n".join(kept)


def _without_tags(text: str) -> str:
    kept: list[str] = []
    unclosed: set[str] = set()
    at = start = 0
    while opening := _TAG.search(text, at):
        name = opening[1]
        end = -1 if name in unclosed else text.find(f"</{name}>", opening.end())
        if end < 0:
            unclosed.add(name)
            at = opening.end()
            continue
        kept.append(text[start : opening.start()])
        start = at = end + len(name) + 3
    kept.append(text[start:])
    return "\n".join(kept)


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        sentence = " ".join(found[0].strip(_MARKS).split())
        if sentence:
            yield sentence if len(sentence) <= LONGEST else sentence[: LONGEST - 1] + "…"
