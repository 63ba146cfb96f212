"""why, diff, track and losses on the command line: what they say, and their exit status."""

from __future__ import annotations

import io
import json

import pytest

from ctxviewer import resources
from ctxviewer.cli import DONE, UNREADABLE, UNUSABLE, Terminal, main

LOGIN = resources.path("samples", "tasks", "1770537600000")


def run(*words: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = main([str(word) for word in words], Terminal(out, err, io.StringIO()))
    return status, out.getvalue(), err.getvalue()


def answer(*words: object) -> dict:
    status, out, err = run(*words, "--json")
    assert status == DONE, err
    return json.loads(out)


def test_why_of_a_request_names_its_numbers():
    made = answer("why", LOGIN, "--request", 18)
    assert [event["kind"] for event in made["events"]] == ["optimize", "truncate"]
    why = made["why"]
    assert (why["request"], why["compared"], why["compared_request"], why["limit"]) == (18, 37_217, 17, 37_000)
    assert (why["keep"], why["range_before"], why["range_after"]) == ("half", None, [2, 17])
    assert (why["saved_characters"], why["total_characters"]) == (10_205, 61_004)
    assert "16 messages are no longer sent: 2–17." in why["changes"]
    assert why["doubts"] == []


def test_why_of_a_task_tells_every_event_and_what_is_ahead():
    made = answer("why", LOGIN)
    assert [event["why"]["request"] for event in made["events"]] == [18, 18]
    assert made["ahead"]["request"] is None
    assert made["ahead"]["expected"] == made["ahead"]["compared"] + made["ahead"]["growth"]
    status, out, _ = run("why", LOGIN)
    assert status == DONE
    assert out.count("Request 17 reported 37,217 tokens") == 1  # events of one request are told together
    assert "Ahead" in out


def test_a_window_can_be_chosen():
    assert answer("why", LOGIN, "--request", 18, "--window", "200k")["why"]["window_source"] == "chosen for this view"


def test_diff_of_two_requests():
    made = answer("diff", LOGIN, "--request", 18, "--against", 17)
    assert (made["before"], made["after"]) == (17, 18)
    kinds = [(row["kind"], row["first"], row["last"]) for row in made["rows"]]
    assert kinds == [
        ("unchanged", 0, 0),
        ("rewritten", 1, 1),
        ("left", 2, 17),
        ("unchanged", 18, 19),
        ("rewritten", 20, 20),
        ("unchanged", 21, 32),
        ("entered", 33, 34),
    ]
    assert made["files"]["left"] == ["harbor/auth/views.py", "harbor/templates/auth/login.html"]
    assert [text["message"] for text in made["texts"]] == [1, 20]
    by_category = {row["category"]: row for row in made["tokens"]["categories"]}
    assert by_category["files"]["after"] < by_category["files"]["before"]
    assert by_category["notices"]["before"] == 0 < by_category["notices"]["after"]
    status, out, _ = run("diff", LOGIN, "--request", 18, "--against", 17)
    assert status == DONE
    assert "left (16 messages" in out
    assert run("diff", LOGIN, "--request", 3, "--against", 3)[1].endswith("Both send the same.\n")


def test_track_a_text_a_file_and_a_message():
    words = answer("track", LOGIN, "SESSION_TTL")
    assert words["sent"] == [[5, 17], [20, 25]]
    assert [(turn["kind"], turn["request"]) for turn in words["turns"]] == [
        ("came", 5),
        ("left", 18),
        ("came back", 20),
    ]
    assert words["turns"][1]["event"]["kind"] == "truncate"
    file = answer("track", LOGIN, "--path", "login.html")
    assert (file["title"], file["sent"], file["now"]) == ("harbor/templates/auth/login.html", [[8, 17]], "not sent")
    message = answer("track", LOGIN, "--message", 8, "--block", 1)
    assert message["sent"] == [[5, 17]]
    status, out, _ = run("track", LOGIN, "session_ttl", "--ignore-case")
    assert status == DONE
    assert "····█████████████··██████" in out
    assert answer("track", LOGIN, r"SESSION_\w+ (to|back)", "--regex")["first"] == 22


def test_losses_are_sorted_by_what_matters():
    losses = answer("losses", LOGIN, "--request", 18)["losses"]
    assert losses[0]["kind"] == "user instruction"
    assert "do not touch SESSION_TTL" in losses[0]["title"]
    assert [loss["score"] for loss in losses] == sorted((loss["score"] for loss in losses), reverse=True)
    assert {loss["title"]: loss["heuristic"] for loss in losses}[
        "Understood: SESSION_TTL and the sessions table stay as they are."
    ]
    assert "Nothing is lost at request 3" in run("losses", LOGIN, "--request", 3)[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("track", LOGIN, " "), "There is nothing to look for."),
        (("track", LOGIN, "a(b", "--regex"), "cannot be understood at position 2"),
        (("track", LOGIN, "--path", "no/such.py"), "never stood in the conversation"),
        (("track", LOGIN, "--message", 999), "There is no message 999"),
        (("track", LOGIN, "words", "--block", 1), "--block goes with --message"),
        (("track", LOGIN), "one of the arguments TEXT --path --message is required"),
        (("why", LOGIN, "--request", 99), "there is no request 99; the task has 25"),
        (("diff", LOGIN, "--against", 99), "there is no request 99; the task has 25"),
        (("losses", LOGIN, "--request", 0), "there is no request 0"),
    ],
)
def test_bad_questions_get_a_sentence(words, sentence, capsys):
    status, out, err = run(*words)
    assert (status, out) == (UNUSABLE, "")
    assert sentence in err


def test_a_task_without_history_cannot_be_asked(tmp_path):
    task = tmp_path / "1770537600000"
    task.mkdir()
    (task / "ui_messages.json").write_bytes((LOGIN / "ui_messages.json").read_bytes())
    for words in (("track", task, "x"), ("losses", task), ("diff", task, "--against", 1)):
        assert run(*words)[0] == UNREADABLE
    assert run("why", task)[0] == DONE
