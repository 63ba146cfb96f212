"""The shared selection: live and pinned, growth, what-ifs, half-written files, failures."""

from dataclasses import replace

import pytest

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.projection import Standing
from ctxviewer.domain.view import TextMode
from ctxviewer.engine.plans import plan_truncate
from ctxviewer.services.notices import Notices
from ctxviewer.services.readings import is_grown
from ctxviewer.services.runner import Runner
from ctxviewer.services.session import Session
from ctxviewer.sources import registry
from helpers.snapshots import FakeDisk, Heard, HeldExecutor, inline_runner, ref, snapshot
from helpers.working_agent import WorkingAgent


class Desk:
    """A session over files that the test sets."""

    def __init__(self, *snapshots, runner=None):
        self.disk = FakeDisk(*snapshots)
        self.notices = Notices()
        self.runner = runner or inline_runner()
        self.overrides = {}
        self.session = Session(self.runner, self.notices, self.disk, window_override=self.override)

    def override(self, task):
        return self.overrides.get(str(task.directory))

    def change(self, item):
        self.disk.put(item)
        self.session.reload()


@pytest.fixture
def desk(qapp):
    made = Desk(snapshot(6, 3))
    made.session.open_task(ref())
    yield made
    made.session.close()


def test_opening_tells_the_task_first_and_then_the_reading(qapp):
    desk, order = Desk(snapshot()), []
    desk.session.task_changed.connect(lambda task: order.append(("task", task.task_id)))
    desk.session.snapshot_changed.connect(lambda change: order.append(("reading", len(change.snapshot.messages))))
    desk.session.projection_changed.connect(lambda projection: order.append(("picture", projection is not None)))
    desk.session.open_task(ref())
    assert order == [("picture", False), ("task", "t1"), ("reading", 4), ("picture", True)]
    assert desk.session.live
    assert desk.session.projection.sent_count == 4


def test_left_and_right_move_between_first_request_and_live(desk):
    seen = Heard(desk.session.request_changed)
    for by in (-1, -1, -1, -1, 1, 1, 1, 1):
        desk.session.step_request(by)
    assert seen.said == [2, 1, 0, 1, 2, None]


def test_a_request_shows_what_it_sent(desk):
    desk.session.select_request(1)
    standings = [desk.session.projection.standing(number) for number in range(6)]
    assert standings == [Standing.SENT] * 3 + [Standing.LATER] * 3


def test_requests_outside_are_brought_to_the_ends(desk):
    desk.session.select_request(99)
    assert desk.session.request == 2
    desk.session.select_request(-5)
    assert desk.session.request == 0


def test_live_follows_growth(desk):
    heard = Heard(desk.session.snapshot_changed)
    desk.change(snapshot(8, 4))
    assert desk.session.live
    assert desk.session.projection.stored == 8
    assert (heard.said[0].same_task, heard.said[0].grown, len(heard.said[0].previous.messages)) == (True, True, 6)


def test_pinned_never_moves_and_counts_what_is_new(desk):
    desk.session.select_request(1)
    new, moved = Heard(desk.session.new_requests), Heard(desk.session.request_changed)
    desk.change(snapshot(8, 4))
    desk.change(snapshot(12, 6))
    assert new.said == [1, 3]
    assert moved.said == []
    assert desk.session.request == 1
    assert desk.session.projection.until == 3
    desk.session.go_live()
    assert new.said[-1] == 0


def test_a_rollback_outside_brings_the_selection_to_what_is_left(desk):
    desk.session.select_request(2)
    desk.session.select_message(5)
    moved, chosen = Heard(desk.session.request_changed), Heard(desk.session.message_changed)
    desk.change(snapshot(3, 2))
    assert moved.said == [1]
    assert chosen.said == [None]


def test_a_changed_message_is_no_growth(desk):
    heard = Heard(desk.session.snapshot_changed)
    desk.change(snapshot(6, 3, texts={2: "other words"}))
    assert [change.grown for change in heard.said] == [False]


@pytest.mark.parametrize(
    ("old", "new", "grown"),
    [
        (snapshot(4), snapshot(6), True),
        (snapshot(4), snapshot(4), True),
        (snapshot(6), snapshot(4), False),
        (snapshot(4), snapshot(6, texts={0: "x"}), False),
        (snapshot(4, texts={3: "abc"}), snapshot(6, texts={3: "abd"}), False),
    ],
)
def test_growth_is_every_old_message_byte_for_byte(old, new, grown):
    assert is_grown(old.messages, new.messages) is grown


def test_an_unchanged_file_is_not_told(desk):
    heard = Heard(desk.session.snapshot_changed)
    desk.session.reload()
    desk.change(snapshot(6, 3, generation=50))
    assert heard.said == []


def test_reading_the_same_task_twice_reads_again(desk):
    heard = Heard(desk.session.task_changed)
    desk.session.open_task(ref())
    assert heard.said == []
    assert len(desk.disk.reads) == 2


def test_touches_while_reading_become_one_more_reading(qapp):
    held = HeldExecutor()
    desk = Desk(snapshot(), runner=Runner(read=held))
    desk.session.open_task(ref())
    for _ in range(5):
        desk.session.reload()
    held.run_all()
    assert len(desk.disk.reads) == 2


def test_an_answer_for_the_task_before_is_dropped(qapp):
    held = HeldExecutor()
    other = ref("t2")
    desk = Desk(snapshot(4), snapshot(8, task=other), runner=Runner(read=held))
    heard = Heard(desk.session.snapshot_changed)
    desk.session.open_task(ref())
    desk.session.open_task(other)
    held.run_all()
    assert [len(change.snapshot.messages) for change in heard.said] == [8]


def test_a_failure_is_told_in_place_and_another_task_still_opens(qapp):
    desk = Desk(snapshot(task=ref("t2")))
    failed = Heard(desk.session.task_failed)
    desk.session.open_task(ref("t1"))
    assert [error.sentence for error in failed.said] == ["The task is gone."]
    assert desk.session.failure is not None
    desk.session.open_task(ref("t2"))
    assert desk.session.failure is None
    assert desk.session.snapshot is not None


def test_a_failure_of_an_open_task_keeps_what_is_shown(desk):
    desk.disk.now.clear()
    desk.session.reload()
    assert len(desk.session.snapshot.messages) == 6
    assert [notice.sentence for notice in desk.notices.standing] == ["The task is gone."]


def test_half_written_files_are_read_again_before_anything_is_told(desk, qtbot):
    heard = Heard(desk.session.snapshot_changed)
    desk.change(snapshot(0, 3, has_messages=False, digest="cut"))
    assert heard.said == []
    desk.disk.put(snapshot(8, 4))
    qtbot.waitUntil(lambda: bool(heard.said))
    assert [len(change.snapshot.messages) for change in heard.said] == [8]
    assert heard.said[0].grown


def test_damage_that_stays_is_told_after_the_retries(desk, qtbot):
    heard = Heard(desk.session.snapshot_changed)
    desk.change(snapshot(0, 3, has_messages=False, digest="cut"))
    qtbot.waitUntil(lambda: bool(heard.said))
    assert not heard.said[0].snapshot.has_messages
    assert desk.session.projection is None


def test_a_what_if_is_shown_and_dropped(desk):
    plan = plan_truncate(desk.session.timeline, "half")
    pictures = Heard(desk.session.projection_changed)
    desk.session.preview(plan)
    assert desk.session.projection == plan.after
    desk.session.preview(None)
    assert [len(picture.hidden) for picture in pictures.said] == [len(plan.after.hidden), 0]


def test_a_what_if_from_now_is_looked_at_live_and_the_pinned_request_comes_back(desk):
    desk.session.select_request(1)
    moved = Heard(desk.session.request_changed)
    desk.session.preview(plan_truncate(desk.session.timeline, "half"))
    assert desk.session.live
    assert desk.session.projection.stored == 6
    desk.session.preview(None)
    assert moved.said == [None, 1]
    assert desk.session.projection.request == 1


def test_stepping_leaves_the_what_if(desk):
    desk.session.preview(plan_truncate(desk.session.timeline, "half"))
    heard = Heard(desk.session.plan_changed)
    desk.session.step_request(-1)
    assert heard.said == [None]
    assert desk.session.projection.request == 2


def test_a_what_if_is_made_again_when_the_task_grows(desk):
    def make(timeline):
        return plan_truncate(timeline, "half")

    desk.session.preview(make(desk.session.timeline), make)
    desk.change(snapshot(12, 6))
    assert desk.session.plan.generation == desk.session.snapshot.generation
    assert desk.session.projection.stored == 12
    assert desk.notices.standing == ()


def test_a_what_if_that_cannot_be_made_again_is_dropped_and_told(desk):
    def fail(_timeline):
        raise CtxError("not any more")

    for remake in (None, fail):
        desk.session.preview(plan_truncate(desk.session.timeline, "half"), remake)
        desk.change(snapshot(len(desk.session.snapshot.messages) + 2, 4))
        assert desk.session.plan is None
        assert "what-if was dropped" in desk.notices.standing[-1].sentence
        desk.notices.clear("task:what-if")


def test_messages_outside_choose_none(desk):
    desk.session.select_message(5)
    desk.session.select_message(6)
    assert desk.session.message is None


def test_the_text_mode_is_told_once(desk):
    heard = Heard(desk.session.text_mode_changed)
    desk.session.set_text_mode(TextMode.DIFFERENCE)
    desk.session.set_text_mode(TextMode.DIFFERENCE)
    assert heard.said == [TextMode.DIFFERENCE]


def test_the_window_can_be_overridden(desk):
    assert desk.session.window == 128_000
    heard = Heard(desk.session.window_changed)
    desk.overrides[str(ref().directory)] = 64_000
    desk.session.refresh_window()
    assert desk.session.window == 64_000
    assert desk.session.snapshot.model.window == 64_000
    assert heard.said == [64_000]


def test_closing_the_task_empties_everything(desk):
    desk.session.select_request(1)
    desk.session.select_message(2)
    heard = Heard(desk.session.task_changed)
    desk.session.close_task()
    assert heard.said == [None]
    state = (desk.session.snapshot, desk.session.request, desk.session.message, desk.session.projection)
    assert state == (None, None, None, None)


def test_repairs_of_long_tasks_are_found_in_the_background(qapp, monkeypatch):
    monkeypatch.setattr("ctxviewer.engine.timeline.SMALL", 3)
    held = HeldExecutor()
    desk = Desk(snapshot(6, 3), runner=Runner(read=held))
    desk.session.open_task(ref())
    held.held.pop(0)()
    assert not desk.session.projection.repairs_known
    held.run_all()
    assert desk.session.projection.repairs_known


def test_a_reading_that_the_user_cancels_is_told_in_place(qapp):
    held = HeldExecutor()
    desk = Desk(snapshot(), runner=Runner(read=held))
    failed = Heard(desk.session.task_failed)
    desk.session.open_task(ref(size=2_400_000))
    desk.runner.cancel(desk.runner.jobs[0].ticket)
    assert ["cancelled" in error.sentence for error in failed.said] == [True]
    desk.session.reload()
    held.run_all()
    assert desk.session.snapshot is not None


def test_the_index_entry_of_the_reading_becomes_the_task(desk):
    renamed = replace(ref(), title="new title")
    desk.change(snapshot(6, 3, task=renamed, digest="of the new index entry"))
    assert desk.session.task.title == "new title"


def test_growth_of_a_file_that_shares_its_beginning_is_seen_without_copies(tmp_path, monkeypatch):
    monkeypatch.setattr("ctxviewer.sources.files.SHARED_FROM", 0)
    agent = WorkingAgent(tmp_path / "root")
    for number in range(4):
        agent.turn(f"step {number}")
    agent.write()
    first = registry.read(agent.ref, generation=1)
    agent.turn("one more")
    agent.write()
    second = registry.read(agent.ref, previous=first, generation=2)
    assert second.messages.shared_with(first.messages) >= len(first.messages) - 1
    assert is_grown(first.messages, second.messages)
    agent.messages[3]["content"][0]["text"] = "another answer!"
    agent.write()
    third = registry.read(agent.ref, previous=second, generation=3)
    assert third.messages.shared_with(second.messages) <= 3
    assert not is_grown(second.messages, third.messages)
