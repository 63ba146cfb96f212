"""The tasks of a storage root: from its index and the names in `tasks`, without reading the tasks themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ctxviewer.domain.errors import UnreadableTaskError
from ctxviewer.domain.json import Json, as_int, as_number, as_text
from ctxviewer.domain.snapshot import Agent, TaskRef
from ctxviewer.sources.cline import layout
from ctxviewer.sources.cline.entries import one_line, read_entry, title_of
from ctxviewer.sources.cline.index import Facts, Index, facts_of, read_index
from ctxviewer.sources.places import is_folder
from ctxviewer.sources.rawjson import scan_array
from ctxviewer.sources.rawlog import RawLog

TITLED_ORPHANS = 200
"""So many of the newest tasks without index entry get a title from the beginning of their timeline."""
NO_FOLDER = "its folder is missing"
NO_FILES = "its conversation is missing"


def list_root(root: Path, host: str = "") -> tuple[TaskRef, ...]:
    """All tasks of a root, newest first: those in the index and those that only have a folder.

    Raises UnreadableTaskError when `tasks` cannot be listed for a reason other than that it is not there.
    """
    index = read_index(root)
    tasks = root / layout.TASKS
    folders = _folders(root)
    refs: list[TaskRef] = []
    seen: set[str] = set()
    for facts in facts_of(index):
        task_id = as_text(facts.id)
        if layout.is_safe_id(task_id) and task_id not in seen:
            seen.add(task_id)
            refs.append(_listed(root, host, tasks / task_id, task_id, facts, known=task_id in folders))
    orphans = [ref for name in folders if name not in seen and (ref := _orphan(root, host, name)) is not None]
    orphans.sort(key=lambda ref: ref.updated_ms, reverse=True)
    refs += [_titled(ref) for ref in orphans[:TITLED_ORPHANS]] + orphans[TITLED_ORPHANS:]
    return tuple(sorted(refs, key=lambda ref: (ref.updated_ms, ref.task_id), reverse=True))


def ref_for(directory: Path, host: str = "", index: Index | None = None) -> TaskRef:
    """The reference of one task folder. `index` is that of its root, read here when it is not given."""
    root = layout.root_of(directory)
    index = index or read_index(root)
    for facts in facts_of(index):
        if as_text(facts.id) == directory.name:
            return _listed(root, host, directory, directory.name, facts, known=True)
    ref = _orphan_ref(root, host, directory)
    return _titled(ref)


def _folders(root: Path) -> dict[str, None]:
    try:
        with os.scandir(root / layout.TASKS) as found:
            return {entry.name: None for entry in found if is_folder(entry)}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise UnreadableTaskError(
            f"The folder of tasks cannot be listed: {error.strerror}.",
            hint="Check the rights of the folder and of those above it.",
            place=str(root / layout.TASKS),
        ) from error


def _listed(root: Path, host: str, directory: Path, task_id: str, facts: Facts, *, known: bool) -> TaskRef:
    updated, problem = as_int(facts.ts) or 0, NO_FOLDER
    if known:
        times = _times(str(directory))  # one look is enough where the index has the time
        newest = next(times, None) if updated else max(times, default=None)
        updated, problem = updated or newest or 0, NO_FILES if newest is None else ""
    counts = (facts.tokensIn, facts.tokensOut, facts.cacheWrites, facts.cacheReads)
    return TaskRef(
        agent=Agent.CLINE,
        task_id=task_id,
        directory=directory,
        root=root,
        host=host,
        title=one_line(as_text(facts.task), 200),
        created_ms=_created(task_id),
        updated_ms=updated or _created(task_id),
        size=max(0, as_int(facts.size) or 0),
        in_index=True,
        total_tokens=sum(_number(count) for count in counts),
        total_cost=_number(facts.totalCost),
        favourite=facts.isFavorited is True,
        problem=problem,
    )


def _orphan(root: Path, host: str, name: str) -> TaskRef | None:
    """A folder without index entry, None when it is no task. Folders with numbers for names are not looked into."""
    directory = root / layout.TASKS / name
    if not layout.is_task_id(name):
        try:
            if not layout.judge(directory).is_task:
                return None
        except OSError:
            return None
    return _orphan_ref(root, host, directory)


def _orphan_ref(root: Path, host: str, directory: Path) -> TaskRef:
    newest = max(_times(str(directory)), default=None)
    created = _created(directory.name)
    return TaskRef(
        agent=Agent.CLINE,
        task_id=directory.name,
        directory=directory,
        root=root,
        host=host,
        title="",
        created_ms=created,
        updated_ms=newest or created,
        size=0,
        in_index=False,
        problem=NO_FILES if newest is None else "",
    )


def _times(directory: str) -> Iterator[int]:
    """When the main files of a task folder were written, in ms: those that are there."""
    for name in (layout.UI, layout.API, layout.OLD_UI):
        try:
            yield os.stat(f"{directory}{os.sep}{name}").st_mtime_ns // 1_000_000  # noqa: PTH116 - thousands of folders
        except OSError:
            continue


def _titled(ref: TaskRef) -> TaskRef:
    """The reference with a title from the first timeline entry, as far as the first 64 kB hold it whole."""
    for name in (layout.UI, layout.OLD_UI):
        try:
            head = layout.read_head(Path(ref.directory) / name)
        except OSError:
            continue
        log = RawLog(head, scan_array(head))
        if len(log):
            return replace(ref, title=title_of(read_entry(log, 0)))
    return ref


def _created(task_id: str) -> int:
    """The id is the time of creation in ms; 0 for a folder with another name."""
    return int(task_id) if layout.is_task_id(task_id) and len(task_id) <= 15 else 0


def _number(value: Json) -> float:
    return as_number(value) or 0
