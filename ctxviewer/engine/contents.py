"""What the stored messages hold: contents of files, edits, words of the user, decisions.

Read once for a whole history; what of it a request sends is then a question to its projection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from ctxviewer.domain.json import as_text
from ctxviewer.domain.log import JsonLog
from ctxviewer.domain.message import Block, BlockKind, Message, parse_message
from ctxviewer.domain.projection import BlockChange, SentBlock
from ctxviewer.engine.decisions import Decision, decisions_in

EVERY: Final = 64
"""A check is made each time so many messages were read."""


class FileKind(StrEnum):
    """How the content of a file came into the conversation."""

    READ = "read"
    EDIT = "result of an edit"
    MENTION = "mention"
    WRITTEN = "written by the assistant"


class FilePlace(NamedTuple):
    """One place that holds the content of a file."""

    path: str
    message: int
    block: int
    """Stored block that holds the content itself; the header may stand in the one before."""
    kind: FileKind
    start: int
    end: int
    """The content in the block's text, end exclusive."""


class Edit(NamedTuple):
    """A file was changed, or was to be changed, by the assistant."""

    path: str
    message: int
    block: int


class Words(NamedTuple):
    """Words of the user."""

    message: int
    block: int
    start: int
    end: int
    """In the block's text, end exclusive."""
    is_task: bool


class Category(StrEnum):
    """What a block is for, told by its form."""

    TASK = "task"
    USER = "user"
    ASSISTANT = "assistant"
    CALLS = "tool calls"
    RESULTS = "tool results"
    FILES = "files"
    SURROUNDINGS = "environment details"
    NOTICES = "notices"
    PICTURES = "images"
    OTHER = "other"


class Call(NamedTuple):
    """A native tool call."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class MessageContents:
    """What one stored message holds."""

    files: tuple[FilePlace, ...] = ()
    edits: tuple[Edit, ...] = ()
    words: tuple[Words, ...] = ()
    decisions: tuple[Decision, ...] = ()
    calls: Mapping[str, Call] = field(default_factory=dict)
    """Native calls by id."""


_HEADER: Final = re.compile(r"\[(\w+)(?: for '(.*?)')?\] Result:", re.DOTALL)
_MENTION: Final = re.compile(r'<file_content path="([^"]*)">')
_FINAL: Final = re.compile(r'<final_file_content path="([^"]*)">')
_SPOKEN: Final = re.compile(r"<(task|feedback|user_message|answer)>")
_XML_WRITE: Final = re.compile(r"<(write_to_file|replace_in_file)>\s*<path>([^<]*)</path>")
_FAILED: Final = re.compile(r"<error>|^The tool execution failed|^The user denied this operation", re.MULTILINE)
READ_REPLACED: Final = 2
"""Kind of an update that replaces the content of a read."""
_LOOKED_AT: Final = 2_000
"""Characters at the start of a text in which the user's words may begin; further on, tags belong to some file."""
_ERROR_AT: Final = 300
_MADE_BY_AGENT: Final = (
    "<environment_details>",
    "[TASK RESUMPTION]",
    "[ERROR]",
    "<explicit_instructions",
    "[[NOTE]",
    "[NOTE]",
    "# task_progress",
    "# TODO",
    "<file_content",
    "<folder_content",
)
_READS: Final = frozenset({"read_file"})
_EDITS: Final = frozenset({"write_to_file", "replace_in_file", "new_rule", "apply_patch", "edit_file", "apply_diff"})
_WRITES: Final = frozenset({"write_to_file", "new_rule"})
_PATH_KEYS: Final = ("path", "absolutePath", "file_path")


def _never() -> None:
    return None


class Contents:
    """All messages of a history. Immutable once made; may be asked from any thread."""

    def __init__(
        self,
        messages: JsonLog,
        check: Callable[[], None] = _never,
        *,
        known: Contents | None = None,
        kept: int = 0,
    ) -> None:
        """Read the history: about half a second for 100 MB. `check` is called every 64 messages and may raise.

        `known` are the contents of an earlier reading whose first `kept` messages were the same: those are not read
        again.
        """
        done = list(known.messages[:kept]) if known is not None else []
        calls: Mapping[str, Call] = done[-1].calls if done else {}
        for number in range(len(done), len(messages)):
            if number % EVERY == 0:
                check()
            found = read_message(parse_message(number, messages[number]), calls)
            calls = found.calls
            done.append(found)
        self.messages: tuple[MessageContents, ...] = tuple(done)
        """By message number."""
        files: dict[str, list[FilePlace]] = {}
        edits: dict[str, list[Edit]] = {}
        for one in done:
            for place in one.files:
                files.setdefault(place.path, []).append(place)
            for edit in one.edits:
                edits.setdefault(edit.path, []).append(edit)
        self.files: Mapping[str, tuple[FilePlace, ...]] = {path: tuple(places) for path, places in files.items()}
        """Places by path, in order of the conversation; paths in order of first sight."""
        self.edits: Mapping[str, tuple[Edit, ...]] = {path: tuple(some) for path, some in edits.items()}

    def __len__(self) -> int:
        return len(self.messages)


def holds(place: FilePlace, blocks: tuple[SentBlock, ...]) -> bool:
    """Whether a message sent as these blocks still holds the content of a place in it."""
    block = next((one for one in blocks if one.stored is not None and one.stored.index == place.block), None)
    if block is None or block.change is BlockChange.REMOVED or block.stored is None or block.sent is None:
        return False
    if block.change is not BlockChange.REWRITTEN or block.update is None:
        return True
    text, start, end = block.stored.text, place.start, place.end
    if place.kind is FileKind.READ and block.update.edit_type == READ_REPLACED:
        return False
    if place.kind is FileKind.MENTION:  # with its tags, because a short content stands in many texts
        start, end = max(text.rfind("<file_content", 0, start), 0), end + len("</file_content>")
    elif place.kind is FileKind.EDIT:
        start, end = max(start - 1, 0), end + len("</final_file_content>")
    return bool(text[place.start : place.end].strip()) and text[start:end] in block.sent.text


def read_message(message: Message, calls: Mapping[str, Call]) -> MessageContents:
    """What one message holds. `calls` are the native calls of the message before it."""
    if message.role == "assistant":
        return _assistant(message)
    return _User(message, calls).read() if message.role == "user" else MessageContents()


def _assistant(message: Message) -> MessageContents:
    files: list[FilePlace] = []
    edits: list[Edit] = []
    decisions: list[Decision] = []
    calls: dict[str, Call] = {}
    for block in message.blocks:
        if block.kind is BlockKind.TOOL_USE:
            path = _path_of(block)
            calls[block.tool_id] = Call(block.name, path)
            if path and block.name in _EDITS:
                edits.append(Edit(path, message.index, block.index))
            if path and block.name in _WRITES:
                files.append(FilePlace(path, message.index, block.index, FileKind.WRITTEN, 0, len(block.text)))
        elif block.kind is BlockKind.TEXT:
            decisions.extend(decisions_in(block.text, message.index, block.index))
            for name, path, start, end in _xml_writes(block.text):
                edits.append(Edit(path, message.index, block.index))
                if name in _WRITES:
                    files.append(FilePlace(path, message.index, block.index, FileKind.WRITTEN, start, end))
    return MessageContents(tuple(files), tuple(edits), (), tuple(decisions), calls)


def _path_of(block: Block) -> str:
    value = block.raw.get("input") if isinstance(block.raw, dict) else None
    if not isinstance(value, dict):
        return ""
    return next((as_text(value[key]) for key in _PATH_KEYS if as_text(value.get(key))), "")


def _xml_writes(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Calls written as tags: tool, path, start and end of the content."""
    at = 0
    while opening := _XML_WRITE.search(text, at):
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        end = len(text) if end < 0 else end
        start = text.find("<content>", opening.end(), end)
        start = opening.end() if start < 0 else start + len("<content>")
        stop = text.rfind("</content>", start, end)
        yield opening[1], opening[2].strip(), start, end if stop < 0 else stop
        at = end


class _User:
    """One message of the user, block by block; a header that stands alone tells what the next block is."""

    def __init__(self, message: Message, calls: Mapping[str, Call]) -> None:
        self._message = message
        self._calls = calls
        self._files: list[FilePlace] = []
        self._edits: list[Edit] = []
        self._words: list[Words] = []
        self._announced: Call | None = None
        """The header that the block before ended with."""

    def read(self) -> MessageContents:
        for block in self._message.blocks:
            if block.kind not in {BlockKind.TEXT, BlockKind.TOOL_RESULT}:
                continue
            announced, self._announced = self._announced, None
            header = _HEADER.match(block.text)
            if header is not None:
                call = Call(header[1], header[2] or "")
                self._result(block, call, header.end())
                if header.end() == len(block.text) and block.kind is BlockKind.TEXT:
                    self._announced = call
            elif block.kind is BlockKind.TOOL_RESULT:
                self._result(block, self._calls.get(block.tool_id, Call("", "")), 0)
            elif announced is not None:
                self._result(block, announced, 0)
            else:
                self._free_text(block)
        return MessageContents(tuple(self._files), tuple(self._edits), tuple(self._words))

    def _result(self, block: Block, call: Call, start: int) -> None:
        """The result of a call, or its header alone, from `start` on in the block's text."""
        text = block.text
        tool, path = call
        failed = _FAILED.search(text, start, start + _ERROR_AT) is not None
        if tool in _READS and path:
            if start < len(text) and not failed:
                start += text.startswith("\n", start)
                self._files.append(FilePlace(path, self._message.index, block.index, FileKind.READ, start, len(text)))
            return
        if tool in _EDITS and path:
            if start < len(text) and not failed:
                self._edits.append(Edit(path, self._message.index, block.index))
            for first, end in _tagged(text, _FINAL, "</final_file_content>"):
                self._files.append(FilePlace(path, self._message.index, block.index, FileKind.EDIT, first, end))
        else:
            self._mentions(block)
        self._spoken(block)

    def _free_text(self, block: Block) -> None:
        start = block.text.lstrip()
        mentions, spoken = self._mentions(block), self._spoken(block)
        if start and not mentions and not spoken and not start.startswith(_MADE_BY_AGENT):
            is_task = self._message.index == 0
            self._words.append(Words(self._message.index, block.index, 0, len(block.text), is_task=is_task))

    def _mentions(self, block: Block) -> bool:
        before = len(self._files)
        for start, end in _tagged(block.text, _MENTION, "</file_content>"):
            quote = block.text.rfind('"', 0, start)
            path = block.text[block.text.rfind('"', 0, quote) + 1 : quote]
            self._files.append(FilePlace(path, self._message.index, block.index, FileKind.MENTION, start, end))
        return len(self._files) > before

    def _spoken(self, block: Block) -> bool:
        """Words between tags that the agent puts around what the user said, at the beginning of a text."""
        text, at, before = block.text, 0, len(self._words)
        while opening := _SPOKEN.search(text, at, _LOOKED_AT):
            end = text.find(f"</{opening[1]}>", opening.end())
            at = len(text) if end < 0 else end
            if text[opening.end() : at].strip():
                task = opening[1] == "task" and self._message.index == 0
                self._words.append(Words(self._message.index, block.index, opening.end(), at, is_task=task))
        return len(self._words) > before


def _tagged(text: str, opening: re.Pattern[str], closing: str) -> Iterator[tuple[int, int]]:
    """What stands between tags, start and end exclusive; tags that are not closed count to the end of the text."""
    at = 0
    while found := opening.search(text, at):
        end = text.find(closing, found.end())
        at = len(text) if end < 0 else end
        yield found.end(), at
