"""What a strategy leaves out of messages that it sends: single blocks, and halves of calls and results. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ctxviewer.domain.json import Json, is_object
from ctxviewer.domain.message import BlockKind
from ctxviewer.domain.projection import BlockChange, Projection, SentBlock, Standing
from ctxviewer.engine.cline.sent_blocks import PRUNED

NO_RESULT = "separated: its result is not sent"
NO_CALL = "separated: its call is not sent"
_HALVES = {
    BlockKind.TOOL_USE: (1, BlockKind.TOOL_RESULT, NO_RESULT),
    BlockKind.TOOL_RESULT: (-1, BlockKind.TOOL_USE, NO_CALL),
}


def is_left_out(block: SentBlock) -> bool:
    """True for a stored block that a strategy does not send although it sends the message."""
    return block.change is BlockChange.REMOVED and block.label == PRUNED


def is_separated(block: SentBlock) -> bool:
    """True for a call without its result, or the reverse, because a strategy left the other half out."""
    return block.change is BlockChange.SAME and block.label in {NO_RESULT, NO_CALL}


def with_halves(
    projection: Projection, row: int, blocks: tuple[SentBlock, ...], message: Callable[[int], Json]
) -> tuple[SentBlock, ...]:
    """The blocks of a message, those labelled whose other half a strategy left out. Reads the neighbours if need be."""
    if not (projection.gone or projection.gone_blocks) or projection.standing(row) is not Standing.SENT:
        return blocks
    missing: dict[int, frozenset[tuple[str, str]]] = {}

    def lost(neighbour: int) -> frozenset[tuple[str, str]]:
        if neighbour not in missing:
            missing[neighbour] = _not_sent(projection, neighbour, message)
        return missing[neighbour]

    return tuple(_labelled(block, row, lost) for block in blocks)


def _labelled(block: SentBlock, row: int, lost: Callable[[int], frozenset[tuple[str, str]]]) -> SentBlock:
    sent = block.sent
    if sent is None or block.change is not BlockChange.SAME or sent.kind not in _HALVES or not sent.tool_id:
        return block
    step, kind, label = _HALVES[sent.kind]
    return replace(block, label=label) if (str(kind), sent.tool_id) in lost(row + step) else block


def _not_sent(projection: Projection, row: int, message: Callable[[int], Json]) -> frozenset[tuple[str, str]]:
    """(kind, call) of the calls and results of a message that a strategy leaves out."""
    if not 0 <= row < projection.until:
        return frozenset()
    whole = row in projection.gone
    if not whole and not any(place[0] == row for place in projection.gone_blocks):
        return frozenset()
    value = message(row)
    content = value.get("content") if is_object(value) else None
    if not isinstance(content, list):
        return frozenset()
    found = set()
    for number, item in enumerate(content):
        if is_object(item) and (whole or (row, number) in projection.gone_blocks):
            kind = item.get("type")
            call = item.get("id") if kind == "tool_use" else item.get("tool_use_id")
            if isinstance(kind, str) and isinstance(call, str):
                found.add((kind, call))
    return frozenset(found)


def left_out_words(blocks: tuple[SentBlock, ...]) -> str:
    """'1 of 3 blocks not sent', 'call without its result'; '' when a strategy leaves nothing out of the message."""
    gone = [block for block in blocks if is_left_out(block)]
    halves = {block.label for block in blocks if is_separated(block)}
    words = []
    if gone:
        stored = sum(block.stored is not None for block in blocks)
        words.append(f"{len(gone)} of {stored} blocks not sent")
    if NO_RESULT in halves:
        words.append("call without its result")
    if NO_CALL in halves:
        words.append("result without its call")
    return ", ".join(words)
