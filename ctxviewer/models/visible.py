"""Text of a task as it is shown: every character that would not show, or would act, gets a visible symbol.

Nothing of a task may steer the terminal, the text direction or the layout. The raw text stays what is copied; a
`Visible` maps between the two. No Qt here, but positions in the shown text are UTF-16 units, because that is what
QTextLayout counts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

LINE_BREAK = "\u2028"
"""What a newline becomes: QTextLayout breaks a line at LINE SEPARATOR and not at a newline."""

REPLACEMENT = "\ufffd"
"""What a lone surrogate becomes wherever text leaves the program."""

# Control characters but tab and newline; soft hyphen; marks, overrides and isolates of the bidirectional algorithm;
# zero-width space and joiner of words; separators of lines and paragraphs; object replacement; byte order mark;
# interlinear marks; tag characters; non-characters; lone surrogates.
_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff"
    "\ufff0-\ufffc\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f"
)
_CONTROLS = (
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL",
    "BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI",
    "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB",
    "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
)  # fmt: skip
_ODD = re.compile(f"[{_INVISIBLE}\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONE_INVISIBLE = re.compile(f"[{_INVISIBLE}]")


@dataclass(frozen=True, slots=True)
class Visible:
    """A piece of text as shown."""

    text: str
    """Goes to Qt: no control characters, no lone surrogates, newlines as LINE SEPARATOR."""
    length: int
    """UTF-16 units of `text`."""
    raw_length: int
    """Characters of the raw piece."""
    marks: tuple[tuple[int, int], ...] = ()
    """(position, length) in UTF-16 units of the symbols that stand for something else; they are painted fainter."""
    _at: tuple[int, ...] = ()
    """Raw indices of characters whose shown length is not one unit, ascending."""
    _ends: tuple[int, ...] = ()
    """Shown position behind each of them."""

    def to_shown(self, index: int) -> int:
        """UTF-16 position in `text` of raw character `index`; behind the last one is the end."""
        index = max(0, min(index, self.raw_length))
        before = bisect_left(self._at, index)
        shown = index if before == 0 else self._ends[before - 1] + index - self._at[before - 1] - 1
        return min(shown, self.length)

    def to_raw(self, position: int) -> int:
        """Raw index for a UTF-16 position in `text`; inside a symbol it is the nearer end of it."""
        position = max(0, min(position, self.length))
        before = bisect_right(self._ends, position)
        base, raw = (0, 0) if before == 0 else (self._ends[before - 1], self._at[before - 1] + 1)
        index = raw + position - base
        if before < len(self._at) and index > self._at[before]:
            odd = self._at[before]
            start = base + odd - raw
            return odd if 2 * (position - start) <= self._ends[before] - start else odd + 1
        return min(index, self.raw_length)


def make_visible(raw: str, *, reveal_returns: bool = False) -> Visible:
    """The shown form of a piece of text.

    A carriage return before a newline is not shown unless `reveal_returns`; alone it always is. A newline at the very
    end is not shown: it ends the last line.
    """
    body = raw.removesuffix("\n")
    if not _ODD.search(body):
        return Visible(body.replace("\n", LINE_BREAK), len(body), len(raw))
    parts: list[str] = []
    marks: list[tuple[int, int]] = []
    at: list[int] = []
    ends: list[int] = []
    done = shown = 0
    for match in _ODD.finditer(body):
        index = match.start()
        parts.append(body[done:index])
        shown += index - done
        symbol, length = _symbol(raw, index, reveal_returns)
        parts.append(symbol)
        if length and symbol != raw[index]:
            marks.append((shown, length))
        shown += length
        if length != 1:
            at.append(index)
            ends.append(shown)
        done = index + 1
    parts.append(body[done:])
    text = "".join(parts).replace("\n", LINE_BREAK)
    return Visible(text, shown + len(body) - done, len(raw), tuple(marks), tuple(at), tuple(ends))


def one_line(raw: str, limit: int) -> str:
    """The first words of a text on one line of about `limit` characters, with visible symbols; '…' where it is cut."""
    head = " ".join(raw[: 4 * limit].split())
    short = head[:limit]
    plain = _LONE_INVISIBLE.sub(lambda match: _named(match.group()), short)
    return plain + "…" if len(head) > limit or len(raw) > 4 * limit else plain


def for_clipboard(raw: str) -> str:
    """The raw text with lone surrogates as U+FFFD, which Qt would drop."""
    return raw if raw.isascii() else _SURROGATE.sub(REPLACEMENT, raw)


def _symbol(raw: str, index: int, reveal_returns: bool) -> tuple[str, int]:
    """The shown form of one odd character and its UTF-16 units."""
    char = raw[index]
    if char >= "\U00010000" and not _LONE_INVISIBLE.match(char):
        return char, 2
    if char == "\r" and not reveal_returns and raw[index + 1 : index + 2] == "\n":
        return "", 0
    symbol = _named(char)
    return symbol, len(symbol)


def _named(char: str) -> str:
    """[ESC] for control characters, [U+202E] for the rest. Pictures like U+241B are in too few fonts."""
    code = ord(char)
    if code < len(_CONTROLS):
        return f"[{_CONTROLS[code]}]"
    return "[DEL]" if code == 0x7F else f"[U+{code:04X}]"
