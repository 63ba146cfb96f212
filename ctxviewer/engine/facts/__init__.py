"""The fact tracker: in which requests some words, a file or a message were sent, what took them away, what came back.

A fact's answer follows the forms in which messages were sent (see `presence`), so that each text is looked at once,
however many requests sent it.
"""

from __future__ import annotations

from collections.abc import Callable

from ctxviewer.engine.facts.places import find_file, find_message, held_in, known_path
from ctxviewer.engine.facts.turns import answer
from ctxviewer.engine.facts.values import (
    Carrier,
    Fact,
    FileQuestion,
    MessageQuestion,
    Part,
    Question,
    Sending,
    Turn,
    TurnKind,
)
from ctxviewer.engine.facts.words import AROUND, find_text, longest_part
from ctxviewer.engine.past import Past
from ctxviewer.engine.search import BadQuestionError, TextQuestion

__all__ = [
    "BadQuestionError",
    "Carrier",
    "Fact",
    "FileQuestion",
    "MessageQuestion",
    "Part",
    "Question",
    "Sending",
    "TextQuestion",
    "Turn",
    "TurnKind",
    "held_in",
    "known_path",
    "longest_part",
    "track",
]


def _never() -> None:
    return None


def track(past: Past, question: Question, check: Callable[[], None] = _never) -> Fact:
    """Everything about one fact. `check` is called every 64 messages and may raise to cancel.

    BadQuestionError for a question that cannot be asked: an empty text, a bad pattern, a file that the conversation
    does not hold, a message that does not exist.
    """
    match question:
        case TextQuestion():
            return answer(past, question, _quoted(question.text), find_text(past, question, check))
        case FileQuestion():
            path = known_path(past, question.path, check)
            return answer(past, question, path, find_file(past, past.contents(check).files[path], check))
        case MessageQuestion():
            where = f"message {question.message}"
            title = where if question.block is None else f"block {question.block} of {where}"
            return answer(past, question, title, find_message(past, question))


def _quoted(text: str) -> str:
    flat = " ".join(text.split())
    short = flat if len(flat) <= AROUND else flat[: AROUND - 1] + "…"
    return f"\N{LEFT DOUBLE QUOTATION MARK}{short}\N{RIGHT DOUBLE QUOTATION MARK}"
