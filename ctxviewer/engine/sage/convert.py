"""Cline's conversations as Sage messages: what a stored message becomes, and which blocks each part stands for.

The way back to the picture is in `picture`. Input is damaged at times, so nothing here fails: what is not understood
adds no text but keeps its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ctxviewer.domain.json import Json, JsonObject, Messages, as_text, is_object
from ctxviewer.engine.sage.message import Role, SageMessage, ToolCall

BlockNumbers: TypeAlias = "Sequence[int | None]"
"""For each block of a message as sent its stored number; None for a block that a repair added."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The part of a stored message that one Sage message stands for."""

    message: int | None
    """Stored number; None for a message that is not stored."""
    blocks: tuple[int, ...] = ()
    """Stored block numbers. Empty with `whole`, and for what a repair added."""
    whole: bool = False
    """String content or no blocks at all."""

    @property
    def is_repair(self) -> bool:
        """True when nothing stored stands behind it."""
        return self.message is None or not (self.whole or self.blocks)


@dataclass(frozen=True, slots=True)
class CallPair:
    """A tool call and a result that answers it, by Sage numbers. A call with two results gives two pairs."""

    tool_id: str
    call: int
    """Number of the assistant message."""
    call_block: int | None
    """Stored number of the `tool_use` block; None when it is not stored."""
    result: int
    """Number of the tool message."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A conversation as Sage's list, numbered from 0."""

    messages: Sequence[SageMessage]
    origins: Sequence[Origin | None]
    """One for each message; None for the system prompt, which is not stored."""
    pairs: Sequence[CallPair]
    parts: Mapping[int, Sequence[int]]
    """By stored message the numbers of the Sage messages made from it, in order."""


@dataclass(frozen=True, slots=True)
class _Call:
    number: int
    block: int | None
    name: str


class Converter:
    """Converts a conversation message by message, for histories that grow. Not for two threads."""

    def __init__(self, system_prompt: str | None = None) -> None:
        """A known system prompt becomes message 0, without origin."""
        self._messages: list[SageMessage] = []
        self._origins: list[Origin | None] = []
        self._pairs: list[CallPair] = []
        self._parts: dict[int, tuple[int, ...]] = {}
        self._calls: dict[str, _Call] = {}
        if system_prompt is not None:
            self._messages.append(SageMessage(Role.SYSTEM, system_prompt))
            self._origins.append(None)

    def add(self, value: Json, number: int | None, blocks: BlockNumbers | None = None) -> Sequence[SageMessage]:
        """Convert one more message and return the Sage messages that it became, at least one.

        `number` is the stored number, None if the message is not stored. `blocks` may be left out when each block
        stands where it is stored. Raises ValueError when `blocks` has another length than the content.
        """
        before = len(self._messages)
        fields: JsonObject = value if is_object(value) else {}
        content, role = fields.get("content"), _role(fields)
        if not isinstance(content, list) or not content:
            self._append(SageMessage(role, as_text(content)), Origin(number, whole=True))
        else:
            numbers: BlockNumbers = range(len(content)) if blocks is None else blocks
            if len(numbers) != len(content):
                raise ValueError(f"{len(numbers)} block numbers for {len(content)} blocks")
            placed = list(zip(numbers, content, strict=True))
            if role is Role.USER:
                self._add_user(placed, number)
            else:
                self._add_plain(role, placed, number)
        metadata = fields.get("metadata")
        if is_object(metadata) and metadata:
            last = self._messages[-1]
            self._messages[-1] = replace(last, metadata={**metadata, **last.metadata})
        if number is not None:
            self._parts[number] = (*self._parts.get(number, ()), *range(before, len(self._messages)))
        return self._messages[before:]

    def origin(self, number: int) -> Origin | None:
        """Where Sage message `number` comes from; None for the system prompt."""
        return self._origins[number]

    def result(self) -> Converted:
        """What has been converted so far."""
        return Converted(tuple(self._messages), tuple(self._origins), tuple(self._pairs), dict(self._parts))

    def _append(self, message: SageMessage, origin: Origin) -> None:
        self._messages.append(message)
        self._origins.append(origin)

    def _add_plain(self, role: Role, placed: list[tuple[int | None, Json]], number: int | None) -> None:
        """One message for all blocks; an assistant's `tool_use` blocks become its calls."""
        calls: list[ToolCall] = []
        if role is Role.ASSISTANT:
            for place, block in placed:
                if is_object(block) and block.get("type") == "tool_use":
                    call = _call(block)
                    calls.append(call)
                    if call.id:
                        self._calls[call.id] = _Call(len(self._messages), place, call.name)
        text = _texts(block for _, block in placed)
        self._append(SageMessage(role, text, tuple(calls) or None), _origin(number, (place for place, _ in placed)))

    def _add_user(self, placed: list[tuple[int | None, Json]], number: int | None) -> None:
        """A tool message for each result, then one user message for everything else."""
        others: list[tuple[int | None, Json]] = []
        for place, block in placed:
            if is_object(block) and block.get("type") == "tool_result":
                self._add_result(block, _origin(number, (place,)))
            else:
                others.append((place, block))
        if others:
            text = _texts(block for _, block in others)
            self._append(SageMessage(Role.USER, text), _origin(number, (place for place, _ in others)))

    def _add_result(self, block: JsonObject, origin: Origin) -> None:
        content, tool_id = block.get("content"), as_text(block.get("tool_use_id"))
        call = self._calls.get(tool_id)
        if call is not None:
            self._pairs.append(CallPair(tool_id, call.number, call.block, len(self._messages)))
        self._append(
            SageMessage(
                Role.TOOL,
                _texts(content) if isinstance(content, list) else as_text(content),
                tool_call_id=tool_id or None,
                name=call.name if call else None,
                metadata={"is_error": block["is_error"]} if "is_error" in block else {},
            ),
            origin,
        )


def convert(
    messages: Messages,
    *,
    numbers: Iterable[int | None] | None = None,
    blocks: Iterable[BlockNumbers | None] | None = None,
    system_prompt: str | None = None,
) -> Converted:
    """A conversation, normally as sent, as Sage's list. Each message is looked at once, in order.

    `numbers` and `blocks` are as long as `messages` and hold what `Converter.add` takes for each; without them every
    message and block has the number of its place. Raises ValueError when lengths differ.
    """
    converter = Converter(system_prompt)
    places: Iterable[int | None] = range(len(messages)) if numbers is None else numbers
    if blocks is None:
        for number, value in zip(places, messages, strict=True):
            converter.add(value, number)
    else:
        for number, value, held in zip(places, messages, blocks, strict=True):
            converter.add(value, number, held)
    return converter.result()


def _role(fields: JsonObject) -> Role:
    """The stored role; a role that Sage does not know, or none, is read as the user's."""
    role = as_text(fields.get("role"))
    return Role(role) if role in _ROLES else Role.USER


_ROLES = frozenset(role.value for role in Role)


def _origin(number: int | None, places: Iterable[int | None]) -> Origin:
    return Origin(number, tuple(place for place in places if place is not None))


def _texts(blocks: Iterable[Json]) -> str:
    """The non-empty texts of the `text` blocks, joined by one newline."""
    found = (as_text(block.get("text")) for block in blocks if is_object(block) and block.get("type") == "text")
    return "\n".join(text for text in found if text)


def _call(block: JsonObject) -> ToolCall:
    arguments, call_id = block.get("input"), block.get("call_id")
    return ToolCall(
        as_text(block.get("id")),
        as_text(block.get("name")),
        arguments if is_object(arguments) else {},
        call_id if isinstance(call_id, str) else None,
    )
