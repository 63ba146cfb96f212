"""A task at one request as a document: what every format of an export shows, in words and texts, secrets masked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ctxviewer.domain.errors import UnreadableTaskError
from ctxviewer.domain.json import Json, is_object
from ctxviewer.domain.message import Block, BlockKind
from ctxviewer.domain.projection import BlockChange, Projection, SentBlock, Standing
from ctxviewer.engine.explain import explain
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, plural, span, updates_in_force
from ctxviewer.exports.report import one_line
from ctxviewer.exports.secrets import Mask
from ctxviewer.exports.values import SCHEMA


@dataclass(frozen=True, slots=True)
class BlockText:
    """One block as it is shown."""

    title: str
    """What it is: 'text', 'call read_file', 'result', 'image/png'."""
    change: BlockChange
    label: str
    """The rule behind a change, '' if none."""
    text: str
    """As sent; as stored where it is left out."""
    stored: str | None
    """As stored, where it was rewritten; else None."""


@dataclass(frozen=True, slots=True)
class MessageText:
    """One stored message as it is shown."""

    number: int
    role: str
    standing: Standing
    blocks: tuple[BlockText, ...]

    @property
    def is_changed(self) -> bool:
        """True if it is sent otherwise than it is stored."""
        return any(block.change is not BlockChange.SAME for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Stretch:
    """What comes before a message that opens a stretch which is not sent, or is later."""

    standing: Standing
    first: int
    last: int
    """Inclusive."""
    sentence: str


@dataclass(frozen=True, slots=True)
class Document:
    """The document without its messages, which are made one by one."""

    title: str
    where: str
    """'The next request', 'Request 31 of 48'."""
    facts: tuple[tuple[str, str], ...]
    """Names and values, in order."""
    why: tuple[str, ...]
    events: tuple[str, ...]
    findings: tuple[str, ...]
    projection: Projection
    whole: bool
    """True: every stored message is shown; False: those that existed at the request."""
    timeline: Timeline
    mask: Mask

    def messages(self) -> Iterator[Stretch | MessageText]:
        """The stored messages in order; before a stretch of those that are not sent, or came later, what it is."""
        projection, timeline = self.projection, self.timeline
        count = len(timeline.snapshot.messages) if self.whole else projection.until
        openings = {stretch.first: stretch for stretch in stretches(projection, count)}
        for number in range(count):
            if number in openings:
                yield openings[number]
            yield self._message(number)

    def _message(self, number: int) -> MessageText:
        message = self.timeline.message(number)
        standing = self.projection.standing(number)
        if standing is Standing.LATER:
            blocks = tuple(SentBlock(BlockChange.SAME, block, block) for block in message.blocks)
        else:
            blocks = self.timeline.blocks(self.projection, number)
        texts = tuple(self._block(block) for block in blocks)
        return MessageText(number, one_line(message.role or "no role", 40), standing, texts)

    def _block(self, block: SentBlock) -> BlockText:
        shown = block.sent if block.sent is not None else block.stored
        text = self.mask.text(shown_text(shown)) if shown is not None else ""
        stored = None
        if block.change is BlockChange.REWRITTEN and block.stored is not None:
            stored = self.mask.text(shown_text(block.stored))
        title = _title(shown) if shown is not None else ""
        return BlockText(self.mask.text(title), block.change, self.mask.text(block.label), text, stored)


def make_document(timeline: Timeline, number: int | None, mask: Mask, *, whole: bool | None = None) -> Document:
    """The document of a task at a request (from 0; None = now). `whole` None = every message if no request is chosen.

    IndexError for a request that does not exist, UnreadableTaskError where the API history is missing.
    """
    snapshot = timeline.snapshot
    if not snapshot.has_messages:
        raise UnreadableTaskError(
            "The API history is missing, so there are no messages to export.",
            hint="`ctxviewer report` and the format csv work without it.",
            place=str(snapshot.task.directory),
        )
    timeline.find_repairs()
    projection = timeline.projection(number)
    explanation = explain(timeline, number)
    count = len(timeline.requests)
    task = snapshot.task
    events = tuple(
        mask.text(f"{'now' if event.request is None else f'request {event.request + 1}'}: {event.sentence}")
        for event in timeline.events
    )
    return Document(
        title=mask.text(one_line(task.title, 200) or task.task_id),
        where="The next request" if number is None else f"Request {number + 1} of {count}",
        facts=tuple((name, mask.text(value)) for name, value in _facts(timeline, projection, number)),
        why=tuple(mask.text(sentence) for sentence in (*explanation.sentences, *explanation.doubts)),
        events=events,
        findings=tuple(mask.text(f"{found.severity}: {found.sentence}") for found in snapshot.findings),
        projection=projection,
        whole=number is None if whole is None else whole,
        timeline=timeline,
        mask=mask,
    )


def _facts(timeline: Timeline, projection: Projection, number: int | None) -> Iterator[tuple[str, str]]:
    snapshot = timeline.snapshot
    model = snapshot.model
    host = f", {snapshot.task.host}" if snapshot.task.host else ""
    yield "Task", f"{snapshot.task.task_id} ({snapshot.task.agent}{host})"
    yield "Model", f"{model.model_id or 'not known'}, window {grouped(model.window)} tokens ({model.window_source})"
    stored = f"{plural(len(snapshot.messages), 'message')}, {plural(len(timeline.requests), 'request')}"
    yield "Stored", f"{stored}, {plural(len(timeline.updates), 'update')}"
    hidden = projection.hidden
    left_out = f", {hidden[0]}–{hidden[-1]} not sent" if hidden else ", nothing left out"
    yield "Sent", f"{projection.sent_count} of {plural(projection.until, 'message')}{left_out}"
    yield "Deleted range", span(projection.deleted_range)
    changes = f"{updates_in_force(projection)}, {plural(len(projection.repairs), 'repair')}"
    yield "Changes", changes
    if number is not None and timeline.requests[number].usage_reported:
        yield "Reported", f"{grouped(timeline.requests[number].usage.total)} tokens"


def stretches(projection: Projection, count: int) -> Iterator[Stretch]:
    """The stretches of the first `count` messages that are not sent, and the one that came later."""
    for cut in projection.cuts:
        last = min(cut.last, count - 1)
        if cut.first <= last:
            since = f" since request {cut.since_request + 1}" if cut.since_request is not None else ""
            words = f"Messages {cut.first}–{last} are not sent{since} ({plural(last - cut.first + 1, 'message')})"
            yield Stretch(Standing.NOT_SENT, cut.first, last, words)
    if projection.until < count:
        words = f"Messages {projection.until}–{count - 1} came later"
        yield Stretch(Standing.LATER, projection.until, count - 1, words)


def shown_text(block: Block) -> str:
    """The text of a block; of pictures how large they are, since they are not exported."""
    if block.kind in {BlockKind.IMAGE, BlockKind.DOCUMENT}:
        return f"[{block.name}, {plural(_data_length(block.raw) * 3 // 4, 'byte')}, left out]"
    return block.text


def _data_length(raw: Json) -> int:
    source = raw.get("source") if is_object(raw) else None
    data = source.get("data") if is_object(source) else None
    return len(data) if isinstance(data, str) else 0


def _title(block: Block) -> str:
    match block.kind:
        case BlockKind.TOOL_USE:
            return f"call {block.name}".strip()
        case BlockKind.TOOL_RESULT:
            return f"result of {block.tool_id}" if block.tool_id else "result"
        case BlockKind.IMAGE | BlockKind.DOCUMENT:
            return block.name
        case BlockKind.OTHER:
            return block.name or "unknown"
        case _:
            return str(block.kind)


def made_by(mask: Mask) -> str:
    """The line at the end of every export."""
    return f"Exported by ctxviewer (schema {SCHEMA}). {mask.sentence}"
