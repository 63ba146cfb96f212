"""Repairs between neighbours of a stored history, found without projecting it as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json
from ctxviewer.domain.log import JsonLog
from ctxviewer.domain.projection import Projection, Repair, RepairKind
from ctxviewer.engine.cline.blocks import role_and_content
from ctxviewer.engine.cline.tool_pairs import Change, call_ids, id_text, paired, without_results

_MARK = b'"tool_use"'


def find_pair_repairs(messages: JsonLog, check: Callable[[], None], start: int = 0) -> dict[int, tuple[Repair, ...]]:
    """Repairs by message number, ascending, if every stored message were sent. Decodes only what can matter.

    Looks at calls from message `start` on, so at messages from `start` + 1 on.

    `check` is called every 64 messages and may raise to cancel. Damaged messages are passed over.
    """
    found: dict[int, tuple[Repair, ...]] = {}
    for index in range(start, len(messages) - 1):
        if index % 64 == 0:
            check()
        if _MARK not in messages.raw(index):
            continue
        repairs = tuple(pair_repairs(messages[index], messages[index + 1], index + 1))
        if repairs:
            found[index + 1] = repairs
    return found


def pair_repairs(before: Json, message: Json, number: int) -> Iterator[Repair]:
    """Repairs of `message` when it is sent right after `before`."""
    try:
        changes = _changes(before, message)
    except BrokenInputError:
        return
    for change in changes:
        yield Repair(change.kind, number, change.tool_ids)


def _changes(before: Json, message: Json) -> tuple[Change, ...]:
    role, content = role_and_content(before)
    if role != "assistant" or not isinstance(content, list):
        return ()
    ids = call_ids(content)
    role, content = role_and_content(message)
    if not ids or role != "user":
        return ()
    if isinstance(content, list):
        mended = paired(ids, content)
        return mended[1] if mended else ()
    lost = (Change(RepairKind.WORDS_LOST, tuple(id_text(call) for call in ids)),) if content else ()
    mended = paired(ids, [])
    return (*lost, *(mended[1] if mended else ()))


def seam_repairs(messages: JsonLog, projection: Projection) -> tuple[Repair, ...]:
    """Repairs of the first message behind the hidden stretch: stripped results, then pairing with the first pair."""
    number = projection.resume
    message = messages[number]
    repairs: list[Repair] = []
    try:
        role, content = role_and_content(message)
        strips = projection.first_pair > 1 and not projection.from_the_end
        if strips and role == "user" and isinstance(content, list) and isinstance(message, dict):
            stripped = without_results(content)
            if stripped is not None:
                repairs.append(Repair(RepairKind.STRIPPED, number, stripped[1]))
                message = {**message, "content": stripped[0]}
    except BrokenInputError:
        return ()
    if projection.first_pair > 1:
        repairs.extend(pair_repairs(messages[projection.first_pair - 1], message, number))
    return tuple(repairs)
