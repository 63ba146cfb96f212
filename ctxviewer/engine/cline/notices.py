"""The three texts that context management writes into a conversation, and when it writes them.

The texts are ctxviewer's own. Their lengths (153, 336 and 30 units) are those of the reference, so that savings and
thresholds come out the same.
"""

from __future__ import annotations

from typing import Final

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Messages
from ctxviewer.engine.cline.js import JsValue, at, get, truthy
from ctxviewer.engine.cline.updates import ContextHistory

DUPLICATE_FILE_READ: Final = (
    "[[NOTE] This earlier copy of the file was dropped to free context space. The newest read of the same file, "
    "further down, holds its current full content.]"
)
CONTEXT_TRUNCATION: Final = (
    "[NOTE] Older messages of this conversation were dropped so that it fits the model's context window. The task "
    "that the user first asked for is still above; what was said between it and the next message is gone. Work from "
    "the messages that remain, give most weight to the latest ones, and read files again whenever you need their "
    "details."
)
FIRST_USER_MESSAGE: Final = "[Carry on with the user task!]"

NOTICE_TYPE: Final = 0
"""The edit type of both notices."""


def with_truncation_notice(history: ContextHistory, timestamp: JsValue) -> ContextHistory:
    """The history with the truncation notice on block 0 of message 1, unless that message has any entry already.

    It is stored even where it cannot show: on string content, or on a first block that holds no text.
    """
    if history.entry(1) is not None:
        return history
    return history.with_update(1, 0, timestamp, CONTEXT_TRUNCATION, NOTICE_TYPE, [])


def with_first_message_replaced(history: ContextHistory, messages: Messages, timestamp: JsValue) -> ContextHistory:
    """The history with the words of the user's first message replaced: block 0, only a text that is not empty.

    Nothing happens if message 0 has an entry already, or if it is damaged.
    """
    if history.entry(0) is not None or not _first_text(messages):
        return history
    return history.with_update(0, 0, timestamp, FIRST_USER_MESSAGE, NOTICE_TYPE, [])


def with_both_notices(history: ContextHistory, messages: Messages, timestamp: JsValue) -> ContextHistory:
    """What a forced truncation, a condense or a summary sets; the same object if nothing was to be set."""
    return with_first_message_replaced(with_truncation_notice(history, timestamp), messages, timestamp)


def _first_text(messages: Messages) -> bool:
    if not len(messages):
        return False
    try:
        content = get(messages[0], "content")
    except BrokenInputError:
        return False
    if not isinstance(content, list):
        return False
    block = at(content, 0)
    return truthy(block) and get(block, "type") == "text" and truthy(get(block, "text"))
