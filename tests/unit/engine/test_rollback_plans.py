"""Rolling back keeps exactly the updates that still hold, and brings back the range of that moment."""

from __future__ import annotations

import json

import pytest

from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import CheckpointKind
from ctxviewer.engine.cline.notices import CONTEXT_TRUNCATION, DUPLICATE_FILE_READ
from ctxviewer.engine.plans import plan_decide, plan_optimize, plan_rollback, plan_rollback_to_message, plan_truncate
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from helpers.cline_talk import a, edit, mention, read, u
from helpers.past_tasks import Step, past
from helpers.working_agent import WorkingAgent

BODY = "line\n" * 100


@pytest.fixture
def agent(tmp_path) -> WorkingAgent:
    return WorkingAgent(tmp_path)


def opened(agent: WorkingAgent) -> Timeline:
    agent.write()
    return Timeline(registry.read(agent.ref))


def checkpoint(timeline: Timeline, number: int):
    points = [point for point in timeline.snapshot.checkpoints if point.kind is CheckpointKind.CHECKPOINT]
    return points[number]


def update(message: int, block: int, ts: int, text: str, kind: int) -> list:
    return [message, [kind, [[block, [[ts, "text", [text], []]]]]]]


def dup(path: str) -> str:
    return f"[read_file for '{path}'] Result:\n{DUPLICATE_FILE_READ}"


def request_ts(agent: WorkingAgent, number: int) -> int:
    return [entry["ts"] for entry in agent.ui if entry.get("say") == "api_req_started"][number]


def reads(agent: WorkingAgent, *paths: str) -> None:
    for number, path in enumerate(paths):
        agent.turn(f"turn {number}", read=path, body=BODY)


def test_an_update_whose_newer_copy_remains_stays(agent):
    reads(agent, "t", "a.py", "a.py", "b.py", "c.py")
    agent.updates = json.dumps([update(2, 0, request_ts(agent, 2), dup("a.py"), 2)])
    timeline = opened(agent)
    plan = plan_rollback(timeline, checkpoint(timeline, 3))
    assert plan.removed_updates == ()
    assert plan.effects.updates_text is None
    assert plan.differs_from_reference == ("The agent's own restore would drop all 1 updates; here 1 stay.",)


def test_an_update_whose_newer_copy_goes_is_dropped_although_it_is_not_later(agent):
    reads(agent, "t", "a.py", "b.py", "c.py", "a.py")
    stamp = request_ts(agent, 3)
    agent.updates = json.dumps([update(2, 0, stamp, dup("a.py"), 2)])
    timeline = opened(agent)
    plan = plan_rollback_to_message(timeline, 7)
    assert plan.settings["ts"] > stamp
    assert [(gone.message, gone.block) for gone in plan.removed_updates] == [(2, 0)]
    assert plan.effects.updates_text == "[]"
    assert "the newer copy of a.py goes" in plan.steps[1].sentence
    assert plan_rollback_to_message(timeline, 8).removed_updates == (), "message 8 holds the newer copy"


@pytest.mark.parametrize(("after", "stays"), [(0, True), (1, False)])
def test_an_update_of_the_very_time_of_the_point_is_not_later(agent, after, stays):
    reads(agent, "t", "a.py", "a.py", "b.py", "c.py")
    point = checkpoint(opened(agent), 3)
    agent.updates = json.dumps([update(2, 0, point.ts + after, dup("a.py"), 2)])
    plan = plan_rollback(opened(agent), point)
    assert plan.after.updates.keys() == ({(2, 0)} if stays else set())
    assert ("later than the point" in "".join(step.sentence for step in plan.steps)) is not stays


def test_the_update_of_the_first_message_that_goes_goes_with_it(agent):
    reads(agent, "t", "a.py", "b.py", "a.py", "b.py")
    stamp = request_ts(agent, 0)
    agent.updates = json.dumps([update(4, 0, stamp, dup("b.py"), 2)])
    timeline = opened(agent)
    goes, stays = plan_rollback_to_message(timeline, 3), plan_rollback_to_message(timeline, 8)
    assert (goes.effects.keep_messages, dict(goes.after.updates)) == (4, {})
    assert "1 update dropped (its message goes)." in [step.sentence for step in goes.steps]
    assert stays.after.updates.keys() == {(4, 0)}


def test_later_updates_and_those_of_lost_messages_go(agent):
    reads(agent, "t", "a.py", "a.py", "b.py", "b.py", "c.py")
    agent.updates = json.dumps(
        [
            update(2, 0, request_ts(agent, 2), dup("a.py"), 2),
            update(6, 0, request_ts(agent, 4), dup("b.py"), 2),
        ]
    )
    timeline = opened(agent)
    plan = plan_rollback(timeline, checkpoint(timeline, 3))
    assert [gone.message for gone in plan.removed_updates] == [6]
    assert list(plan.after.updates) == [(2, 0)]


def test_the_range_and_the_notice_of_the_moment(agent):
    reads(agent, *(f"f{number}.py" for number in range(4)))
    agent.deleted = [2, 3]
    agent.updates = json.dumps([update(1, 0, request_ts(agent, 3), CONTEXT_TRUNCATION, 0)])
    reads(agent, "x.py", "y.py")
    agent.deleted = [2, 5]
    reads(agent, "z.py")
    timeline = opened(agent)
    plan = plan_rollback(timeline, checkpoint(timeline, 5))
    assert plan.effects.deleted_range == Range(2, 3)
    assert plan.effects.set_range
    assert plan.after.updates[1, 0].text == CONTEXT_TRUNCATION
    before_the_cut = plan_rollback(timeline, checkpoint(timeline, 3))
    assert before_the_cut.effects.deleted_range is None
    assert dict(before_the_cut.after.updates) == {}
    assert "the cut that it tells of is taken back" in "".join(step.sentence for step in before_the_cut.steps)


def test_totals_of_what_goes_are_kept(agent):
    reads(agent, "a", "b", "c", "d")
    timeline = opened(agent)
    plan = plan_rollback(timeline, checkpoint(timeline, 1))
    entry = plan.effects.append_ui[0]
    assert json.loads(entry["text"])["tokensIn"] == 40_000
    assert plan.effects.totals.tokens_in == 80_000
    assert plan.lost_requests == range(2, 4)
    assert len(plan.lost_checkpoints) == 2


def test_to_a_message_keeps_it_as_the_last(agent):
    reads(agent, "a", "b", "c", "d")
    timeline = opened(agent)
    for message in range(7):
        plan = plan_rollback_to_message(timeline, message)
        assert plan.effects.keep_messages == message + 1
        assert plan.after.until == message + 1
    with pytest.raises(IndexError):
        plan_rollback_to_message(timeline, 8)


def test_the_newest_point_has_nothing_to_take_back(agent):
    reads(agent, "a", "b")
    timeline = opened(agent)
    assert "nothing to take back" in plan_rollback(timeline, checkpoint(timeline, 1)).refusal


def test_files_edited_later_are_named(agent):
    reads(agent, "a", "b")
    agent.entry("tool", json.dumps({"tool": "editedExistingFile", "path": "src/x.py"}))
    reads(agent, "c")
    timeline = opened(agent)
    assert "src/x.py" in plan_rollback(timeline, checkpoint(timeline, 0)).warnings[0]


def test_a_last_request_that_is_still_running_is_told(agent):
    reads(agent, "a", "b", "c")
    ended = plan_rollback(opened(agent), checkpoint(opened(agent), 0))
    assert not any("running" in warning for warning in ended.warnings)
    agent.entry("api_req_started", json.dumps({"request": "d"}))
    timeline = opened(agent)
    running = plan_rollback(timeline, checkpoint(timeline, 0))
    assert running.warnings[-1] == "The last request is still running, or was left unfinished."


def test_a_point_that_does_not_say_its_message_keeps_two(agent):
    reads(agent, "a", "b", "c")
    point = next(entry for entry in agent.ui if entry.get("say") == "checkpoint_created")
    del point["conversationHistoryIndex"]
    timeline = opened(agent)
    plan = plan_rollback(timeline, checkpoint(timeline, 0))
    assert (plan.effects.keep_messages, plan.lost_messages) == (2, range(2, 6))
    (difference,) = plan.differs_from_reference
    assert difference == "The agent's own restore would write an empty context_history.json; here none is made."


def test_a_message_belongs_to_the_last_entry_before_its_answer_whatever_other_entries_leave_out(agent):
    reads(agent, "a", "b", "c")
    answer = next(entry for entry in agent.ui if entry.get("text") == "answer to turn 1")
    place = agent.ui.index(answer) + 1
    assert agent.ui[place]["say"] == "checkpoint_created"
    del agent.ui[place]["conversationHistoryIndex"]
    plan = plan_rollback_to_message(opened(agent), 3)
    kept = [entry.get("say") for entry in agent.ui[: plan.effects.keep_ui]]
    assert kept[-1] == "text", "the entries up to the answer of the second turn"
    assert plan_rollback_to_message(opened(agent), 2).effects.keep_ui < plan.effects.keep_ui


def test_broken_usage_of_a_later_request_refuses(agent):
    reads(agent, "a", "b", "c")
    next(entry for entry in reversed(agent.ui) if entry.get("say") == "api_req_started")["text"] = "{broken"
    timeline = opened(agent)
    assert "totals cannot be made" in plan_rollback(timeline, checkpoint(timeline, 0)).refusal


def test_plans_at_an_earlier_request_start_from_its_state_and_are_what_ifs(agent):
    reads(agent, *"abcdefgh")
    timeline = opened(agent)
    plan = plan_truncate(timeline, "half", 5)
    assert plan.before.until == 11
    assert plan.after.deleted_range == Range(2, 5)
    assert "what-if before request 6" in plan.refusal
    with pytest.raises(IndexError):
        plan_truncate(timeline, "half", 8)


def test_decide_compares_the_given_total_with_the_given_window(agent):
    reads(agent, *"abcdefgh")
    timeline = opened(agent)
    plan = plan_decide(timeline, 128_000, 98_000)
    assert plan.after.deleted_range == Range(2, 7)
    assert "Below the limit" in plan_decide(timeline, 128_000, 97_999).refusal
    assert plan_decide(timeline, 40_000, 70_000).after.deleted_range == Range(2, 11), "twice the limit keeps a quarter"


def test_optimise_steps_add_up(agent):
    reads(agent, "a", "a", "b", "a")
    plan = plan_optimize(opened(agent))
    assert [step.numbers["message"] for step in plan.steps[:-1]] == [0, 2] or [
        step.numbers["message"] for step in plan.steps[:-1]
    ] == [2]
    saved = sum(step.numbers["saved"] for step in plan.steps[:-1])
    assert plan.characters_before - plan.characters_after == saved
    assert plan.steps[-1].numbers["saved"] == saved


def test_every_way_in_which_a_file_stands_twice_has_its_sentence():
    body = "x" * 3_000
    talk = [
        u("task"), a("ok"), u(read("a.py", body)), a("ok"), u(edit("b.py", body)), a("ok"), u(mention("c.py", body)),
        a("ok"), u(read("d.py", "tiny")), a("ok"), u(read("a.py", body)), a("ok"), u(read("b.py", body)), a("ok"),
        u(read("c.py", body)), a("ok"), u(read("d.py", "tiny")), a("ok"),
    ]  # fmt: skip
    plan = plan_optimize(past(talk, [Step(17)]))
    sentences = [step.sentence for step in plan.steps[:-1]]
    more = len(DUPLICATE_FILE_READ) - len("tiny")
    less = 3_000 - len(DUPLICATE_FILE_READ)
    assert sentences == [
        f"Read of a.py in message 2 replaced: −{less:,} characters; the newest copy is in message 10.",
        f"Edit of b.py in message 4 replaced: −{less:,} characters; the newest copy is in message 12.",
        f"Mention of c.py in message 6 replaced: −{less:,} characters; the newest copy is in message 14.",
        f"Read of d.py in message 8 replaced: +{more:,} characters; the newest copy is in message 16.",
    ]
