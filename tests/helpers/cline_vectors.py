"""Recorded cases of Cline's context management: how a case is run through the engine.

A case runs to a mapping with the keys of its `expect`, in the recorded forms (ranges as pairs, infinity as
`{"number": "Infinity"}`), so that a test compares key by key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline import notices
from ctxviewer.engine.cline.checks import context_telemetry, request_entry, request_text, should_compact
from ctxviewer.engine.cline.js import UNDEFINED, get, number_text, truthy
from ctxviewer.engine.cline.optimize import optimize_file_reads
from ctxviewer.engine.cline.prepare import prepare
from ctxviewer.engine.cline.project import project, sent_messages, with_contents_emptied
from ctxviewer.engine.cline.restore import restore
from ctxviewer.engine.cline.subagent import compact
from ctxviewer.engine.cline.truncation import Keep, next_range
from ctxviewer.engine.cline.updates import EMPTY, ContextHistory, HalfDoneError
from ctxviewer.engine.cline.window import Api, Provider, window_info
from helpers.vector_files import CLINE, NoVectorsError, cases_under


@dataclass(frozen=True)
class Case:
    """One recorded case."""

    op: str
    id: str
    tags: tuple[str, ...]
    body: dict
    """With `input` or `steps`, and `expect`."""


def load_cases(option: str | None = None) -> Iterator[Case]:
    """All cases of all files in `--vectors DIR`, else the bundled ones, in order of the files."""
    for path, file, body in cases_under(option, CLINE):
        if file["op"] not in {*RUNNERS, "sequences"}:
            raise NoVectorsError(f"--vectors: {path} holds cases of the unknown call {file['op']!r}")
        yield Case(file["op"], body["id"], tuple(body.get("tags", ())), body)


def as_range(value: list | None) -> Range | None:
    return None if value is None else Range(*value)


def as_api(value: dict) -> Api:
    return Api(Provider(value["provider"]), value.get("model_id") or "", value.get("context_window"))


def pair(value: Range | None) -> list | None:
    return None if value is None else list(value)


def number(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(number_text(value))  # a recorded number is the text that a script writes
    return value


def memory(history: ContextHistory) -> str:
    return history.dump()


def run_window_info(given: dict) -> dict:
    info = window_info(as_api(given["api"]))
    return {"context_window": number(info.window), "max_allowed_size": number(info.limit)}


def run_should_compact(given: dict) -> dict:
    fraction = given.get("threshold_percentage")
    return {
        "result": should_compact(given["ui_messages"], as_api(given["api"]), given["previous_api_req_index"], fraction)
    }


def run_telemetry(given: dict) -> dict:
    found = context_telemetry(given["ui_messages"], as_api(given["api"]), given.get("trigger_index"))
    if found is None:
        return {"result": None}
    return {
        "result": {"tokens_used": number(found.tokens_used), "max_context_window": number(found.max_context_window)}
    }


def run_next_range(given: dict) -> dict:
    return {keep.value: pair(next_range(given["messages"], as_range(given["range"]), keep)) for keep in Keep}


def run_sent_messages(given: dict) -> dict:
    history = ContextHistory.parse(given["context_history"])
    return {"messages": sent_messages(given["messages"], as_range(given["range"]), history)}


def run_prepare(given: dict) -> dict:
    history = ContextHistory.parse(given["context_history"])
    missing = given.get("task_dir_missing", False)
    try:
        decision = prepare(
            given["messages"],
            given["ui_messages"],
            as_api(given["api"]),
            as_range(given["range"]),
            history,
            given["previous_api_req_index"],
            auto_condense=given["use_auto_condense"],
        )
    except BrokenInputError as err:
        return {"throws": True, "written": None if missing else getattr(err, "written", None)}
    return {
        "range": pair(decision.range_after),
        "updated": decision.range_updated,
        "messages": decision.sent.messages,
        "written": None if missing else decision.written,
        "context_history_after": memory(decision.history_after),
    }


def optimize_for_request(messages, ui, index, deleted, history) -> tuple[bool, ContextHistory, bool]:
    """As the reference's call for a request: whether a cut is needed, the history after, whether it was written."""
    if index < 0 or not truthy(request_text(ui, index)):
        return True, history, False
    timestamp = get(request_entry(ui, index), "ts")
    done = optimize_file_reads(messages, deleted, history, timestamp)
    return done.need_to_truncate, done.history, done.changed


def run_optimize(given: dict) -> dict:
    history = ContextHistory.parse(given["context_history"])
    try:
        need, after, changed = optimize_for_request(
            given["messages"], given["ui_messages"], given["previous_api_req_index"], as_range(given["range"]), history
        )
    except BrokenInputError:
        return {"throws": True, "written": None}
    written = changed and not given.get("task_dir_missing", False)
    return {"need_to_truncate": need, "written": after.dump() if written else None}


def run_optimize_in_memory(given: dict) -> dict:
    history = ContextHistory.parse(given["context_history"])
    deleted = as_range(given["range"])
    try:
        done = optimize_file_reads(given["messages"], deleted, history, given["timestamp"])
    except BrokenInputError as err:
        return {"throws": True, "context_history_after": memory(getattr(err, "history", history))}
    messages = given["messages"]
    if done.changed:
        try:
            messages = sent_messages(messages, deleted, done.history)
        except BrokenInputError:
            return {"throws": True, "context_history_after": memory(done.history)}
    return {
        "any_context_updates": done.changed,
        "need_to_truncate": done.need_to_truncate,
        "messages": messages,
        "context_history_after": memory(done.history),
    }


def run_notices(given: dict) -> dict:
    history = ContextHistory.parse(given["context_history"])
    after = notices.with_both_notices(history, given["messages"], given["timestamp"])
    written = after is not history and not given.get("task_dir_missing", False)
    return {"written": after.dump() if written else None, "context_history_after": memory(after)}


def run_rollback(given: dict) -> dict:
    history = ContextHistory.parse(given["context_history"])
    results = []
    for time in given["timestamps"]:
        try:
            after = history.without_later_than(time).dump()
            results.append({"timestamp": time, "written": None if given.get("task_dir_missing") else after})
        except BrokenInputError:
            results.append({"timestamp": time, "throws": True})
    return {"results": results}


def run_subagent(given: dict) -> dict:
    conversation: list = []
    deleted, history = as_range(given["range"]), EMPTY
    rounds = []
    for step in given["rounds"]:
        conversation = [*conversation, *step["append"]]
        try:
            done = compact(conversation, deleted, history, step["now"])
            conversation, deleted, history = done.conversation, done.deleted, done.history
            count = len(sent_messages(conversation, deleted, history))
        except BrokenInputError:
            return {"throws": True, "rounds": rounds}
        rounds.append(
            {
                "did_compact": done.did_compact,
                "range": pair(deleted),
                "conversation": conversation,
                "context_history": memory(history),
                "sent_after": {"count": count},
            }
        )
    return {"rounds": rounds}


def run_restore(given: dict) -> dict:
    done = restore(
        len(given["messages"]),
        given["ui_messages"],
        UNDEFINED if given["current_range"] is None else given["current_range"],
        given["context_history"],
        message_ts=given["message_ts"],
        now=given["now"],
        offset=given["offset"] or 0,
        task_metadata=given.get("task_metadata"),
    )
    return {
        "completed": done.completed,
        "returned_error": done.error or None,
        "api_history_length": done.keep_messages,
        "api_history_file_length": done.keep_messages if done.history_written else None,
        "deleted_range": None if done.deleted is UNDEFINED else done.deleted,
        "ui_messages": list(done.ui_messages),
        "deleted_api_reqs": done.totals.as_text() if done.totals is not None else None,
        "context_history": done.updates_text,
        "files_edited_warning": list(done.edited_files) or None,
    }


class Story:
    """One task in the hands of a live agent: its files, and what the manager holds in memory."""

    def __init__(self) -> None:
        self.messages: list = []
        self.ui: list = []
        self.range: Range | None = None
        self.history = EMPTY
        self.file: str | None = None

    def step(self, step: dict) -> dict:
        """Carry out a step; what it returns, with the state after it."""
        run: Callable[[dict], dict] = getattr(self, step["op"])
        try:
            result = run(step)
        except BrokenInputError as err:
            result = {"throws": True}
            if isinstance(err, HalfDoneError):
                self.history = err.history
                self.file = err.written or self.file
        state = {"range": pair(self.range), "history_length": len(self.messages), "file": self.file}
        return {**result, "state": {**state, "memory": self.history.dump()}}

    def append(self, step: dict) -> dict:
        self.messages = self.messages + step["messages"]
        self.ui = self.ui + step["ui"]
        return {}

    def request(self, step: dict) -> dict:
        decision = prepare(
            self.messages,
            self.ui,
            as_api(step["api"]),
            self.range,
            self.history,
            step["previous_api_req_index"],
            auto_condense=step["use_auto_condense"],
        )
        self.messages = with_contents_emptied(self.messages, decision.sent.emptied)
        self.range, self.history = decision.range_after, decision.history_after
        self.file = decision.written or self.file
        sent_count = len(decision.sent.messages)
        return {"updated": decision.range_updated, "sent_count": sent_count, "history_after": self.messages}

    def optimize(self, step: dict) -> dict:
        need, self.history, changed = optimize_for_request(
            self.messages, self.ui, step["previous_api_req_index"], self.range, self.history
        )
        if changed:
            self.file = self.history.dump()
        return {"need_to_truncate": need}

    def truncate(self, step: dict) -> dict:
        self.range = next_range(self.messages, self.range, Keep(step["keep"]))
        after = notices.with_both_notices(self.history, self.messages, step["timestamp"])
        if after is not self.history:
            self.history, self.file = after, after.dump()
        return {}

    def view(self, _step: dict) -> dict:
        sent = project(self.messages, self.range, self.history)
        self.messages = with_contents_emptied(self.messages, sent.emptied)
        return {"messages": sent.messages, "history_after": self.messages}

    def reload(self, _step: dict) -> dict:
        self.history = ContextHistory.parse(self.file)
        return {}

    def rollback(self, step: dict) -> dict:
        self.history = self.history.without_later_than(step["timestamp"])
        self.file = self.history.dump()
        self.range = as_range(step["range"])
        if isinstance(step["keep_messages"], int):
            self.messages = self.messages[: step["keep_messages"]]
        return {}

    def restore(self, step: dict) -> dict:
        done = restore(
            len(self.messages),
            self.ui,
            UNDEFINED if self.range is None else list(self.range),
            self.file,
            message_ts=step["message_ts"],
            now=step["now"],
            offset=step["offset"] or 0,
        )
        self.messages = self.messages[: done.keep_messages]
        self.ui = list(done.ui_messages)
        self.range, self.file = done.deleted_range, done.updates_text
        self.history = ContextHistory.parse(self.file)
        return {
            "completed": done.completed,
            "returned_error": done.error or None,
            "deleted_api_reqs": done.totals.as_text() if done.totals is not None else None,
            "ui_count": len(self.ui),
        }


RUNNERS: dict[str, Callable[[dict], dict]] = {
    "get_context_window_info": run_window_info,
    "should_compact_context_window": run_should_compact,
    "get_context_telemetry_data": run_telemetry,
    "get_next_truncation_range": run_next_range,
    "get_truncated_messages": run_sent_messages,
    "get_new_context_messages_and_metadata": run_prepare,
    "attempt_file_read_optimization": run_optimize,
    "attempt_file_read_optimization_in_memory": run_optimize_in_memory,
    "trigger_apply_standard_context_truncation_notice_change": run_notices,
    "truncate_context_history": run_rollback,
    "subagent_compact": run_subagent,
    "task_restore": run_restore,
}
