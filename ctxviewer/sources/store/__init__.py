"""Every write to a task: transaction, backups, journal, undo. See `store.Store`."""

from __future__ import annotations

from ctxviewer.sources.store.steps import StepHook
from ctxviewer.sources.store.store import MAX_BACKUP_BYTES, Store
from ctxviewer.sources.store.values import (
    Action,
    BackupUsage,
    Entry,
    EntryState,
    Outcome,
    Recovered,
    RecoveredKind,
    UnfinishedError,
)

__all__ = [
    "MAX_BACKUP_BYTES",
    "Action",
    "BackupUsage",
    "Entry",
    "EntryState",
    "Outcome",
    "Recovered",
    "RecoveredKind",
    "StepHook",
    "Store",
    "UnfinishedError",
]
