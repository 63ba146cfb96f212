"""What the journal holds, as values, and their JSON.

An *intent* says everything that is needed to finish a write or to take it back: for each file the content before and
after, by digest and by the name of the copy in the backup. A *mark* says what became of an intent or of a backup.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.domain.snapshot import FileRole
from ctxviewer.sources.store.values import Action

VERSION = 1


@dataclass(frozen=True, slots=True)
class Side:
    """One state of a file (INDEX: of the task's own item in the index)."""

    exists: bool
    digest: str = ""
    size: int = 0
    blob: str = ""
    """Name of the copy in the entry's folder; '' when there is nothing to copy."""
    mode: int | None = None
    """Permission bits, for a file that comes back after it was removed; None = not known."""


ABSENT = Side(exists=False)


@dataclass(frozen=True, slots=True)
class Move:
    """One file that a transaction brings from one state into another."""

    role: FileRole
    path: Path
    """As the source named it; it may be a symbolic link."""
    item_id: str
    """For INDEX: the id of the item."""
    old: Side
    new: Side

    def swapped(self) -> Move:
        """The way back."""
        return Move(self.role, self.path, self.item_id, self.new, self.old)


@dataclass(frozen=True, slots=True)
class Intent:
    """A transaction that is about to be carried out."""

    id: str
    action: Action
    entry: str
    """The entry that is made, undone or redone. Its folder holds the copies; for a commit it equals `id`."""
    title: str
    task_dir: Path
    when_ms: int
    moves: tuple[Move, ...]
    """In the order of writing."""


class MarkKind(StrEnum):
    """What became of an intent (first three), a backup (DROPPED), a damaged line (TOLD)."""

    DONE = "done"
    REVERTED = "reverted"
    LEFT = "left"
    DROPPED = "dropped"
    TOLD = "told"


OUTCOMES = frozenset({MarkKind.DONE, MarkKind.REVERTED, MarkKind.LEFT})


@dataclass(frozen=True, slots=True)
class Mark:
    """`about` is the id of the intent; for DROPPED of the entry; for TOLD the digest of the damaged line.

    `action` and `entry` repeat the intent's, so that a mark is understood even when the intent's line is damaged.
    """

    kind: MarkKind
    about: str
    action: Action = Action.COMMIT
    entry: str = ""
    note: str = ""


Record = Intent | Mark


def to_json(record: Record) -> bytes:
    """One line of JSON without the line end; only ASCII, so that odd paths survive."""
    return json.dumps(_plain(record), separators=(",", ":")).encode("ascii")


def from_json(line: bytes) -> Record:
    """The record of a line. Raises ValueError when it is not one."""
    try:
        found = _object(json.loads(line))
        return _intent(found) if found["kind"] == "intent" else _mark(found)
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"not a record of the journal: {error}") from None


def _plain(record: Record) -> Mapping[str, object]:
    if isinstance(record, Mark):
        return {
            "v": VERSION,
            "kind": record.kind.value,
            "about": record.about,
            "action": record.action.value,
            "entry": record.entry,
            "note": record.note,
        }
    return {
        "v": VERSION,
        "kind": "intent",
        "id": record.id,
        "action": record.action.value,
        "entry": record.entry,
        "title": record.title,
        "task_dir": str(record.task_dir),
        "when_ms": record.when_ms,
        "moves": [
            {
                "role": move.role.value,
                "path": str(move.path),
                "item_id": move.item_id,
                "old": _plain_side(move.old),
                "new": _plain_side(move.new),
            }
            for move in record.moves
        ],
    }


def _plain_side(side: Side) -> Mapping[str, object]:
    if not side.exists:
        return {"exists": False}
    return {"exists": True, "digest": side.digest, "size": side.size, "blob": side.blob, "mode": side.mode}


def _intent(found: JsonObject) -> Intent:
    moves = found["moves"]
    if not isinstance(moves, list):
        raise TypeError("moves is not a list")
    return Intent(
        _text(found["id"]),
        Action(_text(found["action"])),
        _text(found["entry"]),
        _text(found["title"]),
        Path(_text(found["task_dir"])),
        _number(found["when_ms"]),
        tuple(_move(move) for move in moves),
    )


def _move(found: Json) -> Move:
    fields = _object(found)
    return Move(
        FileRole(_text(fields["role"])),
        Path(_text(fields["path"])),
        _text(fields["item_id"]),
        _side(_object(fields["old"])),
        _side(_object(fields["new"])),
    )


def _side(found: JsonObject) -> Side:
    if found["exists"] is not True:
        return ABSENT
    mode = found["mode"]
    return Side(
        exists=True,
        digest=_text(found["digest"]),
        size=_number(found["size"]),
        blob=_text(found["blob"]),
        mode=None if mode is None else _number(mode),
    )


def _mark(found: JsonObject) -> Mark:
    return Mark(
        MarkKind(_text(found["kind"])),
        _text(found["about"]),
        Action(_text(found["action"])),
        _text(found["entry"]),
        _text(found["note"]),
    )


def _object(value: Json) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError("an object is missing")
    return value


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is missing")
    return value


def _number(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a number is missing")
    return value
