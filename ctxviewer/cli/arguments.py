"""Arguments that several commands share, and what they name: a task, a request."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from ctxviewer.cli.examples import examples_of
from ctxviewer.cli.terminal import UsageError, output_failed
from ctxviewer.domain.errors import CtxError, UnreadableTaskError
from ctxviewer.domain.snapshot import FileRole, Snapshot, TaskRef
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import discover, registry

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

LATE = "late"
"""Default of a parser: the optional positional that may stand behind options."""

SHOWN_TASKS = 3
"""So many tasks are named to who gives the beginning of a number."""


class Parser(argparse.ArgumentParser):
    """Tells what is wrong as an error of ours instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"{self.format_usage().strip()}\n`{self.prog} --help` tells more.")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        if message and file is not None:
            try:
                file.write(message)
            except BrokenPipeError:
                raise
            except OSError as err:
                raise output_failed(err) from err

    def parse_known_args(  # type: ignore[override] # the namespace is always the usual one
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As usual; words that are left over are told by the command that they were given to.

        A positional that may be left out is taken as left out when an option stands before it; `late` names it.
        """
        found, rest = super().parse_known_args(args, namespace)
        if rest and self._subparsers is None:
            late: str = getattr(found, LATE, "")
            if late and getattr(found, late) is None and len(rest) == 1 and not rest[0].startswith("-"):
                setattr(found, late, rest[0])
                return found, []
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return found, rest


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 - what add_subparsers returns has no public name
"""Where a topic registers its commands."""


def command(commands: Commands, name: str, words: str, *, more: str = "") -> Parser:
    """A new command or action: its line in the list above, its own help, and examples; `more` stands before them."""
    made = commands.add_parser(name, help=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.description = f"{words[0].upper()}{words[1:]}."
    made.epilog = "\n".join(part for part in (more, examples_of(made.prog.partition(" ")[2])) if part)
    return made


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
    parser.add_argument(
        "--request", type=whole_number, metavar="N", help="request number from 1; default: the present state"
    )


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
    try:
        number = float(text[:-1] if factor > 1 else text)
    except ValueError:
        number = 0
    if not 1 <= number * factor <= 1e12:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of tokens; write it as 200000 or 200k")
    return int(number * factor)


def whole_number(text: str) -> int:
    """'12', '-1'."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def find(path: str, tell: registry.Tell = registry.untold) -> tuple[TaskRef, ...]:
    """The tasks that a path names; `tell` as `registry.open_path` takes it.

    UnreadableTaskError for none, UsageError for no path at all.
    """
    if not path.strip():
        raise UsageError("the path is empty", hint="Name a task's folder; `.` is the current one.")
    try:
        return registry.open_path(Path(path), tell)
    except UnreadableTaskError:
        raise
    except CtxError as err:
        raise UnreadableTaskError(err.sentence, hint=_folders_of(path) or err.hint, place=err.place) from err


def _folders_of(name: str) -> str:
    """Where the known tasks are whose number begins so: a hint for who gives a number instead of a folder."""
    if not name.isdigit():
        return ""
    found = [task for task in discover.find_tasks() if task.task_id.startswith(name)]
    lines = [f"There is {task.directory}" for task in found[:SHOWN_TASKS]]
    return "\n".join([*lines, f"and {len(found) - SHOWN_TASKS} more."] if len(found) > SHOWN_TASKS else lines)


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


def need_messages(snapshot: Snapshot, consequence: str) -> None:
    """UnreadableTaskError for a task without its API history, which names the file and ends with the consequence."""
    if snapshot.has_messages:
        return
    stamp = next((stamp for stamp in snapshot.files if stamp.role is FileRole.MESSAGES), None)
    state = "holds nothing readable" if stamp is not None and stamp.exists else "is missing"
    raise UnreadableTaskError(
        f"the API history {state}, so {consequence}",
        hint="`ctxviewer doctor` tells what is wrong; `ctxviewer report` works without it.",
        place=str(stamp.path if stamp is not None else snapshot.task.directory),
    )


def request_of(timeline: Timeline, args: argparse.Namespace) -> int | None:
    """`--request` counted from 0, None without it. UsageError for a request that does not exist."""
    number: int | None = args.request
    if number is None:
        return None
    count = len(timeline.requests)
    if not 1 <= number <= count:
        raise UsageError(f"there is no request {number}; the task has {count}, counted from 1")
    return number - 1
