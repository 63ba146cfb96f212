"""Cutting long texts: nothing is lost, pieces are bounded, and the count stays the tokenizer's own."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxviewer.tokens import chunks
from ctxviewer.tokens.chunks import HARD, SOFT, pieces

PROJECT = Path(__file__).resolve().parents[3]
LETTERS = "ab Zé \n\n\t.,{}()'\"=/-9 7 中文字。ё🙂\u0301 \u3000\r\n"


def _mixed(seed: int, size: int) -> str:
    chance = random.Random(seed)
    words = [
        "def",
        "return",
        "self.x",
        "don't",
        "WE'LL",
        "12345",
        "  ",
        "\n",
        "\n\n",
        "\n\t",
        " \n",
        "\r\n",
        "日本語",
        "文件",
        "🙂🙂",
        "é",
        "…",
        "{",
        "}",
        "//",
        "--",
        "\u3000",
        "x\u0301",
    ]
    return "".join(chance.choice(words) + chance.choice(["", " ", " ", "\n"]) for _ in range(size))


@pytest.mark.parametrize("size", [0, 1, SOFT, SOFT + 1, HARD, HARD + 1, 400_000])
def test_pieces_are_bounded_and_lose_nothing_without_a_safe_place(size: int):
    text = " " * size
    got = list(pieces(text))
    assert "".join(got) == text
    assert max(len(piece) for piece in got) <= HARD


def test_a_cut_is_made_after_a_line_end_before_a_letter_soon_after_the_soft_limit():
    text = ("x" * 99 + "\n") * 2_000
    got = list(pieces(text))
    assert "".join(got) == text
    assert all(piece.endswith("\n") for piece in got)
    assert all(SOFT <= len(piece) <= SOFT + 100 for piece in got[:-1])


def test_a_safe_place_exactly_at_the_hard_limit_is_used_and_one_behind_it_is_not():
    at_limit = " " * (HARD - 1) + "\n" + "word"
    assert [len(piece) for piece in pieces(at_limit)] == [HARD, 4]
    behind = " " * HARD + "\n" + "word"
    assert [len(piece) for piece in pieces(behind)] == [HARD, 5]


@given(st.text(alphabet=LETTERS, max_size=400))
def test_cut_counts_equal_uncut_counts_on_any_text_with_many_cuts(o200k, text: str):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "SOFT", 8)
        parts = list(pieces(text))
    assert "".join(parts) == text
    whole = o200k.encoding.encode_ordinary(text)
    assert [token for part in parts for token in o200k.encoding.encode_ordinary(part)] == whole


@pytest.mark.parametrize("seed", range(4))
def test_cut_counts_equal_uncut_counts_on_mid_size_mixed_text(counter, seed: int):
    text = _mixed(seed, 60_000)
    assert len(list(pieces(text))) > 3
    assert counter.count(text) == len(counter.encoding.encode_ordinary(text))


def test_cut_counts_equal_uncut_counts_on_the_sources_of_this_project(counter):
    files = sorted((PROJECT / "ctxviewer").rglob("*.py")) + sorted((PROJECT / "docs").glob("*.md"))
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    assert len(list(pieces(text))) > 2
    assert counter.count(text) == len(counter.encoding.encode_ordinary(text))
