"""Tasks of every version: what old ones lack is worked out, what they say otherwise is understood."""

from __future__ import annotations

import json
import sqlite3

import pytest

from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import CheckpointKind, RequestState, Usage
from ctxviewer.domain.snapshot import FileRole, RangeSource, WindowSource
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from ctxviewer.sources.cline.entries import head_of
from ctxviewer.sources.cline.listing import list_root
from helpers.cline_disk import (
    TASK_ID,
    Disk,
    ask,
    assistant,
    codes,
    compact,
    finding,
    opened_files,
    say,
    started,
    turns,
    user,
)


@pytest.fixture
def disk(tmp_path):
    return Disk(tmp_path)


class TestUpTo19:
    def test_the_timeline_has_its_old_name(self, disk):
        disk.api([{"role": "user", "content": "hi"}, assistant("yes")])
        disk.write("claude_messages.json", [say(1, "text", "hi"), started(2)])
        snapshot = disk.read()
        assert [entry.kind for entry in snapshot.ui] == ["text", "api_req_started"]
        (stamp,) = [stamp for stamp in snapshot.files if stamp.role is FileRole.TIMELINE]
        assert stamp.path.name == "claude_messages.json"
        assert snapshot.messages[0]["content"] == "hi"

    def test_the_new_name_wins(self, disk):
        disk.write("claude_messages.json", [say(1, "text", "old")])
        disk.ui([say(2, "text", "new"), say(3, "text", "newer")])
        assert len(disk.read().ui) == 2

    def test_the_old_name_may_hold_the_history(self, disk):
        disk.write("claude_messages.json", turns(4))
        snapshot = disk.read()
        assert list(snapshot.messages) == turns(4)
        assert (snapshot.has_messages, snapshot.has_timeline) == (True, False)
        assert len(snapshot.requests) == 2

    def test_usage_comes_in_an_entry_of_its_own(self, disk):
        finish = json.dumps({"tokensIn": 7, "tokensOut": 3, "cost": 0.25})
        disk.ui(
            [
                say(1, "text", "hi"),
                started(2, counts=None, cost=None),
                say(3, "api_req_finished", finish),
                started(4, counts=None, cost=None),
            ]
        )
        first, second = disk.read().requests
        assert first.usage == Usage(7, 3, 0, 0, 0.25)
        assert (first.state, first.usage_reported) == (RequestState.DONE, True)
        assert (second.state, second.usage_reported) == (RequestState.RUNNING, False)


def test_indexes_are_missing_up_to_3_0(disk):
    disk.api(turns(2))
    disk.ui([say(1, "text", "hi"), started(2), say(3, "text", "ho")])
    snapshot = disk.read()
    assert [entry.last_message for entry in snapshot.ui] == [None, None, None]
    assert snapshot.requests[0].last_message is None
    assert codes(snapshot) == ["not-in-index"]


def test_ranges_of_3_1_to_3_9_2_start_at_message_1(disk):
    disk.api(turns(20))
    disk.ui([say(1, "text", "hi", last=18, deleted=[1, 8])])
    disk.index(disk.item(conversationHistoryDeletedRange=[1, 8]))
    snapshot = disk.read()
    assert snapshot.range_now == Range(1, 8)
    assert codes(snapshot) == ["range-old-start"]


def test_the_index_of_before_3_28_lies_in_the_database_of_the_editor(tmp_path):
    disk = Disk(tmp_path / "globalStorage" / "saoudrizwan.claude-dev")
    disk.api(turns(6))
    disk.ui([say(1, "text", "hi", last=4)])
    with sqlite3.connect(tmp_path / "globalStorage" / "state.vscdb") as database:
        database.execute("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        state = {"mode": "act", "taskHistory": [disk.item(conversationHistoryDeletedRange=[2, 3])]}
        database.execute("INSERT INTO ItemTable VALUES (?, ?)", ("saoudrizwan.claude-dev", json.dumps(state)))
    database.close()
    before = sorted(path.name for path in (tmp_path / "globalStorage").iterdir())
    snapshot = disk.read()
    assert snapshot.range_now == Range(2, 3)
    assert snapshot.range_source is RangeSource.INDEX
    assert "index-in-editor" in codes(snapshot)
    (ref,) = list_root(disk.root)
    assert (ref.in_index, ref.title) == (True, "do it")
    assert sorted(path.name for path in (tmp_path / "globalStorage").iterdir()) == before


def test_hashes_may_carry_a_prefix(disk):
    disk.ui([say(1, "checkpoint_created", lastCheckpointHash="HEAD abc123"), say(2, "checkpoint_created")])
    snapshot = disk.read()
    assert [point.hash for point in snapshot.checkpoints] == ["abc123", ""]
    assert [point.kind for point in snapshot.checkpoints] == [CheckpointKind.CHECKPOINT] * 2


class TestRequests:
    def test_states(self, disk):
        disk.ui(
            [
                started(1, cost=None),
                started(2, cost=None, cancelReason="user_cancelled"),
                started(3, cost=None, cancelReason="streaming_failed", streamingFailedMessage="it broke"),
                started(4, cost=None, cancelReason="retries_exhausted"),
                started(5, cost=0),
                started(6, cost=None, counts=None),
            ]
        )
        requests = disk.read().requests
        assert [(request.state.value, request.failure) for request in requests] == [
            ("failed", "its end is not recorded"),
            ("cancelled", "user cancelled"),
            ("failed", "it broke"),
            ("failed", "retries exhausted"),
            ("done", ""),
            ("running", ""),
        ]

    def test_unusable_numbers_count_as_nothing_and_are_told(self, disk):
        body = '{"tokensIn":"9","tokensOut":null,"cacheWrites":true,"cacheReads":8,"cost":0.1}'
        disk.ui([say(1, "api_req_started", body), say(2, "api_req_started", "no json"), say(3, "api_req_started")])
        snapshot = disk.read()
        assert [request.usage.total for request in snapshot.requests] == [8, 0, 0]
        assert [request.usage_reported for request in snapshot.requests] == [True, False, False]
        assert finding(snapshot, "usage-unreadable").place == "item 0"
        assert "3 requests" in finding(snapshot, "usage-unreadable").sentence
        assert "tokensIn, cacheWrites" in finding(snapshot, "usage-unreadable").sentence

    def test_numbers_that_nobody_can_have_counted_are_unusable(self, disk):
        bodies = [
            '{"tokensIn":1e308,"tokensOut":-1e20,"cost":9e15,"cacheReads":9007199254740992}',
            '{"tokensIn":1e999}',
        ]
        disk.ui([say(number, "api_req_started", body) for number, body in enumerate(bodies, 1)])
        snapshot = disk.read()
        assert [request.usage.total for request in snapshot.requests] == [2**53, 0]
        assert snapshot.requests[0].usage.cost == 9e15
        assert not snapshot.requests[1].usage_reported
        assert "tokensIn, tokensOut is no usable number" in finding(snapshot, "usage-unreadable").sentence

    def test_range_and_index_of_the_entry(self, disk):
        disk.ui([started(1, last=4, deleted=[2, 3])])
        (request,) = disk.read().requests
        assert (request.last_message, request.range_before, request.ui_index) == (4, Range(2, 3), 0)

    def test_models_come_from_entry_then_answer_then_metadata_then_index(self, disk):
        named = {"modelInfo": {"modelId": "from answer", "providerId": "p2", "mode": "act"}}
        disk.api([user("a"), assistant("b", **named), user("c"), assistant("d"), user("e"), assistant("f", **named)])
        entry = started(3, last=3)
        entry["modelInfo"] = {"modelId": "from entry", "providerId": "p1", "mode": "act"}
        disk.ui([started(1, last=-1), started(2, last=1), entry])
        usage = [{"ts": 2, "model_id": "from metadata", "model_provider_id": "p3", "mode": "act"}]
        disk.write("task_metadata.json", {"files_in_context": [], "model_usage": usage})
        disk.index(disk.item(modelId="from index"))
        models = [(request.model_id, request.provider_id) for request in disk.read().requests]
        assert models == [("from answer", "p2"), ("from metadata", "p3"), ("from entry", "p1")]
        disk.write("task_metadata.json", {})
        assert disk.read().requests[1].model_id == "from index"

    def test_without_a_timeline_they_are_the_answers_with_their_metrics(self, disk):
        metrics = {"tokens": {"prompt": 11, "completion": 22, "cached": 33}, "cost": 0.75}
        model = {"modelId": "m", "providerId": "p"}
        disk.api([user("a"), assistant("b", metrics=metrics, modelInfo=model, ts=99), user("c"), assistant("d")])
        snapshot = disk.read()
        assert not snapshot.has_timeline
        first, second = snapshot.requests
        assert first.usage == Usage(11, 22, 0, 33, 0.75)
        assert (first.ts, first.model_id, first.ui_index, first.last_message) == (99, "m", -1, -1)
        assert (second.usage_reported, second.last_message, second.state) == (False, 1, RequestState.DONE)


class TestWindow:
    def test_what_the_task_says_counts_before_the_table(self, disk):
        details = (
            "<environment_details>\n# Context Window Usage\n1,234 / 32.768K tokens used (4%)\n</environment_details>"
        )
        disk.api(
            [user("a"), assistant("b", modelInfo={"modelId": "claude-sonnet-4", "providerId": "x"}), user(details)]
        )
        disk.ui([started(1, last=-1)])
        fact = disk.read().model
        assert (fact.model_id, fact.window, fact.window_source) == ("claude-sonnet-4", 32_768, WindowSource.DETAILS)

    @pytest.mark.parametrize("amount", ["1.2.3K", "9" * 400, "1,,,K", "0", "5", "1,2", "12.", "999,999,999K", "K"])
    def test_numbers_that_are_no_window_are_passed_over(self, disk, amount):
        """A conversation may say anything, also where the agent says how full its window is."""
        words = f"# Context Window Usage\n1 / {amount} tokens used (1%)"
        disk.api([user(words), assistant("a"), user("# Context Window Usage\n1 / 64.5K tokens used (1%)\n" + words)])
        fact = disk.read().model
        assert (fact.window, fact.window_source) == (64_500, WindowSource.DETAILS)
        disk.api([user(words)])
        assert disk.read().model.window_source is WindowSource.DEFAULT

    def test_what_the_user_sets_counts_most(self, disk):
        disk.api([user("# Context Window Usage\n1 / 200K tokens used (1%)")])
        fact = disk.read(window_override=64_000).model
        assert (fact.window, fact.window_source) == (64_000, WindowSource.OVERRIDE)

    def test_a_known_model(self, disk):
        disk.ui([started(1)])
        disk.index(disk.item(modelId="gemini-2.5-pro"))
        fact = disk.read().model
        assert (fact.window, fact.window_source) == (1_048_576, WindowSource.TABLE)

    def test_nothing_known(self, disk):
        disk.api([user("somebody writes 5 / 200K tokens used (1%)")])
        fact = disk.read().model
        assert (fact.model_id, fact.window, fact.window_source) == ("", 128_000, WindowSource.DEFAULT)


class TestRange:
    def test_without_an_index_entry_it_is_that_of_the_last_timeline_entry(self, disk):
        disk.api(turns(10))
        disk.ui([say(1, "text", last=3), say(2, "text", last=9, deleted=[2, 5])])
        disk.index({"id": "1746000000000", "ts": 1, "task": "another"})
        snapshot = disk.read()
        assert (snapshot.range_now, snapshot.range_source) == (Range(2, 5), RangeSource.TIMELINE)
        assert finding(snapshot, "not-in-index").file == "taskHistory.json"

    def test_nowhere(self, disk):
        disk.api(turns(4))
        snapshot = disk.read()
        assert (snapshot.range_now, snapshot.range_source) == (None, RangeSource.NOWHERE)

    def test_index_and_timeline_may_differ(self, disk):
        disk.api(turns(10))
        disk.ui([say(1, "text", last=9, deleted=[2, 5])])
        disk.index(disk.item(conversationHistoryDeletedRange=[2, 7]))
        snapshot = disk.read()
        assert snapshot.range_now == Range(2, 7)
        assert "2–7" in finding(snapshot, "range-differs").sentence
        assert "2–5" in finding(snapshot, "range-differs").sentence

    @pytest.mark.parametrize(
        ("stored", "code"),
        [
            ([2, 10], "range-beyond-end"),
            ([2, 99], "range-beyond-end"),
            ([2, 1], "range-empty"),
            ([2, 0], "range-below-start"),
            ([2, -1], "range-below-start"),
            ([3, 5], "range-odd-start"),
            ([2, "x"], "range-unreadable"),
            ([2], "range-unreadable"),
            ("2-5", "range-unreadable"),
        ],
    )
    def test_odd_ranges_are_told(self, disk, stored, code):
        disk.api(turns(10))
        disk.ui([say(1, "text")])
        disk.index(disk.item(conversationHistoryDeletedRange=stored))
        snapshot = disk.read()
        assert codes(snapshot) == [code]
        assert snapshot.range_now == (None if code == "range-unreadable" else tuple(stored))

    @pytest.mark.parametrize(
        ("end", "words"),
        [
            (0, "the agent then sends message 1 twice"),
            (-1, "the agent then sends messages 0 and 1 twice"),
            (-2, "the agent counts from the end: behind the first pair it sends only the last message"),
            (-5, "the agent counts from the end: behind the first pair it sends only the last 4 messages"),
        ],
    )
    def test_a_range_below_the_start_is_told_with_what_it_sends(self, disk, end, words):
        disk.api(turns(10))
        disk.ui([say(1, "text")])
        disk.index(disk.item(conversationHistoryDeletedRange=[2, end]))
        snapshot = disk.read()
        assert words in finding(snapshot, "range-below-start").sentence
        numbers = [int(message["content"][0]["text"].split()[1]) for message in Timeline(snapshot).sent(None)]
        behind = {0: [1, *range(2, 10)], -1: [*range(10)]}.get(end, [*range(10)][end + 1 :])
        assert numbers == [0, 1, *behind], "what the sentence says"

    def test_a_range_in_the_middle_is_nothing_to_tell(self, disk):
        disk.api(turns(10))
        disk.ui([say(1, "text")])
        disk.index(disk.item(conversationHistoryDeletedRange=[2, 9]))
        assert codes(disk.read()) == []


def test_points_to_go_back_to(disk):
    tool = json.dumps({"tool": "readFile", "path": "src/a.py", "content": "x" * 5000})
    disk.ui(
        [
            say(1, "task", "do it\nplease", last=-1),
            started(2, last=-1),
            say(3, "reasoning", "hm", last=0),
            say(4, "text", "partly", last=0, partial=True),
            ask(5, "tool", tool, last=0),
            say(6, "checkpoint_created", last=1, deleted=[2, 3], lastCheckpointHash="ab"),
            started(7, last=1),
            say(8, "completion_result", "", last=3, lastCheckpointHash="cd"),
            ask(9, "completion_result", "", last=3),
            ask(10, "resume_task", last=3),
        ]
    )
    points = disk.read().checkpoints
    assert [(p.ui_index, p.kind.value, p.title, p.request, p.last_message) for p in points] == [
        (0, "message", "do it please", None, -1),
        (4, "message", "readFile src/a.py", 0, 0),
        (5, "checkpoint", "Checkpoint", 0, 1),
        (7, "completion", "Completed", 1, 3),
    ]
    assert points[2].deleted_range == Range(2, 3)
    assert (points[2].hash, points[2].ts) == ("ab", 6)


@pytest.mark.parametrize("cut", range(300, 330))
def test_titles_are_cut_anywhere_without_harm(disk, cut):
    text = "a" * (cut - 8) + 'é\n\\"😀' + "b" * 50
    disk.ui(compact([say(1, "text", text)]))
    (point,) = disk.read().checkpoints
    assert point.title == "a" * 159 + "…"


@pytest.mark.parametrize("offset", range(24))
def test_a_head_is_the_beginning_of_the_text(offset):
    text = "x" * offset + 'é\n\\"😀\ud83d\t' * 60
    head = head_of(compact(text))
    assert text.startswith(head)
    assert len(head) > 100
    assert head_of(json.dumps(text).encode())
    assert text.startswith(head_of(json.dumps(text).encode()))


def test_a_standalone_root_is_read_like_any_other_and_secrets_are_never_opened(disk):
    disk.api(turns(4))
    disk.ui([say(1, "task", "t", last=-1)])
    disk.index(disk.item())
    for name in ("globalState.json", "secrets.json"):
        (disk.root / name).write_text("{}")
    with opened_files() as opened:
        snapshot = disk.read()
        (ref,) = registry.open_path(disk.root)
    assert (snapshot.task.task_id, ref.task_id) == (TASK_ID, TASK_ID)
    names = {str(name).rpartition("/")[2] for name in opened}
    assert {"api_conversation_history.json", "ui_messages.json", "taskHistory.json"} <= names
    assert "secrets.json" not in names


def test_reading_writes_nothing(disk):
    disk.api(turns(4))
    disk.ui([say(1, "task", "t", last=-1)])
    disk.index(disk.item())
    before = {path: path.stat() for path in sorted(disk.root.rglob("*"))}
    disk.read()
    list_root(disk.root)
    after = {path: path.stat() for path in sorted(disk.root.rglob("*"))}
    assert [(p, s.st_mtime_ns, s.st_ctime_ns) for p, s in before.items()] == [
        (p, s.st_mtime_ns, s.st_ctime_ns) for p, s in after.items()
    ]
