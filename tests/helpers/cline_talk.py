"""Short words for Cline conversations: messages, the forms in which files stand in them, and requests."""

from __future__ import annotations

import json
from collections.abc import Sequence

DUP = (
    "[[NOTE] This earlier copy of the file was dropped to free context space. The newest read of the same file, "
    "further down, holds its current full content.]"
)


def text(words):
    return {"type": "text", "text": words}


def u(*blocks):
    """A user message; plain words become text blocks."""
    return {"role": "user", "content": [text(block) if isinstance(block, str) else block for block in blocks]}


def a(*blocks):
    """An assistant message."""
    return {**u(*blocks), "role": "assistant"}


def call(tool_id, name="read_file"):
    return {"type": "tool_use", "id": tool_id, "name": name, "input": {}}


def result(tool_id, content="ok"):
    """A native result: of a string, or of the blocks given."""
    return {"type": "tool_result", "tool_use_id": tool_id, "content": content}


def header(path, tool="read_file"):
    return f"[{tool} for '{path}'] Result:"


def read(path, body="x" * 500):
    """A read in the form of newer versions: header and content in one block."""
    return f"{header(path)}\n{body}"


def edit(path, body="y" * 500, tool="write_to_file"):
    return f'{header(path, tool)}\nsaved\n<final_file_content path="{path}">\n{body}\n</final_file_content>'


def mention(path, body="z" * 500):
    return f'<file_content path="{path}">{body}</file_content>'


def pairs(*users):
    """A conversation: the task and an answer, then each user message with an answer behind it."""
    messages = [u("task"), a("ok")]
    for message in users:
        messages += [message if isinstance(message, dict) else u(message), a("ok")]
    return messages


def alternating(count):
    return [(u, a)[number % 2](f"m{number}") for number in range(count)]


def request(ts=10, **counts):
    """The display entry of a request."""
    return {"ts": ts, "type": "say", "say": "api_req_started", "text": json.dumps(counts)}


class Lazy(Sequence):
    """Messages that count how often each one is decoded."""

    def __init__(self, messages):
        self._texts = [json.dumps(message) for message in messages]
        self.decoded = [0] * len(messages)

    def __len__(self):
        return len(self._texts)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        self.decoded[index] += 1
        return json.loads(self._texts[index])
