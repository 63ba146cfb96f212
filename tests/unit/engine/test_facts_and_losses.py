"""The fact tracker and the loss report on small tasks that can be read like pictures."""

from __future__ import annotations

import pytest

from ctxviewer.domain.errors import CancelledWorkError, CtxError
from ctxviewer.engine.cline.updates import EMPTY
from ctxviewer.engine.contents import Contents, FileKind
from ctxviewer.engine.decisions import decisions_in, prose
from ctxviewer.engine.events import EventKind
from ctxviewer.engine.facts import FileQuestion, MessageQuestion, Sending, TextQuestion, TurnKind, track
from ctxviewer.engine.losses import LossKind, find_losses
from ctxviewer.engine.past import Past
from helpers.cline_talk import DUP, a, call, edit, header, mention, read, result, text, u
from helpers.past_tasks import Step, past, update

BODY = "first line of the file\nsecond line of the file\nthird line of the file"


def strip(fact):
    """One sign a request: # whole, / in part, . not; then the present state."""
    signs = {Sending.WHOLE: "#", Sending.PARTLY: "/", Sending.ABSENT: "."}
    return "".join(signs[fact.sending(number)] for number in [*range(fact.requests), None])


def every_turn(messages, cut=None, since=0, history=EMPTY, **more):
    """A request for every message of the user; from request `since` on the range is `cut`."""
    steps = [Step(n + 1, cut=cut if n // 2 >= since else None) for n in range(0, len(messages), 2)]
    return past(messages, steps, history=history, **more)


def reread():
    """A file is read, cut off, and read again."""
    messages = [
        u("<task>\nfix it\n</task>"), a("ok"), u(read("src/a.py", BODY)), a("I see"), u("go on"), a("ok"),
        u("more"), a("ok"), u(read("src/a.py", BODY)), a("done"),
    ]  # fmt: skip
    return every_turn(messages, cut=(2, 5), since=3)


def test_words_leave_with_a_cut_and_come_back_with_a_second_read():
    fact = track(Past(reread()), TextQuestion("second line"))
    assert strip(fact) == ".##.##"
    assert (fact.first, fact.last, fact.sent_in, fact.sent_now) == (1, 4, 3, True)
    assert [(turn.kind, turn.request, turn.message) for turn in fact.turns] == [
        (TurnKind.CAME, 1, 2),
        (TurnKind.LEFT, 3, 2),
        (TurnKind.RETURNED, 4, 8),
    ]
    left = fact.turns[1]
    assert left.event is not None
    assert left.event.kind is EventKind.TRUNCATE
    assert left.sentence.startswith("No longer sent with request 4: message 2 is no longer sent: Truncated")
    assert "messages 2–5 are no longer sent (4 messages)" in left.sentence
    assert [(one.message, one.block, one.spans) for one in fact.carriers] == [(2, 0, ((1, 2),)), (8, 0, ((4, 5),))]
    assert "second line of the file" in fact.carriers[0].excerpt


@pytest.mark.parametrize("read_all", [Past.presence, Past.contents, Past.anatomy])
def test_reading_a_whole_task_can_be_cancelled_and_is_done_once(read_all):
    def stop():
        raise CancelledWorkError("stopped")

    known = Past(reread())
    with pytest.raises(CancelledWorkError):
        read_all(known, stop)
    first = read_all(known, lambda: None)
    assert read_all(known, stop) is first


@pytest.mark.parametrize(("asked", "number"), [(1, 0), (5, 4), (0, None), (6, None), (-1, None)])
def test_people_count_requests_from_one(asked, number):
    known = Past(reread())
    if number is not None:
        assert known.number_of(asked) == number
    else:
        with pytest.raises(CtxError, match=f"There is no request {asked}; the task has 5, counted from 1"):
            known.number_of(asked)


def test_words_that_leave_with_several_messages_name_one_and_count_the_others():
    def left(*carriers):
        talk = [u("task"), a("ok"), u("go"), a("ok"), u("go"), a("ok"), u("more"), a("ok")]
        for number in carriers:
            talk[number] = {**talk[number], "content": [text("the port is 80")]}
        steps = [Step(5), Step(7, cut=(2, 5))]
        fact = track(Past(past(talk, steps)), TextQuestion("port is 80"))
        return next(turn.sentence for turn in fact.turns if turn.kind is TurnKind.LEFT)

    cut = ": messages 2–5 are no longer sent (4 messages)"
    assert left(2).endswith(cut)
    assert left(2, 3).endswith(f"{cut} (and 1 more message)")
    assert left(2, 3, 4).endswith(f"{cut} (and 2 more messages)")
    assert left(2, 4).startswith("No longer sent with request 2: message 4 is no longer sent: Truncated")


def test_a_file_is_tracked_by_the_end_of_its_path():
    fact = track(Past(reread()), FileQuestion("a.py"))
    assert fact.title == "src/a.py"
    assert strip(fact) == ".##.##"
    assert {one.how for one in fact.carriers} == {"read"}


def test_a_rewrite_that_cuts_the_words_leaves_a_part():
    words = f"read {mention('a.py', BODY)} and answer"
    shorter = words.replace(BODY, DUP)
    messages = [u("task"), a("ok"), u(words), a("ok"), u("next"), a("ok")]
    timeline = every_turn(messages, history=update(EMPTY, 2, 0, shorter, 2, kind=4, metadata=[["a.py"], ["a.py"]]))
    needle = "third line of the file</file_content> and answer"
    fact = track(Past(timeline), TextQuestion(needle))
    assert strip(fact) == ".#//"
    (part,) = fact.parts
    assert (part.message, part.block, part.text) == (2, 0, "</file_content> and answer")
    assert part.share == pytest.approx(len(part.text) / len(needle))
    assert [turn.kind for turn in fact.turns] == [TurnKind.CAME, TurnKind.CUT]
    assert fact.turns[1].event is not None
    assert fact.turns[1].event.kind is EventKind.OPTIMIZE
    assert "duplicate mention of a.py" in fact.turns[1].sentence
    assert track(Past(timeline), TextQuestion("second line")).parts == ()


def test_a_rollback_brings_words_back():
    messages = [(u, a)[n % 2](f"words {n}") for n in range(8)]
    steps = [Step(5), Step(7, cut=(2, 3), after=("deleted_api_reqs",), after_cut=None), Step(7)]
    fact = track(Past(past(messages, steps)), TextQuestion("words 2"))
    assert strip(fact) == "#.##"
    assert fact.turns[2].kind is TurnKind.RETURNED
    assert fact.turns[2].event is not None
    assert fact.turns[2].event.kind is EventKind.ROLLBACK


def test_a_message_that_is_rewritten_is_sent_in_part():
    messages = [u("task"), a("ok"), u(read("a.py", BODY), "and words"), a("ok"), u(read("a.py", BODY)), a("ok")]
    timeline = every_turn(messages, history=update(EMPTY, 2, 0, f"{header('a.py')}\n{DUP}", 2))
    fact = track(Past(timeline), MessageQuestion(2))
    assert strip(fact) == ".#//"
    assert fact.parts[0].share == 0.5
    assert strip(track(Past(timeline), MessageQuestion(2, 1))) == ".###"
    assert strip(track(Past(timeline), MessageQuestion(2, 0))) == ".#//"


def test_the_made_up_result_is_found_although_no_file_holds_it():
    messages = [u("task"), a("I call", call("t1")), u("no result"), a("ok")]
    fact = track(Past(every_turn(messages)), TextQuestion("result missing"))
    assert strip(fact) == ".##"
    assert fact.carriers[0].block is None


def test_a_line_of_a_written_file_is_found_in_a_call():
    written = {
        "type": "tool_use",
        "id": "t",
        "name": "write_to_file",
        "input": {"path": "a.py", "content": 'x = "1"\ny'},
    }
    messages = [u("task"), a(written), u(result("t", "saved")), a("ok")]
    assert strip(track(Past(every_turn(messages)), TextQuestion('x = "1"\ny'))) == ".##"
    assert strip(track(Past(every_turn(messages)), TextQuestion('"path": "a.py"'))) == ".##"
    assert strip(track(Past(every_turn(messages)), TextQuestion("write_to_file"))) == ".##"


def test_case_and_patterns():
    timeline = past([u("The Straße number 12"), a("ok")], [Step(1)])
    assert track(Past(timeline), TextQuestion("STRASSE")).first is None
    assert track(Past(timeline), TextQuestion("STRASSE", ignore_case=True)).first == 0
    assert track(Past(timeline), TextQuestion(r"number \d+$", regex=True)).first == 0
    assert track(Past(timeline), TextQuestion(r"NUMBER \d", regex=True, ignore_case=True)).first == 0
    assert "Straße" in track(Past(timeline), TextQuestion("strasse n", ignore_case=True)).carriers[0].excerpt


def test_tracking_can_be_cancelled():
    def check():
        raise CancelledWorkError("stop")

    with pytest.raises(CancelledWorkError):
        track(Past(reread()), TextQuestion("x"), check)
    with pytest.raises(CancelledWorkError):
        find_losses(Past(reread()), None, check)


# -- what messages hold


def contents_of(*messages):
    return Contents(past(list(messages), [Step(1)]).snapshot.messages)


def test_places_of_files_in_all_their_forms():
    native = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "n.py"}}
    write = {"type": "tool_use", "id": "t2", "name": "write_to_file", "input": {"path": "w.py", "content": "text"}}
    found = contents_of(
        u("<task>x</task>"),
        a(native, write, "<write_to_file>\n<path>x.py</path>\n<content>\nprint()\n</content>\n</write_to_file>"),
        u(result("t1", "native content"), result("t2", "saved"), mention("m.py", "mentioned")),
        a("ok"),
        u(header("h.py"), "body of h"),
        a("ok"),
        u(read("r.py", "body of r"), edit("e.py", "body of e")),
        u(read("gone.py", "<error>\nno such file\n</error>")),
    )
    kinds = {
        path: [(place.kind, place.message, place.block) for place in places] for path, places in found.files.items()
    }
    assert kinds == {
        "n.py": [(FileKind.READ, 2, 0)],
        "w.py": [(FileKind.WRITTEN, 1, 1)],
        "x.py": [(FileKind.WRITTEN, 1, 2)],
        "m.py": [(FileKind.MENTION, 2, 2)],
        "h.py": [(FileKind.READ, 4, 1)],
        "r.py": [(FileKind.READ, 6, 0)],
        "e.py": [(FileKind.EDIT, 6, 1)],
    }
    assert set(found.edits) == {"w.py", "x.py", "e.py"}


def test_words_of_the_user_and_what_the_agent_adds_itself():
    found = contents_of(
        u("<task>\nfix it\n</task>", "<environment_details>\n</environment_details>"),
        a("ok"),
        u("[attempt_completion] Result:", "The user gave feedback:\n<feedback>\nnot yet\n</feedback>"),
        a("ok"),
        u("[TASK RESUMPTION] interrupted", "plain words", "# task_progress"),
        a("ok"),
        u(read("page.html", "<html>" + "x" * 3_000 + "<answer>no words</answer>")),
    )
    words = [(one.message, one.block, one.is_task) for message in found.messages for one in message.words]
    assert words == [(0, 0, True), (2, 1, False), (4, 1, False)]


def test_decisions_stand_outside_of_code_and_calls():
    said = (
        "I looked at it. I will keep the old API instead of a new one. Let me read on.\n"
        "```python\n# I will not be found\n```\n"
        "<read_file>\n<path>I will not be found either</path>\n</read_file>\n"
        "We're going to add a test!"
    )
    found = [(decision.text, decision.settled) for decision in decisions_in(said, 1, 0)]
    assert found == [
        ("I will keep the old API instead of a new one.", True),
        ("We're going to add a test!", False),
    ]
    assert "found" not in prose(said)
    assert list(decisions_in("Nothing of the kind.", 1, 0)) == []


# -- losses


def test_a_loss_report_tells_what_matters_most_first():
    messages = [
        u("<task>\nfix the form\n</task>"), a("ok"),
        u(read("src/a.py", BODY), "<feedback>\nNever touch the settings file, please.\n</feedback>"),
        a("We decided to keep the old API. I will read on."),
        u(edit("src/b.py", "body of b")), a("ok"), u("words of today, still sent"), a("ok"),
        u("[replace_in_file for 'src/a.py'] Result:\nsaved"), a("ok"),
    ]  # fmt: skip
    report = find_losses(Past(every_turn(messages, cut=(2, 5), since=3)), 4)
    told = [(loss.kind, loss.title, loss.message, loss.request, loss.since, loss.score) for loss in report.losses]
    assert told == [
        (LossKind.INSTRUCTION, "Never touch the settings file, please.", 2, 2, 3, 95),
        (LossKind.FILE, "src/a.py", 2, 2, 3, 75),
        (LossKind.FILE, "src/b.py", 4, 2, 3, 45),
        (LossKind.DECISION, "We decided to keep the old API.", 3, 2, 3, 40),
        (LossKind.DECISION, "I will read on.", 3, 2, 3, 20),
    ]
    a_py = report.losses[1].file
    assert a_py is not None
    assert (a_py.last_read.message, a_py.last_read.request, a_py.last_edit.message) == (2, 1, 8)
    assert (a_py.edited_since, a_py.reads, a_py.read_again) == ("the assistant", 1, 0)
    assert all(loss.event is not None and loss.event.kind is EventKind.TRUNCATE for loss in report.losses)
    assert "edited since it was last seen, by the assistant" in report.losses[1].reasons
    assert report.losses[3].heuristic
    assert find_losses(Past(every_turn(messages, cut=(2, 5), since=3)), 2).losses == ()


def test_a_file_that_was_lost_twice_was_read_again():
    messages = [
        u("task"), a("ok"), u(read("a.py", BODY)), a("ok"), u("x"), a("ok"), u(read("a.py", BODY)), a("ok"),
        u("y"), a("ok"), u("z"), a("ok"),
    ]  # fmt: skip
    steps = [Step(1), Step(3), Step(5, cut=(2, 3)), Step(7, cut=(2, 3)), Step(9, cut=(2, 7)), Step(11, cut=(2, 7))]
    (loss,) = find_losses(Past(past(messages, steps)), 5).of(LossKind.FILE)
    assert (loss.file.reads, loss.file.read_again, loss.request) == (2, 1, 3)
    assert loss.score == 40 + 15 + 5


def test_an_edit_by_the_user_is_known_from_the_dates_of_the_agent():
    messages = [u("task"), a("ok"), u(read("a.py", BODY)), a("ok"), u("x"), a("ok"), u("y"), a("ok")]
    metadata = {"files_in_context": [{"path": "a.py", "user_edit_date": 3_500, "cline_edit_date": None}]}
    timeline = every_turn(messages, cut=(2, 3), since=3, metadata=metadata)
    (loss,) = find_losses(Past(timeline), 3).of(LossKind.FILE)
    assert loss.file.edited_since == "the user"
    later = {"files_in_context": [{"path": "a.py", "user_edit_date": 99_000}]}
    (loss,) = find_losses(Past(every_turn(messages, cut=(2, 3), since=3, metadata=later)), 3).of(LossKind.FILE)
    assert loss.file.edited_since == ""


def test_what_is_said_or_read_again_is_not_lost():
    again = "<feedback>\nKeep the tabs as they are, please.\n</feedback>"
    messages = [
        u("task"), a("ok"), u(again, read("a.py", BODY)), a("I will keep it."), u("[ERROR] x"), a("ok"),
        u(again, mention("a.py", BODY)), a("I will keep it."), u("[ERROR] x"),
    ]  # fmt: skip
    past_ = Past(every_turn(messages, cut=(2, 5), since=3))
    assert {loss.kind for loss in find_losses(past_, 3).losses} == {LossKind.DECISION}
    assert find_losses(past_, 4).losses == ()


def test_a_result_that_a_repair_took_away_is_lost():
    messages = [
        u("task"), a("ok"), u("x"), a("I call", call("t1", "list_files")),
        u(result("t1", [text("the listing")]), "words of the user"), a("ok"),
    ]  # fmt: skip
    report = find_losses(Past(every_turn(messages, cut=(2, 3), since=2)), None)
    (loss,) = report.of(LossKind.RESULT)
    assert loss.title == "list_files: the listing"
    assert (loss.message, loss.block, loss.request) == (4, 0, None)
    assert "results removed after the cut" in loss.reasons


def test_a_task_text_that_was_replaced_is_the_greatest_loss():
    messages = [u("<task>\nfix the form\n</task>"), a("ok"), u("x"), a("ok")]
    history = update(EMPTY, 0, 0, "[Carry on with the user task!]", 1, kind=0)
    (loss,) = find_losses(Past(every_turn(messages, history=history)), 1).losses
    assert (loss.title, loss.score, loss.reasons[0]) == ("fix the form", 110, "the task itself")
    assert "task text replaced by a notice" in loss.why
