"""Arguments that several commands share, and what they name: a task, a request."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn, TypeAlias

from ctxviewer.cli.terminal import UsageError
from ctxviewer.domain.errors import CtxError, UnreadableTaskError
from ctxviewer.domain.snapshot import Snapshot, TaskRef
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry


class Parser(argparse.ArgumentParser):
    """Tells what is wrong as an error of ours instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise UsageError(message)


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 - what add_subparsers returns has no public name
"""Where a topic registers its commands."""


def task_argument(parser: argparse.ArgumentParser, *, many: bool = False, optional: bool = False) -> None:
    """PATH (None when it is optional and not given) and --json."""
    words = "task directory or a file in it" + ("; a storage root lists its tasks" if many else "")
    if optional:
        parser.add_argument("path", nargs="?", metavar="PATH", help=words)
    else:
        parser.add_argument("path", metavar="PATH", help=words)
    parser.add_argument("--json", action="store_true", help="stable JSON instead of text")


def request_argument(parser: argparse.ArgumentParser) -> None:
    """--request N."""
    parser.add_argument("--request", type=int, metavar="N", help="request number from 1; default: the present state")


def window_argument(parser: argparse.ArgumentParser) -> None:
    """--window TOKENS."""
    parser.add_argument("--window", type=token_number, metavar="TOKENS", help="context window; 200000 or 200k")


def consent_arguments(parser: argparse.ArgumentParser) -> None:
    """--yes and --even-if-open."""
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--even-if-open", action="store_true", help="also when the agent seems to have the task open")


def token_number(text: str) -> int:
    """'200000' or '200k' as a number of tokens."""
    factor = {"k": 1_000, "m": 1_000_000}.get(text[-1:].lower(), 1)
    number = float(text[:-1] if factor > 1 else text)
    if not 1 <= number * factor <= 1e12:
        raise argparse.ArgumentTypeError(f"{text} is no number of tokens")
    return int(number * factor)


def find(path: str) -> tuple[TaskRef, ...]:
    """The tasks that a path names. UnreadableTaskError for none."""
    try:
        return registry.open_path(Path(path))
    except UnreadableTaskError:
        raise
    except CtxError as err:
        raise UnreadableTaskError(err.sentence, hint=err.hint, place=err.place) from err


def one(path: str) -> TaskRef:
    """The one task that a path names. UsageError for several."""
    tasks = find(path)
    if len(tasks) != 1:
        raise UsageError(
            f"{path} holds {len(tasks)} tasks; name one of them", hint="`ctxviewer report PATH` lists them"
        )
    return tasks[0]


def read(path: str) -> tuple[Snapshot, Timeline]:
    """The one task that a path names, read."""
    snapshot = registry.read(one(path))
    return snapshot, Timeline(snapshot)


def request_of(timeline: Timeline, args: argparse.Namespace) -> int | None:
    """`--request` counted from 0, None without it. UsageError for a request that does not exist."""
    number: int | None = args.request
    if number is None:
        return None
    count = len(timeline.requests)
    if not 1 <= number <= count:
        raise UsageError(f"there is no request {number}; the task has {count}, counted from 1")
    return number - 1
