"""The effects of a plan as bytes: what stays is copied from the file, only what changes is written anew."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ctxviewer.domain.errors import RefusedError
from ctxviewer.domain.json import Json
from ctxviewer.domain.log import JsonLog
from ctxviewer.domain.plan import Effects, Plan
from ctxviewer.domain.request import Usage
from ctxviewer.domain.snapshot import FileRole, FileStamp, Snapshot
from ctxviewer.engine.cline import js_json
from ctxviewer.sources.change import Change, FileEffect
from ctxviewer.sources.cline import layout
from ctxviewer.sources.cline.index import IndexKind
from ctxviewer.sources.cline.members import with_value, without
from ctxviewer.sources.cline.openness import signs_of_life
from ctxviewer.sources.cline.reader import INDEX_KIND, ITEM_TEXT, with_digests
from ctxviewer.sources.rawlog import RawLog

RANGE = "conversationHistoryDeletedRange"
_BEHIND_RANGE = ("isFavorited", "checkpointTrackerErrorMessage", "checkpointManagerErrorMessage", "modelId", "isLegacy")
"""Keys that stand behind the range in the agent's own order."""
_WRITTEN = frozenset({FileRole.MESSAGES, FileRole.UPDATES, FileRole.TIMELINE, FileRole.INDEX})


def change_for(snapshot: Snapshot, plan: Plan, now_ms: int) -> Change:
    """What the plan writes, for the store. `now_ms` becomes the time of added timeline entries.

    Files that would not change by a byte are left out. Raises RefusedError when the plan cannot be written.
    """
    if plan.refusal:
        raise RefusedError(plan.refusal)
    if plan.task_id != snapshot.task.task_id or plan.generation != snapshot.generation:
        raise RefusedError(
            "The preview belongs to an earlier reading of the task.", hint="Look at the preview again, then apply it."
        )
    stamps = {stamp.role: stamp for stamp in with_digests(snapshot)}
    effects = [
        effect
        for effect in (
            _messages(snapshot, plan.effects, stamps[FileRole.MESSAGES]),
            _updates(snapshot, plan.effects, stamps[FileRole.UPDATES]),
            _timeline(snapshot, plan.effects, stamps[FileRole.TIMELINE], now_ms),
            _index(snapshot, plan.effects, stamps[FileRole.INDEX], now_ms),
        )
        if effect is not None
    ]
    directory = Path(snapshot.task.directory)
    written_ms = stamps[FileRole.TIMELINE].mtime_ns // 1_000_000
    root = Path(snapshot.task.root)
    return Change(
        task_dir=directory,
        title=plan.title,
        expected=tuple(stamp for role, stamp in stamps.items() if role in _WRITTEN),
        effects=tuple(effects),
        looks_open=signs_of_life(directory, root, written_ms, snapshot.ui, snapshot.requests, now_ms),
    )


def _messages(snapshot: Snapshot, effects: Effects, stamp: FileStamp) -> FileEffect | None:
    keep = effects.keep_messages
    if keep is None or keep >= len(snapshot.messages):
        return None
    log = _sound(snapshot, snapshot.messages, layout.API)
    return FileEffect(FileRole.MESSAGES, Path(stamp.path), log.head(keep) + log.closing())


def _updates(snapshot: Snapshot, effects: Effects, stamp: FileStamp) -> FileEffect | None:
    text = effects.updates_text
    if text is None or text == snapshot.updates_text:
        return None
    return FileEffect(FileRole.UPDATES, Path(stamp.path), text.encode("utf-8", "backslashreplace"))


def _timeline(snapshot: Snapshot, effects: Effects, stamp: FileStamp, now_ms: int) -> FileEffect | None:
    if effects.keep_ui is None:
        return None
    log = _sound(snapshot, snapshot.ui_items, Path(stamp.path).name)
    keep = min(effects.keep_ui, len(log))
    if keep == len(log) and not effects.append_ui:
        return None
    parts = [log.head(keep)]
    for place, entry in enumerate(effects.append_ui):
        if keep or place:
            parts.append(log.separator())
        parts.append(_encoded(_with_time(entry, now_ms)))
    parts.append(log.closing())
    return FileEffect(FileRole.TIMELINE, Path(stamp.path), b"".join(parts))


def _with_time(entry: Mapping[str, Json], now_ms: int) -> dict[str, Json]:
    return {key: now_ms if key == "ts" else value for key, value in entry.items()}


def _index(snapshot: Snapshot, effects: Effects, stamp: FileStamp, now_ms: int) -> FileEffect | None:
    changes_range = effects.set_range and effects.deleted_range != snapshot.range_now
    text = snapshot.extra.get(ITEM_TEXT)
    in_file = snapshot.extra.get(INDEX_KIND) == IndexKind.FILE.value
    if not isinstance(text, str) or not in_file:
        if changes_range:
            raise _no_place_for_range(snapshot)
        return None
    raw = old = text.encode("utf-8", "surrogateescape")
    if effects.set_range:
        deleted = effects.deleted_range
        if deleted is None:
            raw = without(raw, RANGE)
        elif deleted != snapshot.range_now:
            raw = with_value(raw, RANGE, _encoded([deleted.start, deleted.end]), before=_BEHIND_RANGE)
    if effects.totals is not None:
        raw = _with_totals(raw, effects.totals, snapshot.index_item or {})
    if effects.append_ui:
        raw = with_value(raw, "ts", _encoded(now_ms))
    if raw == old:
        return None
    return FileEffect(FileRole.INDEX, Path(stamp.path), raw, snapshot.task.task_id)


def _with_totals(raw: bytes, totals: Usage, item: Mapping[str, Json]) -> bytes:
    """Totals of the entry; a number that is already right keeps its spelling, absent cache counts stay absent at 0."""
    wanted: dict[str, float] = {
        "tokensIn": totals.tokens_in,
        "tokensOut": totals.tokens_out,
        "cacheWrites": totals.cache_writes,
        "cacheReads": totals.cache_reads,
        "totalCost": totals.cost or 0,
    }
    for key, value in wanted.items():
        known = item.get(key)
        if known == value and not isinstance(known, bool):
            continue
        if key not in item and not value:
            continue
        raw = with_value(raw, key, _encoded(value))
    return raw


def _encoded(value: Json) -> bytes:
    """JSON as the agent writes it, numbers included."""
    return js_json.stringify(value).encode("utf-8", "backslashreplace")


def _sound(snapshot: Snapshot, log: JsonLog, name: str) -> RawLog:
    """The log, if the file may be written: it was read whole, and now."""
    if any(one.code == "kept-last-good" and one.file == name for one in snapshot.findings):
        raise RefusedError(
            f"{name} cannot be read at the moment; what is shown is an earlier reading.",
            hint="Wait until the agent has written it, or repair it.",
            place=name,
        )
    if not isinstance(log, RawLog):
        raise RefusedError(f"{name} is missing, so it cannot be changed.", place=name)
    lost = next((one for one in log.damage if one.may_be_half_written), None)
    if lost is not None:
        raise RefusedError(
            f"{name} is damaged ({lost.reason}); ctxviewer does not write a file that it cannot read whole.",
            hint="Put a good copy of the file in its place first.",
            place=f"{name}, byte {lost.position}",
        )
    return log


def _no_place_for_range(snapshot: Snapshot) -> RefusedError:
    if snapshot.extra.get(INDEX_KIND) == IndexKind.EDITOR.value:
        return RefusedError(
            "The deleted range of this task lies in the editor's own database, which ctxviewer never writes.",
            hint="Open the task once in a newer version of the agent; it then moves its index into a file.",
        )
    return RefusedError(
        "The deleted range is stored only in the task index, and state/taskHistory.json does not list this task.",
        hint="Without an entry there the agent does not offer the task at all.",
    )
