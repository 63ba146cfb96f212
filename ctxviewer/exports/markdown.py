"""A document as Markdown. Every text of the task stands in a fence that is longer than any run of backticks in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxviewer.domain.projection import BlockChange, Standing
from ctxviewer.exports.document import BlockText, Document, MessageText, Stretch, made_by

_SPECIAL = re.compile(r"([\\`*_\[\]<>#!|~&]|^[-+](?=\s|$)|(?<=^\d)[.)])")
_TICKS = re.compile("`{3,}")
_MARKS = {
    BlockChange.REWRITTEN: "rewritten",
    BlockChange.ADDED: "made up by a repair",
    BlockChange.MOVED: "moved by a repair",
    BlockChange.REMOVED: "left out by a repair",
}


def to_markdown(document: Document) -> Iterator[str]:
    """The file in pieces. Halves of surrogate pairs stay in it: encode with `backslashreplace`."""
    yield f"# {inline(document.title)}\n\n{inline(document.where)}\n\n"
    for name, value in document.facts:
        yield f"- **{inline(name)}**: {inline(value)}\n"
    for heading, lines in (("Why", document.why), ("Events", document.events), ("Findings", document.findings)):
        if lines:
            yield f"\n## {heading}\n\n"
            yield from (f"- {inline(line)}\n" for line in lines)
    yield "\n## Messages\n"
    for item in document.messages():
        if isinstance(item, Stretch):
            yield f"\n> **{inline(item.sentence)}**\n"
        else:
            yield from _message(item)
    yield f"\n---\n\n{inline(made_by(document.mask))}\n"


def inline(text: str) -> str:
    """A text for one line of Markdown, as it is: signs with a meaning are escaped, line ends become blanks."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def fenced(text: str) -> str:
    """The text in a fence of its own. One line end is added; the text itself is not changed."""
    longest = max((len(found[0]) for found in _TICKS.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}\n"


def _message(message: MessageText) -> Iterator[str]:
    standing = "" if message.standing is Standing.SENT else f" ({message.standing})"
    yield f"\n### {message.number} {inline(message.role)}{standing}\n"
    for block in message.blocks:
        yield from _block(block)


def _block(block: BlockText) -> Iterator[str]:
    mark = f", **{_MARKS[block.change]}**" if block.change in _MARKS else ""
    label = f" ({inline(block.label)})" if block.label else ""
    yield f"\n{inline(block.title)}{mark}{label}\n\n{fenced(block.text)}"
    if block.stored is not None:
        yield f"\nas stored\n\n{fenced(block.stored)}"
