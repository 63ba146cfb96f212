"""Sage's conversation as values: messages, tool calls, tool schemas. Reading them from JSON; no rule lives here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json, JsonObject, is_object

ModelCall: TypeAlias = Callable[[str], str]
"""Takes the prompt (one user message, no tools) and returns the reply, or raises; what it raises propagates."""

TextMaker: TypeAlias = Callable[[], str]
"""Returns a new text at each call: the time now (RFC 3339, UTC) or a new id (UUID v4)."""


class Role(StrEnum):
    """The five roles of a Sage message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that an assistant message makes."""

    id: str
    name: str
    arguments: Mapping[str, Json] = field(default_factory=dict, hash=False)
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class SageMessage:
    """One message of Sage's list. Rules tell messages apart by their position, never by their content."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] | None = None
    """None where the field is absent; an empty list stays an empty tuple."""
    tool_call_id: str | None = None
    """The call that a tool message answers."""
    name: str | None = None
    cache_control: Json = field(default=None, hash=False)
    metadata: Mapping[str, Json] = field(default_factory=dict, hash=False)
    """Empty when absent. Must not be changed after the message was made."""


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool that is offered to the model."""

    name: str
    description: str
    parameters: Json = field(default=None, hash=False)


def read_message(value: Json, *, place: str = "") -> SageMessage:
    """A message from decoded JSON.

    Raises BrokenInputError, with `place`, where a known field has another type than Sage writes. null counts as
    absent; unknown fields are not kept.
    """
    if not is_object(value):
        raise _broken("a message is not an object", place)
    role, content = value.get("role"), value.get("content")
    if not isinstance(role, str) or role not in set(Role):
        raise _broken(f"a message has the unknown role {role!r}", place)
    if not isinstance(content, str):
        raise _broken("a message has no text content", place)
    metadata = value.get("metadata")
    if metadata is not None and not is_object(metadata):
        raise _broken("the metadata of a message is not an object", place)
    return SageMessage(
        role=Role(role),
        content=content,
        tool_calls=_read_calls(value.get("tool_calls"), place),
        tool_call_id=_optional_text(value, "tool_call_id", place),
        name=_optional_text(value, "name", place),
        cache_control=value.get("cache_control"),
        metadata=metadata or {},
    )


def read_tool(value: Json, *, place: str = "") -> ToolSchema:
    """A tool schema from decoded JSON. Raises BrokenInputError where name or description is no text."""
    if not is_object(value):
        raise _broken("a tool is not an object", place)
    name, description = value.get("name"), value.get("description")
    if not isinstance(name, str) or not isinstance(description, str):
        raise _broken("a tool has no name or no description", place)
    return ToolSchema(name, description, value.get("parameters"))


def _read_calls(value: Json, place: str) -> tuple[ToolCall, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise _broken("tool_calls is not a list", place)
    return tuple(_read_call(item, place) for item in value)


def _read_call(value: Json, place: str) -> ToolCall:
    if not is_object(value):
        raise _broken("a tool call is not an object", place)
    call_id, name, arguments = value.get("id"), value.get("name"), value.get("arguments")
    if not isinstance(call_id, str) or not isinstance(name, str):
        raise _broken("a tool call has no id or no name", place)
    if arguments is not None and not is_object(arguments):
        raise _broken("the arguments of a tool call are not an object", place)
    return ToolCall(call_id, name, arguments or {}, _optional_text(value, "call_id", place))


def _optional_text(value: JsonObject, key: str, place: str) -> str | None:
    found = value.get(key)
    if found is None or isinstance(found, str):
        return found
    raise _broken(f"{key} is not text", place)


def _broken(sentence: str, place: str) -> BrokenInputError:
    return BrokenInputError(f"Broken Sage conversation: {sentence}.", place=place)
