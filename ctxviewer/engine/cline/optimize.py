"""The file-read optimisation: replace the older copies, and see whether that saves enough to go without a cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json, Messages
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.blocks import block_text
from ctxviewer.engine.cline.file_reads import EditType, FoundReads, ReadPlace, find_reads
from ctxviewer.engine.cline.js import (
    UNDEFINED,
    JsValue,
    Number,
    at,
    failed,
    get,
    has_items,
    last,
    replace_first,
    truthy,
    utf16_length,
)
from ctxviewer.engine.cline.savings import Characters, count_characters
from ctxviewer.engine.cline.truncation import resume_index
from ctxviewer.engine.cline.updates import METADATA, REPLACED, TEXTS, ContextHistory, HalfDoneError, HistoryDraft

ENOUGH: Final = 0.3
"""Share of the characters that must be saved to go without a cut; exactly this much is enough."""


@dataclass(frozen=True, slots=True)
class ReplacedRead:
    """One older copy of a file that was replaced."""

    path: str
    message: int
    block: int
    kind: EditType
    newest_message: int
    """Where the copy stands that is kept; may be the same message and block."""
    newest_block: int
    characters_before: Number
    """Text in force on the block before this replacement, in UTF-16 units; 0 where there is no text to replace."""
    characters_after: Number

    @property
    def saved(self) -> Number:
        """Characters saved by this replacement; negative when the notice is longer than the copy."""
        return self.characters_before - self.characters_after


@dataclass(frozen=True, slots=True)
class Optimization:
    """What the optimisation did. Without duplicates the history is the one given, and a cut is needed."""

    history: ContextHistory
    replaced: tuple[ReplacedRead, ...] = ()
    """In the order in which they were replaced: by first sight of the file, then by place."""
    characters: Characters | None = None
    """What was counted to decide; None when nothing was replaced."""

    @property
    def changed(self) -> bool:
        """Whether any copy was replaced."""
        return bool(self.replaced)

    @property
    def need_to_truncate(self) -> bool:
        """Whether a cut is needed all the same."""
        return self.characters is None or self.characters.share < ENOUGH


def optimize_file_reads(
    messages: Messages, deleted: Range | None, history: ContextHistory, timestamp: JsValue
) -> Optimization:
    """Replace all but the newest copy of each file after the deleted range, and count what that saves.

    HalfDoneError if the rules fail after updates were made (its history holds them), BrokenInputError if before.
    """
    start = resume_index(deleted)
    found = find_reads(messages, start, history)
    if all(len(places) < 2 for places in found.by_path.values()):
        return Optimization(history)
    draft = HistoryDraft(history)
    try:
        replaced = _replace_all(draft, found, messages, timestamp)
        changed = {read.message for read in replaced}
        after = draft.freeze()
        return Optimization(after, replaced, count_characters(messages, start, after, changed))
    except BrokenInputError as err:
        raise HalfDoneError(err, draft.freeze()) from err


@dataclass(slots=True)
class _Mention:
    """The text of a message with mentions while its files are replaced one after the other."""

    block: int
    text: JsValue
    paths: JsValue
    """List of the paths replaced so far; the draft's own."""


def _replace_all(
    draft: HistoryDraft, found: FoundReads, messages: Messages, timestamp: JsValue
) -> tuple[ReplacedRead, ...]:
    replaced: list[ReplacedRead] = []
    mentions: dict[int, _Mention] = {}
    for places in found.by_path.values():
        for place in places[:-1]:
            if place.kind is EditType.MENTION:
                if place.message not in mentions:
                    mentions[place.message] = _start_mention(draft, place, messages)
                lengths = _replace_mention(mentions[place.message], place)
            else:
                before = _length_in_force(draft, place, messages)
                lengths = (0, 0) if before is None else (before, utf16_length(place.replacement))
                draft.push(place.message, place.block, place.kind, timestamp, place.replacement, [])
            replaced.append(
                ReplacedRead(
                    place.path,
                    place.message,
                    place.block,
                    place.kind,
                    places[-1].message,
                    places[-1].block,
                    *lengths,
                )
            )
    for message, mention in mentions.items():
        metadata: list[Json] = [mention.paths, found.mentioned[message]]  # type: ignore[list-item]
        draft.push(message, mention.block, EditType.MENTION, timestamp, mention.text, metadata)
    return tuple(replaced)


def _start_mention(draft: HistoryDraft, place: ReadPlace, messages: Messages) -> _Mention:
    """The text to start from: that of the newest update of the block, else the stored one."""
    text: JsValue = ""
    paths: JsValue = []
    entry = draft.entry(place.message)
    changes = UNDEFINED if entry is None else entry.changes(place.block)
    if has_items(changes):
        newest = last(changes)
        text = at(at(newest, TEXTS), 0)
        paths = at(at(newest, METADATA), REPLACED)
        if isinstance(paths, list):
            paths = draft.share(place.message, place.block, paths)
    if not truthy(text):
        content = get(messages[place.message], "content")
        text = block_text(content[place.block]) if isinstance(content, list) else text
    return _Mention(place.block, text, paths)


def _replace_mention(mention: _Mention, place: ReadPlace) -> tuple[Number, Number]:
    """Lengths of the text before and after."""
    old = mention.text
    if not truthy(old):
        return 0, 0
    new = replace_first(old, place.found, place.replacement)
    if not isinstance(mention.paths, list):
        raise failed(f"message {place.message} has no list of replaced files")
    mention.paths.append(place.path)
    mention.text = new
    return utf16_length(old) if isinstance(old, str) else 0, utf16_length(new)


def _length_in_force(draft: HistoryDraft, place: ReadPlace, messages: Messages) -> Number | None:
    """Length of the text that a replacement hides: of the newest update, else as stored; None without such a block."""
    content = get(messages[place.message], "content")
    if not isinstance(content, list) or place.block >= len(content):
        return None
    stored = content[place.block]
    text = block_text(stored) if stored is not None else None
    if not isinstance(text, str):
        return None
    entry = draft.entry(place.message)
    changes = UNDEFINED if entry is None else entry.changes(place.block)
    if isinstance(changes, list) and changes:
        texts = changes[-1][TEXTS] if isinstance(changes[-1], list) and len(changes[-1]) > TEXTS else None
        newest = texts[0] if isinstance(texts, list) and texts else None
        text = newest if isinstance(newest, str) else text
    return utf16_length(text)
