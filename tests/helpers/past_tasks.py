"""Tasks with a past, made up: requests, ranges that grow and shrink, updates with times. As values, without files.

past(["u task", "a ok", "u read", "a"], [Step(1), Step(3, cut=(2, 3))], updates=[...])
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath

from hypothesis import strategies as st

from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Request, RequestState, Usage
from ctxviewer.domain.snapshot import Agent, ModelFact, Snapshot, TaskRef, UiEntry, WindowSource
from ctxviewer.engine.cline.updates import EMPTY
from ctxviewer.engine.timeline import Timeline
from helpers.cline_strategies import conversations, ranges, words

STEP_MS = 1_000


@dataclass(frozen=True)
class Step:
    """One request: how many messages existed, the range in force, what it reported, what else stands in the timeline."""

    until: int
    cut: tuple[int, int] | None = None
    total: float | None = 1_000
    before: tuple[str, ...] = ()
    """Kinds of entries between the request and its answer: 'error_retry', 'ask:condense', 'tool:summarizeTask'."""
    after: tuple[str, ...] = ()
    """Kinds of entries behind the answer; 'deleted_api_reqs' bears the range of `after_cut`."""
    after_cut: object = ...
    """The range in force behind those entries, `cut` unless given."""
    state: RequestState = RequestState.DONE
    failure: str = ""
    model: str = "m"


def time_of(request):
    """The time of a request, 0 for 'before the first'."""
    return STEP_MS * (request + 1)


def text_message(picture):
    """'u words' or 'a words'; anything else is a message already."""
    if not isinstance(picture, str):
        return picture
    kind, _, words_ = picture.partition(" ")
    return {"role": {"u": "user", "a": "assistant"}[kind], "content": [{"type": "text", "text": words_}]}


def update(history, message, block, text, request, kind=2, metadata=None):
    """One more update, first in force at `request`: it bears the time of the request before."""
    return history.with_update(message, block, time_of(request - 1), text, kind, metadata or [])


def kind_of(kind):
    """Type and kind of an entry: 'ask:condense', 'tool:summarizeTask', 'text'."""
    sort, _, rest = kind.rpartition(":")
    return ("say", "tool") if sort == "tool" else (sort or "say", rest)


def text_of(kind):
    """What such an entry says."""
    if kind.startswith("tool:"):
        return json.dumps({"tool": kind.removeprefix("tool:")})
    return json.dumps({"tokensIn": 5000, "tokensOut": 200}) if kind == "deleted_api_reqs" else "{}"


def past(messages, steps, *, history=EMPTY, now=..., window=200_000, metadata=None, index_item=None, model="m"):
    """The timeline of such a task. `now` is the range of the index, the last step's unless given."""
    ui, items, requests = [], [], []
    current = None

    def entry(ts, sort, kind, last, deleted, text=""):
        ui.append(UiEntry(len(ui), ts, sort, kind, last, deleted, "", False, model, "p"))
        item = {"ts": ts, "type": sort, sort: kind, "text": text}
        items.append(item)

    for number, step in enumerate(steps):
        ts, last = time_of(number), step.until - 2
        deleted = Range(*step.cut) if step.cut is not None else None
        usage = Usage(cache_reads=step.total or 0)
        reported = step.total is not None
        requests.append(
            Request(number, len(ui), ts, usage, reported, step.state, last, current, step.model, "p", step.failure)
        )
        entry(ts, "say", "api_req_started", last, current)
        for place, kind in enumerate(step.before):
            entry(ts + 100 + place, *kind_of(kind), last, current, text_of(kind))
        if step.state is RequestState.DONE:
            entry(ts + 500, "say", "text", last + 1, deleted)
        later = deleted if step.after_cut is ... else step.after_cut
        later = Range(*later) if later is not None else None
        for place, kind in enumerate(step.after):
            shown = later if kind == "deleted_api_reqs" else deleted
            entry(ts + 600 + place, *kind_of(kind), last + 1, shown, text_of(kind))
        current = later
    log = PlainLog([text_message(message) for message in messages])
    place = PurePosixPath("/nowhere")
    task = TaskRef(Agent.CLINE, "1", place / "1", place, "", "past", 0, 0, 0, in_index=True)
    snapshot = Snapshot(
        task,
        1,
        messages=log,
        ui_items=PlainLog(items),
        ui=tuple(ui),
        updates_text=history.dump() if history else None,
        range_now=current if now is ... else now,
        requests=tuple(requests),
        model=ModelFact(model, "p", window, WindowSource.TABLE),
        metadata=metadata,
        index_item=index_item,
    )
    return Timeline(snapshot)


@st.composite
def pasts(draw: st.DrawFn, max_messages: int = 12) -> Timeline:
    """Any such task: odd ranges, requests out of order, updates without effect."""
    messages = draw(conversations(min_size=1, max_size=max_messages))
    untils = st.integers(0, len(messages) + 1)
    cuts = st.one_of(ranges, ranges, st.builds(lambda end: Range(1, end), st.integers(1, 9)))
    steps = [Step(draw(untils), draw(cuts)) for _ in range(draw(st.integers(0, 6)))]
    history = EMPTY
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from([0, 2, 3, 4]))
        when = draw(st.integers(0, len(steps) + 1)) * STEP_MS + draw(st.sampled_from([0, 0, 200]))
        text = draw(st.one_of(words, st.sampled_from(["NEW", "words"])))
        history = history.with_update(draw(st.integers(0, 12)), draw(st.integers(0, 2)), when, text, kind, [])
    return past(messages, steps, history=history, now=draw(ranges))
