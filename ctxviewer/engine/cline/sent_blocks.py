"""One stored message block by block as it is sent, with what is left out and the rule behind each change."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json, as_text
from ctxviewer.domain.log import JsonLog
from ctxviewer.domain.message import Block, Message, parse_block, parse_message
from ctxviewer.domain.projection import BlockChange, Projection, RepairKind, SentBlock, Standing
from ctxviewer.domain.updates import Update
from ctxviewer.engine.cline.blocks import role_and_content, with_text
from ctxviewer.engine.cline.tool_pairs import call_ids, paired

_HEADER = re.compile(r"\[\w+ for '([^']+)'\] Result:")
_TAG = re.compile(r'<(?:final_)?file_content path="([^"]*)"')
PRUNED = "removed by the strategy"
"""Label of a block that rules of another agent leave out."""
_Test = Callable[["_Item"], bool]


@dataclass(slots=True)
class _Item:
    """A block on its way: where it came from and what became of it."""

    value: Json
    stored: Block | None
    change: BlockChange = BlockChange.SAME
    update: Update | None = None
    label: str = ""


def sent_blocks(messages: JsonLog, projection: Projection, number: int) -> tuple[SentBlock, ...]:
    """Blocks of message `number` as the projection sends it, then those left out of it, in stored order.

    The order of results, updates by shifted block numbers and made-up results are those of
    `project.sent_messages`. Messages that are not sent, or later, are shown with their updates, paired with their
    stored neighbour. Where the reference fails on the message, its blocks are shown as stored.
    """
    value = messages[number]
    message = parse_message(number, value)
    try:
        return _as_sent(messages, projection, message)
    except BrokenInputError as err:
        label = f"the reference fails here: {err.sentence}"
        return tuple(SentBlock(BlockChange.SAME, block, block, None, label) for block in message.blocks)


def _as_sent(messages: JsonLog, projection: Projection, message: Message) -> tuple[SentBlock, ...]:
    number = message.index
    items = [_Item(block.raw, block) for block in message.blocks]
    gone: list[_Item] = []
    removed = projection.gone_blocks
    alone = projection.until <= 1
    after_cut = projection.standing(number) is Standing.SENT and number == projection.resume and projection.hidden
    is_list = isinstance(message.raw, dict) and isinstance(message.raw.get("content"), list)
    strips = after_cut and projection.first_pair > 1 and not projection.from_the_end
    if is_list and strips and message.role == "user":
        items, gone = _split(items, lambda item: not _is_result(item.value))
        for item in gone:
            item.change, item.label = BlockChange.REMOVED, str(RepairKind.STRIPPED)
    if is_list and not alone:
        for block in range(len(message.blocks)):
            update = projection.updates.get((number, block))
            if update is not None:
                _rewrite(items, block, update, message)
    if not alone and number > 0:
        before = messages[projection.first_pair - 1 if after_cut else number - 1]
        items, dropped = _pair(before, items, message, is_list=is_list)
        gone.extend(dropped)
    items, pruned = _split(items, lambda item: item.stored is None or (number, item.stored.index) not in removed)
    for item in pruned:
        item.change, item.label = BlockChange.REMOVED, PRUNED
    gone.extend(pruned)
    return tuple(_result(position, item) for position, item in enumerate(items)) + tuple(
        SentBlock(BlockChange.REMOVED, None, item.stored, item.update, item.label)
        for item in sorted(gone, key=lambda item: item.stored.index if item.stored else -1)
    )


def _split(items: list[_Item], keep: _Test) -> tuple[list[_Item], list[_Item]]:
    return [item for item in items if keep(item)], [item for item in items if not keep(item)]


def _is_result(value: Json) -> bool:
    return isinstance(value, dict) and value.get("type") == "tool_result"


def _rewrite(items: list[_Item], block: int, update: Update, message: Message) -> None:
    if block >= len(items):
        return
    item = items[block]
    changed = with_text(item.value, update.text)
    if changed is not None:
        item.value = changed
        item.change, item.update = BlockChange.REWRITTEN, update
        item.label = update_label(update, message)


def _pair(before: Json, items: list[_Item], message: Message, *, is_list: bool) -> tuple[list[_Item], list[_Item]]:
    role, content = role_and_content(before)
    if role != "assistant" or message.role != "user" or not isinstance(content, list):
        return items, []
    ids = call_ids(content)
    if not ids:
        return items, []
    gone: list[_Item] = []
    if not is_list:
        gone, items = items, []
        for item in gone:
            item.change, item.label = BlockChange.REMOVED, str(RepairKind.WORDS_LOST)
    mended = paired(ids, [item.value for item in items])
    if mended is None:
        return items, gone
    unseen: dict[int, list[_Item]] = {}
    for item in items:  # equal values may be one object, and then stand for several blocks
        unseen.setdefault(id(item.value), []).append(item)
    kinds = {change.kind for change in mended[1]}
    result: list[_Item] = []
    for value in mended[0]:
        same = unseen.get(id(value))
        known = same.pop(0) if same else None
        if known is None:
            made = any(value is other.value for other in result)
            label = str(RepairKind.MOVED if made else RepairKind.ADDED)
            known = _Item(value, None, BlockChange.ADDED, None, label)
        elif RepairKind.MOVED in kinds and _is_result(value) and known.change is BlockChange.SAME:
            known.change, known.label = BlockChange.MOVED, str(RepairKind.MOVED)
        result.append(known)
    for item in (item for same in unseen.values() for item in same):
        item.change, item.label = BlockChange.REMOVED, str(RepairKind.DROPPED)
        gone.append(item)
    return result, gone


def _result(position: int, item: _Item) -> SentBlock:
    stored = item.stored
    untouched = stored is not None and (
        isinstance(item.value, str) or (item.change is BlockChange.SAME and stored.index == position)
    )
    sent = stored if untouched else parse_block(position, item.value)
    return SentBlock(item.change, sent, item.stored, item.update, item.label)


def update_label(update: Update, message: Message) -> str:
    """The rule behind an update in a few words, with the file it is about where that can be told."""
    if update.edit_type == 0:
        return "truncation notice" if update.message == 1 else "task text replaced by a notice"
    if update.edit_type == 4:
        paths = _replaced_paths(update)
        return f"duplicate mention of {', '.join(paths)}" if paths else "duplicate file mention"
    path = update_path(update, message)
    words = "duplicate read" if update.edit_type == 2 else "duplicate content of an edited file"
    if update.edit_type not in {2, 3}:
        words = f"update of kind {update.edit_type}"
    return f"{words}: {path}" if path else words


def update_path(update: Update, message: Message) -> str:
    """The path that a read or an edit result is about: from its header in this block or the one before; '' if none."""
    for text in (update.text, *(message.blocks[i].text for i in (update.block, update.block - 1) if _has(message, i))):
        header = _HEADER.match(text)
        if header:
            return header[1]
    tag = _TAG.search(update.text)
    return tag[1] if tag else ""


def _has(message: Message, block: int) -> bool:
    return 0 <= block < len(message.blocks)


def _replaced_paths(update: Update) -> list[str]:
    metadata = update.metadata
    replaced = metadata[0] if isinstance(metadata, list) and metadata else None
    return list(dict.fromkeys(as_text(path) for path in replaced)) if isinstance(replaced, list) else []
