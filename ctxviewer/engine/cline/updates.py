"""The stored updates of a task: context_history.json as an immutable value.

The file holds a map of maps: message number -> (edit type, block number -> updates, oldest first). Anything that the
reference reads is kept, also keys and entries of odd types, so that a history is written back byte for byte.

One list can belong to several updates: the reference puts the *same* list of replaced files into each new update of a
file mention, so that a later round also extends the list of the older updates. Here the sharing is the identity of the
list object. Lists are never changed in place; a draft replaces a list in every update that holds it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json, as_int
from ctxviewer.domain.updates import StoredUpdate, Unapplied, Update
from ctxviewer.engine.cline import js_json
from ctxviewer.engine.cline.js import UNDEFINED, JsValue, at, failed, get, greater, is_number, last, map_key, truthy

TIMESTAMP, KIND, TEXTS, METADATA = 0, 1, 2, 3
"""Positions in one stored update."""
REPLACED, ALL_PATHS = 0, 1
"""Positions in the metadata of a file mention: paths replaced so far, all paths of the text."""
TEXT_KIND: Final = "text"


class BlockUpdates(NamedTuple):
    """The updates of one block."""

    key: JsValue
    """Block number as stored."""
    changes: JsValue
    """Normally a list of `[timestamp, "text", [text], metadata]`, oldest first. Never changed."""


@dataclass(frozen=True, slots=True)
class MessageUpdates:
    """The entry of one message."""

    key: JsValue
    """Message number as stored."""
    edit_type: JsValue
    blocks: Mapping[Hashable, BlockUpdates]
    """By block number, in stored order."""

    def changes(self, block: int) -> JsValue:
        """The updates of a block, UNDEFINED if it has none."""
        found = self.blocks.get(block)
        return UNDEFINED if found is None else found.changes


@dataclass(frozen=True, slots=True, eq=False)
class ContextHistory:
    """All stored updates of a task. Equal to a history that would be written as the same text."""

    entries: Mapping[Hashable, MessageUpdates] = field(default_factory=dict)
    """By message number, in stored order (not sorted)."""
    _in_force: dict[tuple[int, int], Update] | None = field(default=None, init=False, repr=False)
    """Kept once it was asked for; a history never changes."""

    @classmethod
    def parse(cls, text: str | None) -> ContextHistory:
        """What the reference loads from the file's text; None stands for no file.

        Text that it cannot read is taken for an empty history, as the reference does; `problem` says what is wrong.
        """
        if text is None:
            return EMPTY
        try:
            return cls(_read(js_json.parse(text)))
        except BrokenInputError:
            return EMPTY

    @staticmethod
    def problem(text: str) -> str:
        """Why the reference ignores this text of the file, or ''."""
        try:
            _read(js_json.parse(text))
        except BrokenInputError as err:
            return err.sentence
        return ""

    def dump(self) -> str:
        """The file's text, byte for byte as the reference writes it. A time that is absent becomes null."""
        parts = []
        for entry in self.entries.values():
            blocks = ",".join(
                f"[{js_json.stringify(block.key)},{js_json.stringify(block.changes)}]"
                for block in entry.blocks.values()
            )
            head = f"{js_json.stringify(entry.key)},[{js_json.stringify(entry.edit_type)}"
            parts.append(f"[{head},[{blocks}]]]")
        return f"[{','.join(parts)}]"

    def reloaded(self) -> ContextHistory:
        """The history as it comes back from being written and loaded: no list is shared any more."""
        return ContextHistory.parse(self.dump())

    def entry(self, message: int) -> MessageUpdates | None:
        """The entry of a message. A number kept as text is not found, as in the reference."""
        return self.entries.get(message)

    def without_later_than(self, timestamp: JsValue) -> ContextHistory:
        """The history of which later updates are dropped. Equal times stay; an absent time is never later, null is 0.

        Cline 4.0.10: each block's updates are dropped from the newest back to the first that is not later, so a late
        one before an early one survives. Blocks that become empty go, blocks that were empty stay; messages without
        blocks go.
        """
        kept: dict[Hashable, MessageUpdates] = {}
        for message, entry in self.entries.items():
            blocks: dict[Hashable, BlockUpdates] = {}
            for block, updates in entry.blocks.items():
                changes = _without_later(updates.changes, timestamp)
                if changes is updates.changes:
                    blocks[block] = updates
                elif changes:
                    blocks[block] = BlockUpdates(updates.key, changes)
            if blocks:
                kept[message] = MessageUpdates(entry.key, entry.edit_type, blocks)
        return ContextHistory(kept)

    def with_update(
        self, message: int, block: int, timestamp: JsValue, text: str, edit_type: int, metadata: Json
    ) -> ContextHistory:
        """The history with one more update of a block, as its newest.

        `edit_type` counts only for a message that had no entry: entries keep theirs. BrokenInputError if the stored
        updates of the block are no list.
        """
        draft = HistoryDraft(self)
        draft.push(message, block, edit_type, timestamp, text, metadata)
        return draft.freeze()

    def updates(self) -> Iterator[Update]:
        """All updates that make sense, in stored order. Odd entries (other kinds, odd numbers, no text) are skipped."""
        return (update for update in self.stored_updates() if isinstance(update, Update))

    def stored_updates(self) -> Iterator[StoredUpdate]:
        """The same with those of other kinds and without text. Those in no possible place are skipped."""
        for entry in self.entries.values():
            yield from _updates_of(entry)

    def updates_of(self, message: int) -> Iterator[Update]:
        """Those of one message."""
        entry = self.entry(message)
        if entry is not None:
            yield from (update for update in _updates_of(entry) if isinstance(update, Update))

    def in_force(self) -> dict[tuple[int, int], Update]:
        """The newest update by (message, block). A newest one that makes no sense hides the older ones.

        The same object each time; it must not be changed.
        """
        found = self._in_force
        if found is None:
            found = self._find_in_force()
            object.__setattr__(self, "_in_force", found)
        return found

    def _find_in_force(self) -> dict[tuple[int, int], Update]:
        found: dict[tuple[int, int], Update] = {}
        for entry in self.entries.values():
            message = as_int(_json(entry.key))
            for updates in entry.blocks.values():
                block, changes = as_int(_json(updates.key)), updates.changes
                if message is None or block is None or not isinstance(changes, list) or not changes:
                    continue
                newest = _flat(message, block, entry.edit_type, changes[-1], len(changes) - 1)
                if isinstance(newest, Update) and message >= 0 and block >= 0:
                    found[message, block] = newest
        return found

    def __bool__(self) -> bool:
        return bool(self.entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContextHistory) and (self.entries is other.entries or self.dump() == other.dump())

    def __hash__(self) -> int:
        return hash(self.dump())


EMPTY: Final = ContextHistory()


class HalfDoneError(BrokenInputError):
    """The rules failed after part of the work: `history` is what the reference then holds in memory."""

    def __init__(self, cause: BrokenInputError, history: ContextHistory, written: str | None = None) -> None:
        super().__init__(cause.sentence, hint=cause.hint, place=cause.place)
        self.history = history
        self.written = written
        """Text of context_history.json that was written before, or None."""


class HistoryDraft:
    """A history in the making. The history that it starts from stays as it is."""

    __slots__ = ("_entries", "_own")

    def __init__(self, start: ContextHistory) -> None:
        self._entries = dict(start.entries)
        self._own: set[int] = set()
        """Messages whose block map is this draft's own."""

    def entry(self, message: int) -> MessageUpdates | None:
        """The entry of a message as it stands now."""
        return self._entries.get(message)

    def push(self, message: int, block: int, edit_type: int, timestamp: JsValue, text: JsValue, metadata: Json) -> None:
        """Put one update behind a block's others, and make the entries that are missing."""
        self.append(message, block, edit_type, [timestamp, TEXT_KIND, [text], metadata])  # type: ignore[list-item]

    def append(self, message: int, block: int, edit_type: Json, change: Json) -> None:
        """The same with an update as it is stored."""
        entry = self._entries.get(message)
        if entry is None:
            entry = MessageUpdates(message, edit_type, {})
            self._entries[message] = entry
        changes = entry.changes(block)
        if truthy(changes) and not isinstance(changes, list):
            raise failed(f"the updates of message {message}, block {block} are no list")
        known = changes if isinstance(changes, list) else []
        self._set(entry, message, block, [*known, change])

    def share(self, message: int, block: int, shared: list[Json]) -> list[Json]:
        """A copy of `shared` that replaces it in each update of the block that holds it as its list of replaced paths.

        The copy is the draft's own until `freeze`, and may be extended.
        """
        copy = list(shared)
        entry = self._entries.get(message)
        changes = UNDEFINED if entry is None else entry.changes(block)
        if entry is not None and isinstance(changes, list):
            self._set(entry, message, block, [_with_list(change, shared, copy) for change in changes])
        return copy

    def freeze(self) -> ContextHistory:
        """The history made so far. The draft must not be used any more."""
        return ContextHistory(self._entries)

    def _set(self, entry: MessageUpdates, message: int, block: int, changes: Json) -> None:
        blocks = dict(entry.blocks)
        key = blocks[block].key if block in blocks else block
        blocks[block] = BlockUpdates(key, changes)
        self._entries[message] = MessageUpdates(entry.key, entry.edit_type, blocks)


def _with_list(change: Json, shared: list[Json], copy: list[Json]) -> Json:
    if isinstance(change, list) and len(change) > METADATA:
        metadata = change[METADATA]
        if isinstance(metadata, list) and metadata and metadata[REPLACED] is shared:
            return [*change[:METADATA], [copy, *metadata[1:]], *change[METADATA + 1 :]]
    return change


def _json(value: JsValue) -> Json:
    return None if value is UNDEFINED else value


def _updates_of(entry: MessageUpdates) -> Iterator[StoredUpdate]:
    message = as_int(_json(entry.key))
    if message is None or message < 0:
        return
    for updates in entry.blocks.values():
        block = as_int(_json(updates.key))
        if block is not None and block >= 0 and isinstance(updates.changes, list):
            for ordinal, change in enumerate(updates.changes):
                yield _flat(message, block, entry.edit_type, change, ordinal)


def _flat(message: int, block: int, edit_type: JsValue, change: Json, ordinal: int) -> StoredUpdate:
    stored = change if isinstance(change, list) else []
    timestamp = stored[TIMESTAMP] if stored else None
    time = timestamp if is_number(timestamp) else None
    texts = stored[TEXTS] if len(stored) > TEXTS and stored[KIND] == TEXT_KIND else None
    text = texts[0] if isinstance(texts, list) and texts else None
    if not isinstance(text, str):
        return Unapplied(message, block, time, _json(edit_type), change, ordinal)  # type: ignore[arg-type]
    kind = as_int(_json(edit_type))
    metadata = stored[METADATA] if len(stored) > METADATA else []
    return Update(message, block, time, text, 0 if kind is None else kind, metadata, ordinal)  # type: ignore[arg-type]


def _without_later(changes: JsValue, timestamp: JsValue) -> JsValue:
    """The same object if nothing is dropped."""
    if isinstance(changes, list):
        kept = len(changes)
        while kept and greater(at(changes[kept - 1], TIMESTAMP), timestamp):
            kept -= 1
        return changes if kept == len(changes) else changes[:kept]
    # no list: a length may still be found, but it cannot be cut
    if _has_length(changes) and greater(at(last(changes), TIMESTAMP), timestamp):
        raise failed("updates that are to be dropped are no list")
    return changes


def _has_length(changes: JsValue) -> bool:
    """Whether something that is no list has a length above 0. Throws on null and undefined."""
    return greater(get(changes, "length"), 0)


def _read(value: Json) -> dict[Hashable, MessageUpdates]:
    if not isinstance(value, list):
        raise failed("the stored updates are no list")
    entries: dict[Hashable, MessageUpdates] = {}
    for item in value:
        message, rest = _pair(item)
        edit_type, blocks = _pair(rest)
        entry = MessageUpdates(message, edit_type, _read_blocks(blocks))
        entries[map_key(message)] = entry
    return entries


def _pair(value: JsValue) -> tuple[JsValue, JsValue]:
    """The first two items of a list, or the first two characters of a text."""
    if not isinstance(value, (list, str)):
        raise failed("an entry of the stored updates is no list")
    return value[0] if value else UNDEFINED, value[1] if len(value) > 1 else UNDEFINED


def _read_blocks(value: JsValue) -> dict[Hashable, BlockUpdates]:
    if value is None or value is UNDEFINED or value == "":
        return {}
    if not isinstance(value, list):
        raise failed("the blocks of an entry of the stored updates are no list")
    blocks: dict[Hashable, BlockUpdates] = {}
    for item in value:
        if not isinstance(item, (list, dict)):
            raise failed("a block of the stored updates is no list")
        key, changes = get(item, "0"), get(item, "1")
        name = map_key(key)
        known = blocks.get(name)
        blocks[name] = BlockUpdates(key if known is None else known.key, changes)
    return blocks
