"""What every stored block is for: the task, words of the user, an answer, the result of a tool, the content of a file.

Read once for a task; the parts of any request are then picked out of it. A block can hold several parts (a text with
the contents of two files), each with its length, so that what is counted for the block can be shared out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ctxviewer.domain.json import Json, as_text, is_object
from ctxviewer.domain.message import Block, BlockKind, Message, parse_message
from ctxviewer.domain.updates import Update
from ctxviewer.engine.contents import Category
from ctxviewer.engine.timeline import Timeline

EVERY = 64
"""A check is made each time so many messages were looked at."""
SHORTEST = 200
"""Texts with fewer characters are not told apart: a short answer that is given twice is no waste."""

FILE_TOOLS = frozenset({"read_file", "write_to_file", "replace_in_file"})
"""Tools whose results are about one file."""
EDITED = "older copies of files"
NOTICE = "[[NOTE]"
"""What the notice begins with that takes the place of an older copy."""

_HEADER = re.compile(r"\[(\w+)(?: for '(.*?)')?\] Result:", re.DOTALL)
_FILE = re.compile(r'<((?:final_)?file_content) path="([^"]*)">')
_CALL = re.compile(
    r"<(read_file|write_to_file|replace_in_file|list_files|list_code_definition_names|search_files|execute_command|"
    r"browser_action|use_mcp_tool|access_mcp_resource|ask_followup_question|plan_mode_respond|act_mode_respond|"
    r"attempt_completion|new_task|condense|summarize_task|new_rule|web_fetch|web_search|use_skill|use_subagents|"
    r"load_mcp_documentation)>"
)
_PATH = re.compile(r"\s*<path>([^<]*)</path>")
_BRACKET = re.compile(r"\[([A-Z][A-Z ]+)\]")
_HEAD = 400
"""So far into a text its nature is looked for."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a block's text."""

    category: Category
    group: str
    """The tool of a call or a result, the path of a file, 'text' or 'thinking' of an answer, and the like."""
    length: int
    """Characters."""
    path: str = ""
    """The file it is about, '' if none."""
    tool: str = ""
    """The tool whose call or result it is, '' if none."""


@dataclass(frozen=True, slots=True)
class BlockAnatomy:
    """What one block is for."""

    pieces: tuple[Piece, ...]
    """In order; their lengths add up to the characters of the block's text. At least one."""
    role: _Role
    """What surrounds it, so that another text in its place can be understood."""
    digest: bytes = b""
    """Stands for the text without a tool's header; empty for texts shorter than SHORTEST."""
    head: str = ""
    """The beginning of that text, for people; '' where there is no digest."""


@dataclass(frozen=True, slots=True)
class _Role:
    """What a block's neighbours say about it."""

    category: Category
    group: str
    tool: str = ""
    path: str = ""


def _never() -> None:
    return None


@dataclass(frozen=True, slots=True)
class ReadBlocks:
    """The blocks of the first messages of a history, whatever timeline they belong to."""

    messages: tuple[tuple[BlockAnatomy, ...], ...] = ()
    calls: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Tool and file of each call, by its id."""


class Anatomy:
    """The blocks of all stored messages of one timeline. Immutable but for a cache; for one thread at a time."""

    def __init__(
        self, timeline: Timeline, check: Callable[[], None] = _never, *, known: ReadBlocks | None = None
    ) -> None:
        """Decodes every message: about a second for 20 MB, so not for the GUI thread. `check` may raise to cancel.

        `known` was read of an earlier reading, all of whose messages are the first ones of this: they are not read.
        """
        self.timeline = timeline
        calls = dict(known.calls) if known is not None else {}
        messages = list(known.messages) if known is not None else []
        log = timeline.snapshot.messages
        for number in range(len(messages), len(log)):
            if number % EVERY == 0:
                check()
            messages.append(tuple(_message(parse_message(number, log[number]), calls)))
        self.read = ReadBlocks(tuple(messages), calls)
        """For the next reading of a task that grows."""
        self._updated: dict[tuple[int, str], BlockAnatomy] = {}

    def __len__(self) -> int:
        return len(self.read.messages)

    def message(self, number: int) -> tuple[BlockAnatomy, ...]:
        """The blocks of a message as stored; IndexError for a message that does not exist."""
        return self.read.messages[number]

    def updated(self, number: int, block: int, update: Update) -> BlockAnatomy:
        """A stored block with its text replaced by an update."""
        stored = self.read.messages[number][block]
        key = (id(stored), update.text)
        known = self._updated.get(key)
        if known is None:
            known = self._updated[key] = _updated(stored, update)
        return known


def text_digest(text: str) -> bytes:
    """16 bytes that stand for a text; lone surrogates are allowed."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _updated(stored: BlockAnatomy, update: Update) -> BlockAnatomy:
    text, role = update.text, stored.role
    if update.edit_type == 0:
        group = "truncation notice" if update.message == 1 else "task text replaced"
        return BlockAnatomy((Piece(Category.NOTICES, group, len(text)),), role)
    if update.edit_type == 2:
        header = _HEADER.match(text)
        path = (header[2] or "") if header else role.path
        return BlockAnatomy((Piece(Category.NOTICES, EDITED, len(text), path, "read_file"),), role)
    return _described(text, replace(role, path=role.path or _first_path(stored)))


def _first_path(block: BlockAnatomy) -> str:
    return next((piece.path for piece in block.pieces if piece.path), "")


def _message(message: Message, calls: dict[str, tuple[str, str]]) -> Iterator[BlockAnatomy]:
    if message.role == "assistant":
        for block in message.blocks:
            if block.kind is BlockKind.TOOL_USE:
                calls[block.tool_id] = (block.name, _path_of(block.raw))
            yield _answer(block)
        return
    announced: _Role | None = None
    for block in message.blocks:
        role = _role_in_user(message.index, block, announced, calls)
        header = _HEADER.match(block.text) if block.kind is BlockKind.TEXT else None
        if header is not None:  # alone, it announces the result that the next text is
            announced = role if header.end() == len(block.text) else None
        elif not _is_picture(block):
            announced = None
        yield _plain(block, role) if _is_picture(block) else _described(block.text, role)


def _is_picture(block: Block) -> bool:
    return block.kind in {BlockKind.IMAGE, BlockKind.DOCUMENT}


def _plain(block: Block, role: _Role) -> BlockAnatomy:
    return BlockAnatomy((Piece(role.category, role.group, len(block.text), role.path, role.tool),), role)


def _answer(block: Block) -> BlockAnatomy:
    if block.kind is BlockKind.TOOL_USE:
        name = block.name or "unnamed"
        return _plain(block, _Role(Category.CALLS, name, name, _path_of(block.raw)))
    if block.kind is BlockKind.TEXT:
        return _described(block.text, _Role(Category.ASSISTANT, "text"))
    if _is_picture(block):
        return _plain(block, _Role(Category.PICTURES, block.name))
    if block.kind is BlockKind.THINKING or block.name == "redacted_thinking":
        return _plain(block, _Role(Category.ASSISTANT, "thinking"))
    return _plain(block, _Role(Category.OTHER, block.name))


def _path_of(call: Json) -> str:
    """The file that a call names in its input."""
    given = call.get("input") if is_object(call) else None
    if not is_object(given):
        return ""
    return next((as_text(given[key]) for key in ("path", "absolutePath", "file_path") if as_text(given.get(key))), "")


def _role_in_user(message: int, block: Block, announced: _Role | None, calls: dict[str, tuple[str, str]]) -> _Role:
    if _is_picture(block):
        return _Role(Category.PICTURES, block.name)
    text = block.text
    if block.kind is BlockKind.TOOL_RESULT:
        name, path = calls.get(block.tool_id, ("", ""))
        header = _HEADER.match(text)
        if header is not None:
            name, path, text = header[1], header[2] or path, text[header.end() :]
        return _result_role(name, path, text)
    if block.kind is not BlockKind.TEXT:
        return _Role(Category.OTHER, block.name)
    if text.startswith("<environment_details>"):
        return _Role(Category.SURROUNDINGS, "")
    header = _HEADER.match(text)
    if header is not None:
        return _result_role(header[1], header[2] or "", text[header.end() :])
    if message == 0 and (block.index == 0 or text.startswith("<task>")):
        return _Role(Category.TASK, "")
    if text.startswith("<explicit_instructions"):
        return _Role(Category.NOTICES, "instructions of the agent")
    bracket = _BRACKET.match(text)
    if bracket is not None:
        return _Role(Category.NOTICES, bracket[1].lower())
    if announced is not None:
        return _result_role(announced.tool, announced.path, text)
    return _Role(Category.USER, "")


def _result_role(tool: str, argument: str, body: str) -> _Role:
    """The role of a tool's result; only those of file tools are about a file."""
    name = tool or "unknown tool"
    path = argument if tool in FILE_TOOLS else ""
    if tool == "read_file" and body and "<error>" not in body[:_HEAD]:
        return _Role(Category.FILES, path or "unknown file", name, path)
    return _Role(Category.RESULTS, name, name, path)


def _described(text: str, role: _Role) -> BlockAnatomy:
    """The parts of a text that stands in such a place."""
    header = _HEADER.match(text)
    body = text[header.end() :].lstrip("\r\n") if header is not None else text
    told = len(body) >= SHORTEST and role.category is not Category.ASSISTANT
    digest, head = (text_digest(body), " ".join(body[:SHORTEST].split())[:80]) if told else (b"", "")
    return BlockAnatomy(tuple(_pieces(text, role)), role, digest, head)


def _pieces(text: str, role: _Role) -> Iterator[Piece]:
    found = _calls(text) if role.category is Category.ASSISTANT else _files(text, role)
    end = 0
    for first, piece in found:
        if first > end:
            yield _rest(role, first - end)
        yield piece
        end = first + piece.length
    if end < len(text) or not text:
        yield _rest(role, len(text) - end)


def _rest(role: _Role, length: int) -> Piece:
    return Piece(role.category, role.group, length, role.path, role.tool)


def _files(text: str, role: _Role) -> Iterator[tuple[int, Piece]]:
    """Contents of files inside a text of the user's messages. Those of a read are the whole text already."""
    if role.category is Category.FILES or "file_content path=" not in text:
        return
    for start, found, end in _tagged(text, _FILE):
        if end < 0:
            continue
        path = role.path if found[1] == "final_file_content" and role.path else found[2]
        if text.startswith(NOTICE, found.end()) or text.startswith(" " + NOTICE, found.end()):
            yield start, Piece(Category.NOTICES, EDITED, end - start, path, role.tool)
        else:
            yield start, Piece(Category.FILES, path, end - start, path, role.tool)


def _calls(text: str) -> Iterator[tuple[int, Piece]]:
    """Calls of tools that an answer spells out in its text; one that is cut off goes to the end."""
    for start, found, closed in _tagged(text, _CALL):
        end = len(text) if closed < 0 else closed
        path = _PATH.match(text, found.end()) if found[1] in FILE_TOOLS else None
        tool = found[1]
        yield start, Piece(Category.CALLS, tool, end - start, path[1].strip() if path else "", tool)
        if closed < 0:
            return


def _tagged(text: str, opening: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str], int]]:
    """Start, opening tag (its name is group 1) and end of each tagged stretch, apart; end -1 where none closes."""
    unclosed: set[str] = set()
    found = opening.search(text)
    while found is not None:
        name, after = found[1], found.end()
        close = text.find(f"</{name}>", after) if name not in unclosed else -1
        if close < 0:
            unclosed.add(name)
        else:
            after = close + len(name) + 3
        yield found.start(), found, after if close >= 0 else -1
        found = opening.search(text, after)
