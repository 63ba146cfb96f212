"""Pruning: take out the oldest unprotected messages until the rest fits or only the recent ones are left.

No message is skipped to drop a larger later one, and boundaries and tool pairs are ordinary messages here: a boundary
can go, and a call can lose its result.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from ctxviewer.engine.sage.config import DEFAULT_CONFIG, ContextConfig
from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR, TokenEstimator
from ctxviewer.engine.sage.ledger import CostLedger
from ctxviewer.engine.sage.message import SageMessage


@dataclass(frozen=True, slots=True)
class PruneCut:
    """Which messages go, in numbers only: the unprotected ones before `end`."""

    removed_count: int
    end: int
    """One past the last removed message; 0 when nothing goes."""
    tokens_before: int
    tokens_saved: int

    @property
    def tokens_after(self) -> int:
        """Conversation estimate of what is kept."""
        return self.tokens_before - self.tokens_saved


@dataclass(frozen=True, slots=True)
class PruneResult:
    """A pruned list. When nothing is removed, `messages` is the very list that was given."""

    messages: Sequence[SageMessage]
    removed: Sequence[SageMessage]
    """In order, the objects of the input."""
    numbers: Sequence[int]
    """The number in the input of each kept message."""
    removed_numbers: Sequence[int]
    tokens_before: int
    tokens_saved: int

    @property
    def removed_count(self) -> int:
        """How many messages were taken out."""
        return len(self.removed)

    @property
    def tokens_after(self) -> int:
        """Conversation estimate of what is kept."""
        return self.tokens_before - self.tokens_saved


def prune_cut(ledger: CostLedger, target: int, config: ContextConfig, length: int | None = None) -> PruneCut:
    """What pruning the first `length` messages of a ledger to `target` tokens takes out. Logarithmic in the length."""
    size = len(ledger) if length is None else length
    protect = config.preserve_system_messages
    total = ledger.total(0, size)
    removable = max(0, ledger.unprotected_count(size, protect_system=protect) - config.preserve_recent_count)
    if total <= target or not removable:
        return PruneCut(0, 0, total, 0)
    numbers, sums = ledger.unprotected(size, protect_system=protect)
    removed = min(bisect_left(sums, total - target, 0, removable + 1), removable)
    return PruneCut(removed, numbers[removed - 1] + 1, total, sums[removed])


@dataclass(frozen=True, slots=True)
class MessagePruner:
    """Prunes with given settings and a given estimator."""

    config: ContextConfig = DEFAULT_CONFIG
    estimator: TokenEstimator = DEFAULT_ESTIMATOR

    def prune(self, messages: Sequence[SageMessage], target: int, *, ledger: CostLedger | None = None) -> PruneResult:
        """Take out the first unprotected message while the list costs more than `target` and more than
        `preserve_recent_count` unprotected messages remain.

        `ledger`, where known: made with this estimator, of these messages or of a list that begins with them.
        """
        known = CostLedger.of(messages, self.estimator, ledger)
        size = len(messages)
        cut = prune_cut(known, target, self.config, size)
        if not cut.removed_count:
            return PruneResult(messages, (), range(size), (), cut.tokens_before, 0)
        numbers, _ = known.unprotected(size, protect_system=self.config.preserve_system_messages)
        if cut.removed_count == cut.end:
            removed: Sequence[int] = range(cut.end)
            kept: Sequence[int] = range(cut.end, size)
            gone, stay = messages[: cut.end], messages[cut.end :]
        else:
            removed = tuple(numbers[: cut.removed_count])
            stays = _all_but(removed, size)
            kept = tuple(compress(range(size), stays))
            gone, stay = tuple(messages[number] for number in removed), tuple(compress(messages, stays))
        return PruneResult(stay, gone, kept, removed, cut.tokens_before, cut.tokens_saved)


def _all_but(removed: Sequence[int], size: int) -> bytearray:
    stays = bytearray(b"\1" * size)
    for number in removed:
        stays[number] = 0
    return stays
