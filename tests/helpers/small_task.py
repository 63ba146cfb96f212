"""A Cline task in memory: messages, what its requests reported, ranges and updates; and counts by words."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.message import parse_message
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Request, RequestState, Usage
from ctxviewer.domain.snapshot import Agent, ModelFact, Snapshot, TaskRef, UiEntry, WindowSource
from ctxviewer.engine.timeline import Timeline
from ctxviewer.tokens import TokenTable, count_message, count_updates

TASK = TaskRef(
    Agent.CLINE, "1", PurePosixPath("/nowhere/tasks/1"), PurePosixPath("/nowhere"), "", "a task", 0, 0, 0, in_index=True
)


class Words:
    """A token is a word: sums that a reader can check."""

    name, exact, reason = "words", True, ""

    def count(self, text: str) -> int:
        return len(text.split())


def user(*blocks):
    return {"role": "user", "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def assistant(*blocks):
    return {"role": "assistant", "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def text(words):
    return {"type": "text", "text": words}


def call(call_id, name, **given):
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id, words):
    return {"type": "tool_result", "tool_use_id": call_id, "content": words}


def picture(data="QUJD"):
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def entry(index, kind, last, deleted=None, ts=None):
    return UiEntry(index, ts if ts is not None else 1_000 * (index + 1), "say", kind, last, deleted, "", partial=False,
                   model_id="", provider_id="")  # fmt: skip


def small_task(
    messages,
    reported=None,
    *,
    ranges=None,
    updates=None,
    model="m",
    models=None,
    window=100_000,
    states=None,
    outputs=None,
):
    """A task in which message 2k is what request k asks with.

    `reported` gives what each request reported as input (a number, a Usage, or None); `ranges` the range in force for
    each request, kept up to the next one that is given; `updates` is context_history.json as a value.
    """
    reported = reported if reported is not None else [None] * ((len(messages) + 1) // 2)
    requests, ui, deleted = [], [], None
    for number, told in enumerate(reported):
        usage = (
            told if isinstance(told, Usage) else Usage(tokens_in=told or 0, tokens_out=(outputs or {}).get(number, 0))
        )
        state = (states or {}).get(number, RequestState.DONE)
        name = models[number] if models else model
        ts = 1_000 * (len(ui) + 1)
        requests.append(
            Request(
                number,
                len(ui),
                ts,
                usage,
                told is not None,
                state,
                2 * number - 1,
                deleted,
                name,
                "p",
                "broken" if state is RequestState.FAILED else "",
            )
        )
        ui.append(entry(len(ui), "api_req_started", 2 * number - 1, deleted))
        if ranges and number in ranges:
            deleted = ranges[number]
        ui.append(entry(len(ui), "text", 2 * number, deleted))
    items = [{"ts": one.ts, "type": "say", "say": one.kind, "text": ""} for one in ui]
    return Timeline(
        Snapshot(
            task=TASK,
            generation=1,
            messages=PlainLog(messages),
            ui_items=PlainLog(items),
            ui=tuple(ui),
            updates_text=None if updates is None else json.dumps(updates),
            range_now=deleted,
            requests=tuple(requests),
            model=ModelFact(models[-1] if models else model, "p", window, WindowSource.TABLE),
            index_item={"id": "1"},
        )
    )


def counted(timeline, counter=None):
    """Counts of all its messages and updates, by words unless another counter is given."""
    counter = counter or Words()
    messages = timeline.snapshot.messages
    counts = {number: count_message(counter, parse_message(number, value)) for number, value in enumerate(messages)}
    return TokenTable(len(messages)).with_messages(counts).with_updates(count_updates(counter, timeline.updates))


def half(end):
    return Range(2, end)
