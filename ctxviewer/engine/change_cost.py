"""What a change of the context costs at the provider's cache: the cached prefix that it throws away, and dollars.

A provider keeps the front of the last request. As long as the next one begins in the same way, that part is read at a
low price; from the first difference on everything is written anew, at a high one. All token numbers are estimated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ctxviewer.domain.plan import Plan
from ctxviewer.domain.projection import Projection
from ctxviewer.engine.events import Event
from ctxviewer.engine.prices import MILLION, Prices
from ctxviewer.engine.state import state_before
from ctxviewer.engine.strategies.facts import Costs, Facts
from ctxviewer.engine.strategies.weigh import Weigher
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, percent, plural


@dataclass(frozen=True, slots=True)
class ChangeCost:
    """One change, against the same request without it. Tokens are estimated, of messages only."""

    cached: int
    """What the provider could have read from its cache without the change."""
    kept: int
    """What it can still read: the front that both requests have in common."""
    written: int
    """What must be written with the change."""
    written_without: int
    """What would have been written without it."""
    sent: int
    """All that is sent with the change …"""
    sent_without: int
    """… and without."""
    prices: Prices | None
    """None for a model that no table knows: then there are no dollars."""
    scale: float = 1.0
    """Tokens of the provider for one that was counted; already in the dollars, not in the tokens."""
    cache_seen: bool = True
    """False when no request of the task reported anything read from a cache: then nothing was there to be thrown away
    in fact, and the numbers say what would be."""

    @property
    def lost(self) -> int:
        """Cached tokens that are thrown away."""
        return max(0, self.cached - self.kept)

    @property
    def share(self) -> float:
        """Of the cached tokens, 0 to 1."""
        return self.lost / self.cached if self.cached else 0.0

    @property
    def dollars(self) -> float | None:
        """What this one request costs more (or less, below 0) than without the change. Output is the same."""
        if self.prices is None:
            return None
        written, read = self.written - self.written_without, self.kept - self.cached
        return self.scale * (written * self.prices.cache_write + read * self.prices.cache_read) / MILLION

    @property
    def saved_each(self) -> float | None:
        """Dollars that every further request saves, because less is read from the cache."""
        if self.prices is None:
            return None
        return self.scale * (self.sent_without - self.sent) * self.prices.cache_read / MILLION

    @property
    def pays_after(self) -> int | None:
        """After so many further requests the change has paid for itself; 0 = at once; None = never, or not known."""
        if self.dollars is None or self.saved_each is None:
            return None
        if self.dollars <= 0:
            return 0
        return math.ceil(self.dollars / self.saved_each) if self.saved_each > 0 else None

    @property
    def sentence(self) -> str:
        """The cost in words."""
        if not self.lost:
            return "Nothing of the cached prefix is thrown away."
        words = f"{percent(self.share)} of the cached prefix is thrown away ({grouped(self.lost)} estimated tokens)"
        if not self.cache_seen:
            words = f"This task reported no cache reads; with a cache, {words}"
        if self.dollars is None or self.prices is None:
            return f"{words}; no table knows this model's prices."
        more = "more" if self.dollars >= 0 else "less"
        paid = ""
        if self.dollars > 0:
            after = self.pays_after
            paid = ", never paid back" if after is None else f", paid back after {plural(after, 'further request')}"
        return f"{words}: this request costs ${abs(self.dollars):.4f} {more}{paid} ({self.prices.sentence})."


class CostMeter:
    """Measures changes of one task; keeps what it has read. For one thread at a time; decodes messages when asked."""

    def __init__(
        self, timeline: Timeline, costs: Costs | None, prices: Prices | None = None, scale: float = 1.0
    ) -> None:
        """`costs` count tokens (a `tokens.TokenTable`); None = estimated by characters."""
        self._timeline = timeline
        self._weigher = Weigher(Facts(timeline, costs), len(timeline.snapshot.messages))
        self._prices, self._scale = prices, scale
        self._cache_seen = any(request.usage.cache_reads for request in timeline.requests)

    def request(self, number: int | None) -> ChangeCost | None:
        """All that was changed for a request (None = since the last one). None for the first: nothing is cached yet.

        IndexError for a request that does not exist.
        """
        timeline = self._timeline
        if number is None:
            last = len(timeline.requests) - 1
            if last < 0:
                return None
            without = timeline.project(
                timeline.moments[last].deleted_range, timeline.updates_at(last), len(timeline.snapshot.messages)
            )
            return self._measure(timeline.projection(last), without, timeline.projection(None))
        without = state_before(timeline, number).projection
        if number == 0:
            return None
        return self._measure(timeline.projection(number - 1), without, timeline.projection(number))

    def event(self, event: Event) -> ChangeCost | None:
        """The cost of an event: of all that was changed for its request together."""
        return self.request(event.request)

    def plan(self, plan: Plan) -> ChangeCost | None:
        """The cost of a plan against leaving everything as it is. None where no request was made yet."""
        if not self._timeline.requests:
            return None
        return self._measure(self._timeline.projection(len(self._timeline.requests) - 1), plan.before, plan.after)

    def _measure(self, previous: Projection, without: Projection, after: Projection) -> ChangeCost:
        weigh = self._weigher
        cached, kept = weigh.common_prefix(previous, without), weigh.common_prefix(previous, after)
        sent, sent_without = weigh.tokens(after), weigh.tokens(without)
        return ChangeCost(
            cached,
            kept,
            max(0, sent - kept),
            max(0, sent_without - cached),
            sent,
            sent_without,
            self._prices,
            self._scale,
            self._cache_seen,
        )
