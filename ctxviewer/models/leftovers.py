"""What can be read of a task whose messages are gone: its display timeline as one text. No Qt."""

from __future__ import annotations

from typing import Final, NamedTuple

from ctxviewer.domain.json import Json, as_text, is_object
from ctxviewer.domain.log import JsonLog
from ctxviewer.domain.snapshot import Snapshot, UiEntry
from ctxviewer.models.listing import stamp
from ctxviewer.models.numbers import grouped
from ctxviewer.models.visible import LINE_BREAK, make_visible
from ctxviewer.sources.rawjson import decode

ENTRY_LIMIT: Final = 20_000
"""Characters of one entry's text."""
LIMIT: Final = 2_000_000
"""Characters of the whole."""


class Leftovers(NamedTuple):
    """The text, and what it holds."""

    text: str
    """Control characters are spelt out."""
    shown: int
    """So many entries, from the first one on."""
    entries: int


def leftovers(snapshot: Snapshot) -> Leftovers:
    """Every entry with its time, kind and text. What is left out of a long one is told in its place."""
    parts: list[str] = []
    size = shown = 0
    for entry in snapshot.ui:
        if size > LIMIT:
            parts.append(f"… {grouped(len(snapshot.ui) - shown)} more in the file")
            break
        part = f"{_head(entry)}\n{_body(snapshot.ui_items, entry)}".rstrip()
        parts.append(part)
        size, shown = size + len(part), shown + 1
    return Leftovers("\n\n".join(parts), shown, len(snapshot.ui))


def _head(entry: UiEntry) -> str:
    words = (stamp(entry.ts), f"{entry.type} {entry.kind}".strip(), "not finished" if entry.partial else "")
    return "── " + " · ".join(word for word in (f"entry {entry.index}", *words) if word)


def _body(items: JsonLog, entry: UiEntry) -> str:
    item = items[entry.index]
    text = as_text(item.get("text")) if is_object(item) else ""
    if entry.kind == "api_req_started":
        text = _request_text(text)
    left = len(text) - ENTRY_LIMIT
    more = f"\n… {grouped(left)} more characters in the file" if left > 0 else ""
    return make_visible(text[:ENTRY_LIMIT]).text.replace(LINE_BREAK, "\n") + more


def _request_text(text: str) -> str:
    """The words of a request, without its numbers: the graph has them."""
    value: Json = decode(text.encode("utf-8", "surrogatepass"))
    return as_text(value.get("request")) or text if is_object(value) else text
