"""Which encoding a model is counted with, and that the sentence says how near it is."""

import pytest

from ctxviewer.tokens.choice import encoding_for


@pytest.mark.parametrize(
    ("model", "encoding", "own"),
    [
        ("gpt-4o-2024-11-20", "o200k_base", True),
        ("openai/gpt-4.1-mini", "o200k_base", True),
        ("gpt-5-codex", "o200k_base", True),
        ("openai/o3-mini", "o200k_base", True),
        ("gpt-oss:20b", "o200k_base", True),
        ("gpt-4", "cl100k_base", True),
        ("gpt-4-turbo-2024-04-09", "cl100k_base", True),
        ("gpt-3.5-turbo", "cl100k_base", True),
        ("claude-sonnet-4-20250514", "o200k_base", False),
        ("anthropic/claude-3.7-sonnet", "o200k_base", False),
        ("deepseek-chat", "o200k_base", False),
        ("qwen3-coder:30b", "o200k_base", False),
        ("foo1-mini", "o200k_base", False),
        ("", "o200k_base", False),
    ],
)
def test_encoding_of_a_model(model: str, encoding: str, own: bool):
    choice = encoding_for(model)
    assert (choice.encoding, choice.own) == (encoding, own)
    assert (model or "an unknown model") in choice.sentence
    assert ("own way" in choice.sentence) is not own
