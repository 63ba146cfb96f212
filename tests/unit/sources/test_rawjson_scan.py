"""Finding the items of an array in healthy and in damaged bytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxviewer.sources import rawjson
from ctxviewer.sources.rawjson import BOM, DamageKind, decode, encode, scan_array

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
INDENTS = st.sampled_from([None, 0, 1, 2, "\t"])


def items(data):
    spans = scan_array(data)
    return [bytes(data[start:end]) for start, end in zip(spans.starts, spans.ends, strict=True)]


def kinds(data):
    return [one.kind for one in scan_array(data).damage]


@given(st.lists(VALUES, max_size=5), INDENTS, st.booleans())
def test_items_of_any_array_are_found_whatever_its_layout(values, indent, ascii_only):
    text = json.dumps(values, ensure_ascii=ascii_only, indent=indent)
    data = text.encode("utf-8", "backslashreplace")
    assert [decode(item) for item in items(data)] == values
    assert kinds(data) == []


@given(st.lists(VALUES, max_size=4), INDENTS)
def test_the_slow_scanner_finds_what_the_fast_one_finds(values, indent):
    data = json.dumps(values, indent=indent).encode()
    slow = rawjson._scan_loosely(data)
    fast = scan_array(data)
    assert (slow.starts, slow.ends, slow.opening) == (fast.starts, fast.ends, fast.opening)


@given(st.lists(VALUES.map(lambda value: {"v": value}), min_size=1, max_size=4), st.data())
def test_a_cut_file_gives_the_items_before_the_cut(values, data):
    whole = encode(values)
    cut = whole[: data.draw(st.integers(2, len(whole) - 1))]
    found = items(cut)
    assert found == [encode(value) for value in values][: len(found)]
    complete = [end for end in scan_array(whole).ends if end <= len(cut)]
    assert len(found) == len(complete)
    assert kinds(cut) == [DamageKind.CUT]


def test_a_cut_names_byte_and_item():
    (damage,) = scan_array(b'[{"a":1},{"b":"x').damage
    assert (damage.position, damage.item) == (16, 1)
    assert damage.reason == "it ends at byte 16, inside item 1"


@pytest.mark.parametrize("tail", [b"]", b"x", b'"old":1}]', b"\0\0\0", b"[]"])
def test_garbage_behind_the_array_is_told_and_all_items_are_there(tail):
    data = b'[{"a":1},2]  ' + tail
    assert items(data) == [b'{"a":1}', b"2"]
    (damage,) = scan_array(data).damage
    assert (damage.kind, damage.position) == (DamageKind.GARBAGE, 13)


@pytest.mark.parametrize("data", [b"", b" \n", b"\0" * 100, BOM, BOM + b"  "])
def test_nothing_is_an_empty_file(data):
    assert kinds(data) == [DamageKind.EMPTY]


@pytest.mark.parametrize("data", [b"{}", b'{"a":[1]}', b"null", b"12", b"no = {\n", b"\xff\xfe[\x001"])
def test_something_else_is_no_array(data):
    assert kinds(data) == [DamageKind.NOT_ARRAY]
    assert not items(data)


def test_a_byte_order_mark_is_told_and_kept_out_of_the_items():
    data = BOM + b'[{"a":1}, 2]'
    assert items(data) == [b'{"a":1}', b"2"]
    assert kinds(data) == [DamageKind.UNUSUAL]
    assert scan_array(data).opening == 4


@pytest.mark.parametrize("escape", [r"\ud83d", r"\uDC00", r"x\ud83d\ud83dy", r"\\ud83d\udfff"])
def test_lone_surrogate_escapes_are_no_damage(escape):
    data = ('[{"t":"' + escape + '"},1]').encode()
    assert items(data) == [('{"t":"' + escape + '"}').encode(), b"1"]
    assert kinds(data) == []
    assert decode(items(data)[0]) == json.loads('{"t":"' + escape + '"}')


@pytest.mark.parametrize("item", [b"NaN", b'{"a":Infinity}', b'"tab\tin text"', b'"nul\0"', b'"line\n"'])
def test_what_only_lenient_readers_take_is_told(item):
    data = b"[1," + item + b",2]"
    assert items(data) == [b"1", item, b"2"]
    (damage,) = scan_array(data).damage
    assert (damage.kind, damage.item, damage.position) == (DamageKind.UNUSUAL, 1, 3)


def test_a_comma_too_many_is_told():
    assert kinds(b"[1,2,]") == [DamageKind.UNUSUAL]
    assert items(b"[1,2, ]") == [b"1", b"2"]


def test_bytes_that_are_no_utf8_are_told_with_their_place():
    data = b'[1,{"t":"ab\xffcd"}]'
    (damage,) = scan_array(data).damage
    assert (damage.kind, damage.position, damage.item) == (DamageKind.NOT_UTF8, 11, 1)
    assert items(data)[1] == b'{"t":"ab\xffcd"}'
    assert decode(items(data)[1]) == {"t": "ab\ufffdcd"}


def test_a_character_across_a_piece_is_no_damage(monkeypatch):
    monkeypatch.setattr(rawjson, "_PIECE", 5)
    assert kinds('["äöü€😀äöü€😀"]'.encode()) == []
    assert kinds('["äöü€😀'.encode() + b'\xf0\x9f"]') == [DamageKind.NOT_UTF8]


def test_a_broken_item_among_good_ones_stands_as_text():
    data = b'[{"a":1},{"b":},{"c":3}]'
    assert items(data) == [b'{"a":1}', b'{"b":}', b'{"c":3}']
    (damage,) = scan_array(data).damage
    assert (damage.kind, damage.item, damage.position) == (DamageKind.BROKEN_ITEM, 1, 14)
    assert decode(items(data)[1]) == '{"b":}'


def test_what_follows_a_broken_item_in_a_cut_file_is_not_trusted():
    data = b'[{"a":1},{"b":},{"c":3},{"d'
    assert items(data) == [b'{"a":1}']
    (damage,) = scan_array(data).damage
    assert (damage.kind, damage.item) == (DamageKind.CUT, 1)


def test_deep_nesting_does_no_harm():
    deep = b"[" * 100_000 + b"]" * 100_000
    data = b"[1," + deep + b",2]"
    assert [len(item) for item in items(data)] == [1, 200_000, 1]
    assert kinds(data) == [DamageKind.BROKEN_ITEM]
    assert decode(deep).startswith("[[[")


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"18446744073709551617", 18446744073709551617),
        (b"1e400", float("inf")),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'{"b":1,"a":2}', {"b": 1, "a": 2}),
        (b'"\\ud83d"', "\ud83d"),
    ],
)
def test_decoding_is_lenient_and_exact(data, value):
    assert decode(data) == value
    assert str(decode(data)) == str(value)


def test_encoding_is_that_of_a_script():
    assert encode({"t": "ä\ud83d\n", "n": [1, None]}) == b'{"t":"\xc3\xa4\\ud83d\\n","n":[1,null]}'
