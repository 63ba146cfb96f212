"""A plan told to the person who is about to apply it: numbers before and after, what goes, what comes back, the files.

No Qt, no decisions: it only words what the plan and the change say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ctxviewer.domain.plan import Plan
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.request import Checkpoint
from ctxviewer.domain.snapshot import FileRole, Snapshot
from ctxviewer.models.numbers import byte_size, counted, grouped
from ctxviewer.models.tasks import one_line
from ctxviewer.sources.change import Change, FileEffect

if TYPE_CHECKING:  # numpy loads with it
    from ctxviewer.tokens import TokenSums

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
OPEN_QUOTE, CLOSE_QUOTE = "\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}"


class Tone(StrEnum):
    """How a section is meant."""

    PLAIN = "plain"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its lines."""

    title: str
    lines: tuple[str, ...]
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class NumberRow:
    """One number before and after."""

    label: str
    before: str
    after: str
    change: str = ""
    """The difference; '' when there is none or it is no number."""


def looks_open_sentence(reasons: Sequence[str]) -> str:
    """'The task looks open in its editor: a lock file is there.'"""
    return f"The task looks open in its editor: {'; '.join(reason.rstrip('.') for reason in reasons)}."


def first_touched(plan: Plan) -> int | None:
    """The stored message to look at first: the first one that goes, comes back, or is rewritten; None if none is."""
    before, after = plan.before, plan.after
    if after.until < before.until:
        return after.until if after.until < after.stored else max(0, after.until - 1)
    if after.resume != before.resume:
        return min(after.resume, before.resume)
    touched = [update.message for update in (*plan.added_updates, *plan.removed_updates)]
    return min(touched, default=None)


def number_rows(plan: Plan, before: TokenSums | None, after: TokenSums | None) -> tuple[NumberRow, ...]:
    """Messages, tokens, characters, range and updates, before and after."""
    rows = [_row("messages sent", plan.before.sent_count, plan.after.sent_count)]
    if before is not None and after is not None:
        share = min(before.known_share, after.known_share)
        label = "tokens sent, estimated" if share >= 1 else f"tokens sent, estimated ({share:.0%} counted so far)"
        rows.append(_row(label, before.sent, after.sent))
    if plan.characters_before or plan.characters_after:
        rows.append(_row("characters sent", plan.characters_before, plan.characters_after))
    rows.append(NumberRow("deleted range", _range(plan.before), _range(plan.after)))
    rows.append(_row("updates in force on what is sent", plan.before.updates_sent, plan.after.updates_sent))
    return tuple(rows)


def sections(plan: Plan) -> tuple[Section, ...]:
    """What happens, what goes, what comes back, and what to know before applying. Empty sections are left out."""
    found = [
        Section("What goes", tuple(_goes(plan))),
        Section("What comes back", tuple(_comes_back(plan))),
        Section("Step by step", tuple(step.sentence for step in plan.steps)),
        Section("Before you apply", plan.warnings, Tone.WARNING),
        Section("The agent's own action would differ", plan.differs_from_reference),
    ]
    return tuple(section for section in found if section.lines)


def file_lines(snapshot: Snapshot, change: Change) -> tuple[str, ...]:
    """One line a file that is written, in the order of writing."""
    sizes = {str(stamp.path): stamp.size if stamp.exists else None for stamp in snapshot.files}
    order = list(FileRole)
    effects = sorted(change.effects, key=lambda effect: order.index(effect.role))
    return tuple(_file_line(effect, sizes.get(str(effect.path))) for effect in effects)


def _row(label: str, before: int, after: int) -> NumberRow:
    difference = after - before
    if not difference:
        return NumberRow(label, grouped(before), grouped(after), "unchanged")
    sign = "+" if difference > 0 else MINUS
    share = f" ({sign}{abs(difference) / before:.0%})" if before else ""
    return NumberRow(label, grouped(before), grouped(after), f"{sign}{grouped(abs(difference))}{share}")


def _range(projection: Projection) -> str:
    return str(projection.deleted_range) if projection.deleted_range is not None else "none"


def _span(numbers: range) -> str:
    if len(numbers) == 1:
        return f"message {numbers.start}"
    return f"messages {numbers.start}{DASH}{numbers.stop - 1} ({counted(len(numbers), 'message')})"


def _goes(plan: Plan) -> Iterator[str]:
    before, after = plan.before.hidden, plan.after.hidden
    newly_hidden = range(max(after.start, before.stop if before else after.start), after.stop)
    if newly_hidden:
        yield f"{_span(newly_hidden)}: no longer sent; they stay in the file".capitalize()
    if plan.lost_messages:
        yield f"{_span(plan.lost_messages)}: removed from the history".capitalize()
    if plan.lost_requests:
        first, last = plan.lost_requests.start + 1, plan.lost_requests.stop
        which = f"Request {first}" if first == last else f"Requests {first}{DASH}{last}"
        yield f"{which}: removed from the timeline"
    for update in plan.removed_updates:
        what = one_line(update.text, 60)
        place = f"message {update.message}, block {update.block}"
        yield f"Update on {place}: {OPEN_QUOTE}{what}{CLOSE_QUOTE}"
    yield from _lost_points(plan.lost_checkpoints)


def _lost_points(points: tuple[Checkpoint, ...]) -> Iterator[str]:
    """Points with words of their own one by one, all others in one line."""
    named = [point for point in points if _has_name(point)]
    for point in named:
        yield f"{point.kind.value.capitalize()} {OPEN_QUOTE}{one_line(point.title, 60)}{CLOSE_QUOTE}"
    nameless = [point for point in points if not _has_name(point)]
    if nameless:
        first, last = nameless[0].request, nameless[-1].request
        which = counted(len(nameless), "checkpoint")
        if first is None or last is None:
            yield which.capitalize()
        elif first == last:
            yield f"{which} after request {first + 1:,}"
        else:
            yield f"{which} after requests {first + 1:,}{DASH}{last + 1:,}"


def _has_name(point: Checkpoint) -> bool:
    title = one_line(point.title, 60)
    return bool(title) and title.lower() != point.kind.value


def _comes_back(plan: Plan) -> Iterator[str]:
    before, after = plan.before.hidden, plan.after.hidden
    stop = min(before.stop, plan.after.until)
    back = range(after.stop if after else before.start, stop)
    if before and back:
        yield f"{_span(back)}: sent again".capitalize()
    restored = plan.removed_updates and sorted({update.message for update in plan.removed_updates} & set(_sent(plan)))
    if restored:
        yield "Text as stored in message" + ("s " if len(restored) > 1 else " ") + _some(restored)


def _sent(plan: Plan) -> Iterator[int]:
    after = plan.after
    yield from range(min(after.first_pair, after.until))
    yield from range(max(after.resume, after.first_pair), after.until)


def _some(numbers: list[int], limit: int = 12) -> str:
    shown = ", ".join(str(number) for number in numbers[:limit])
    return shown if len(numbers) <= limit else f"{shown} and {len(numbers) - limit} more"


def _file_line(effect: FileEffect, size: int | None) -> str:
    name = effect.path.name
    if effect.role is FileRole.INDEX:
        what = (
            "only the entry of this task is written" if effect.content is not None else "this task's entry is removed"
        )
        return f"{name}: {what}"
    if effect.content is None:
        return f"{name}: removed"
    now = byte_size(len(effect.content))
    return f"{name}: {byte_size(size)} → {now}" if size is not None else f"{name}: new, {now}"
