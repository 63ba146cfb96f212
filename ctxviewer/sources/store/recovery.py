"""Puts right what an interrupted write left. The same disk always gives the same decision:

| the files of the intent show         | then                                                                |
|--------------------------------------|---------------------------------------------------------------------|
| all of them the old content          | nothing was replaced: taken back (marked reverted)                  |
| all of them the new content          | only the mark was missing: finished (marked done)                   |
| some old, some new                   | finished from the copies; if that fails, taken back from the copies |
| one of them neither                  | somebody else wrote since: nothing is touched, the copies are kept  |
| the folder is away, or no way works  | it waits for the next start                                         |

A write that replaced nothing is not begun again, because nobody looks at it at that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from ctxviewer.domain.errors import CtxError
from ctxviewer.sources.store.area import Area
from ctxviewer.sources.store.disk import Standing, standing
from ctxviewer.sources.store.files import remove_quietly
from ctxviewer.sources.store.history import Ledger
from ctxviewer.sources.store.records import Intent, Mark, MarkKind, Move
from ctxviewer.sources.store.steps import StepError, Steps, hint, reason
from ctxviewer.sources.store.transaction import ForeignWriteError, Writer, helper_files
from ctxviewer.sources.store.values import Action, Recovered, RecoveredKind

IndexLock = Callable[[Sequence[Move]], AbstractContextManager[None]]
"""Holds the lock of the index that the moves write, if any. Raises RefusedError when it stays taken."""

_VERBS = {Action.COMMIT: "", Action.UNDO: "undoing ", Action.REDO: "redoing "}


class Recovery:
    """Puts one task right. The caller holds the task's lock."""

    def __init__(self, area: Area, steps: Steps, index_lock: IndexLock) -> None:
        self._area = area
        self._steps = steps
        self._index_lock = index_lock

    def settle(self, ledger: Ledger) -> tuple[Recovered, ...]:
        """Decide and carry out what becomes of every pending intent."""
        found = tuple(self._settle(intent) for intent in ledger.pending)
        if ledger.newest is not None:  # a crash between the mark and the cleaning up
            self._remove_helpers(ledger.newest)
        return found

    def tidy(self, ledger: Ledger, *, whole: bool) -> None:
        """Remove copies that are not needed any more, and folders of entries that were never begun.

        `whole` says that every line of the journal can be read; else a folder without a record may belong to a line
        that cannot, and is kept.
        """
        for entry in self._area.entry_ids():
            begun = ledger.state(entry) is not None or self._area.kept_intent(entry) is not None
            if ledger.is_superfluous(entry) or (whole and not begun):
                self._area.drop(entry)

    def _settle(self, intent: Intent) -> Recovered:
        if not intent.task_dir.is_dir():
            return _waiting(
                intent, f"its folder {intent.task_dir} is not there", "Bring the folder back, or ignore this."
            )
        try:
            with self._index_lock(intent.moves):
                return self._decide(intent)
        except StepError as error:
            return _waiting(intent, f"{error.path.name}: {reason(error.error)}", hint(error.error))
        except CtxError as error:
            return _waiting(intent, error.sentence, error.hint)
        except OSError as error:
            return _waiting(intent, reason(error), hint(error))

    def _decide(self, intent: Intent) -> Recovered:
        standings = [(move, standing(move)) for move in intent.moves]
        foreign = [move for move, side in standings if side is Standing.OTHER]
        ahead = [move for move, side in standings if side is Standing.OLD]
        back = [move.swapped() for move, side in reversed(standings) if side is Standing.NEW]
        if foreign:
            return self._left(intent, foreign)
        if not back:
            return self._marked(intent, MarkKind.REVERTED)
        try:
            return self._marked(intent, MarkKind.DONE if self._finished(intent, ahead, back) else MarkKind.REVERTED)
        except ForeignWriteError as error:
            return self._left(intent, [move for move in intent.moves if move.path == error.path])

    def _finished(self, intent: Intent, ahead: Sequence[Move], back: Sequence[Move]) -> bool:
        """Go ahead; when that fails, go back, and return False. Raises StepError when that fails too."""
        try:
            self._carry_out(intent, ahead)
        except StepError:
            self._carry_out(intent, back)
            return False
        return True

    def _carry_out(self, intent: Intent, moves: Sequence[Move]) -> None:
        """All of the moves or none. Raises StepError, ForeignWriteError."""
        writer = Writer(self._area, intent.entry, intent.id, moves, self._steps)
        try:
            writer.run({}, _nothing)
        except BaseException:
            writer.put_back()
            raise
        writer.clean()

    def _marked(self, intent: Intent, kind: MarkKind) -> Recovered:
        done = kind is MarkKind.DONE
        note = "" if done else "It was interrupted and taken back."
        self._area.append(Mark(kind, intent.id, intent.action, intent.entry, note), "marking in the")
        self._remove_helpers(intent)
        what = f"{_VERBS[intent.action]}“{intent.title}”"
        return Recovered(
            RecoveredKind.FINISHED if done else RecoveredKind.REVERTED,
            intent.task_dir,
            intent.entry,
            f"An interrupted write was finished: {what} is complete."
            if done
            else f"An interrupted write was taken back: {what} is not carried out, every file is as before.",
        )

    def _left(self, intent: Intent, foreign: Sequence[Move]) -> Recovered:
        names = ", ".join(move.path.name for move in foreign)
        note = f"It was interrupted, and {names} was written by somebody else since. Nothing more was written."
        self._area.append(Mark(MarkKind.LEFT, intent.id, intent.action, intent.entry, note), "marking in the")
        self._remove_helpers(intent)
        where = self._area.entry_dir(intent.entry)
        return Recovered(
            RecoveredKind.LEFT,
            intent.task_dir,
            intent.entry,
            f"{_VERBS[intent.action].capitalize()}“{intent.title}” was interrupted half-way, and {names} was written "
            "by somebody else since. ctxviewer does not touch these files.",
            hint=f"Look at the task. The contents before and after lie in {where}.",
        )

    def _remove_helpers(self, intent: Intent) -> None:
        for move in intent.moves:
            for helper in helper_files(move, intent.id):
                remove_quietly(helper)


def _nothing() -> None:
    """No further check."""


def _waiting(intent: Intent, why: str, advice: str) -> Recovered:
    return Recovered(
        RecoveredKind.WAITING,
        intent.task_dir,
        intent.entry,
        f"{_VERBS[intent.action].capitalize()}“{intent.title}” was interrupted and cannot be put right now: {why}.",
        hint=advice,
    )
