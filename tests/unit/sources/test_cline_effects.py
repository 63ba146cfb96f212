"""Plans as bytes: what does not change stays byte for byte."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxviewer.domain.errors import BrokenInputError, RefusedError
from ctxviewer.domain.plan import Effects, Plan, PlanKind
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Usage
from ctxviewer.domain.snapshot import FileRole
from ctxviewer.engine.plans import plan_optimize, plan_rollback, plan_truncate
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from ctxviewer.sources.cline.effects import change_for
from ctxviewer.sources.cline.members import members, with_value, without
from ctxviewer.sources.fingerprint import digest, file_digest
from ctxviewer.sources.rawjson import decode, scan_array
from ctxviewer.sources.rawlog import RawLog
from helpers.cline_disk import DATA, Disk, assistant, compact, say, started, turns, user

NOW = 1_800_000_000_000


def plan(snapshot, **effects):
    nothing = Projection(stored=0, until=0, deleted_range=None, resume=2)
    return Plan(
        PlanKind.ROLLBACK,
        "roll back",
        snapshot.task.task_id,
        snapshot.generation,
        nothing,
        nothing,
        (),
        Effects(**effects),
    )


def change(snapshot, **effects):
    return change_for(snapshot, plan(snapshot, **effects), NOW)


def written(snapshot, **effects):
    return {effect.role: effect.content for effect in change(snapshot, **effects).effects}


ODD_MESSAGES = (
    b'[ {"role":"user" ,"content":"caf\xc3\xa9 \\u00e9 \\ud83d", "big":123456789012345678901234567890},\n'
    b'{"content":[],"role":"assistant","role":"assistant","f":1.0e5},{"role":"user","content":[]},5 ]\n'
)


@pytest.fixture
def disk(tmp_path):
    disk = Disk(tmp_path)
    disk.api(turns(10))
    disk.ui(
        [say(1, "task", "t", last=-1), started(2, last=-1), say(3, "checkpoint_created", last=3), started(4, last=3)]
    )
    disk.updates([])
    disk.index({"id": "1"}, disk.item(isFavorited=True, unknown=[1]))
    return disk


class TestHistory:
    @pytest.mark.parametrize(
        ("keep", "content"),
        [
            (0, b"[ ]\n"),
            (1, ODD_MESSAGES[: ODD_MESSAGES.index(b",\n{")] + b" ]\n"),
            (3, ODD_MESSAGES[: ODD_MESSAGES.index(b",5")] + b" ]\n"),
        ],
    )
    def test_kept_messages_keep_their_bytes(self, disk, keep, content):
        disk.api(ODD_MESSAGES)
        assert written(disk.read(), keep_messages=keep) == {FileRole.MESSAGES: content}

    def test_nothing_to_cut_is_nothing_to_write(self, disk):
        assert written(disk.read(), keep_messages=10) == {}
        assert written(disk.read(), keep_messages=99) == {}

    def test_a_damaged_file_is_not_written(self, disk):
        disk.api(compact(turns(10)) + b"xx")
        with pytest.raises(RefusedError, match="is damaged"):
            change(disk.read(), keep_messages=2)

    def test_a_missing_file_is_not_written(self, disk):
        (disk.dir / "ui_messages.json").unlink()
        with pytest.raises(RefusedError, match="is missing"):
            change(disk.read(), keep_ui=0, append_ui=({"ts": 0},))

    def test_an_earlier_reading_is_not_written(self, disk):
        good = disk.read()
        disk.api(compact(turns(10))[:-3])
        with pytest.raises(RefusedError, match="an earlier reading"):
            change(disk.read(previous=good), keep_messages=2)


class TestTimeline:
    ENTRY: ClassVar = {"ts": 0, "type": "say", "say": "deleted_api_reqs", "text": '{"cost":0.1}', "odd": "\ud83d é"}
    JSON = '{"ts":1800000000000,"type":"say","say":"deleted_api_reqs","text":"{\\"cost\\":0.1}","odd":"\\ud83d é"}'.encode()

    def test_entries_are_added_with_the_time_of_the_write(self, disk):
        raw = (disk.dir / "ui_messages.json").read_bytes()
        log = RawLog(raw, scan_array(raw))
        content = written(disk.read(), keep_ui=3, append_ui=(self.ENTRY,))[FileRole.TIMELINE]
        assert content == log.head(3) + b"," + self.JSON + b"]"

    def test_a_formatted_file_keeps_its_format(self, disk):
        disk.ui(json.dumps([say(1, "task"), say(2, "text"), say(3, "text")], indent=2).encode() + b"\n")
        content = written(disk.read(), keep_ui=1, append_ui=(self.ENTRY, self.ENTRY))[FileRole.TIMELINE]
        first = json.dumps([say(1, "task")], indent=2).encode()[: -len(b"\n]")]
        assert content == first + b",\n  " + self.JSON + b",\n  " + self.JSON + b"\n]\n"

    def test_an_entry_in_an_emptied_file(self, disk):
        content = written(disk.read(), keep_ui=0, append_ui=(self.ENTRY,))[FileRole.TIMELINE]
        assert content == b"[" + self.JSON + b"]"

    def test_nothing_cut_and_nothing_added(self, disk):
        assert written(disk.read(), keep_ui=4) == {}

    def test_the_old_name_is_kept(self, disk):
        (disk.dir / "ui_messages.json").rename(disk.dir / "claude_messages.json")
        (effect,) = change(disk.read(), keep_ui=1).effects
        assert effect.path.name == "claude_messages.json"


class TestUpdates:
    def test_new_text_is_written_as_it_is(self, disk):
        text = '[[1,[0,[[0,[[5,"text",["\\ud83d é"],[]]]]]]]]'
        assert written(disk.read(), updates_text=text) == {FileRole.UPDATES: text.encode()}

    def test_the_same_text_is_not_written(self, disk):
        assert written(disk.read(), updates_text="[]") == {}

    def test_a_new_file(self, disk):
        (disk.dir / "context_history.json").unlink()
        (effect,) = change(disk.read(), updates_text="[]").effects
        assert (effect.path, effect.content) == (disk.dir / "context_history.json", b"[]")


class TestIndex:
    ITEM = b'{"id":"%s", "ts":5,"task":"caf\xc3\xa9 \\ud83d","big":12345678901234567890123,"totalCost":0.10,"size":7,"isFavorited":false}'

    def item(self, disk, **effects):
        return written(disk.read(), **effects).get(FileRole.INDEX)

    def test_a_range_goes_where_the_agent_puts_it(self, disk):
        raw = self.ITEM % disk.task_id.encode()
        disk.index(b"[" + raw + b"]")
        new = self.item(disk, set_range=True, deleted_range=Range(2, 5))
        assert new == raw.replace(b',"isFav', b',"conversationHistoryDeletedRange":[2,5],"isFav')

    def test_a_range_is_replaced_in_its_place(self, disk):
        disk.index(disk.item(conversationHistoryDeletedRange=[2, 3], x=1))
        new = self.item(disk, set_range=True, deleted_range=Range(2, 7))
        assert new == compact(disk.item(conversationHistoryDeletedRange=[2, 7], x=1))

    def test_a_range_is_removed(self, disk):
        disk.index(disk.item(conversationHistoryDeletedRange=[2, 3], x=1))
        assert self.item(disk, set_range=True, deleted_range=None) == compact(disk.item(x=1))

    @pytest.mark.parametrize("deleted", [None, Range(2, 3)])
    def test_an_equal_range_is_not_written(self, disk, deleted):
        disk.index(disk.item(**({"conversationHistoryDeletedRange": [2, 3]} if deleted else {})))
        assert self.item(disk, set_range=True, deleted_range=deleted) is None

    def test_totals_and_time(self, disk):
        totals = Usage(10.0, 20, 3, 4, 0.1 + 0.2)
        new = self.item(disk, keep_ui=2, append_ui=({"ts": 0},), totals=totals)
        assert decode(new) == {
            **disk.item(isFavorited=True, unknown=[1]),
            "tokensIn": 10,
            "tokensOut": 20,
            "totalCost": 0.30000000000000004,
            "ts": NOW,
        }
        assert list(decode(new)) == list(disk.item(isFavorited=True, unknown=[1]))
        assert b'"tokensIn":10,' in new

    def test_absent_cache_counts_stay_absent_at_zero(self, disk):
        disk.index({"id": disk.task_id, "ts": 1, "tokensIn": 1, "tokensOut": 1, "totalCost": 1})
        assert b"cache" not in self.item(disk, totals=Usage(2, 2, 0, 0, 2))
        assert b'"cacheReads":7' in self.item(disk, totals=Usage(2, 2, 0, 7, 2))

    def test_it_names_the_item_and_the_file(self, disk):
        (effect,) = change(disk.read(), set_range=True, deleted_range=Range(2, 5)).effects
        assert (effect.role, effect.item_id) == (FileRole.INDEX, disk.task_id)
        assert effect.path == disk.root / "state" / "taskHistory.json"

    def test_without_an_entry_a_changed_range_is_refused(self, disk):
        disk.index({"id": "1"})
        snapshot = disk.read()
        with pytest.raises(RefusedError, match="does not list this task"):
            change(snapshot, set_range=True, deleted_range=Range(2, 5))
        assert written(snapshot, set_range=True, deleted_range=snapshot.range_now, totals=Usage(1)) == {}

    def test_an_index_in_the_editor_is_never_written(self, tmp_path):
        disk = Disk(tmp_path / "globalStorage" / "saoudrizwan.claude-dev")
        disk.api(turns(10))
        database = sqlite3.connect(tmp_path / "globalStorage" / "state.vscdb")
        database.execute("CREATE TABLE ItemTable (key TEXT, value BLOB)")
        state = json.dumps({"taskHistory": [disk.item()]})
        database.execute("INSERT INTO ItemTable VALUES ('saoudrizwan.claude-dev', ?)", (state,))
        database.commit()
        database.close()
        snapshot = disk.read()
        assert snapshot.index_item == disk.item()
        with pytest.raises(RefusedError, match="editor's own database"):
            change(snapshot, set_range=True, deleted_range=Range(2, 5))


class TestChange:
    def test_refused_and_stale_plans(self, disk):
        snapshot = disk.read(generation=7)
        with pytest.raises(RefusedError, match="because"):
            change_for(snapshot, replace(plan(snapshot), refusal="because"), NOW)
        for other in (replace(plan(snapshot), generation=6), replace(plan(snapshot), task_id="x")):
            with pytest.raises(RefusedError, match="earlier reading"):
                change_for(snapshot, other, NOW)

    def test_it_expects_the_bytes_that_were_read(self, disk):
        made = change(disk.read(), updates_text="[1]")
        stamps = {stamp.role: stamp for stamp in made.expected}
        assert set(stamps) == {FileRole.MESSAGES, FileRole.UPDATES, FileRole.TIMELINE, FileRole.INDEX}
        for role in (FileRole.MESSAGES, FileRole.UPDATES, FileRole.TIMELINE):
            assert stamps[role].digest == file_digest(stamps[role].path)
        assert stamps[FileRole.INDEX].digest == digest(compact(disk.item(isFavorited=True, unknown=[1])))
        assert (made.task_dir, made.title) == (disk.dir, "roll back")

    def test_it_does_not_look_at_the_disk_again(self, disk):
        snapshot = disk.read()
        before = file_digest(disk.dir / "ui_messages.json")
        disk.ui([])
        (stamp,) = [s for s in change(snapshot, keep_ui=1).expected if s.role is FileRole.TIMELINE]
        assert stamp.digest == before

    def test_signs_of_life_are_those_of_the_moment(self, disk):
        snapshot = disk.read()
        soon = snapshot.files[2].mtime_ns // 1_000_000 + 1000
        assert change_for(snapshot, plan(snapshot), soon).looks_open == ("its timeline was written 1 second ago",)
        assert change_for(snapshot, plan(snapshot), NOW).looks_open == ()

    def test_effects_come_in_the_order_of_writing(self, disk):
        made = change(
            disk.read(),
            keep_messages=4,
            updates_text="[1]",
            keep_ui=3,
            append_ui=({"ts": 0},),
            set_range=True,
            deleted_range=Range(2, 3),
        )
        assert [effect.role for effect in made.effects] == [
            FileRole.MESSAGES,
            FileRole.UPDATES,
            FileRole.TIMELINE,
            FileRole.INDEX,
        ]


VALUES = st.recursive(
    st.none()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('a"\\é😀\ud83d\udc00\n\0', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abé\ud83d", max_size=2), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["id", "ts", "task", "size", "isFavorited", "conversationHistoryDeletedRange", "x", "é\ud83d"])


def spelled(draw, pairs):
    """An object with these members in this order, spaced and escaped at will; keys may repeat."""
    gap = draw(st.sampled_from(["", " ", "\n  "]))
    ascii_only = draw(st.booleans())
    parts = [
        f"{gap}{json.dumps(key, ensure_ascii=ascii_only)}{gap}:{json.dumps(value, ensure_ascii=ascii_only)}"
        for key, value in pairs
    ]
    return ("{" + ",".join(parts) + gap + "}").encode("utf-8", "backslashreplace")


class TestMembers:
    @given(st.lists(st.tuples(KEYS, VALUES), max_size=6), VALUES, KEYS, st.data())
    def test_setting_a_member_changes_only_that_member(self, pairs, value, key, data):
        raw = spelled(data.draw, pairs)
        new = with_value(raw, key, compact(value), before=("isFavorited",))
        # two halves that meet are one character once they are written
        assert json.loads(new) == {**json.loads(raw), json.loads(compact(key)): json.loads(compact(value))}
        old_members = [raw[m.start : m.end] for m in members(raw)]
        new_members = [new[m.start : m.end] for m in members(new)]
        assert len([m for m in old_members if m not in new_members]) <= 1
        assert with_value(new, key, compact(value)) == new

    @given(st.lists(st.tuples(KEYS, VALUES), max_size=6), KEYS, st.data())
    def test_removing_a_member_leaves_the_others_byte_for_byte(self, pairs, key, data):
        raw = spelled(data.draw, pairs)
        new = without(raw, key)
        kept = [raw[m.start : m.end] for m in members(raw) if m.key != key]
        assert [new[m.start : m.end] for m in members(new)] == kept
        assert json.loads(new) == {k: v for k, v in json.loads(raw).items() if k != key}
        if key not in json.loads(raw):
            assert new == raw

    @pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"a"}', b'{"a":}', b'{"a":1 "b":2}', b"{1:2}", b'{"a":1,}'])
    def test_what_is_no_object_is_told(self, raw):
        with pytest.raises(BrokenInputError, match="damaged at its byte"):
            members(raw)


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_cutting_and_adding_leaves_all_else_identical(tmp_path, data):
    """Write-read identity, over odd JSON in any layout."""
    root = tmp_path / "any"
    shutil.rmtree(root, ignore_errors=True)
    disk = Disk(root)
    objects = st.lists(st.tuples(KEYS, VALUES), max_size=4)
    files = {}
    for name in ("api", "ui"):
        raws = [spelled(data.draw, pairs) for pairs in data.draw(st.lists(objects, max_size=5))]
        gap = data.draw(st.sampled_from([b"", b"\n", b" \r\n"]))
        content = b"[" + gap + (b"," + gap).join(raws) + gap + b"]" + gap
        getattr(disk, name)(content)
        files[name] = (raws, content, gap)
    item = spelled(data.draw, [("id", disk.task_id), ("odd", data.draw(VALUES)), ("ts", 3)])
    disk.index(b"[" + item + b"]")
    snapshot = disk.read()
    raws, content, gap = files["api"]
    keep = data.draw(st.integers(0, len(raws)))
    made = written(snapshot, keep_messages=keep).get(FileRole.MESSAGES, content)
    rebuilt = RawLog(made, scan_array(made))
    assert [rebuilt.raw(n) for n in range(len(rebuilt))] == raws[:keep]
    assert made == (b"[" + gap + (b"," + gap).join(raws[:keep]) + gap + b"]" + gap if keep else made)
    raws, content, gap = files["ui"]
    keep = data.draw(st.integers(0, len(raws)))
    made = written(snapshot, keep_ui=keep, append_ui=({"ts": 0, "x": "é\ud83d"},))[FileRole.TIMELINE]
    rebuilt = RawLog(made, scan_array(made))
    added = b'{"ts":%d,"x":"\xc3\xa9\\ud83d"}' % NOW
    assert [rebuilt.raw(n) for n in range(len(rebuilt))] == [*raws[:keep], added]
    assert not rebuilt.damage
    new = written(snapshot, set_range=True, deleted_range=Range(2, 3))[FileRole.INDEX]
    assert without(new, "conversationHistoryDeletedRange") == item
    assert written(snapshot) == {}


class TestRealPlans:
    """The engine's own plans on recorded tasks: only what they speak of changes."""

    @pytest.fixture
    def timeline(self):
        (ref,) = registry.open_path(DATA / "cline" / "tasks" / "1769064454592")
        return Timeline(registry.read(ref))

    def test_a_truncation_writes_updates_and_range(self, timeline):
        made = registry.change_for(timeline.snapshot, plan_truncate(timeline, "half"), NOW)
        roles = {effect.role: effect for effect in made.effects}
        assert set(roles) == {FileRole.UPDATES, FileRole.INDEX}
        item = decode(roles[FileRole.INDEX].content)
        assert item.pop("conversationHistoryDeletedRange")[0] == 2
        assert item == timeline.snapshot.index_item
        assert json.loads(roles[FileRole.UPDATES].content)

    def test_a_rollback_writes_beginnings_of_the_files(self, timeline):
        snapshot = timeline.snapshot
        target = next(point for point in snapshot.checkpoints if point.request == 10 and point.hash)
        made = registry.change_for(snapshot, plan_rollback(timeline, target), NOW)
        roles = {effect.role: effect.content for effect in made.effects}
        messages = RawLog(roles[FileRole.MESSAGES], scan_array(roles[FileRole.MESSAGES]))
        assert [messages.raw(n) for n in range(len(messages))] == [
            snapshot.messages.raw(n) for n in range(len(messages))
        ]
        assert len(messages) == target.last_message + 2
        ui = RawLog(roles[FileRole.TIMELINE], scan_array(roles[FileRole.TIMELINE]))
        assert len(ui) == target.ui_index + 2
        assert [ui.raw(n) for n in range(len(ui) - 1)] == [snapshot.ui_items.raw(n) for n in range(len(ui) - 1)]
        last = ui[-1]
        assert (last["say"], last["ts"]) == ("deleted_api_reqs", NOW)
        assert decode(roles[FileRole.INDEX])["ts"] == NOW


def test_an_optimisation_writes_updates_only(disk):
    read = user("[read_file for 'a.py'] Result:\n" + "words " * 100)
    disk.api([user("do"), assistant("ok"), read, assistant("ok"), read, assistant("ok")])
    disk.ui([say(1, "task", "t", last=-1), started(2, last=-1), started(3, last=1), started(4, last=3)])
    timeline = Timeline(disk.read())
    (effect,) = registry.change_for(timeline.snapshot, plan_optimize(timeline), NOW).effects
    assert effect.role is FileRole.UPDATES
    assert json.loads(effect.content)[0][0] == 2


def test_messages_of_another_shape_are_left_alone(disk):
    disk.api([user("a"), assistant("b"), 5, None, "x"])
    assert written(disk.read(), keep_messages=4) == {FileRole.MESSAGES: compact([user("a"), assistant("b"), 5, None])}
