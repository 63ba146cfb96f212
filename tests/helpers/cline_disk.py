"""Cline tasks written by hand, for tests of the readers."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path

from ctxviewer.domain.snapshot import Agent, TaskRef
from ctxviewer.sources.cline.parts import Clock
from ctxviewer.sources.cline.reader import read_task

TASK_ID = "1747000000000"
DATA = Path(__file__).parents[1] / "data" / "tasks"
SHARED = Path(__file__).parents[2].parent / "shared" / "tasks"


def compact(value):
    """As the agent writes JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def user(*texts):
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def assistant(*texts, **more):
    return {"role": "assistant", "content": [{"type": "text", "text": text} for text in texts], **more}


def turns(count):
    """`count` messages, user first."""
    return [user(f"question {n}") if n % 2 == 0 else assistant(f"answer {n}") for n in range(count)]


def say(ts, kind, text="", *, last=None, deleted=None, **more):
    entry = {"ts": ts, "type": "say", "say": kind, "text": text, **more}
    if last is not None:
        entry["conversationHistoryIndex"] = last
    if deleted is not None:
        entry["conversationHistoryDeletedRange"] = deleted
    return entry


def ask(ts, kind, text="", **more):
    entry = say(ts, kind, text, **more)
    return {("ask" if key == "say" else key): ("ask" if key == "type" else value) for key, value in entry.items()}


def started(ts, *, last=None, deleted=None, counts=(100, 10, 20, 30), cost=0.5, **payload):
    tokens = dict(zip(("tokensIn", "tokensOut", "cacheWrites", "cacheReads"), counts, strict=True)) if counts else {}
    body = {"request": "words", **tokens, **payload}
    if cost is not None:
        body["cost"] = cost
    return say(ts, "api_req_started", json.dumps(body), last=last, deleted=deleted)


class Disk:
    """One storage root on disk."""

    def __init__(self, root, task_id=TASK_ID):
        self.root = Path(root)
        self.task_id = task_id
        self.dir = self.root / "tasks" / task_id
        self.dir.mkdir(parents=True)

    def write(self, name, content):
        """Bytes as they are, other values as compact JSON. Lets the file look old, so that no reading waits for it."""
        path = self.dir / name
        path.write_bytes(content if isinstance(content, bytes) else compact(content))
        os.utime(path, (1_747_000_000, 1_747_000_000))
        return path

    def api(self, messages):
        return self.write("api_conversation_history.json", messages)

    def ui(self, entries):
        return self.write("ui_messages.json", entries)

    def updates(self, value):
        return self.write("context_history.json", value)

    def index(self, *items):
        """The index; a single bytes item is the whole file. It looks old, as other files do."""
        path = self.root / "state" / "taskHistory.json"
        path.parent.mkdir(exist_ok=True)
        whole = len(items) == 1 and isinstance(items[0], bytes)
        path.write_bytes(items[0] if whole else compact(list(items)))
        os.utime(path, (1_747_000_000, 1_747_000_000))
        return path

    def item(self, **more):
        """An index entry of this task in the agent's key order."""
        start = {"id": self.task_id, "ts": 1747000009000, "task": "do it", "tokensIn": 1, "tokensOut": 2}
        return {**start, "cacheWrites": 3, "cacheReads": 4, "totalCost": 0.5, "size": 77, **more}

    def ref(self, **more):
        facts = {"title": "", "created_ms": 0, "updated_ms": 0, "size": 0, "in_index": True, **more}
        return TaskRef(Agent.CLINE, self.task_id, self.dir, self.root, "", **facts)

    def read(self, **more):
        return read_task(self.ref(), **more)


class FakeClock:
    """A clock that stands still, and notes how long it was asked to sleep. `during` runs at every sleep."""

    def __init__(self, now=1_800_000_000.0, during=None):
        self.time, self.slept, self.during = now, [], during

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.time += seconds
        if self.during:
            self.during(len(self.slept))

    def clock(self):
        return Clock(lambda: self.time, self.sleep)


def codes(snapshot):
    """Codes of the findings, sorted."""
    return sorted(finding.code for finding in snapshot.findings)


def finding(snapshot, code):
    """The one finding with this code."""
    (found,) = [one for one in snapshot.findings if one.code == code]
    return found


_opened: list[object] | None = None


def _note_opening(event, arguments):
    if _opened is not None and event == "open":
        _opened.append(arguments[0])


sys.addaudithook(_note_opening)  # cannot be taken away again; does nothing outside of opened_files


@contextmanager
def opened_files():
    """The files that the block opens, by whatever means."""
    global _opened  # noqa: PLW0603 - the hook of the process
    _opened = found = []
    try:
        yield found
    finally:
        _opened = None
