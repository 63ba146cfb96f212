"""Entry: a command goes to the command line, anything else opens the window. Qt is loaded only for the window."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ctxviewer import __version__

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

COMMANDS = frozenset(
    {
        "report",
        "sent",
        "why",
        "diff",
        "track",
        "losses",
        "plan",
        "apply",
        "undo",
        "redo",
        "history",
        "strategies",
        "simulate",
        "compare",
        "replay",
        "tokens",
        "reconcile",
        "export",
        "doctor",
        "assert",
    }
)
"""Go to `cli.main`. A folder of such a name is opened as './report'."""

DONE, REFUSED, UNUSABLE, UNREADABLE = range(4)
INTERRUPTED = 130
"""Exit status after Ctrl+C, as shells have it."""
LARGEST_SIDE = 16_384
"""Pixels of a picture's side."""
PICTURE = b"\x89PNG"
"""How a PNG file begins."""
TRACEBACKS = "CTXVIEWER_TRACEBACK"
"""Set, a fault ends with its traceback."""

EPILOG = """\
commands (each with --help):
  report PATH        what a task sent, what it did not, and why
  sent PATH          the messages of a request exactly as sent, as JSON
  why PATH           why requests look as they do, and what is ahead
  diff PATH          what one request sends and another does not
  track PATH TEXT    in which requests a text, a file or a message was sent
  losses PATH        what a request no longer knows
  plan ACTION PATH   what truncate, optimize, decide, repair or rollback would do
  apply ACTION PATH  the same, and do it after asking
  undo, redo PATH    take the last applied action back, or apply it again
  history PATH       what was applied to a task
  strategies         the strategies of context management
  simulate PATH      what a strategy would do, step by step
  compare PATH       strategies side by side at one request
  replay PATH        strategies over the whole task
  tokens PATH        where the tokens of a request go
  reconcile PATH     counted against reported tokens, and what changes cost
  export PATH        HTML, Markdown, JSON, CSV, or a bug report without words
  doctor [PATH]      what is odd or damaged
  assert PATH        check rules, for a build
  screenshot [PATH]  draw the window into a PNG

docs/cli.md in the source tells the rest.
"""


class _Parser(argparse.ArgumentParser):
    """Does not hide that its help cannot be written."""

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if message and file is not None:
            file.write(message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _main(arguments)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else UNUSABLE if end.code else DONE
    except KeyboardInterrupt:
        return _told("interrupted", INTERRUPTED)
    except OSError as error:  # what --help and --version say, where nobody can read it
        return _gone(error, DONE)
    except Exception as error:
        if os.environ.get(TRACEBACKS):
            raise
        return _told(_fault(error), REFUSED)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        return _gone(error, status)
    return status


def _main(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        from ctxviewer import cli  # noqa: PLC0415 - the window does not need it

        return cli.main(arguments)
    if arguments and arguments[0] == "screenshot":
        return _screenshot(arguments[1:])
    parser = _Parser(
        prog="ctxviewer",
        description="See exactly what a coding agent's model was sent, what it was not, and why.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ctxviewer {__version__}")
    parser.add_argument("--demo", action="store_true", help="open the window on the sample tasks")
    parser.add_argument("paths", nargs="*", type=_path, metavar="PATH", help="tasks, or folders that hold tasks")
    options = parser.parse_args(arguments)
    if options.paths and _is_plain_word(arguments[0]):
        return _told(_unknown_word(arguments[0]), UNUSABLE)
    if _has_no_screen():
        return _told(
            "there is no screen to open a window on\n"
            "  The commands need none: `ctxviewer report PATH`, `ctxviewer screenshot PATH -o out.png`.",
            REFUSED,
        )
    from ctxviewer import app  # noqa: PLC0415 - --help and --version need no Qt

    return app.run(app.Start.of(options.paths, demo=options.demo))


def _screenshot(arguments: Sequence[str]) -> int:
    parser = _Parser(prog="ctxviewer screenshot", description="Draw the window into a PNG file.")
    parser.add_argument("path", nargs="?", type=_path, metavar="PATH", help="a task, or a folder that holds tasks")
    parser.add_argument("--demo", action="store_true", help="the sample tasks")
    parser.add_argument("-o", "--out", type=_path, required=True, metavar="FILE", help="where the picture goes")
    parser.add_argument("--request", type=int, metavar="N", help="a request, from 1; without it the present state")
    parser.add_argument("--message", type=int, metavar="N", help="the chosen message, from 0 as stored")
    parser.add_argument("--size", default="1280x800", metavar="WxH", help="in pixels; 1280x800 unless given")
    parser.add_argument(
        "--theme", choices=("light", "dark", "high-contrast"), default="light", help="light unless given"
    )
    options = parser.parse_args(list(arguments))
    width, _, height = options.size.partition("x")
    if not (_is_side(width) and _is_side(height)):
        parser.error(f"--size needs width x height in pixels, such as 1280x800, each up to {LARGEST_SIDE:,}")
    if options.request is not None and options.request < 1:
        parser.error("--request counts from 1")
    if options.message is not None and options.message < 0:
        parser.error("--message counts from 0")
    if options.demo and options.path is not None:
        parser.error("--demo draws the samples; it does not go with PATH")
    wrong = _no_place_for_picture(options.out)
    if wrong:
        return _told(f"{options.out} {wrong}", REFUSED)
    absent = _absent(options.path, options.request, options.message)
    if absent:
        return _told(absent, UNUSABLE)
    _need_no_screen()
    from ctxviewer import app, picture  # noqa: PLC0415 - --help needs no Qt

    start = app.Start.of([options.path] if options.path else [], demo=options.demo)
    shot = picture.Shot(
        options.out,
        (int(width), int(height)),
        options.request - 1 if options.request is not None else None,
        options.message,
        options.theme,
    )
    reason = picture.take_picture(start, shot)
    return _told(reason, UNREADABLE) if reason else DONE


def _path(text: str) -> Path:
    """A path as it was meant. A home folder that nobody knows stays as it is written."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the path is empty; `.` is the current folder")
    return Path(os.path.abspath(os.path.expanduser(text)))  # noqa: PTH100, PTH111 - Path raises for '~nobody'


def _no_place_for_picture(out: Path) -> str:
    """Why a picture cannot go there; '' when it can. An older picture is written over, nothing else."""
    from ctxviewer.sources import registry  # noqa: PLC0415 - --help needs no engine

    if out.is_dir():
        return "is a folder; name a file in it"
    if not out.parent.is_dir():
        return "lies in no folder that exists"
    names = {name for agent in registry.AGENTS for name in agent.file_names | agent.index_names}
    if any((out.parent / name).exists() for name in names):
        return "lies in a task's own folder; name a place elsewhere"
    return "" if not out.exists() or _is_picture(out) else "exists and is no PNG picture; name another file"


def _absent(path: Path | None, request: int | None, message: int | None) -> str:
    """What the picture should show and the one task at the path does not have; '' also where the window tells more."""
    if path is None or (request is None and message is None):
        return ""
    from ctxviewer.domain.errors import CtxError  # noqa: PLC0415 - --help needs no engine
    from ctxviewer.engine.timeline import Timeline  # noqa: PLC0415
    from ctxviewer.sources import registry  # noqa: PLC0415

    try:
        tasks = registry.open_path(path)
        if len(tasks) > 1:
            return ""
        snapshot = registry.read(tasks[0])
    except CtxError:
        return ""
    requests, messages = len(Timeline(snapshot).requests), len(snapshot.messages)
    if request is not None and request > requests:
        return f"there is no request {request}; the task has {requests}, counted from 1"
    if message is not None and message >= messages:
        return f"there is no message {message}; the task has {messages}, counted from 0"
    return ""


def _is_picture(path: Path) -> bool:
    """True for a PNG file, and for an empty one. Anything that cannot be read is none."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(PICTURE)) in {PICTURE, b""}
    except OSError:
        return False


def _is_side(text: str) -> bool:
    return text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= LARGEST_SIDE


def _is_plain_word(text: str) -> bool:
    """True for what is more likely a misspelt command than a path: one word that names nothing."""
    return text.replace("-", "").isalpha() and not text.startswith("-") and not os.path.lexists(text)


def _unknown_word(word: str) -> str:
    near = difflib.get_close_matches(word, (*COMMANDS, "screenshot"), n=1)
    hint = f"Did you mean `ctxviewer {near[0]}`?" if near else "`ctxviewer --help` lists the commands."
    return f"there is no command {word!r}, and no file or folder of this name\n  {hint}"


def _has_no_screen() -> bool:
    """Where Qt would end the program, because it cannot draw anywhere."""
    known = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return sys.platform.startswith("linux") and not any(os.environ.get(name) for name in known)


def _need_no_screen() -> None:
    """Without a display, and where nothing else is asked for, draw off the screen."""
    if _has_no_screen():
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        os.environ.setdefault("QT_LOGGING_RULES", "default.warning=false")  # what this platform cannot do is no matter


def _told(sentence: str, status: int) -> int:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            safe = "".join(sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in sentence)
            sys.stderr.write(f"ctxviewer: {safe}\n")
    return status


def _gone(error: OSError, status: int) -> int:
    """What was said could not be written out; nobody reading any more is no failure."""
    with contextlib.suppress(OSError, ValueError):  # or the rest is tried again when the program ends
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    if isinstance(error, BrokenPipeError):
        return status
    return _told(f"the output cannot be written: {error.strerror or error}", REFUSED)


def _fault(error: Exception) -> str:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" ({Path(place.tb_frame.f_code.co_filename).name}, line {place.tb_lineno})" if place is not None else ""
    what = f"{type(error).__name__}: {error}".replace("\n", " ")[:200]
    return f"a fault of ctxviewer itself: {what}{where}\n  Please report it. With {TRACEBACKS}=1 it tells all of it."


if __name__ == "__main__":
    sys.exit(main())
