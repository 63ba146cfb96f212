"""Auto-compaction: the older messages of the active part give way to one boundary that carries their summary.

`compact` is the rule as a function of values. `AutoCompact` adds the question whether it is due, the makers of time and
id, the model, and the statistics. Only messages after the last boundary count towards the trigger; what lies before it
stays in the list, uncounted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ctxviewer.engine.sage.boundary import make_boundary
from ctxviewer.engine.sage.config import AutoCompactConfig
from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR, TokenEstimator, saturating
from ctxviewer.engine.sage.ledger import CostLedger
from ctxviewer.engine.sage.message import ModelCall, Role, SageMessage, TextMaker
from ctxviewer.engine.sage.summarizer import ask_for_summary, extract_summary


@dataclass(frozen=True, slots=True)
class Partition:
    """What a compaction would do with each message, in numbers of the list. The prefix is all before `start`."""

    start: int
    """First message of the active part."""
    hoisted: tuple[int, ...]
    """Older system messages: they move in front of the new boundary."""
    compacted: tuple[int, ...]
    """The other older messages: they give way to the boundary."""
    recent: range
    """The last messages of the active part: they stay behind the boundary."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Nothing was compacted."""

    messages: Sequence[SageMessage]
    """The very list that was given."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compacted list and what became of each message of the old one."""

    messages: tuple[SageMessage, ...]
    """Prefix, hoisted messages, boundary, recent messages."""
    numbers: tuple[int | None, ...]
    """The number in the old list of each message of the new one; None for the boundary."""
    changed_from: int
    """The first so many messages are the same in both lists."""
    partition: Partition
    boundary: SageMessage
    summary: str
    compact_id: str
    time: str
    """RFC 3339 in UTC, as given by the maker."""
    tokens_before: int
    """Conversation estimate of the whole old list."""
    tokens_after: int
    """Conversation estimate of the whole new list."""

    @property
    def compacted(self) -> tuple[int, ...]:
        """Numbers of the messages that gave way."""
        return self.partition.compacted

    @property
    def messages_compacted(self) -> int:
        """How many messages gave way."""
        return len(self.partition.compacted)

    @property
    def tokens_saved(self) -> int:
        """Never below 0, although a short list can grow by its boundary."""
        return saturating(self.tokens_before, self.tokens_after)


CompactResult: TypeAlias = Skipped | Compacted


@dataclass(frozen=True, slots=True)
class CompactStats:
    """Sums over the checks and forced compactions of one `AutoCompact`. A failed model call changes none of them."""

    compact_count: int = 0
    tokens_saved: int = 0
    skipped_count: int = 0

    def after(self, result: CompactResult) -> CompactStats:
        """These statistics with one more result."""
        if isinstance(result, Skipped):
            return replace(self, skipped_count=self.skipped_count + 1)
        return replace(self, compact_count=self.compact_count + 1, tokens_saved=self.tokens_saved + result.tokens_saved)


def partition(messages: Sequence[SageMessage], keep_recent: int, start: int) -> Partition:
    """What a compaction does with the active part, which begins at `start`. System messages are always hoisted."""
    first_recent = max(start, len(messages) - keep_recent)
    hoisted: list[int] = []
    compacted: list[int] = []
    for number in range(start, first_recent):
        (hoisted if messages[number].role is Role.SYSTEM else compacted).append(number)
    return Partition(start, tuple(hoisted), tuple(compacted), range(first_recent, len(messages)))


def compact(
    messages: Sequence[SageMessage],
    keep_recent: int,
    *,
    now: TextMaker,
    new_id: TextMaker,
    model: ModelCall | None = None,
    estimator: TokenEstimator = DEFAULT_ESTIMATOR,
    ledger: CostLedger | None = None,
) -> CompactResult:
    """Compact all but the last `keep_recent` messages of the active part. Skipped when that leaves nothing.

    The model is asked only when there is something to compact; time and id are made after its answer. What it raises
    propagates. `ledger`, where known: made with this estimator, of these messages or of a list that begins with them.
    """
    known = CostLedger.of(messages, estimator, ledger)
    size = len(messages)
    parts = partition(messages, keep_recent, known.active_start(size))
    if not parts.compacted:
        return Skipped(messages)
    leaving = [messages[number] for number in parts.compacted]
    summary = extract_summary(ask_for_summary(leaving, model))
    time, compact_id = now(), new_id()
    boundary = make_boundary(summary, time=time, compact_id=compact_id)
    before = known.total(0, size)
    return Compacted(
        messages=(
            *messages[: parts.start],
            *(messages[number] for number in parts.hoisted),
            boundary,
            *messages[parts.recent.start : size],
        ),
        numbers=(*range(parts.start), *parts.hoisted, None, *parts.recent),
        changed_from=parts.start,
        partition=parts,
        boundary=boundary,
        summary=summary,
        compact_id=compact_id,
        time=time,
        tokens_before=before,
        tokens_after=before - sum(known.cost(number) for number in parts.compacted) + estimator.message(boundary),
    )


class AutoCompact:
    """Compacts a list when it is due, and counts what happened. Not for two threads."""

    def __init__(
        self,
        config: AutoCompactConfig,
        *,
        now: TextMaker,
        new_id: TextMaker,
        model: ModelCall | None = None,
        estimator: TokenEstimator = DEFAULT_ESTIMATOR,
    ) -> None:
        """`config` already holds the override of the environment; nothing is read later."""
        self.config = config
        self.stats = CompactStats()
        self._threshold = config.threshold_tokens
        self._now = now
        self._new_id = new_id
        self._model = model
        self._estimator = estimator

    def active_tokens(self, messages: Sequence[SageMessage], *, ledger: CostLedger | None = None) -> int:
        """Conversation estimate of the messages after the last boundary."""
        return CostLedger.of(messages, self._estimator, ledger).active_tokens(len(messages))

    def needs_compaction(self, messages: Sequence[SageMessage], *, ledger: CostLedger | None = None) -> bool:
        """True when enabled and the active part costs at least the threshold."""
        return self.config.enabled and self.active_tokens(messages, ledger=ledger) >= self._threshold

    def check_and_compact(self, messages: Sequence[SageMessage], *, ledger: CostLedger | None = None) -> CompactResult:
        """Compact if it is due."""
        known = CostLedger.of(messages, self._estimator, ledger)
        if self.needs_compaction(messages, ledger=known):
            return self.force_compact(messages, ledger=known)
        return self._counted(Skipped(messages))

    def force_compact(self, messages: Sequence[SageMessage], *, ledger: CostLedger | None = None) -> CompactResult:
        """Compact without asking whether it is due; works while disabled."""
        return self._counted(
            compact(
                messages,
                self.config.preserve_recent_count,
                now=self._now,
                new_id=self._new_id,
                model=self._model,
                estimator=self._estimator,
                ledger=ledger,
            )
        )

    def _counted(self, result: CompactResult) -> CompactResult:
        self.stats = self.stats.after(result)
        return result
