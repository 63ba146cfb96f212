"""A document as one HTML file: no script, nothing loaded from anywhere, every text escaped, light and dark.

A browser changes some characters of a file while it reads it (line ends, NUL). They are written so that what a reader
copies from the page is the original text; halves of surrogate pairs, which no file can hold, stand as U+FFFD with a
title that names them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from ctxviewer.domain.projection import BlockChange, Standing
from ctxviewer.domain.request import Request
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped
from ctxviewer.exports.document import BlockText, Document, MessageText, Stretch, made_by

_ODD = re.compile("[\\x00\\r\ud800-\udfff]")
_MARKS = {
    BlockChange.REWRITTEN: "rewritten",
    BlockChange.ADDED: "made up by a repair",
    BlockChange.MOVED: "moved by a repair",
    BlockChange.REMOVED: "left out",
}
_CLASSES = {
    BlockChange.REWRITTEN: "rewritten",
    BlockChange.ADDED: "repaired",
    BlockChange.MOVED: "repaired",
    BlockChange.REMOVED: "removed",
}

STYLE = """
:root { color-scheme: light dark;
  --ground: #f7f7f5; --surface: #fff; --line: #e2e1dc; --text: #1d1e20; --muted: #585a56; --accent: #2f62e0;
  --hatch: #dad8d1; --hidden: #f1f0ec; --hidden-text: #6a6a68; --later: #6e6f6d;
  --rewritten: #8f5400; --rewritten-ground: #fff5de; --repaired: #0b6b5f; --repaired-ground: #e2f4f0;
  --event: #b4380f; --user: #dce6fd; --assistant: #e8e2f8; --bar: #6c8fea; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #17181b; --surface: #1e2024; --line: #34373d; --text: #e8e9ea; --muted: #a9adb3; --accent: #7ba0ff;
  --hatch: #303338; --hidden: #191a1d; --hidden-text: #95979b; --later: #909398;
  --rewritten: #f0b95a; --rewritten-ground: #2e2617; --repaired: #5ccbb9; --repaired-ground: #15302c;
  --event: #ff9068; --user: #24345a; --assistant: #352c55; --bar: #5576be; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--ground); color: var(--text);
  font: 14px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; margin: 0 0 .25rem; } h2 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
.where, dt, .role small, footer { color: var(--muted); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; } dd { margin: 0; }
ul { margin: .25rem 0; padding-left: 1.25rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .1rem .75rem .1rem 0; text-align: right; border-bottom: 1px solid var(--line); font-weight: normal; }
th { color: var(--muted); } td:last-child, th:last-child { text-align: left; }
.bar { display: inline-block; height: .6rem; background: var(--bar); }
article { background: var(--surface); border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0;
  padding: .5rem .75rem; }
.role { font-weight: 600; } .role b { padding: 0 .4rem; border-radius: 4px; background: var(--assistant); }
.role b.user { background: var(--user); }
.text { font: 12px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: .25rem 0; }
.block { border-left: 4px solid transparent; padding-left: .5rem; margin: .25rem 0; }
.block > small { color: var(--muted); }
.block.rewritten { border-color: var(--rewritten); background: var(--rewritten-ground); }
.block.rewritten > small { color: var(--rewritten); }
.block.repaired { border-color: var(--repaired); background: var(--repaired-ground); }
.block.repaired > small { color: var(--repaired); }
.block.removed { border-left-style: dashed; border-color: var(--repaired); opacity: .75; }
.block.removed > small { color: var(--repaired); } .block.removed > .text { text-decoration: line-through; }
.stretch { color: var(--event); font-weight: 600; margin: 1rem 0 .25rem; }
.notsent { color: var(--hidden-text); background: repeating-linear-gradient(45deg, var(--hidden) 0 6px,
  var(--hatch) 6px 8px); }
.notsent > div { background: var(--hidden); padding: .25rem .5rem; border-radius: 4px; }
.later { color: var(--later); }
summary { cursor: pointer; color: var(--accent); }
"""


def to_html(document: Document) -> Iterator[str]:
    """The file in pieces; joined they are one HTML page that can be encoded as UTF-8."""
    title = escaped(document.title)
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f'<p class="where">{escaped(document.where)}</p>\n'
    )
    yield from _head(document)
    yield "<h2>Messages</h2>\n"
    open_standing: Standing | None = None
    close_at = -1
    for item in document.messages():
        if isinstance(item, Stretch):
            if open_standing is not None:
                yield "</details>\n"
            opened = " open" if document.whole else ""
            yield f'<details{opened}><summary class="stretch">{escaped(item.sentence)}</summary>\n'
            open_standing, close_at = item.standing, item.last
            continue
        yield from _message(item)
        if open_standing is not None and item.number == close_at:
            yield "</details>\n"
            open_standing = None
    if open_standing is not None:
        yield "</details>\n"
    yield f"<footer><p>{escaped(made_by(document.mask))}</p></footer>\n</body>\n</html>\n"


def escaped(text: str) -> str:
    """The text for a page: markup characters as references, so that a browser shows and copies the very same text."""
    return _ODD.sub(_odd, html.escape(text, quote=True))


def _odd(found: re.Match[str]) -> str:
    sign = found[0]
    if sign == "\r":
        return "&#13;"
    return f'<span class="odd" title="U+{ord(sign):04X}">\N{REPLACEMENT CHARACTER}</span>'


def _head(document: Document) -> Iterator[str]:
    yield "<dl>\n"
    for name, value in document.facts:
        yield f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>\n"
    yield "</dl>\n"
    for heading, lines in (("Why", document.why), ("Events", document.events), ("Findings", document.findings)):
        if lines:
            yield f"<h2>{heading}</h2>\n<ul>\n"
            yield from (f"<li>{escaped(line)}</li>\n" for line in lines)
            yield "</ul>\n"
    yield from _usage(document.timeline, document.projection.request)


def _usage(timeline: Timeline, chosen: int | None) -> Iterator[str]:
    """A row for each request with what it reported, and a bar."""
    rows = [request for request in timeline.requests if request.usage_reported]
    if not rows:
        return
    largest = max(*(request.usage.total for request in rows), 1)
    events: dict[int | None, list[str]] = {}
    for event in timeline.events:
        events.setdefault(event.request, []).append(str(event.kind))
    yield "<h2>Usage, as reported</h2>\n<details><summary>Every request</summary>\n<table>\n<tr>"
    yield "".join(
        f"<th>{name}</th>" for name in ("request", "input", "cache read", "cache write", "output", "total", "")
    )
    yield "</tr>\n"
    for request in rows:
        yield _row(request, largest, events.get(request.number, []), chosen == request.number)
    yield "</table>\n</details>\n"


def _row(request: Request, largest: float, events: list[str], chosen: bool) -> str:
    usage = request.usage
    numbers = (usage.tokens_in, usage.cache_reads, usage.cache_writes, usage.tokens_out, usage.total)
    cells = "".join(f"<td>{grouped(number)}</td>" for number in numbers)
    width = 100 * max(usage.total, 0) / largest
    marks = escaped(", ".join((*events, *(["shown here"] if chosen else []))))
    bar = f'<span class="bar" style="width:{width:.1f}px"></span> {marks}'
    return f"<tr><td>{request.number + 1}</td>{cells}<td>{bar}</td></tr>\n"


def _message(message: MessageText) -> Iterator[str]:
    standing = {Standing.NOT_SENT: " notsent", Standing.LATER: " later"}.get(message.standing, "")
    words = f" · {message.standing}" if message.standing is not Standing.SENT else ""
    role = "user" if message.role == "user" else "other"
    yield f'<article class="message{standing}" id="m{message.number}">'
    yield f'<div><div class="role">{message.number} <b class="{role}">{escaped(message.role)}</b>'
    yield f"<small>{words}</small></div>\n"
    for block in message.blocks:
        yield _block(block)
    yield "</div></article>\n"


def _block(block: BlockText) -> str:
    mark = f" · {_MARKS[block.change]}" if block.change in _MARKS else ""
    label = f": {block.label}" if block.label else ""
    kind = _CLASSES.get(block.change, "")
    stored = ""
    if block.stored is not None:
        stored = (
            f'<details><summary>as stored</summary><div class="text stored">{escaped(block.stored)}</div></details>'
        )
    return (
        f'<div class="block {kind}"><small>{escaped(block.title + mark + label)}</small>'
        f'<div class="text shown">{escaped(block.text)}</div>{stored}</div>\n'
    )
