"""The table of context windows, and how ids of many providers find their row."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from ctxviewer.sources.cline.history import Model
from ctxviewer.sources.cline.model_facts import plain_id, table, window_from_table


@pytest.mark.parametrize(
    ("model_id", "provider", "window"),
    [
        ("claude-3-7-sonnet-20250219", "anthropic", 200_000),
        ("claude-opus-4-6", "anthropic", 200_000),
        ("claude-opus-4-6:1m", "anthropic", 1_000_000),
        ("claude-sonnet-4-6[1m]", "claude-code", 1_000_000),
        ("anthropic/claude-sonnet-4.5", "openrouter", 200_000),
        ("anthropic/claude-sonnet-4.5:1m", "cline", 1_000_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock", 200_000),
        ("anthropic.claude-3-haiku-20240307-v1:0", "bedrock", 200_000),
        ("claude-3-5-sonnet-v2@20241022", "vertex", 200_000),
        ("sonnet", "claude-code", 200_000),
        ("gpt-4o-mini", "openai-native", 128_000),
        ("openai/gpt-4.1", "openrouter", 1_047_576),
        ("gpt-5-2025-08-07", "openai-native", 272_000),
        ("gpt-5.2-codex", "openai-native", 400_000),
        ("gpt-5.4", "openai-native", 1_050_000),
        ("o4-mini", "openai-native", 200_000),
        ("o1-preview", "openai-native", 128_000),
        ("openai/gpt-oss-120b", "groq", 131_072),
        ("gpt-oss:20b", "ollama", 32_768),
        ("gemini-2.5-pro", "gemini", 1_048_576),
        ("gemini-1.5-pro-002", "vertex", 2_097_152),
        ("deepseek-chat", "deepseek", 128_000),
        ("deepseek-v4-pro", "deepseek", 1_048_576),
        ("deepseek-v4-pro", "openai", 128_000),
        ("DeepSeek-R1", "openai", 128_000),
        ("deepseek.r1-v1:0", "bedrock", 64_000),
        ("qwen3-coder-plus", "qwen", 1_000_000),
        ("qwen/qwen3-coder:exacto", "openrouter", 262_144),
        ("x-ai/grok-code-fast-1", "cline", 256_000),
        ("grok-4-1-fast-reasoning", "xai", 2_000_000),
        ("meta-llama/Llama-3.3-70B-Instruct-fast", "nebius", 131_072),
        ("llama-4-maverick-17b-128e-instruct-maas", "vertex", 1_048_576),
        ("mistralai/devstral-2512", "openrouter", 256_000),
        ("codestral-2501", "mistral", 256_000),
        ("moonshotai/kimi-k2.5", "openrouter", 262_144),
        ("accounts/fireworks/models/kimi-k2p6", "fireworks", 262_144),
        ("z-ai/glm-4.6", "openrouter", 200_000),
        ("zai-glm-4.7", "cerebras", 200_000),
        ("amazon.nova-pro-v1:0", "bedrock", 300_000),
        ("minimax/minimax-m2.5", "cline", 204_800),
        ("nobody/knows-this", "openrouter", None),
        ("", "anthropic", None),
    ],
)
def test_windows(model_id, provider, window):
    assert window_from_table(Model(model_id, provider)) == window


def test_plain_ids():
    assert plain_id(" US.Anthropic.Claude-3.5@x ") == "claude-3-5-x"
    assert plain_id("glm-4p6") == "glm-4-6"
    assert plain_id("gpt-4.1-mini") == "gpt-4-1-mini"


def test_every_row_is_in_order():
    rows = table()
    assert len(rows) > 100
    for row in rows:
        assert row.match == row.match.lower()
        assert 8_000 <= row.window <= 10_500_000
        assert row.source
    assert len({(row.provider, row.match) for row in rows}) == len(rows)


def test_no_row_is_hidden_by_one_before_it():
    """A pattern that another one swallows could never count."""
    rows = [row for row in table() if not row.provider]
    for number, row in enumerate(rows):
        sample = row.match.replace("[[]", "[").replace("[]]", "]")
        sample = sample.replace("[4-9]", "4").replace("[1-3]", "1").replace("[5-9]", "5").replace("[67]", "6")
        sample = sample.replace("[1-9]", "1").replace("[2-9][0-9]", "25").replace("*", "")
        hiding = [before.match for before in rows[:number] if fnmatchcase(sample, before.match)]
        assert not hiding, (row.match, hiding)
