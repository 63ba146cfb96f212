"""Where the items of a JSON array lie in a file, without decoding them. Damaged files are read as far as they go.

The fast way is one pass of msgspec over the whole file. Where that fails (a lone surrogate escape, a byte order mark,
NaN, a file cut in the middle ...) a slower scanner walks from item to item and says what is wrong and where.
Nothing here opens files.
"""

from __future__ import annotations

import json
import re
from array import array
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NoReturn

import msgspec

from ctxviewer.domain.json import Json

BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_GAP = b" \t\r\n,"
_COMMA, _OPEN, _CLOSE, _QUOTE = b",["[0], b"["[0], b"]"[0], b'"'[0]
_CONTAINERS = b"{["
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_SCALAR = re.compile(rb"[^\s,\[\]{}\"]++")
_PIECE = 1 << 16
UTF8_CHECKED = 32 << 20
"""Bigger files are not searched for bytes that are not UTF-8; they read as replacement characters all the same."""

MOST_DIGITS = 4_000
"""Longer whole numbers are read as floats: no double holds them anyway."""

_RAW_LIST: msgspec.json.Decoder[list[msgspec.Raw]] = msgspec.json.Decoder(list[msgspec.Raw])
_RAW: msgspec.json.Decoder[msgspec.Raw] = msgspec.json.Decoder(msgspec.Raw)


class DamageKind(StrEnum):
    """What is wrong with an array. The first five may be a file that is being written at this moment."""

    EMPTY = "empty"
    """The file holds nothing, or only blanks or NULs."""
    NOT_ARRAY = "no-list"
    """Something else than an array."""
    CUT = "cut-off"
    """The file ends before the array does; the items before are there."""
    BROKEN_ITEM = "broken-item"
    """An item that is no JSON; the others are there."""
    GARBAGE = "garbage-behind"
    """Something follows the array; all items are there."""
    UNUSUAL = "unusual-json"
    """Readable here, but not for a strict reader: a byte order mark, NaN, a raw control character, a comma too many."""
    NOT_UTF8 = "not-utf8"
    """Bytes that are not UTF-8; they read as replacement characters."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that is wrong with an array."""

    kind: DamageKind
    position: int
    """Byte in the file, from 0."""
    item: int | None
    """Number of the item it is in, if it is in one."""
    reason: str
    """In words, to follow 'file: '."""

    @property
    def may_be_half_written(self) -> bool:
        """True when reading again a moment later may help."""
        return self.kind not in {DamageKind.UNUSUAL, DamageKind.NOT_UTF8}


_MARK = Damage(DamageKind.UNUSUAL, 0, None, "it begins with a byte order mark, which the agent cannot read")


@dataclass(slots=True)
class Spans:
    """Where the items lie: half-open byte ranges, in order. Owned by whoever asked for it."""

    starts: array[int]
    ends: array[int]
    opening: int
    """Position just behind the opening bracket; 0 where there is none."""
    damage: tuple[Damage, ...] = ()


def _empty_spans(opening: int, *damage: Damage) -> Spans:
    return Spans(array("Q"), array("Q"), opening, damage)


def scan_array(data: bytes | bytearray) -> Spans:
    """Find the items of the array that `data` holds. Never raises for content."""
    spans = _scan_fast(data) or _scan_disguised(data) or _scan_loosely(data)
    bad = _first_bad_byte(data) if spans.opening and len(data) <= UTF8_CHECKED else None
    if bad is None:
        return spans
    item = next((number for number, end in enumerate(spans.ends) if end > bad), None)
    if item is None:  # in what is cut off or follows the array, which is told already
        return spans
    reason = f"byte {bad} is not UTF-8 text; it is shown as a replacement character"
    return replace(spans, damage=(*spans.damage, Damage(DamageKind.NOT_UTF8, bad, item, reason)))


def _scan_fast(data: bytes | bytearray) -> Spans | None:
    try:
        raws = _RAW_LIST.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    return _spans_of(data, raws)


def _scan_disguised(data: bytes | bytearray) -> Spans | None:
    """The fast way for what only msgspec minds: on a copy of equal length without a mark and without surrogates."""
    marked = data.startswith(BOM)
    copy = _SURROGATE.sub(rb"\\ufffd", b"   " + data[len(BOM) :] if marked else data)
    spans = _scan_fast(copy)
    return replace(spans, damage=(_MARK,)) if spans is not None and marked else spans


def _spans_of(data: bytes | bytearray, raws: list[msgspec.Raw]) -> Spans:
    """Positions of items that msgspec found: they follow one another with nothing but blanks and a comma between."""
    starts, ends = array("Q"), array("Q")
    at = opening = data.index(b"[") + 1
    for raw in raws:
        while data[at] in _GAP:
            at += 1
        starts.append(at)
        at += memoryview(raw).nbytes
        ends.append(at)
    return Spans(starts, ends, opening)


def _first_bad_byte(data: bytes | bytearray) -> int | None:
    """Position of the first byte that is not UTF-8, None when all are."""
    if data.isascii():
        return None
    view = memoryview(data)
    at = 0
    while at < len(data):
        end = min(at + _PIECE, len(data))
        try:
            str(view[at:end], "utf-8")
        except UnicodeDecodeError as error:
            if end < len(data) and error.reason == "unexpected end of data":
                at += error.start
                continue
            return at + error.start
        at = end
    return None


def _scan_loosely(data: bytes | bytearray) -> Spans:
    at = _skip(data, len(BOM) if data.startswith(BOM) else 0)
    if not bytes(data[at : at + 64]).strip(b"\0 \t\r\n") and not data[at:].strip(b"\0 \t\r\n"):
        return _empty_spans(0, Damage(DamageKind.EMPTY, 0, None, "the file is empty"))
    if data[at] != _OPEN:
        return _empty_spans(0, Damage(DamageKind.NOT_ARRAY, at, None, f"no list of items begins at byte {at}"))
    walk = _Walk(data, at + 1)
    if data.startswith(BOM):
        walk.note(_MARK)
    walk.run()
    return walk.spans()


class _Walk:
    """One slow pass over an array, item by item."""

    def __init__(self, data: bytes | bytearray, opening: int) -> None:
        self._data, self._view = data, memoryview(data)
        self._opening = opening
        self._starts, self._ends = array("Q"), array("Q")
        self._damage: list[Damage] = []
        self._broken: list[int] = []

    def note(self, damage: Damage) -> None:
        """Note one damage; of each kind only the first."""
        if all(known.kind != damage.kind for known in self._damage):
            self._damage.append(damage)

    def odd(self, kind: DamageKind, position: int, item: int | None, reason: str) -> None:
        """Note one damage by its parts."""
        self.note(Damage(kind, position, item, reason))

    def spans(self) -> Spans:
        """What was found."""
        return Spans(self._starts, self._ends, self._opening, tuple(self._damage))

    def run(self) -> None:
        """Walk to the end of the array, or as far as it can be followed."""
        data, size = self._data, len(self._data)
        at = _skip(data, self._opening)
        if at < size and data[at] == _CLOSE:
            self._behind(at + 1)
            return
        while True:
            number = len(self._starts)
            end = item_end(data, at)
            if end is None:
                self._stop(DamageKind.CUT, size, number, f"it ends at byte {size}, inside item {number}")
                return
            if end == at:
                self._stop(DamageKind.CUT, at, number, f"no item begins at byte {at}, where item {number} should")
                return
            self._take(number, at, end)
            at = _skip(data, end)
            if at >= size:
                self._stop(DamageKind.CUT, size, None, f"it ends at byte {size}, behind item {number}")
                return
            if data[at] == _CLOSE:
                self._behind(at + 1)
                return
            if data[at] != _COMMA:
                self._stop(DamageKind.CUT, at, None, f"a comma or the closing bracket is missing at byte {at}")
                return
            comma, at = at, _skip(data, at + 1)
            if at < size and data[at] == _CLOSE:
                self.odd(DamageKind.UNUSUAL, comma, None, f"a comma stands before the closing bracket, at byte {comma}")
                self._behind(at + 1)
                return

    def _take(self, number: int, start: int, end: int) -> None:
        self._starts.append(start)
        self._ends.append(end)
        try:
            _RAW.decode(self._view[start:end])
        except (msgspec.MsgspecError, RecursionError):
            self._examine(number, start, end)

    def _examine(self, number: int, start: int, end: int) -> None:
        text = str(self._view[start:end], "utf-8", "replace")
        try:
            json.loads(text, parse_constant=_refuse_constant, parse_int=whole_number)
        except RecursionError:
            self._broken.append(number)
            reason = f"item {number} (byte {start}) is nested too deeply to be read"
            self.odd(DamageKind.BROKEN_ITEM, start, number, reason)
        except ValueError:
            try:
                json.loads(text, strict=False, parse_int=whole_number)
            except ValueError as error:
                self._broken.append(number)
                place = (
                    start + len(text[: error.pos].encode("utf-8")) if isinstance(error, json.JSONDecodeError) else start
                )
                self.odd(DamageKind.BROKEN_ITEM, place, number, f"item {number} is not JSON at byte {place}")
            else:
                reason = (
                    f"item {number} (byte {start}) holds NaN or a raw control character, which the agent cannot read"
                )
                self.odd(DamageKind.UNUSUAL, start, number, reason)

    def _behind(self, at: int) -> None:
        at = _skip(self._data, at)
        if at < len(self._data):
            rest = len(self._data) - at
            self.odd(DamageKind.GARBAGE, at, None, f"{rest} bytes follow the end of the list at byte {at}")

    def _stop(self, kind: DamageKind, position: int, item: int | None, reason: str) -> None:
        """The array does not close: what follows a broken item cannot be trusted either."""
        if self._broken:
            first = self._broken[0]
            del self._starts[first:], self._ends[first:]
            known = next(damage for damage in self._damage if damage.kind == DamageKind.BROKEN_ITEM)
            self._damage.remove(known)
            self._damage.append(replace(known, kind=DamageKind.CUT))
            return
        self.odd(kind, position, item, reason)


def _skip(data: bytes | bytearray, at: int) -> int:
    while at < len(data) and data[at] in _BLANK:
        at += 1
    return at


def item_end(data: bytes | bytearray, at: int) -> int | None:
    """Position behind the value that begins at `at`; None when the data end before it does; `at` when there is none."""
    if at >= len(data):
        return None
    sign = data[at]
    if sign == _QUOTE:
        string = _STRING.match(data, at)
        return string.end() if string else None
    if sign not in _CONTAINERS:
        scalar = _SCALAR.match(data, at)
        return scalar.end() if scalar else at
    depth = 0
    for token in _TOKEN.finditer(data, at):
        first = data[token.start()]
        if first == _QUOTE:
            if token.end() - token.start() == 1:
                return None
            continue
        depth += 1 if first in _CONTAINERS else -1
        if depth == 0:
            return token.end()
    return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def whole_number(digits: str) -> int | float:
    """The number; one of thousands of digits, which Python refuses to make, is infinite as it is for the agent."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def decode(data: bytes | bytearray | memoryview) -> Json:
    """The value that the bytes hold, read as leniently as possible; bytes that are no JSON come back as their text."""
    try:
        value: Json = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        text = str(data, "utf-8", "replace").removeprefix("\ufeff")
        try:
            value = json.loads(text, strict=False, parse_int=whole_number)
        except (ValueError, RecursionError):
            return text
    return value


def encode(value: Json) -> bytes:
    """Compact JSON in UTF-8 as JavaScript writes it, lone surrogates as escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")
