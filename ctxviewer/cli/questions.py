"""Commands that ask the past of a task: why, diff, track, losses. They look; nothing is written."""

from __future__ import annotations

import argparse

from ctxviewer.cli.arguments import (
    Commands,
    command,
    need_messages,
    read,
    request_argument,
    request_of,
    task_argument,
    whole_number,
    window_argument,
)
from ctxviewer.cli.terminal import DONE, Terminal, UsageError
from ctxviewer.engine.difference import RequestDifference, difference_of
from ctxviewer.engine.facts import BadQuestionError, FileQuestion, MessageQuestion, Question, TextQuestion, track
from ctxviewer.engine.losses import find_losses
from ctxviewer.engine.past import Past
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.weights import difference_tokens, file_changes, row_tokens
from ctxviewer.exports.difference_report import Weights, difference_json, difference_text
from ctxviewer.exports.fact_report import fact_json, fact_text
from ctxviewer.exports.loss_report import losses_json, losses_text
from ctxviewer.exports.why_report import why_json, why_text
from ctxviewer.tokens import count_task, encoding_for, load_counter

COUNT_LIMIT = 32_000_000
"""Tokens of a difference are counted for histories up to so many bytes; it takes about a second for 10 MB."""


def add(commands: Commands) -> None:
    """Register the commands of this module."""
    sub = command(commands, "why", "why requests look as they do, with all numbers, and what is ahead")
    task_argument(sub)
    request_argument(sub)
    window_argument(sub)
    sub.set_defaults(run=_why)
    sub = command(commands, "diff", "what one request sends and another does not")
    task_argument(sub)
    request_argument(sub)
    sub.add_argument(
        "--against", type=whole_number, required=True, metavar="M", help="the request to compare with, from 1"
    )
    sub.set_defaults(run=_diff)
    sub = command(commands, "track", "in which requests a text, a file or a message was sent")
    task_argument(sub)
    sub.add_argument("text", nargs="?", metavar="TEXT", help="words to look for, as sent")
    what = sub.add_mutually_exclusive_group()
    what.add_argument("--path", dest="file", metavar="FILE", help="a file, as the conversation names it")
    what.add_argument("--message", type=whole_number, metavar="N", help="a stored message, from 0")
    sub.add_argument("--block", type=whole_number, metavar="N", help="with --message: one block of it, from 0")
    sub.add_argument("--regex", action="store_true", help="TEXT is a regular expression")
    sub.add_argument("--ignore-case", action="store_true", help="small and capital letters are the same")
    sub.set_defaults(run=_track, late="text")
    sub = command(commands, "losses", "what a request no longer knows, what matters most first")
    task_argument(sub)
    request_argument(sub)
    sub.set_defaults(run=_losses)


def _read(args: argparse.Namespace) -> Timeline:
    snapshot, timeline = read(args.path)
    need_messages(snapshot, "what was sent is not known")
    timeline.find_repairs()
    return timeline


def _why(args: argparse.Namespace, terminal: Terminal) -> int:
    _, timeline = read(args.path)
    timeline.find_repairs()
    number = request_of(timeline, args)
    if args.json:
        terminal.json(why_json(timeline, number, args.window))
    else:
        terminal.say(why_text(timeline, number, args.window))
    return DONE


def _diff(args: argparse.Namespace, terminal: Terminal) -> int:
    timeline = _read(args)
    count = len(timeline.requests)
    if not 1 <= args.against <= count:
        raise UsageError(f"there is no request {args.against}; the task has {count}, counted from 1")
    past = Past(timeline)
    found = difference_of(timeline, args.against - 1, request_of(timeline, args))
    files, weights = file_changes(past, found), _weights(past, found)
    if args.json:
        terminal.json(difference_json(past, found, files, weights))
    else:
        terminal.say(difference_text(past, found, files, weights))
    return DONE


def _weights(past: Past, found: RequestDifference) -> Weights | None:
    messages = past.timeline.snapshot.messages
    if sum(messages.byte_size(index) for index in range(len(messages))) > COUNT_LIMIT:
        return None
    counter = load_counter(encoding_for(past.timeline.snapshot.model.model_id).encoding)
    table = count_task(past.timeline, counter)
    rows = tuple(row_tokens(found, row, table) for row in found.rows)
    return Weights(difference_tokens(past, found, table), rows, counter.name)


def _track(args: argparse.Namespace, terminal: Terminal) -> int:
    question = _question(args)
    try:
        fact = track(Past(_read(args)), question)
    except BadQuestionError as err:
        raise UsageError(err.sentence, hint=err.hint) from err
    if args.json:
        terminal.json(fact_json(fact))
    else:
        terminal.say(fact_text(fact))
    return DONE


def _question(args: argparse.Namespace) -> Question:
    missing = [args.text, args.file, args.message].count(None)
    if missing == 3:
        raise UsageError("one of the arguments TEXT --path --message is required", hint="Name what to look for.")
    if missing != 2:
        raise UsageError("TEXT, --path and --message cannot be given together", hint="Look for one thing at a time.")
    if args.message is not None:
        return MessageQuestion(args.message, args.block)
    if args.block is not None:
        raise UsageError("--block goes with --message")
    if args.file is not None:
        return FileQuestion(args.file)
    return TextQuestion(args.text, regex=args.regex, ignore_case=args.ignore_case)


def _losses(args: argparse.Namespace, terminal: Terminal) -> int:
    timeline = _read(args)
    report = find_losses(Past(timeline), request_of(timeline, args))
    if args.json:
        terminal.json(losses_json(report))
    else:
        terminal.say(losses_text(report))
    return DONE
