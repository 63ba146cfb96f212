"""Findings that need the rules, and their repairs: each on the smallest task that shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.doctor import diagnose
from ctxviewer.engine.plans import can_repair, plan_repair
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from ctxviewer.sources.store.store import Store
from helpers.working_agent import WorkingAgent

USE = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "body"}]}


def agent(tmp_path: Path, turns: int = 5) -> WorkingAgent:
    made = WorkingAgent(tmp_path)
    for number in range(turns):
        made.turn(f"turn {number}")
    return made


def open_task(made: WorkingAgent) -> Timeline:
    made.write()
    return Timeline(registry.read(made.ref))


def found(timeline: Timeline) -> dict[str, Finding]:
    return {finding.code: finding for finding in diagnose(timeline)}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_a_healthy_task_has_no_finding(tmp_path):
    assert diagnose(open_task(agent(tmp_path))) == ()


def test_a_call_without_a_result(tmp_path):
    made = agent(tmp_path)
    made.messages[3]["content"].append(USE)
    finding = found(open_task(made))["call-without-result"]
    assert finding.message == 4
    assert "message 4" in finding.sentence


def test_words_behind_a_call_are_lost(tmp_path):
    made = agent(tmp_path)
    made.messages[3]["content"].append(USE)
    made.messages[4]["content"] = "my words"
    assert found(open_task(made))["words-replaced"].message == 4


def test_a_result_without_any_call(tmp_path):
    made = agent(tmp_path)
    made.messages[4]["content"].insert(0, RESULT)
    assert found(open_task(made))["result-without-call"].message == 4


def test_a_result_at_the_very_start_has_no_call_either(tmp_path):
    made = agent(tmp_path)
    del made.messages[0]
    made.messages[1]["content"].insert(0, RESULT)
    assert found(open_task(made))["result-without-call"].message == 1


def test_the_word_tool_result_alone_is_no_result(tmp_path):
    made = agent(tmp_path)
    made.messages[4]["content"] = [text("tool_result")]
    assert "result-without-call" not in found(open_task(made))


def test_a_result_for_another_call_is_dropped(tmp_path):
    made = agent(tmp_path)
    made.messages[3]["content"].append(USE)
    made.messages[4]["content"] = [{**RESULT, "tool_use_id": "other"}, RESULT]
    assert found(open_task(made))["result-dropped"].message == 4


@pytest.mark.parametrize(("words", "told"), [("cut \ud83d", True), ("whole \U0001f642", False), ("\\ud83d", False)])
def test_half_of_an_emoji(tmp_path, words, told):
    made = agent(tmp_path)
    made.messages[2]["content"].append(text(words))
    assert ("lone-surrogate" in found(open_task(made))) is told


def test_an_update_that_hits_another_block_after_the_cut(tmp_path):
    made = agent(tmp_path)
    made.messages[5]["content"].append(USE)
    made.messages[6]["content"] = [RESULT, text("WORDS"), text("more")]
    made.deleted = [2, 5]
    made.updates = '[[1,[0,[[0,[[1,"text",["n"],[]]]]]]],[6,[2,[[0,[[1,"text",["DUP"],[]]]]]]]]'
    finding = found(open_task(made))["update-shifted"]
    assert "meant for block 0 replaces block 1" in finding.sentence


def test_a_cut_without_a_notice_and_its_repair(tmp_path):
    made = agent(tmp_path)
    made.deleted = [2, 5]
    timeline = open_task(made)
    finding = found(timeline)["cut-without-notice"]
    assert can_repair(finding)
    plan = plan_repair(timeline, finding.code)
    assert plan.refusal == ""
    Store(tmp_path / "own").commit(registry.change_for(timeline.snapshot, plan, 1), consent_open=True)
    again = Timeline(registry.read(made.ref))
    assert "cut-without-notice" not in found(again)
    assert again.projection(None).updates[1, 0].text.startswith("[NOTE]")


def test_updates_lost_by_a_restore_are_told_apart(tmp_path):
    made = agent(tmp_path)
    made.deleted = [2, 5]
    made.entry("deleted_api_reqs", '{"tokensIn":0,"tokensOut":0,"cost":0}')
    assert "updates-lost-by-restore" in found(open_task(made))


def test_a_range_beyond_the_end_is_cut_to_the_last_answer(tmp_path):
    made = agent(tmp_path)
    made.updates = '[[1,[0,[[0,[[1,"text",["n"],[]]]]]]]]'
    made.deleted = [2, 21]
    timeline = open_task(made)
    assert "range-beyond-end" in found(timeline)
    assert plan_repair(timeline, "range-beyond-end").effects.deleted_range == Range(2, 9)


def test_a_range_below_one_becomes_the_empty_one(tmp_path):
    made = agent(tmp_path)
    made.deleted = [2, -1]
    timeline = open_task(made)
    assert "range-below-start" in found(timeline)
    plan = plan_repair(timeline, "range-below-start")
    assert plan.effects.deleted_range == Range(2, 1)
    assert plan.before.repeated == (0, 1)
    assert plan.after.repeated == ()


def test_an_odd_start_becomes_two_which_changes_nothing_that_is_sent(tmp_path):
    made = agent(tmp_path)
    made.updates = '[[1,[0,[[0,[[1,"text",["n"],[]]]]]]]]'
    made.deleted = [3, 5]
    timeline = open_task(made)
    assert "range-odd-start" in found(timeline)
    plan = plan_repair(timeline, "range-odd-start")
    assert plan.effects.deleted_range == Range(2, 5)
    assert plan.steps[0].sentence == "The deleted range becomes 2–5, which is what the agent does already."
    assert (plan.before.resume, plan.before.until) == (plan.after.resume, plan.after.until)


def test_updates_for_blocks_that_do_not_exist_go_and_others_stay(tmp_path):
    made = agent(tmp_path)
    made.updates = json.dumps(
        [[2, [2, [[0, [[5, "text", ["kept"], []]]]]]], [99, [2, [[0, [[6, "text", ["x"], []]]]]]]]
    )
    timeline = open_task(made)
    plan = plan_repair(timeline, "update-dangling")
    left = [update.message for update in ContextHistory.parse(plan.effects.updates_text).updates()]
    assert left == [2]
    assert [update.message for update in plan.removed_updates] == [99]


def test_a_repair_that_is_no_longer_needed_says_so(tmp_path):
    plan = plan_repair(open_task(agent(tmp_path)), "update-dangling")
    assert "nothing to repair" in plan.refusal


def test_checkpoints_without_a_commit_are_counted(tmp_path):
    made = agent(tmp_path)
    del made.ui[3]["lastCheckpointHash"]
    assert "1 of 5 checkpoints has no commit" in found(open_task(made))["checkpoint-without-hash"].sentence


def test_the_worst_comes_first(tmp_path):
    made = agent(tmp_path)
    made.messages[3]["content"].append(USE)
    made.deleted = [2, 21]
    severities = [finding.severity for finding in diagnose(open_task(made))]
    assert severities == sorted(severities, key=list(reversed(Severity)).index)
