"""The splicer changes one item and no other byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.sources.index_splice import EMPTY_INDEX, item_bytes, splice_item

INDEX = b'[ {"id":"1","task":"caf\xc3\xa9"},\r\n  {"ts":12345678901234567890,"id":"2","x":"\\ud83d"} ,{"id":"3","n":1e400}]\n'


def test_the_item_is_found_as_it_stands() -> None:
    assert item_bytes(INDEX, "1") == b'{"id":"1","task":"caf\xc3\xa9"}'
    assert item_bytes(INDEX, "2") == b'{"ts":12345678901234567890,"id":"2","x":"\\ud83d"}'
    assert item_bytes(INDEX, "4") is None


def test_replacing_keeps_every_other_byte() -> None:
    new = splice_item(INDEX, "2", b'{"id":"2"}')
    assert new == INDEX.replace(b'{"ts":12345678901234567890,"id":"2","x":"\\ud83d"}', b'{"id":"2"}')


@pytest.mark.parametrize(
    ("item", "left"),
    [
        ("1", b'[ {"ts":12345678901234567890,"id":"2","x":"\\ud83d"} ,{"id":"3","n":1e400}]\n'),
        ("2", b'[ {"id":"1","task":"caf\xc3\xa9"} ,{"id":"3","n":1e400}]\n'),
        ("3", b'[ {"id":"1","task":"caf\xc3\xa9"},\r\n  {"ts":12345678901234567890,"id":"2","x":"\\ud83d"}]\n'),
        ("4", INDEX),
    ],
)
def test_taking_out_takes_one_comma_along(item: str, left: bytes) -> None:
    assert splice_item(INDEX, item, None) == left
    json.loads(left)


def test_a_new_item_goes_to_the_end() -> None:
    assert splice_item(b'[{"id":"1"}\n]', "2", b'{"id":"2"}') == b'[{"id":"1"},{"id":"2"}\n]'
    assert splice_item(EMPTY_INDEX, "2", b'{"id":"2"}') == b'[{"id":"2"}]'


def test_adding_and_taking_out_again_gives_the_same_bytes() -> None:
    for index in (INDEX, EMPTY_INDEX, b" [ ] "):
        assert splice_item(splice_item(index, "9", b'{"id":"9"}'), "9", None) == index


def test_the_first_of_two_equal_ids_counts() -> None:
    index = b'[{"id":"1","n":1},{"id":"1","n":2}]'
    assert item_bytes(index, "1") == b'{"id":"1","n":1}'
    assert splice_item(index, "1", b'{"id":"1","n":3}') == b'[{"id":"1","n":3},{"id":"1","n":2}]'


def test_bytes_that_are_not_utf8_a_bom_and_control_characters_survive() -> None:
    index = b'\xef\xbb\xbf[{"id":"1","task":"\xff\xed\xa0\x80\x01"},7,null,{"id":5}, {"id":"2"}]'
    assert item_bytes(index, "1") == b'{"id":"1","task":"\xff\xed\xa0\x80\x01"}'
    assert splice_item(index, "2", b"{}") == index.replace(b'{"id":"2"}', b"{}")


def test_numbers_of_any_length_are_passed_over() -> None:
    long = b"9" * 5_000
    index = b'[{"id":"1","ts":' + long + b'},{"id":2},{"id":"2","size":-' + long + b"}]"
    assert splice_item(index, "1", b"{}") == index.replace(b'{"id":"1","ts":' + long + b"}", b"{}")
    assert item_bytes(index, "2") == b'{"id":"2","size":-' + long + b"}"


@pytest.mark.parametrize(
    "index",
    [
        b"",
        b"  ",
        b"{}",
        b"null",
        b"[",
        b"[,]",
        b'[{"id":"1"}',
        b'[{"id":"1"},]',
        b'[{"id":"1"} {}]',
        b"[] x",
        b"[[" * 100_000,
    ],
)
def test_a_damaged_index_is_named_with_its_place(index: bytes) -> None:
    for act in (
        lambda: item_bytes(index, "x"),
        lambda: splice_item(index, "x", b"{}"),
        lambda: splice_item(index, "x", None),
    ):
        with pytest.raises(BrokenInputError, match="index is damaged") as caught:
            act()
        assert caught.value.hint
        assert caught.value.place


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_ITEMS = st.lists(
    st.builds(
        lambda more, name: {**more, "id": name},
        st.dictionaries(st.text(max_size=4), _VALUES, max_size=3),
        st.sampled_from("abcdef"),
    )
)


@settings(deadline=None, max_examples=60)
@given(items=_ITEMS, indent=st.sampled_from([None, 0, 2]), name=st.sampled_from("abcdef"), new=st.none() | _VALUES)
def test_splicing_changes_only_the_item(
    items: list[dict[str, object]], indent: int | None, name: str, new: object
) -> None:
    index = json.dumps(items, indent=indent).encode()
    raw = None if new is None else json.dumps({"id": name, "new": new}).encode()
    place = next((number for number, item in enumerate(items) if item["id"] == name), None)
    expected = list(items)
    if raw is None:
        if place is not None:
            del expected[place]
    elif place is None:
        expected.append({"id": name, "new": new})
    else:
        expected[place] = {"id": name, "new": new}
    spliced = splice_item(index, name, raw)
    assert json.loads(spliced) == expected
    if place is not None and raw is not None:
        assert item_bytes(spliced, name) == raw
        before = item_bytes(index, name)
        assert before is not None
        assert splice_item(spliced, name, before) == index
