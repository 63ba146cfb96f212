"""What the preview says about a plan, without any widget."""

from dataclasses import replace
from pathlib import Path

from ctxviewer.domain.plan import Effects, Plan, PlanKind, Step
from ctxviewer.domain.projection import Projection
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Checkpoint, CheckpointKind
from ctxviewer.domain.snapshot import FileRole, FileStamp
from ctxviewer.domain.updates import Update
from ctxviewer.models.preview import (
    Tone,
    file_lines,
    first_touched,
    looks_open_sentence,
    number_rows,
    sections,
)
from ctxviewer.models.status import find_words, status_words, title_words
from ctxviewer.sources.change import Change, FileEffect
from ctxviewer.tokens import TokenSums
from helpers.snapshots import ref, snapshot


def picture(until, deleted=None, stored=20, updates=None):
    resume = deleted[1] + 1 if deleted else 2
    return Projection(stored, until, Range(*deleted) if deleted else None, resume, updates or {})


def plan(before, after, **more):
    return Plan(
        PlanKind.TRUNCATE, "title", "t1", 1, before, after, (Step("one step", after),), Effects(set_range=True), **more
    )


def said(plan):
    return {section.title: section.lines for section in sections(plan)}


def test_a_truncation_says_which_messages_are_no_longer_sent():
    made = plan(picture(20, (2, 5)), picture(20, (2, 11)))
    assert said(made) == {
        "What goes": ("Messages 6–11 (6 messages): no longer sent; they stay in the file",),
        "Step by step": ("one step",),
    }
    assert first_touched(made) == 6


def test_a_rollback_says_what_is_removed_and_what_is_sent_again():
    points = (
        Checkpoint(1, 0, CheckpointKind.CHECKPOINT, "h", 1, None, 6, "Checkpoint"),
        Checkpoint(2, 0, CheckpointKind.CHECKPOINT, "h", 1, None, 8, ""),
        Checkpoint(3, 0, CheckpointKind.COMPLETION, "h", 1, None, 9, "all done"),
    )
    gone = Update(4, 0, 1, "[notice] a copy", 2, None, 0)
    made = plan(
        picture(20, (2, 9)),
        picture(12, (2, 3), stored=20),
        lost_messages=range(12, 20),
        lost_requests=range(6, 10),
        lost_checkpoints=points,
        removed_updates=(gone,),
    )
    assert said(made)["What goes"] == (
        "Messages 12–19 (8 messages): removed from the history",
        "Requests 7–10: removed from the timeline",
        "Update on message 4, block 0: “[notice] a copy”",
        "Completion “all done”",
        "2 checkpoints after requests 7–9",
    )
    assert said(made)["What comes back"] == (
        "Messages 4–9 (6 messages): sent again",
        "Text as stored in message 4",
    )
    assert first_touched(made) == 12


def test_warnings_and_differences_have_their_own_sections():
    made = plan(picture(20), picture(20), warnings=("careful",), differs_from_reference=("the agent forgets",))
    tones = {section.title: section.tone for section in sections(made)}
    assert tones["Before you apply"] is Tone.WARNING
    assert said(made)["The agent's own action would differ"] == ("the agent forgets",)


def test_numbers_are_before_after_and_change():
    made = plan(picture(20, (2, 5)), picture(20, (2, 11)), characters_before=1_000, characters_after=400)
    rows = {row.label: (row.before, row.after, row.change) for row in number_rows(made, None, None)}
    assert rows == {
        "messages sent": ("16", "10", "−6 (−38%)"),
        "characters sent": ("1,000", "400", "−600 (−60%)"),
        "deleted range": ("2–5", "2–11", ""),
        "updates in force on what is sent": ("0", "0", "unchanged"),
    }
    updates = {(message, 0): Update(message, 0, 5, "x", 2, [], 0) for message in (1, 8, 15)}
    made = plan(picture(20, (2, 5), updates=updates), picture(20, (2, 11), updates=updates))
    assert number_rows(made, None, None)[-1].change == "−1 (−33%)", "the cut takes the one on message 8 along"


def test_tokens_are_labelled_estimated_and_how_far_they_are_counted():
    made = plan(picture(20), picture(20, (2, 11)))
    full, half = TokenSums(4_000, 0, 0, 1.0), TokenSums(1_500, 0, 0, 0.5)
    labels = [row.label for row in number_rows(made, full, full)]
    assert "tokens sent, estimated" in labels
    assert "tokens sent, estimated (50% counted so far)" in [row.label for row in number_rows(made, full, half)]


def test_files_come_in_the_order_of_writing():
    folder = Path("/t")
    reading = replace(
        snapshot(), files=(FileStamp(FileRole.MESSAGES, folder / "api.json", exists=True, size=2_400_000),)
    )
    effects = (
        FileEffect(FileRole.INDEX, folder / "index.json", b"{}", "1"),
        FileEffect(FileRole.UPDATES, folder / "context.json", b"x" * 2_000),
        FileEffect(FileRole.MESSAGES, folder / "api.json", b"y" * 800_000),
        FileEffect(FileRole.TIMELINE, folder / "ui.json", None),
    )
    assert file_lines(reading, Change(folder, "t", (), effects)) == (
        "api.json: 2.4 MB → 800 kB",
        "context.json: new, 2 kB",
        "ui.json: removed",
        "index.json: only the entry of this task is written",
    )


def test_reasons_for_an_open_task_become_one_sentence():
    assert looks_open_sentence(("a lock is held.", "its timeline was written just now")) == (
        "The task looks open in its editor: a lock is held; its timeline was written just now."
    )


def test_status_title_and_find_words():
    assert status_words(picture(12, (2, 5)), TokenSums(1_234, 0, 0, 0.5, 2)) == (
        "8 of 20 messages sent · 4 not sent · 8 later · 1,234 tokens estimated, 50% counted so far · 2 images not counted"
    )
    assert status_words(None, None) == ""
    updates = {(message, 0): Update(message, 0, 5, "x", 2, [], 0) for message in (0, 3, 5, 6, 11, 12, 19)}
    assert status_words(picture(12, (2, 5), updates=updates), None) == (
        "8 of 20 messages sent · 4 not sent · 8 later · 3 updates in force"
    ), "those of messages that are hidden, later or not there change nothing that is sent"
    assert title_words(None, None) == "ctxviewer"
    assert title_words(ref(title="fix\nmore"), snapshot()) == "fix — Cline"
    state = {"share": 1.0, "complete": True, "problem": ""}
    assert find_words(total=17, messages=9, current=3, **state) == "3 of 17 in 9 messages"
    assert find_words(total=0, messages=0, current=None, **state) == "not found"
    assert find_words(total=0, messages=0, current=None, share=0.4, complete=False, problem="") == "looking… 40%"
