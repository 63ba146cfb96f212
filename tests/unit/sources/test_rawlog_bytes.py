"""A log keeps the bytes of its file, decodes late, and forgets what was decoded."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxviewer.sources import rawlog
from ctxviewer.sources.rawjson import scan_array
from ctxviewer.sources.rawlog import RawLog


def log_of(data):
    return RawLog(data, scan_array(data))


PRETTY = json.dumps([{"a": 1}, {"b": [2, 3]}, {"c": 4}], indent=2).encode() + b"\n"


def test_items_and_their_bytes():
    log = log_of(PRETTY)
    assert len(log) == 3
    assert log.raw(1) == b'{\n    "b": [\n      2,\n      3\n    ]\n  }'
    assert log.byte_size(1) == len(log.raw(1))
    assert log[0] == {"a": 1}
    assert log[-1] == {"c": 4}
    assert log.raw(-1) == log.raw(2)
    assert log[1:] == [{"b": [2, 3]}, {"c": 4}]
    assert list(log) == [{"a": 1}, {"b": [2, 3]}, {"c": 4}]
    with pytest.raises(IndexError):
        log[3]


@pytest.mark.parametrize("data", [PRETTY, b"[]", b" [ ] ", b'[{"a":1}]', b"\xef\xbb\xbf[1,2]\n", b"[1,2]xyz"])
def test_every_split_gives_the_file_again(data):
    log = log_of(data)
    for count in range(len(log) + 1):
        assert log.head(count) + log.behind(count) == data
    assert log.head(len(log)) + log.closing() == data
    assert log.size == len(data)
    assert log.holds(data)
    assert not log.holds(data + b" ")
    assert log.digest() == hashlib.blake2b(data, digest_size=16).hexdigest()


def test_the_separator_is_that_of_the_file():
    assert log_of(PRETTY).separator() == b",\n  "
    assert log_of(b"[1,2]").separator() == b","
    assert log_of(b"[1]").separator() == b","
    assert log_of(b"[]").separator() == b","


@pytest.mark.parametrize("shared", [1, 2])
def test_a_grown_log_is_like_a_fresh_one(shared):
    old, new = b"[{},{},{}]", b'[{},{}, {"new":1},{"newer":2} ]\n'
    log = log_of(old)
    start = log.position_behind(shared)
    tail = new[start:]
    grown = RawLog.grown(log, shared, tail, scan_array(b"[" + tail[1:]))
    fresh = log_of(new)
    assert list(grown) == list(fresh)
    assert [grown.raw(n) for n in range(4)] == [fresh.raw(n) for n in range(4)]
    assert [grown.head(n) for n in range(5)] == [fresh.head(n) for n in range(5)]
    assert [grown.behind(n) for n in range(5)] == [fresh.behind(n) for n in range(5)]
    assert [grown.begins(n, b'{"new":') for n in range(4)] == [False, False, True, False]
    assert grown.separator() == fresh.separator()
    assert grown.digest() == fresh.digest()
    assert grown.size == len(new)
    assert grown.holds(new)


def test_decoded_items_are_remembered_only_within_bounds(monkeypatch):
    monkeypatch.setattr(rawlog, "KEPT_BYTES", 60)
    log = log_of(json.dumps([{"n": n, "pad": "x" * 10} for n in range(50)]).encode())
    first = log[0]
    assert log[0] is first
    for number in range(50):
        log[number]
    assert log._kept_bytes <= 60
    assert log._kept_bytes == sum(log.byte_size(number) for number in log._kept)
    assert log[0] == first
    assert log[0] is not first


def test_one_item_beyond_the_bound_is_not_remembered(monkeypatch):
    monkeypatch.setattr(rawlog, "KEPT_BYTES", 5)
    log = log_of(b'[{"long":"enough"}]')
    assert log[0] == log[0]
    assert not log._kept


def test_iterating_remembers_nothing():
    log = log_of(PRETTY)
    assert sum(1 for _ in log) == 3
    assert not log._kept


def test_several_threads_may_read():
    log = log_of(json.dumps([{"n": n} for n in range(500)]).encode())
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: [item["n"] for item in (log[n] for n in range(500))], range(8)))
    assert all(result == list(range(500)) for result in results)


@given(st.lists(st.dictionaries(st.text(max_size=3), st.integers(), max_size=2), max_size=6), st.integers(0, 40))
def test_items_within_never_splits_an_item(values, position):
    data = json.dumps(values).encode()
    log = log_of(data)
    count = log.items_within(position)
    assert log.position_behind(count) <= max(position, 1)
    assert count == sum(1 for end in log._ends if end <= position)


def test_a_number_at_the_edge_may_go_on_and_is_not_within():
    log = log_of(b"[{},12]")
    assert log.items_within(6) == 1
