"""Numbers, texts, equality and JSON as a script has them."""

from __future__ import annotations

import math

import pytest

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.engine.cline import js, js_json
from ctxviewer.engine.cline.js import UNDEFINED


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (1.5e21, "1.5e+21"),
        (90071992547409931, "90071992547409940"),
        (2**53 + 1, "9007199254740992"),
        (10**400, "Infinity"),
        (-(10**400), "-Infinity"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (-12.5, "-12.5"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (0.00012, "0.00012"),
        (1234.5678, "1234.5678"),
    ],
)
def test_numbers_are_written_as_a_script_writes_them(value: float, text: str) -> None:
    assert js.number_text(value) == text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        (" \u00a0\ufeff\u2028 ", 0),
        ("12", 12),
        ("+1.", 1),
        (".5", 0.5),
        ("1e3", 1000),
        ("0x1F", 31),
        ("0b101", 5),
        ("0o17", 15),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("1e400", math.inf),
    ],
)
def test_texts_as_numbers(text: str, number: float) -> None:
    assert js.to_number(text) == number


@pytest.mark.parametrize(
    "text", ["abc", "1_000", "-0x10", "1e", ".", "0x", "infinity", "1 2", "\u0661", "\x1c1", "nan"]
)
def test_texts_that_are_no_numbers(text: str) -> None:
    assert math.isnan(js.to_number(text))


def test_plus_joins_texts_and_adds_the_rest() -> None:
    assert js.add(js.add(js.add("9", 8000), 0), 0) == "9800000"
    assert js.add(True, 1) == 2
    assert js.add(None, 1) == 1
    assert math.isnan(js.to_number(js.add(UNDEFINED, 1)))
    assert js.add([1, [2, None]], 3) == "1,2,3"
    assert js.add({}, 3) == "[object Object]3"
    assert js.add(2**53, 1) == 2**53


def test_an_object_with_its_own_to_string_cannot_be_joined() -> None:
    with pytest.raises(BrokenInputError):
        js.add({"toString": "x"}, 1)


def test_lists_nested_without_end_are_damage_and_no_crash() -> None:
    value: list = []
    for _ in range(5000):
        value = [value]
    with pytest.raises(BrokenInputError):
        js.to_string(value)
    with pytest.raises(BrokenInputError):
        js_json.stringify(value)
    with pytest.raises(BrokenInputError):
        js_json.parse("[" * 100_000)


def test_division() -> None:
    assert js.divide(1, 4) == 0.25
    assert js.divide(1, 0) == math.inf
    assert js.divide(-1, 0) == -math.inf
    assert js.divide(1, -0.0) == -math.inf
    assert math.isnan(js.divide(0, 0))
    assert math.isnan(js.divide(1, math.nan))


def test_comparison_is_by_code_units_for_two_texts_only() -> None:
    assert js.greater("10", 9)
    assert not js.greater("10", "9")
    assert js.greater("\uffff", "\U0001f600")  # the emoji starts with a surrogate, which is smaller
    assert not js.greater(None, 0)
    assert js.greater(None, -1)
    assert not js.greater(UNDEFINED, -1)
    assert js.greater([5], 4)


def test_equality_does_not_confuse_types() -> None:
    assert js.strict_equals(1, 1.0)
    assert not js.strict_equals(1, True)
    assert not js.strict_equals(1, "1")
    assert not js.strict_equals([], [])
    assert js.strict_equals(2**53, 2**53 + 1)
    assert len({js.map_key(key) for key in (1, 1.0, True, "1", None, UNDEFINED)}) == 5
    same: list = []
    assert js.map_key(same) == js.map_key(same)
    assert js.map_key(same) != js.map_key([])


def test_truth() -> None:
    assert [value for value in (0, 0.0, math.nan, "", None, UNDEFINED, False) if js.truthy(value)] == []
    assert all(js.truthy(value) for value in ([], {}, "0", -1, True))


def test_reads_of_properties() -> None:
    assert js.get("a\U0001f600", "length") == 3
    assert js.get("a\U0001f600", "1") == "\ud83d"
    assert js.get([1, 2], "1") == 2
    assert js.get([1, 2], "01") is UNDEFINED
    assert js.get({"1": 2}, "1") == 2
    assert js.get(5, "length") is UNDEFINED
    assert js.last([1, 2]) == 2
    assert js.last("ab") == "b"
    assert js.last({"length": 2, "1": "x"}) == "x"
    assert js.last([]) is UNDEFINED
    assert js.array_index("3") == 3
    assert js.array_index([3]) == 3
    assert js.array_index(3.0) == 3
    assert [js.array_index(key) for key in ("03", -1, 0.5, None, True, "length")] == [None] * 6
    for nothing in (None, UNDEFINED):
        with pytest.raises(BrokenInputError):
            js.get(nothing, "role")


def test_utf16_length() -> None:
    assert js.utf16_length("abc") == 3
    assert js.utf16_length("\u00e9\u6587") == 2
    assert js.utf16_length("\U0001f600") == 2
    assert js.utf16_length("\ud83d") == 1


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("[$&]", "<[x]>"),
        ("[$$]", "<[$]>"),
        ("[$`]", "<[<]>"),
        ("[$']", "<[>]>"),
        ("[$1$0$<n>$]", "<[$1$0$<n>$]>"),
        ("$$&", "<$&>"),
    ],
)
def test_replacement_patterns(template: str, expected: str) -> None:
    found = js.replacement("<x>", "x", template)
    assert found is not None
    start, fresh = found
    assert "<x>"[:start] + fresh + "<x>"[start + 1 :] == expected


def test_only_the_first_place_is_replaced_and_long_searches_are_found_whole() -> None:
    long = "h" * 100
    assert js.find(f"{long[:-1]}x{long}{long}", long) == 100
    assert js.find("abc", "abcd") == -1
    assert js.replacement("abc", "x", "y") is None
    with pytest.raises(BrokenInputError):
        js.replacement(5, "x", "y")


@pytest.mark.parametrize(
    "text",
    ["NaN", "Infinity", "-Infinity", "\ufeff{}", "\u00a0{}", "01", "1.", ".5", "+1", "{,}", "[1,]", "'a'", "{a:1}", "1_0",
     "0x1", "", "{} x", "//\n{}", '"\n"', "tru", '"\\x"'],
)  # fmt: skip
def test_json_that_a_script_refuses(text: str) -> None:
    with pytest.raises(BrokenInputError):
        js_json.parse(text)


def test_json_numbers_are_doubles() -> None:
    assert js_json.parse(" \t\r\n1e400 ") == math.inf
    assert js_json.parse("9007199254740993") == 2**53
    assert isinstance(js_json.parse("9007199254740993"), float)
    assert js_json.parse("1" * 5000) == math.inf
    assert js_json.parse("12") == 12
    assert js_json.parse('{"a":1,"a":2}') == {"a": 2}


def test_json_is_written_byte_for_byte() -> None:
    value = {
        "b": '\u2028\x7f\x00\n"\\/é😀',
        "10": [1.0, 1e21, math.inf, UNDEFINED, None],
        "2": {"x": UNDEFINED},
        "01": True,
    }
    assert js_json.stringify(value) == (
        '{"2":{},"10":[1,1e+21,null,null,null],"b":"\u2028\x7f\\u0000\\n\\"\\\\/é😀","01":true}'
    )
    assert js_json.stringify("\ud83d x \ude00 \ud83d\ude00") == '"\\ud83d x \\ude00 \U0001f600"'
    assert js_json.stringify([]) == "[]"
    assert js_json.stringify({}) == "{}"
