"""What the records of a journal amount to: the entries, their states, which one is undone or redone next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxviewer.sources.store.area import Area
from ctxviewer.sources.store.records import OUTCOMES, Intent, Mark, MarkKind, Record
from ctxviewer.sources.store.values import Action, Entry, EntryState

_PENDING = "It was interrupted. It is put right when ctxviewer starts."
_WHY_NOT_UNDO = {
    EntryState.UNDONE: "It is undone already.",
    EntryState.ABANDONED: "It is undone already.",
    EntryState.REVERTED: "It failed and left nothing behind.",
    EntryState.INTERRUPTED: "It was interrupted, and the files were written by somebody else since.",
    EntryState.PENDING: _PENDING,
}
_WHY_NOT_REDO = {
    EntryState.DONE: "It is not undone.",
    EntryState.ABANDONED: "Something else was done after it was undone.",
    EntryState.REVERTED: "It failed. Repeat the action instead.",
    EntryState.INTERRUPTED: "It was interrupted, and the files were written by somebody else since.",
    EntryState.PENDING: _PENDING,
}


@dataclass(slots=True)
class _Standing:
    intent: Intent
    state: EntryState = EntryState.PENDING
    dropped: bool = False
    note: str = ""


class Ledger:
    """The history of one task, from its records.

    Every transaction begins with settling the one before. So an intent that has no mark when the next one comes has
    lost it by damage: it counts as done, or, when its copies are gone, as reverted.
    """

    def __init__(self, records: Sequence[Record], kept: Sequence[Intent] = (), folders: Collection[str] = ()) -> None:
        """`kept` are intents found beside the copies only; `folders` are the entries that have copies."""
        self.told: set[str] = set()
        """Digests of the damaged lines that were told."""
        self.newest: Intent | None = None
        """Of any action; it alone may have left helper files beside the task's files."""
        self._open: dict[str, Intent] = {}
        self._entries: dict[str, _Standing] = {}
        self._done: list[str] = []
        self._undone: list[str] = []
        """The last one is redone next."""
        self._kept = {intent.id for intent in kept}
        for intent in kept:
            self._entries[intent.id] = _Standing(intent)
            self._open[intent.id] = intent
            self.newest = intent
        last = {record.about: record for record in records if isinstance(record, Mark) and record.kind in OUTCOMES}
        for record in records:
            if isinstance(record, Intent):
                self._presume(record, folders)
                self._open[record.id] = record
                self.newest = record
                if record.action is Action.COMMIT:
                    self._entries.setdefault(record.id, _Standing(record))
            elif record.kind not in OUTCOMES or last[record.about] is record:
                self._mark(record)

    @property
    def pending(self) -> tuple[Intent, ...]:
        """Intents of which nobody knows what became of them, in the order of the journal."""
        return tuple(self._open.values())

    @property
    def task_dir(self) -> Path | None:
        """The task's directory as the newest entry names it."""
        return next((standing.intent.task_dir for standing in reversed(self._entries.values())), None)

    @property
    def next_undo(self) -> Intent | None:
        """The intent of the entry that is undone next."""
        return self._entries[self._done[-1]].intent if self._done else None

    @property
    def next_redo(self) -> Intent | None:
        """The intent of the entry that is redone next."""
        return self._entries[self._undone[-1]].intent if self._undone else None

    def state(self, entry: str) -> EntryState | None:
        """The state of an entry, None when there is no such."""
        found = self._entries.get(entry)
        return None if found is None else found.state

    def is_superfluous(self, entry: str) -> bool:
        """True when the copies of this entry are not needed any more."""
        found = self._entries.get(entry)
        return found is not None and (found.dropped or found.state is EntryState.REVERTED)

    def entries(self, area: Area) -> tuple[Entry, ...]:
        """The entries, oldest first, as the history panel shows them."""
        return tuple(self._entry(self._entries[entry], area) for entry in sorted(self._entries))

    def _presume(self, following: Intent, folders: Collection[str]) -> None:
        """Settle what is open though another transaction follows."""
        for intent in list(self._open.values()):
            if intent.id not in self._kept or intent.id < following.id:
                gone = intent.action is Action.COMMIT and intent.id not in folders
                kind = MarkKind.REVERTED if gone else MarkKind.DONE
                self._mark(Mark(kind, intent.id, intent.action, intent.entry))

    def _mark(self, mark: Mark) -> None:
        if mark.kind is MarkKind.TOLD:
            self.told.add(mark.about)
        elif mark.kind is MarkKind.DROPPED:
            if mark.about in self._entries:
                self._entries[mark.about].dropped = True
                self._entries[mark.about].note = mark.note
        elif mark.kind in OUTCOMES:
            self._open.pop(mark.about, None)
            standing = self._entries.get(mark.entry)
            if standing is not None:
                self._settle(mark, standing)

    def _settle(self, mark: Mark, standing: _Standing) -> None:
        entry = mark.entry
        if mark.kind is MarkKind.LEFT:
            self._leave_lines(entry)
            standing.state = EntryState.INTERRUPTED
            standing.note = mark.note
        elif mark.kind is MarkKind.REVERTED:
            if mark.action is Action.COMMIT:
                self._leave_lines(entry)
                standing.state = EntryState.REVERTED
                standing.note = mark.note
        elif mark.action is Action.COMMIT:
            for other in self._undone:
                self._entries[other].state = EntryState.ABANDONED
            self._undone.clear()
            self._leave_lines(entry)
            self._done.append(entry)
            standing.state = EntryState.DONE
        elif mark.action is Action.UNDO:
            self._leave_lines(entry)
            self._undone.append(entry)
            standing.state = EntryState.UNDONE
        else:
            self._leave_lines(entry)
            self._done.append(entry)
            standing.state = EntryState.DONE

    def _leave_lines(self, entry: str) -> None:
        for line in (self._done, self._undone):
            if entry in line:
                line.remove(entry)

    def _entry(self, standing: _Standing, area: Area) -> Entry:
        intent = standing.intent
        size = 0 if standing.dropped else area.backup_bytes(intent.id)
        undo, redo = self._why_not_undo(standing, size), self._why_not_redo(standing, size)
        return Entry(
            intent.id,
            intent.title,
            intent.task_dir,
            intent.when_ms,
            standing.state,
            tuple(move.role for move in intent.moves),
            tuple(move.path for move in intent.moves),
            can_undo=not undo,
            undo_reason=undo,
            can_redo=not redo,
            redo_reason=redo,
            backup_dir=area.entry_dir(intent.id) if size else None,
            backup_bytes=size,
            note=standing.note,
        )

    def _why_not_undo(self, standing: _Standing, backup: int) -> str:
        if standing.state in _WHY_NOT_UNDO:
            return _WHY_NOT_UNDO[standing.state]
        return self._why_not(standing, backup, self._done, "Undo the later change first")

    def _why_not_redo(self, standing: _Standing, backup: int) -> str:
        if standing.state in _WHY_NOT_REDO:
            return _WHY_NOT_REDO[standing.state]
        return self._why_not(standing, backup, self._undone, "Redo the earlier change first")

    def _why_not(self, standing: _Standing, backup: int, line: list[str], order: str) -> str:
        if not backup:
            return standing.note or "Its backup is gone."
        if self._open:
            return _PENDING
        if line[-1] != standing.intent.id:
            return f"{order}: “{self._entries[line[-1]].intent.title}”."
        return ""


def ledger_of(area: Area, *, alone: bool) -> Ledger:
    """The history of an area. `alone` as for `journal.read`. Raises OSError when the journal cannot be read."""
    records = area.read(alone=alone).records
    known = {record.id for record in records if isinstance(record, Intent)}
    folders = area.entry_ids()
    kept = (area.kept_intent(entry) for entry in folders if entry not in known)
    return Ledger(records, tuple(intent for intent in kept if intent is not None), folders)
