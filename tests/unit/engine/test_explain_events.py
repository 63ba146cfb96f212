"""Why: an answer with all its numbers for every kind of event, for requests without one, and for what is ahead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import RequestState
from ctxviewer.engine.cline.updates import EMPTY
from ctxviewer.engine.events import EventKind
from ctxviewer.engine.explain import explain, explain_event
from helpers.cline_talk import DUP, a, header, read, u
from helpers.past_tasks import Step, past, update

OVER, BELOW = 161_000, 20_000


def talk(count, **others):
    """User and assistant in turn; `m4` = the message number 4."""
    made = [(u, a)[number % 2](f"words of message {number}") for number in range(count)]
    for name, message in others.items():
        made[int(name[1:])] = message
    return made


def only_event(timeline):
    (event,) = timeline.events
    return event


def said(explanation):
    return " ".join(explanation.sentences)


def test_a_request_without_event():
    timeline = past(talk(4), [Step(1, total=BELOW), Step(3, total=BELOW)])
    answer = explain(timeline, 1)
    (sentence,) = answer.sentences
    assert sentence == (
        "Request 1 reported 20,000 tokens, below the limit of 160,000 (window 200,000 − 40,000; from the model table): "
        "nothing had to be done."
    )
    assert (answer.compared, answer.compared_request, answer.events, answer.doubts) == (BELOW, 0, (), ())
    assert answer.changes == ("2 messages are new: 1–2.",)


def test_the_first_request_and_one_after_a_request_without_numbers():
    timeline = past(talk(4), [Step(1, total=None), Step(3)])
    assert "no earlier total" in said(explain(timeline, 0))
    assert said(explain(timeline, 1)).startswith("Request 1 reported no tokens, so nothing was compared.")
    assert explain(timeline, 1).compared is None


def test_what_happened_is_told_also_where_nothing_is_compared():
    unreported = past(talk(12), [Step(9, total=None), Step(11, cut=(2, 5))])
    assert said(explain(unreported, 1)).startswith("Request 1 reported no tokens, so nothing was compared. ")
    assert "messages 2–5 are no longer sent" in said(explain(unreported, 1))
    first = past(talk(12), [Step(11, cut=(2, 5))])
    assert "messages 2–5 are no longer sent" in said(explain(first, 0))
    summarised = [
        Step(7, total=OVER),
        Step(9, total=OVER, after=("tool:summarizeTask",), after_cut=(2, 9)),
        Step(11, cut=(2, 9)),
    ]
    both = explain(past(talk(12), summarised, history=update(EMPTY, 1, 0, "short", 2)), 2)
    assert [event.kind for event in both.events] == [EventKind.OPTIMIZE, EventKind.SUMMARIZE]
    assert "Right after a summary nothing is compared. Optimised 1 block" in said(both)


def test_a_truncation_names_total_window_limit_mode_and_range():
    notice = update(EMPTY, 1, 0, "[NOTE]", 1, kind=0)
    timeline = past(talk(12), [Step(9, total=OVER), Step(11, cut=(2, 5))], history=notice)
    assert only_event(timeline).kind is EventKind.TRUNCATE
    answer = explain_event(timeline, only_event(timeline))
    assert "Request 1 reported 161,000 tokens, at or above the limit of 160,000" in said(answer)
    assert "window 200,000 − 40,000; from the model table" in said(answer)
    assert "half of the rest goes: messages 2–5 (4 of 9)" in said(answer)
    assert (answer.keep, answer.range_before, answer.range_after) == ("half", None, Range(2, 5))
    assert "The truncation notice was put on message 1." in answer.sentences
    assert "4 messages are no longer sent: 2–5." in answer.changes
    assert "Message 1: Truncation notice." in answer.changes
    assert answer.doubts == ()


def test_a_notice_that_is_missing_is_doubted():
    answer = explain(past(talk(12), [Step(9, total=OVER), Step(11, cut=(2, 5))]), 1)
    assert answer.doubts == ("By the rules 1 message would carry an update made now; recorded are 0.",)


def test_twice_the_limit_keeps_a_quarter():
    timeline = past(talk(12), [Step(9, total=2 * OVER), Step(11, cut=(2, 5))], window=200_000)
    answer = explain(timeline, 1)
    assert "half of the total is still above the limit, so three quarters of the rest go" in said(answer).lower()
    assert any("By the rules the range would be 2–7; recorded is 2–5" in doubt for doubt in answer.doubts)


def test_an_optimisation_tells_what_it_saved():
    twice = talk(8, m2=u(read("a.py", "x" * 4_000)), m4=u(read("a.py", "x" * 4_000)))
    history = update(EMPTY, 2, 0, f"{header('a.py')}\n{DUP}", 1)
    timeline = past(twice, [Step(5, total=OVER), Step(7)], history=history)
    answer = explain_event(timeline, only_event(timeline))
    assert answer.events[0].kind is EventKind.OPTIMIZE
    assert answer.saved_share is not None
    assert answer.saved_share > 0.3
    assert answer.saved_characters == 4_000 - len(DUP)
    assert answer.total_characters == sum(len(block["text"]) for message in twice[:7] for block in message["content"])
    assert "1 older copy of 1 file replaced" in said(answer)
    assert "no cut was needed" in said(answer)
    assert "Message 2: Duplicate read: a.py." in answer.changes
    assert answer.doubts == ()


def test_a_refused_request_is_cut_to_a_quarter_whatever_the_limit():
    history = EMPTY.with_update(1, 0, 2_150, "[NOTE]", 0, []).with_update(0, 0, 2_150, "[Carry on]", 0, [])
    steps = [Step(9, total=BELOW), Step(11, cut=(2, 7), before=("error_retry",), failure="too large: 201,828 tokens")]
    timeline = past(talk(12), steps, history=history)
    answer = explain_event(timeline, only_event(timeline))
    assert answer.events[0].kind is EventKind.FORCED_TRUNCATE
    assert "by the limit nothing had to be done" in said(answer)
    assert "The provider refused the request as too large: too large: 201,828 tokens." in said(answer)
    assert "it keeps a quarter" in said(answer)
    assert "messages 2–7 are no longer sent" in said(answer)
    assert "The truncation notice was put on message 1." in answer.sentences
    assert "The task text in message 0 was replaced by a notice." in answer.sentences
    assert answer.keep == "quarter"
    assert answer.doubts == ()


@pytest.mark.parametrize("at", [0, 1, 2])
def test_the_providers_words_are_those_of_the_request_or_the_one_before(at):
    steps = [Step(7), Step(9, total=BELOW), Step(11, cut=(2, 7), before=("error_retry",)), Step(11, cut=(2, 7))]
    steps[at] = replace(steps[at], failure=" ".join(["far", "too", "large" * 60]))
    answer = said(explain(past(talk(12), steps), 2))
    start = "The provider refused the request as too large"
    assert (f"{start}: far too {'large' * 38}l…." in answer) is (at > 0)
    assert (f"{start}." in answer) is (at == 0)


def test_a_refusal_after_the_decision_is_taken_into_account():
    steps = [Step(9, total=OVER), Step(15, cut=(2, 13), before=("error_retry",))]
    answer = explain(past(talk(16), steps), 1)
    assert "half of the rest goes: messages 2–7" in said(answer)
    assert any("After the decision and 1 refusal the range would be 2–11" in doubt for doubt in answer.doubts)
    steps[1] = Step(15, cut=(2, 11), before=("error_retry",))
    assert explain(past(talk(16), steps), 1).doubts == ()


def test_a_refused_cut_that_keeps_no_quarter_is_doubted():
    steps = [Step(9, total=BELOW), Step(11, cut=(2, 5), before=("error_retry",))]
    answer = explain(past(talk(12), steps), 1)
    assert any("a quarter is kept; the recorded range fits half" in doubt for doubt in answer.doubts)


def test_an_accepted_summary_keeps_the_last_two():
    steps = [
        Step(7, total=BELOW),
        Step(9, total=BELOW, after=("ask:condense",), after_cut=(2, 7)),
        Step(11, cut=(2, 7)),
    ]
    history = EMPTY.with_update(1, 0, 2_700, "[NOTE]", 0, []).with_update(0, 0, 2_700, "[Carry on]", 0, [])
    timeline = past(talk(12), steps, history=history)
    assert only_event(timeline).kind is EventKind.CONDENSE
    answer = explain_event(timeline, only_event(timeline))
    assert "The user accepted a summary" in said(answer)
    assert "The last of 10 messages is the assistant's, so the last two stay (lastTwo)." in answer.sentences
    assert "The task text in message 0 was replaced by a notice." in answer.sentences
    assert (answer.request, answer.keep, answer.doubts) == (2, "lastTwo", ())


def test_a_summary_accepted_before_an_answer_came_keeps_none_and_other_ranges_are_doubted():
    def condensed(end):
        steps = [Step(7), Step(10, after=("ask:condense",), after_cut=(2, end)), Step(11, cut=(2, end))]
        return explain(past(talk(12, m9=u("words"), m10=u("more")), steps), 2)

    assert "The last of 10 messages is not the assistant's, so none stays (none)." in condensed(8).sentences
    assert (condensed(8).keep, condensed(8).doubts) == ("none", ())
    assert condensed(5).doubts[-1] == "By the rules it would be none; the recorded range fits half."


def test_a_summary_that_leaves_half_is_doubted():
    steps = [Step(7), Step(9, after=("tool:summarizeTask",), after_cut=(2, 5)), Step(11, cut=(2, 5))]
    (doubt,) = explain(past(talk(12), steps), 2).doubts
    assert doubt == "A summary leaves none of the earlier messages; the recorded range fits half."


def test_a_summary_of_auto_condense_and_the_request_that_asks_for_it():
    asks = u("words", '<explicit_instructions type="summarize_task">\nSummarise.\n</explicit_instructions>')
    steps = [
        Step(7, total=OVER),
        Step(9, total=OVER, after=("tool:summarizeTask",), after_cut=(2, 9)),
        Step(11, cut=(2, 9)),
    ]
    timeline = past(talk(12, m8=asks), steps)
    asking = explain(timeline, 1)
    assert "Auto-condense is on: nothing is cut" in said(asking)
    assert (asking.decision, asking.doubts) == (None, ())
    assert only_event(timeline).kind is EventKind.SUMMARIZE
    answer = explain_event(timeline, only_event(timeline))
    assert "the summary that request 2 asked the model for takes the place" in said(answer)
    assert "Right after a summary nothing is compared." in answer.sentences
    assert answer.keep == "none"
    assert answer.doubts == ()


def test_a_rollback_tells_what_came_back_and_what_went():
    steps = [
        Step(3, total=BELOW),
        Step(9, cut=(2, 5), total=BELOW, after=("deleted_api_reqs",), after_cut=None),
        Step(9, total=BELOW),
    ]
    timeline = past(talk(10), steps)
    event = next(event for event in timeline.events if event.kind is EventKind.ROLLBACK)
    answer = explain_event(timeline, event)
    assert "Rolled back: the deleted range is none again, it was 2–5." in answer.sentences
    assert "The requests that went with it had used 5,200 tokens (reported)." in answer.sentences
    assert any(
        "a restore empties context_history.json" in sentence or "restore empties" in sentence
        for sentence in answer.sentences
    )
    assert "4 messages are sent again: 2–5." in answer.changes
    assert (answer.range_after, answer.doubts) == (None, ())


def test_a_rollback_to_a_range_that_no_entry_has_is_doubted():
    steps = [Step(3), Step(9, cut=(2, 7), after=("deleted_api_reqs",), after_cut=(2, 3)), Step(9, cut=(2, 3))]
    answer = explain(past(talk(10), steps), 2)
    assert any("no entry that is left has 2–3" in doubt for doubt in answer.doubts)


def test_an_event_that_no_request_has_followed():
    timeline = past(talk(10), [Step(9, total=BELOW)], now=Range(2, 5))
    event = only_event(timeline)
    assert event.request is None
    answer = explain_event(timeline, event)
    assert "No request has been made since." in answer.sentences
    assert "messages 2–5 are no longer sent" in said(answer)
    assert "With m the limit is 160,000" in said(answer)


def test_a_cut_below_the_limit_is_doubted():
    answer = explain(past(talk(12), [Step(9, total=BELOW), Step(11, cut=(2, 5))]), 1)
    assert any("By the rules nothing would have been done at this total" in doubt for doubt in answer.doubts)


def test_nothing_done_above_the_limit_is_doubted():
    answer = explain(past(talk(12), [Step(9, total=OVER), Step(11)]), 1)
    assert any("the range would be 2–5; recorded is none" in doubt for doubt in answer.doubts)


def test_another_model_than_the_one_of_the_window_is_named():
    answer = explain(past(talk(4), [Step(1, model="other"), Step(3, model="other")]), 1)
    assert "The request was made with other; the window is that of m." in answer.sentences


def test_a_cancelled_request_says_so():
    steps = [Step(1), Step(3, state=RequestState.CANCELLED, failure="user cancelled")]
    assert "The request was cancelled: user cancelled." in explain(past(talk(4), steps), 1).sentences
    ends = {RequestState.FAILED: "The request failed.", RequestState.CANCELLED: "The request was cancelled.",
            RequestState.RUNNING: "The request is still running, or was left unfinished."}  # fmt: skip
    for state, words in ends.items():
        assert explain(past(talk(4), [Step(1), Step(3, state=state)]), 1).sentences[-1] == words


def ahead(*totals):
    steps = [Step(2 * number + 1, total=total) for number, total in enumerate(totals)]
    return explain(past(talk(2 * len(totals)), steps), None)


def test_ahead_far_from_the_limit():
    answer = ahead(100_000, 110_000, 120_000, 130_000)
    assert answer.sentences[0] == (
        "With m the limit is 160,000 (window 200,000 − 40,000; from the model table). Request 4 used 130,000 tokens, "
        "65 % of the window, 30,000 below the limit."
    )
    assert (
        "A next request of the size of the last three (10,000 tokens more) would not cross it: 140,000"
        in answer.sentences[1]
    )
    assert (answer.growth, answer.expected, answer.compared_request) == (10_000, 140_000, 3)


def test_ahead_the_next_request_would_cross_the_limit():
    answer = ahead(100_000, 120_000, 140_000, 155_000)
    assert "would cross the limit with 173,333 tokens" in answer.sentences[1]
    assert answer.growth is not None
    assert round(answer.growth) == 18_333


def test_ahead_the_limit_itself_is_crossed():
    assert "would cross the limit with 160,000 tokens" in ahead(140_000, 150_000).sentences[1]
    assert "would not cross it: 159,998 tokens" in ahead(140_000, 149_999).sentences[1]


def test_ahead_of_a_total_at_the_limit_the_rules_are_asked():
    answer = ahead(100_000, 120_000, 140_000, 160_000)
    assert answer.sentences[0].endswith("Request 4 used 160,000 tokens, 80 % of the window.")
    assert ahead(159_999).sentences[0].endswith("159,999 tokens, 80 % of the window, 1 below the limit.")
    assert "before the next request the agent will make room" in said(answer)
    assert "half of the rest goes: messages 2–3 (2 of 6)" in said(answer)
    assert (answer.keep, answer.range_before, answer.range_after) == ("half", None, Range(2, 3))


def test_ahead_without_growth_and_without_numbers():
    assert "The last requests did not grow." in ahead(50_000, 50_000).sentences
    assert "No request has reported its size yet." in said(ahead(None))
