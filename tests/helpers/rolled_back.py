"""Which updates a rollback must keep, worked out anew from the words of the promise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ctxviewer.domain.updates import Update
from helpers.working_agent import NOTICE


def path_read(message: dict[str, Any]) -> str:
    """The file that a message is a read of, '' for other messages."""
    text = message["content"][0]["text"]
    return text.split("'")[1] if text.startswith("[read_file for ") else ""


def that_hold(
    updates: Iterable[Update], kept: Sequence[dict[str, Any]], point_ts: float, deleted: Sequence[int] | None
) -> set[tuple[int, float]]:
    """(message, time) of the updates that stay when only the messages `kept` and the range `deleted` remain: those not
    later than the point, on messages that remain; the notice while a cut remains, others while a newer read of their
    file remains."""
    held = set()
    for update in updates:
        if update.timestamp > point_ts or update.message >= len(kept):
            continue
        newer = [path_read(message) for message in kept[update.message + 1 :]]
        is_notice = update.text == NOTICE
        if (is_notice and deleted is not None) or (not is_notice and path_read(kept[update.message]) in newer):
            held.add((update.message, update.timestamp))
    return held
