"""Entry: a command goes to the command line, anything else opens the window. Qt is loaded only for the window."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ctxviewer import __version__

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

EPILOG = """\
commands (each with --help):
  report PATH        what a task sent, what it did not, and why
  sent PATH          the messages of a request exactly as sent, as JSON
  why PATH           why requests look as they do, and what is ahead
  diff PATH          what one request sends and another does not
  track PATH TEXT    in which requests a text, a file or a message was sent
  losses PATH        what a request no longer knows
  plan ACTION PATH   what truncate, optimize, decide or rollback would do
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments and arguments[0] in COMMANDS:
        from ctxviewer import cli  # noqa: PLC0415 - the window does not need it

        return cli.main(arguments)
    if arguments and arguments[0] == "screenshot":
        return _screenshot(arguments[1:])
    parser = argparse.ArgumentParser(
        prog="ctxviewer",
        description="See exactly what a coding agent's model was sent, what it was not, and why.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ctxviewer {__version__}")
    parser.add_argument("--demo", action="store_true", help="open the window on the sample tasks")
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="tasks, or folders that hold tasks")
    options = parser.parse_args(arguments)
    from ctxviewer import app  # noqa: PLC0415 - --help and --version need no Qt

    return app.run(app.Start.of(options.paths, demo=options.demo))


def _screenshot(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="ctxviewer screenshot", description="Draw the window into a PNG file.")
    parser.add_argument("path", nargs="?", type=Path, metavar="PATH", help="a task, or a folder that holds tasks")
    parser.add_argument("--demo", action="store_true", help="the sample tasks")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FILE", help="where the picture goes")
    parser.add_argument("--request", type=int, metavar="N", help="a request, from 1; without it the present state")
    parser.add_argument("--message", type=int, metavar="N", help="the chosen message, from 0 as stored")
    parser.add_argument("--size", default="1280x800", metavar="WxH", help="in pixels; 1280x800 unless given")
    parser.add_argument("--theme", choices=("light", "dark", "high-contrast"), default="light")
    options = parser.parse_args(list(arguments))
    width, _, height = options.size.partition("x")
    if not (width.isdigit() and height.isdigit() and int(width) and int(height)):
        parser.error("--size needs width x height, such as 1280x800")
    if options.request is not None and options.request < 1:
        parser.error("--request counts from 1")
    _need_no_screen()
    from ctxviewer import app  # noqa: PLC0415 - --help needs no Qt

    start = app.Start.of([options.path] if options.path else [], demo=options.demo)
    shot = app.Shot(
        options.out,
        (int(width), int(height)),
        options.request - 1 if options.request is not None else None,
        options.message,
        options.theme,
    )
    reason = app.take_picture(start, shot)
    if reason:
        sys.stderr.write(f"ctxviewer: {reason}\n")
        return UNREADABLE
    return DONE


def _need_no_screen() -> None:
    """Without a display, and where nothing else is asked for, draw off the screen."""
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


if __name__ == "__main__":
    sys.exit(main())
