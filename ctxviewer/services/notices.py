"""What the user should know without being interrupted: one list of notices, shown by a bar that is never modal."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Severity


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to know: what and where, and what to do about it."""

    severity: Severity
    sentence: str
    hint: str = ""
    details: str = ""
    """Longer text for *copy details*: places, paths, numbers. Never text of a conversation."""
    key: str = ""
    """A later notice with the same key takes this one's place; '' = the sentence itself."""
    action: str = ""
    """Id of the one action that helps, '' when there is none."""

    @property
    def identity(self) -> str:
        """What `Notices` tells notices apart by."""
        return self.key or self.sentence


def notice_of(error: CtxError, *, key: str = "", severity: Severity = Severity.ERROR, action: str = "") -> Notice:
    """The notice for an expected failure."""
    return Notice(severity, error.sentence, error.hint, error.place, key, action)


class Notices(QObject):
    """The notices that stand now, newest last. GUI thread only."""

    changed = Signal(object)  # tuple[Notice, ...]

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._standing: dict[str, Notice] = {}

    @property
    def standing(self) -> tuple[Notice, ...]:
        """Notices that nobody has cleared, oldest first."""
        return tuple(self._standing.values())

    def post(self, notice: Notice) -> None:
        """Add a notice, or replace the one with the same key. Repeating an equal notice changes nothing."""
        if self._standing.get(notice.identity) == notice:
            return
        self._standing.pop(notice.identity, None)
        self._standing[notice.identity] = notice
        self.changed.emit(self.standing)

    def clear(self, key: str) -> None:
        """Take back the notice with this key (or sentence); unknown keys are fine."""
        if self._standing.pop(key, None) is not None:
            self.changed.emit(self.standing)

    def clear_prefix(self, prefix: str) -> None:
        """Take back all notices whose key starts with `prefix`: those about a task when another is opened."""
        gone = [key for key in self._standing if key.startswith(prefix)]
        for key in gone:
            del self._standing[key]
        if gone:
            self.changed.emit(self.standing)
