"""The runner: results on the GUI thread, order of changes, cancelling, stale answers, bugs."""

import threading
from types import SimpleNamespace

import pytest

from ctxviewer.domain.errors import CancelledWorkError, CtxError
from ctxviewer.services.runner import CancelToken, Runner
from helpers.snapshots import Heard, HeldExecutor, inline_runner


@pytest.fixture
def runner(qapp):
    made = Runner()
    yield made
    made.close()


def test_results_come_back_on_the_gui_thread(runner, qtbot):
    threads = []

    def done(value):
        threads.append((threading.current_thread(), value))

    runner.read(lambda _token: threading.current_thread().name, done=done)
    qtbot.waitUntil(lambda: bool(threads))
    thread, name = threads[0]
    assert thread is threading.main_thread()
    assert name.startswith("ctx-read")


def test_changes_run_one_after_another_in_order(runner, qtbot):
    order, running, overlap = [], [], []

    def work(number):
        def job(token):
            running.append(number)
            overlap.append(len(running))
            threading.Event().wait(0.005)
            running.remove(number)
            return number

        return job

    for number in range(6):
        runner.change(work(number), done=order.append)
    qtbot.waitUntil(lambda: len(order) == 6)
    assert order == list(range(6))
    assert max(overlap) == 1


def test_failures_reach_failed_and_not_done(qapp):
    runner, done, failed = inline_runner(), [], []

    def work(token):
        raise CtxError("no", hint="do")

    runner.read(work, done=done.append, failed=failed.append)
    assert done == []
    assert [(error.sentence, error.hint) for error in failed] == [("no", "do")]


def test_a_bug_is_reported_and_failed_is_told(qapp, monkeypatch):
    hooked, failed = [], []
    monkeypatch.setattr("sys.excepthook", lambda *args: hooked.append(args[0]))
    inline_runner().read(lambda _token: 1 / 0, done=print, failed=failed.append, title="Dividing")
    assert hooked == [ZeroDivisionError]
    assert "Dividing failed unexpectedly" in failed[0].sentence


def test_even_what_is_no_exception_is_delivered(qapp, monkeypatch):
    class PanicError(BaseException):
        pass

    def work(token):
        raise PanicError

    hooked = []
    monkeypatch.setattr("sys.excepthook", lambda *args: hooked.append(args[0]))
    runner = inline_runner()
    runner.read(work, done=print, title="x")
    assert hooked == [PanicError]
    assert runner.jobs == ()


def test_cancelled_results_are_dropped(qapp):
    held, done = HeldExecutor(), []
    runner = Runner(read=held)
    token = runner.read(lambda _token: 1, done=done.append)
    token.cancel()
    held.run_all()
    assert done == []
    runner.close()


def test_the_user_can_cancel_a_job_and_its_asker_hears_of_it(qapp):
    held, done, failed = HeldExecutor(), [], []
    runner = Runner(read=held)
    runner.read(lambda _token: 1, done=done.append, failed=failed.append, title="Reading")
    runner.cancel(runner.jobs[0].ticket)
    held.run_all()
    assert done == []
    assert isinstance(failed[0], CancelledWorkError)
    assert runner.jobs == ()
    runner.close()


def test_changes_cannot_be_cancelled(qapp):
    held, done = HeldExecutor(), []
    runner = Runner(change=held)
    runner.change(lambda _token: "written", done=done.append, title="Writing")
    assert runner.busy_changing
    runner.cancel(runner.jobs[0].ticket)
    held.run_all()
    assert done == ["written"]
    assert not runner.busy_changing
    runner.close()


def test_answers_of_an_older_generation_are_dropped(qapp):
    held, done = HeldExecutor(), []
    runner = Runner(read=held)
    runner.read(lambda _token: "old", done=done.append, generation=1)
    runner.read(lambda _token: "new", done=done.append, generation=2)
    runner.generation = 2
    held.run_all()
    assert done == ["new"]
    runner.close()


def test_titled_jobs_are_told_with_their_progress(qapp, monkeypatch):
    runner = inline_runner()
    heard = Heard(runner.jobs_changed)
    now = [100.0]
    monkeypatch.setattr("ctxviewer.services.runner.time", SimpleNamespace(monotonic=lambda: now[0]))

    def work(token):
        token.report(1, 5)
        now[0] += 0.09
        token.report(2, 5)  # at most ten a second: not passed on
        now[0] += 0.02
        token.report(3, 5)
        token.report(5, 5)

    runner.read(work, done=lambda _: None, title="Counting")
    assert [[(job.title, job.done, job.total) for job in jobs] for jobs in heard.said] == [
        [("Counting", 0, 0)],
        [("Counting", 1, 5)],
        [("Counting", 3, 5)],
        [("Counting", 5, 5)],
        [],
    ]


def test_untitled_jobs_are_not_shown(qapp):
    runner = inline_runner()
    heard = Heard(runner.jobs_changed)
    runner.read(lambda _token: None, done=lambda _: None)
    assert heard.said == []


def test_a_cancelled_token_raises():
    token = CancelToken()
    token.check()
    token.cancel()
    with pytest.raises(CancelledWorkError):
        token.report(1, 2)


def test_close_joins_the_threads_and_delivers_nothing_more(qapp, qtbot):
    runner, done = Runner(), []
    started, before = threading.Event(), set(threading.enumerate())

    def work(token):
        started.set()
        while True:
            token.check()

    runner.read(work, done=done.append)
    assert started.wait(60)
    runner.close()
    assert set(threading.enumerate()) <= before
    assert runner.read(lambda _t: 1, done=done.append).cancelled
    qtbot.wait(1)
    assert done == []
