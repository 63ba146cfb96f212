"""Replays over whole tasks: state carried on, totals against the reported ones, failures, cancelling, linear cost."""

from __future__ import annotations

import pytest

from ctxviewer.domain.errors import CancelledWorkError, CtxError
from ctxviewer.domain.projection import Cut, Standing
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.updates import EMPTY
from ctxviewer.engine.matrix import Choice, all_choices
from ctxviewer.engine.recorded import recorded
from ctxviewer.engine.replay import replay
from ctxviewer.engine.strategies import Facts, SettingsError, strategy
from ctxviewer.engine.strategies.carried import ActionKind
from ctxviewer.engine.strategies.weigh import Weigher
from ctxviewer.engine.words import grouped
from helpers.cline_talk import a, alternating, call, pairs, read, result, u
from helpers.lab import lab_task
from helpers.past_tasks import Step, past, update
from helpers.sage_talk import StubModel

TALK = [(u, a)[number % 2]("x" * 360) for number in range(40)]
"""98 tokens a message."""


def run(timeline, key, values=None, **more):
    (found,) = replay(timeline, [Choice(strategy(key), values or {})], **more)
    return found


def test_the_rules_act_when_the_limit_is_reached_and_carry_their_range_on():
    timeline = lab_task(TALK, [1_000, 8_000, 1_000, 9_000, 1_000])
    found = run(timeline, "none")
    assert [(number, action.deleted_range) for number, action in found.events] == [(2, Range(2, 3)), (4, Range(2, 7))]
    assert [(lost.request, lost.messages) for lost in found.lost] == [(2, Range(2, 3)), (4, Range(4, 7))]
    assert found.lost_at(2) == 2
    assert found.lost_at(5) == 4
    assert found.lost_at(8) is None
    assert found.events[0][1].sentence == "Truncated (none): messages 2–3 are sent no more (2 messages)."


def test_totals_are_the_reported_ones_until_something_differs():
    timeline = lab_task(TALK, [8_500, 8_600, 8_700, 8_800], ranges={2: Range(2, 3)})
    found = run(timeline, "optimise")
    assert [row.total for row in found.rows[:2]] == [8_500, 8_600]
    base = recorded(Facts(timeline))
    assert found.rows[2].total == round(8_700 + base.factor * 2 * 98)
    assert [row.reported for row in found.rows] == [8_500, 8_600, 8_700, 8_800]
    assert found.peak == max(row.total for row in found.rows)
    assert found.total_tokens == sum(row.total for row in found.rows)


def test_recorded_estimates_know_range_and_updates():
    talk = pairs(*[read("a.py", "x" * 360) for _ in range(6)])
    replaced = run(lab_task(talk, [5, 9_000, 5]), "optimise")
    assert [update.message for update in replaced.events[0][1].updates] == [2]
    assert replaced.rows[2].tokens < Facts(lab_task(talk)).tokens(0, 5)
    timeline = lab_task(talk, [5, 5, 5, 5], ranges={1: Range(2, 3)})
    facts = Facts(timeline)
    base = recorded(facts)
    assert base.until == (1, 3, 5, 7)
    assert base.tokens[0] == facts[0].tokens
    assert base.tokens[1] == facts.tokens(0, 2)
    assert base.tokens[2] == facts.tokens(0, 2) + facts.tokens(4, 5)


def test_recorded_estimates_know_which_updates_were_in_force():
    talk = [u("x" * 360, "y" * 360), a("ok"), u("x" * 360, "y" * 360), a("ok"), u("z"), a("ok")]
    history = update(update(update(EMPTY, 2, 0, "short", 2), 2, 1, "shorter", 2), 9, 0, "nowhere", 1)
    timeline = past(talk, [Step(3), Step(3), Step(5)], history=history)
    facts = Facts(timeline)
    saved = [facts.update_tokens(one) for one in timeline.updates if one.message == 2]
    assert len(saved) == 2
    assert max(saved) < 0
    base = recorded(facts)
    assert base.tokens == (facts.tokens(0, 3), facts.tokens(0, 3), facts.tokens(0, 5) + sum(saved))
    assert recorded(Facts(past(talk, [Step(0), Step(1)]))).until == (0, 1)


def test_the_factor_relates_estimates_to_reports():
    texts = [(u, a)[n % 2]("x" * 400) for n in range(20)]
    per_request = 2 * 108
    timeline = lab_task(texts, [5_000 + 2 * per_request * n for n in range(10)])
    assert recorded(Facts(timeline)).factor == pytest.approx(2)
    assert recorded(Facts(lab_task(texts, [5_000, 6_000]))).factor == 1
    assert recorded(Facts(lab_task(texts, [9_000 - n for n in range(10)]))).factor == 0.5


def test_totals_beyond_what_a_sum_holds_do_no_harm():
    texts = [(u, a)[n % 2]("x" * 400) for n in range(20)]
    known = recorded(Facts(lab_task(texts, [1e308] * 5 + [5_000.0] * 5)))
    assert known.factor == 1
    assert known.total_with(0, known.tokens[0] - 1, float("inf")) == float("inf")
    assert known.total_with(0, known.tokens[0] - 1, 5_000.0) == 4_999
    endless = lab_task(texts, [float("inf")] * 10)
    (found,) = replay(endless, (Choice(strategy("half")),), window=10_000)
    assert found.rows[5].reported == float("inf")
    assert grouped(1e308) == "1e+308"


def test_without_a_report_nothing_is_compared():
    found = run(lab_task(TALK, [9_000, None, 9_000, 100]), "half")
    assert [row.compared for row in found.rows] == [None, 9_000, None, found.rows[2].total]
    assert [(number, str(action.kind)) for number, action in found.events] == [(1, "nothing"), (3, "truncate")]
    assert found.rows[1].total is None


def test_what_frees_nothing_is_told_once():
    found = run(lab_task(TALK, [9_000] * 6), "optimise")
    assert [(number, str(action.kind)) for number, action in found.events] == [(1, "nothing")]
    assert "9,000 tokens reach the limit of 8,000, but nothing can be freed." in found.events[0][1].sentence
    again = run(lab_task(TALK, [9_000] * 6), "none")
    assert [str(action.kind) for _, action in again.events] == ["nothing", *["truncate"] * 4]


def test_sage_prunes_by_its_own_estimate():
    found = run(lab_task(TALK, [5] * 20), "sage-prune", {"recent": 2}, window=2_000)
    number, action = found.events[0]
    assert number == 8  # 17 messages of 98 tokens reach 75 % of 2,000
    assert found.rows[number].compared == 17 * 98
    assert action.lost == (Range(0, 6),)
    assert action.sentence == "7 messages removed: 1,666 → 980 estimated tokens."
    assert found.rows[number].tokens == 10 * 98
    following = found.events[1]
    assert following[0] == 11
    assert following[1].lost == (Range(7, 12),)


def test_sage_compacts_and_keeps_its_boundaries():
    found = run(lab_task(TALK, [5] * 20), "sage-compact", {"threshold": 0.5, "recent": 2}, window=2_000)
    assert [number for number, _ in found.events] == [5, 10, 15]
    assert [len(action.inserted) for _, action in found.events] == [1, 2, 3]
    assert [row.before for row in found.events[-1][1].inserted] == [29, 29, 29]  # nothing is left between them


def test_sage_summaries_replace_what_was_summarised():
    found = run(lab_task(TALK, [5] * 20), "sage-summarize", {"recent": 2}, window=2_000)
    assert all(action.inserted for _, action in found.events)
    assert all(row.role == "system" for _, action in found.events for row in action.inserted)


def test_a_picture_of_any_request():
    timeline = lab_task(TALK, [1_000, 8_000, 1_000, 9_000, 1_000])
    found = run(timeline, "none")
    before, after = found.projection(timeline, 1), found.projection(timeline, 4)
    assert before.sent_count == 3
    assert (after.until, after.sent_count) == (9, 3)
    assert after.cuts == (Cut(2, 3, 2), Cut(4, 7, 4))
    assert after.updates[1, 0].text.startswith("[NOTE] Older messages")
    with pytest.raises(IndexError, match="request 6 was not replayed"):
        found.projection(timeline, 5)


def test_a_picture_of_what_sage_left():
    timeline = lab_task(TALK, [5] * 20)
    found = run(timeline, "sage-compact", {"threshold": 0.5, "recent": 2}, window=2_000)
    shown = found.projection(timeline, 19)
    assert shown.gone == frozenset(range(29))
    assert [cut.since_request for cut in shown.cuts] == [5, 10, 15]
    assert len(shown.inserted) == 3
    assert shown.standing(29) is Standing.SENT


PARTS = [
    u("x" * 360),
    *[m for n in range(12) for m in (a("go", call(f"t{n}")), u(result(f"t{n}", "y" * (300 + 40 * n)), "w" * 120))],
]
"""Each message of the user becomes two of Sage's: one can go while the other stays."""


@pytest.mark.parametrize(("key", "recent"), [("sage-prune", 3), ("sage-summarize", 3), ("sage-compact", 1)])
def test_what_sage_sends_weighs_what_its_picture_weighs(key, recent):
    timeline = lab_task(PARTS, [5] * 13)
    facts = Facts(timeline)
    found = run(timeline, key, {"recent": recent, "threshold": 0.5}, window=1_500)
    pictures = [found.projection(timeline, row.number) for row in found.rows]
    assert any(picture.gone_blocks for picture in pictures)
    assert len(found.events) > 1
    for row, picture in zip(found.rows, pictures, strict=True):
        assert Weigher(facts, row.until).tokens(picture) == row.tokens


@pytest.mark.parametrize("key", ["sage-prune", "sage-summarize", "sage-compact"])
def test_what_sage_cannot_free_is_told_once_and_always_is_for_steps(key):
    timeline = lab_task(TALK, [5] * 10)
    found = run(timeline, key, {"recent": 1_000, "threshold": 0}, window=2_000)
    assert [(number, action.kind) for number, action in found.events] == [(0, ActionKind.NOTHING)]
    assert "nothing can be removed" in found.events[0][1].sentence
    assert run(timeline, key, {"recent": 1, "threshold": 10, "always": True}, window=1_000_000).events == ()


def test_a_summariser_that_fails_stops_its_own_run_only():
    class AwayError(CtxError):
        pass

    answers = iter(["one", AwayError("the model is away")])

    def model(_prompt):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    timeline = lab_task(TALK, [5] * 20)
    choices = [Choice(strategy("sage-summarize"), {"recent": 2}), Choice(strategy("sage-prune"), {"recent": 2})]
    failed, whole = replay(timeline, choices, window=2_000, model=model)
    assert failed.failure == "Stopped before request 12: the model is away"
    assert failed.failed_request == 11
    assert len(failed.rows) == 11
    assert failed.events[0][1].inserted[0].text == "one"
    assert failed.projection(timeline, 10).inserted
    assert len(whole.rows) == 20
    assert not whole.failure


def test_damage_stops_where_the_rules_would():
    talk = [*TALK[:10], {"role": "user", "content": [None]}, *TALK[11:]]
    found = run(lab_task(talk, [9_000] * 20), "decide")
    assert "Stopped before request 6" in found.failure
    assert len(found.rows) == 5


def test_settings_are_checked_before_anything_runs():
    with pytest.raises(SettingsError):
        replay(lab_task(TALK, [5]), [Choice(strategy("half")), Choice(strategy("half"), {"x": 1})])
    with pytest.raises(SettingsError):
        run(lab_task(TALK, [5]), "half", window=0)


def test_progress_and_cancel():
    told = []
    timeline = lab_task(alternating(200), [5] * 100)
    replay(timeline, all_choices()[:2], progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1
    asked = []

    def check():
        asked.append(1)
        if len(asked) > 60:
            raise CancelledWorkError("stopped")

    with pytest.raises(CancelledWorkError):
        replay(timeline, all_choices(), check=check)


def test_a_model_is_asked_with_the_removed_messages():
    model = StubModel("said")
    run(lab_task(TALK, [5] * 20), "sage-summarize", {"recent": 2}, window=2_000, model=model)
    assert len(model.prompts) > 1
    assert "said" in model.prompts[1] or "USER:" in model.prompts[1]


def test_tasks_without_requests_or_messages():
    for timeline in (lab_task(TALK), lab_task([]), lab_task([u("task")], [5])):
        for found in replay(timeline, all_choices()):
            assert len(found.rows) == len(timeline.requests)
            assert not found.failure


def test_without_messages_every_run_says_why_it_is_empty():
    timeline = lab_task([], [9_000] * 3, has_messages=False)
    for found in replay(timeline, all_choices()):
        assert found.rows == ()
        assert found.failure == "The API history is missing or unreadable, so there is nothing to try the rules on."
    with pytest.raises(SettingsError):
        replay(timeline, [Choice(strategy("sage-prune"), {"recent": -1})])


def test_an_until_that_steps_back_is_carried_on():
    timeline = lab_task(TALK[:5], [9_000] * 6)
    assert recorded(Facts(timeline)).until == (1, 3, 5, 5, 5, 5)
    for found in replay(timeline, all_choices()):
        assert len(found.rows) == 6
