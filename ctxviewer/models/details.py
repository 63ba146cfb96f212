"""What is said in full about one message and one request. Values only; the view shows them. No Qt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ctxviewer.domain.message import BlockKind
from ctxviewer.domain.projection import BlockChange, Projection, Repair, SentBlock, Standing
from ctxviewer.domain.request import RequestState
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.domain.view import TextMode
from ctxviewer.engine.cline.sent_blocks import update_label
from ctxviewer.engine.explain import Explanation
from ctxviewer.engine.timeline import Timeline
from ctxviewer.models.body import heading_of, make_body
from ctxviewer.models.happenings import UpdateRow, force_of
from ctxviewer.models.listing import joined, stamp
from ctxviewer.models.numbers import grouped
from ctxviewer.models.segments import Body
from ctxviewer.models.visible import one_line

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
"""A string (unfinished ones to the end), a sign, or a number or word."""
_MOST_KINDS: Final = 3


@dataclass(frozen=True, slots=True)
class MessageDetails:
    """One stored message, seen from a projection."""

    number: int
    role: str
    """Made visible; '' where it is missing."""
    kinds: str
    """What it consists of: 'tool result', 'text, call read_file'."""
    standing: Standing
    standing_words: str
    """'sent', 'not sent since request 31', 'later than request 31'."""
    changed: bool
    """True when as sent and as stored differ."""
    updates: tuple[UpdateRow, ...]
    repairs: tuple[str, ...]
    blocks: tuple[SentBlock, ...]
    raw: bytes
    """As it stands in the file."""
    tokens: int | None = None
    """Estimated; None while it is not counted."""

    @property
    def title(self) -> str:
        """'Message 27 · user · tool result'."""
        return joined(f"Message {self.number}", self.role or "no role", self.kinds)

    @property
    def tokens_words(self) -> str:
        """'1,204 tokens estimated', or ''."""
        return "" if self.tokens is None else f"{grouped(self.tokens)} tokens estimated"

    def body(self, mode: TextMode) -> Body:
        """The text in one of its three forms."""
        return make_body(self.blocks, mode)

    def json_text(self) -> str:
        """The JSON of the file, every token unchanged, with white space between tokens for reading."""
        return indented(self.raw.decode("utf-8", "replace"))


def message_details(
    timeline: Timeline, projection: Projection, number: int, tokens: int | None = None
) -> MessageDetails:
    """Everything about stored message `number`. IndexError when there is none."""
    snapshot = timeline.snapshot
    if not 0 <= number < len(snapshot.messages):
        raise IndexError(f"there is no message {number}; the history has {len(snapshot.messages)}")
    message = timeline.message(number)
    blocks = timeline.blocks(projection, number)
    updates = tuple(
        UpdateRow(update, update_label(update, message), force_of(update, projection))
        for update in timeline.updates
        if update.message == number
    )
    return MessageDetails(
        number,
        one_line(message.role, 40),
        _kinds(blocks),
        projection.standing(number),
        _standing_words(projection, number),
        any(block.change is not BlockChange.SAME for block in blocks),
        updates,
        tuple(dict.fromkeys(_repair_words(repair) for repair in projection.repairs if repair.message == number)),
        blocks,
        snapshot.messages.raw(number),
        tokens,
    )


def _kinds(blocks: tuple[SentBlock, ...]) -> str:
    shown = [block.stored or block.sent for block in blocks]
    names = [("text" if block.kind is BlockKind.TEXT else heading_of(block)) for block in shown if block is not None]
    names = list(dict.fromkeys(names))
    return ", ".join(names[:_MOST_KINDS]) + (", …" if len(names) > _MOST_KINDS else "")


def _standing_words(projection: Projection, number: int) -> str:
    standing = projection.standing(number)
    if standing is Standing.LATER:
        return f"later than request {projection.request + 1:,}" if projection.request is not None else str(standing)
    if standing is Standing.SENT:
        return "sent twice" if number in projection.repeated else "sent"
    cut = next((cut for cut in projection.cuts if cut.first <= number <= cut.last), None)
    if cut is None or cut.since_request is None:
        return "not sent"
    return f"not sent since request {cut.since_request + 1:,}"


def _repair_words(repair: Repair) -> str:
    ids = ", ".join(one_line(name, 40) for name in repair.tool_ids[:4])
    more = ", …" if len(repair.tool_ids) > 4 else ""
    return f"{repair.kind}: {ids}{more}" if ids else str(repair.kind)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a request."""

    name: str
    value: str
    source: str
    """'reported', or where else it comes from."""


@dataclass(frozen=True, slots=True)
class RequestDetails:
    """One request, or the next one (live)."""

    number: int | None
    title: str
    """'Request 31 of 48 · done'."""
    figures: tuple[Figure, ...]
    sentences: tuple[str, ...]
    """The decision in words, in order."""
    contradictions: tuple[str, ...]
    """What of the recorded data does not fit the rules."""
    doubts: tuple[str, ...]
    """Why the picture is approximate; empty when it is exact."""
    pending: bool
    """True while the decision is being worked out."""
    facts: str
    """Model, provider and time, on one line."""


def request_details(
    timeline: Timeline, number: int | None, explanation: Explanation | None, projection: Projection | None = None
) -> RequestDetails:
    """Everything about request `number` (None = the next one). Without `explanation` the decision is still open.

    IndexError for a request that does not exist.
    """
    snapshot = timeline.snapshot
    count = len(timeline.requests)
    approximate = (*(projection.doubts if projection is not None else ()), *_moment_doubts(timeline, number))
    doubts = tuple(dict.fromkeys(_sentence(doubt) for doubt in approximate))
    told = (_sentence(doubt) for doubt in (explanation.doubts if explanation is not None else ()))
    contradictions = tuple(dict.fromkeys(words for words in told if words not in doubts))
    sentences = explanation.sentences if explanation is not None else ()
    window = tuple(_window_figures(snapshot, explanation))
    if number is None:
        title = f"Ahead: the next request, after {count:,}" if count else "Ahead: the first request"
        facts = _facts(snapshot, None)
        return RequestDetails(None, title, window, sentences, contradictions, doubts, explanation is None, facts)
    if not 0 <= number < count:
        raise IndexError(f"there is no request {number + 1}; the task has {count}")
    request = timeline.requests[number]
    title = joined(f"Request {number + 1:,} of {count:,}", str(request.state))
    if request.state is RequestState.DONE:
        title = f"Request {number + 1:,} of {count:,}"
    usage: tuple[Figure, ...] = ()
    if request.usage_reported:
        parts = (
            ("total", request.usage.total),
            ("input", request.usage.tokens_in),
            ("cache read", request.usage.cache_reads),
            ("cache write", request.usage.cache_writes),
            ("output", request.usage.tokens_out),
        )
        usage = tuple(Figure(name, grouped(value), "reported") for name, value in parts)
        if request.usage.cost is not None:
            usage = (*usage, Figure("cost", f"${request.usage.cost:,.4f}", "reported"))
    else:
        usage = (Figure("total", "–", "no numbers reported"),)
    return RequestDetails(
        number, title, usage + window, sentences, contradictions, doubts, explanation is None, _facts(snapshot, number)
    )


def _moment_doubts(timeline: Timeline, number: int | None) -> tuple[str, ...]:
    return timeline.moments[number].doubts if number is not None and 0 <= number < len(timeline.moments) else ()


def _window_figures(snapshot: Snapshot, explanation: Explanation | None) -> Iterator[Figure]:
    if explanation is None:
        yield Figure("window", grouped(snapshot.model.window), str(snapshot.model.window_source))
        return
    yield Figure("window", grouped(explanation.window), explanation.window_source)
    yield Figure("limit", grouped(explanation.limit), "by the agent's rules, from the window")
    if explanation.compared is not None and explanation.compared_request is not None:
        source = f"reported by request {explanation.compared_request + 1:,}"
        yield Figure("compared", grouped(explanation.compared), source)


def _facts(snapshot: Snapshot, number: int | None) -> str:
    if number is None:
        model, provider, when = snapshot.model.model_id, snapshot.model.provider_id, ""
    else:
        request = snapshot.requests[number]
        model = request.model_id or snapshot.model.model_id
        provider = request.provider_id or snapshot.model.provider_id
        when = stamp(request.ts)
    return joined(one_line(model, 80), one_line(provider, 40), when)


def _sentence(words: str) -> str:
    """With a capital at the front and a stop at the end."""
    words = words.strip()
    return words[:1].upper() + words[1:] + ("" if words.endswith((".", "?", "!")) else ".")


def indented(text: str) -> str:
    """JSON with line breaks and indents between its tokens; no token is changed, moved or dropped.

    Damaged JSON is indented as far as it makes sense.
    """
    parts: list[str] = []
    depth = 0
    words = [match.group() for match in _TOKEN.finditer(text)]
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in {"{", "["}:
            parts.append(word)
            if following not in {"}", "]"}:
                depth += 1
                parts.append(_line(depth))
        elif word in {"}", "]"}:
            if place and words[place - 1] not in {"{", "["}:
                depth = max(0, depth - 1)
                parts.append(_line(depth))
            parts.append(word)
        elif word == ",":
            parts.append("," + _line(depth))
        elif word == ":":
            parts.append(": ")
        else:
            parts.append(word)
    return "".join(parts)


def _line(depth: int) -> str:
    return "\n" + "  " * depth
