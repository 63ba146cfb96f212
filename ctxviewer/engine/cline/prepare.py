"""The decision of one request: is the context over the limit, and what is done about it, stage by stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.json import Json, Messages
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.checks import request_entry, request_text
from ctxviewer.engine.cline.js import UNDEFINED, JsValue, at_least, divide, get, truthy
from ctxviewer.engine.cline.loaded import loaded
from ctxviewer.engine.cline.notices import with_truncation_notice
from ctxviewer.engine.cline.optimize import Optimization, optimize_file_reads
from ctxviewer.engine.cline.project import Sent, project
from ctxviewer.engine.cline.totals import request_total
from ctxviewer.engine.cline.truncation import Keep, next_range
from ctxviewer.engine.cline.updates import ContextHistory, HalfDoneError
from ctxviewer.engine.cline.window import Api, WindowInfo, window_info


class Verdict(StrEnum):
    """How the decision came out."""

    LEFT_TO_CONDENSE = "left to auto-condense"
    NO_NUMBERS = "no previous request with numbers"
    WITHIN_LIMIT = "within the limit"
    OPTIMIZED = "older reads replaced, no cut needed"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True)
class Decision:
    """All stages of one request's context management. Stages that were not reached are None or unchanged."""

    verdict: Verdict
    window: WindowInfo
    range_before: Range | None
    range_after: Range | None
    history_before: ContextHistory
    history_after: ContextHistory
    """The same object as before when nothing was added."""
    total: JsValue = None
    """Context size of the previous request, normally a number; None when there is none to read."""
    timestamp: JsValue = UNDEFINED
    """The time that new updates carry: that of the previous request. UNDEFINED when its entry has none."""
    optimization: Optimization | None = None
    keep: Keep | None = None
    """HALF, or QUARTER when half of the total is still above the limit. Set as soon as the limit is reached."""
    notice_added: bool = False
    sent: Sent | None = None
    """What is sent; None only from `decide`."""

    @property
    def over_limit(self) -> bool:
        """Whether the previous total reached the limit, so that something was done."""
        return self.verdict in {Verdict.OPTIMIZED, Verdict.TRUNCATED}

    @property
    def range_updated(self) -> bool:
        """Whether a new range was made; it may equal the old one or be empty."""
        return self.verdict is Verdict.TRUNCATED

    @property
    def updates_changed(self) -> bool:
        """Whether updates were added, so that context_history.json is written."""
        return self.history_after is not self.history_before

    @property
    def written(self) -> str | None:
        """The text of context_history.json that is written, None if none is."""
        return self.history_after.dump() if self.updates_changed else None


def decide(
    messages: Messages,
    window: WindowInfo,
    deleted: Range | None,
    history: ContextHistory,
    *,
    total: JsValue,
    timestamp: JsValue,
    optimize: Callable[[], Optimization] | None = None,
) -> Decision:
    """The decision for a known total of the previous request, without the messages that are sent.

    `optimize`, where given, makes what `optimize_file_reads` would make of these arguments, for callers that know more.

    Cline 4.0.10: over the limit means total >= limit. Then file reads are optimised; unless that saves enough, the
    range grows and the truncation notice is put in. HalfDoneError or BrokenInputError where the reference fails.
    """
    unchanged = Decision(Verdict.WITHIN_LIMIT, window, deleted, deleted, history, history, total, timestamp)
    if not at_least(total, window.limit):
        return unchanged
    keep = Keep.QUARTER if divide(total, 2) > window.limit else Keep.HALF
    messages = loaded(messages)
    optimization = optimize_file_reads(messages, deleted, history, timestamp) if optimize is None else optimize()
    decision = replace(
        unchanged,
        verdict=Verdict.OPTIMIZED,
        optimization=optimization,
        keep=keep,
        history_after=optimization.history,
    )
    if not optimization.need_to_truncate:
        return decision
    noticed = with_truncation_notice(optimization.history, timestamp)
    return replace(
        decision,
        verdict=Verdict.TRUNCATED,
        range_after=next_range(messages, deleted, keep),
        history_after=noticed,
        notice_added=noticed is not optimization.history,
    )


def prepare(
    messages: Messages,
    ui_messages: Sequence[Json],
    api: Api,
    deleted: Range | None,
    history: ContextHistory,
    previous_index: int,
    *,
    auto_condense: bool = False,
) -> Decision:
    """The main step of the reference for one request, with the messages that are sent.

    `previous_index` is the number of the previous request's entry in `ui_messages`, below 0 for none. Fails with
    BrokenInputError where the reference throws; HalfDoneError tells what it would have written before.
    """
    messages = loaded(messages)
    window = window_info(api)
    text = UNDEFINED if auto_condense else request_text(ui_messages, previous_index)
    if truthy(text):
        total = request_total(text)
        timestamp = get(request_entry(ui_messages, previous_index), "ts")
        decision = decide(messages, window, deleted, history, total=total, timestamp=timestamp)
    else:
        verdict = Verdict.LEFT_TO_CONDENSE if auto_condense else Verdict.NO_NUMBERS
        decision = Decision(verdict, window, deleted, deleted, history, history)
    try:
        sent = project(messages, decision.range_after, decision.history_after)
    except BrokenInputError as err:
        raise HalfDoneError(err, decision.history_after, decision.written) from err
    return replace(decision, sent=sent)
