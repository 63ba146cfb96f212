"""The context manager: usage figures, and what becomes of a request whose estimate reaches the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.sage.auto_compact import Compacted, Skipped, compact
from ctxviewer.engine.sage.config import DEFAULT_CONFIG, ContextConfig, OverflowStrategy
from ctxviewer.engine.sage.estimator import (
    DEFAULT_ESTIMATOR,
    TokenEstimator,
    over32,
    saturating,
    times32,
)
from ctxviewer.engine.sage.ledger import CostLedger
from ctxviewer.engine.sage.message import ModelCall, Role, SageMessage, TextMaker, ToolSchema
from ctxviewer.engine.sage.pruner import MessagePruner, PruneResult
from ctxviewer.engine.sage.summarizer import ask_for_summary


class ContextOverflowError(CtxError):
    """The strategy `Error`: the request reaches the threshold."""

    def __init__(self, current_tokens: int, threshold_tokens: int, max_tokens: int) -> None:
        super().__init__(
            f"The request has {current_tokens:,} estimated tokens; the threshold is {threshold_tokens:,} "
            f"of a window of {max_tokens:,}.",
            hint="Choose another overflow strategy, a larger window or a higher threshold.",
        )
        self.current_tokens = current_tokens
        self.threshold_tokens = threshold_tokens
        self.max_tokens = max_tokens


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """How full the window is, estimated, without tools."""

    current_tokens: int
    max_tokens: int
    threshold_tokens: int
    """The context threshold."""
    messages_count: int

    @property
    def usage_percentage(self) -> float:
        """0 to 100 and above; with a window of 0 infinite, or NaN when nothing is used: show "n/a"."""
        return times32(over32(self.current_tokens, self.max_tokens), 100)

    @property
    def is_approaching_limit(self) -> bool:
        """The threshold is reached; true of an empty list too when it is 0."""
        return self.current_tokens >= self.threshold_tokens

    @property
    def is_over_limit(self) -> bool:
        """The window is reached."""
        return self.current_tokens >= self.max_tokens

    @property
    def tokens_until_threshold(self) -> int:
        """0 when reached."""
        return saturating(self.threshold_tokens, self.current_tokens)

    @property
    def tokens_until_limit(self) -> int:
        """0 when reached."""
        return saturating(self.max_tokens, self.current_tokens)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request's list after the strategy, and what became of each message."""

    messages: Sequence[SageMessage]
    """The very list that was given when nothing changed."""
    numbers: Sequence[int | None]
    """The number in the given list of each message; None for the summary or boundary that was made."""
    changed_from: int
    """The first so many messages are the same in both lists; all when nothing changed."""
    original_tokens: int
    """Request estimate, tools included, before."""
    final_tokens: int
    """The same after."""
    threshold_tokens: int
    target_tokens: int
    """What pruning aimed at, without tools."""
    was_pruned: bool = False
    was_summarized: bool = False
    removed: Sequence[int] = ()
    """Numbers of the pruned or compacted messages, in order."""
    made: SageMessage | None = None
    """The summary or boundary message."""
    compaction: Compacted | None = None
    """Set by the strategy AutoCompact."""

    @property
    def removed_count(self) -> int:
        """How many messages were pruned or compacted."""
        return len(self.removed)

    @property
    def changed(self) -> bool:
        """False when the request goes out as it came."""
        return self.was_pruned or self.was_summarized


@dataclass(frozen=True, slots=True)
class ContextManager:
    """Settings and an estimator; pruning and forced compaction use the same estimator."""

    config: ContextConfig = DEFAULT_CONFIG
    estimator: TokenEstimator = DEFAULT_ESTIMATOR

    @classmethod
    def for_provider(cls, provider: str | None, model: str | None) -> ContextManager:
        """The built-in settings and the estimator of a provider and model; names are compared with case."""
        return cls(ContextConfig.for_provider(provider, model), TokenEstimator.for_provider(provider))

    @property
    def pruner(self) -> MessagePruner:
        """A pruner with these settings and this estimator."""
        return MessagePruner(self.config, self.estimator)

    def usage(self, messages: Sequence[SageMessage], *, ledger: CostLedger | None = None) -> ContextUsage:
        """How full the window is. `ledger` as for `prepare`."""
        known = CostLedger.of(messages, self.estimator, ledger)
        return ContextUsage(
            current_tokens=known.total(0, len(messages)),
            max_tokens=self.config.max_context_tokens,
            threshold_tokens=self.config.threshold_tokens,
            messages_count=len(messages),
        )

    def prune(self, messages: Sequence[SageMessage], target: int, *, ledger: CostLedger | None = None) -> PruneResult:
        """Prune to a target in tokens. `ledger` as for `prepare`."""
        return self.pruner.prune(messages, target, ledger=ledger)

    def prepare(
        self,
        messages: Sequence[SageMessage],
        tools: Sequence[ToolSchema] = (),
        *,
        now: TextMaker,
        new_id: TextMaker,
        model: ModelCall | None = None,
        ledger: CostLedger | None = None,
    ) -> Prepared:
        """The list to send. Below the threshold it is the given one; else the overflow strategy decides.

        Raises ContextOverflowError (strategy Error) and whatever the model raises; both leave everything as it was.
        `now` and `new_id` are called by the strategy AutoCompact only. `ledger`, where known: made with this estimator,
        of these messages or of a list that begins with them.
        """
        known = CostLedger.of(messages, self.estimator, ledger)
        tool_tokens = self.estimator.tools(tools)
        total = known.total(0, len(messages)) + tool_tokens
        threshold = self.config.threshold_tokens
        same = Prepared(
            messages=messages,
            numbers=range(len(messages)),
            changed_from=len(messages),
            original_tokens=total,
            final_tokens=total,
            threshold_tokens=threshold,
            target_tokens=self.config.target_tokens,
        )
        if total < threshold:
            return same
        match self.config.overflow_strategy:
            case OverflowStrategy.ERROR:
                raise ContextOverflowError(total, threshold, self.config.max_context_tokens)
            case OverflowStrategy.AUTO_COMPACT:
                return self._compacted(same, known, tool_tokens, now=now, new_id=new_id, model=model)
            case OverflowStrategy.PRUNE:
                return self._pruned(same, known, tool_tokens)
            case OverflowStrategy.SUMMARIZE:
                return self._summarized(same, known, tool_tokens, model)

    def _pruned(self, same: Prepared, ledger: CostLedger, tool_tokens: int) -> Prepared:
        result = self.prune(same.messages, same.target_tokens, ledger=ledger)
        if not result.removed_numbers:
            return same
        return replace(
            same,
            messages=result.messages,
            numbers=result.numbers,
            changed_from=result.removed_numbers[0],
            final_tokens=result.tokens_after + tool_tokens,
            was_pruned=True,
            removed=result.removed_numbers,
        )

    def _summarized(self, same: Prepared, ledger: CostLedger, tool_tokens: int, model: ModelCall | None) -> Prepared:
        result = self.prune(same.messages, same.target_tokens, ledger=ledger)
        if not result.removed_numbers:
            return same
        made = SageMessage(Role.SYSTEM, ask_for_summary(result.removed, model))
        place = _leading_system(result.messages)
        return replace(
            same,
            messages=(*result.messages[:place], made, *result.messages[place:]),
            numbers=(*result.numbers[:place], None, *result.numbers[place:]),
            changed_from=result.removed_numbers[0],
            final_tokens=result.tokens_after + self.estimator.message(made) + tool_tokens,
            was_pruned=True,
            was_summarized=True,
            removed=result.removed_numbers,
            made=made,
        )

    def _compacted(
        self,
        same: Prepared,
        ledger: CostLedger,
        tool_tokens: int,
        *,
        now: TextMaker,
        new_id: TextMaker,
        model: ModelCall | None,
    ) -> Prepared:
        result = compact(
            same.messages,
            self.config.preserve_recent_count,
            now=now,
            new_id=new_id,
            model=model,
            estimator=self.estimator,
            ledger=ledger,
        )
        if isinstance(result, Skipped):
            return same
        return replace(
            same,
            messages=result.messages,
            numbers=result.numbers,
            changed_from=result.changed_from,
            final_tokens=result.tokens_after + tool_tokens,
            was_summarized=True,
            removed=result.compacted,
            made=result.boundary,
            compaction=result,
        )


def _leading_system(messages: Sequence[SageMessage]) -> int:
    """How many system messages the list begins with."""
    for number, message in enumerate(messages):
        if message.role is not Role.SYSTEM:
            return number
    return len(messages)
