"""Sage's own list, carried from request to request: what a replay of a strategy holds.

It grows at the end by the messages of the recorded task; prepared or compacted lists take its place. Costs are known
message by message, so a step takes time in proportion to what changed, not to the length of the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxviewer.engine.sage.auto_compact import AutoCompact, Compacted, CompactResult
from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR, TokenEstimator
from ctxviewer.engine.sage.ledger import CostLedger
from ctxviewer.engine.sage.manager import ContextManager, Prepared
from ctxviewer.engine.sage.message import ModelCall, SageMessage, TextMaker, ToolSchema


class SageSession:
    """The carried list. `messages` and `numbers` are the session's own lists: read them, do not change them.

    A result that changed nothing holds that very list, which goes on growing; its numbers tell how long it was.
    """

    def __init__(self, estimator: TokenEstimator = DEFAULT_ESTIMATOR) -> None:
        self.messages: list[SageMessage] = []
        self.numbers: list[int | None] = []
        """For each message its number among all that `extend` was given, from 0; None for one that Sage made."""
        self.ledger = CostLedger(estimator=estimator)
        self._given = 0

    def extend(self, messages: Sequence[SageMessage], costs: Iterable[int] | None = None) -> None:
        """Append messages of the task. `costs`: tokens of each by this session's estimator, where already known."""
        self.ledger.extend(messages, costs)
        self.messages.extend(messages)
        self.numbers.extend(range(self._given, self._given + len(messages)))
        self._given += len(messages)

    def check(self, auto: AutoCompact) -> CompactResult:
        """One check of auto-compaction; a compacted list takes the place of the old one."""
        return self._adopted(auto.check_and_compact(self.messages, ledger=self.ledger))

    def force(self, auto: AutoCompact) -> CompactResult:
        """One forced compaction; a compacted list takes the place of the old one."""
        return self._adopted(auto.force_compact(self.messages, ledger=self.ledger))

    def prepare(
        self,
        manager: ContextManager,
        tools: Sequence[ToolSchema] = (),
        *,
        now: TextMaker,
        new_id: TextMaker,
        model: ModelCall | None = None,
    ) -> Prepared:
        """One prepared request. The session keeps its list; `adopt` puts the prepared one in its place."""
        return manager.prepare(self.messages, tools, now=now, new_id=new_id, model=model, ledger=self.ledger)

    def adopt(self, result: Prepared | Compacted) -> None:
        """Put a result that was made from this session's list in the place of that list."""
        first = result.changed_from
        made = result.messages[first:]
        places = result.numbers[first:]
        costs = [
            self.ledger.estimator.message(message) if place is None else self.ledger.cost(place)
            for message, place in zip(made, places, strict=True)
        ]
        numbers = [None if place is None else self.numbers[place] for place in places]
        self.messages[first:] = made
        self.numbers[first:] = numbers
        self.ledger.truncate(first).extend(made, costs)

    def _adopted(self, result: CompactResult) -> CompactResult:
        if isinstance(result, Compacted):
            self.adopt(result)
        return result
