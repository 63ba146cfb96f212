"""Cline's row in the table of agents: where its roots are, and what a folder or file is to it."""

from __future__ import annotations

import os
from pathlib import Path

from ctxviewer.domain.snapshot import Agent
from ctxviewer.sources.adapter import Adapter, Folder
from ctxviewer.sources.cline import layout
from ctxviewer.sources.cline.effects import change_for
from ctxviewer.sources.cline.listing import list_root, ref_for
from ctxviewer.sources.cline.reader import read_task
from ctxviewer.sources.places import Places, Root, is_dir, is_folder, storage_folders, subfolder

STANDALONE = "standalone"


def roots(places: Places) -> tuple[Root, ...]:
    """Every existing root: the extension's folder in each editor, and the one of the standalone program."""
    found = [
        Root(path, storage.host)
        for storage in storage_folders(places)
        if (path := subfolder(storage.path, layout.EXTENSION_ID)) is not None
    ]
    alone = Path(places.environment.get("CLINE_DIR") or places.home / ".cline") / "data"
    if _has_tasks(alone):
        found.append(Root(alone, STANDALONE))
    return tuple(found)


def look_at(folder: Path) -> Folder:
    """A task, a root, or the `tasks` folder of one."""
    verdict = layout.judge(folder)
    if verdict.is_task:
        return Folder((ref_for(folder),), matches=True)
    if _is_root(folder):
        return Folder(list_root(folder), matches=True)
    if folder.name == layout.TASKS and _holds_task_ids(folder):
        return Folder(list_root(folder.parent), matches=True)
    if is_dir(folder / "data") and _is_root(folder / "data") and not folder.name.isdigit():
        return Folder(list_root(folder / "data", STANDALONE), matches=True)
    return Folder(reason=verdict.reason)


def look_at_file(path: Path) -> Folder:
    """The task that a file belongs to, or the root of an index."""
    if path.name == layout.INDEX[-1]:
        if not layout.looks_like_index(layout.read_head(path)):
            return Folder(reason="it is a list, but not Cline's list of tasks")
        root = path.parent.parent if path.parent.name == layout.INDEX[0] else path.parent
        return Folder(list_root(root), matches=True)
    verdict = layout.judge(path.parent)
    if verdict.is_task:
        return Folder((ref_for(path.parent),), matches=True)
    return Folder(reason=verdict.reason or "it was not written by Cline")


def _is_root(folder: Path) -> bool:
    return _is_file(layout.index_path(folder)) or _holds_task_ids(folder / layout.TASKS)


def _has_tasks(root: Path) -> bool:
    return is_dir(root / layout.TASKS) or _is_file(layout.index_path(root))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _holds_task_ids(folder: Path) -> bool:
    try:
        with os.scandir(folder) as found:
            return any(layout.is_task_id(entry.name) and is_folder(entry) for entry in found)
    except (FileNotFoundError, NotADirectoryError):
        return False


CLINE = Adapter(
    agent=Agent.CLINE,
    name="Cline",
    roots=roots,
    list_root=list_root,
    look_at=look_at,
    file_names=layout.KNOWN,
    look_at_file=look_at_file,
    index_names=frozenset({layout.INDEX[-1]}),
    read=read_task,
    change_for=change_for,
)
