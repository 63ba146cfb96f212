"""Walking through plans: moves, breakpoints, playing, and what happens when the task or the choice changes."""

import pytest

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.projection import Standing
from ctxviewer.engine.plans import plan_truncate
from ctxviewer.engine.strategies import STRATEGIES
from ctxviewer.services.lab import stepping as module
from ctxviewer.services.lab.planning import SUMMARISING
from helpers.lab_desk import LabDesk
from helpers.snapshots import Heard, HeldExecutor


@pytest.fixture
def desk(qapp, tmp_path):
    made = LabDesk(tmp_path)
    made.choosing.set_strategy("decide")
    yield made
    made.close()


def sent(desk):
    return desk.session.projection.sent_count


# -- moves


def test_a_plan_is_made_while_somebody_looks_and_shown_by_nobody_yet(desk):
    assert desk.stepping.stepper is None
    desk.stepping.watch(True)
    assert desk.place == (0, desk.stepping.stepper.length)
    assert desk.stepping.stepper.length > 5
    assert desk.session.plan is None


def test_the_first_step_needs_nobody_who_looks(desk):
    desk.stepping.step()
    assert desk.place[0] == 1
    assert desk.session.plan is desk.stepping.stepper.plan
    assert desk.session.step == 1


def test_steps_go_on_and_back_and_the_session_shows_each(desk):
    desk.stepping.run()
    length = desk.stepping.stepper.length
    assert desk.session.step == length
    assert desk.session.projection == desk.stepping.stepper.plan.after
    desk.stepping.step()
    assert desk.session.step == length, "there is nothing behind the end"
    seen = []
    for move in (desk.stepping.reset, desk.stepping.back, desk.stepping.step, desk.stepping.step):
        move()
        seen.append((desk.session.step, desk.session.projection == desk.stepping.stepper.projection))
    assert seen == [(0, True), (0, True), (1, True), (2, True)]
    desk.stepping.go_to(length - 1)
    assert desk.session.step_done is desk.stepping.stepper.plan.steps[length - 2]


def test_a_plan_of_a_pinned_request_is_looked_at_there(desk):
    desk.session.select_request(7)
    desk.choosing.set_strategy("half")
    desk.stepping.run()
    projection = desk.session.projection
    assert desk.session.request == 7
    assert projection.what_if_at == 7
    assert projection.request is None
    assert projection.standing(21) is Standing.LATER
    assert desk.stepping.stepper.plan.refusal


def test_a_move_waits_for_the_plan(qapp, tmp_path):
    held = HeldExecutor()
    desk = LabDesk(tmp_path, read=held)
    held.run_all()
    desk.stepping.step()
    desk.stepping.run()
    assert desk.stepping.stepper is None
    held.run_all()
    assert desk.place[0] == desk.place[1], "the last move counts"
    desk.close()


def test_without_a_task_nothing_moves(desk):
    desk.session.close_task()
    desk.stepping.step()
    assert desk.stepping.stepper is None
    assert desk.stepping.breakpoints == ()


# -- somebody else shows something, or the choice changes


def test_what_the_user_drops_stays_dropped_and_begins_anew(desk):
    desk.stepping.run()
    desk.session.preview(None)
    assert not desk.stepping.shown
    assert desk.place[0] == 0
    desk.stepping.step()
    assert desk.session.step == 1


def test_another_what_if_takes_its_place(desk):
    desk.stepping.step()
    other = plan_truncate(desk.session.timeline, "half")
    desk.session.preview(other)
    desk.turn()
    assert desk.session.plan is other
    assert desk.session.step is None
    assert not desk.stepping.shown


def test_a_shown_plan_is_followed_by_the_one_of_the_next_choice_at_the_same_place(desk):
    desk.stepping.step()
    before = desk.session.plan
    desk.choosing.set_strategy("half")
    assert desk.session.plan is not before
    assert desk.session.plan.title.startswith("Truncate to half")
    assert desk.session.step == 1
    desk.choosing.set_window("6000")
    assert desk.session.plan.settings["window"] == 6_000


def test_a_plan_that_is_not_shown_changes_silently(desk, qtbot):
    desk.stepping.watch(True)
    desk.choosing.set_strategy("half")
    qtbot.waitUntil(lambda: desk.stepping.stepper is not None)
    assert desk.stepping.stepper.plan.title.startswith("Truncate to half")
    assert desk.session.plan is None


def test_a_choice_taken_back_finds_its_plan_again(qapp, tmp_path):
    held = HeldExecutor()
    desk = LabDesk(tmp_path, read=held)
    desk.stepping.watch(True)
    held.run_all()
    plan = desk.stepping.stepper.plan
    desk.choosing.set_window("6000")
    assert desk.stepping.stepper is None
    desk.choosing.set_window("")
    assert desk.stepping.stepper.plan is plan
    desk.close()


def test_another_request_begins_anew(desk):
    desk.stepping.run()
    desk.session.select_request(4)
    desk.turn()
    assert desk.session.plan is None
    desk.stepping.step()
    assert desk.session.plan.before.until == 9
    assert desk.session.step == 1


def test_growth_makes_the_plan_anew_and_shows_it_at_the_same_place(desk):
    desk.session.select_request(7)
    desk.stepping.go_to(1)
    before = desk.session.plan
    desk.grow()
    assert desk.session.plan is not before
    assert desk.session.plan.generation == desk.session.snapshot.generation
    assert desk.session.step == 1
    assert desk.notices.standing == (), "nobody need be told"


def test_growth_leaves_a_dropped_plan_alone(desk):
    desk.stepping.run()
    desk.session.preview(None)
    desk.grow()
    assert desk.session.plan is None


# -- breakpoints


def test_a_run_stops_before_a_message_goes_and_goes_on_from_there(desk):
    desk.choosing.set_strategy("sage-prune")
    desk.choosing.set_text(next(s for s in desk.choosing.strategy.settings if s.name == "threshold"), "0.1")
    desk.choosing.set_window("2000")
    stopped = Heard(desk.stepping.stopped)
    desk.stepping.toggle_message(4)
    desk.stepping.run()
    stepper = desk.stepping.stepper
    assert stepper.stopped_by.title == "message 4"
    assert stepper.following.touched == ((4, None),)
    assert [point.title for point in stopped.said] == ["message 4"]
    assert desk.stepping.hits == {stepper.position: stepper.stopped_by}
    desk.stepping.run()
    assert desk.stepping.stepper.at_end
    assert len(stopped.said) == 1
    desk.stepping.toggle_message(4)
    assert desk.stepping.breakpoints == ()
    assert desk.stepping.hits == {}


def test_a_run_stops_before_the_last_copy_of_a_file_goes(desk):
    desk.choosing.set_strategy("none")
    listed = Heard(desk.stepping.files_listed)
    desk.stepping.list_files()
    assert listed.said == [("a.py",)]
    desk.stepping.add_file("a.py")
    desk.stepping.run()
    assert desk.stepping.stepper.stopped_by.title == "file a.py"
    desk.stepping.remove(desk.stepping.breakpoints[0])
    desk.stepping.run()
    assert desk.stepping.stepper.at_end


def test_breakpoints_stay_with_the_task_while_it_grows_and_know_the_new_copies(desk):
    desk.stepping.toggle_message(4)
    desk.stepping.add_file("a.py")
    places = len(desk.stepping.breakpoints[1].places)
    desk.grow()
    assert [point.title for point in desk.stepping.breakpoints] == ["message 4", "file a.py"]
    assert len(desk.stepping.breakpoints[1].places) == places
    desk.session.close_task()
    assert desk.stepping.breakpoints == ()


# -- playing


def test_the_clock_does_the_steps_until_the_end(desk, monkeypatch, qtbot):
    monkeypatch.setattr(module, "SHORTEST_TICK_MS", 1)
    monkeypatch.setattr(module, "LONGEST_TICK_MS", 1)
    desk.stepping.toggle_play()
    assert desk.stepping.playing
    qtbot.waitUntil(lambda: not desk.stepping.playing)
    assert desk.stepping.stepper.at_end
    assert desk.session.step == desk.stepping.stepper.length
    desk.stepping.toggle_play()
    assert desk.place[0] == 0, "from the end it starts anew"
    desk.stepping.back()
    assert not desk.stepping.playing, "a move by hand stops the clock"


def test_the_clock_stops_at_a_breakpoint_and_goes_on_from_there(desk, monkeypatch, qtbot):
    monkeypatch.setattr(module, "SHORTEST_TICK_MS", 1)
    monkeypatch.setattr(module, "LONGEST_TICK_MS", 1)
    desk.choosing.set_strategy("half")
    desk.stepping.toggle_message(3)
    stopped = Heard(desk.stepping.stopped)
    desk.stepping.toggle_play()
    qtbot.waitUntil(lambda: stopped.said != [])
    assert not desk.stepping.playing
    assert desk.session.projection.standing(3) is Standing.SENT
    desk.stepping.toggle_play()
    qtbot.waitUntil(lambda: not desk.stepping.playing)
    assert desk.stepping.stepper.at_end
    assert len(stopped.said) == 1


def test_playing_ends_when_nobody_looks(desk):
    desk.stepping.watch(True)
    desk.stepping.toggle_play()
    desk.stepping.watch(False)
    assert not desk.stepping.playing


@pytest.mark.parametrize(
    "disturb",
    [
        lambda desk: desk.grow(),
        lambda desk: desk.session.close_task(),
        lambda desk: desk.session.select_request(4),
        lambda desk: desk.session.preview(None),
        lambda desk: desk.session.preview(plan_truncate(desk.session.timeline, "half")),
        lambda desk: desk.choosing.set_strategy("half"),
        lambda desk: desk.stepping.close(),
    ],
    ids=["the task grows", "is closed", "another request", "dropped", "another what-if", "another choice", "the end"],
)
def test_the_clock_stops_with_the_plan_that_it_plays(desk, disturb):
    desk.stepping.watch(True)
    desk.stepping.toggle_play()
    assert desk.stepping.playing
    disturb(desk)
    assert not desk.stepping.playing


# -- a summariser that is asked


def test_a_model_is_asked_only_once_the_user_steps(desk):
    asked = []

    def summariser(_token):
        return lambda prompt: asked.append(prompt) or "<summary>all of it</summary>"

    desk.choosing.set_strategy("sage-compact")
    desk.stepping.set_summariser(summariser)
    desk.choosing.set_value(next(s for s in desk.choosing.strategy.settings if s.name == "always"), True)
    desk.stepping.watch(True)
    assert desk.stepping.stepper is None
    assert asked == []
    desk.stepping.run()
    assert len(asked) == 1
    assert desk.session.projection.inserted[0].text.splitlines()[2] == "all of it"
    desk.stepping.reset()
    desk.stepping.run()
    assert len(asked) == 1, "the plan is kept"
    desk.choosing.set_window("6000")
    assert len(asked) == 1
    assert desk.session.plan is None, "another choice waits until the user asks"


def test_a_summariser_that_fails_leaves_no_half_plan_and_can_be_asked_again(desk):
    answers = [CtxError("Nothing answers at localhost.", hint="Is it running?"), "<summary>ok</summary>"]

    def summariser(_token):
        def call(_prompt):
            answer = answers.pop(0)
            if isinstance(answer, CtxError):
                raise answer
            return answer

        return call

    desk.choosing.set_strategy("sage-compact")
    desk.stepping.set_summariser(summariser)
    desk.choosing.set_value(next(s for s in desk.choosing.strategy.settings if s.name == "always"), True)
    desk.stepping.step()
    assert desk.stepping.answer.error.sentence == "Nothing answers at localhost."
    assert desk.stepping.stepper is None
    assert desk.session.plan is None
    assert sent(desk) == 22
    desk.stepping.step()
    assert desk.session.step == 1
    assert answers == []


def test_the_strategies_that_summarise_exist():
    assert {row.key for row in STRATEGIES} >= SUMMARISING
