"""What each stored message weighs and holds, read once and shared by all strategies that look at a task."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, Protocol, TypeVar, cast

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json, as_text, is_object
from ctxviewer.domain.message import BlockKind
from ctxviewer.domain.updates import Update
from ctxviewer.engine.cline.file_reads import EditType, FoundReads, ReadPlace, search_message
from ctxviewer.engine.cline.loaded import Decoded
from ctxviewer.engine.cline.savings import count_messages
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR, ROLE_TOKENS, json_text, utf8_length
from ctxviewer.engine.state import State
from ctxviewer.engine.timeline import Timeline

T = TypeVar("T")

_EXACT_BYTES: Final = 2**24
"""Below it every length is exact in binary32, and so is a quarter of it."""

MESSAGE_TOKENS: Final = DEFAULT_ESTIMATOR.message_overhead + ROLE_TOKENS
"""What a message counts beside its texts, where nobody gives counts."""

_NO_HISTORY: Final = ContextHistory()
_RESULT_HEADER = re.compile(r"\[\w+(?: for '.*?')?\] Result:", re.DOTALL)
_SPOKEN = re.compile(r"<(?:task|feedback|user_message|answer)>")
_LOOKED_AT: Final = 2_000
"""Characters at the start of a text in which such a tag may stand; further on it belongs to some file."""
_MADE_BY_AGENT = ("<environment_details>", "[TASK RESUMPTION]", "[ERROR]", "<explicit_instructions", "[[NOTE]")


class Costs(Protocol):
    """Counts of tokens by a better counter than the estimate; None where it does not know (yet)."""

    def block(self, number: int, block: int) -> int | None:
        """Tokens of a block as stored."""

    def update(self, text: str) -> int | None:
        """Tokens of a replacement text."""


class BlockFacts(NamedTuple):
    """One stored block."""

    kind: str
    """A value of BlockKind; 'other' for everything unknown."""
    tokens: int
    replaceable: int
    """Tokens of the text that an update replaces; -1 where an update has no effect."""
    tool_id: str


class MessageFacts(NamedTuple):
    """One stored message."""

    role: str
    blocks: tuple[BlockFacts, ...]
    """String content counts as one text block that no update reaches."""
    tokens: int
    """As stored; images, documents and what nobody can read count nothing."""


class FilesIn(NamedTuple):
    """The files whose content stands in one message, by the agent's own rules, as if nothing had been replaced yet."""

    places: tuple[ReadPlace, ...]
    mentioned: tuple[str, ...]
    """Paths of all mentions in its text, repeated as they stand there."""
    damaged: bool
    """The rules fail on this message."""


_NO_FILES: Final = FilesIn((), (), damaged=False)


class Facts:
    """The facts of one task, read message by message when somebody needs them. For one thread at a time."""

    def __init__(self, timeline: Timeline, costs: Costs | None = None) -> None:
        """`costs` count tokens where they can; the rest is estimated with Sage's default estimator."""
        self.timeline = timeline
        self.messages = Decoded(timeline.snapshot.messages)
        self._costs = costs
        self._facts: list[MessageFacts] = []
        self._tokens = [0]
        self._files: dict[int, FilesIn] = {}
        self._characters: dict[int, int | None] = {}
        self._spoken: dict[int, bool] = {}
        self._remembered: dict[str, tuple[State, object]] = {}

    def read(self, until: int, check: Callable[[], None] | None = None) -> None:
        """Read the messages before `until`. `check` is called every 64 messages, here and in the rules that follow."""
        if check is not None:
            self.messages.check = check
        for number in range(len(self._facts), min(until, len(self.messages))):
            facts = facts_of(number, self.messages[number], self._costs)
            self._facts.append(facts)
            self._tokens.append(self._tokens[-1] + facts.tokens)

    def __getitem__(self, number: int) -> MessageFacts:
        if number >= len(self._facts):
            self.read(number + 1)
        return self._facts[number]

    def files(self, number: int) -> FilesIn:
        """The files in one message."""
        known = self._files.get(number)
        if known is None:
            known = self._files[number] = files_in(number, self.messages[number])
        return known

    def characters(self, number: int) -> int | None:
        """Characters of one message as the agent's savings count them; None where only the rule can tell (damage)."""
        if number not in self._characters:
            self._characters[number] = characters_of(self.files(number), self.messages[number])
        return self._characters[number]

    def spoken(self, number: int) -> bool:
        """Whether words of the user are in a message: the task, an answer, feedback; not only results and the like."""
        known = self._spoken.get(number)
        if known is None:
            value = self.messages[number]
            content = value.get("content") if is_object(value) else None
            known = self._spoken[number] = self[number].role == "user" and _is_spoken(content)
        return known

    def tokens(self, first: int, end: int) -> int:
        """Tokens of the messages from `first` up to, not including, `end`, as stored. 0 when none lies between."""
        if end <= first:
            return 0
        if end > len(self._facts):
            self.read(end)
        return self._tokens[min(end, len(self._tokens) - 1)] - self._tokens[min(first, len(self._tokens) - 1)]

    def remembered(self, what: str, state: State, make: Callable[[], T]) -> T:
        """What `make` gives for this state, made once while strategies look at the same one. `what` names its kind."""
        known = self._remembered.get(what)
        if known is None or not _same(known[0], state):
            known = self._remembered[what] = (state, make())
        return cast("T", known[1])

    def text_tokens(self, text: str) -> int:
        """Tokens of any text."""
        known = self._costs.update(text) if self._costs is not None else None
        return estimated(text) if known is None else known

    def update_tokens(self, update: Update) -> int:
        """What an update adds to its message's tokens: usually a negative number, 0 where it has no effect."""
        if update.message >= len(self.messages):
            return 0
        blocks = self[update.message].blocks
        if update.block >= len(blocks) or blocks[update.block].replaceable < 0:
            return 0
        return self.text_tokens(update.text) - blocks[update.block].replaceable

    def paths(self, until: int) -> Iterator[tuple[str, ReadPlace]]:
        """Every place before message `until` that holds a file, in order of the conversation, with its path."""
        for number in range(until):
            for place in self.files(number).places:
                yield place.path, place


def _same(one: State, other: State) -> bool:
    """Whether two states of a task are the same moment."""
    same_history = one.history is other.history
    return same_history and (one.request, one.deleted_range, one.until) == (
        other.request,
        other.deleted_range,
        other.until,
    )


def still_there(place: ReadPlace, update: Update | None) -> bool:
    """Whether a place still holds its file when `update` (None = none) is the newest of its block."""
    if update is None:
        return True
    return place.kind is EditType.MENTION and place.found in update.text


def facts_of(number: int, value: Json, costs: Costs | None = None) -> MessageFacts:
    """The facts of one message with this number; any JSON value is accepted."""
    fields = value if is_object(value) else {}
    content = fields.get("content")
    if isinstance(content, list):
        blocks = tuple([_block(number, place, block, costs) for place, block in enumerate(content)])
    elif isinstance(content, str):
        blocks = (BlockFacts("text", _tokens(number, 0, content, costs), -1, ""),)
    else:
        blocks = ()
    return MessageFacts(as_text(fields.get("role")), blocks, MESSAGE_TOKENS + sum([block.tokens for block in blocks]))


def files_in(number: int, value: Json) -> FilesIn:
    """The files in a message with this number; any JSON value is accepted."""
    found = FoundReads()
    try:
        search_message(found, number, value)
    except BrokenInputError:
        return FilesIn((), (), damaged=True)
    if not found.by_path:
        return _NO_FILES if not found.mentioned else FilesIn((), tuple(found.mentioned[number]), damaged=False)
    places = tuple([place for places in found.by_path.values() for place in places])
    return FilesIn(places, tuple(found.mentioned.get(number, ())), damaged=False)


def characters_of(files: FilesIn, value: Json) -> int | None:
    """The characters of a message, None where only the rule itself can tell."""
    if files.damaged:
        return None
    try:
        counted = count_messages((value,), (0,), _NO_HISTORY).total
    except BrokenInputError:
        return None
    return counted if type(counted) is int else None


def block_tokens(value: Json) -> int:
    """Estimated tokens of any block, as counted for one that nobody has counted better."""
    return _block(0, 0, value, None).tokens


def _block(number: int, place: int, value: Json, costs: Costs | None) -> BlockFacts:
    if not is_object(value):
        return BlockFacts(BlockKind.OTHER, 0, -1, "")
    kind = as_text(value.get("type"))
    match kind:
        case "text":
            text = as_text(value.get("text"))
            tokens = _tokens(number, place, text, costs)
            return BlockFacts(kind, tokens, tokens if isinstance(value.get("text"), str) else -1, "")
        case "tool_use":
            text = f"{as_text(value.get('name'))} {json_text(value.get('input'))}"
            return BlockFacts(kind, _tokens(number, place, text, costs), -1, as_text(value.get("id")))
        case "tool_result":
            return _result(number, place, value.get("content"), as_text(value.get("tool_use_id")), costs)
        case "thinking":
            return BlockFacts(kind, _tokens(number, place, as_text(value.get("thinking")), costs), -1, "")
        case "image" | "document":
            return BlockFacts(kind, 0, -1, "")
        case _:
            return BlockFacts(BlockKind.OTHER, _tokens(number, place, json_text(value), costs), -1, "")


def _result(number: int, place: int, content: Json, tool_id: str, costs: Costs | None) -> BlockFacts:
    if not isinstance(content, list):
        text = content if isinstance(content, str) else ""
        return BlockFacts("tool_result", _tokens(number, place, text, costs), -1, tool_id)
    texts = [as_text(inner.get("text")) for inner in content if is_object(inner) and inner.get("type") == "text"]
    whole = sum(estimated(text) for text in texts)
    known = costs.block(number, place) if costs is not None else None
    tokens = whole if known is None else known
    first = content[0] if content else None
    if not is_object(first) or first.get("type") != "text":
        return BlockFacts("tool_result", tokens, -1, tool_id)
    share = estimated(texts[0]) / whole if whole else 0
    return BlockFacts("tool_result", tokens, round(tokens * share), tool_id)


def estimated(text: str) -> int:
    """Tokens of a text by Sage's default estimator: whole for the lengths at which it needs no binary32."""
    size = utf8_length(text)
    return -(-size // 4) if size < _EXACT_BYTES else DEFAULT_ESTIMATOR.text(text)


def _tokens(number: int, place: int, text: str, costs: Costs | None) -> int:
    known = costs.block(number, place) if costs is not None else None
    return estimated(text) if known is None else known


def _is_spoken(content: Json) -> bool:
    """Whether a user message holds words of the user: a tag that Cline puts around them, or text of no other use.

    Texts that a tool result's header announces, what the agent adds by itself and results of calls do not count.
    """
    if isinstance(content, str):
        return bool(content) and not content.startswith(_MADE_BY_AGENT)
    if not isinstance(content, list):
        return False
    announced = False
    for block in content:
        text = as_text(block.get("text")) if is_object(block) and block.get("type") == "text" else ""
        if not text:
            continue
        if _SPOKEN.search(text, 0, _LOOKED_AT):
            return True
        header = _RESULT_HEADER.match(text)
        if header is not None:
            announced = header.end() == len(text)
            continue
        if not announced and not text.startswith(_MADE_BY_AGENT):
            return True
        announced = False
    return False
