"""sage.md §13: counting while an answer is written."""

from __future__ import annotations

import math
import sys
from threading import Barrier, Thread

import pytest

from ctxviewer.engine.sage.estimator import TokenEstimator
from ctxviewer.engine.sage.streaming import StreamingTokenCounter, StreamReading, stream_metrics


class HandClock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_sum_of_ceilings() -> None:
    counter = StreamingTokenCounter()
    for chunk in "abcde":
        counter.record_output(chunk)
    counter.record_output("")
    assert (counter.input_tokens, counter.output_tokens) == (0, 5)


def test_input_and_output_are_apart_and_by_provider() -> None:
    counter = StreamingTokenCounter(TokenEstimator.for_provider("google"))
    counter.record_input("hello world")
    counter.record_output("hi")
    counter.record_input("更多")
    assert counter.reading() == StreamReading(5, 1)
    assert counter.finish() == StreamReading(5, 1, None, None)


def test_several_threads_lose_nothing() -> None:
    counter, start = StreamingTokenCounter(), Barrier(8)

    def write() -> None:
        start.wait()
        for _ in range(2000):
            counter.record_output("abcde")
            counter.record_input("a")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [Thread(target=write) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert counter.reading() == StreamReading(16_000, 32_000)


def test_timing_with_the_callers_clock() -> None:
    clock = HandClock()
    counter = StreamingTokenCounter(clock=clock)
    assert counter.reading() == StreamReading(0, 0, 0.0, None)
    assert counter.reading().tokens_per_second is None
    clock.now = 100.5
    counter.record_input("abcd")
    counter.record_output("")
    assert counter.reading().first_output_delay is None
    clock.now = 101.0
    counter.record_output("abcd" * 8)
    clock.now = 104.0
    counter.record_output("abcd")
    reading = counter.reading()
    assert (reading.elapsed, reading.first_output_delay, reading.tokens_per_second) == (4.0, 1.0, 2.25)
    assert counter.finish() == reading
    clock.now = 200.0
    assert counter.finish() == counter.reading() == reading


def test_a_clock_that_goes_back() -> None:
    clock = HandClock()
    counter = StreamingTokenCounter(clock=clock)
    clock.now = 50.0
    counter.record_output("x")
    assert counter.finish() == StreamReading(0, 1, 0.0, 0.0)


def test_metrics() -> None:
    empty = stream_metrics([])
    assert (empty.session_count, empty.total_tokens, empty.average_tokens) == (0, 0, 0.0)
    assert (empty.average_delay, empty.shortest_delay, empty.longest_delay) == (None, None, None)
    some = stream_metrics([StreamReading(9, 10, 4.0, 1.0), StreamReading(1, 5), StreamReading(1, 0, 2.0, 2.5)])
    assert (some.session_count, some.total_tokens) == (3, 15)
    assert math.isclose(some.average_tokens, 5.0)
    assert (some.average_delay, some.shortest_delay, some.longest_delay) == (pytest.approx(1.75), 1.0, 2.5)
