"""Where a command reads and writes, and how it ends."""

from __future__ import annotations

import codecs
import os
import re
import textwrap
from collections.abc import Iterable
from contextlib import suppress
from typing import IO

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Finding
from ctxviewer.domain.json import Json
from ctxviewer.exports.values import json_text

DONE, FINDING, UNUSABLE, UNREADABLE = range(4)

_ACTIVE = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""Signs that a terminal obeys instead of showing them: controls, and what turns the direction of writing."""
_FOR_PEOPLE = re.compile(f"[\x00-\x08\x0b-\x1f{_ACTIVE}]")
_IN_JSON = re.compile(f"[{_ACTIVE}]")
_PLAIN = {
    **dict.fromkeys("·–—−‐‑", "-"),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("█▓▒", "#"),
    "…": "...",
    "→": "->",
    "×": "x",
    "≈": "~",
    "≤": "<=",
    "≥": ">=",
}
"""What stands for our own signs where a terminal does not have them."""
_HANDLER = "ctxviewer-plain"


class UsageError(CtxError):
    """Arguments that cannot be used."""


class OutputError(CtxError):
    """What a command has to say cannot be written."""


class Terminal:
    """Where a command reads and writes. Each of the three may be missing, as it is where the caller closed it."""

    def __init__(self, out: IO[str] | None, err: IO[str] | None, source: IO[str] | None) -> None:
        self.out, self.err, self.source = out, err, source

    def say(self, text: str) -> None:
        """Text for people: control characters in it, and what the terminal cannot show, become escapes."""
        self._write(_shown(text, _encoding(self.out)))

    def json(self, value: Json) -> None:
        """One JSON value and a line end, valid in every encoding. Lone surrogates, controls, and all that the encoding
        does not have become escapes, which is how they stand in files."""
        encoding = _encoding(self.out)
        plain = not codecs.lookup(encoding).name.startswith("utf")
        text = json_text(value, plain=plain)
        text = _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
        self._write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")

    def write_parts(self, parts: Iterable[str]) -> None:
        """A document: as UTF-8, whatever the terminal's encoding is, so that it is what a file would hold. Shown on a
        terminal, it is text for people."""
        raw = getattr(self.out, "buffer", None)
        if raw is None or raw.isatty():
            for part in parts:
                self.say(part)
            return
        self.flush()
        try:
            for part in parts:
                raw.write(part.encode("utf-8", "backslashreplace"))
            raw.flush()
        except BrokenPipeError:
            raise
        except OSError as err:
            raise output_failed(err) from err

    def complain(self, text: str) -> None:
        """A line beside the output: an error, or a notice. Where it cannot be written, there is nobody to tell."""
        if self.err is not None:
            with suppress(OSError, ValueError):
                self.err.write(_shown(text, _encoding(self.err)) + "\n")
                self.err.flush()

    def remark(self, finding: Finding) -> None:
        """A finding that goes with no task, beside the output."""
        self.complain(f"ctxviewer: {finding.sentence}\n  {finding.advice}")

    def confirm(self, question: str) -> bool:
        """Ask and wait; anything but y or yes is a no, and so is a source that is no terminal.

        The question goes beside the output, which may be a file or another program.
        """
        if self.source is None or not self.source.isatty():
            return False
        self.flush()
        stream = self.err if self.err is not None else self.out
        if stream is None:
            return False
        stream.write(_shown(f"{question} [y/N] ", _encoding(stream)))
        stream.flush()
        try:
            return self.source.readline().strip().lower() in {"y", "yes"}
        except (OSError, UnicodeDecodeError):
            return False

    def flush(self) -> None:
        """Everything said so far is out. BrokenPipeError when nobody reads it, OutputError when it cannot be."""
        if self.out is None:
            return
        try:
            self.out.flush()
        except BrokenPipeError:
            raise
        except OSError as err:
            raise output_failed(err) from err

    def silence(self) -> None:
        """Nothing more can be written: what waits in the buffer must not be tried again when the program ends."""
        with suppress(OSError, ValueError, AttributeError):
            target = self.out.fileno() if self.out is not None else -1
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, target)
            os.close(nowhere)

    def _write(self, text: str) -> None:
        if self.out is None:
            raise OutputError("The output is closed, so nothing can be told.")
        try:
            self.out.write(text)
        except BrokenPipeError:
            raise
        except OSError as err:
            raise output_failed(err) from err


def output_failed(err: OSError) -> OutputError:
    """What the system says about the output, as an error of ours."""
    return OutputError(f"The output cannot be written: {err.strerror or err}.")


def tell_failure(terminal: Terminal, err: CtxError, status: int) -> int:
    """Write the error as one sentence with its place and hint; returns `status`."""
    place = f" [{err.place}]" if err.place and err.place not in err.sentence else ""
    hint = "\n" + textwrap.indent(err.hint, "  ") if err.hint else ""
    sentence = f"{err.sentence}{place}".replace("\n", r"\n")  # a path may hold a line end
    terminal.complain(f"ctxviewer: {sentence}{hint}")
    return status


def _encoding(stream: IO[str] | None) -> str:
    return getattr(stream, "encoding", None) or "utf-8"


def _shown(text: str, encoding: str) -> str:
    """The text as a stream of this encoding can show it, and without anything that a terminal would obey."""
    safe = _FOR_PEOPLE.sub(_escape, text)
    return safe.encode(encoding, _HANDLER).decode(encoding)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    texts = [_PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in signs]
    return "".join(texts), error.end


codecs.register_error(_HANDLER, _plain)
