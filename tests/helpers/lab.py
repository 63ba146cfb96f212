"""Tasks made by hand for the strategies: messages, requests with totals, and states of them."""

from __future__ import annotations

from dataclasses import replace

from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.request import Request, RequestState, Usage
from ctxviewer.domain.snapshot import ModelFact, Snapshot, UiEntry, WindowSource
from ctxviewer.engine.state import state_at
from ctxviewer.engine.timeline import Timeline
from helpers.talk import task

WINDOW = 10_000
"""Of the tasks here; not one of Cline's special windows: the limit is 80 %."""
LIMIT = 8_000


def lab_request(number, last_message, total, *, ui_index, range_before=None, state=RequestState.DONE):
    """A request that asks with message `last_message` + 1; `total` None = it reported nothing."""
    usage = Usage() if total is None else Usage(tokens_in=total)
    ts = 1_000 * (number + 1)
    return Request(
        number, ui_index, ts, usage, total is not None, state, last_message, range_before, "m", "p", ""
    )  # fmt: skip


def lab_entry(index, ts, last_message, deleted=None, kind="api_req_started", type_="say"):
    """An entry of the display timeline."""
    return UiEntry(index, ts, type_, kind, last_message, deleted, "", False, "m", "p")


def lab_task(messages, totals=(), *, updates=None, deleted=None, window=WINDOW, ranges=None, before=None, **changes):
    """A timeline: request k asks with message 2k and reported totals[k]. `ranges[k]`: in force when it was sent.

    `before[k]`: entries between the request before and request k, each (kind, range[, text]); 'resume_task' and
    'condense' are asked, others said. A number past the last request puts them at the end.
    """
    ranges, before = ranges or {}, before or {}
    requests, ui, texts, current = [], [], [], None

    def add(kind, ts, last_message, text=""):
        type_ = "ask" if kind in {"resume_task", "condense", "api_req_failed"} else "say"
        ui.append(lab_entry(len(ui), ts, last_message, current, kind, type_))
        texts.append({"ts": ts, "text": text})

    for number in range(len(totals) + 1):
        ts, last_message = 1_000 * (number + 1), 2 * number - 1
        for kind, fresh, *text in before.get(number, ()):
            current = fresh
            add(kind, ts - 100, last_message + 1, *text)
        if number == len(totals):
            break
        requests.append(lab_request(number, last_message, totals[number], ui_index=len(ui), range_before=current))
        add("api_req_started", ts, last_message)
        current = ranges.get(number, current)
        add("text", ts + 1, last_message + 1)
    snapshot = Snapshot(
        task(),
        1,
        messages=PlainLog(messages),
        ui_items=PlainLog(texts),
        ui=tuple(ui),
        updates_text=updates,
        range_now=deleted if deleted is not None else current,
        requests=tuple(requests),
        model=ModelFact("m", "p", window, WindowSource.OVERRIDE),
        index_item={"id": "t1"},
    )
    return Timeline(replace(snapshot, **changes))


def lab_state(messages, totals=(), number=None, **more):
    """A state of such a task."""
    return state_at(lab_task(messages, totals, **more), number)
