"""Recorded tasks read as their facts say."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from ctxviewer.domain.request import CheckpointKind, RequestState
from ctxviewer.domain.snapshot import RangeSource, WindowSource
from ctxviewer.sources import registry
from ctxviewer.sources.cline.listing import ref_for
from helpers.cline_disk import DATA, SHARED, codes


def cases():
    for folder in (DATA, SHARED):
        if not folder.is_dir():
            continue
        facts = json.loads((folder / "expected.json").read_text())
        for key, expected in facts.items():
            if key.startswith("cline/tasks/"):
                where = "own" if folder is DATA else "shared"
                yield pytest.param(folder / key, expected, id=f"{where}-{key.rpartition('/')[2]}")


pytestmark = pytest.mark.parametrize(("path", "expected"), list(cases()))


@pytest.fixture
def snapshot(path):
    (ref,) = registry.open_path(path)
    return registry.read(ref)


def test_messages(snapshot, expected):
    assert len(snapshot.messages) == expected.get("messages", 0)
    assert snapshot.has_messages == ("messages" in expected)
    blocks = Counter(f"{m['role']}/{block['type']}" for m in snapshot.messages for block in m["content"])
    assert blocks == expected.get("blocks", {})


def test_timeline(snapshot, expected):
    assert len(snapshot.ui) == len(snapshot.ui_items) == expected.get("ui_items", 0)
    assert snapshot.has_timeline == ("ui_items" in expected)
    assert Counter(f"{entry.type}:{entry.kind}" for entry in snapshot.ui) == expected.get("kinds", {})
    for entry, item in zip(snapshot.ui, snapshot.ui_items, strict=True):
        assert entry.ts == item["ts"]
        assert entry.last_message == item.get("conversationHistoryIndex")
        assert (list(entry.deleted_range) if entry.deleted_range else None) == item.get(
            "conversationHistoryDeletedRange"
        )
        assert entry.model_id == item.get("modelInfo", {}).get("modelId", "")
    if "partial_left_true" in expected:
        assert sum(entry.partial for entry in snapshot.ui) == expected["partial_left_true"]
    if "max_index" in expected:
        assert max(entry.last_message for entry in snapshot.ui) == expected["max_index"]


def test_a_cut_timeline_gives_its_readable_items(snapshot, expected):
    assert ("file-cut-off" in codes(snapshot)) == ("ui_readable_items" in expected)
    if "ui_readable_items" in expected:
        assert len(snapshot.ui) == expected["ui_readable_items"]


def test_requests(snapshot, expected):
    if "requests" not in expected:
        assert len(snapshot.requests) == sum(1 for m in snapshot.messages if m["role"] == "assistant")
        return
    requests = snapshot.requests
    assert len(requests) == expected["requests"]
    assert [request.number for request in requests] == list(range(len(requests)))
    assert sum(not request.usage_reported for request in requests) == expected["requests_without_tokens"]
    assert max(request.usage.total for request in requests) == expected["max_request_tokens"]
    with_tokens = [request for request in requests if request.usage.total]
    assert with_tokens[-1].usage.total == expected["last_request_tokens"]
    cancelled = sum(expected["requests_cancelled"].values())
    stopped = [r for r in requests if r.state in {RequestState.CANCELLED, RequestState.FAILED}]
    assert len([r for r in stopped if r.failure != "its end is not recorded"]) == cancelled


def test_totals(snapshot, expected):
    if "totals" not in expected:
        pytest.skip("no timeline")
    usages = [request.usage for request in snapshot.requests]
    totals = expected["totals"]
    assert sum(usage.tokens_in for usage in usages) == totals["tokensIn"]
    assert sum(usage.tokens_out for usage in usages) == totals["tokensOut"]
    assert sum(usage.cache_writes for usage in usages) == totals["cacheWrites"]
    assert sum(usage.cache_reads for usage in usages) == totals["cacheReads"]
    assert sum(usage.cost or 0 for usage in usages) == pytest.approx(totals["cost"], abs=1e-6)


def test_range(snapshot, expected):
    if not expected["in_index"]:
        assert snapshot.index_item is None
        assert snapshot.range_source is not RangeSource.INDEX
        return
    assert snapshot.range_source is RangeSource.INDEX
    last = expected.get("last_range")
    assert snapshot.range_now == (tuple(last) if last else None)
    odd = {code for code in codes(snapshot) if code.startswith("range-")}
    assert odd == ({"range-empty"} if last == [2, 1] else set())


def test_checkpoints(snapshot, expected):
    if "checkpoints_with_hash" not in expected:
        assert snapshot.checkpoints == ()
        return
    made = [point for point in snapshot.checkpoints if point.kind is CheckpointKind.CHECKPOINT]
    assert sum(1 for point in made if point.hash) == expected["checkpoints_with_hash"]
    assert sum(1 for point in made if not point.hash) == expected["checkpoints_without_hash"]
    done = [point for point in snapshot.checkpoints if point.kind is CheckpointKind.COMPLETION]
    assert sum(1 for point in done if point.hash) == expected["completion_results_with_hash"]
    assert [point.ui_index for point in snapshot.checkpoints] == sorted(p.ui_index for p in snapshot.checkpoints)
    for point in snapshot.checkpoints:
        before = [r.number for r in snapshot.requests if r.ui_index <= point.ui_index]
        assert point.request == (before[-1] if before else None)
        assert point.title


def test_updates_and_metadata(snapshot, expected):
    counts = Counter(str(entry[1][0]) for entry in json.loads(snapshot.updates_text or "[]"))
    assert sum(counts.values()) == len(expected.get("update_message_order", []))
    assert set(counts) == set(expected.get("updates_by_edit_type", {}))
    listed = len(snapshot.metadata["files_in_context"]) if snapshot.metadata else 0
    assert listed == expected.get("files_in_context", 0)
    assert "update-dangling" not in codes(snapshot)
    assert "update-odd" not in codes(snapshot)


def test_findings_name_what_is_missing_and_nothing_else(snapshot, expected):
    missing = {"api-missing"} if "messages" not in expected else set()
    missing |= {"ui-missing"} if "ui_items" not in expected else set()
    missing |= {"not-in-index"} if not expected["in_index"] else set()
    allowed = missing | {"file-cut-off", "range-empty", "timestamp-repeated"}
    assert missing <= set(codes(snapshot)) <= allowed
    assert ("timestamp-repeated" in codes(snapshot)) == bool(expected.get("duplicate_ts"))


def test_model_and_window(snapshot, expected):
    assert snapshot.model.model_id
    assert snapshot.model.provider_id
    assert snapshot.model.window == (32_768 if snapshot.model.model_id == "gpt-oss:20b" else 200_000)
    assert snapshot.model.window_source in {WindowSource.DETAILS, WindowSource.TABLE}


def test_old_recordings_do_not_look_open_for_their_age(snapshot, expected):
    last = snapshot.ui[-1] if snapshot.ui else None
    unfinished = "the last entry of its timeline is unfinished"
    assert (unfinished in snapshot.looks_open) == bool(last and last.partial)


def test_the_list_knows_what_the_reading_knows(path, expected):
    ref = ref_for(path)
    assert ref.in_index == expected["in_index"]
    assert bool(ref.problem) == ("messages" not in expected and "ui_items" not in expected)
    assert ref.created_ms == int(path.name)
    if expected["in_index"] and "totals" in expected:
        assert ref.total_tokens == sum(value for key, value in expected["totals"].items() if key != "cost")
        assert ref.total_cost == pytest.approx(expected["totals"]["cost"], abs=1e-6)
