"""One reading of a task directory and its index entry: files in, a Snapshot out. Nothing is decided or written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ctxviewer.domain.errors import UnreadableTaskError
from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.json import Json, JsonObject, as_text
from ctxviewer.domain.log import EMPTY_LOG, JsonLog
from ctxviewer.domain.ranges import Range, parse_range
from ctxviewer.domain.request import Checkpoint, Request
from ctxviewer.domain.snapshot import FileRole, FileStamp, RangeSource, Snapshot, TaskRef, UiEntry
from ctxviewer.sources.cline import checks, layout
from ctxviewer.sources.cline.content_checks import entry_findings, update_findings
from ctxviewer.sources.cline.entries import entries, read_entries, read_entry, title_of
from ctxviewer.sources.cline.history import Model, roles_of
from ctxviewer.sources.cline.index import Index, IndexKind, OwnItem, find_item, item_stamp, read_index
from ctxviewer.sources.cline.model_facts import model_fact
from ctxviewer.sources.cline.openness import signs_of_life
from ctxviewer.sources.cline.points import points_from, with_requests
from ctxviewer.sources.cline.requests import FINISHED, requests_from, requests_from_answers, settled, usages_of
from ctxviewer.sources.files import LogContent, read_content, read_log
from ctxviewer.sources.fingerprint import digest
from ctxviewer.sources.rawjson import DamageKind, decode
from ctxviewer.sources.rawlog import RawLog

RETRY_DELAYS = (0.1, 0.4)
"""Seconds to wait before reading a half-written file again."""
FRESH_MS = 10_000
"""A damaged file that was not written for so long is not being written at this moment."""
SETTLED_NS = 2_000_000_000
"""A file changed at least so long before a reading keeps its time stamp only as long as nobody writes it."""

READ_AT = "read_at_ms"
ITEM_TEXT = "index_item_text"
INDEX_KIND = "index_kind"
"""Keys of Snapshot.extra: time of the reading, bytes of the index entry (surrogateescape), where the index is."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as the reader sees it; tests hand in their own."""

    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return int(self.now() * 1000)


REAL_CLOCK = Clock()


@dataclass(slots=True)
class _Part:
    """One array file of the task."""

    role: FileRole
    path: Path
    log: RawLog | None
    """None when the file is missing or holds no array."""
    stamp: FileStamp
    shared: int = 0
    """Leading items that are those of the reading before."""
    findings: list[Finding] = field(default_factory=list)


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
        self._stamps = {stamp.role: stamp for stamp in self._previous.files} if self._previous else {}
        self._findings: list[Finding] = []
        self._started_ms = clock.now_ms()

    def snapshot(self) -> Snapshot:
        names = self._names()
        api = self._array(FileRole.MESSAGES, self._directory / layout.API)
        timeline = self._array(FileRole.TIMELINE, self._timeline_path(names))
        updates_text, updates_stamp = self._text(FileRole.UPDATES, layout.UPDATES)
        metadata, metadata_stamp = self._metadata()
        index, item = self._index()
        self._findings += api.findings + timeline.findings
        messages = api.log
        length = len(messages) if messages is not None else None
        roles = roles_of(messages) if messages is not None else ()
        index_model = Model(as_text(item.value.get("modelId"))) if item else Model()
        usages = usages_of(metadata)

        ui, requests, points = self._timeline(timeline, length)
        if timeline.log is None and messages is not None:
            requests = requests_from_answers(messages, roles)
        requests = settled(requests, messages, usages, index_model)
        points = with_requests(points, requests)

        raw_range: Json = item.value.get("conversationHistoryDeletedRange") if item else None
        range_now, source = _range_now(item, raw_range, ui)
        self._findings += checks.range_findings(range_now, source, raw_range, ui, length)
        self._findings += checks.role_findings(roles)
        if updates_text is not None:
            self._findings += update_findings(updates_text, messages)
        self._note_missing(api, timeline, index, item)
        candidates = [Model(request.model_id, request.provider_id) for request in reversed(requests)]
        candidates += [model for _, model in reversed(usages)] + [index_model]
        fact = model_fact(candidates, messages, self._override)
        written_ms = timeline.stamp.mtime_ns // 1_000_000
        return Snapshot(
            task=self._completed_ref(item, timeline),
            generation=self._generation,
            messages=messages if messages is not None else EMPTY_LOG,
            ui_items=timeline.log if timeline.log is not None else EMPTY_LOG,
            ui=ui,
            updates_text=updates_text,
            range_now=range_now,
            range_source=source,
            requests=requests,
            checkpoints=points,
            model=fact,
            metadata=metadata,
            index_item=item.value if item else None,
            findings=tuple(self._findings),
            files=(api.stamp, updates_stamp, timeline.stamp, metadata_stamp, item_stamp(index, item)),
            looks_open=signs_of_life(
                self._directory, Path(self._ref.root), written_ms, ui, requests, self._clock.now_ms()
            ),
            has_messages=messages is not None,
            has_timeline=timeline.log is not None,
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

    def _timeline_path(self, names: set[str]) -> Path:
        old = layout.UI not in names and layout.OLD_UI in names
        return self._directory / (layout.OLD_UI if old else layout.UI)

    # --- files ---------------------------------------------------------------------------------------------------

    def _array(self, role: FileRole, path: Path) -> _Part:
        known, log = self._stamps.get(role), self._known_log(role)
        if known is not None and known.path == path and self._is_unchanged(known):
            part = _Part(role, path, log, known, len(log) if log is not None else 0)
            part.findings = [one for one in self._old_findings(path.name) if one.code.startswith("file-")]
            return part
        try:
            content = self._patiently(path, log, known)
        except FileNotFoundError:
            return _Part(role, path, None, FileStamp(role, path, exists=False))
        except OSError as error:
            part = _Part(role, path, None, FileStamp(role, path, exists=True))
            part.findings.append(_unreadable(path.name, error))
            return part
        damage = content.log.damage
        if log is not None and known is not None and not log.damage and any(one.may_be_half_written for one in damage):
            return self._kept(role, path, log, known, content)
        stamp = _stamp(role, path, content.stat)
        usable = not any(one.kind in {DamageKind.NOT_ARRAY, DamageKind.EMPTY} for one in damage)
        part = _Part(role, path, content.log if usable else None, stamp, content.shared)
        part.findings += checks.damage_findings(path.name, damage, len(content.log))
        return part

    def _patiently(self, path: Path, log: RawLog | None, known: FileStamp | None) -> LogContent:
        """Read an array; one that is half written, or has vanished for the moment of a rename, again a little later."""
        for delay in RETRY_DELAYS:
            try:
                content = read_log(path, log)
            except FileNotFoundError:
                if known is None or not known.exists:
                    raise
            else:
                age_ms = self._clock.now_ms() - content.stat.st_mtime_ns // 1_000_000
                if age_ms > FRESH_MS or not any(one.may_be_half_written for one in content.log.damage):
                    return content
            self._clock.sleep(delay)
        return read_log(path, log)

    def _kept(self, role: FileRole, path: Path, log: RawLog, known: FileStamp, content: LogContent) -> _Part:
        """A part that was readable before and is not now: the last good reading stands, with its own stamp."""
        part = _Part(role, path, log, known, len(log))
        reason = next(one.reason for one in content.log.damage if one.may_be_half_written)
        part.findings.append(
            Finding(
                "kept-last-good",
                Severity.ERROR,
                f"{path.name} cannot be read at the moment ({reason}); the last good reading is shown.",
                path.name,
                advice="If the agent is writing it, the next change brings it back. Nothing can be changed until then.",
            )
        )
        return part

    def _text(self, role: FileRole, name: str) -> tuple[str | None, FileStamp]:
        path = self._directory / name
        try:
            content = read_content(path)
        except FileNotFoundError:
            return None, FileStamp(role, path, exists=False)
        except OSError as error:
            self._findings.append(_unreadable(name, error))
            return None, FileStamp(role, path, exists=True)
        text = content.data.decode("utf-8", "replace")
        return text, replace(_stamp(role, path, content.stat), digest=digest(content.data))

    def _metadata(self) -> tuple[JsonObject | None, FileStamp]:
        text, stamp = self._text(FileRole.METADATA, layout.METADATA)
        if text is None:
            return None, stamp
        value = decode(text.encode("utf-8", "surrogatepass"))
        if isinstance(value, dict):
            return value, stamp
        self._findings.append(
            Finding(
                "metadata-unreadable",
                Severity.WARNING,
                f"{layout.METADATA} does not hold a JSON object.",
                layout.METADATA,
                advice="Files in context and model changes are not shown. The agent starts a new one.",
            )
        )
        return None, stamp

    def _index(self) -> tuple[Index, OwnItem | None]:
        index = read_index(Path(self._ref.root))
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

    def _is_unchanged(self, known: FileStamp) -> bool:
        """True when `stat` alone proves that the file is as it was at the reading before."""
        read_at = self._previous.extra.get(READ_AT) if self._previous else None
        if not known.exists or not isinstance(read_at, int) or known.mtime_ns + SETTLED_NS > read_at * 1_000_000:
            return False
        try:
            now = os.stat(known.path)  # noqa: PTH116 - one system call
        except OSError:
            return False
        return (now.st_size, now.st_mtime_ns, now.st_ino) == (known.size, known.mtime_ns, known.inode)

    def _known_log(self, role: FileRole) -> RawLog | None:
        if self._previous is None:
            return None
        log: JsonLog = self._previous.messages if role is FileRole.MESSAGES else self._previous.ui_items
        return log if isinstance(log, RawLog) else None

    def _old_findings(self, name: str) -> list[Finding]:
        return [one for one in self._previous.findings if one.file == name] if self._previous else []

    # --- the timeline ----------------------------------------------------------------------------------------------

    def _timeline(
        self, part: _Part, length: int | None
    ) -> tuple[tuple[UiEntry, ...], tuple[Request, ...], tuple[Checkpoint, ...]]:
        if part.log is None:
            return (), (), ()
        known, shared = self._previous, part.shared
        if known is None or any(entry.kind == FINISHED for entry in known.ui):
            known, shared = None, 0
        clean = known is None or not any(one.code in {"entry-odd", "usage-unreadable"} for one in known.findings)
        if not clean:
            known, shared = None, 0
        reads = read_entries(part.log, shared)
        ui = (*(known.ui[:shared] if known else ()), *entries(reads))
        requests, odd = requests_from(reads, known.requests if known else (), shared)
        points = points_from(reads, known.checkpoints if known else (), shared)
        self._findings += entry_findings(part.path.name, reads, ui, odd, length)
        return ui, requests, points

    # --- findings and the rest -------------------------------------------------------------------------------------

    def _note_missing(self, api: _Part, timeline: _Part, index: Index, item: OwnItem | None) -> None:
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

    def _completed_ref(self, item: OwnItem | None, timeline: _Part) -> TaskRef:
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


def _stamp(role: FileRole, path: Path, stat: os.stat_result) -> FileStamp:
    return FileStamp(role, path, exists=True, size=stat.st_size, mtime_ns=stat.st_mtime_ns, inode=stat.st_ino)


def _unreadable(name: str, error: OSError) -> Finding:
    return Finding(
        "file-unreadable",
        Severity.ERROR,
        f"{name} cannot be read: {error.strerror or error}.",
        name,
        advice="Check the rights of the file.",
    )


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
