"""sage.md §12: the summary without a model, the prompt, and the reading of a reply."""

from __future__ import annotations

import re

import pytest

from ctxviewer.engine.sage.message import Role, SageMessage, ToolCall
from ctxviewer.engine.sage.summarizer import (
    WHITE_SPACE,
    ask_for_summary,
    extract_summary,
    shorten,
    simple_summary,
    summary_prompt,
    trim,
)
from helpers.sage_talk import StubModel, talk


@pytest.mark.parametrize(
    ("text", "numbers"), [("", ["0", "0"]), ("s:1 u:2 a:3 u:4 t:5 e:6", ["2", "1"]), ("t:x", ["0", "0"])]
)
def test_without_a_model_two_numbers(text: str, numbers: list[str]) -> None:
    assert re.findall(r"\d+", simple_summary(talk(text))) == numbers


def test_exactly_the_listed_characters_are_trimmed() -> None:
    ranges = ["0009-000D", "0020", "0085", "00A0", "1680", "2000-200A", "2028", "2029", "202F", "205F", "3000"]
    expected: set[str] = set()
    for part in ranges:
        first, _, last = part.partition("-")
        expected.update(chr(code) for code in range(int(first, 16), int(last or first, 16) + 1))
    assert set(WHITE_SPACE) == expected
    assert trim(WHITE_SPACE + "a b" + WHITE_SPACE) == "a b"
    for kept in "\x1c\x1d\x1e\x1f\u200b\ufeff\u180e":
        assert trim(f" {kept} ") == kept


@pytest.mark.parametrize(
    ("reply", "summary"),
    [
        ("<summary> x </summary>", "x"),
        (" x ", "x"),
        ("<summary></summary>", "<summary></summary>"),
        ("<summary>  </summary>", ""),
        ("</summary><summary>x</summary>", "</summary><summary>x</summary>"),
        ("a </summary> b <summary>x</summary> ", "a </summary> b <summary>x</summary>"),
        ("<summary>a</summary><summary>b</summary>", "a"),
        ("<summary>a<summary>b</summary>", "a<summary>b"),
        ("<Summary>x</Summary>", "<Summary>x</Summary>"),
        ("<summary>x", "<summary>x"),
        ("x</summary>", "x</summary>"),
        ("before <summary>\x1cx\x1c</summary> after", "\x1cx\x1c"),
        ("", ""),
    ],
)
def test_extraction(reply: str, summary: str) -> None:
    assert extract_summary(reply) == summary


def test_cutting_counts_code_points() -> None:
    assert shorten("🙂" * 1000) == "🙂" * 1000
    assert shorten("🙂" * 1001) == "🙂" * 997 + "..."
    assert shorten("") == ""


def test_the_prompt_asks_for_everything() -> None:
    prompt = summary_prompt(talk("u:hello"))
    assert prompt.index("<analysis>") < prompt.index("<summary>")
    assert len(re.findall(r"^\d\. ", prompt, re.MULTILINE)) == 9
    wanted = "user asked for|why|echnical concepts|iles and code|excerpts|rrors|user said|solved|not the result of a tool|ending tasks|just before|Next step|quotation"
    assert [word for word in wanted.split("|") if word not in prompt] == []


def test_the_prompt_shows_the_conversation() -> None:
    calls = (ToolCall("c1", "read_file", {"path": "secret.txt"}), ToolCall("c2", "grep", {}))
    messages = [
        SageMessage(Role.SYSTEM, "the rules"),
        SageMessage(Role.USER, "please"),
        SageMessage(Role.ASSISTANT, "looking", tool_calls=calls, tool_call_id="ignored"),
        SageMessage(Role.TOOL, "x" * 1001, tool_call_id="c1"),
        SageMessage(Role.ERROR, "", tool_calls=()),
    ]
    prompt = summary_prompt(messages)
    shown = [
        "USER:\nplease",
        "ASSISTANT (calls read_file, grep):\nlooking",
        "TOOL (answers c1):\n" + "x" * 997 + "...",
        "ERROR:\n",
    ]
    assert prompt.endswith("\n\n" + "\n\n".join(shown))
    assert "the rules" not in prompt
    assert "secret.txt" not in prompt


def test_asking() -> None:
    model = StubModel("  <summary>raw</summary> ")
    messages = talk("u:a")
    assert ask_for_summary(messages, model) == "  <summary>raw</summary> "
    assert model.prompts == [summary_prompt(messages)]
    assert ask_for_summary(messages, None) == simple_summary(messages)
