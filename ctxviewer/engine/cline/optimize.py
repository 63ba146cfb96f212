"""The file-read optimisation: replace the older copies, and see whether that saves enough to go without a cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, TypeAlias

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json, Messages
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.blocks import block_text
from ctxviewer.engine.cline.file_reads import EditType, FoundReads, ReadPlace, find_reads
from ctxviewer.engine.cline.js import (
    UNDEFINED,
    JsValue,
    at,
    failed,
    get,
    has_items,
    last,
    replacement,
    truthy,
    utf16_length,
)
from ctxviewer.engine.cline.loaded import loaded
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
    characters_before: int
    """Text in force on the block before this replacement, in UTF-16 units; 0 where there is no text to replace."""
    characters_after: int

    @property
    def saved(self) -> int:
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


Counting: TypeAlias = Callable[[ContextHistory, AbstractSet[int]], Characters]
"""Counts the characters once the given messages hold new updates; fails as `count_characters` does."""


def optimize_file_reads(
    messages: Messages, deleted: Range | None, history: ContextHistory, timestamp: JsValue
) -> Optimization:
    """Replace all but the newest copy of each file after the deleted range, and count what that saves.

    HalfDoneError if the rules fail after updates were made (its history holds them), BrokenInputError if before.
    """
    messages = loaded(messages)
    start = resume_index(deleted)
    found = find_reads(messages, start, history)

    def count(after: ContextHistory, changed: AbstractSet[int]) -> Characters:
        return count_characters(messages, start, after, changed)

    return optimize_found(found, messages, history, timestamp, count)


def optimize_found(
    found: FoundReads, messages: Messages, history: ContextHistory, timestamp: JsValue, count: Counting
) -> Optimization:
    """The same for copies that are already found. Files with one copy may be left out of `found`."""
    if all(len(places) < 2 for places in found.by_path.values()):
        return Optimization(history)
    draft = HistoryDraft(history)
    try:
        steps = _replace_all(draft, found, messages, timestamp)
        after = draft.freeze()
        characters = count(after, {step.place.message for step in steps})
    except BrokenInputError as err:
        raise HalfDoneError(err, draft.freeze()) from err
    return Optimization(after, tuple(_measured(steps, characters)), characters)


@dataclass(frozen=True, slots=True)
class _Step:
    """One replacement as it was carried out."""

    place: ReadPlace
    newest: ReadPlace
    shrunk: int = 0
    """Of a mention: units that the text became shorter by."""


@dataclass(slots=True)
class _Mention:
    """The text of a message with mentions while its files are replaced one after the other."""

    block: int
    text: JsValue
    paths: JsValue
    """List of the paths replaced so far; the draft's own."""


def _replace_all(draft: HistoryDraft, found: FoundReads, messages: Messages, timestamp: JsValue) -> list[_Step]:
    steps: list[_Step] = []
    mentions: dict[int, _Mention] = {}
    for places in found.by_path.values():
        for place in places[:-1]:
            shrunk = 0
            if place.kind is EditType.MENTION:
                mention = mentions.get(place.message)
                if mention is None:
                    mention = mentions[place.message] = _start_mention(draft, place, messages)
                shrunk = _replace_mention(mention, place)
            else:
                draft.push(place.message, place.block, place.kind, timestamp, place.replacement, [])
            steps.append(_Step(place, places[-1], shrunk))
    for message, mention in mentions.items():
        metadata: list[Json] = [mention.paths, found.mentioned[message]]  # type: ignore[list-item]
        draft.push(message, mention.block, EditType.MENTION, timestamp, mention.text, metadata)
    return steps


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


def _replace_mention(mention: _Mention, place: ReadPlace) -> int:
    """Replace one file; returns by how many units the text became shorter."""
    text = mention.text
    change = replacement(text, place.found, place.replacement)
    if not isinstance(mention.paths, list):
        raise failed(f"message {place.message} has no list of replaced files")
    mention.paths.append(place.path)
    if change is None or not isinstance(text, str):
        return 0
    start, fresh = change
    mention.text = text[:start] + fresh + text[start + len(place.found) :]
    return utf16_length(place.found) - utf16_length(fresh)


def _measured(steps: list[_Step], characters: Characters) -> Iterator[ReplacedRead]:
    """The replacements with their lengths: blocks as counted, split up where several files of one block went."""
    remaining: dict[tuple[int, int], int] = {}
    for step in steps:
        place, newest = step.place, step.newest
        where = place.message, place.block
        before, after = (_whole(length) for length in characters.blocks.get(where, (0, 0)))
        if place.kind is EditType.MENTION:
            before = remaining.get(where, before)
            after = before - step.shrunk
            remaining[where] = after
        yield ReplacedRead(
            place.path, place.message, place.block, place.kind, newest.message, newest.block, before, after
        )


def _whole(length: JsValue) -> int:
    return length if type(length) is int else 0
