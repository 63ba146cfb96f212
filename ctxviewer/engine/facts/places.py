"""Files and messages: which places carry them in which requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from ctxviewer.domain.projection import BlockChange
from ctxviewer.engine.contents import FilePlace, holds
from ctxviewer.engine.facts.values import Carrier, Found, MessageQuestion, Part
from ctxviewer.engine.facts.words import EVERY, as_sent
from ctxviewer.engine.past import Past
from ctxviewer.engine.presence import Presence
from ctxviewer.engine.search import BadQuestionError
from ctxviewer.engine.spans import Span, merged
from ctxviewer.engine.words import plural

MOST_PATHS: Final = 5
"""Paths that a sentence lists."""


def _never() -> None:
    return None


def known_path(past: Past, path: str, check: Callable[[], None] = _never) -> str:
    """The path as the conversation names it: the very one, or the only one that ends like it."""
    if not path.strip():
        raise BadQuestionError("There is nothing to look for.", hint="Give the path of a file.")
    contents = past.contents(check)
    if path in contents.files:
        return path
    tail = "/" + path.replace("\\", "/").removeprefix("./").lstrip("/")
    fitting = [known for known in contents.files if ("/" + known.replace("\\", "/")).endswith(tail)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise BadQuestionError(f"{path} may be {_listed(fitting)}.", hint="Give more of the path.")
    if path in contents.edits:
        raise BadQuestionError(f"{path} was edited, but its content never stood in the conversation.")
    name = path.replace("\\", "/").rpartition("/")[2]
    like = [known for known in contents.files if name and name in known]
    hint = f"There is {_listed(like)}." if like else "Paths are those that tool results and mentions name."
    raise BadQuestionError(f"The content of {path} never stood in the conversation.", hint=hint)


def _listed(paths: list[str]) -> str:
    return ", ".join(paths[:MOST_PATHS]) + (" …" if len(paths) > MOST_PATHS else "")


def find_file(past: Past, places: Iterable[FilePlace], check: Callable[[], None]) -> Found:
    """Every place of a file that was sent."""
    presence = past.presence(check)
    found = Found([], [], [])
    for count, place in enumerate(places):
        if count % EVERY == 0:
            check()
        spans = held_in(presence, place)
        if spans:
            size = f"{plural(place.end - place.start, 'character')}"
            found.carriers.append(Carrier(place.message, place.block, str(place.kind), spans, size))
        else:
            found.never_sent.append(place.message)
    return found


def held_in(presence: Presence, place: FilePlace) -> tuple[Span, ...]:
    """Columns that send the content of a place."""
    return merged(
        span
        for form in presence.forms(place.message)
        if presence.untouched(form) or holds(place, presence.blocks(form))
        for span in form.spans
    )


def find_message(past: Past, question: MessageQuestion) -> Found:
    """A message or a block, whole or in part. BadQuestionError if there is none."""
    presence = past.presence()
    if not 0 <= question.message < len(presence):
        raise BadQuestionError(f"There is no message {question.message}; the history has {len(presence)}, from 0.")
    message = past.timeline.message(question.message)
    if question.block is not None and not 0 <= question.block < len(message.blocks):
        raise BadQuestionError(
            f"There is no block {question.block} in message {question.message}; it has {len(message.blocks)}, from 0."
        )
    found = Found([], [], [])
    whole: list[Span] = []
    for form in presence.forms(question.message):
        blocks = [
            block
            for block in as_sent(presence, form, message.blocks)
            if block.stored is not None and question.block in {None, block.stored.index}
        ]
        changed = [block for block in blocks if block.change in {BlockChange.REWRITTEN, BlockChange.REMOVED}]
        if not changed:
            whole.extend(form.spans)
        elif any(block.sent is not None for block in blocks):
            labels = ", ".join(dict.fromkeys(block.label for block in changed if block.label))
            share = 1 - len(changed) / len(blocks)
            found.parts.append(Part(question.message, question.block, labels, share, form.spans))
    if whole:
        found.carriers.append(Carrier(question.message, question.block, message.role, merged(whole)))
    elif not found.parts:
        found.never_sent.append(question.message)
    return found
