"""Small snapshots made by hand, and services that run at once, for tests of the services and the window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from ctxviewer.domain.errors import UnreadableTaskError
from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.request import Checkpoint, CheckpointKind, Request, RequestState, Usage
from ctxviewer.domain.snapshot import Agent, FileRole, FileStamp, Snapshot, TaskRef
from ctxviewer.services.runner import InlineExecutor, Runner


def ref(name="t1", *, host="Code", title=None, updated=0, problem="", directory=None, **more):
    """A task that may lie nowhere."""
    place = PurePosixPath("/nowhere")
    folder = directory if directory is not None else place / "tasks" / name
    words = f"task {name}" if title is None else title
    return TaskRef(
        Agent.CLINE,
        name,
        folder,
        place,
        host,
        words,
        0,
        updated,
        more.pop("size", 0),
        in_index=True,
        problem=problem,
        **more,
    )


def text_message(number, text=None):
    """User and assistant in turn."""
    words = f"words of message {number}" if text is None else text
    return {"role": ("user", "assistant")[number % 2], "content": [{"type": "text", "text": words}]}


def request(number, last_message, ts=None):
    """A finished request that went out after `last_message`."""
    return Request(
        number=number,
        ui_index=number,
        ts=1_000 * (number + 1) if ts is None else ts,
        usage=Usage(tokens_in=100.0 * (number + 1)),
        usage_reported=True,
        state=RequestState.DONE,
        last_message=last_message,
        range_before=None,
        model_id="m",
        provider_id="p",
        failure="",
    )


def snapshot(messages=4, requests=2, *, task=None, generation=1, digest=None, **changes):
    """A healthy reading: message 2k is what request k asks with."""
    texts = changes.pop("texts", {})
    log = PlainLog(text_message(number, texts.get(number)) for number in range(messages))
    folder = Path((task or ref()).directory)
    stamp = FileStamp(FileRole.MESSAGES, folder / "api_conversation_history.json", exists=True, size=messages,
                      digest=digest or f"{messages}-{sorted(texts.items())}")  # fmt: skip
    made = Snapshot(
        task=task or ref(),
        generation=generation,
        messages=log,
        requests=tuple(request(number, 2 * number - 1) for number in range(requests)),
        checkpoints=(Checkpoint(0, 1, CheckpointKind.CHECKPOINT, "h", 0, None, 0, "first"),),
        files=(stamp,),
    )
    return replace(made, **changes)


class FakeDisk:
    """A reader whose files are set by the test."""

    def __init__(self, *snapshots):
        self.now = {str(item.task.directory): item for item in snapshots}
        self.reads = []

    def put(self, item):
        self.now[str(item.task.directory)] = item

    def __call__(self, task, /, *, previous, generation, window_override):
        self.reads.append((str(task.directory), generation, window_override))
        item = self.now.get(str(task.directory))
        if item is None:
            raise UnreadableTaskError("The task is gone.", hint="Choose another.")
        if previous is not None and previous.files == item.files and window_override is None:
            return previous
        model = replace(item.model, window=window_override) if window_override else item.model
        return replace(item, generation=generation, model=model)


def inline_runner():
    """A runner without threads."""
    return Runner(read=InlineExecutor(), change=InlineExecutor())


class HeldExecutor:
    """Keeps jobs until the test lets them run."""

    def __init__(self):
        self.held = []

    def submit(self, fn, /):
        self.held.append(fn)

    def run_all(self):
        while self.held:
            self.held.pop(0)()

    def shutdown(self, **_how):
        self.held.clear()


class Heard:
    """Everything that a signal said, in order."""

    def __init__(self, signal):
        self.said = []
        signal.connect(self._note)

    def _note(self, value=None):
        self.said.append(value)
