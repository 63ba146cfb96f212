"""Sage's token estimate: UTF-8 bytes divided by a constant, in binary32 arithmetic, rounded up per text.

The binary32 helpers are here too, because every threshold of `config` uses them. Nothing else of a message than its
content is counted: no tool calls, names, metadata or cache marks.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxviewer.domain.json import Json
from ctxviewer.engine.sage.message import SageMessage, ToolSchema

LARGEST_COUNT = 2**64 - 1
"""Counts are unsigned 64-bit; a larger value stops here."""

ROLE_TOKENS = 4
"""What a message costs for its role, beside the provider's overhead."""

TOOL_TOKENS = 20
"""What a tool schema costs beside its three texts."""

_BINARY32 = struct.Struct("<f")
_EXACT_BITS = 53
_STICKY_BITS = 30


def f32(value: float) -> float:
    """The nearest 32-bit float, ties to even; beyond the range +-infinity. Whole numbers of any size are allowed."""
    if isinstance(value, int) and value.bit_length() > _EXACT_BITS:
        value = _narrow(value)
    try:
        return float(_BINARY32.unpack(_BINARY32.pack(value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _narrow(value: int) -> float:
    """A double that rounds to the same 32-bit float as `value`, so that nothing is rounded twice."""
    size = abs(value)
    shift = size.bit_length() - _STICKY_BITS
    top = size >> shift
    if size != top << shift:
        top |= 1
    try:
        narrowed = math.ldexp(top, shift)
    except OverflowError:
        narrowed = math.inf
    return -narrowed if value < 0 else narrowed


def times32(left: float, right: float) -> float:
    """left x right in binary32."""
    return f32(f32(left) * f32(right))


def over32(left: float, right: float) -> float:
    """left / right in binary32; x / 0 is +-infinity, 0 / 0 is NaN."""
    top, bottom = f32(left), f32(right)
    if bottom:
        return f32(top / bottom)
    if not top or math.isnan(top):
        return math.nan
    return math.copysign(math.inf, top) * math.copysign(1.0, bottom)


def count(value: float) -> int:
    """A cast to an unsigned 64-bit count: NaN and negatives give 0, large ones 2^64 - 1, the rest is truncated."""
    if not value > 0:
        return 0
    return int(value) if value <= LARGEST_COUNT else LARGEST_COUNT


def saturating(left: int, right: int) -> int:
    """left - right, but never below 0."""
    return max(0, left - right)


def utf8_length(text: str) -> int:
    """Bytes of `text` in UTF-8; a lone surrogate counts 3."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def json_text(value: Json) -> str:
    """The JSON text that is measured: no blanks, non-ASCII characters as they are, key order kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class TokenEstimator:
    """A provider's figures. The default is the one for unknown providers and for none."""

    chars_per_token: float = 4.0
    """Really UTF-8 bytes per token."""
    message_overhead: int = 4
    """Tokens per message, without the role's."""

    @classmethod
    def for_provider(cls, provider: str | None) -> TokenEstimator:
        """The figures of a provider; the name is compared exactly, with case. Others get the default."""
        return _BY_PROVIDER.get(provider or "", DEFAULT_ESTIMATOR)

    def text(self, text: str) -> int:
        """Tokens of one text, rounded up; 0 when `chars_per_token` is not finite or not positive."""
        per_token = f32(self.chars_per_token)
        if not (math.isfinite(per_token) and per_token > 0):
            return 0
        tokens = over32(utf8_length(text), per_token)
        return count(math.ceil(tokens) if math.isfinite(tokens) else tokens)

    def message(self, message: SageMessage) -> int:
        """Tokens of one message; at least its fixed cost, also when empty."""
        return self.text(message.content) + ROLE_TOKENS + self.message_overhead

    def each(self, messages: Iterable[SageMessage]) -> tuple[int, ...]:
        """Tokens of each message, in order. Their sum is `conversation`."""
        return tuple(self.message(message) for message in messages)

    def conversation(self, messages: Iterable[SageMessage]) -> int:
        """Tokens of a list of messages."""
        return sum(self.message(message) for message in messages)

    def tool(self, tool: ToolSchema) -> int:
        """Tokens of one tool schema."""
        texts = (tool.name, tool.description, json_text(tool.parameters))
        return sum(self.text(text) for text in texts) + TOOL_TOKENS

    def tools(self, tools: Iterable[ToolSchema]) -> int:
        """Tokens of all tool schemas."""
        return sum(self.tool(tool) for tool in tools)

    def request(self, messages: Iterable[SageMessage], tools: Sequence[ToolSchema] = ()) -> int:
        """Tokens of a request; it has no constant of its own."""
        return self.conversation(messages) + self.tools(tools)


DEFAULT_ESTIMATOR = TokenEstimator()

_BY_PROVIDER = {
    "anthropic": TokenEstimator(4.0, 8),
    "openai": TokenEstimator(4.0, 4),
    "google": TokenEstimator(4.5, 6),
}
