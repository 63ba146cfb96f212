"""The command line: the same engine as the window, without Qt. One module a topic; each registers its commands.

Exit status: 0 done, 1 finding or refusal, 2 unusable arguments, 3 unreadable task.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from ctxviewer import __version__
from ctxviewer.cli import checks, counts, exporting, health, lab, look, plans, questions
from ctxviewer.cli.arguments import Parser
from ctxviewer.cli.terminal import (
    DONE,
    FINDING,
    UNREADABLE,
    UNUSABLE,
    OutputError,
    Terminal,
    UsageError,
    tell_failure,
)
from ctxviewer.domain.errors import CtxError, UnreadableTaskError

__all__ = ["DONE", "FINDING", "UNREADABLE", "UNUSABLE", "Terminal", "UsageError", "main"]

TOPICS = (look, questions, plans, lab, counts, exporting, health, checks)
"""Modules with `add(commands)`, in the order of the help."""


def main(argv: Sequence[str], terminal: Terminal | None = None) -> int:
    """Run one command, the exit status as result. Never raises for what a user can cause."""
    terminal = terminal or Terminal(sys.stdout, sys.stderr, sys.stdin)
    try:
        args = _parser().parse_args(argv)
        run: Callable[[argparse.Namespace, Terminal], int] = args.run
        status = run(args, terminal)
        terminal.flush()
    except UsageError as err:
        return tell_failure(terminal, err, UNUSABLE)
    except UnreadableTaskError as err:
        return tell_failure(terminal, err, UNREADABLE)
    except OutputError as err:
        terminal.silence()
        return tell_failure(terminal, err, FINDING)
    except CtxError as err:
        return tell_failure(terminal, err, FINDING)
    except BrokenPipeError:  # the reader has seen enough
        terminal.silence()
        return DONE
    except RecursionError:
        deep = CtxError("Something in the task is nested too deeply for this command.")
        return tell_failure(terminal, deep, FINDING)
    except OSError as err:
        return tell_failure(terminal, _of_system(err), FINDING)
    return status


def _of_system(err: OSError) -> CtxError:
    """An error of the system that nobody has put into words."""
    place = str(err.filename or "")
    return CtxError(f"The system reports: {err.strerror or err}.", place=place)


def _parser() -> Parser:
    parser = Parser(prog="ctxviewer", description="See exactly what a coding agent's model was sent, and why.")
    parser.add_argument("--version", action="version", version=f"ctxviewer {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser, metavar="COMMAND")
    for topic in TOPICS:
        topic.add(commands)
    return parser
