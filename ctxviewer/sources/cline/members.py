"""Changing single members of one JSON object in its bytes. All other bytes, and the order of keys, stay."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.sources.rawjson import decode, encode, item_end

_BLANK = re.compile(rb"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Member:
    """Where one member of an object lies; half-open byte positions."""

    key: str
    start: int
    """Of the key's quote."""
    value: int
    end: int


def members(raw: bytes) -> tuple[Member, ...]:
    """The members of the object in order. Raises BrokenInputError when the bytes are no object."""
    found: list[Member] = []
    at = _behind_blank(raw, 0)
    if raw[at : at + 1] != b"{":
        raise _broken(at)
    at = _behind_blank(raw, at + 1)
    while raw[at : at + 1] != b"}":
        if found:
            if raw[at : at + 1] != b",":
                raise _broken(at)
            at = _behind_blank(raw, at + 1)
        key_end = item_end(raw, at)
        if key_end is None or raw[at : at + 1] != b'"':
            raise _broken(at)
        colon = _behind_blank(raw, key_end)
        if raw[colon : colon + 1] != b":":
            raise _broken(colon)
        value = _behind_blank(raw, colon + 1)
        end = item_end(raw, value)
        if end is None or end == value:
            raise _broken(value)
        found.append(Member(str(decode(raw[at:key_end])), at, value, end))
        at = _behind_blank(raw, end)
    return tuple(found)


def with_value(raw: bytes, key: str, value: bytes, *, before: Iterable[str] = ()) -> bytes:
    """The object with the member set. A new one comes before the first of the keys `before` that exists, else last.

    Of a repeated key the last one counts, as for a JSON reader. New members are spaced like the others.
    """
    known = members(raw)
    own = next((member for member in reversed(known) if member.key == key), None)
    if own is not None:
        return raw[: own.value] + value + raw[own.end :]
    name = encode(key)
    if not known:
        at = raw.index(b"{") + 1
        return raw[:at] + name + b":" + value + raw[at:]
    wanted = tuple(before)
    place = next((number for number, member in enumerate(known) if member.key in wanted), len(known))
    near = known[min(place, len(known) - 1)]
    colon = raw[item_end(raw, near.start) or near.value : near.value]
    gap = raw[known[place - 1].end : near.start] if 0 < place < len(known) else _last_gap(raw, known)
    if place < len(known):
        return raw[: near.start] + name + colon + value + gap + raw[near.start :]
    return raw[: near.end] + gap + name + colon + value + raw[near.end :]


def _last_gap(raw: bytes, known: tuple[Member, ...]) -> bytes:
    return raw[known[-2].end : known[-1].start] if len(known) > 1 else b","


def without(raw: bytes, key: str) -> bytes:
    """The object without any member of this name; the very same bytes when there is none."""
    while True:
        known = members(raw)
        place = next((number for number, member in enumerate(known) if member.key == key), None)
        if place is None:
            return raw
        if place > 0:
            raw = raw[: known[place - 1].end] + raw[known[place].end :]
        elif len(known) > 1:
            raw = raw[: known[0].start] + raw[known[1].start :]
        else:
            raw = raw[: known[0].start] + raw[known[0].end :]


def _behind_blank(raw: bytes, at: int) -> int:
    found = _BLANK.match(raw, at)
    return found.end() if found else at


def _broken(at: int) -> BrokenInputError:
    return BrokenInputError(f"The task's entry in the index is damaged at its byte {at}.", place=f"byte {at}")
