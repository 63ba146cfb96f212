"""Sage's rows of the table: steps with numbers, the picture over the stored messages, summarisers that fail."""

from __future__ import annotations

import pytest

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.projection import Cut, Standing
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.snapshot import ModelFact, WindowSource
from ctxviewer.engine.state import state_at
from ctxviewer.engine.strategies import Facts, strategy
from helpers.cline_talk import a, alternating, call, result, u
from helpers.lab import lab_state, lab_task
from helpers.sage_talk import StubModel

PRUNE, SUMMARIZE, COMPACT = (strategy(key) for key in ("sage-prune", "sage-summarize", "sage-compact"))
TALK = [(u, a)[number % 2]("x" * 360) for number in range(20)]
"""Twenty messages of 98 tokens by Sage's default estimator: 1,960."""


class AwayError(CtxError):
    """What a summariser raises."""


def sentences(plan):
    return [step.sentence for step in plan.steps]


def test_pruning_tells_each_message_and_where_it_stops():
    plan = PRUNE.plan(lab_state(TALK), {"recent": 2}, window=2_000)
    found = sentences(plan)
    assert found[0] == (
        "Estimated 1,960 tokens; the threshold of 1,500 (75 % of 2,000) is reached. "
        "Pruning aims at 1,000 and keeps the last 2 messages."
    )
    assert found[1] == "Message 0 (user, 98 tokens) removed: 1,960 → 1,862."
    assert found[-2] == "Message 9 (assistant, 98 tokens) removed: 1,078 → 980."
    assert found[-1] == "Stopped at 980: the target of 1,000 is met."
    assert len(plan.steps) == 12
    assert [step.after.sent_count for step in plan.steps] == [20, *range(19, 9, -1), 10]
    assert plan.steps[3].touched == ((2, None),)
    assert plan.steps[3].numbers == {"message": 2, "tokens": 98, "before": 1_764, "after": 1_666}
    assert plan.after.gone == frozenset(range(10))
    assert plan.after.cuts == (Cut(0, 9, None),)
    assert "the task itself is lost" in plan.warnings[0]


def test_pruning_stops_at_the_recent_messages():
    plan = PRUNE.plan(lab_state(TALK), {"recent": 15}, window=2_000)
    assert sentences(plan)[-1] == (
        "Stopped at 1,470, above the target of 1,000: only 15 messages are left, which always stay."
    )


def test_below_the_threshold_nothing_is_done_unless_asked_for():
    state = lab_state(TALK)
    assert sentences(PRUNE.plan(state, window=10_000)) == [
        "Estimated 1,960 tokens; the threshold of 7,500 (75 % of 10,000) is not reached, nothing is done."
    ]
    forced = PRUNE.plan(state, {"always": True, "recent": 2}, window=10_000)
    assert sentences(forced)[1:] == ["The target of 5,000 is met already: nothing is removed."]
    assert "pruning is asked for in any case" in sentences(forced)[0]


def test_pruning_that_can_take_nothing_says_so():
    plan = PRUNE.plan(lab_state(TALK), {"recent": 20}, window=1_000)
    assert sentences(plan)[1] == "Only the last 20 messages and protected ones are there: nothing can be removed."
    assert plan.after == plan.before


def test_the_provider_brings_its_own_figures():
    state = lab_state(TALK)
    google = PRUNE.plan(state, {"provider": "google"}, window=2_000)
    assert sentences(google)[0].startswith("Estimated 1,800 tokens")
    anthropic = PRUNE.plan(state, {"provider": "anthropic", "threshold": 0.1}, window=2_000)
    assert "10 % of 2,000" in sentences(anthropic)[0]


@pytest.mark.parametrize(
    ("provider", "model", "share", "overhead"),
    [
        ("anthropic", "claude-opus-4", "80 %", 8),
        ("openrouter", "anthropic/claude-sonnet-4", "80 %", 8),
        ("openai", "gpt-4o", "75 %", 4),
        ("vertex", "gemini-2.5-pro", "75 %", 6),
        ("ollama", "qwen3", "75 %", 4),
    ],
)
def test_the_tasks_model_chooses_the_figures(provider, model, share, overhead):
    state = lab_state([u("x" * 36)] * 3, model=ModelFact(model, provider, 10_000, WindowSource.TABLE))
    tokens = 3 * (4 + overhead + (8 if provider == "vertex" else 9))
    assert sentences(PRUNE.plan(state))[0].startswith(f"Estimated {tokens} tokens; the threshold of ")
    assert f"({share} of 10,000)" in sentences(PRUNE.plan(state))[0]


def test_results_and_words_of_one_message_go_one_by_one():
    talk = [u("x" * 360), a("go", call("t1")), u(result("t1", "y" * 360), "words"), a("z" * 360), u("end")]
    plan = PRUNE.plan(lab_state(talk), {"recent": 3, "threshold": 0}, window=300)
    assert plan.after.gone == {0, 1}
    assert plan.after.gone_blocks == {(2, 0)}
    assert sentences(plan)[3] == "Message 2 (tool, 98 tokens, block 0 of it) removed: 215 → 117."
    assert plan.steps[3].touched == ((2, 0),)
    timeline = lab_task(talk)
    sent = timeline.sent_by(plan.after)
    assert [message["content"] for message in sent] == [
        [{"type": "text", "text": "words"}],
        talk[3]["content"],
        talk[4]["content"],
    ]


def test_separated_calls_are_marked():
    talk = [u("x" * 360), a("go", call("t1")), u(result("t1", "ok")), a("z"), u("end")]
    plan = PRUNE.plan(lab_state(talk), {"recent": 3, "threshold": 0}, window=40)
    assert plan.after.gone == {0, 1}
    assert sentences(plan)[-1] == "The result in message 2 has lost its call in message 1."
    assert plan.steps[-1].touched == ((2, 0),)


def test_a_compaction_marks_separated_calls_and_tells_that_the_task_goes():
    talk = [u("x" * 360), a("go", call("t1")), u(result("t1", "ok")), a("z"), u("end")]
    plan = COMPACT.plan(lab_state(talk), {"recent": 3, "always": True}, window=2_000)
    assert plan.after.gone == {0, 1}
    assert sentences(plan)[-1] == "The result in message 2 has lost its call in message 1."
    assert plan.steps[-1].touched == ((2, 0),)
    (warning,) = plan.warnings
    assert warning.startswith("Messages 0 and 1 go: Sage protects only system messages")


def test_many_separated_calls_get_one_step():
    calls = [call(f"t{n}") for n in range(10)]
    talk = [u("x" * 360), a("go", *calls), u(*[result(f"t{n}", "ok") for n in range(10)]), a("z")]
    plan = PRUNE.plan(lab_state(talk), {"recent": 11, "threshold": 0}, window=100)
    assert sentences(plan)[-1].startswith("10 calls and result pairs are separated")


def test_system_messages_stay_and_split_the_cuts():
    talk = [u("x" * 360), a("y" * 360), {"role": "system", "content": "be brief"}, *TALK[1:10]]
    plan = PRUNE.plan(lab_state(talk), {"recent": 2, "threshold": 0}, window=400)
    assert 2 not in plan.after.gone
    assert plan.after.cuts == (Cut(0, 1, None), Cut(3, 9, None))
    assert PRUNE.plan(lab_state(talk), {"recent": 2, "threshold": 0, "keep_system": False}, window=400).after.cuts == (
        Cut(0, 9, None),
    )


def test_pruning_starts_from_what_cline_sends():
    timeline = lab_task(TALK, [5, 5], ranges={0: Range(2, 7)})
    plan = PRUNE.plan(state_at(timeline, None), {"recent": 2, "threshold": 0}, window=1_500)
    assert plan.before.hidden == range(2, 8)
    assert plan.after.gone == {0, 1, 8, 9, 10, 11, 12}
    assert [(cut.first, cut.last) for cut in plan.after.cuts] == [(0, 1), (2, 7), (8, 12)]
    assert plan.after.sent_count == 7


def test_a_summary_is_put_before_the_rest():
    plan = SUMMARIZE.plan(lab_state(TALK), {"recent": 2}, window=2_000)
    (row,) = plan.after.inserted
    assert (row.before, row.role, row.title) == (10, "system", "Summary")
    assert "User messages: 5. Assistant messages: 5." in row.text
    assert sentences(plan)[-1].startswith("A summary of 10 messages (")
    sent = lab_task(TALK).sent_by(plan.after)
    assert sent[0] == {"role": "system", "content": row.text}
    assert sent[1:] == TALK[10:]


def test_a_model_writes_the_summary():
    model = StubModel("what was said")
    plan = SUMMARIZE.plan(lab_state(TALK), {"recent": 2}, window=2_000, model=model)
    assert plan.after.inserted[0].text == "what was said"
    assert len(model.prompts) == 1


@pytest.mark.parametrize("row", [SUMMARIZE, COMPACT], ids=lambda row: row.key)
def test_a_summariser_that_fails_leaves_nothing_half_done(row):
    state = lab_state(TALK)
    facts = Facts(state.timeline)
    with pytest.raises(AwayError, match="no answer"):
        row.plan(state, {"always": True}, window=2_000, facts=facts, model=StubModel(AwayError("no answer")))
    plan = row.plan(state, {"always": True}, window=2_000, facts=facts)
    assert plan.after.inserted
    assert state.projection.inserted == ()


def test_compaction_leaves_a_boundary_and_the_recent_ones():
    plan = COMPACT.plan(lab_state(TALK), {"threshold": 0.5}, window=2_000)
    assert sentences(plan)[0] == (
        "Estimated 1,960 tokens since the last boundary; the threshold of 1,000 (50 % of 2,000) is reached."
    )
    assert sentences(plan)[1] == (
        "15 messages of Sage's list (1,470 tokens) give way: stored messages 0–14; the last 5 messages stay, "
        "0 system messages kept."
    )
    assert sentences(plan)[2].startswith("A boundary with their summary (")
    assert plan.steps[1].after.inserted == ()
    (row,) = plan.after.inserted
    assert (row.before, row.role, row.title) == (15, "assistant", "Boundary with a summary")
    assert plan.after.gone == frozenset(range(15))


def test_compaction_with_nothing_to_compact_says_so():
    plan = COMPACT.plan(lab_state(TALK[:4]), {"always": True}, window=2_000)
    assert sentences(plan)[1] == "The last 5 messages always stay: there is nothing to compact."


def test_the_override_is_a_percentage():
    state = lab_state(TALK)
    assert "(40 % of 2,000) is reached" in sentences(COMPACT.plan(state, {"override": "40"}, window=2_000))[0]
    assert "(95 % of 2,100) is not" in sentences(COMPACT.plan(state, {"override": "forty"}, window=2_100))[0]


def test_everything_may_go():
    plan = COMPACT.plan(lab_state(TALK), {"always": True, "recent": 0}, window=2_000)
    assert plan.after.sent_count == 0
    assert plan.after.inserted[0].before == 20
    assert len(lab_task(TALK).sent_by(plan.after)) == 1


def test_a_task_of_one_message():
    for row in (PRUNE, SUMMARIZE, COMPACT):
        plan = row.plan(lab_state([u("task")]), {"always": True}, window=1)
        assert plan.after.sent_count == 1
        assert plan.steps


def test_results_without_calls_and_calls_without_results():
    talk = [u("task"), a("go", call("t1")), u("no result"), a("z"), u(result("t9", "late")), *alternating(4)]
    for row in (PRUNE, SUMMARIZE, COMPACT):
        plan = row.plan(lab_state(talk), {"always": True, "recent": 1}, window=50)
        assert plan.after.standing(2) is Standing.NOT_SENT


def test_ten_thousand_removals_make_their_pictures_when_asked():
    talk = [(u, a)[number % 2]("x" * 40) for number in range(10_000)]
    timeline = lab_task(talk)
    plan = PRUNE.plan(state_at(timeline, None), {"recent": 0, "threshold": 0}, window=1)
    assert len(plan.steps) == 10_002
    assert plan.steps[5_000].after.gone == frozenset(range(5_000))
    assert plan.steps[5_000].after.cuts == (Cut(0, 4_999, None),)
