"""Pairing of tool calls and results in the messages that are sent."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.domain.projection import RepairKind
from ctxviewer.engine.cline.js import UNDEFINED, JsValue, get, map_key, number_text, strict_equals, truthy

RESULT_MISSING: Final = "result missing"
"""Content of a result that is made up."""


@dataclass(frozen=True, slots=True)
class Change:
    """One repair of a message's content."""

    kind: RepairKind
    tool_ids: tuple[str, ...] = ()


def without_results(content: list[Json]) -> tuple[list[Json], tuple[str, ...]] | None:
    """The content of the first message after a cut without its tool results, and their ids; None if it has none.

    Fails if a block is null.
    """
    kept = [block for block in content if get(block, "type") != "tool_result"]
    if len(kept) == len(content):
        return None
    removed = (block for block in content if isinstance(block, dict) and block.get("type") == "tool_result")
    return kept, tuple(id_text(block.get("tool_use_id", UNDEFINED)) for block in removed)


def call_ids(content: list[Json]) -> list[JsValue]:
    """Ids of the tool calls of an assistant message, in order; calls without an id do not count. Fails on null."""
    ids: list[JsValue] = []
    for block in content:
        if isinstance(block, dict):
            if block.get("type") == "tool_use" and truthy(block.get("id")):
                ids.append(block["id"])
        else:
            get(block, "type")
    return ids


def paired(ids: list[JsValue], content: list[Json]) -> tuple[list[Json], tuple[Change, ...]] | None:
    """The content of the user message after calls with these ids, mended; None if it is left alone.

    Mended means: results first, in the order of the calls, a made-up one for each that is missing, then all other
    blocks. Of several results for one call the last is kept; results for other calls are dropped. Results that
    stand complete and in order at the start are left alone, even when one is there twice. Fails on null.
    """
    results: dict[Hashable, JsonObject] = {}
    others: list[Json] = []
    for block in content:
        if get(block, "type") == "tool_result" and isinstance(block, dict) and truthy(block.get("tool_use_id")):
            results[map_key(block["tool_use_id"])] = block
        else:
            others.append(block)
    disordered = bool(results) and not _in_order(ids, content, len(results))
    wanted = {map_key(call): call for call in ids}
    missing = [call for key, call in wanted.items() if key not in results]
    if not disordered and not missing:
        return None
    front: list[Json] = [results.get(map_key(call)) or _made_up(call) for call in ids]
    changes = []
    if missing:
        changes.append(Change(RepairKind.ADDED, tuple(id_text(call) for call in missing)))
    if disordered and _moved(front, content):
        changes.append(Change(RepairKind.MOVED, tuple(id_text(call) for call in ids if map_key(call) in results)))
    dropped = _dropped(content, front)
    if dropped:
        changes.append(Change(RepairKind.DROPPED, dropped))
    return front + others, tuple(changes)


def id_text(tool_id: JsValue) -> str:
    """A tool id for people: damaged files hold numbers, lists or nothing."""
    if isinstance(tool_id, str):
        return tool_id
    return number_text(tool_id) if isinstance(tool_id, (int, float)) else "?"


def _in_order(ids: list[JsValue], content: list[Json], results: int) -> bool:
    """Whether the results of the calls lead the content one after the other and are not outnumbered by others."""
    expected = 0
    for block in content:
        if expected == len(ids):
            break
        if get(block, "type") != "tool_result" or not strict_equals(get(block, "tool_use_id"), ids[expected]):
            return False
        expected += 1
    return expected >= results


def _made_up(tool_id: JsValue) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": tool_id, "content": RESULT_MISSING}  # type: ignore[dict-item]


def _moved(front: list[Json], content: list[Json]) -> bool:
    """Whether the results that were there do not simply lead the content already."""
    present = [block for block in front if any(block is other for other in content)]
    return len(present) > len(content) or any(block is not content[at] for at, block in enumerate(present))


def _dropped(content: list[Json], front: list[Json]) -> tuple[str, ...]:
    """Ids of the results that do not come back: for unknown calls, or followed by another for the same call."""
    kept = {id(block) for block in front}
    return tuple(
        id_text(block["tool_use_id"])
        for block in content
        if isinstance(block, dict)
        and block.get("type") == "tool_result"
        and truthy(block.get("tool_use_id"))
        and id(block) not in kept
    )
