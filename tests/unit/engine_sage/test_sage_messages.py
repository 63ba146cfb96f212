"""Reading Sage's messages and tools from JSON."""

from __future__ import annotations

from typing import Any

import pytest

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.engine.sage.message import Role, SageMessage, ToolCall, ToolSchema, read_message, read_tool


def test_every_field_is_read() -> None:
    value: dict[str, Any] = {
        "role": "assistant",
        "content": "hello",
        "tool_calls": [
            {"id": "c1", "name": "grep", "arguments": {"q": "x"}, "call_id": "k"},
            {"id": "c2", "name": "ls"},
        ],
        "tool_call_id": "c0",
        "name": "n",
        "cache_control": {"type": "ephemeral"},
        "metadata": {"compact_boundary": True},
        "unknown": 1,
    }
    assert read_message(value) == SageMessage(
        Role.ASSISTANT,
        "hello",
        (ToolCall("c1", "grep", {"q": "x"}, "k"), ToolCall("c2", "ls", {})),
        "c0",
        "n",
        {"type": "ephemeral"},
        {"compact_boundary": True},
    )


def test_absent_and_null_fields_are_empty() -> None:
    bare = SageMessage(Role.TOOL, "")
    assert read_message({"role": "tool", "content": ""}) == bare
    nulls = {"tool_calls": None, "tool_call_id": None, "name": None, "cache_control": None, "metadata": None}
    assert read_message({"role": "tool", "content": "", **nulls}) == bare
    assert bare.metadata == {}
    assert bare.tool_calls is None
    assert read_message({"role": "tool", "content": "", "tool_calls": []}).tool_calls == ()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "not an object"),
        ([], "not an object"),
        ({"content": "x"}, "unknown role"),
        ({"role": "developer", "content": "x"}, "developer"),
        ({"role": ["user"], "content": "x"}, "unknown role"),
        ({"role": "user"}, "no text content"),
        ({"role": "user", "content": [{"type": "text"}]}, "no text content"),
        ({"role": "user", "content": "", "metadata": []}, "metadata"),
        ({"role": "user", "content": "", "tool_calls": {}}, "not a list"),
        ({"role": "user", "content": "", "tool_calls": ["x"]}, "tool call"),
        ({"role": "user", "content": "", "tool_calls": [{"id": 1, "name": "x"}]}, "no id"),
        ({"role": "user", "content": "", "tool_calls": [{"id": "1", "name": "x", "arguments": "{}"}]}, "arguments"),
        ({"role": "user", "content": "", "tool_call_id": 5}, "tool_call_id"),
    ],
)
def test_broken_messages_say_what_is_wrong(value: Any, words: str) -> None:
    with pytest.raises(BrokenInputError, match=words) as caught:
        read_message(value, place="file, line 3")
    assert caught.value.place == "file, line 3"


def test_tools() -> None:
    assert read_tool({"name": "a", "description": "b", "parameters": [1]}) == ToolSchema("a", "b", [1])
    assert read_tool({"name": "a", "description": "b"}).parameters is None
    for broken in (None, {"name": "a"}, {"name": 1, "description": "b"}):
        with pytest.raises(BrokenInputError):
            read_tool(broken)


def test_messages_can_be_keys() -> None:
    one = read_message({"role": "user", "content": "x", "metadata": {"a": []}, "cache_control": {}})
    assert len({one, read_message({"role": "user", "content": "x"})}) == 2
