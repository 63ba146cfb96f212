"""What is odd about a task's files and the deleted range, as findings with stable codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.json import Json
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.snapshot import RangeSource, UiEntry
from ctxviewer.sources.cline import layout
from ctxviewer.sources.rawjson import Damage, DamageKind

_ERRORS = frozenset({DamageKind.EMPTY, DamageKind.NOT_ARRAY, DamageKind.CUT, DamageKind.BROKEN_ITEM})
_ADVICE = {
    DamageKind.EMPTY: "The agent stopped while it wrote the file, or the disk was full. A backup may have it.",
    DamageKind.NOT_ARRAY: "This is not what the agent writes there; nothing of it is shown.",
    DamageKind.CUT: "The agent cannot open the task. ctxviewer shows what is readable and does not write this file.",
    DamageKind.BROKEN_ITEM: "The agent cannot open the task. The item is shown as plain text.",
    DamageKind.GARBAGE: "The agent cannot open the task; all items are shown. An interrupted write leaves this behind.",
    DamageKind.UNUSUAL: "The agent cannot open the task; everything is shown here.",
    DamageKind.NOT_UTF8: "The agent reads such bytes as replacement characters, too.",
}


def count(number: int, one: str, many: str = "") -> str:
    """'1 message', '3 messages'."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def place_of(damage: Damage) -> str:
    """'byte 120, item 3'."""
    return f"byte {damage.position}" + (f", item {damage.item}" if damage.item is not None else "")


def damage_findings(name: str, damage: Iterable[Damage], readable: int) -> tuple[Finding, ...]:
    """One finding for each damage of an array file; `readable` items could be read."""
    found = []
    for one in damage:
        shown = f"; {count(readable, 'item')} before it can be read" if one.kind is DamageKind.CUT and readable else ""
        found.append(
            Finding(
                code=f"file-{one.kind}",
                severity=Severity.ERROR if one.kind in _ERRORS else Severity.WARNING,
                sentence=f"{name} is damaged: {one.reason}{shown}.",
                file=name,
                place=place_of(one),
                advice=_ADVICE[one.kind],
            )
        )
    return tuple(found)


def range_findings(
    deleted: Range | None, source: RangeSource, raw: Json, ui: Sequence[UiEntry], length: int | None
) -> tuple[Finding, ...]:
    """What is odd about the deleted range now in force.

    `raw` is what the index has in its place; `length` is the number of stored messages, None when it is not known.
    """
    found: list[Finding] = []
    file = "taskHistory.json" if source is RangeSource.INDEX else layout.UI

    def note(code: str, severity: Severity, sentence: str, advice: str) -> None:
        found.append(Finding(code, severity, sentence, file, "conversationHistoryDeletedRange", advice))

    if deleted is None:
        if raw is not None:
            advice = "It is taken as no range: everything counts as sent."
            note("range-unreadable", Severity.WARNING, f"The deleted range in {file} is no pair of numbers.", advice)
    else:
        if length is not None and deleted.end >= length:
            sentence = f"The deleted range {deleted} ends beyond the last of {count(length, 'message')}."
            note(
                "range-beyond-end",
                Severity.WARNING,
                sentence,
                "The history was shortened; the range is shown cut to it.",
            )
        if deleted.end < 1:
            sentence = f"The deleted range is {deleted}: {_sent_below_start(deleted.end)}."
            advice = "A truncation of one message, or of two of the same role in a row, leaves this."
            note("range-below-start", Severity.WARNING, sentence, advice)
        elif deleted.is_empty:
            sentence = f"The deleted range is {deleted}: it hides nothing."
            note("range-empty", Severity.INFO, sentence, "A truncation that found nothing to remove leaves this.")
        if deleted.start == 1 and not deleted.is_empty:
            sentence = f"The deleted range {deleted} starts at message 1."
            advice = "Versions 3.1 to 3.9.2 kept only message 0. Newer ones ignore the start and send message 1 too."
            note("range-old-start", Severity.INFO, sentence, advice)
        elif deleted.start not in {1, 2}:
            sentence = f"The deleted range {deleted} does not start at message 2."
            note(
                "range-odd-start", Severity.WARNING, sentence, "The agent ignores the start: it sends messages 0 and 1."
            )
    last = ui[-1] if ui else None
    if source is RangeSource.INDEX and last and last.last_message is not None and last.deleted_range != deleted:
        told = f"{deleted or 'no range'}, the last entry of {layout.UI} says {last.deleted_range or 'no range'}"
        advice = "The agent goes on with that of the index; an entry keeps the range of its own moment."
        note("range-differs", Severity.INFO, f"The index says {told}.", advice)
    return tuple(found)


def _sent_below_start(end: int) -> str:
    """What a range that ends at `end`, below 1, makes the agent send: negative starts count from the end (rules §4)."""
    if end == 0:
        return "the agent then sends message 1 twice"
    if end == -1:
        return "the agent then sends messages 0 and 1 twice"
    last = "message" if end == -2 else f"{-end - 1} messages"
    return f"the agent counts from the end: behind the first pair it sends only the last {last}"


def role_findings(roles: Sequence[str]) -> tuple[Finding, ...]:
    """Messages without a role, and the first place where roles do not alternate."""
    found: list[Finding] = []
    odd = [number for number, role in enumerate(roles) if role not in {"user", "assistant"}]
    if odd:
        found.append(
            Finding(
                "role-odd",
                Severity.WARNING,
                f"{layout.API} has {count(len(odd), 'message')} without a usable role, first message {odd[0]}.",
                layout.API,
                f"message {odd[0]}",
                "It is shown as it is stored.",
                message=odd[0],
            )
        )
    pairs = enumerate(pairwise(roles), start=1)
    again = next((number for number, (one, following) in pairs if one and one == following), None)
    if again is not None:
        found.append(
            Finding(
                "roles-repeat",
                Severity.INFO,
                f"Messages {again - 1} and {again} both have the role {roles[again]}.",
                layout.API,
                f"message {again}",
                "Truncation counts in pairs and may end on the wrong side.",
                message=again,
            )
        )
    return tuple(found)
