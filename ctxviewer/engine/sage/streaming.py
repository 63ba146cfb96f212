"""Counting an answer while it is being written: a sum of estimates per chunk, and timing with the caller's clock.

Each chunk is rounded up by itself, so five chunks of one byte are five tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR, TokenEstimator

Clock: TypeAlias = Callable[[], float]
"""Seconds since any fixed moment."""


@dataclass(frozen=True, slots=True)
class StreamReading:
    """What a counter showed at one moment, or at its end."""

    input_tokens: int
    output_tokens: int
    elapsed: float | None = None
    """Seconds since the counter was made, until now or its finish; None without a clock. Never negative."""
    first_output_delay: float | None = None
    """Seconds until the first chunk that was not empty; None without a clock or without output. Never negative."""

    @property
    def tokens_per_second(self) -> float | None:
        """Output per elapsed second; None while no time has been measured."""
        return self.output_tokens / self.elapsed if self.elapsed else None


class StreamingTokenCounter:
    """Counts one request and its streamed answer. Any thread may call any method."""

    def __init__(self, estimator: TokenEstimator = DEFAULT_ESTIMATOR, *, clock: Clock | None = None) -> None:
        self._estimator = estimator
        self._clock = clock
        self._lock = Lock()
        self._input = 0
        self._output = 0
        self._started = clock() if clock else 0.0
        self._first: float | None = None
        self._finished: float | None = None

    def record_input(self, text: str) -> None:
        """Add a piece of what is sent."""
        tokens = self._estimator.text(text)
        with self._lock:
            self._input += tokens

    def record_output(self, chunk: str) -> None:
        """Add a piece of the answer."""
        tokens = self._estimator.text(chunk)
        with self._lock:
            self._output += tokens
            if chunk and self._clock and self._first is None:
                self._first = self._since_start()

    def finish(self) -> StreamReading:
        """Stop the clock at the first call, and read. Pieces recorded later still count."""
        with self._lock:
            if self._clock and self._finished is None:
                self._finished = self._since_start()
            return self._read()

    @property
    def input_tokens(self) -> int:
        """Tokens of all input so far."""
        return self.reading().input_tokens

    @property
    def output_tokens(self) -> int:
        """Tokens of all output so far."""
        return self.reading().output_tokens

    def reading(self) -> StreamReading:
        """All figures of one moment."""
        with self._lock:
            return self._read()

    def _read(self) -> StreamReading:
        elapsed = self._since_start() if self._clock and self._finished is None else self._finished
        return StreamReading(self._input, self._output, elapsed, self._first)

    def _since_start(self) -> float:
        return max(0.0, self._clock() - self._started) if self._clock else 0.0


@dataclass(frozen=True, slots=True)
class StreamMetrics:
    """Figures over finished counters. Delays are None where none was measured."""

    session_count: int
    total_tokens: int
    """Output tokens."""
    average_tokens: float
    """Output tokens per counter; 0.0 when there is none."""
    average_delay: float | None
    """Seconds to the first output, over the counters that measured it."""
    shortest_delay: float | None
    longest_delay: float | None


def stream_metrics(finished: Iterable[StreamReading]) -> StreamMetrics:
    """Figures over the readings of finished counters."""
    readings = tuple(finished)
    total = sum(reading.output_tokens for reading in readings)
    delays = [reading.first_output_delay for reading in readings if reading.first_output_delay is not None]
    return StreamMetrics(
        session_count=len(readings),
        total_tokens=total,
        average_tokens=total / len(readings) if readings else 0.0,
        average_delay=sum(delays) / len(delays) if delays else None,
        shortest_delay=min(delays, default=None),
        longest_delay=max(delays, default=None),
    )
