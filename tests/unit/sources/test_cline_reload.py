"""Reading a task again: what is taken over from the reading before is what a fresh reading would give."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxviewer.domain.request import RequestState
from ctxviewer.sources import files
from ctxviewer.sources.cline import parts
from ctxviewer.sources.cline.reader import with_digests
from ctxviewer.sources.fingerprint import file_digest
from helpers.cline_disk import Disk, FakeClock, ask, assistant, codes, say, started, turns, user


@pytest.fixture
def disk(tmp_path):
    disk = Disk(tmp_path)
    disk.api(turns(4))
    disk.ui([say(1, "task", "t", last=-1), started(2, last=-1), say(3, "text", last=0)])
    disk.index(disk.item())
    return disk


def test_unchanged_files_are_not_read_again(disk, monkeypatch):
    first = disk.read()

    def refuse(*_):
        raise AssertionError("read again")

    monkeypatch.setattr(parts, "read_log", refuse)
    again = disk.read(previous=first, generation=1)
    assert again.messages is first.messages
    assert again.ui == first.ui
    assert again.generation == 1
    assert again.findings == first.findings


def test_a_file_written_just_before_the_reading_is_read_again(disk):
    clock = FakeClock(now=1_747_000_001.0)  # a second after the files were written
    first = disk.read(clock=clock.clock())
    path = disk.dir / "api_conversation_history.json"
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"answer 3", b"anSWer 3"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    again = disk.read(previous=first, generation=1, clock=clock.clock())
    assert again.messages[3] == assistant("anSWer 3")


def test_a_rewrite_with_equal_bytes_keeps_the_log(disk):
    first = disk.read()
    os.utime(disk.dir / "api_conversation_history.json")
    again = disk.read(previous=first, generation=1)
    assert again.messages is first.messages
    assert again.files[0].mtime_ns != first.files[0].mtime_ns


def test_entries_before_the_change_are_the_same_objects(disk):
    first = disk.read()
    disk.ui([say(1, "task", "t", last=-1), started(2, last=-1), say(3, "text", "more", last=0), started(4, last=3)])
    again = disk.read(previous=first, generation=1)
    assert again.ui[0] is first.ui[0]
    assert again.ui[1] is first.ui[1]
    assert len(again.ui) == 4
    assert [request.number for request in again.requests] == [0, 1]
    assert again.requests[0] is first.requests[0]


def test_only_the_last_request_can_be_running(disk):
    disk.ui([started(1, cost=None)])
    first = disk.read()
    assert first.requests[0].state is RequestState.RUNNING
    disk.ui([started(1, cost=None), started(2, cost=None)])
    second = disk.read(previous=first, generation=1)
    assert [r.state for r in second.requests] == [RequestState.FAILED, RequestState.RUNNING]
    disk.ui([started(1, cost=None)])
    third = disk.read(previous=second, generation=2)
    assert third.requests == first.requests


def test_a_reading_of_another_task_is_no_help(disk, tmp_path_factory):
    other = Disk(tmp_path_factory.mktemp("other"))
    other.api(turns(2))
    first = other.read()
    assert len(disk.read(previous=first, generation=1).messages) == 4


def test_findings_of_taken_over_parts_stay(disk):
    disk.api([*turns(4), 7])
    disk.ui([5, say(1, "dance"), say(1, "text"), say(3, "api_req_started", "x")])
    first = disk.read()
    assert codes(first) == ["entry-odd", "kind-unknown", "role-odd", "timestamp-repeated", "usage-unreadable"]
    disk.write("task_metadata.json", {})
    again = disk.read(previous=first, generation=1)
    assert again.findings == first.findings
    disk.ui([5, say(1, "dance"), say(1, "text"), say(3, "api_req_started", "x"), say(4, "text")])
    assert disk.read(previous=again, generation=2).findings == first.findings


def test_digests_are_made_when_asked_for(disk):
    disk.updates([])
    snapshot = disk.read()
    assert [bool(stamp.digest) for stamp in snapshot.files] == [False, True, False, False, True]
    for stamp in with_digests(snapshot)[:3]:
        assert stamp.digest == file_digest(stamp.path)
    assert [replace(s, digest="") for s in with_digests(snapshot)] == [replace(s, digest="") for s in snapshot.files]


ENTRIES = st.one_of(
    st.builds(say, st.integers(1, 9), st.sampled_from(["text", "task", "dance"]), st.text('é\ud83d"', max_size=3)),
    st.builds(say, st.integers(1, 9), st.just("text"), last=st.integers(-1, 5), deleted=st.just([2, 3])),
    st.builds(started, st.integers(1, 9), last=st.integers(-1, 5), cost=st.sampled_from([None, 0.5])),
    st.builds(started, st.integers(1, 9), counts=st.none(), cost=st.none()),
    st.builds(say, st.integers(1, 9), st.just("api_req_finished"), st.just('{"tokensIn":5,"cost":1}')),
    st.builds(say, st.integers(1, 9), st.just("api_req_started"), st.just("broken")),
    st.builds(say, st.integers(1, 9), st.sampled_from(["checkpoint_created", "completion_result"])),
    st.builds(ask, st.integers(1, 9), st.just("tool"), st.just('{"tool":"readFile","path":"a"}')),
    st.sampled_from([5, None, {}, {"ts": "x"}]),
)
MODEL = {"modelInfo": {"modelId": "m", "providerId": "p"}}
MESSAGES = st.sampled_from([user("a"), assistant("b"), assistant("c", **MODEL), 5, user("x" * 50)])


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("shared_from", [0, 1 << 20])
def test_a_chain_of_readings_is_like_fresh_readings(tmp_path, shared_from, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "SHARED_FROM", shared_from)
        root = tmp_path / "any"
        shutil.rmtree(root, ignore_errors=True)
        disk = Disk(root)
        ui, api = data.draw(st.lists(ENTRIES, max_size=6)), data.draw(st.lists(MESSAGES, max_size=5))
        disk.api(api)
        known = None
        for generation in range(data.draw(st.integers(1, 5))):
            if data.draw(st.booleans()):
                at = data.draw(st.integers(0, len(ui)))
                ui = [*ui[:at], *data.draw(st.lists(ENTRIES, max_size=3)), *ui[at + data.draw(st.integers(0, 2)) :]]
            if data.draw(st.booleans()):
                api = [*api[: data.draw(st.integers(0, len(api)))], *data.draw(st.lists(MESSAGES, max_size=3))]
            disk.api(api)
            disk.ui(ui)
            touched = data.draw(st.integers(0, 5))
            disk.updates([[touched, [2, [[0, [[5, "text", ["dup"], []]]]]]]])
            for name in ("api_conversation_history.json", "ui_messages.json"):
                moment = 1_747_000_000 + generation
                os.utime(disk.dir / name, (moment, moment))
            known = disk.read(previous=known, generation=generation)
            fresh = disk.read(generation=generation)
            assert known.ui == fresh.ui
            assert known.requests == fresh.requests
            assert known.checkpoints == fresh.checkpoints
            assert known.findings == fresh.findings
            assert known.model == fresh.model
            assert list(known.messages) == list(fresh.messages)
            assert list(known.ui_items) == list(fresh.ui_items)
            assert known.files == fresh.files
            assert with_digests(known) == with_digests(fresh)
