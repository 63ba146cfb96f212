"""From the blocks of a message to what is shown of it: as sent, as stored, or the difference of the two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ctxviewer.domain.json import Json, as_text, is_object
from ctxviewer.domain.message import Block, BlockKind
from ctxviewer.domain.projection import BlockChange, SentBlock
from ctxviewer.domain.view import TextMode
from ctxviewer.engine.line_difference import Run, Side, line_difference
from ctxviewer.models.left_out import is_left_out
from ctxviewer.models.numbers import byte_size
from ctxviewer.models.segments import Body, Section, Style
from ctxviewer.models.visible import one_line

NOT_ALIGNED = "These texts are too large to be aligned in full: some of the difference is shown as whole replacements."

_TELLING = ("path", "file_path", "command", "url", "query", "regex", "pattern", "question")
"""Inputs of a call that say best what it is about, the best first."""

_STYLES = {
    BlockChange.SAME: Style.PLAIN,
    BlockChange.REWRITTEN: Style.REWRITTEN,
    BlockChange.ADDED: Style.REPAIRED,
    BlockChange.MOVED: Style.REPAIRED,
    BlockChange.REMOVED: Style.REMOVED,
}
_SIDES = {Side.BOTH: Style.PLAIN, Side.OLD: Style.DELETED_LINES, Side.NEW: Style.ADDED_LINES}


def note_of(block: SentBlock) -> str:
    """What happened to a block, with its rule: 'rewritten: truncation notice'; '' when there is nothing to say."""
    if block.change is BlockChange.SAME:
        return block.label
    if is_left_out(block):
        return f"not sent: {block.label}"
    word = "rewritten" if block.change is BlockChange.REWRITTEN else "repaired"
    return f"{word}: {block.label}" if block.label else word


def heading_of(block: Block) -> str:
    """What a block is, for the line above its text; '' for plain words."""
    match block.kind:
        case BlockKind.TEXT:
            return ""
        case BlockKind.TOOL_USE:
            return f"call {call_title(block)}"
        case BlockKind.TOOL_RESULT:
            failed = is_object(block.raw) and block.raw.get("is_error") is True
            return "tool result, an error" if failed else "tool result"
        case BlockKind.OTHER:
            return f"{one_line(block.name, 60)}, shown as JSON" if block.name else "no known kind, shown as JSON"
        case _:
            return str(block.kind)


def call_title(block: Block) -> str:
    """A call in a few words: 'read_file src/a.py'."""
    name = one_line(block.name, 60) or "without a name"
    given = block.raw.get("input") if is_object(block.raw) else None
    if not is_object(given):
        return name
    texts = [given[key] for key in _TELLING if isinstance(given.get(key), str)]
    telling = next((text for text in (*texts, *given.values()) if isinstance(text, str) and text.strip()), "")
    return f"{name} {one_line(telling, 80)}" if telling else name


def shown_text(block: Block) -> str:
    """The text of a block as shown. A picture is never drawn: its kind and size stand for it."""
    if block.kind not in {BlockKind.IMAGE, BlockKind.DOCUMENT} or not is_object(block.raw):
        return block.text
    source = block.raw.get("source")
    return f"[{_attachment(str(block.kind), source)}]"


def _attachment(kind: str, source: Json) -> str:
    if not is_object(source):
        return f"{kind} without a source"
    media = one_line(as_text(source.get("media_type")), 60)
    data = source.get("data")
    words = [media or kind]
    if isinstance(data, str):
        is_text = source.get("type") == "text"
        words.append(byte_size(len(data) if is_text else len(data.rstrip("=")) * 3 // 4))
    elif isinstance(source.get("url"), str):
        words.append(one_line(as_text(source["url"]), 200))
    return f"{', '.join(words)} – not shown"


def preview_of(blocks: Iterable[SentBlock], limit: int) -> str:
    """The first words of a message as sent, on one line: '[read_file src/a.py]' for a call without words."""
    calls: list[str] = []
    for item in blocks:
        block = item.sent if item.sent is not None else item.stored
        if block is None:
            continue
        if block.kind is BlockKind.TOOL_USE:
            calls.append(f"[{call_title(block)}]")
            continue
        words = one_line(shown_text(block), limit)
        if words:
            return " ".join((*calls, words))[: limit + 1]
    return " ".join(calls)[: limit + 1]


def make_body(blocks: tuple[SentBlock, ...], mode: TextMode) -> Body:
    """What is shown of a message."""
    if mode is TextMode.AS_STORED:
        stored = [block for block in blocks if block.stored is not None]
        stored.sort(key=lambda block: block.stored.index if block.stored is not None else 0)
        return Body(tuple(_stored_section(block) for block in stored))
    if mode is TextMode.DIFFERENCE:
        return _difference_body(blocks)
    return Body(tuple(_sent_section(block) for block in blocks))


def _sent_section(block: SentBlock) -> Section:
    """A block as sent; one that is left out stays in its place, marked."""
    shown = block.sent if block.sent is not None else block.stored
    if shown is None:
        return Section("", note=note_of(block))
    number = block.stored.index if block.stored is not None else shown.index
    style = Style.LEFT_OUT if is_left_out(block) else _STYLES[block.change]
    return Section(shown_text(shown), style, heading=heading_of(shown), note=note_of(block), block=number)


def _stored_section(block: SentBlock) -> Section:
    stored = block.stored
    if stored is None:
        return Section("")
    note = note_of(block)
    return Section(
        shown_text(stored), heading=heading_of(stored), note=f"{note} · as stored" if note else "", block=stored.index
    )


def _difference_body(blocks: tuple[SentBlock, ...]) -> Body:
    sections: list[Section] = []
    aligned = True
    for block in blocks:
        if block.change is not BlockChange.REWRITTEN or block.sent is None or block.stored is None:
            sections.append(_whole_section(block))
            continue
        difference = line_difference(shown_text(block.stored), shown_text(block.sent))
        aligned = aligned and difference.aligned
        sections += _runs(block, block.stored, difference.runs)
    return Body(tuple(sections), "" if aligned else NOT_ALIGNED)


def _whole_section(block: SentBlock) -> Section:
    """A block that is the same, or all new, or all gone."""
    made = _sent_section(block)
    if block.change is BlockChange.ADDED:
        return Section(made.text, Style.ADDED_LINES, heading=made.heading, note=made.note, block=made.block)
    if block.change is BlockChange.REMOVED:
        return Section(made.text, Style.DELETED_LINES, heading=made.heading, note=made.note, block=made.block)
    return made


def _runs(block: SentBlock, stored: Block, runs: Sequence[Run]) -> Iterator[Section]:
    returns = _only_returns_differ(runs)
    empty = True
    for run in runs:
        first, empty = empty, False
        yield Section(
            run.text,
            _SIDES[run.side],
            heading=heading_of(stored) if first else "",
            note=note_of(block) if first else "",
            block=stored.index,
            continued=not first,
            returns=returns and run.side is not Side.BOTH,
        )
    if empty:
        yield Section("", heading=heading_of(stored), note=note_of(block), block=stored.index)


def _only_returns_differ(runs: Sequence[Run]) -> bool:
    """True when a line stands on both sides of a difference but for the carriage return at its end."""
    old, new = (
        {line for run in runs if run.side is side for line in run.text.split("\n")} for side in (Side.OLD, Side.NEW)
    )
    changed = (old ^ new) - {""}
    return any(line.endswith("\r") and line[:-1] in changed for line in changed)
