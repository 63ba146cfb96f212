"""Damaged, missing and foreign files: told with file and place, and the rest is shown."""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxviewer.domain.errors import UnreadableTaskError
from ctxviewer.domain.finding import Severity
from ctxviewer.domain.snapshot import FileRole
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import files
from ctxviewer.sources.cline import reader
from ctxviewer.sources.files import open_file
from helpers.cline_disk import Disk, FakeClock, assistant, codes, compact, finding, say, started, turns, user


@pytest.fixture
def disk(tmp_path):
    disk = Disk(tmp_path)
    disk.index(disk.item())
    return disk


@pytest.fixture
def healthy(disk):
    disk.api(turns(6))
    disk.ui([say(1, "task", "t", last=-1), started(2, last=-1), say(3, "text", "x", last=5)])
    disk.updates([[2, [2, [[0, [[5, "text", ["dup"], []]]]]]]])
    disk.write("task_metadata.json", {"files_in_context": []})
    assert codes(disk.read()) == []
    return disk


class TestMissing:
    def test_the_folder(self, disk):
        disk.dir.rmdir()
        with pytest.raises(UnreadableTaskError, match="is not there") as caught:
            disk.read()
        assert caught.value.place == str(disk.dir)

    def test_all_files(self, disk):
        with pytest.raises(UnreadableTaskError, match="holds no file of a conversation"):
            disk.read()

    def test_the_history(self, healthy):
        (healthy.dir / "api_conversation_history.json").unlink()
        snapshot = healthy.read()
        assert codes(snapshot) == ["api-missing"]
        assert (snapshot.has_messages, len(snapshot.messages)) == (False, 0)
        assert (len(snapshot.ui), len(snapshot.requests)) == (3, 1)
        assert [stamp.exists for stamp in snapshot.files] == [False, True, True, True, True]

    def test_the_timeline(self, healthy):
        (healthy.dir / "ui_messages.json").unlink()
        snapshot = healthy.read()
        assert codes(snapshot) == ["ui-missing"]
        assert (snapshot.has_timeline, len(snapshot.requests)) == (False, 3)

    def test_both_leave_what_there_is(self, healthy):
        (healthy.dir / "api_conversation_history.json").unlink()
        (healthy.dir / "ui_messages.json").unlink()
        snapshot = healthy.read()
        assert codes(snapshot) == ["api-missing", "ui-missing"]
        assert snapshot.updates_text
        assert snapshot.metadata == {"files_in_context": []}

    def test_updates_and_metadata_may_be_absent(self, healthy):
        (healthy.dir / "context_history.json").unlink()
        (healthy.dir / "task_metadata.json").unlink()
        snapshot = healthy.read()
        assert codes(snapshot) == []
        assert (snapshot.updates_text, snapshot.metadata) == (None, None)

    def test_there_is_no_index_at_all(self, healthy):
        (healthy.root / "state" / "taskHistory.json").unlink()
        snapshot = healthy.read()
        assert codes(snapshot) == ["not-in-index"]
        assert "There is no task index" in finding(snapshot, "not-in-index").sentence


class TestHistory:
    @pytest.mark.parametrize("content", [b"", b"\0" * 50, b" \n"])
    def test_empty_file(self, healthy, content):
        healthy.api(content)
        snapshot = healthy.read()
        assert codes(snapshot) == ["api-missing", "file-empty"]
        assert not snapshot.has_messages

    @pytest.mark.parametrize("content", [b"{}", b"x = 1\n", b"null"])
    def test_no_list(self, healthy, content):
        healthy.api(content)
        snapshot = healthy.read()
        assert codes(snapshot) == ["api-missing", "file-no-list"]
        assert finding(snapshot, "file-no-list").place == "byte 0"

    def test_a_literal_empty_list(self, healthy):
        healthy.api([])
        snapshot = healthy.read()
        assert "api-empty" in codes(snapshot)
        assert snapshot.has_messages

    def test_cut_off(self, healthy):
        whole = compact(turns(6))
        healthy.api(whole[:-20])
        snapshot = healthy.read()
        found = finding(snapshot, "file-cut-off")
        assert (found.file, found.severity) == ("api_conversation_history.json", Severity.ERROR)
        assert found.place == f"byte {len(whole) - 20}, item 5"
        assert "5 items before it can be read" in found.sentence
        assert list(snapshot.messages) == turns(5)

    def test_garbage_behind(self, healthy):
        healthy.api(compact(turns(6)) + b'xt":"y"}]')
        snapshot = healthy.read()
        assert codes(snapshot) == ["file-garbage-behind"]
        assert list(snapshot.messages) == turns(6)

    def test_wrong_types_inside(self, healthy):
        odd = [user("a"), assistant("b"), 7, "text", None, {"role": "system"}, {"role": 5, "content": {}}, []]
        healthy.api(odd)
        snapshot = healthy.read()
        assert list(snapshot.messages) == odd
        found = finding(snapshot, "role-odd")
        assert (found.message, found.place) == (2, "message 2")
        assert "6 messages" in found.sentence

    def test_the_same_role_twice(self, healthy):
        healthy.api([user("a"), user("b"), assistant("c"), user("d"), assistant("e"), user("f")])
        snapshot = healthy.read()
        assert codes(snapshot) == ["roles-repeat"]
        assert finding(snapshot, "roles-repeat").message == 1

    def test_lone_surrogates_and_control_characters_survive(self, healthy):
        healthy.api([user("cut \ud83d"), assistant("nul \0 esc \x1b[31m bidi \u202e crlf \r\n"), *turns(6)[2:]])
        snapshot = healthy.read()
        assert codes(snapshot) == []
        assert snapshot.messages[0] == user("cut \ud83d")

    def test_a_byte_order_mark(self, healthy):
        healthy.api(b"\xef\xbb\xbf" + compact(turns(6)))
        snapshot = healthy.read()
        assert codes(snapshot) == ["file-unusual-json"]
        assert list(snapshot.messages) == turns(6)


class TestTimeline:
    def test_wrong_types_are_told_and_shown(self, healthy):
        healthy.ui(
            [
                say(1, "task", "t", last=-1),
                5,
                {"ts": "x", "type": "say", "say": "text"},
                {"ts": 3, "type": "shout", "say": "text"},
                {"ts": 4, "type": "ask"},
                {"ts": 5, "type": "say", "say": ["text"], "text": {"a": 1}},
                say(6, "text", last="three", deleted={"a": 1}, modelInfo=7, partial="yes"),
            ]
        )
        snapshot = healthy.read()
        assert codes(snapshot) == ["entry-odd"]
        found = finding(snapshot, "entry-odd")
        assert "6 odd entries; of item 1, it is no object" in found.sentence
        assert len(snapshot.ui) == len(snapshot.ui_items) == 7
        assert snapshot.ui[6].last_message is None
        assert (snapshot.ui[6].model_id, snapshot.ui[6].partial) == ("", False)

    @pytest.mark.parametrize(
        ("entry", "words"),
        [
            ({"ts": "x", "type": "say", "say": "text"}, 'its ts is "x"'),
            ({"ts": 3, "type": "shout", "say": "text"}, 'its type is "shout"'),
            ({"ts": 4, "type": "ask"}, "its ask is missing"),
            ({"ts": 5, "type": "say", "say": ["text"]}, 'its say is ["text"]'),
            (say(6, "text", last="three"), 'its conversationHistoryIndex is "three"'),
            (say(6, "text", deleted=[1]), "its conversationHistoryDeletedRange is [1]"),
        ],
    )
    def test_each_oddity_in_words(self, healthy, entry, words):
        healthy.ui([entry])
        assert words in finding(healthy.read(), "entry-odd").sentence

    def test_unknown_kinds_are_counted(self, healthy):
        healthy.ui([say(1, "dance", last=5), say(2, "dance", last=5), say(3, "text", last=5)])
        snapshot = healthy.read()
        assert codes(snapshot) == ["kind-unknown"]
        assert "say:dance (2)" in finding(snapshot, "kind-unknown").sentence

    def test_times_that_repeat(self, healthy):
        healthy.ui([say(1, "text", last=5), say(2, "text", last=5), say(1, "text", last=5)])
        snapshot = healthy.read()
        assert codes(snapshot) == ["timestamp-repeated"]
        assert finding(snapshot, "timestamp-repeated").place == "item 2"

    def test_an_index_beyond_the_history(self, healthy):
        healthy.ui([say(1, "text", last=6)])
        snapshot = healthy.read()
        assert codes(snapshot) == ["timeline-ahead"]
        assert "message 6" in finding(snapshot, "timeline-ahead").sentence

    def test_an_entry_that_only_lenient_readers_take(self, healthy):
        raw = compact([say(1, "text", "a", last=5), started(2, last=5)])
        healthy.ui(raw.replace(b'"text":"a"', b'"text":"a\xff\\ud83d"'))
        snapshot = healthy.read()
        assert snapshot.ui_items[0]["text"] == "a\ufffd\ud83d"
        assert snapshot.ui[0].ts == 1
        assert codes(snapshot) == ["file-not-utf8"]


class TestUpdates:
    @pytest.mark.parametrize("content", [b"", b"{}", b"[1", b"[]x", b"\xef\xbb\xbf[]", b"null"])
    def test_unreadable_counts_as_none_and_is_told(self, healthy, content):
        healthy.updates(content)
        snapshot = healthy.read()
        assert codes(snapshot) == ["updates-unreadable"]
        assert snapshot.updates_text == content.decode()

    @pytest.mark.parametrize(
        ("content", "words", "place"),
        [
            (b"", "the file is empty", "byte 0"),
            (b"{}", "no list of items begins at byte 0", "byte 0"),
            (b"[[1,[0,[[0,[[5,", "it ends at byte 15, inside item 0", "byte 15, item 0"),
            (b"[]x", "1 bytes follow the end of the list at byte 2", "byte 2"),
            (b"\xef\xbb\xbf[]", "it begins with a byte order mark", "byte 0"),
        ],
    )
    def test_unreadable_names_the_place(self, healthy, content, words, place):
        healthy.updates(content)
        found = finding(healthy.read(), "updates-unreadable")
        assert words in found.sentence
        assert (found.file, found.place) == ("context_history.json", place)

    @pytest.mark.parametrize("odd", [b"a\x01b", b"a\nb"])
    def test_what_only_a_lenient_reader_takes_is_no_update_of_the_agent(self, healthy, odd):
        """The agent's strict reader throws on it, and goes on without updates: that must not happen in silence."""
        healthy.updates(b'[[2,[2,[[0,[[5,"text",["' + odd + b'"],[]]]]]]]]')
        snapshot = healthy.read()
        assert Timeline(snapshot).updates == ()
        assert codes(snapshot) == ["updates-unreadable"]
        assert finding(snapshot, "updates-unreadable").place == "byte 1, item 0"

    def test_bytes_that_are_not_utf8_are_read_as_the_agent_reads_them(self, healthy):
        healthy.updates(b'[[2,[2,[[0,[[5,"text",["a\xffb"],[]]]]]]]]')
        snapshot = healthy.read()
        assert codes(snapshot) == []
        assert [update.text for update in Timeline(snapshot).updates] == ["a\ufffdb"]

    def test_on_missing_messages_and_blocks(self, healthy):
        at = [[5, "text", ["dup"], []]]
        healthy.updates([[6, [2, [[0, at]]]], [-1, [2, [[0, at]]]], [3, [2, [[0, at], [4, at]]]], [1, [0, [[0, at]]]]])
        snapshot = healthy.read()
        found = finding(snapshot, "update-dangling")
        assert "3 updates" in found.sentence
        assert found.place == "message 6"

    def test_on_a_block_of_string_content(self, healthy):
        healthy.api([{"role": "user", "content": "words"}, *turns(6)[1:]])
        healthy.updates([[0, [1, [[0, [[5, "text", ["dup"], []]]]]]]])
        assert finding(healthy.read(), "update-dangling").place == "message 0 block 0"

    @pytest.mark.parametrize(
        "item",
        [
            *(5, [], [1], [1, 2], ["x", [0, []]], [1, [0]], [1, [0, {}]], None),
            *([1, [0, [change]]] for change in (5, [], [0], ["0", []], [0, {}], [0, [5]], [0, [[]]])),
            *([1, [0, [[0, [[5, *rest]]]]]] for rest in (["text"], ["image", ["x"], []], ["text", [], []])),
            *([1, [0, [[0, [[5, "text", texts, []]]]]]] for texts in ("x", [5], [None])),
        ],
    )
    def test_without_the_shape_of_one(self, healthy, item):
        healthy.updates([[1, [0, [[0, [[5, "text", ["n"], []]]]]]], item])
        snapshot = healthy.read()
        assert codes(snapshot) == ["update-odd"]
        found = finding(snapshot, "update-odd")
        assert found.place == "item 1"
        assert found.sentence == "context_history.json has 1 item that is no update, first item 1."
        assert "has 1 item that is no update, first item 1" in finding(snapshot, "update-odd").sentence


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'"x"'])
def test_unreadable_metadata(healthy, content):
    healthy.write("task_metadata.json", content)
    snapshot = healthy.read()
    assert codes(snapshot) == ["metadata-unreadable"]
    assert snapshot.metadata is None


@pytest.mark.parametrize(
    ("content", "words", "place"),
    [
        (b"", "the file is empty", "byte 0"),
        (b"\0\0", "the file is empty", "byte 0"),
        (b"[]", "it holds no object", "byte 0"),
        ('{"files_in_context":["ü",'.encode(), "it is no JSON at byte 26", "byte 26"),
        (b'{"a":1}}', "it is no JSON at byte 7", "byte 7"),
    ],
)
def test_unreadable_metadata_names_the_place(healthy, content, words, place):
    healthy.write("task_metadata.json", content)
    found = finding(healthy.read(), "metadata-unreadable")
    assert words in found.sentence
    assert (found.file, found.place) == ("task_metadata.json", place)


@pytest.mark.parametrize("usage", [5, [1, None], [{"ts": "x", "model_id": 7}], {"a": 1}])
def test_odd_metadata_is_no_trouble(healthy, usage):
    healthy.write("task_metadata.json", {"model_usage": usage})
    assert codes(healthy.read()) == []


class TestIndex:
    @pytest.mark.parametrize(
        ("content", "words"),
        [(b"", "the file is empty"), (b"{}", "no list"), (b'[{"id":"1","ts":1,"task":"x"', "inside item 0")],
    )
    def test_damaged(self, healthy, content, words):
        healthy.index(content)
        snapshot = healthy.read()
        assert codes(snapshot) == ["index-damaged"]
        assert words in finding(snapshot, "index-damaged").sentence
        assert snapshot.index_item is None

    def test_items_before_the_damage_count(self, healthy):
        healthy.index(compact([healthy.item()])[:-1] + b',{"id":"2"')
        snapshot = healthy.read()
        assert snapshot.index_item == healthy.item()
        assert codes(snapshot) == ["index-damaged"]

    @pytest.mark.parametrize(
        "spelled", ['{"id":"%s","x":1}', '{ "id" : "%s","x":1}', '{"x":1,"id":"%s"}', '{"x":1,"t":"\\ud83d","id":"%s"}']
    )
    def test_an_entry_is_found_however_it_is_written(self, healthy, spelled):
        other = spelled % (healthy.task_id + "0")
        healthy.index(f"[{other},{spelled % healthy.task_id}, {other}]".encode())
        snapshot = healthy.read()
        assert snapshot.index_item["x"] == 1
        assert codes(snapshot) == []

    def test_the_first_of_repeated_entries_counts(self, healthy):
        healthy.index(5, None, healthy.item(size=1), healthy.item(size=2))
        snapshot = healthy.read()
        assert snapshot.index_item["size"] == 1
        assert finding(snapshot, "index-repeated").place == "item 2"


class TestRights:
    def test_a_folder_that_may_not_be_read(self, healthy, monkeypatch):
        def listdir(path):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(reader.os, "listdir", listdir)
        with pytest.raises(UnreadableTaskError, match="Permission denied") as caught:
            healthy.read()
        assert "rights" in caught.value.hint

    @pytest.mark.parametrize(
        "name", ["api_conversation_history.json", "ui_messages.json", "context_history.json", "task_metadata.json"]
    )
    def test_a_file_that_may_not_be_read(self, healthy, name):
        (healthy.dir / name).unlink()
        (healthy.dir / name).mkdir()
        snapshot = healthy.read()
        found = finding(snapshot, "file-unreadable")
        assert (found.file, found.severity) == (name, Severity.ERROR)
        assert found.advice == "Nothing that the agent writes; something else stands in the file's place."
        (stamp,) = [stamp for stamp in snapshot.files if stamp.path.name == name]
        assert stamp.exists
        assert not stamp.digest

    @pytest.mark.parametrize("name", ["ui_messages.json", "context_history.json"])
    def test_a_file_without_rights(self, healthy, name, monkeypatch):
        def refuse(path):
            if path.name == name:
                raise PermissionError(13, "Permission denied", str(path))
            return open_file(path)

        monkeypatch.setattr(files, "open_file", refuse)
        found = finding(healthy.read(), "file-unreadable")
        assert found.sentence == f"{name} cannot be read: Permission denied."
        assert found.advice == "Check the rights of the file."

    def test_an_index_that_may_not_be_read(self, healthy):
        path = healthy.root / "state" / "taskHistory.json"
        path.unlink()
        path.mkdir()
        assert codes(healthy.read()) == ["index-damaged"]


def touch(path, now):
    os.utime(path, (now, now))


class TestHalfWritten:
    def test_is_read_again_a_little_later(self, healthy):
        whole = compact(turns(8))
        path = healthy.api(whole[:50])
        clock = FakeClock(during=lambda _: path.write_bytes(whole))
        touch(path, clock.time)
        snapshot = healthy.read(clock=clock.clock())
        assert clock.slept == [0.1]
        assert len(snapshot.messages) == 8
        assert codes(snapshot) == []

    def test_is_tried_twice_more_then_shown_as_it_is(self, healthy):
        path = healthy.api(compact(turns(8))[:-5])
        clock = FakeClock()
        touch(path, clock.time)
        snapshot = healthy.read(clock=clock.clock())
        assert clock.slept == [0.1, 0.4]
        assert codes(snapshot) == ["file-cut-off"]

    @pytest.mark.parametrize("name", ["context_history.json", "task_metadata.json"])
    def test_what_the_agent_writes_in_place_is_read_again_a_little_later(self, healthy, name):
        """No version of the agent writes these two beside their place first."""
        path = healthy.dir / name
        whole = path.read_bytes()

        def write(content):
            path.write_bytes(content)
            touch(path, clock.time)

        clock = FakeClock(during=lambda times: write(whole if times == 2 else b""))
        write(whole[:-3])
        snapshot = healthy.read(clock=clock.clock())
        assert clock.slept == [0.1, 0.4]
        assert codes(snapshot) == []
        assert len(Timeline(snapshot).updates) == 1
        assert snapshot.metadata == {"files_in_context": []}

    def test_so_is_the_index(self, healthy):
        """Versions 3.28 to 3.39 wrote it in place."""
        path = healthy.root / "state" / "taskHistory.json"
        whole = path.read_bytes()
        path.write_bytes(whole[:-9])
        clock = FakeClock(during=lambda _: path.write_bytes(whole))
        touch(path, clock.time)
        snapshot = healthy.read(clock=clock.clock())
        assert clock.slept == [0.1]
        assert codes(snapshot) == []
        assert snapshot.index_item == healthy.item()

    def test_an_old_damaged_file_is_not_waited_for(self, healthy):
        healthy.api(compact(turns(8))[:-5])
        healthy.updates(b"[1")
        healthy.write("task_metadata.json", b"{")
        healthy.index(b"[")
        clock = FakeClock()
        healthy.read(clock=clock.clock())
        assert clock.slept == []

    def test_the_last_good_reading_stands(self, healthy):
        good = healthy.read(generation=1)
        healthy.api(compact(turns(8))[:-5])
        healthy.ui(b"")
        snapshot = healthy.read(previous=good, generation=2)
        assert codes(snapshot) == ["kept-last-good", "kept-last-good"]
        assert snapshot.messages is good.messages
        assert snapshot.ui == good.ui
        assert snapshot.requests == good.requests
        kept = {FileRole.MESSAGES, FileRole.TIMELINE}
        assert [s for s in snapshot.files if s.role in kept] == [s for s in good.files if s.role in kept]
        healthy.api(turns(8))
        healthy.ui([say(1, "task", "t", last=-1)])
        again = healthy.read(previous=snapshot, generation=3)
        assert codes(again) == []
        assert (len(again.messages), len(again.ui)) == (8, 1)

    def test_a_file_that_vanishes_for_a_rename_is_waited_for(self, healthy):
        good = healthy.read(generation=1)
        path = healthy.dir / "ui_messages.json"
        path.unlink()
        clock = FakeClock(during=lambda _: healthy.ui([say(9, "text", last=5)]))
        snapshot = healthy.read(previous=good, generation=2, clock=clock.clock())
        assert clock.slept == [0.1]
        assert [entry.ts for entry in snapshot.ui] == [9]

    def test_a_file_that_stays_away_is_missing(self, healthy):
        good = healthy.read(generation=1)
        (healthy.dir / "ui_messages.json").unlink()
        snapshot = healthy.read(previous=good, generation=2, clock=FakeClock().clock())
        assert codes(snapshot) == ["ui-missing"]


def test_numbers_of_thousands_of_digits_keep_nothing_from_being_read(healthy):
    """Python refuses to make them; for the agent they are infinite."""
    long = b"9" * 5_000
    healthy.api(compact(turns(6))[:-1] + b',{"role":"user","content":"x","ts":' + long + b"}]")
    healthy.ui(b'[{"ts":' + long + b',"type":"say","say":"text","text":"x"}]')
    healthy.write("task_metadata.json", b'{"model_usage":[{"ts":-' + long + b',"model_id":"m"}]}')
    healthy.index(b'[{"id":"1","size":' + long + b"}," + compact([healthy.item()])[1:])
    snapshot = healthy.read()
    assert codes(snapshot) == ["entry-odd"]
    assert snapshot.messages[6] == {"role": "user", "content": "x", "ts": float("inf")}
    assert snapshot.metadata == {"model_usage": [{"ts": float("-inf"), "model_id": "m"}]}
    assert snapshot.index_item == healthy.item()
    healthy.write("task_metadata.json", b"[" + long + b"]")
    assert codes(healthy.read()) == ["entry-odd", "metadata-unreadable"]


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "ts",
                    "type",
                    "say",
                    "ask",
                    "text",
                    "role",
                    "content",
                    "conversationHistoryIndex",
                    "conversationHistoryDeletedRange",
                    "id",
                    "modelInfo",
                ]
            ),
            inner
            | st.sampled_from(["say", "ask", "api_req_started", "text", "user", "assistant", "checkpoint_created"]),
            max_size=6,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(api=JSONISH, ui=JSONISH, updates=JSONISH, metadata=JSONISH, index=JSONISH)
def test_whatever_the_files_hold_it_is_read(tmp_path, api, ui, updates, metadata, index):
    root = tmp_path / "any"
    shutil.rmtree(root, ignore_errors=True)
    disk = Disk(root)
    disk.api(api)
    disk.ui(ui)
    disk.updates(updates)
    disk.write("task_metadata.json", metadata)
    disk.index(compact([disk.item(), index] if isinstance(index, dict) else index))
    snapshot = disk.read()
    assert len(snapshot.ui) == len(snapshot.ui_items)
    again = disk.read(previous=snapshot, generation=1)
    assert again.ui == snapshot.ui
    assert again.requests == snapshot.requests
    assert again.findings == snapshot.findings
