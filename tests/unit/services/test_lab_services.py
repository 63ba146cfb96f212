"""What is chosen in the lab, strategies side by side, and replays: in the background, remembered, never half done."""

import threading

import pytest

from ctxviewer.domain.errors import CancelledWorkError
from ctxviewer.engine.strategies import SettingsError
from ctxviewer.services.keys import Keys
from ctxviewer.services.lab import replaying as replaying_module
from ctxviewer.services.lab.choosing import Choosing
from ctxviewer.services.lab.desk import Lab
from ctxviewer.services.lab.shelf import Shelf
from ctxviewer.services.lab.summaries import Summaries
from ctxviewer.services.runner import CancelToken
from ctxviewer.services.settings import LAB_VALUES, MODEL_NAME, MODEL_URL, Settings
from helpers.cline_talk import u
from helpers.lab_desk import LabDesk
from helpers.model_stub import model_stub, says
from helpers.snapshots import Heard, HeldExecutor


@pytest.fixture
def desk(qapp, tmp_path):
    made = LabDesk(tmp_path)
    yield made
    made.close()


def setting(desk, name):
    return next(item for item in desk.choosing.strategy.settings if item.name == name)


# -- choosing


def test_settings_are_remembered_and_damaged_ones_are_left_out(desk, tmp_path):
    desk.choosing.set_strategy("sage-prune")
    desk.choosing.set_text(setting(desk, "threshold"), "60 %")
    desk.choosing.set_value(setting(desk, "always"), True)
    assert desk.choosing.given() == {"threshold": 0.6, "always": True}
    assert desk.choosing.value(setting(desk, "recent")) is None
    again = Choosing(Settings(tmp_path / "settings.ini"), desk.session)
    assert again.strategy.key == "sage-prune"
    assert again.given() == {"threshold": 0.6, "always": True}
    desk.settings.set(LAB_VALUES, {"sage-prune": {"threshold": 99, "recent": 3, "no such": 1}, "gone": {"a": 1}})
    assert Choosing(desk.settings, desk.session).given("sage-prune") == {"recent": 3}


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("threshold", "11", "threshold cannot be 11: a number from 0 up to 10 is needed."),
        ("threshold", "much", "threshold cannot be 'much': a number from 0 up to 10 is needed."),
        ("recent", "2.5", "recent cannot be 2.5: a whole number from 0 up to 100,000 is needed."),
        ("always", "perhaps", "always cannot be 'perhaps': allowed are on and off."),
        ("provider", "nobody", "provider cannot be 'nobody': allowed are task, anthropic, openai, google, other."),
    ],
)
def test_what_is_out_of_range_is_told_and_changes_nothing(desk, name, text, sentence):
    desk.choosing.set_strategy("sage-prune")
    heard = []
    desk.choosing.changed.connect(lambda: heard.append(1))
    with pytest.raises(SettingsError) as caught:
        desk.choosing.set_text(setting(desk, name), text)
    assert caught.value.sentence == sentence
    assert desk.choosing.given() == {}
    assert heard == []


@pytest.mark.parametrize("text", ["0", "-5", "nothing", "1e99", "2.5"])
def test_a_window_that_is_none_is_told(desk, text):
    with pytest.raises(SettingsError):
        desk.choosing.set_window(text)
    assert desk.choosing.window is None


def test_a_window_holds_for_the_task_and_an_empty_one_is_the_tasks(desk):
    assert desk.choosing.effective_window == 10_000
    desk.choosing.set_window("64k")
    assert (desk.choosing.window, desk.choosing.is_changed) == (64_000, True)
    desk.choosing.set_window(" ")
    assert not desk.choosing.is_changed
    desk.choosing.set_window("5000")
    desk.session.close_task()
    assert desk.choosing.window is None


def test_another_window_of_the_task_is_told_while_none_is_chosen(desk):
    heard = Heard(desk.choosing.changed)
    desk.session.refresh_window()
    assert len(heard.said) == 1
    desk.choosing.set_window("5000")
    desk.session.refresh_window()
    assert len(heard.said) == 2, "the chosen one holds"


def test_reset_takes_back_settings_and_window_of_the_strategy_that_is_looked_at(desk):
    desk.choosing.set_strategy("subagent")
    desk.choosing.set_value(setting(desk, "always"), True)
    desk.choosing.set_strategy("sage-prune")
    desk.choosing.set_text(setting(desk, "recent"), "3")
    desk.choosing.set_window("5000")
    desk.choosing.reset()
    assert not desk.choosing.is_changed
    assert desk.choosing.given("subagent") == {"always": True}
    assert dict(desk.choosing.choices()[6].values) == {"always": True}


def test_a_value_set_back_to_its_default_is_no_longer_given(desk):
    desk.choosing.set_strategy("sage-prune")
    desk.choosing.set_text(setting(desk, "recent"), "3")
    desk.choosing.set_text(setting(desk, "recent"), "")
    assert desk.choosing.given() == {}


# -- facts are lent to one job at a time


def test_facts_are_read_once_and_lent_to_one_job_at_a_time(desk):
    shelf, token = Shelf(), CancelToken()
    with shelf.borrow(desk.timeline, token) as facts:
        facts.read(4)
        waiting = CancelToken()
        failed = []

        def borrow():
            try:
                with shelf.borrow(desk.timeline, waiting):
                    pass
            except CancelledWorkError as error:
                failed.append(error)

        thread = threading.Thread(target=borrow)
        thread.start()
        waiting.cancel()
        thread.join(60)
        assert len(failed) == 1, "who waits can be cancelled"
    with shelf.borrow(desk.timeline, token) as again:
        assert again is facts
    shelf.forget()
    with shelf.borrow(desk.timeline, token) as other:
        assert other is not facts


# -- side by side


def test_all_strategies_are_compared_while_somebody_looks(desk):
    assert desk.comparing.answer.value is None
    desk.comparing.watch(True)
    found = desk.comparing.answer.value
    assert found.request is None
    assert [row.choice.strategy.key for row in found.rows][:2] == ["decide", "optimise"]
    assert all(not row.problem for row in found.rows)
    desk.session.select_request(5)
    desk.comparing.refresh()
    assert desk.comparing.answer.value.request == 5
    assert desk.comparing.answer.value.rows[2].can_apply is False


def test_the_comparison_takes_the_settings_and_the_window_that_are_chosen(desk):
    desk.comparing.watch(True)
    desk.choosing.set_strategy("sage-prune")
    desk.choosing.set_value(setting(desk, "always"), True)
    desk.choosing.set_window("3000")
    desk.comparing.refresh()
    found = desk.comparing.answer.value
    row = next(row for row in found.rows if row.choice.strategy.key == "sage-prune")
    assert row.name == "Sage: Prune (always yes)"
    assert row.messages_lost > 0
    assert found.window.window == 3_000


def test_one_message_and_a_window_below_the_first_pair_give_rows_all_the_same(qapp, tmp_path):
    desk = LabDesk(tmp_path, messages=[u("word " * 400)], totals=(900,))
    desk.comparing.watch(True)
    desk.choosing.set_window("100")
    desk.comparing.refresh()
    found = desk.comparing.answer.value
    assert {row.problem for row in found.rows} == {""}
    assert not any(row.fits for row in found.rows if not row.messages_lost)
    desk.close()


class TiredToken(CancelToken):
    """Asked to stop once work has looked so often."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    def check(self):
        self.looks -= 1
        if self.looks < 0:
            raise CancelledWorkError("stopped")


LOOKS = 5
"""More than it takes to get at the facts, and far fewer than any rules take."""


def test_a_comparison_under_way_can_be_stopped(desk):
    with pytest.raises(CancelledWorkError):
        desk.comparing.work(desk.comparing.question(), TiredToken(LOOKS))


@pytest.mark.parametrize("replays", [True, False])
def test_a_replay_and_its_check_under_way_can_be_stopped(desk, monkeypatch, replays):
    jobs = []
    monkeypatch.setattr(replaying_module, "replay_check" if replays else "replay", lambda *_words, **_more: ())
    monkeypatch.setattr(desk.runner, "read", lambda work, **_more: jobs.append(work) or CancelToken())
    desk.replaying.run(("half",))
    with pytest.raises(CancelledWorkError):
        jobs[0](TiredToken(LOOKS))


# -- replays


def test_a_replay_runs_the_chosen_strategies_and_the_check(desk):
    heard = Heard(desk.replaying.changed)
    desk.replaying.run(("half", "sage-prune"))
    state = desk.replaying.state
    assert [run.choice.strategy.key for run in state.runs] == ["half", "sage-prune"]
    assert len(state.runs[0].rows) == 10
    assert state.check.compared == 9
    assert not state.working
    assert [item.working for item in heard.said] == [True, False]


def test_a_task_without_its_messages_is_checked_and_its_runs_say_why_they_are_empty(qapp, tmp_path):
    desk = LabDesk(tmp_path, messages=[], has_messages=False)
    desk.replaying.run(("half",))
    (run,) = desk.replaying.state.runs
    assert run.failure.startswith("The API history is missing")
    assert desk.replaying.state.check.compared == 9
    desk.close()


def test_a_replay_takes_the_settings_that_are_chosen(desk):
    desk.choosing.set_strategy("sage-prune")
    desk.choosing.set_text(setting(desk, "recent"), "3")
    desk.choosing.set_window("1500")
    desk.replaying.run(("sage-prune", "half"))
    pruned, halved = desk.replaying.state.runs
    assert (dict(pruned.choice.values), dict(halved.choice.values)) == ({"recent": 3}, {})
    assert pruned.window.window == halved.window.window == 1_500


def test_what_a_run_sent_can_be_looked_at(desk):
    desk.choosing.set_window("5000")
    desk.replaying.run(("half",))
    run = desk.replaying.state.runs[0]
    number, action = run.events[0]
    plan = desk.replaying.what_if(run, number)
    assert plan.steps[0].sentence == action.sentence
    assert plan.refusal == "It is a replay of the past."
    assert plan.after.hidden
    assert desk.replaying.what_if(run, 99) is None
    assert desk.replaying.what_if(run, 0).steps[0].sentence == "Nothing was done before request 1."


def test_a_cancelled_replay_keeps_what_was_known(qapp, tmp_path):
    held = HeldExecutor()
    desk = LabDesk(tmp_path, read=held)
    held.run_all()
    desk.replaying.run(("half",))
    held.run_all()
    before = desk.replaying.state.runs
    desk.replaying.run(("none",))
    assert desk.replaying.state.working
    desk.replaying.cancel()
    assert not desk.replaying.state.working
    held.run_all()
    assert desk.replaying.state.runs is before
    desk.close()


def test_a_finished_replay_cannot_be_cancelled_and_names_of_more_than_two_are_left_out(qapp, tmp_path):
    held = HeldExecutor()
    desk = LabDesk(tmp_path, read=held)
    held.run_all()
    titles = []
    for keys in (("half", "none"), ("half", "none", "quarter")):
        desk.replaying.run(keys)
        titles.append(desk.runner.jobs[-1].title)
        held.run_all()
    assert titles[1] == titles[0].replace(" (", ", … (")
    heard = Heard(desk.replaying.changed)
    desk.replaying.cancel()
    assert heard.said == []
    desk.close()


def test_a_window_that_cannot_be_used_is_an_error_of_the_run(desk, monkeypatch):
    monkeypatch.setattr(Choosing, "effective_window", property(lambda _self: -1))
    desk.replaying.run(("half",))
    assert "cannot be used" in desk.replaying.state.error.sentence
    assert not desk.replaying.state.working


def test_growth_marks_a_run_as_old_and_another_task_forgets_it(desk):
    desk.replaying.run(("half",))
    desk.grow()
    assert desk.replaying.state.stale
    assert desk.replaying.state.runs
    desk.session.close_task()
    assert desk.replaying.state.runs == ()


def test_progress_is_told_from_the_job(qapp, tmp_path, qtbot):
    desk = LabDesk(tmp_path, messages=[u("x")] * 2 + [u("y")] * 400, totals=tuple([100] * 200))
    heard = Heard(desk.replaying._progressed)
    desk.replaying.run(("half",))
    shares = [share for _, share in heard.said]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > 5
    desk.close()


# -- the model that writes summaries


def test_a_model_is_asked_only_where_one_is_entered_and_wanted(qapp, tmp_path):
    settings = Settings(tmp_path / "s.ini")
    summaries = Summaries(settings, Keys())
    heard = []
    summaries.changed.connect(lambda: heard.append(1))
    summaries.set_wanted(True)
    assert (summaries.available, summaries.wanted, summaries.name) == (False, False, "")
    with model_stub(says("fine")) as stub:
        settings.set(MODEL_URL, stub.url)
        settings.set(MODEL_NAME, "qwen")
        assert summaries.wanted
        assert summaries.name == f"qwen at {stub.url[7:-3]}"
        assert summaries.model(CancelToken())("prompt") == "fine"
    assert len(heard) == 3


def test_comparing_and_replaying_ask_no_model_also_where_one_is_wanted(desk):
    lab = Lab(desk.runner, desk.session, desk.settings, Keys())
    with model_stub(says("<summary>fine</summary>")) as stub:
        desk.settings.set(MODEL_URL, stub.url)
        desk.settings.set(MODEL_NAME, "qwen")
        lab.summaries.set_wanted(True)
        lab.choosing.set_window("1500")
        lab.comparing.watch(True)
        lab.replaying.run(("sage-summarize", "sage-compact"))
        assert stub.asked == []
    assert [run.failure for run in lab.replaying.state.runs] == ["", ""]
    assert all(run.events[0][1].inserted for run in lab.replaying.state.runs)
    assert not any(row.problem for row in lab.comparing.answer.value.rows)
    lab.close()


def test_without_an_address_nothing_of_the_lab_opens_a_socket(desk, monkeypatch):
    import socket

    def forbidden(*_words, **_more):
        raise AssertionError("no network")

    monkeypatch.setattr(socket, "socket", forbidden)
    monkeypatch.setattr(socket, "getaddrinfo", forbidden)
    monkeypatch.setattr(socket, "create_connection", forbidden)
    desk.comparing.watch(True)
    desk.choosing.set_strategy("sage-summarize")
    desk.stepping.run()
    desk.replaying.run(("sage-summarize", "sage-compact"))
    assert desk.replaying.state.error is None
    assert desk.stepping.stepper.at_end
