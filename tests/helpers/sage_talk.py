"""A tiny language for Sage's lists: `talk("s:sys. u:aaaa a:bbbb B:old")` is a system, user, assistant message, a boundary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctxviewer.engine.sage.message import Role, SageMessage

LETTERS = {"s": Role.SYSTEM, "u": Role.USER, "a": Role.ASSISTANT, "t": Role.TOOL, "e": Role.ERROR}


def talk(text: str) -> list[SageMessage]:
    """Messages as `letter:content`, separated by blanks; `u:4*x` repeats x four times; B is a boundary."""
    return [_message(word) for word in text.split()]


def _message(word: str) -> SageMessage:
    letter, _, content = word.partition(":")
    times, star, unit = content.partition("*")
    if star:
        content = unit * int(times)
    if letter == "B":
        return SageMessage(Role.ASSISTANT, content, metadata={"compact_boundary": True})
    return SageMessage(LETTERS[letter], content)


def spell(messages: Sequence[SageMessage]) -> str:
    """The letters of a list: `talk("s:x u:y B:z")` gives "s u B"."""
    names = {role: letter for letter, role in LETTERS.items()}
    return " ".join(
        "B" if message.metadata.get("compact_boundary") is True else names[message.role] for message in messages
    )


class Maker:
    """Makes a new text at each call, and remembers how often it was called."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        return f"{self.name} {self.calls}"


class StubModel:
    """Answers always the same, or raises it; remembers the prompts."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def makers() -> dict[str, Callable[[], str]]:
    """The time and id arguments that every compaction takes."""
    return {"now": Maker("time"), "new_id": Maker("id")}
