"""Compaction of a subagent's conversation: the conversation itself is replaced by its view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ctxviewer.domain.json import Json, Messages
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.js import JsValue, at_least
from ctxviewer.engine.cline.optimize import Optimization, optimize_file_reads
from ctxviewer.engine.cline.project import sent_messages
from ctxviewer.engine.cline.truncation import Keep, next_range
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.cline.window import Api, compaction_threshold, window_info

AUTO_CONDENSE_FRACTION: Final = 0.75


@dataclass(frozen=True, slots=True)
class Compaction:
    """What one compaction did."""

    did_compact: bool
    """True after any replacement, also if the range stayed."""
    deleted: Range | None
    conversation: list[Json]
    """With the updates, made-up results and the mended order written into it, if any read was replaced."""
    history: ContextHistory
    optimization: Optimization


def should_compact_subagent(total: JsValue, api: Api, *, auto_condense: bool) -> bool:
    """Whether a subagent compacts before its next request; with auto-condense 0.75 of the window may be the limit."""
    return at_least(total, compaction_threshold(window_info(api), AUTO_CONDENSE_FRACTION if auto_condense else None))


def compact(
    conversation: Messages,
    deleted: Range | None,
    history: ContextHistory,
    now: JsValue,
    optimize: Callable[[], Optimization] | None = None,
    view: Callable[[Optimization], Messages] | None = None,
) -> Compaction:
    """One compaction. `optimize` and `view`, where given, make what `optimize_file_reads` and `sent_messages` would:
    for callers that know more.

    Cline 4.0.10: duplicates are searched from message 2 whatever the range is; the range then grows (always to a
    quarter) unless that saved enough, the new range is empty, or it equals the old one.
    """
    optimization = optimize_file_reads(conversation, None, history, now) if optimize is None else optimize()
    if optimization.changed:
        history_now = optimization.history
        conversation = sent_messages(conversation, None, history_now) if view is None else view(optimization)
    after = deleted
    if optimization.need_to_truncate:
        fresh = next_range(conversation, deleted, Keep.QUARTER)
        if not fresh.is_empty:
            after = fresh
    did_compact = optimization.changed or after != deleted
    return Compaction(did_compact, after, list(conversation), optimization.history, optimization)
