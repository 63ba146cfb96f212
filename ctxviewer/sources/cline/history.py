"""Facts of API messages that can be had without decoding their contents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec

from ctxviewer.domain.json import JsonObject, as_int, as_name, as_number, as_text
from ctxviewer.sources.rawjson import decode
from ctxviewer.sources.rawlog import RawLog

_USER = b'{"role":"user",'
_ASSISTANT = b'{"role":"assistant",'
_TAIL = 2_000
"""The facts behind the content of an answer fit into so many bytes."""
_NEWEST = 5


@dataclass(frozen=True, slots=True)
class Model:
    """A model by the names in the file; '' where it does not say."""

    model_id: str = ""
    provider_id: str = ""


@dataclass(frozen=True, slots=True)
class AnswerFacts:
    """What an assistant message says about its request."""

    model: Model
    tokens: JsonObject
    """`metrics.tokens`: prompt, completion, cached; empty when absent."""
    cost: float | None
    ts: int


class _Role(msgspec.Struct):
    role: Any = None


class _Answer(msgspec.Struct):
    modelInfo: Any = None  # noqa: N815 - the file's name
    metrics: Any = None
    ts: Any = None


class _Content(msgspec.Struct):
    content: msgspec.Raw = msgspec.Raw(b"null")


_ROLE = msgspec.json.Decoder(_Role)
_ANSWER = msgspec.json.Decoder(_Answer)
_CONTENT = msgspec.json.Decoder(_Content)
_BLOCKS = msgspec.json.Decoder(list[msgspec.Raw])
_NOTHING = AnswerFacts(Model(), {}, None, 0)


def roles_of(log: RawLog) -> tuple[str, ...]:
    """The role of every message, '' where there is none."""
    return tuple(_roles(log))


def _roles(log: RawLog) -> Iterable[str]:
    begins = log.begins
    for number in range(len(log)):
        if begins(number, _USER):
            yield "user"
        elif begins(number, _ASSISTANT):
            yield "assistant"
        else:
            yield _role(log.view(number))


def _role(raw: memoryview) -> str:
    try:
        return as_text(_ROLE.decode(raw).role)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        value = decode(raw)
        return as_text(value.get("role")) if isinstance(value, dict) else ""


def answer_facts(log: RawLog, number: int) -> AnswerFacts:
    """Model, metrics and time of one message."""
    raw = log.view(number)
    tail = bytes(raw[-_TAIL:])
    if b'"modelInfo"' not in tail and b'"metrics"' not in tail and b'"ts"' not in tail:
        return _NOTHING
    try:
        found = _ANSWER.decode(raw)
        model, metrics, ts = found.modelInfo, found.metrics, found.ts
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        value = decode(raw)
        if not isinstance(value, dict):
            return _NOTHING
        model, metrics, ts = value.get("modelInfo"), value.get("metrics"), value.get("ts")
    model = model if isinstance(model, dict) else {}
    metrics = metrics if isinstance(metrics, dict) else {}
    tokens, cost = metrics.get("tokens"), as_number(metrics.get("cost"))
    return AnswerFacts(
        Model(as_name(model.get("modelId")), as_name(model.get("providerId"))),
        tokens if isinstance(tokens, dict) else {},
        None if cost is None else float(cost),
        as_int(ts) or 0,
    )


def block_count(log: RawLog, number: int) -> int:
    """How many blocks a message has; 0 where its content is no list."""
    try:
        content = _CONTENT.decode(log.view(number)).content
        return len(_BLOCKS.decode(content))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        value = decode(log.view(number))
        listed = value.get("content") if isinstance(value, dict) else None
        return len(listed) if isinstance(listed, list) else 0


def names_models(log: RawLog, roles: Sequence[str]) -> bool:
    """True when answers say which model gave them, as since version 3.37. Looks at the newest answers only."""
    answers = (number for number in range(len(roles) - 1, -1, -1) if roles[number] == "assistant")
    return any(answer_facts(log, number).model.model_id for number in islice(answers, _NEWEST))
