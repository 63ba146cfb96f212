"""Names of Cline's classic files and folders, and whether a folder is one of its tasks.

Only files named here are ever opened; `secrets.json`, which the standalone program keeps beside them, is not.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ctxviewer.sources.files import open_file

EXTENSION_ID = "saoudrizwan.claude-dev"
"""Folder name under an editor's `globalStorage`."""
TASKS = "tasks"
INDEX = ("state", "taskHistory.json")
EDITOR_STATE = "state.vscdb"
"""The editor's own database, beside the extension's folder; held the index before version 3.28."""
LOCKS = "locks.db"

API = "api_conversation_history.json"
UI = "ui_messages.json"
OLD_UI = "claude_messages.json"
"""The timeline's name up to version 1.9."""
UPDATES = "context_history.json"
METADATA = "task_metadata.json"
KNOWN = frozenset({API, UI, OLD_UI, UPDATES, METADATA})

_HEAD = 1 << 16
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ROO_FILE = "history_item.json"
_SHORTEST_ID = 8
"""Task ids are milliseconds since 1970; real ones have 13 digits."""
_SAYS = re.compile(rb'"(?:say|ask)"\s*:\s*"')
_ROLE = re.compile(rb'"role"\s*:\s*"(?:user|assistant)"')


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a folder is a Cline task, and if not, why not."""

    is_task: bool
    reason: str = ""
    """Empty when it is a task, or when nothing in it even resembles one."""


def is_task_id(name: str) -> bool:
    """True for the decimal folder names that Cline gives."""
    return len(name) >= _SHORTEST_ID and name.isascii() and name.isdigit()


def is_safe_id(task_id: str) -> bool:
    """True when the id can be a folder name inside `tasks`: it cannot lead anywhere else."""
    return bool(task_id) and task_id not in {".", ".."} and not any(sign in task_id for sign in "/\\\0:")


def index_path(root: Path) -> Path:
    """The task index of a storage root."""
    return root.joinpath(*INDEX)


def root_of(directory: Path) -> Path:
    """The storage root of a task folder; its parent where it stands alone."""
    parent = directory.parent
    return parent.parent if parent.name == TASKS else parent


def looks_like_ui(head: bytes) -> bool:
    """True when the beginning of a file is that of a display timeline."""
    return _opens_list(head) and b'"ts"' in head and _SAYS.search(head) is not None


def looks_like_api(head: bytes) -> bool:
    """True when the beginning of a file is that of an API history."""
    return _opens_list(head) and _ROLE.search(head) is not None


def looks_like_index(head: bytes) -> bool:
    """True when the beginning of a file is that of a task index; an empty list is one."""
    text = _trimmed(head)
    if text.startswith(b"[") and text[1:].strip() == b"]":
        return True
    return _opens_list(head) and b'"id"' in head and b'"ts"' in head and b'"task"' in head


def read_head(path: Path) -> bytes:
    """The first 64 kB. Raises OSError."""
    with open_file(path) as stream:
        return stream.read(_HEAD)


def judge(directory: Path) -> Verdict:
    """Is this folder a task? Looks at names first, at the beginnings of files only where names do not tell.

    Raises OSError when the folder cannot be listed.
    """
    names = set(os.listdir(directory))  # noqa: PTH208 - thousands of folders
    found = names & KNOWN
    if not found:
        return Verdict(is_task=False)
    if UPDATES not in found and (_ROO_FILE in names or _UUID.fullmatch(directory.name)):
        return Verdict(is_task=False, reason="it is a task of Roo Code or Kilo Code, which this version does not read")
    if is_task_id(directory.name):
        return Verdict(is_task=True)
    return _judge_contents(directory, found)


def _judge_contents(directory: Path, found: set[str]) -> Verdict:
    reason = ""
    for name in sorted(found):
        head = read_head(directory / name)
        fits = {
            API: looks_like_api(head),
            UI: looks_like_ui(head),
            OLD_UI: looks_like_ui(head) or looks_like_api(head),
            UPDATES: head.lstrip().startswith(b"[["),
            METADATA: b'"files_in_context"' in head,
        }[name]
        if fits:
            return Verdict(is_task=True)
        reason = reason or f"{name} in it was not written by Cline"
    return Verdict(is_task=False, reason=reason)


def _trimmed(head: bytes) -> bytes:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()


def _opens_list(head: bytes) -> bool:
    text = _trimmed(head)
    return text.startswith(b"[") and text[1:].lstrip().startswith(b"{")
