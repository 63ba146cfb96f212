"""Rules on a task: which requests break them, and why."""

from dataclasses import replace

import pytest

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.request import Usage
from ctxviewer.engine.assertions import check_rules
from ctxviewer.engine.past import Past
from ctxviewer.engine.rules import parse_rule
from ctxviewer.engine.timeline import Timeline
from helpers.small_task import assistant, half, small_task, user


def check(timeline, *sources, **more):
    return check_rules(Past(timeline), [parse_rule(source) for source in sources], **more)


def broken(timeline, source, **more):
    """Requests that break the rule, counted from 1; 'task' where it is not one of them."""
    (verdict,) = check(timeline, source, **more)
    assert verdict.holds == (not verdict.breaches)
    return ["task" if breach.request is None else breach.request + 1 for breach in verdict.breaches]


def read(path, body="content of it"):
    return f"[read_file for '{path}'] Result:\n{body} {path}"


TALK = [
    user("<task>never touch the schema</task>"), assistant("a"),
    user(read("a.py"), "the rule of the house"), assistant("b"),
    user(read("b.py")), assistant("c"),
    user(read("a.py", "newer")), assistant("d"),
    user("last"), assistant("e"),
]  # fmt: skip


def test_a_text_is_in_every_request_or_the_ones_without_it_are_named():
    task = small_task(TALK, ranges={3: half(3)})
    assert broken(task, 'contains "never touch the schema"') == []
    assert broken(task, 'contains "rule of the house"') == [1, 4, 5]
    assert broken(task, 'contains-from 2 "rule of the house"') == [4, 5]
    assert broken(task, 'contains-from 9 "rule of the house"') == []
    (verdict,) = check(task, 'contains "rule of the house"')
    assert verdict.sentence == "Broken by 3 requests: 1, 4–5."
    assert "does not send the text" in verdict.breaches[1].sentence
    (late,) = check(task, 'contains-from 9 "x"')
    assert (late.checked, "nothing was checked" in late.sentence) == (0, True)


def test_a_text_that_is_replaced_by_an_update_is_not_sent():
    task = small_task(TALK, updates=[[2, [0, [[1, [[6_500, "text", ["[NOTE]"], []]]]]]]])
    assert broken(task, 'contains-from 2 "rule of the house"') == [4, 5]


def test_a_text_that_must_not_be_sent():
    task = small_task(TALK, ranges={3: half(3)})
    assert broken(task, 'never-contains "rule of the house"') == [2, 3]
    (verdict,) = check(task, 'never-contains "rule of the house"')
    assert verdict.breaches[0].message == 2
    assert broken(task, 'never-contains "Rule of the house"') == []


def test_a_file_twice_in_one_request():
    assert broken(small_task(TALK), "no-duplicate-files") == [4, 5]
    (verdict,) = check(small_task(TALK), "no-duplicate-files")
    assert verdict.breaches[0].sentence == "Request 4 sends a.py 2 times (message 2, 6)."
    assert broken(small_task(TALK, ranges={4: half(3)}), "no-duplicate-files") == [4]
    replaced = [[2, [2, [[0, [[1, "text", ["[read_file for 'a.py'] Result:\n[[NOTE] gone]"], []]]]]]]]
    assert broken(small_task(TALK, updates=replaced), "no-duplicate-files") == []


def test_what_the_assistant_wrote_is_no_copy():
    write = "<write_to_file><path>a.py</path><content>x = 1</content></write_to_file>"
    saved = "[write_to_file for 'a.py'] Result:\nsaved\n<final_file_content path=\"a.py\">x = 1</final_file_content>"
    assert broken(small_task([user("t"), assistant(write), user(saved)]), "no-duplicate-files") == []


def test_usage_below_a_share_or_a_number():
    task = small_task(TALK, reported=[50_000, 79_999, Usage(10_000, 30_000, 20_000, 20_000), None, 0])
    assert broken(task, "usage-below 80%") == [3]
    assert broken(task, "usage-below 80%", window=200_000) == []
    assert broken(task, "usage-below 50k") == [1, 2, 3]
    assert check(task, "usage-below 80%")[0].checked == 4


def test_truncation_and_how_far_it_reaches():
    task = small_task(TALK, ranges={2: half(3), 4: half(5)})
    assert broken(task, "no-truncation") == [3, 5]
    assert broken(task, "no-truncation-before 5") == [3]
    assert broken(task, "no-truncation-before 3") == []
    assert broken(task, "range-within 3") == [5]
    assert broken(task, "range-within 2") == [3, 4, 5]
    assert broken(task, "range-within 5") == []


def test_a_range_in_the_index_alone_counts_as_now():
    task = small_task(TALK)
    task = Timeline(replace(task.snapshot, range_now=half(3)))
    assert broken(task, "no-truncation") == ["task"]
    assert broken(task, "no-truncation-before 6") == [], "the next request is number 6"
    assert broken(task, "no-truncation-before 7") == ["task"]


def test_findings_by_severity_and_by_code():
    found = (
        Finding("odd-thing", Severity.WARNING, "Odd.", message=2, request=1),
        Finding("note-it", Severity.INFO, "Note."),
    )
    task = Timeline(replace(small_task(TALK).snapshot, findings=found))
    assert broken(task, "no-finding warning") == [2]
    assert broken(task, "no-finding info") == [2, "task"]
    assert broken(task, "no-finding error") == []
    assert broken(task, "no-finding note-it") == ["task"]
    assert broken(task, "no-finding other-thing") == []


def test_a_task_without_requests_breaks_rules_about_requests():
    empty = Timeline(replace(small_task(TALK).snapshot, requests=(), ui=()))
    for source in ('contains "x"', "usage-below 80%", "no-truncation", "no-duplicate-files"):
        (verdict,) = check(empty, source)
        assert (verdict.holds, verdict.checked, "nothing to check" in verdict.sentence) == (False, 0, True), source
    assert broken(empty, "no-finding warning") == []


def test_a_rule_that_needs_the_history_says_so():
    lost = Timeline(replace(small_task(TALK).snapshot, has_messages=False))
    with pytest.raises(CtxError, match="cannot be checked"):
        check(lost, 'contains "x"')
    assert broken(lost, "no-truncation") == []


def test_a_check_can_be_cancelled():
    class StopError(Exception):
        pass

    def stop():
        raise StopError

    with pytest.raises(StopError):
        check(small_task(TALK), 'contains "x"', check=stop)
