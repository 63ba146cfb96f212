"""The replay check: each cause on a task made for it, and every recorded range step of the recorded tasks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ctxviewer.domain.errors import CancelledWorkError
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.replay_check import Cause, Subject, replay_check
from ctxviewer.engine.strategies import SettingsError
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from helpers.cline_talk import alternating, pairs, read
from helpers.lab import lab_task

TALK = alternating(21)
LOW, HIGH = [5] * 10, [*[5] * 4, 9_000, *[5] * 5]
"""Totals of ten requests; request 4 (of 9 messages) reaches the limit of 8,000, so request 5 (of 11) is managed."""


def only(timeline, **more):
    found = replay_check(timeline, **more)
    (step,) = found.steps
    return found, step


def test_what_the_rules_do():
    found, step = only(lab_task(TALK, HIGH, ranges={5: Range(2, 5)}))
    assert (step.cause, step.subject, step.request) == (Cause.RULES, Subject.RANGE, 5)
    assert (step.before, step.recorded, step.by_rules, step.length) == (None, Range(2, 5), Range(2, 5), 11)
    assert step.sentence == (
        "Request 5 reported 9,000 tokens, at or above the limit of 8,000. "
        "By the rules (half of 9) the range becomes 2–5, as recorded."
    )
    assert step.agrees
    assert found.first_difference is None
    assert found.compared == 9
    assert found.verdict == "The folder shows what the rules do: 1 of 1 step are as the rules do them."


def test_a_task_that_was_never_managed():
    found = replay_check(lab_task(TALK, LOW))
    assert found.steps == ()
    assert found.verdict == "Nothing was done to the context, and by the rules nothing had to be (9 requests)."


def test_another_window():
    low = [*[5] * 4, 7_000, *[5] * 5]
    found, step = only(lab_task(TALK, low, ranges={5: Range(2, 5)}))
    assert step.cause is Cause.OTHER_WINDOW
    assert "Any limit from 3,500 to 7,000 gives this range" in step.sentence
    assert found.first_difference is step
    assert found.verdict.endswith("Likely cause: another window.")
    assert replay_check(lab_task(TALK, low, ranges={5: Range(2, 5)}), 8_000).first_difference is None


def test_a_known_window_is_named():
    totals = [*[5] * 4, 99_000, *[5] * 5]
    _, step = only(lab_task(TALK, totals, ranges={5: Range(2, 5)}, window=200_000))
    assert "such as that of a window of 128,000" in step.sentence


def test_a_cut_that_was_not_made():
    found, step = only(lab_task(TALK, HIGH))
    assert (step.subject, step.cause) == (Subject.NO_CUT, Cause.OTHER_WINDOW)
    assert (step.recorded, step.by_rules) == (None, Range(2, 5))
    assert step.sentence.endswith("By the rules the range would become 2–5; it stayed.")
    assert found.range_steps == ()


def test_a_retry_that_left_no_entry():
    _, step = only(lab_task(TALK, LOW, ranges={5: Range(2, 7)}))
    assert step.cause is Cause.RETRY
    assert "below the limit of 8,000" in step.sentence
    assert "left no entry" in step.sentence


def test_a_retry_after_the_rules_own_cut():
    _, step = only(lab_task(TALK, HIGH, ranges={5: Range(2, 7)}))
    assert step.cause is Cause.RETRY
    assert "after the rules' own cut" in step.sentence


def test_a_request_that_the_timeline_shows_as_failed():
    timeline = lab_task(TALK, LOW, before={6: [("api_req_failed", Range(2, 9))]})
    _, step = only(timeline)
    assert step.cause is Cause.RETRY
    assert "the timeline shows the failed request" in step.sentence


def test_a_request_that_was_removed_on_resuming():
    timeline = lab_task(TALK, HIGH, before={5: [("resume_task", Range(2, 5))]}, ranges={5: Range(2, 7)})
    first, second = replay_check(timeline).steps
    assert (first.cause, first.recorded) == (Cause.REMOVED_REQUEST, Range(2, 5))
    assert "removed when the task was resumed" in first.sentence
    assert (second.cause, second.before, second.recorded) == (Cause.RULES, Range(2, 5), Range(2, 7))


def test_a_removed_request_that_only_replaced_reads():
    talk = pairs(*[read("a.py", "x" * 2_000) for _ in range(9)])
    timeline = lab_task(talk, HIGH, before={5: [("resume_task", None)]}, ranges={5: Range(2, 5)})
    steps = replay_check(timeline).steps
    assert [(step.subject, step.cause) for step in steps] == [
        (Subject.RANGE, Cause.REMOVED_REQUEST),
        (Subject.READS, Cause.OTHER_VERSION),
    ]
    assert "At the same total the decision was made again, which gives 2–5, as recorded." in steps[0].sentence
    assert "context_history.json is missing" in steps[1].sentence


def test_only_a_task_resumed_since_the_last_request_hides_a_removed_one():
    talk = pairs(*[read("a.py", "x" * 2_000) for _ in range(9)])
    early = lab_task(talk, HIGH, before={4: [("resume_task", None)]}, ranges={5: Range(2, 5)})
    assert replay_check(early).steps[0].cause is Cause.OTHER_WINDOW


@pytest.mark.parametrize(("kind", "first"), [("api_req_failed", Cause.RETRY), ("text", Cause.UNKNOWN)])
def test_the_copies_replaced_before_a_retry_stay_replaced_those_before_an_unknown_range_are_not_known(kind, first):
    """With the copies replaced the next decision has to cut; otherwise replacing them is enough."""
    talk = pairs(*[read("a.py", "x" * 2_000) for _ in range(9)])
    totals = [*[5] * 6, 9_000, 5, 5]
    odd = Range(2, 9) if first is Cause.RETRY else Range(2, 3)
    then = Range(2, 11) if first is Cause.RETRY else Range(2, 7)
    timeline = lab_task(talk, totals, before={7: [(kind, odd)]}, ranges={7: then})
    steps = [step for step in replay_check(timeline).steps if step.subject is Subject.RANGE]
    assert [(step.recorded, step.cause) for step in steps] == [
        (odd, first),
        (then, Cause.RULES if first is Cause.RETRY else Cause.OTHER_WINDOW),
    ]


def test_reads_that_were_replaced_as_the_rules_do():
    talk = pairs(*[read("a.py", "x" * 2_000) for _ in range(9)])
    history = ContextHistory()
    for message in (2, 4, 6, 8):
        history = history.with_update(message, 0, 5_000, "short", 2, [])
    _, step = only(lab_task(talk, HIGH, updates=history.dump()))
    assert (step.subject, step.cause) == (Subject.READS, Cause.RULES)
    early = ContextHistory().with_update(2, 0, 2_000, "short", 2, [])
    _, step = only(lab_task(talk, LOW, updates=early.dump()))
    assert step.cause is Cause.OTHER_WINDOW
    fewer = ContextHistory().with_update(2, 0, 5_000, "short", 2, [])
    _, step = only(lab_task(talk, HIGH, updates=fewer.dump()))
    assert step.cause is Cause.OTHER_VERSION
    assert "in 4 blocks; recorded are 1" in step.sentence


def test_a_manual_condense_a_summary_and_a_rollback():
    condensed = lab_task(TALK, LOW, before={6: [("condense", None), ("text", Range(2, 9))]})
    assert only(condensed)[1].cause is Cause.CONDENSE
    text = '{"tool":"summarizeTask","content":"so far"}'
    summarised = lab_task(TALK, LOW, before={6: [("tool", Range(2, 9), text)]})
    assert only(summarised)[1].cause is Cause.SUMMARY
    back = lab_task(TALK, HIGH, ranges={5: Range(2, 5)}, before={7: [("deleted_api_reqs", None)]})
    assert [step.cause for step in replay_check(back).steps] == [Cause.RULES, Cause.ROLLBACK]


def test_ranges_of_old_versions():
    _, step = only(lab_task(TALK, LOW, ranges={5: Range(1, 4)}))
    assert step.cause is Cause.OTHER_VERSION


def test_a_range_that_nothing_gives():
    found, step = only(lab_task(TALK, LOW, ranges={5: Range(2, 3)}))
    assert step.cause is Cause.UNKNOWN
    assert found.unexplained == (step,)


def test_one_difference_does_not_make_the_later_ones_differ():
    totals = [*[5] * 4, 9_000, 5, 5, 9_000, 5, 5]
    found = replay_check(lab_task(TALK, totals, ranges={5: Range(2, 7), 8: Range(2, 11)}))
    assert [step.cause for step in found.steps] == [Cause.RETRY, Cause.RULES]


def test_without_a_timeline_there_is_nothing_to_compare():
    found = replay_check(lab_task(TALK, HIGH, has_timeline=False))
    assert (found.compared, found.steps) == (0, ())


LOST = {"messages": [], "has_messages": False}
CUT_SHORT = {"messages": TALK[:6]}
"""A history that is missing, and one that ends before the range was changed."""


@pytest.mark.parametrize("damage", [LOST, CUT_SHORT])
def test_without_the_messages_of_then_a_range_is_explained_by_their_number(damage):
    found, step = only(lab_task(totals=HIGH, ranges={5: Range(2, 5)}, **damage))
    assert (step.subject, step.cause, step.length) == (Subject.RANGE, Cause.RULES, 11)
    assert step.by_rules == step.recorded == Range(2, 5)
    assert (
        "By the rules (half of 9) the range becomes 2–5, as recorded; the messages of then are missing, so it is not"
        in (step.sentence)
    )
    assert found.compared == 9
    _, step = only(lab_task(totals=LOW, ranges={5: Range(2, 7)}, **damage))
    assert step.cause is Cause.RETRY
    _, step = only(lab_task(totals=[*[5] * 4, 7_500, *[5] * 5], ranges={5: Range(2, 5)}, **damage))
    assert step.cause is Cause.OTHER_WINDOW
    assert "Any limit from 3,750 to 7,500 gives this range" in step.sentence
    _, step = only(lab_task(totals=HIGH, ranges={5: Range(2, 8)}, **damage))
    assert step.cause is Cause.UNKNOWN


def test_a_number_of_messages_that_cannot_be_is_not_believed():
    timeline = lab_task([], HIGH, ranges={5: Range(2, 5)}, has_messages=False)
    ui = tuple(replace(entry, last_message=10**12) for entry in timeline.snapshot.ui)
    found = replay_check(Timeline(replace(timeline.snapshot, ui=ui)))
    assert [step.cause for step in found.steps] == [Cause.UNKNOWN]
    assert found.steps[0].length < 100


@pytest.mark.parametrize("damage", [LOST, CUT_SHORT])
def test_without_the_messages_of_then_it_is_not_known_what_replacing_reads_saved(damage):
    stored = ContextHistory().with_update(4, 0, 5_000, "older", 2, []).dump()
    _, step = only(lab_task(totals=HIGH, updates=stored, **damage))
    assert (step.subject, step.cause) == (Subject.READS, Cause.RULES)
    assert step.sentence == (
        "1 block with older copies of files replaced, as the rules do at the limit; the messages of then are missing, so "
        "it is not known which ones they replace."
    )
    early = ContextHistory().with_update(2, 0, 5_000, "older", 2, []).dump()
    _, step = only(lab_task(totals=LOW, updates=early, **damage))
    assert (step.subject, step.cause) == (Subject.READS, Cause.OTHER_WINDOW)
    _, step = only(lab_task(totals=HIGH, updates=ContextHistory().dump(), **damage))
    assert (step.subject, step.by_rules) == (Subject.NO_CUT, Range(2, 5))
    assert replay_check(lab_task(totals=HIGH, **damage)).steps == ()


def test_bad_windows_and_cancelling():
    with pytest.raises(SettingsError):
        replay_check(lab_task(TALK, HIGH), -1)

    def check():
        raise CancelledWorkError("stopped")

    with pytest.raises(CancelledWorkError):
        replay_check(lab_task(TALK, HIGH), check=check)


PROJECT = Path(__file__).parents[3]
FOLDERS = (PROJECT.parent / "shared" / "tasks", PROJECT / "tests" / "data" / "tasks")
RECORDED = next((folder for folder in FOLDERS if (folder / "expected.json").exists()), FOLDERS[-1])
EXPECTED = json.loads((RECORDED / "expected.json").read_text("utf-8"))
CUT = [
    key
    for key, facts in EXPECTED.items()
    if key.startswith("cline/tasks/") and facts.get("range_steps") and (RECORDED / key / "ui_messages.json").exists()
]
REMOVED = {"1746807626581": 1, "1747588461428": 1, "1746716292678": 1, "1746727151409": 1, "1746727151410": 1}
"""By task how many of its range steps were made by a request that was removed when the task was resumed."""
REFUSED = {"1747588461428": 3, "1747343749841": 1, "1747593909859": 1}
"""How many were made after the provider refused a request."""


@pytest.mark.parametrize("key", CUT, ids=lambda key: key.rpartition("/")[2])
def test_every_recorded_range_step_is_explained(key):
    (ref,) = registry.open_path(RECORDED / key)
    found = replay_check(Timeline(registry.read(ref)))
    steps, facts = found.range_steps, EXPECTED[key]["range_steps"]
    assert [(list(step.recorded), step.length, step.ui_index) for step in steps] == [
        (fact["range"], fact["length"], fact["ui_item"]) for fact in facts
    ]
    assert not found.unexplained
    for step, fact in zip(steps, facts, strict=True):
        assert step.cause in {Cause.RULES, Cause.REMOVED_REQUEST, Cause.RETRY}
        if step.cause is Cause.RETRY:
            assert "quarter" in fact["kind"]
        else:
            assert step.by_rules == step.recorded
    name = key.rpartition("/")[2]
    causes = [step.cause for step in steps]
    assert causes.count(Cause.REMOVED_REQUEST) == REMOVED.get(name, 0)
    assert causes.count(Cause.RETRY) == REFUSED.get(name, 0)
