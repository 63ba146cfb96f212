"""The agents that can be read, in one table, and the way from any path to their tasks.

A new agent is one package beside `cline` and one row in AGENTS.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.plan import Plan
from ctxviewer.domain.snapshot import Snapshot, TaskRef
from ctxviewer.sources.adapter import Adapter, Folder
from ctxviewer.sources.change import Change
from ctxviewer.sources.cline.adapter import CLINE
from ctxviewer.sources.foreign import name_of_format

AGENTS: tuple[Adapter, ...] = (CLINE,)

DEPTH = 4
"""Levels below a chosen folder that are searched for tasks."""
MOST_FOLDERS = 4_000
"""Folders looked into at most in one search."""
Tell = Callable[[Finding], None]
"""Takes what is to be said about a search that succeeded."""
_NOT_ENTERED = frozenset({".git", "node_modules", "__pycache__", "checkpoints", ".venv"})


def untold(_finding: Finding) -> None:
    """For callers that want the tasks alone."""


def open_path(path: Path | str, tell: Tell = untold) -> tuple[TaskRef, ...]:
    """The tasks that a path stands for, newest first: at least one.

    The path may be a task's folder, a file in it, a storage root or its `tasks`, an index, or any folder that holds
    some of them up to four levels down. `tell` gets a finding when the search ended before all of a folder was
    looked at. Raises CtxError with the reason when there are none.
    """
    # a home folder that nobody knows stays as it is written; links stay as the user named them
    chosen = Path(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111 - Path raises for '~nobody'
    try:
        if chosen.is_dir():
            return _behind_link(_from_folder(chosen, tell))
        if chosen.exists():
            return _behind_link(_from_file(chosen))
        if chosen.is_symlink():
            raise CtxError(
                f"{chosen} is a link to {os.readlink(chosen)}, where nothing is.",  # noqa: PTH115 - as it is written
                hint="Open what it should lead to.",
                place=str(chosen),
            )
    except OSError as error:
        raise _unreadable(chosen, error) from error
    raise CtxError(f"There is no file or folder {chosen}.", hint="Check the spelling.", place=str(chosen))


def read(
    ref: TaskRef, *, previous: Snapshot | None = None, generation: int = 0, window_override: int | None = None
) -> Snapshot:
    """One reading of a task. Damaged content becomes findings; UnreadableTaskError only when nothing can be shown."""
    return adapter_of(ref).read(ref, previous=previous, generation=generation, window_override=window_override)


def change_for(snapshot: Snapshot, plan: Plan, now_ms: int) -> Change:
    """A plan on a snapshot as bytes for the store. Raises RefusedError when it cannot be written."""
    return adapter_of(snapshot.task).change_for(snapshot, plan, now_ms)


def adapter_of(ref: TaskRef) -> Adapter:
    """The row of a task's agent."""
    return next(adapter for adapter in AGENTS if adapter.agent is ref.agent)


def unique(refs: Iterable[TaskRef]) -> tuple[TaskRef, ...]:
    """Each task folder once, the newest first."""
    found: dict[str, TaskRef] = {}
    for ref in refs:
        found.setdefault(os.path.realpath(ref.directory), ref)
    return tuple(sorted(found.values(), key=lambda ref: (ref.updated_ms, ref.task_id), reverse=True))


def _from_folder(folder: Path, tell: Tell) -> tuple[TaskRef, ...]:
    reasons: list[str] = []
    known = _look_at(folder, reasons)
    if known is not None and known.tasks:
        return known.tasks
    if known is not None:
        raise CtxError(f"{folder.name} is a storage folder without tasks.", place=str(folder))
    found, searched_all = _search(folder, reasons)
    if found:
        if not searched_all:
            tell(_too_wide(folder))
        return unique(found)
    hint = (
        "Choose a task's folder (a long number, with api_conversation_history.json in it) or the storage folder above."
    )
    if not searched_all:
        hint = f"Only {MOST_FOLDERS:,} folders were searched; choose one nearer to the tasks."
    reason = f" ({reasons[0]})" if reasons else ""
    raise CtxError(f"No task was found in {folder}{reason}.", hint=hint, place=str(folder))


def _too_wide(folder: Path) -> Finding:
    return Finding(
        "search-too-wide",
        Severity.WARNING,
        f"{folder} holds more folders than are searched: the first {MOST_FOLDERS:,} were, there may be more tasks.",
        str(folder),
        advice="Open a folder nearer to the tasks.",
    )


def _behind_link(tasks: tuple[TaskRef, ...]) -> tuple[TaskRef, ...]:
    """A single task that was named by a link, at its true place when only the index there lists it."""
    directory = Path(tasks[0].directory)
    if len(tasks) == 1 and not tasks[0].in_index and directory.is_symlink():
        found = _look_at(directory.resolve(), [])
        if found is not None and len(found.tasks) == 1 and found.tasks[0].in_index:
            return found.tasks
    return tasks


def _look_at(folder: Path, reasons: list[str]) -> Folder | None:
    for adapter in AGENTS:
        found = adapter.look_at(folder)
        if found.matches:
            return found
        if found.reason:
            reasons.append(f"{folder.name}: {found.reason}")
    foreign = name_of_format(folder)
    if foreign:
        reasons.append(f"{folder.name} looks like {foreign}, which this version does not read")
    return None


def _search(top: Path, reasons: list[str]) -> tuple[list[TaskRef], bool]:
    """Tasks below a folder, level by level; whether all of it was searched. Folders that may not be read are passed."""
    found: list[TaskRef] = []
    waiting = deque((child, 1) for child in _children(top))
    looked = 0
    while waiting:
        folder, depth = waiting.popleft()
        looked += 1
        if looked > MOST_FOLDERS:
            return found, False
        try:
            known = _look_at(folder, reasons)
        except (OSError, CtxError):
            continue
        if known is not None:
            found.extend(known.tasks)
        elif depth < DEPTH:
            waiting.extend((child, depth + 1) for child in _children(folder))
    return found, True


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            return sorted(
                Path(entry.path)
                for entry in found
                if entry.name not in _NOT_ENTERED and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []


def _from_file(path: Path) -> tuple[TaskRef, ...]:
    for adapter in AGENTS:
        if path.name not in adapter.file_names | adapter.index_names:
            continue
        found = adapter.look_at_file(path)
        if found.tasks:
            return found.tasks
        raise CtxError(
            f"{path.name} cannot be opened: {found.reason or 'it lists no task'}.",
            hint="ctxviewer opens the task folders of coding agents.",
            place=str(path),
        )
    foreign = name_of_format(path)
    raise CtxError(
        f"{path.name} looks like {foreign}, which this version does not read."
        if foreign
        else f"{path.name} is not a file of a task.",
        hint="Choose a task's folder, or a file such as ui_messages.json in it.",
        place=str(path),
    )


def _unreadable(path: Path, error: OSError) -> CtxError:
    return CtxError(
        f"{path} cannot be read: {error.strerror or error}.", hint="Check the rights of the folder.", place=str(path)
    )
