"""sage.md §2 and §4: binary32, counts, bytes, and what each thing costs."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import pytest

from ctxviewer.engine.sage.estimator import (
    DEFAULT_ESTIMATOR,
    LARGEST_COUNT,
    TokenEstimator,
    count,
    f32,
    json_text,
    over32,
    saturating,
    times32,
    utf8_length,
)
from ctxviewer.engine.sage.message import Role, SageMessage, ToolCall, ToolSchema

ANTHROPIC = TokenEstimator.for_provider("anthropic")
OPENAI = TokenEstimator.for_provider("openai")
GOOGLE = TokenEstimator.for_provider("google")


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("abc", 3),
        ("界", 3),
        ("🙂", 4),
        ("\u00e9", 2),
        ("e\u0301", 3),
        ("\ud83d", 3),
        ("a\udc00b", 5),
        ("\0", 1),
    ],
)
def test_length_is_bytes(text: str, length: int) -> None:
    assert utf8_length(text) == length


@pytest.mark.parametrize("value", [0.1, 0.95, 4.5, 1 / 3, -2.7, 16_777_217, 1e-45, 3.4028234663852886e38, 0.0])
def test_f32_is_a_32_bit_float(value: float) -> None:
    assert f32(value) == struct.unpack("<f", struct.pack("<f", value))[0]


def test_f32_beyond_the_range_is_infinite() -> None:
    assert f32(1e39) == math.inf
    assert f32(-1e39) == -math.inf
    assert f32(10**400) == math.inf
    assert f32(-(10**400)) == -math.inf
    assert f32(math.inf) == math.inf
    assert math.isnan(f32(math.nan))
    assert f32(1e-60) == 0.0


def test_whole_numbers_are_rounded_once() -> None:
    between = 2**54 + 2**30  # half-way between two 32-bit floats: to the even one below
    assert f32(between) == 2.0**54
    assert f32(between + 1) == 2.0**54 + 2.0**31
    assert f32(-between - 1) == -(2.0**54) - 2.0**31


@pytest.mark.parametrize("value", [2**53 + 1, 2**60 - 1, 2**63 + 2**39 + 1, LARGEST_COUNT, 3**50, 2**100 + 2**76 + 1])
def test_large_whole_numbers_have_no_nearer_float(value: int) -> None:
    near = f32(value)
    bits = struct.unpack("<I", struct.pack("<f", near))[0]
    neighbours = [struct.unpack("<f", struct.pack("<I", bits + step))[0] for step in (-1, 1)]
    assert all(abs(Fraction(near) - value) <= abs(Fraction(other) - value) for other in neighbours)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (math.nan, 0),
        (-math.inf, 0),
        (-0.5, 0),
        (0.0, 0),
        (0.999, 0),
        (1.999, 1),
        (2.0**63, 2**63),
        (2.0**64, LARGEST_COUNT),
        (1e30, LARGEST_COUNT),
        (math.inf, LARGEST_COUNT),
    ],
)
def test_count_is_a_cast(value: float, number: int) -> None:
    assert count(value) == number


def test_dividing_by_zero() -> None:
    assert over32(1, 0) == math.inf
    assert over32(-1, 0) == -math.inf
    assert over32(1, -0.0) == -math.inf
    assert math.isnan(over32(0, 0))
    assert math.isnan(over32(math.nan, 0))
    assert math.isnan(over32(math.inf, math.inf))


def test_operands_are_rounded_before_and_after() -> None:
    assert over32(16_777_217, 1) == 16_777_216
    assert times32(20_000_001, 0.9) == 18_000_000
    assert times32(200_000, 0.53) == 105_999.9921875
    assert times32(1e30, 1e30) == math.inf


def test_differences_stop_at_zero() -> None:
    assert (saturating(3, 5), saturating(5, 3)) == (0, 2)


def test_measured_json_has_no_blanks_and_no_escapes() -> None:
    assert json_text({"b": [1, 2.5, None], "a": "é🙂\n"}) == '{"b":[1,2.5,null],"a":"é🙂\\n"}'


@pytest.mark.parametrize(
    ("provider", "figures"),
    [
        ("anthropic", (4.0, 8)),
        ("openai", (4.0, 4)),
        ("google", (4.5, 6)),
        ("Anthropic", (4.0, 4)),
        ("mistral", (4.0, 4)),
        ("", (4.0, 4)),
        (None, (4.0, 4)),
    ],
)
def test_figures_by_exact_provider_name(provider: str | None, figures: tuple[float, int]) -> None:
    estimator = TokenEstimator.for_provider(provider)
    assert (estimator.chars_per_token, estimator.message_overhead) == figures


@pytest.mark.parametrize(("estimator", "tokens"), [(ANTHROPIC, 12), (OPENAI, 8), (GOOGLE, 10), (DEFAULT_ESTIMATOR, 8)])
def test_an_empty_message_has_a_fixed_cost(estimator: TokenEstimator, tokens: int) -> None:
    assert estimator.message(SageMessage(Role.USER, "")) == tokens
    assert estimator.text("") == 0


def test_text_is_rounded_up() -> None:
    assert [OPENAI.text("a" * length) for length in (1, 4, 5, 8, 9)] == [1, 1, 2, 2, 3]
    assert [GOOGLE.text("a" * length) for length in (4, 5, 9, 10)] == [1, 2, 2, 3]
    assert OPENAI.text("\ud800") == 1


def test_huge_texts_show_the_binary32() -> None:
    assert OPENAI.text("a" * 16_777_217) == 4_194_304
    assert GOOGLE.text("a" * 9_437_189) == 2_097_153


@pytest.mark.parametrize("per_token", [0.0, -1.0, math.nan, math.inf, -math.inf, 1e39, 1e-60])
def test_no_usable_figure_counts_nothing(per_token: float) -> None:
    assert TokenEstimator(per_token, 4).text("abc") == 0


def test_a_tiny_figure_reaches_the_largest_count() -> None:
    assert TokenEstimator(1e-44, 4).text("abc") == LARGEST_COUNT


def test_only_the_content_of_a_message_counts() -> None:
    full = SageMessage(
        Role.ASSISTANT,
        "ok",
        tool_calls=(ToolCall("c1", "read_file", {"path": "p" * 400}),),
        tool_call_id="c" * 400,
        name="n" * 400,
        cache_control={"type": "ephemeral"},
        metadata={"note": "m" * 400},
    )
    assert OPENAI.message(full) == OPENAI.message(SageMessage(Role.USER, "ok")) == 9


def test_each_message_is_rounded_by_itself() -> None:
    messages = [SageMessage(Role.USER, "a") for _ in range(5)]
    assert OPENAI.each(messages) == (9, 9, 9, 9, 9)
    assert OPENAI.conversation(messages) == 45
    assert OPENAI.conversation([]) == 0


def test_a_tool_costs_its_texts_and_twenty() -> None:
    tool = ToolSchema("grep", "look for text", {"type": "object"})
    assert OPENAI.tool(tool) == 1 + 4 + 5 + 20
    assert OPENAI.tools([tool, tool]) == 60
    assert OPENAI.tool(ToolSchema("", "", None)) == 0 + 0 + 1 + 20


def test_a_request_has_no_constant() -> None:
    message = SageMessage(Role.USER, "abcd")
    assert OPENAI.request([message]) == OPENAI.request([message], []) == 9
    assert OPENAI.request([message], [ToolSchema("grep", "look for text", {"type": "object"})]) == 39
    assert OPENAI.request([]) == 0
