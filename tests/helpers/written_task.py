"""A small task on the disk with its index, changes of it, and what the disk shows. For tests of the store."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.snapshot import FileRole, FileStamp
from ctxviewer.sources.change import Change, FileEffect
from ctxviewer.sources.fingerprint import stamp_of
from ctxviewer.sources.index_splice import item_bytes

TASK_ID = "1764500000000"
NAMES = {
    FileRole.MESSAGES: "api_conversation_history.json",
    FileRole.UPDATES: "context_history.json",
    FileRole.TIMELINE: "ui_messages.json",
    FileRole.METADATA: "task_metadata.json",
}
OTHER_ITEM = b'{"id":"1764400000000", "task":"caf\xc3\xa9 \\ud83d" ,"ts":12345678901234567890}'
ITEM = b'{"id":"1764500000000","ts":1764500009999,"task":"fix","totalCost":0.25}'
LAST_ITEM = b'{"id":"1764600000000","ts":3}'
INDEX = b"[" + OTHER_ITEM + b",\n " + ITEM + b"," + LAST_ITEM + b"]\n"


def messages(count: int, words: str = "") -> bytes:
    """A stored history of so many messages."""
    found = [{"role": ("user", "assistant")[n % 2], "content": f"message {n} {words}"} for n in range(count)]
    return json.dumps(found).encode()


@dataclass(frozen=True, slots=True)
class World:
    """A storage root with one task that the tests write, and our data folder."""

    root: Path
    data_dir: Path

    @property
    def task_dir(self) -> Path:
        return self.root / "tasks" / TASK_ID

    @property
    def index(self) -> Path:
        return self.root / "state" / "taskHistory.json"

    def path(self, role: FileRole) -> Path:
        return self.index if role is FileRole.INDEX else self.task_dir / NAMES[role]

    def read(self, role: FileRole) -> bytes | None:
        path = self.path(role)
        return path.read_bytes() if path.exists() else None

    def item(self) -> bytes | None:
        """The task's own item; None without one, b'' for an index that is damaged."""
        try:
            return item_bytes(self.index.read_bytes(), TASK_ID) if self.index.exists() else None
        except BrokenInputError:
            return b""

    def disk(self) -> dict[FileRole, bytes | None]:
        """Content of every file; of the index only the task's item."""
        found = {role: self.read(role) for role in NAMES}
        return {**found, FileRole.INDEX: self.item()}

    def disk_but_index(self) -> dict[FileRole, bytes | None]:
        """Content of every file of the task."""
        return {role: self.read(role) for role in NAMES}

    def stamps(self) -> tuple[FileStamp, ...]:
        """What a reader hands out for a preview."""
        return tuple(stamp_of(role, self.path(role), content) for role, content in self.disk().items())

    def change(self, title: str = "Truncate", looks_open: tuple[str, ...] = (), **contents: bytes | None) -> Change:
        """A change computed from the disk as it is; contents by role name: `messages=…, index=None`."""
        effects = tuple(
            FileEffect(role, self.path(role), content, TASK_ID if role is FileRole.INDEX else "")
            for role, content in ((FileRole(name), content) for name, content in contents.items())
        )
        return Change(self.task_dir, title, self.stamps(), effects, looks_open)

    def truncate(self, title: str = "Truncate to half", end: int = 5) -> Change:
        """New updates and a range in the index."""
        item = ITEM[:-1] + b',"conversationHistoryDeletedRange":[2,%d]}' % end
        return self.change(title, updates=b'[[1,[0,[[0,[[%d,"text",["notice"],[]]]]]]]]' % end, index=item)

    def roll_back(self, title: str = "Roll back") -> Change:
        """Everything gets shorter, the updates go."""
        return self.change(
            title,
            messages=messages(4),
            updates=None,
            timeline=b'[{"ts":1,"type":"say","say":"deleted_api_reqs"}]',
            index=b'{"id":"1764500000000","ts":1}',
        )

    def strangers(self) -> list[str]:
        """Files in the task's folder and beside the index that do not belong there."""
        expected = {*NAMES.values(), "taskHistory.json", "focus_chain.md"}
        folders = (self.task_dir, self.index.parent)
        return sorted(found.name for folder in folders for found in folder.iterdir() if found.name not in expected)


def make_world(root: Path, data_dir: Path) -> World:
    """The task as the agent left it: long messages, updates, timeline, metadata, three tasks in the index."""
    world = World(root, data_dir)
    world.task_dir.mkdir(parents=True)
    world.index.parent.mkdir()
    world.path(FileRole.MESSAGES).write_bytes(messages(12, "\\ud83d é"))
    world.path(FileRole.UPDATES).write_bytes(b'[[1,[0,[[0,[[1,"text",["x"],[]]]]]]]]')
    world.path(FileRole.TIMELINE).write_bytes(json.dumps([{"ts": n, "type": "say"} for n in range(9)]).encode())
    world.path(FileRole.METADATA).write_bytes(b'{\n  "files_in_context": []\n}')
    world.index.write_bytes(INDEX)
    (world.task_dir / "focus_chain.md").write_text("- [ ] one\n")
    return world
