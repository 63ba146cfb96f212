"""The messages as they are sent: what the range leaves, the newest updates on it, calls and results paired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ctxviewer.domain.json import Json, JsonObject, Messages
from ctxviewer.domain.projection import Repair, RepairKind
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.blocks import role_and_content, with_text
from ctxviewer.engine.cline.js import JsValue, array_index, at, last, truthy
from ctxviewer.engine.cline.tool_pairs import Change, call_ids, id_text, paired, without_results
from ctxviewer.engine.cline.truncation import FIRST_DELETED, resume_index
from ctxviewer.engine.cline.updates import KIND, TEXT_KIND, TEXTS, ContextHistory, MessageUpdates


@dataclass(frozen=True, slots=True)
class AppliedUpdate:
    """How the newest update of a block came out."""

    message: int
    """Stored message number."""
    block: int
    """Block number of the update."""
    hit: int | None
    """Stored number of the block whose text it replaced. Not `block` if results before it were removed; None if the
    update shows nowhere: string content, a block without text, no such block."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A conversation as sent. Untouched messages and blocks are the stored objects; nothing of it may be changed."""

    messages: list[Json]
    stored: list[int]
    """Stored number of each message. Ascending, except that ends below 1 send the first ones twice."""
    repairs: Mapping[int, tuple[Repair, ...]] = field(default_factory=dict)
    """By position as sent."""
    applied: tuple[AppliedUpdate, ...] = ()
    """In the order of application; one for each block with updates of another kind than text left out."""
    emptied: tuple[int, ...] = ()
    """Stored numbers of user messages whose content is no list and that follow tool calls: in the reference's memory
    (and at its next save on disk) their stored content becomes an empty list as well."""


def sent_messages(messages: Messages, deleted: Range | None, history: ContextHistory) -> list[Json]:
    """The exact messages that a request sends.

    Cline 4.0.10: with 0 or 1 message the list as it is, without updates. Fails where the reference does.
    """
    return project(messages, deleted, history).messages


def project(messages: Messages, deleted: Range | None, history: ContextHistory) -> Sent:
    """The messages as sent, with what became of each."""
    count = len(messages)
    if count <= 1:
        return Sent(list(messages), list(range(count)))
    return _Projection(messages, resume_index(deleted), history).run()


def project_one(messages: Messages, number: int, history: ContextHistory) -> tuple[Json, bool]:
    """One message as a view without a range sends it after its neighbour, and whether results were mended in it.

    For a conversation of at least two messages. The very object that was given when nothing changes.
    """
    run = _Projection(messages[max(0, number - 1) : number + 1], FIRST_DELETED, history)
    run.stored = list(range(max(0, number - 1), number + 1))
    run.out = run.out[: len(run.stored)]
    run.run_on()
    place = len(run.stored) - 1
    return run.out[place], place in run.repairs


def with_contents_emptied(messages: Messages, emptied: tuple[int, ...]) -> list[Json]:
    """The stored messages as the reference's memory holds them after a view: see `Sent.emptied`."""
    copy = list(messages)
    for index in emptied:
        message = copy[index]
        if isinstance(message, dict):
            copy[index] = {**message, "content": []}
    return copy


class _Projection:
    """One run. Positions count as sent; a position is `own` when its message is a copy made in this run."""

    def __init__(self, messages: Messages, resume: int, history: ContextHistory) -> None:
        count = len(messages)
        first = max(count + resume, 0) if resume < 0 else min(resume, count)
        self.stored = [0, 1, *range(first, count)]
        self.out: list[Json] = [*messages[0:2], *messages[first:]]
        self.resume = resume
        self.shift = resume - first
        self.history = history
        self.own: set[int] = set()
        self.repairs: dict[int, tuple[Repair, ...]] = {}
        self.applied: list[AppliedUpdate] = []
        self.emptied: list[int] = []
        self.kept_blocks: list[int] | None = None
        """Stored block numbers of the first message after the cut, if results were removed from it."""

    def run(self) -> Sent:
        if self.resume > FIRST_DELETED and len(self.out) > FIRST_DELETED:
            self._strip_orphans()
        self.run_on()
        return Sent(self.out, self.stored, self.repairs, tuple(self.applied), tuple(self.emptied))

    def run_on(self) -> None:
        """Updates, then pairing, on what is there."""
        if self.history:
            self._apply_updates()
        self._pair_results()

    def _strip_orphans(self) -> None:
        message = self.out[2]
        role, content = role_and_content(message)
        if role != "user" or not isinstance(content, list) or not isinstance(message, dict):
            return
        stripped = without_results(content)
        if stripped is not None:
            kept, ids = stripped
            self.kept_blocks = [
                number
                for number, block in enumerate(content)
                if not (isinstance(block, dict) and block.get("type") == "tool_result")
            ]
            self._replace(2, {**message, "content": kept}, (Change(RepairKind.STRIPPED, ids),))

    def _apply_updates(self) -> None:
        for position, number in enumerate(self.stored):
            # numbers below 0 name no stored message, but the reference looks them up all the same
            entry = self.history.entry(number + self.shift if position >= FIRST_DELETED else number)
            if entry is not None:
                self._apply_entry(position, number, entry)

    def _apply_entry(self, position: int, number: int, entry: MessageUpdates) -> None:
        self.own.add(position)
        for updates in entry.blocks.values():
            newest = last(updates.changes)
            if at(newest, KIND) != TEXT_KIND:
                continue
            if isinstance(updates.key, dict) and not isinstance(role_and_content(self.out[position])[1], list):
                continue  # no block is looked up, so it does not matter that an object names none
            block = array_index(updates.key)
            hit = self._overlay(position, block, newest)
            if block is not None:
                if hit is not None and position == FIRST_DELETED and self.kept_blocks is not None:
                    hit = self.kept_blocks[hit]
                self.applied.append(AppliedUpdate(number, block, hit))

    def _overlay(self, position: int, block: int | None, newest: JsValue) -> int | None:
        """Replace the text of a block; its number as it stands now, None if nothing was replaced."""
        message = self.out[position]
        _, content = role_and_content(message)
        if not isinstance(content, list) or not isinstance(message, dict) or block is None or block >= len(content):
            return None
        old = content[block]
        changed = with_text(old, at(at(newest, TEXTS), 0)) if truthy(old) else None
        if changed is None:
            return None
        fresh = content.copy()
        fresh[block] = changed
        self.out[position] = {**message, "content": fresh}
        return block

    def _pair_results(self) -> None:
        out = self.out
        for position in range(len(out) - 1):
            role, content = role_and_content(out[position])
            if role != "assistant" or not isinstance(content, list):
                continue
            ids = call_ids(content)
            if ids:
                self._pair(position + 1, ids)

    def _pair(self, position: int, ids: list[JsValue]) -> None:
        message = self.out[position]
        role, content = role_and_content(message)
        if role != "user" or not isinstance(message, dict):
            return
        changes: tuple[Change, ...] = ()
        if not isinstance(content, list):
            lost = isinstance(content, str) and bool(content)
            content = []
            self._empty(position, message)
            if lost:
                changes = (Change(RepairKind.WORDS_LOST, tuple(id_text(call) for call in ids)),)
        mended = paired(ids, content)
        if mended is not None:
            blocks, mending = mended
            self._replace(position, {**message, "content": blocks}, changes + mending)

    def _empty(self, position: int, message: JsonObject) -> None:
        """The reference empties the message object itself, so it is empty wherever that object is sent."""
        empty: JsonObject = {**message, "content": []}
        if position in self.own:
            self.out[position] = empty
            return
        number = self.stored[position]
        self.emptied.append(number)
        # only the first messages can be sent twice
        places = (0, 1, position) if number < FIRST_DELETED or self.resume < FIRST_DELETED else (position,)
        for place in range(len(self.out)) if len(places) > 1 else places:
            if self.stored[place] == number and place not in self.own:
                self.out[place] = empty

    def _replace(self, position: int, message: JsonObject, changes: tuple[Change, ...]) -> None:
        self.out[position] = message
        self.own.add(position)
        number = self.stored[position]
        repairs = tuple(Repair(change.kind, number, change.tool_ids) for change in changes)
        self.repairs[position] = self.repairs.get(position, ()) + repairs
