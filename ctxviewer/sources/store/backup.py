"""What a change means in moves, and the copies of both sides that make it undoable."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from ctxviewer.domain.errors import BrokenInputError, RefusedError
from ctxviewer.domain.snapshot import FileRole, FileStamp
from ctxviewer.sources.change import Change
from ctxviewer.sources.files import read_content
from ctxviewer.sources.fingerprint import digest
from ctxviewer.sources.index_splice import item_bytes
from ctxviewer.sources.store.area import Area
from ctxviewer.sources.store.disk import is_there
from ctxviewer.sources.store.files import file_pieces, pieces_of
from ctxviewer.sources.store.preflight import place_of
from ctxviewer.sources.store.records import ABSENT, Intent, Move, Side

_ORDER = {role: number for number, role in enumerate(FileRole)}


def moves_of(change: Change, found: Mapping[Path, FileStamp]) -> tuple[Move, ...]:
    """The files that really change, in the order of writing. `found` is what `compared` gave.

    Raises RefusedError when none does, OSError when one cannot be examined.
    """
    moves: list[Move] = []
    for number, effect in enumerate(sorted(change.effects, key=lambda effect: _ORDER[effect.role])):
        path = place_of(effect.path)
        name = f"{number}-{effect.role.value}"
        old, new = ABSENT, ABSENT
        if is_there(found[path]):
            stamp = found[path]
            index = effect.role is FileRole.INDEX
            size = len(_item(path, effect.item_id) or b"") if index else stamp.size
            mode = None if index else stat.S_IMODE(path.stat().st_mode)
            old = Side(exists=True, digest=stamp.digest, size=size, blob=f"{name}.old", mode=mode)
        if effect.content is not None:
            content = effect.content
            new = Side(exists=True, digest=digest(content), size=len(content), blob=f"{name}.new", mode=old.mode)
        if (old.exists, old.digest) != (new.exists, new.digest):
            moves.append(Move(effect.role, path, effect.item_id, old, new))
    if not moves:
        raise RefusedError(f"“{change.title}” was not carried out: it changes nothing.")
    return tuple(moves)


def back_up(area: Area, intent: Intent, change: Change) -> None:
    """Copy the old and the new side of every move into the entry's folder, and the intent beside them.

    Raises StepError; RefusedError when a file was written meanwhile.
    """
    contents = {place_of(effect.path): effect.content for effect in change.effects}
    area.new_entry(intent.entry)
    for move in intent.moves:
        if move.old.exists:
            copied, _ = area.keep(intent.entry, move.old.blob, _old_pieces(move), move.path)
            if copied != move.old.digest:
                raise RefusedError(
                    f"“{intent.title}” was not carried out: {move.path.name} was written by somebody else at this "
                    "very moment.",
                    hint="Look at the task as it is now and repeat the action.",
                    place=str(move.path),
                )
        content = contents[move.path]
        if content is not None:
            area.keep(intent.entry, move.new.blob, pieces_of(content), move.path)
    area.keep_intent(intent)


def _old_pieces(move: Move) -> Iterable[bytes]:
    if move.role is FileRole.INDEX:
        yield _item(move.path, move.item_id) or b""
    else:
        yield from file_pieces(move.path)


def _item(index: Path, item_id: str) -> bytes | None:
    try:
        return item_bytes(read_content(index).data, item_id)
    except BrokenInputError:
        return None
