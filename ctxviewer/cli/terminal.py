"""Where a command reads and writes, and how it ends."""

from __future__ import annotations

import json
from typing import IO

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.json import Json

DONE, FINDING, UNUSABLE, UNREADABLE = range(4)


class UsageError(CtxError):
    """Arguments that cannot be used."""


class Terminal:
    """Where a command reads and writes. `ask` is False where nobody can answer."""

    def __init__(self, out: IO[str], err: IO[str], source: IO[str]) -> None:
        self.out, self.err, self.source = out, err, source

    def say(self, text: str) -> None:
        """Text for people; characters that the terminal cannot show become escapes."""
        encoding = getattr(self.out, "encoding", None) or "utf-8"
        self.out.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def json(self, value: Json) -> None:
        """One JSON value and a line end; lone surrogates become escapes, which is how they stand in files."""
        text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
        self.say(text + "\n")

    def confirm(self, question: str) -> bool:
        """Ask and wait; anything but y or yes is a no, and so is a source that is no terminal."""
        if not self.source.isatty():
            return False
        self.say(f"{question} [y/N] ")
        self.out.flush()
        return self.source.readline().strip().lower() in {"y", "yes"}


def tell_failure(terminal: Terminal, err: CtxError, status: int) -> int:
    """Write the error as one sentence with its place and hint; returns `status`."""
    place = f" [{err.place}]" if err.place else ""
    hint = f"\n  {err.hint}" if err.hint else ""
    terminal.err.write(f"ctxviewer: {err.sentence}{place}{hint}\n")
    return status
