"""The report for a terminal on small tasks: each of its blocks, line by line."""

from __future__ import annotations

from dataclasses import replace

from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.request import Checkpoint, CheckpointKind
from ctxviewer.engine.timeline import Timeline
from ctxviewer.exports.report import report_text
from helpers.cline_talk import alternating
from helpers.past_tasks import Step, past


def block(text, first):
    """The lines of the block that begins so."""
    lines = text.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(first))
    return lines[begin : lines.index("", begin) if "" in lines[begin:] else None]


def story():
    return past(alternating(6), [Step(1, total=1_000), Step(3, total=None), Step(5, cut=(2, 3), total=3_000)])


def with_checkpoints(timeline, *points):
    """Checkpoints after these requests (None = before the first) with what they say of messages."""
    made = [
        Checkpoint(place, 1, kind, "h" if title == "Checkpoint" else "", last, None, request, title)
        for place, (request, last, title, kind) in enumerate(points)
    ]
    return Timeline(replace(timeline.snapshot, checkpoints=tuple(made)))


def test_usage_of_the_task_and_of_one_request():
    largest = "  largest request 3: 3,000 tokens, 1.5 % of the window"
    assert block(report_text(story(), None), "Usage")[1:] == [largest]
    assert block(report_text(story(), 1), "Usage")[1:] == [largest], "request 2 reported nothing"
    one = "  request 1: 1,000 tokens, 0.5 % of the window"
    assert block(report_text(story(), 0), "Usage")[1:] == [largest, one]
    silent = past(alternating(4), [Step(1, total=None)])
    assert "Usage: no request has reported its tokens." in report_text(silent, None)


def test_events_with_their_requests():
    assert block(report_text(story(), None), "Events") == [
        "Events",
        "    1  request 3    Truncated (quarter or none): messages 2–3 are no longer sent (2 messages)",
    ]
    none = past(alternating(4), [Step(1)])
    assert "Events: none; every message was sent with every request." in report_text(none, None)


def test_checkpoints_say_how_much_they_keep():
    plain = CheckpointKind.CHECKPOINT
    points = [
        (None, -1, "Begin", plain),
        (0, 0, "Checkpoint", plain),
        (0, 1, "Message", CheckpointKind.MESSAGE),
        (1, 3, "First attempt", plain),
        (2, None, "Checkpoint", plain),
        (2, 9, "Checkpoint", plain),
    ]
    assert block(report_text(with_checkpoints(story(), *points), None), "Checkpoints") == [
        "Checkpoints",
        "    1  at the start  keeps message 0  Begin  (no commit)",
        "    2  request 1     keeps messages 0–1",
        "    3  request 2     keeps messages 0–4  First attempt  (no commit)",
        "    4  request 3     keeps messages 0–1",
        "    5  request 3     keeps messages 0–5",
    ]
    empty = with_checkpoints(Timeline(replace(story().snapshot, messages=PlainLog([]))), *points[:2])
    assert block(report_text(empty, None), "Checkpoints")[2].strip() == "2  request 1"
    assert "Checkpoints" not in report_text(story(), None)


def test_what_is_sent_and_what_is_odd():
    finding = Finding("odd", Severity.WARNING, "Something is odd.", "file.json", "message 2", "Look at it.")
    timeline = Timeline(replace(story().snapshot, findings=(finding,), looks_open=("a lock is held",)))
    text = report_text(timeline, 2)
    assert block(text, "Request 3 of 3")[1:3] == [
        "  sends 3 of 5 messages, not sent 2–3",
        "  0 updates in force, 0 repairs",
    ]
    assert "  sends 3 of 3 messages, nothing left out\n" in report_text(timeline, 1)
    updates = (
        '[[2,[2,[[0,[[5,"text",["x"],[]]]]]]],[4,[2,[[0,[[5,"text",["x"],[]]]]]]],[9,[2,[[0,[[5,"text",["x"],[]]]]]]]]'
    )
    updated = Timeline(replace(timeline.snapshot, updates_text=updates))
    assert "  1 update in force (2 more on messages that are not sent), 0 repairs\n" in report_text(updated, None)
    assert "  sends 4 of 6 messages, not sent 2–3\n" in report_text(timeline, None)
    assert "\n  looks open: a lock is held\n" in text
    assert "Something is odd." in "".join(block(text, "Findings"))
