"""Keeps the backups of all tasks together within a size: the oldest go first, the newest one of each task stays."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from ctxviewer.domain.errors import CtxError
from ctxviewer.sources.store.area import Area
from ctxviewer.sources.store.history import ledger_of
from ctxviewer.sources.store.lock import held_if_free
from ctxviewer.sources.store.preflight import amount
from ctxviewer.sources.store.records import Mark, MarkKind
from ctxviewer.sources.store.steps import StepError
from ctxviewer.sources.store.values import BackupUsage, EntryState

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, order=True)
class _Copy:
    entry: str
    """Starts with the time, so the order is by age."""
    area: int
    size: int


def usage(areas: Sequence[Area], limit: int) -> BackupUsage:
    """How much the backups take. Raises OSError."""
    sizes = [area.backup_bytes(entry) for area in areas for entry in area.entry_ids()]
    return BackupUsage(sum(sizes), limit, len(sizes))


def shrink(areas: Sequence[Area], own: Area, limit: int) -> None:
    """Remove the oldest copies until all fit into `limit` bytes. The caller holds the lock of `own`.

    Tasks that somebody else is writing are passed over; what fails is logged and stays for the next time.
    """
    copies = sorted(
        _Copy(entry, number, area.backup_bytes(entry))
        for number, area in enumerate(areas)
        for entry in area.entry_ids()
    )
    over = sum(copy.size for copy in copies) - limit
    newest = {copy.area: copy.entry for copy in copies}
    for copy in copies:
        if over <= 0:
            return
        if copy.entry != newest[copy.area]:
            try:
                over -= copy.size if _drop(areas[copy.area], copy.entry, own, limit) else 0
            except (OSError, StepError, CtxError) as error:
                log.warning("backup %s stays: %s", copy.entry, error)


def _drop(area: Area, entry: str, own: Area, limit: int) -> bool:
    with nullcontext(True) if area.lock == own.lock else held_if_free(area.lock, what="A task") as free:
        if not free:
            return False
        ledger = ledger_of(area, alone=True)
        if any(intent.entry == entry for intent in ledger.pending) or ledger.state(entry) is EntryState.PENDING:
            return False
        note = f"Its backup was removed to keep all backups within {amount(limit)}."
        area.append(Mark(MarkKind.DROPPED, entry, entry=entry, note=note), "marking in the")
        return area.drop(entry)
