"""Duplicate reads: where a conversation holds the content of a file, and the older copies replaced by a notice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from ctxviewer.domain.json import Json, Messages
from ctxviewer.engine.cline.blocks import block_text, role_and_content
from ctxviewer.engine.cline.js import JsValue, at, failed, get, has_items, last, strict_equals, to_string, truthy
from ctxviewer.engine.cline.notices import DUPLICATE_FILE_READ
from ctxviewer.engine.cline.updates import ALL_PATHS, METADATA, REPLACED, ContextHistory, MessageUpdates


class EditType(IntEnum):
    """What an entry of the stored updates says about its message."""

    NOTICE = 0
    NONE = 1
    READ = 2
    EDIT = 3
    MENTION = 4


@dataclass(frozen=True, slots=True)
class ReadPlace:
    """One place that holds the content of a file."""

    path: str
    message: int
    block: int
    """Where the replacement goes. For a header that stands alone it is 1, whatever is there, if anything."""
    kind: EditType
    """READ, EDIT or MENTION."""
    replacement: str
    """The whole new text of the block; for a mention, the template that takes the place of `found`."""
    found: str = ""
    """The mention as it stands in the text, with its tags."""


@dataclass(frozen=True, slots=True)
class FoundReads:
    """All places, and what each message mentions."""

    by_path: dict[str, list[ReadPlace]] = field(default_factory=dict)
    """In order of first sight of each path; places in order of the conversation."""
    mentioned: dict[int, list[str]] = field(default_factory=dict)
    """Paths of all mentions in a message's text, repeated as they stand there."""


_HEADER: Final = re.compile(r"\[(read_file|write_to_file|replace_in_file) for '([^']+)'\] Result:")
_OPEN, _CLOSE = '<file_content path="', "</file_content>"
_FINAL_OPEN, _FINAL_CLOSE = '<final_file_content path="', "</final_file_content>"
_MENTION_BLOCKS: Final = 3
"""Mentions are looked for in so many first blocks of a message."""


def find_reads(messages: Messages, start: int, history: ContextHistory) -> FoundReads:
    """Every place from message `start` on that a duplicate may stand in.

    Messages that have an entry in the history are skipped, except mentions of which not all files are replaced yet.
    Fails where the reference does, also for a negative start.
    """
    found = FoundReads()
    for index in range(start, len(messages)):
        search_again(found, index, messages, history)
    return found


def search_again(found: FoundReads, index: int, messages: Messages, history: ContextHistory) -> None:
    """Add what message `index` still holds, given what was replaced in it before."""
    replaced: JsValue = None
    entry = history.entry(index)
    if entry is not None:
        if not _is_open(entry):
            return
        replaced = _replaced_paths(entry)
    search_message(found, index, messages[index] if index >= 0 else _nothing(index), replaced)


def search_message(found: FoundReads, index: int, message: Json, replaced: JsValue = None) -> None:
    """Add the places of one message, with number `index`, to those found. `replaced`: paths already replaced in it."""
    role, content = role_and_content(message)
    if role == "user" and isinstance(content, list) and content:
        _search(found, index, content, replaced)


def _nothing(index: int) -> Json:
    raise failed(f"message {index} does not exist")


def _is_open(entry: MessageUpdates) -> bool:
    """Whether a message with an entry is looked at again: mentions whose two lists differ in length."""
    if isinstance(entry.edit_type, bool) or entry.edit_type != EditType.MENTION:
        return False
    changes = _first_changes(entry)
    if not has_items(changes):
        return True
    metadata = at(last(changes), METADATA)
    replaced, everything = at(metadata, REPLACED), at(metadata, ALL_PATHS)
    return not strict_equals(get(replaced, "length"), get(everything, "length"))


def _replaced_paths(entry: MessageUpdates) -> JsValue:
    changes = _first_changes(entry)
    return at(at(last(changes), METADATA), REPLACED) if has_items(changes) else None


def _first_changes(entry: MessageUpdates) -> JsValue:
    """Updates of the first block in stored order; an entry of mentions has one block only."""
    for updates in entry.blocks.values():
        return updates.changes
    return None


def _search(found: FoundReads, index: int, content: list[Json], replaced: JsValue) -> None:
    first = content[0]
    text = block_text(first)
    if not truthy(text):
        return
    if not isinstance(text, str):
        raise failed(f"the text of message {index} is no text")
    header = _HEADER.match(text) if text.startswith("[") else None
    if header is not None and _search_tool(found, index, content, text, header):
        return
    for block in range(min(_MENTION_BLOCKS, len(content))):
        text = block_text(content[block])
        if truthy(text) and _search_mentions(found, index, block, text, replaced):
            return


def _search_tool(found: FoundReads, index: int, content: list[Json], text: str, header: re.Match[str]) -> bool:
    """Whether the message is a read or an edit, so that mentions in it do not count."""
    tool, path = header[1], header[2]
    alone = header.end() == len(text)
    block = 1 if alone else 0
    if tool == "read_file":
        notice = DUPLICATE_FILE_READ if alone else f"{header[0]}\n{DUPLICATE_FILE_READ}"
        _add(found, ReadPlace(path, index, block, EditType.READ, notice))
        return True
    body: JsValue = text
    if alone and get(content[0], "type") != "tool_result":
        second = content[1] if len(content) > 1 else None
        body = get(second, "text") if len(content) > 1 and get(second, "type") == "text" else None
    if not truthy(body):
        return False
    shortened = shorten_edit(to_string(body))
    if shortened is not None:
        if not isinstance(body, str):
            raise failed(f"the text of message {index} is no text")
        _add(found, ReadPlace(path, index, block, EditType.EDIT, shortened))
    return True


def shorten_edit(text: str) -> str | None:
    """The result of an edit with the first final content replaced by the notice; None if it holds none."""
    for _, _, content, close in _tags(text, _FINAL_OPEN, _FINAL_CLOSE):
        return f"{text[:content]} {DUPLICATE_FILE_READ} {text[close:]}"
    return None


def _search_mentions(found: FoundReads, index: int, block: int, text: JsValue, replaced: JsValue) -> bool:
    """Whether the text of the block mentions any file."""
    if not isinstance(text, str):
        raise failed(f"the text of message {index} is no text")
    paths: list[str] = []
    for start, path, _, close in _tags(text, _OPEN, _CLOSE):
        paths.append(path)
        if not _includes(replaced, path):
            whole = text[start : close + len(_CLOSE)]
            template = f'{_OPEN}{path}">{DUPLICATE_FILE_READ}{_CLOSE}'
            _add(found, ReadPlace(path, index, block, EditType.MENTION, template, whole))
    if paths:
        found.mentioned[index] = paths
    return bool(paths)


def _includes(replaced: JsValue, path: str) -> bool:
    if replaced is None:
        return False
    if isinstance(replaced, (list, str)):
        return path in replaced
    raise failed("the list of replaced files is no list")


def _tags(text: str, opening: str, closing: str) -> Iterator[tuple[int, str, int, int]]:
    """Each pair of tags, not overlapping: start, path, start of the content, start of the closing tag."""
    start = text.find(opening)
    while start >= 0:
        path_start = start + len(opening)
        path_end = text.find('"', path_start)
        if path_end < 0:
            return
        if not text.startswith(">", path_end + 1):
            start = text.find(opening, start + 1)
            continue
        content = path_end + 2
        close = text.find(closing, content)
        if close < 0:
            return
        yield start, text[path_start:path_end], content, close
        start = text.find(opening, close + len(closing))


def _add(found: FoundReads, place: ReadPlace) -> None:
    found.by_path.setdefault(place.path, []).append(place)
