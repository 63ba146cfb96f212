"""What is odd inside the timeline and among the updates, as findings. Each code once, with the first place."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.json import Json, as_int
from ctxviewer.domain.snapshot import UiEntry
from ctxviewer.sources.cline import layout
from ctxviewer.sources.cline.checks import count, place_of
from ctxviewer.sources.cline.entries import Read
from ctxviewer.sources.cline.history import block_count
from ctxviewer.sources.cline.kinds import KNOWN_ASK, KNOWN_SAY
from ctxviewer.sources.cline.requests import Oddity
from ctxviewer.sources.rawjson import DamageKind, scan_array, whole_number
from ctxviewer.sources.rawlog import RawLog


def entry_findings(
    name: str, reads: Sequence[Read], ui: Sequence[UiEntry], odd: Sequence[Oddity], length: int | None
) -> tuple[Finding, ...]:
    """Wrong types, unknown kinds, repeated times, unusable numbers, message numbers that do not exist.

    `reads` and `odd` may leave out leading entries that are known to be in order. `length`: stored messages, if known.
    """
    return tuple(
        finding
        for finding in (
            _wrong_types(name, reads),
            _unknown_kinds(name, ui),
            _repeated_times(name, ui),
            _unusable_numbers(name, odd),
            _ahead(name, ui, length),
        )
        if finding is not None
    )


def _wrong_types(name: str, reads: Sequence[Read]) -> Finding | None:
    wrong = [read for read in reads if read.odd]
    if not wrong:
        return None
    first = wrong[0]
    return Finding(
        "entry-odd",
        Severity.WARNING,
        f"{name} has {count(len(wrong), 'odd entry', 'odd entries')}; of item {first.entry.index}, {first.odd}.",
        name,
        f"item {first.entry.index}",
        "It is shown as far as it can be read.",
    )


def _unknown_kinds(name: str, ui: Sequence[UiEntry]) -> Finding | None:
    unknown = Counter(f"{entry.type}:{entry.kind}" for entry in ui if _is_unknown(entry))
    if not unknown:
        return None
    kinds = ", ".join(f"{kind} ({number})" for kind, number in sorted(unknown.items()))
    sentence = f"{name} has entries of kinds that are not known: {kinds}."
    return Finding("kind-unknown", Severity.INFO, sentence, name, advice="They are shown as plain text.")


def _is_unknown(entry: UiEntry) -> bool:
    known = {"say": KNOWN_SAY, "ask": KNOWN_ASK}.get(entry.type)
    return known is not None and bool(entry.kind) and entry.kind not in known


def _repeated_times(name: str, ui: Sequence[UiEntry]) -> Finding | None:
    seen: set[int] = set()
    again: list[UiEntry] = []
    for entry in ui:
        if entry.ts in seen:
            again.append(entry)
        elif entry.ts:
            seen.add(entry.ts)
    if not again:
        return None
    first = again[0]
    return Finding(
        "timestamp-repeated",
        Severity.INFO,
        f"In {name} {count(len(again), 'entry has', 'entries have')} the time of an earlier one, first {first.ts}.",
        name,
        f"item {first.index}",
        "The agent takes the first entry of a time when it rolls back.",
    )


def _unusable_numbers(name: str, odd: Sequence[Oddity]) -> Finding | None:
    if not odd:
        return None
    return Finding(
        "usage-unreadable",
        Severity.WARNING,
        f"{name} has {count(len(odd), 'request')} with unusable numbers; of item {odd[0].ui_index}, {odd[0].reason}.",
        name,
        f"item {odd[0].ui_index}",
        "What cannot be used counts as 0.",
    )


def _ahead(name: str, ui: Sequence[UiEntry], length: int | None) -> Finding | None:
    highest = max((entry.last_message for entry in ui if entry.last_message is not None), default=None)
    if length is None or highest is None or highest < length:
        return None
    return Finding(
        "timeline-ahead",
        Severity.WARNING,
        f"{name} speaks of message {highest}, but {layout.API} holds only {count(length, 'message')}.",
        name,
        advice="The agent stopped between writing the two files, or one of them was replaced.",
    )


def update_findings(data: bytes, messages: RawLog | None) -> tuple[Finding, ...]:
    """What is odd about context_history.json, `data` as read: not readable, or updates on what does not exist."""
    log = RawLog(data, scan_array(data))
    damage = next((one for one in log.damage if one.kind is not DamageKind.NOT_UTF8), None)
    if damage is not None:  # the agent's strict reader throws
        return (
            Finding(
                "updates-unreadable",
                Severity.WARNING,
                f"{layout.UPDATES} does not hold a list of updates: {damage.reason}.",
                layout.UPDATES,
                place_of(damage),
                "The agent takes that as no updates, and so does ctxviewer; the next one overwrites the file.",
            ),
        )
    shapes = [_shape(entry) for entry in log]
    found: list[Finding] = []
    odd = [number for number, (entry, shape) in enumerate(zip(log, shapes, strict=True)) if not _regular(entry, shape)]
    if odd:
        items = "1 item that is no update" if len(odd) == 1 else f"{len(odd)} items that are no updates"
        sentence = f"{layout.UPDATES} has {items}, first item {odd[0]}."
        found.append(_update_finding("update-odd", sentence, f"item {odd[0]}", _UNAPPLIED))
    if messages is not None:
        dangling = [place for shape in shapes if shape is not None for place in _dangling(shape, messages)]
        if dangling:
            sentence = (
                f"{layout.UPDATES} has {count(len(dangling), 'update')} on what does not exist, first {dangling[0]}."
            )
            found.append(_update_finding("update-dangling", sentence, dangling[0], _NO_EFFECT))
    return tuple(found)


_NO_EFFECT = "It is kept, and has no effect as long as there is nothing in that place."
_UNAPPLIED = (
    "It is kept and not applied. Where it is the newest of a block, the agent applies no older one there either."
)


def _update_finding(code: str, sentence: str, place: str, advice: str) -> Finding:
    return Finding(code, Severity.WARNING, sentence, layout.UPDATES, place, advice)


def metadata_finding(data: bytes) -> Finding:
    """What is wrong with a task_metadata.json, `data` as read, that `decode` makes no object of."""
    reason, at = _no_object(data)
    return Finding(
        "metadata-unreadable",
        Severity.WARNING,
        f"{layout.METADATA} does not hold a JSON object: {reason}.",
        layout.METADATA,
        f"byte {at}",
        "Files in context and model changes are not shown. The agent starts a new one.",
    )


def _no_object(data: bytes) -> tuple[str, int]:
    """Why these bytes are no object, and at which byte that shows."""
    if not data.strip(b"\0 \t\r\n"):
        return "the file is empty", 0
    text = data.decode("utf-8", "replace")
    try:
        json.loads(text.removeprefix("\ufeff"), strict=False, parse_int=whole_number)
    except json.JSONDecodeError as error:
        marked = len(text) - len(text.removeprefix("\ufeff"))
        at = len(text[: error.pos + marked].encode())
        return f"it is no JSON at byte {at}", at
    except RecursionError:
        return "it is nested too deeply to be read", 0
    return "it holds no object", 0


def _shape(entry: Json) -> tuple[int, tuple[int, ...]] | None:
    """(message, block numbers) of one item of the updates; None when the item makes no sense."""
    if not isinstance(entry, list) or len(entry) < 2 or not isinstance(entry[1], list) or len(entry[1]) < 2:
        return None
    message, listed = as_int(entry[0]), entry[1][1]
    if message is None or not isinstance(listed, list):
        return None
    blocks = (as_int(block[0]) for block in listed if isinstance(block, list) and block)
    return message, tuple(number for number in blocks if number is not None)


def _regular(entry: Json, shape: tuple[int, tuple[int, ...]] | None) -> bool:
    """True when all that an item lists for its blocks are updates as the agent writes them."""
    if shape is None or not isinstance(entry, list) or not isinstance(entry[1], list):
        return False
    listed = entry[1][1]
    blocks = listed if isinstance(listed, list) else []
    return len(shape[1]) == len(blocks) and all(
        isinstance(block, list)
        and len(block) > 1
        and isinstance(block[1], list)
        and all(_is_text_update(change) for change in block[1])
        for block in blocks
    )


def _is_text_update(change: Json) -> bool:
    if not isinstance(change, list) or len(change) < 3 or change[1] != "text":
        return False
    texts = change[2]
    return isinstance(texts, list) and bool(texts) and isinstance(texts[0], str)


def _dangling(shape: tuple[int, tuple[int, ...]], messages: RawLog) -> Iterator[str]:
    message, blocks = shape
    if not 0 <= message < len(messages):
        yield f"message {message}"
        return
    have = block_count(messages, message)
    yield from (f"message {message} block {block}" for block in blocks if not 0 <= block < have)
