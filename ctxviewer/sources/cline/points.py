"""The points of a timeline that a task can be rolled back to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from ctxviewer.domain.request import Checkpoint, CheckpointKind, Request
from ctxviewer.sources.cline.entries import Read, title_of

_SAID = frozenset({"task", "text", "user_feedback", "user_feedback_diff", "tool", "command", "use_mcp_server"})
_ASKED = frozenset(
    {"followup", "plan_mode_respond", "plan_mode_response", "tool", "command", "use_mcp_server", "condense"}
)


def points_from(
    reads: Iterable[Read], requests: Sequence[Request], known: Sequence[Checkpoint], known_entries: int
) -> tuple[Checkpoint, ...]:
    """All points. `known` are those of the reading before among the first `known_entries` entries."""
    starts = [request.ui_index for request in requests]
    points = [point for point in known if point.ui_index < known_entries]
    for read in reads:
        kind = _kind(read)
        if kind is None:
            continue
        entry = read.entry
        title = "Checkpoint" if kind is CheckpointKind.CHECKPOINT else title_of(read)
        points.append(
            Checkpoint(
                ui_index=entry.index,
                ts=entry.ts,
                kind=kind,
                hash=entry.checkpoint_hash,
                last_message=entry.last_message,
                deleted_range=entry.deleted_range,
                request=bisect_right(starts, entry.index) - 1 if starts and starts[0] <= entry.index else None,
                title=title or ("Completed" if kind is CheckpointKind.COMPLETION else entry.kind),
            )
        )
    return tuple(points)


def _kind(read: Read) -> CheckpointKind | None:
    entry = read.entry
    if entry.kind == "checkpoint_created" and entry.type == "say":
        return CheckpointKind.CHECKPOINT
    if entry.kind == "completion_result" and (entry.type == "say" or entry.checkpoint_hash):
        return CheckpointKind.COMPLETION
    if entry.partial:
        return None
    listed = _SAID if entry.type == "say" else _ASKED
    return CheckpointKind.MESSAGE if entry.kind in listed else None
