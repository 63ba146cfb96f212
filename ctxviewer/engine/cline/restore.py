"""What a restore of the conversation to an entry of the timeline does, step by step and with its flaws."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.domain.ranges import Range, parse_range
from ctxviewer.engine.cline import js_json
from ctxviewer.engine.cline.js import (
    UNDEFINED,
    JsValue,
    add,
    get,
    greater,
    map_key,
    strict_equals,
    to_integer,
    to_string,
    truthy,
)
from ctxviewer.engine.cline.totals import UsageTotals, usage_totals

_EDITS: Final = ("editedExistingFile", "newFileCreated")


@dataclass(frozen=True, slots=True)
class Restored:
    """The state after a restore. Where it did not happen, everything is as before."""

    completed: bool
    """False if the entry was not found, or if the restore broke off."""
    error: str = ""
    """Why it broke off."""
    started: bool = False
    """True once the history was cut and the updates were wiped, also when it broke off after that."""
    keep_messages: int = 0
    """How many messages of the history are kept."""
    history_written: bool = False
    """False also when the kept history is empty: the file then stays as it was."""
    deleted: JsValue = UNDEFINED
    """The deleted range afterwards as recorded; UNDEFINED for none."""
    ui_messages: tuple[Json, ...] = ()
    totals: UsageTotals | None = None
    """Usage of the removed entries, also in the last entry of `ui_messages`."""
    updates_text: str | None = None
    """Text of context_history.json afterwards, None for no file. A restore always leaves `[]`."""
    edited_files: tuple[Json, ...] = ()
    """Paths to warn about: edited after the entry, so that the workspace no longer fits."""

    @property
    def deleted_range(self) -> Range | None:
        """The deleted range afterwards, None if there is none or an odd one."""
        return None if self.deleted is UNDEFINED else parse_range(self.deleted)


def kept_messages(history_length: int, entry: JsValue) -> int:
    """How many messages a restore to an entry keeps: its history index (0 if it has none) + 2.

    A negative sum counts from the end.
    """
    index = get(entry, "conversationHistoryIndex")
    end = to_integer(add(index if truthy(index) else 0, 2))
    if end < 0:
        return 0 if math.isinf(end) else max(history_length + int(end), 0)
    return history_length if math.isinf(end) else min(int(end), history_length)


def restore(
    history_length: int,
    ui_messages: Sequence[Json],
    current_range: JsValue,
    updates_text: str | None,
    *,
    message_ts: JsValue,
    now: Json,
    offset: int = 0,
    task_metadata: Json = None,
) -> Restored:
    """A restore of the task, not of the workspace, to the first entry with this time, `offset` places further up.

    Cline 4.0.10: the history is cut and every update wiped (older ones too) before the totals are made, so that broken
    JSON in a removed request leaves the work half done.
    """
    before = Restored(
        completed=False,
        keep_messages=history_length,
        deleted=current_range,
        ui_messages=tuple(ui_messages),
        updates_text=updates_text,
    )
    try:
        index = _find(ui_messages, message_ts)
    except BrokenInputError as err:
        return _with_error(before, err)
    index -= offset
    entry = ui_messages[index] if 0 <= index < len(ui_messages) else None
    if not truthy(entry):
        return before
    try:
        keep = kept_messages(history_length, entry)
    except BrokenInputError as err:
        return _with_error(before, err)
    deleted = get(entry, "conversationHistoryDeletedRange")
    removed = ui_messages[index + 1 :]
    try:
        totals = usage_totals(removed)
        edited = edited_after(removed, message_ts, task_metadata)
    except BrokenInputError as err:
        return Restored(
            completed=False,
            error=err.sentence,
            started=True,
            keep_messages=keep,
            history_written=keep > 0,
            deleted=deleted,
            ui_messages=tuple(ui_messages),
            updates_text="[]",
        )
    return Restored(
        completed=True,
        started=True,
        keep_messages=keep,
        history_written=keep > 0,
        deleted=deleted,
        ui_messages=(*ui_messages[: index + 1], totals_entry(totals, now, keep, deleted)),
        totals=totals,
        updates_text="[]",
        edited_files=edited,
    )


def totals_entry(totals: UsageTotals, now: Json, history_length: int, deleted: JsValue) -> JsonObject:
    """The entry that a restore puts behind the kept ones, all zeros if nothing with usage was removed."""
    entry: JsonObject = {
        "ts": now,
        "type": "say",
        "say": "deleted_api_reqs",
        "text": totals.as_text(),
        "conversationHistoryIndex": history_length - 1,
    }
    if deleted is not UNDEFINED:
        entry["conversationHistoryDeletedRange"] = deleted
    return entry


def edited_after(removed: Sequence[Json], message_ts: JsValue, task_metadata: Json) -> tuple[Json, ...]:
    """Paths edited after the time (by agent or user, from the task metadata), then those that removed entries edited.

    Broken metadata and broken tool entries are skipped.
    """
    paths: list[JsValue] = []
    try:
        files = UNDEFINED if task_metadata is None else get(task_metadata, "files_in_context")
        for item in files if isinstance(files, list) else ():
            dates = (get(item, "cline_edit_date"), get(item, "user_edit_date"))
            later = [truthy(date) and greater(date, message_ts) for date in dates]  # a damaged one stops here
            if any(later):
                paths.append(get(item, "path"))
    except BrokenInputError:
        pass  # what was found before the damage counts
    for entry in removed:
        if get(entry, "say") == "tool" and truthy(get(entry, "text")):
            try:
                tool = js_json.parse(to_string(get(entry, "text")))
                path = get(tool, "path")
                if get(tool, "tool") in _EDITS and truthy(path):
                    paths.append(path)
            except BrokenInputError:
                continue
    unique: dict[Hashable, Json] = {}
    for path in paths:
        unique.setdefault(map_key(path), None if path is UNDEFINED else path)
    return tuple(unique.values())


def _find(ui_messages: Sequence[Json], message_ts: JsValue) -> int:
    for index, entry in enumerate(ui_messages):
        if strict_equals(get(entry, "ts"), message_ts):
            return index
    return -1


def _with_error(before: Restored, err: BrokenInputError) -> Restored:
    return Restored(
        completed=False,
        error=err.sentence,
        keep_messages=before.keep_messages,
        deleted=before.deleted,
        ui_messages=before.ui_messages,
        updates_text=before.updates_text,
    )
