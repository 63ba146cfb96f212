"""A restore of the conversation, and the usage sums that it leaves."""

from __future__ import annotations

import json

import pytest

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.engine.cline.js import UNDEFINED
from ctxviewer.engine.cline.restore import Restored, edited_after, kept_messages, restore
from ctxviewer.engine.cline.totals import UsageTotals, request_total, task_totals, usage_totals
from helpers.cline_talk import request


def say(kind: str, words: object, ts: object = 1) -> dict:
    return {"ts": ts, "type": "say", "say": kind, "text": words if isinstance(words, str) else json.dumps(words)}


def task() -> list:
    entries = [say("task", "t", 1), *(request(ts, tokensIn=ts, cost=0.1 * ts) for ts in range(2, 6))]
    for number, entry in enumerate(entries):
        entry["conversationHistoryIndex"] = number - 1
        if number > 2:
            entry["conversationHistoryDeletedRange"] = [2, number]
    return entries


def restored(message_ts: object, entries: list | None = None, **more: object) -> Restored:
    given = {"message_ts": message_ts, "now": 99, **more}
    return restore(10, task() if entries is None else entries, [2, 9], "[[1,[0,[]]]]", **given)


def test_to_an_entry() -> None:
    done = restored(4)
    assert done.completed
    assert done.keep_messages == 4
    assert done.history_written
    assert done.deleted_range == (2, 3)
    assert done.updates_text == "[]"
    assert done.ui_messages[:4] == tuple(task()[:4])
    assert done.ui_messages[4:] == (
        {
            "ts": 99,
            "type": "say",
            "say": "deleted_api_reqs",
            "text": '{"tokensIn":5,"tokensOut":0,"cost":0.5}',
            "conversationHistoryIndex": 3,
            "conversationHistoryDeletedRange": [2, 3],
        },
    )


def test_an_entry_without_a_range_leaves_none() -> None:
    done = restored(2)
    assert done.deleted is UNDEFINED
    assert done.deleted_range is None
    assert "conversationHistoryDeletedRange" not in done.ui_messages[-1]


def test_an_unknown_time_or_a_place_before_the_first_entry_does_nothing() -> None:
    for done in (restored(77), restored(1, offset=1), restored("4"), restored(5, offset=-1)):
        assert done == Restored(
            completed=False, keep_messages=10, deleted=[2, 9], ui_messages=tuple(task()), updates_text="[[1,[0,[]]]]"
        )


def test_an_offset_leads_further_up() -> None:
    assert restored(5, offset=2).ui_messages[:-1] == tuple(task()[:3])


def test_the_first_of_two_entries_with_one_time_counts() -> None:
    entries = task()
    entries[4]["ts"] = 3
    assert len(restored(3, entries).ui_messages) == 4


@pytest.mark.parametrize(
    ("index", "kept"),
    [(-1, 1), (0, 2), (3, 5), (99, 10), (None, 2), (-2, 0), (-3, 9), (-99, 0), (1.9, 3), ("1", 10), ("", 2), ("x", 0)],
)
def test_how_many_messages_are_kept(index: object, kept: int) -> None:
    assert kept_messages(10, {"conversationHistoryIndex": index}) == kept


def test_an_entry_without_an_index_keeps_two() -> None:
    assert kept_messages(10, {}) == 2


def test_a_history_that_becomes_empty_is_not_written() -> None:
    entries = task()
    entries[1]["conversationHistoryIndex"] = -2
    assert not restored(2, entries).history_written


def test_broken_json_in_a_removed_request_leaves_the_work_half_done() -> None:
    done = restored(2, [*task(), say("api_req_started", "{bad")])
    assert not done.completed
    assert done.started
    assert done.error
    assert (done.keep_messages, done.updates_text) == (2, "[]")
    assert done.ui_messages == (*task(), say("api_req_started", "{bad"))


def test_a_broken_entry_before_the_place_stops_the_restore_before_it_begins() -> None:
    done = restored(2, [None, *task()])
    assert done.error
    assert not done.started
    assert done.updates_text == "[[1,[0,[]]]]"


def test_an_index_that_cannot_be_added_to_stops_the_restore() -> None:
    entries = task()
    entries[1]["conversationHistoryIndex"] = {"toString": 1}
    done = restored(2, entries)
    assert done.error
    assert not done.started


def test_costs_are_added_as_floats_in_order() -> None:
    entries = [request(ts, cost=ts / 10) for ts in (1, 2, 3)]
    assert usage_totals(entries).as_text() == '{"tokensIn":0,"tokensOut":0,"cost":0.6000000000000001}'


def test_cache_counts_are_left_out_unless_given() -> None:
    assert usage_totals([request(cacheReads=0)]) == UsageTotals(cache_reads=0)
    assert usage_totals([request(cacheReads=0)]).as_text() == '{"tokensIn":0,"tokensOut":0,"cacheReads":0,"cost":0}'


def test_what_counts() -> None:
    entries = [
        request(1, tokensIn=1),
        say("deleted_api_reqs", {"tokensIn": 10}),
        say("subagent_usage", {"tokensIn": 100}),
        say("text", {"tokensIn": 1000}),
        {**say("api_req_started", {"tokensIn": 1000}), "type": "ask"},
        {**say("deleted_api_reqs", {"tokensIn": 1000}), "ask": "command_output"},
        say("deleted_api_reqs", "{broken"),
        say("deleted_api_reqs", ""),
        say("subagent_usage", "null"),
        say("api_req_started", "", 2),
        request(3, tokensIn="5", tokensOut=True, cost=None),
    ]
    assert usage_totals(entries) == UsageTotals(tokens_in=111)
    assert task_totals([request(1, tokensIn=5), *entries]) == UsageTotals(tokens_in=111)


def test_a_finish_is_merged_into_the_request_before_it() -> None:
    entries = [
        request(1, tokensIn=1, tokensOut=2),
        say("text", "x"),
        say("api_req_finished", {"tokensIn": 10, "cost": 3}),
        say("api_req_finished", {"tokensIn": 500}),
    ]
    assert usage_totals(entries) == UsageTotals(10, 2, cost=3)


def test_a_request_between_another_and_its_finish_is_not_read_for_the_merge() -> None:
    entries = [request(1, tokensIn=1), say("api_req_started", "{broken", 2), say("api_req_finished", {"cost": 1})]
    assert usage_totals(entries) == UsageTotals(1, cost=1)
    with pytest.raises(BrokenInputError):
        usage_totals([*entries, say("api_req_started", "{broken", 3)])
    with pytest.raises(BrokenInputError):
        usage_totals([request(1), say("api_req_finished", "{broken")])


def test_infinity_is_lost_when_a_finish_is_merged() -> None:
    entries = [say("api_req_started", '{"tokensIn":1e400,"tokensOut":1}')]
    assert usage_totals(entries).as_text() == '{"tokensIn":null,"tokensOut":1,"cost":0}'
    assert usage_totals([*entries, say("api_req_finished", "")]) == UsageTotals(0, 1)


def test_two_requests_with_one_time_both_count_as_the_first() -> None:
    assert usage_totals([request(1, tokensIn=3), request(1, tokensIn=50)]) == UsageTotals(6)


def test_context_size_of_a_request() -> None:
    assert request_total('{"tokensIn":1,"tokensOut":2,"cacheWrites":3,"cacheReads":4,"cost":9}') == 10
    assert request_total('{"tokensIn":"9","tokensOut":8000}') == "9800000"
    assert request_total("{}") == 0
    with pytest.raises(BrokenInputError):
        request_total("null")


def test_files_to_warn_about() -> None:
    metadata = {
        "files_in_context": [
            {"path": "early", "cline_edit_date": 5, "user_edit_date": None},
            {"path": "agent", "cline_edit_date": 6},
            {"path": "user", "cline_edit_date": 1, "user_edit_date": 9},
            {"path": "agent", "cline_edit_date": 8},
        ]
    }
    removed = [
        say("tool", {"tool": "newFileCreated", "path": "new"}),
        say("tool", {"tool": "editedExistingFile", "path": "user"}),
        say("tool", {"tool": "readFile", "path": "read"}),
        say("tool", {"tool": ["editedExistingFile"], "path": "odd"}),
        say("tool", "{broken"),
        say("tool", "null"),
        say("text", {"tool": "newFileCreated", "path": "no tool"}),
    ]
    assert edited_after(removed, 5, metadata) == ("agent", "user", "new")
    assert edited_after(removed[:1], 5, {"files_in_context": [*metadata["files_in_context"][:2], None]}) == (
        "agent",
        "new",
    )
    assert edited_after([], 5, None) == ()


def test_a_file_with_one_damaged_date_is_not_warned_about_and_ends_the_list() -> None:
    for damaged in ({"toString": 1}, [{"toString": 1}]):
        files = [
            {"path": "before", "cline_edit_date": 6},
            {"path": "damaged", "cline_edit_date": 6, "user_edit_date": damaged},
            {"path": "behind", "cline_edit_date": 6},
        ]
        assert edited_after([], 5, {"files_in_context": files}) == ("before",)
