"""One reading of a task directory and its index entry: files in, a Snapshot out. Nothing is decided or written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ctxviewer.domain.errors import UnreadableTaskError
from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.json import Json, JsonObject, as_name
from ctxviewer.domain.log import EMPTY_LOG, JsonLog
from ctxviewer.domain.ranges import Range, parse_range
from ctxviewer.domain.request import Checkpoint, Request
from ctxviewer.domain.snapshot import FileRole, FileStamp, RangeSource, Snapshot, TaskRef, UiEntry
from ctxviewer.sources.cline import checks, layout
from ctxviewer.sources.cline.content_checks import entry_findings, metadata_finding, update_findings
from ctxviewer.sources.cline.entries import Read, entries, read_entries, read_entry, title_of
from ctxviewer.sources.cline.history import Model, names_models, roles_of
from ctxviewer.sources.cline.index import Index, IndexKind, OwnItem, find_item, item_stamp
from ctxviewer.sources.cline.model_facts import model_fact
from ctxviewer.sources.cline.openness import signs_of_life
from ctxviewer.sources.cline.parts import READ_AT, ArrayPart, Clock, PartReader, TextPart
from ctxviewer.sources.cline.points import points_from
from ctxviewer.sources.cline.requests import FINISHED, Oddity, requests_from, requests_from_answers, settled, usages_of
from ctxviewer.sources.rawjson import decode
from ctxviewer.sources.rawlog import RawLog

ITEM_TEXT = "index_item_text"
INDEX_KIND = "index_kind"
"""Keys of Snapshot.extra: the bytes of the task's index entry (as text with surrogateescape), where the index is."""

_FROM_ALL_ENTRIES = frozenset({"entry-odd", "usage-unreadable"})
"""Findings that are made from every entry, so that none can be taken over from the reading before."""

REAL_CLOCK = Clock()


class _Timeline(NamedTuple):
    """What the display timeline gives."""

    reads: Sequence[Read]
    """Entries that were read now, without those taken over."""
    ui: tuple[UiEntry, ...]
    requests: tuple[Request, ...]
    points: tuple[Checkpoint, ...]
    odd: tuple[Oddity, ...]


def read_task(
    ref: TaskRef,
    *,
    previous: Snapshot | None = None,
    generation: int = 0,
    window_override: int | None = None,
    clock: Clock = REAL_CLOCK,
) -> Snapshot:
    """Read the task. What is damaged becomes findings.

    `previous`, a reading of the same task, lets unchanged parts be taken over; its generation must be lower. Raises
    UnreadableTaskError when the folder is gone or may not be read, or when nothing of a task is in it.
    """
    return _Reading(ref, previous, generation, window_override, clock).snapshot()


class _Reading:
    def __init__(
        self, ref: TaskRef, previous: Snapshot | None, generation: int, window_override: int | None, clock: Clock
    ) -> None:
        self._ref, self._generation, self._override, self._clock = ref, generation, window_override, clock
        self._directory = Path(ref.directory)
        same = previous is not None and previous.task.directory == ref.directory
        self._previous = previous if same else None
        self._parts = PartReader(self._directory, self._previous, clock)
        self._findings: list[Finding] = []
        self._started_ms = clock.now_ms()

    def snapshot(self) -> Snapshot:
        names = self._names()
        api_name, timeline_name = self._array_names(names)
        with self._parts.array_meanwhile(FileRole.MESSAGES, api_name) as messages_read:
            part = self._parts.array(FileRole.TIMELINE, timeline_name)
            timeline = self._timeline(part)
            api = messages_read()
        updates = self._parts.text(FileRole.UPDATES, layout.UPDATES)
        metadata_part = self._parts.text(FileRole.METADATA, layout.METADATA)
        index, item = self._index()
        self._findings += api.findings + part.findings + updates.findings + metadata_part.findings
        metadata = self._metadata(metadata_part)
        messages, ui, requests = api.log, timeline.ui, timeline.requests
        length = len(messages) if messages is not None else None
        roles = roles_of(messages) if messages is not None else ()
        index_model = Model(as_name(item.value.get("modelId"))) if item else Model()
        usages = usages_of(metadata)
        if part.log is None and messages is not None:
            requests = requests_from_answers(messages, roles)
        answers = messages if messages is not None and names_models(messages, roles) else None
        requests = settled(requests, answers, usages, index_model)

        raw_range: Json = item.value.get("conversationHistoryDeletedRange") if item else None
        range_now, source = _range_now(item, raw_range, ui)
        self._findings += checks.range_findings(range_now, source, raw_range, ui, length)
        self._findings += checks.role_findings(roles)
        self._findings += entry_findings(part.path.name, timeline.reads, ui, timeline.odd, length)
        if updates.text is not None and not self._updates_are_known(updates.text, api.shared):
            self._findings += update_findings(updates.data, messages)
        self._note_missing(api, part, index, item)
        used = (Model(request.model_id, request.provider_id) for request in reversed(requests))
        fact = model_fact((*used, *(model for _, model in reversed(usages)), index_model), messages, self._override)
        written_ms = part.stamp.mtime_ns // 1_000_000
        return Snapshot(
            task=self._completed_ref(item, part),
            generation=self._generation,
            messages=messages if messages is not None else EMPTY_LOG,
            ui_items=part.log if part.log is not None else EMPTY_LOG,
            ui=ui,
            updates_text=updates.text,
            range_now=range_now,
            range_source=source,
            requests=requests,
            checkpoints=timeline.points,
            model=fact,
            metadata=metadata,
            index_item=item.value if item else None,
            findings=tuple(self._findings),
            files=(api.stamp, updates.stamp, part.stamp, metadata_part.stamp, item_stamp(index, item)),
            looks_open=signs_of_life(
                self._directory, Path(self._ref.root), written_ms, ui, requests, self._clock.now_ms()
            ),
            has_messages=messages is not None,
            has_timeline=part.log is not None,
            extra={
                READ_AT: self._started_ms,
                ITEM_TEXT: item.raw.decode("utf-8", "surrogateescape") if item else None,
                INDEX_KIND: index.kind.value,
            },
        )

    def _names(self) -> set[str]:
        try:
            names = set(os.listdir(self._directory))  # noqa: PTH208 - the names are wanted, not paths
        except FileNotFoundError:
            raise UnreadableTaskError(
                f"The folder of task {self._ref.task_id} is not there.",
                hint="It was moved or deleted. When it comes back, open it again.",
                place=str(self._directory),
            ) from None
        except OSError as error:
            raise UnreadableTaskError(
                f"The folder of task {self._ref.task_id} cannot be read: {error.strerror}.",
                hint="Check the rights of the folder and of those above it.",
                place=str(self._directory),
            ) from error
        if not names & layout.KNOWN:
            raise UnreadableTaskError(
                f"The folder of task {self._ref.task_id} holds no file of a conversation.",
                hint="The task was listed, but its files were deleted.",
                place=str(self._directory),
            )
        return names

    def _array_names(self, names: set[str]) -> tuple[str, str]:
        """Names of the API history and of the timeline. What `claude_messages.json` is shows in its content."""
        if layout.UI in names or layout.OLD_UI not in names:
            return layout.API, layout.UI
        try:
            head = layout.read_head(self._directory / layout.OLD_UI)
        except OSError:
            return layout.API, layout.OLD_UI
        if layout.API not in names and layout.looks_like_api(head) and not layout.looks_like_ui(head):
            return layout.OLD_UI, layout.UI
        return layout.API, layout.OLD_UI

    def _timeline(self, part: ArrayPart) -> _Timeline:
        if part.log is None:
            return _Timeline((), (), (), (), ())
        known, shared = self._previous, part.shared
        if known is None or any(one.code in _FROM_ALL_ENTRIES for one in known.findings) or _is_oldest(known.ui):
            known, shared = None, 0
        reads = read_entries(part.log, shared)
        ui = (*(known.ui[:shared] if known else ()), *entries(reads))
        requests, odd = requests_from(reads, known.requests if known else (), shared, ui)
        points = points_from(reads, requests, known.checkpoints if known else (), shared)
        return _Timeline(reads, ui, requests, points, odd)

    def _updates_are_known(self, text: str, shared: int) -> bool:
        """True when the reading before had these updates in order, and all its messages are still there."""
        known = self._previous
        if known is None or known.updates_text != text or shared < len(known.messages) or not known.has_messages:
            return False
        return not any(one.file == layout.UPDATES for one in known.findings)

    def _metadata(self, part: TextPart) -> JsonObject | None:
        if part.text is None:
            return None
        value = decode(part.data)
        if isinstance(value, dict):
            return value
        self._findings.append(metadata_finding(part.data))
        return None

    def _index(self) -> tuple[Index, OwnItem | None]:
        index = self._parts.index(Path(self._ref.root))
        item = find_item(index, self._ref.task_id)
        if index.problem:
            advice = "The deleted range and the title of the task may be missing."
            self._findings.append(
                Finding("index-damaged", Severity.WARNING, f"{index.problem}.", index.path.name, advice=advice)
            )
        if item is not None and item.repeated:
            self._findings.append(
                Finding(
                    "index-repeated",
                    Severity.WARNING,
                    f"{index.path.name} lists the task more than once.",
                    index.path.name,
                    f"item {item.number}",
                    "The agent uses the first entry, and so does ctxviewer.",
                )
            )
        return index, item

    def _note_missing(self, api: ArrayPart, timeline: ArrayPart, index: Index, item: OwnItem | None) -> None:
        if api.log is None:
            self._findings.append(
                Finding(
                    "api-missing",
                    Severity.ERROR,
                    f"{layout.API} is missing or holds nothing readable.",
                    layout.API,
                    advice="What was sent cannot be shown; only the timeline is. The agent cannot open the task.",
                )
            )
        elif not len(api.log) and not api.log.damage:
            self._findings.append(Finding("api-empty", Severity.INFO, f"{layout.API} holds an empty list.", layout.API))
        if timeline.log is None:
            self._findings.append(
                Finding(
                    "ui-missing",
                    Severity.WARNING,
                    f"{layout.UI} is missing or holds nothing readable.",
                    layout.UI,
                    advice="Requests are taken from the assistant's messages; ranges of the past are not known.",
                )
            )
        if item is None and not index.problem:
            where = (
                "There is no task index"
                if index.kind is IndexKind.NONE
                else f"{index.path.name} does not list the task"
            )
            self._findings.append(
                Finding(
                    "not-in-index",
                    Severity.INFO,
                    f"{where}. The deleted range now in force is stored only there.",
                    index.path.name,
                    advice="That of the last timeline entry is shown instead. The agent does not offer the task.",
                )
            )
        elif item is not None and index.kind is IndexKind.EDITOR:
            self._findings.append(
                Finding(
                    "index-in-editor",
                    Severity.INFO,
                    "The task index lies in the editor's own database, as before version 3.28.",
                    index.path.name,
                    advice="ctxviewer only reads it, so ranges cannot be stored.",
                )
            )

    def _completed_ref(self, item: OwnItem | None, timeline: ArrayPart) -> TaskRef:
        """The reference with what the reading tells: a title, where the list had none."""
        ref = replace(self._ref, in_index=item is not None)
        if ref.title or timeline.log is None or not len(timeline.log):
            return ref
        return replace(ref, title=title_of(read_entry(timeline.log, 0)))


def _range_now(item: OwnItem | None, raw: Json, ui: tuple[UiEntry, ...]) -> tuple[Range | None, RangeSource]:
    if item is not None:
        return parse_range(raw), RangeSource.INDEX
    if ui and ui[-1].deleted_range is not None:
        return ui[-1].deleted_range, RangeSource.TIMELINE
    return None, RangeSource.NOWHERE


def _is_oldest(ui: Sequence[UiEntry]) -> bool:
    """True for timelines of versions up to 1.9, where a later entry completes an earlier request."""
    return any(entry.kind == FINISHED for entry in ui)


def with_digests(snapshot: Snapshot) -> tuple[FileStamp, ...]:
    """The stamps of the snapshot's files with digests. Hashes what was read, not what stands on disk now.

    The two big files are hashed only here, off the way from disk to screen: 0.1 s for 100 MB.
    """
    logs: dict[FileRole, JsonLog] = {FileRole.MESSAGES: snapshot.messages, FileRole.TIMELINE: snapshot.ui_items}
    result = []
    for stamp in snapshot.files:
        log = logs.get(stamp.role)
        if stamp.exists and not stamp.digest and isinstance(log, RawLog):
            result.append(replace(stamp, digest=log.digest()))
        else:
            result.append(stamp)
    return tuple(result)
