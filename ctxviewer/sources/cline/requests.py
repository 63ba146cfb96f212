"""Requests of a task: from its display timeline, or from the API history where there is no timeline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ctxviewer.domain.json import Json, as_int, as_name, as_number, as_text
from ctxviewer.domain.request import Request, RequestState, Usage
from ctxviewer.domain.snapshot import UiEntry
from ctxviewer.sources.cline.entries import Read, text_of
from ctxviewer.sources.cline.history import AnswerFacts, Model, answer_facts
from ctxviewer.sources.rawlog import RawLog

STARTED = "api_req_started"
FINISHED = "api_req_finished"
"""Up to version 1.9: the usage of the request before it."""

_LARGEST = 2**53
"""Beyond it a double does not tell a number from the next one; sums of absurd numbers would be no numbers at all."""
NOT_ENDED = "its end is not recorded"


class _Payload(msgspec.Struct):
    """The usage in a request entry; the long `request` is skipped unread."""

    tokensIn: Any = None  # noqa: N815 - the file's name
    tokensOut: Any = None  # noqa: N815
    cacheWrites: Any = None  # noqa: N815
    cacheReads: Any = None  # noqa: N815
    cost: Any = None
    cancelReason: Any = None  # noqa: N815
    streamingFailedMessage: Any = None  # noqa: N815


_PAYLOAD = msgspec.json.Decoder(_Payload)
_COUNTS = ("tokensIn", "tokensOut", "cacheWrites", "cacheReads")


@dataclass(frozen=True, slots=True)
class Oddity:
    """Numbers of a request that cannot be used."""

    ui_index: int
    reason: str


def usage_of(text: bytes | memoryview) -> tuple[_Payload | None, str]:
    """The payload of a request entry, and what is wrong with it ('' if nothing). None when it is not readable."""
    if not len(text):
        return None, "it has no text"
    source = text_of(text)
    try:
        payload = _PAYLOAD.decode(source)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None, "its text is not JSON"
    wrong = [name for name in (*_COUNTS, "cost") if not _usable(getattr(payload, name))]
    return payload, f"{', '.join(wrong)} is no usable number and counts as 0" if wrong else ""


def requests_from(
    reads: Iterable[Read], known: Sequence[Request], known_entries: int, ui: Sequence[UiEntry]
) -> tuple[tuple[Request, ...], tuple[Oddity, ...]]:
    """All requests of a timeline `ui`. `known` are those of the reading before; the first `known_entries` entries are
    the same now, `reads` are those behind them. States and models are settled by `settled`.
    """
    requests = [_unsettled(request, ui) for request in known if 0 <= request.ui_index < known_entries]
    odd: list[Oddity] = []
    for read in reads:
        entry = read.entry
        if entry.type != "say" or entry.kind not in {STARTED, FINISHED}:
            continue
        payload, reason = usage_of(read.text)
        if reason:
            odd.append(Oddity(entry.index, reason))
        if entry.kind == STARTED:
            requests.append(_request(len(requests), read, payload))
        elif requests and payload is not None:
            requests[-1] = _merged(requests[-1], payload)
    return tuple(requests), tuple(odd)


def settled(
    requests: Sequence[Request], messages: RawLog | None, usages: Sequence[tuple[int, Model]], index_model: Model
) -> tuple[Request, ...]:
    """The requests with what only the whole task tells: only the last one can be running, and each one's model.

    `messages` are None where answers do not name models. `usages` are the model changes of task_metadata.json as
    (ms, model), ascending.
    """
    result = []
    for number, request in enumerate(requests):
        changed = request
        if request.state is RequestState.RUNNING and number < len(requests) - 1:
            changed = replace(changed, state=RequestState.FAILED, failure=NOT_ENDED)
        if not request.model_id:
            model = _model_of(request, messages) or _used_at(request.ts, usages) or index_model
            if model.model_id:
                changed = replace(changed, model_id=model.model_id, provider_id=model.provider_id)
        result.append(changed)
    return tuple(result)


def _unsettled(request: Request, ui: Sequence[UiEntry]) -> Request:
    """The request as its own entry tells it, without what `settled` concluded from the task of that time."""
    if request.failure == NOT_ENDED:
        request = replace(request, state=RequestState.RUNNING, failure="")
    entry = ui[request.ui_index]
    if request.model_id != entry.model_id:
        request = replace(request, model_id=entry.model_id, provider_id=entry.provider_id)
    return request


def requests_from_answers(messages: RawLog, roles: Sequence[str]) -> tuple[Request, ...]:
    """One request for each assistant message, with the metrics it carries. For tasks without a timeline."""
    answers = [number for number, role in enumerate(roles) if role == "assistant"]
    return tuple(_from_answer(place, number, answer_facts(messages, number)) for place, number in enumerate(answers))


def _from_answer(number: int, message: int, facts: AnswerFacts) -> Request:
    tokens = facts.tokens
    usage = Usage(
        tokens_in=_number(tokens.get("prompt")),
        tokens_out=_number(tokens.get("completion")),
        cache_reads=_number(tokens.get("cached")),
        cost=_cost(facts.cost),
    )
    return Request(
        number=number,
        ui_index=-1,
        ts=facts.ts,
        usage=usage,
        usage_reported=bool(tokens),
        state=RequestState.DONE,
        last_message=message - 2,
        range_before=None,
        model_id=facts.model.model_id,
        provider_id=facts.model.provider_id,
        failure="",
    )


def _request(number: int, read: Read, payload: _Payload | None) -> Request:
    entry = read.entry
    cancel = as_text(payload.cancelReason) if payload else ""
    message = as_text(payload.streamingFailedMessage) if payload else ""
    if cancel:
        state = RequestState.CANCELLED if cancel == "user_cancelled" else RequestState.FAILED
    elif payload is None or payload.cost is None:
        state = RequestState.RUNNING
    else:
        state = RequestState.DONE
    return Request(
        number=number,
        ui_index=entry.index,
        ts=entry.ts,
        usage=_usage(payload),
        usage_reported=payload is not None and any(_counted(getattr(payload, name)) is not None for name in _COUNTS),
        state=state,
        last_message=entry.last_message,
        range_before=entry.deleted_range,
        model_id=entry.model_id,
        provider_id=entry.provider_id,
        failure=message or cancel.replace("_", " "),
    )


def _merged(request: Request, payload: _Payload) -> Request:
    state = RequestState.DONE if request.state is RequestState.RUNNING else request.state
    return replace(request, usage=request.usage + _usage(payload), usage_reported=True, state=state)


def _usage(payload: _Payload | None) -> Usage:
    if payload is None:
        return Usage()
    return Usage(
        _number(payload.tokensIn),
        _number(payload.tokensOut),
        _number(payload.cacheWrites),
        _number(payload.cacheReads),
        _cost(payload.cost),
    )


def _usable(value: Json) -> bool:
    return value is None or _counted(value) is not None


def _counted(value: Json) -> float | None:
    """A number that can be summed and compared; None for what no provider can have counted."""
    number = as_number(value)
    return None if number is None or abs(number) > _LARGEST else number


def _number(value: Json) -> float:
    return _counted(value) or 0


def _cost(value: Json) -> float | None:
    number = _counted(value)
    return None if number is None else float(number)


def _model_of(request: Request, messages: RawLog | None) -> Model | None:
    if messages is None or request.last_message is None:
        return None
    answer = request.last_message + 2
    if not 0 <= answer < len(messages):
        return None
    model = answer_facts(messages, answer).model
    return model if model.model_id else None


def _used_at(ts: int, usages: Sequence[tuple[int, Model]]) -> Model | None:
    found = None
    for since, model in usages:
        if since <= ts:
            found = model
    return found


def usages_of(metadata: Json) -> tuple[tuple[int, Model], ...]:
    """The model changes that task_metadata.json lists, by time."""
    listed = metadata.get("model_usage") if isinstance(metadata, dict) else None
    found = [
        (as_int(item.get("ts")) or 0, Model(as_name(item.get("model_id")), as_name(item.get("model_provider_id"))))
        for item in (listed if isinstance(listed, list) else [])
        if isinstance(item, dict)
    ]
    return tuple(sorted(found, key=lambda pair: pair[0]))
