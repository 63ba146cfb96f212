"""Lists about the open task: events, checkpoints, findings, and the updates of one message."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.request import Checkpoint, CheckpointKind
from ctxviewer.domain.updates import Update
from ctxviewer.engine.events import Event, EventKind
from ctxviewer.models.listing import Listing, RowWords, joined, stamp
from ctxviewer.models.numbers import counted
from ctxviewer.models.visible import one_line

TITLE: Final = 160
_EVENT_ICONS: Final = {
    EventKind.OPTIMIZE: ("optimize", "rewritten"),
    EventKind.TRUNCATE: ("truncate", "event"),
    EventKind.FORCED_TRUNCATE: ("truncate", "event"),
    EventKind.CONDENSE: ("condense", "event"),
    EventKind.SUMMARIZE: ("condense", "event"),
    EventKind.ROLLBACK: ("rollback", "accent"),
}
_POINT_WORDS: Final = {
    CheckpointKind.CHECKPOINT: "checkpoint",
    CheckpointKind.COMPLETION: "completion",
    CheckpointKind.MESSAGE: "conversation only",
}


class EventsModel(Listing[Event]):
    """What changed the context, oldest first."""

    def words(self, item: Event) -> RowWords:
        """The event's sentence; since when, and what it carries."""
        icon, tone = _EVENT_ICONS[item.kind]
        since = f"since request {item.request + 1:,}" if item.request is not None else "no request since"
        updates = counted(len(item.updates), "update") if item.updates else ""
        return RowWords(
            one_line(item.sentence, TITLE), joined(since, updates, stamp(item.ts)), icon, tone, item.sentence
        )


class CheckpointsModel(Listing[Checkpoint]):
    """Points that the task can be rolled back to, newest first. Entries that are no checkpoints only if asked for."""

    def __init__(self) -> None:
        super().__init__(newest_first=True)
        self._all: tuple[Checkpoint, ...] = ()
        self._with_messages = False

    @property
    def with_messages(self) -> bool:
        """True when every entry of the timeline is shown."""
        return self._with_messages

    @property
    def left_out(self) -> int:
        """How many entries are not shown because they are no checkpoints."""
        return len(self._all) - len(self.items)

    def set_points(self, points: tuple[Checkpoint, ...]) -> None:
        """All points of the task, oldest first."""
        self._all = points
        self._show()

    def set_with_messages(self, with_messages: bool) -> None:
        """Show every entry of the timeline, or checkpoints only."""
        self._with_messages = with_messages
        self._show()

    def _show(self) -> None:
        self.set_items(
            self._all
            if self._with_messages
            else [point for point in self._all if point.kind is not CheckpointKind.MESSAGE]
        )

    def words(self, item: Checkpoint) -> RowWords:
        """Its title; where it stands and how much it keeps."""
        after = f"after request {item.request + 1:,}" if item.request is not None else "before the first request"
        keeps = f"keeps {counted(max(0, item.last_message + 2), 'message')}" if item.last_message is not None else ""
        kind = _POINT_WORDS[item.kind]
        title = one_line(item.title, TITLE) or kind.capitalize()
        icon = "checkpoint" if item.kind is not CheckpointKind.MESSAGE else "task"
        return RowWords(title, joined(after, keeps, kind, stamp(item.ts)), icon, "muted", item.title[:1_000])


class FindingsModel(Listing[Finding]):
    """What is wrong or odd in the task's files, worst first."""

    def set_findings(self, findings: tuple[Finding, ...]) -> None:
        """All findings, in the order of the reading."""
        worst = list(Severity)[::-1]
        self.set_items(sorted(findings, key=lambda finding: worst.index(finding.severity)))

    def words(self, item: Finding) -> RowWords:
        """Its sentence; the place and what to do."""
        tones = {Severity.INFO: "info", Severity.WARNING: "warning", Severity.ERROR: "error"}
        detail = joined(str(item.severity), item.code, item.file, item.place)
        tip = "\n".join(part for part in (item.sentence, item.advice) if part)
        return RowWords(one_line(item.sentence, TITLE), detail, str(item.severity), tones[item.severity], tip)


def finding_words(finding: Finding) -> str:
    """The evidence in full, where it was found, what it means and what to do; for reading."""
    where = joined(finding.code, finding.file, finding.place)
    return "\n".join(line for line in (finding.sentence, finding.advice, where) if line)


def finding_text(finding: Finding) -> str:
    """A finding with everything that is known of it, for the clipboard."""
    where = joined(finding.file, finding.place)
    lines = (f"{finding.severity}: {finding.sentence}", where, finding.advice, f"code: {finding.code}")
    return "\n".join(line for line in lines if line)


class Force(StrEnum):
    """How an update stands to the request that is looked at."""

    IN_FORCE = "in force"
    REPLACED = "replaced by a newer one"
    LATER = "later than this request"


@dataclass(frozen=True, slots=True)
class UpdateRow:
    """One update of a message."""

    update: Update
    label: str
    """The rule behind it: 'duplicate read of src/a.py'."""
    force: Force


def force_of(update: Update, projection: Projection) -> Force:
    """How an update stands to a projection."""
    now = projection.updates.get((update.message, update.block))
    if now is None or update.ordinal > now.ordinal:
        return Force.LATER
    return Force.IN_FORCE if update.ordinal == now.ordinal else Force.REPLACED


class UpdatesModel(Listing[UpdateRow]):
    """The updates of one message, as stored."""

    def words(self, item: UpdateRow) -> RowWords:
        """The rule; when, on which block, and whether it is in force."""
        update = item.update
        size = counted(len(update.text), "character")
        detail = joined(str(item.force), f"block {update.block}", size, stamp(update.timestamp))
        tone = "rewritten" if item.force is Force.IN_FORCE else "faint"
        return RowWords(one_line(item.label, TITLE), detail, "rewritten", tone, "Enter shows the text of this update")
