"""Tasks made by hand for the strategies: messages, requests with totals, and states of them."""

from __future__ import annotations

from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.request import Request, RequestState, Usage
from ctxviewer.domain.snapshot import ModelFact, Snapshot, UiEntry, WindowSource
from ctxviewer.engine.state import state_at
from ctxviewer.engine.timeline import Timeline
from helpers.talk import task

WINDOW = 10_000
"""Of the tasks here; not one of Cline's special windows: the limit is 80 %."""
LIMIT = 8_000


def lab_request(number, last_message, total, *, range_before=None, state=RequestState.DONE):
    """A request that asks with message `last_message` + 1; `total` None = it reported nothing."""
    usage = Usage() if total is None else Usage(tokens_in=total)
    return Request(
        number, 2 * number, 1_000 * (number + 1), usage, total is not None, state, last_message, range_before, "m", "p", ""
    )  # fmt: skip


def lab_entry(index, request, deleted=None, kind="api_req_started", type_="say"):
    """An entry of the display timeline beside a request."""
    return UiEntry(index, request.ts + index % 2, type_, kind, request.last_message, deleted, "", False, "m", "p")


def lab_task(messages, totals=(), *, updates=None, deleted=None, window=WINDOW, ranges=None, **changes):
    """A timeline: request k asks with message 2k and reported totals[k]. `ranges[k]`: in force when it was sent."""
    ranges = ranges or {}
    requests, ui, before = [], [], None
    for number, total in enumerate(totals):
        request = lab_request(number, 2 * number - 1, total, range_before=before)
        requests.append(request)
        ui.append(lab_entry(2 * number, request, before))
        before = ranges.get(number, before)
        ui.append(lab_entry(2 * number + 1, request, before, "text"))
    snapshot = Snapshot(
        task(),
        1,
        messages=PlainLog(messages),
        ui_items=PlainLog([{"ts": entry.ts} for entry in ui]),
        ui=tuple(ui),
        updates_text=updates,
        range_now=deleted if deleted is not None else before,
        requests=tuple(requests),
        model=ModelFact("m", "p", window, WindowSource.OVERRIDE),
        index_item={"id": "t1"},
        **changes,
    )
    return Timeline(snapshot)


def lab_state(messages, totals=(), number=None, **more):
    """A state of such a task."""
    return state_at(lab_task(messages, totals, **more), number)
