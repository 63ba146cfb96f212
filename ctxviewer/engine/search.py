"""Looking for words in a history: exactly, without regard to case, or by a pattern; and which messages need no look.

Most messages of a long history do not hold the words, and their bytes show it without decoding. A message is passed
over only when that is certain: the words, or a part of them, must then stand in its JSON as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from ctxviewer.domain.errors import CtxError

Hit = tuple[int, int]
"""Start and end in a text, end exclusive, in characters."""

_ESCAPE: Final = b"\\u"
_PLAIN = re.compile(r'[^"\\/\x00-\x1f\x7f\ud800-\udfff\ufffd]+')
"""Characters that JSON text normally holds as they are. A slash may be escaped; bad bytes read as U+FFFD."""
_LETTERS = re.compile(r"[^\W\d_]+")
_OUTSIDE: Final = ("true", "false", "null", "NaN", "nan", "Infinity", "infinity", "e", "E")
"""Words that JSON has outside of strings, where it is shown with other blanks and numbers than the file has."""
FOLDED_TO: Final = "afhijklnstwy"
"""Letters that characters beyond ASCII fold to: the Kelvin sign to k, \u00df to ss."""
_REPEATED = re.compile(r"\((?:[^()\\]|\\.)*(?:[*+]|\{\d*,\})\)(?:[*+]|\{\d*,\})", re.DOTALL)
"""A group that ends in a repetition and is repeated: `(a+)+` can take for ever on a text that nearly fits."""


class BadQuestionError(CtxError):
    """A question that cannot be asked; says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class TextQuestion:
    """Words to look for."""

    text: str
    regex: bool = False
    """The text is a regular expression of Python's kind; `.` does not stand for a line end, ^ and $ mean lines."""
    ignore_case: bool = False


class Matcher(Protocol):
    """Finds the words of one question."""

    def find(self, text: str) -> Hit | None:
        """The first hit."""
        ...

    def hits(self, text: str) -> Iterator[Hit]:
        """All hits in order; they do not overlap and none is empty."""
        ...

    def may_hold(self, raw: bytes) -> bool:
        """False only if no text in this JSON, as `block_texts` gives them, can hold the words."""
        ...


def matcher_of(question: TextQuestion) -> Matcher:
    """The matcher of a question. BadQuestionError for an empty text or a pattern that cannot be used."""
    if not question.text.strip():
        raise BadQuestionError("There is nothing to look for.", hint="Give a text, a file or a message.")
    if question.regex:
        return PatternMatcher(question)
    return FoldedMatcher(question.text) if question.ignore_case else ExactMatcher(question.text)


class ExactMatcher:
    """Words as they are."""

    def __init__(self, text: str) -> None:
        self._text = text
        part = telling_part(text)
        self._part = part.encode("utf-8")
        # A character may also stand as an escape: \u00 and two digits if it is ASCII.
        self._escape = _ESCAPE + b"00" if part.isascii() else _ESCAPE

    def find(self, text: str) -> Hit | None:
        """The first hit."""
        start = text.find(self._text)
        return None if start < 0 else (start, start + len(self._text))

    def hits(self, text: str) -> Iterator[Hit]:
        """All hits."""
        start = text.find(self._text)
        while start >= 0:
            end = start + len(self._text)
            yield start, end
            start = text.find(self._text, end)

    def may_hold(self, raw: bytes) -> bool:
        """Looks for a part of the words, then for escapes."""
        return self._part in raw or self._escape in raw


class FoldedMatcher:
    """Words without regard to case, as Unicode folds it: 'STRASSE' finds 'Straße'."""

    def __init__(self, text: str) -> None:
        self._text = text.casefold()
        part = telling_part(self._text)
        self._part = part.encode("utf-8")
        self._sure = _sure_part(part).encode("ascii")
        self._text_part = _sure_part(self._text).encode("ascii")

    def find(self, text: str) -> Hit | None:
        """The first hit; where folding changes lengths, the characters that it touches."""
        if not text.isascii() and self._text_part not in text.encode("utf-8", "surrogatepass").lower():
            return None  # folding other than ASCII text is slow
        folded = text.casefold()
        start = folded.find(self._text)
        if start < 0:
            return None
        end = start + len(self._text)
        if len(folded) == len(text):  # folding makes no character shorter
            return start, end
        positions = range(len(text) + 1)
        before = bisect_left(positions, start + 1, key=lambda at: len(text[:at].casefold())) - 1
        return before, bisect_left(positions, end, key=lambda at: len(text[:at].casefold()))

    def hits(self, text: str) -> Iterator[Hit]:
        """All hits; for texts of some thousand characters, each hit looks at the rest anew."""
        start = 0
        while (hit := self.find(text[start:])) is not None:
            yield start + hit[0], start + hit[1]
            start += hit[1]

    def may_hold(self, raw: bytes) -> bool:
        """Looks for a part of the words in small letters: without what characters beyond ASCII fold to."""
        part = self._part if raw.isascii() else self._sure
        return part in raw.lower() or _ESCAPE in raw


def _sure_part(folded: str) -> str:
    """The longest part of a folded text that only ASCII letters fold to; '' if there is none."""
    return max(re.split(f"[{FOLDED_TO}]|[^\\x00-\\x7f]", folded), key=len)


class PatternMatcher:
    """A regular expression."""

    def __init__(self, question: TextQuestion) -> None:
        try:
            self._pattern = re.compile(question.text, re.MULTILINE | (re.IGNORECASE if question.ignore_case else 0))
        except re.error as err:
            place = "" if err.pos is None else f"position {err.pos + 1}"
            where = f" at {place}" if place else ""
            raise BadQuestionError(
                f"The pattern cannot be understood{where}: {err.msg}.", hint="\\ before a sign takes it as it is."
            ) from err
        except (OverflowError, RecursionError) as err:
            raise BadQuestionError(f"The pattern cannot be used: {err}.") from err
        literal = required_literal(question.text)
        self._literal: ExactMatcher | FoldedMatcher | None = None
        if literal and (literal.isascii() or not question.ignore_case):
            self._literal = FoldedMatcher(literal) if question.ignore_case else ExactMatcher(literal)
        if self._pattern.search(""):
            raise BadQuestionError("The pattern also fits the empty text, so it would fit everywhere.")
        doubled = _REPEATED.search(question.text)
        if doubled:
            raise BadQuestionError(
                f"The pattern repeats a repetition at position {doubled.start() + 1}: it could take for ever.",
                hint="Repeat only once: 'a+' instead of '(a+)+'.",
            )

    def find(self, text: str) -> Hit | None:
        """The first hit that is not empty."""
        return next(self.hits(text), None)

    def hits(self, text: str) -> Iterator[Hit]:
        """All hits that are not empty."""
        return (hit.span() for hit in self._pattern.finditer(text) if hit.end() > hit.start())

    def may_hold(self, raw: bytes) -> bool:
        """Looks for the words that the pattern cannot do without, if there are any."""
        return self._literal is None or self._literal.may_hold(raw)


_ATOM = re.compile(
    r"\\(?P<escaped>.)|(?P<count>\{\d*,?\d*\})|(?P<set>\[\^?\]?(?:[^\]\\]|\\.)*\])|(?P<other>.)", re.DOTALL
)


def required_literal(pattern: str) -> str:
    """The longest run of plain characters that every hit of a pattern must hold; '' if none is certain.

    Groups are passed over, whatever is in them. Nothing is certain with alternatives outside of groups, with flags, or
    with characters given by number.
    """
    if re.search(r"\(\?[aiLmsux-]|\\[xuUN0-9]", pattern):
        return ""
    runs, run, depth = [""], "", 0
    for atom in _ATOM.finditer(pattern):
        sign, escaped = atom["other"], atom["escaped"]
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        elif sign == "|" and not depth:
            return ""
        plain = sign if sign is not None and sign not in "\\.^$*+?{}[]|()" else None
        if escaped is not None and not escaped.isalnum() and escaped != "_":
            plain = escaped
        if depth or plain is None:
            if atom["count"] is not None or sign in {"*", "?"}:  # what is before it may be absent
                run = run[:-1]
            runs.append(run)
            run = ""
        else:
            run += plain
    return max((*runs, run), key=len)


def telling_part(text: str) -> str:
    """The longest part of a text that any JSON string with the text holds as it is, or with \\u escapes; '' if none.

    Parts that may lie outside of strings are no good: JSON is shown indented and with its numbers written anew.
    """
    parts = [part for part in _PLAIN.findall(text) if _only_in_strings(part)]
    return max(parts, key=len, default="")


def _only_in_strings(part: str) -> bool:
    if any(not word.isascii() or not any(word in known for known in _OUTSIDE) for word in _LETTERS.findall(part)):
        return True
    return bool(re.search(r"[^\s\w,:{}\[\].+-]|_", part))
