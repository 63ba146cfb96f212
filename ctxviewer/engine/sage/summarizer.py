"""Summaries of messages that leave the list: without a model two numbers, with one a prompt and the reply's summary.

The wording is ours; what it must ask for and how a reply is read are the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ctxviewer.engine.sage.message import ModelCall, Role, SageMessage

CONTENT_LIMIT = 1_000
"""Code points of a message's content that the prompt shows; longer ones end in three dots within the limit."""

WHITE_SPACE = (
    "\t\n\v\f\r \N{NEXT LINE}\N{NO-BREAK SPACE}\N{OGHAM SPACE MARK}"
    "\N{EN QUAD}\N{EM QUAD}\N{EN SPACE}\N{EM SPACE}\N{THREE-PER-EM SPACE}\N{FOUR-PER-EM SPACE}\N{SIX-PER-EM SPACE}"
    "\N{FIGURE SPACE}\N{PUNCTUATION SPACE}\N{THIN SPACE}\N{HAIR SPACE}"
    "\N{LINE SEPARATOR}\N{PARAGRAPH SEPARATOR}\N{NARROW NO-BREAK SPACE}\N{MEDIUM MATHEMATICAL SPACE}"
    "\N{IDEOGRAPHIC SPACE}"
)
"""What trimming removes. `str.strip()` without arguments would also take U+001C to U+001F."""

_OPEN = "<summary>"
_CLOSE = "</summary>"
_DOTS = "..."

_REQUEST = (
    "Summarise the conversation below between a user and a coding agent. The agent will go on with your summary in "
    "place of these messages, so leave out nothing that it needs. Answer with text only and call no tools."
)
_ANALYSIS = (
    "First go through the conversation in the order of time inside <analysis> and </analysis>: what was asked, what "
    "was done and decided, what went wrong, what the user corrected."
)
_SUMMARY = f"Then write the summary inside {_OPEN} and {_CLOSE}, under these nine headings:"
_HEADINGS = (
    "Request and intent: everything the user asked for, and why",
    "Technical concepts: the technologies, patterns and terms that matter here",
    "Files and code: each file that was read, written or discussed, with the excerpts that will be needed again",
    "Errors and fixes: what failed, how it was mended, and what the user said about it",
    "Problem solving: what has been solved, and what is still being looked into",
    "User messages: every message of the user that is not the result of a tool",
    "Pending tasks: what was asked for and is not done",
    "Current work: exactly what was going on just before this summary",
    "Next step: only if the last request calls for one, with a literal quotation that shows it",
)


def trim(text: str) -> str:
    """The text without white space at both ends."""
    return text.strip(WHITE_SPACE)


def simple_summary(messages: Sequence[SageMessage]) -> str:
    """The summary without a model: how many user and how many assistant messages, its only digits, in this order."""
    roles = [message.role for message in messages]
    users, assistants = roles.count(Role.USER), roles.count(Role.ASSISTANT)
    return (
        f"Earlier messages were left out to save room. User messages: {users}. Assistant messages: {assistants}. "
        "What they said is not known here."
    )


def summary_prompt(messages: Iterable[SageMessage]) -> str:
    """The prompt that asks a model to summarise the messages. System messages are not shown to it."""
    headings = "\n".join(f"{number}. {heading}" for number, heading in enumerate(_HEADINGS, 1))
    return "\n\n".join((_REQUEST, _ANALYSIS, f"{_SUMMARY}\n\n{headings}", "The conversation:", *_shown(messages)))


def _shown(messages: Iterable[SageMessage]) -> Iterator[str]:
    for message in messages:
        if message.role is not Role.SYSTEM:
            yield f"{_label(message)}:\n{shorten(message.content)}"


def _label(message: SageMessage) -> str:
    role = message.role.upper()
    if message.tool_calls:
        return f"{role} (calls {', '.join(call.name for call in message.tool_calls)})"
    if message.tool_call_id is not None:
        return f"{role} (answers {message.tool_call_id})"
    return role


def shorten(text: str) -> str:
    """At most `CONTENT_LIMIT` code points; a longer text keeps its beginning and ends in three dots."""
    if len(text) <= CONTENT_LIMIT:
        return text
    return text[: CONTENT_LIMIT - len(_DOTS)] + _DOTS


def extract_summary(reply: str) -> str:
    """The summary in a model's reply, trimmed.

    It lies between the first opening and the first closing tag of the whole reply, compared with case. Without both,
    with nothing between them, or when the closing tag comes first, the whole reply is the summary.
    """
    start, end = reply.find(_OPEN), reply.find(_CLOSE)
    inside = start + len(_OPEN)
    if start >= 0 and inside < end:
        return trim(reply[inside:end])
    return trim(reply)


def ask_for_summary(messages: Sequence[SageMessage], model: ModelCall | None) -> str:
    """The model's reply untouched, or the simple summary when there is no model. What the model raises propagates."""
    if model is None:
        return simple_summary(messages)
    return model(summary_prompt(messages))
