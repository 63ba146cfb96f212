"""The door to the store: preview, commit, refusal with what changed, undo and redo, recovery."""

from dataclasses import replace
from pathlib import Path

import pytest

from ctxviewer.domain.errors import RefusedError
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.plans import plan_truncate
from ctxviewer.services.changes import Changes, History, what_changed
from ctxviewer.services.notices import Notices
from ctxviewer.services.session import Session
from ctxviewer.sources.change import Change
from ctxviewer.sources.store.values import Action, Entry, EntryState, Outcome, Recovered, RecoveredKind
from helpers.snapshots import FakeDisk, Heard, inline_runner, ref, snapshot

FOLDER = Path(ref().directory)


def entry(number, state=EntryState.DONE, **can):
    return Entry(f"e{number}", f"change {number}", FOLDER, number, state, (), (), **can)


class FakeStore:
    """Remembers what it was asked, and refuses when it is told to."""

    def __init__(self):
        self.asked, self.entries, self.refuse, self.recovered = [], (), None, ()

    def commit(self, change, *, consent_open=False):
        return self._do(Action.COMMIT, change.title, consent_open)

    def undo(self, task_dir, *, looks_open=(), consent_open=False):
        return self._do(Action.UNDO, str(task_dir), consent_open, looks_open)

    def redo(self, task_dir, *, looks_open=(), consent_open=False):
        return self._do(Action.REDO, str(task_dir), consent_open, looks_open)

    def history(self, _task_dir):
        return self.entries

    def recover(self):
        return self.recovered

    def _do(self, action, *what):
        self.asked.append((action, *what))
        if self.refuse is not None:
            raise self.refuse
        return Outcome("e1", "keep half", action, (), ())


class Desk:
    def __init__(self, start=None):
        self.disk, self.store, self.notices = FakeDisk(start or snapshot(8, 4)), FakeStore(), Notices()
        runner = inline_runner()
        self.session = Session(runner, self.notices, self.disk)
        self.changes = Changes(runner, self.session, self.notices, self.store, self.change_for, now_ms=lambda: 77)
        self.session.open_task(ref())
        self.times = []

    def change_for(self, reading, plan, now_ms):
        self.times.append(now_ms)
        return Change(FOLDER, plan.title, reading.files, (), reading.looks_open)

    def preview(self):
        heard = Heard(self.changes.previewed)
        plan = replace(plan_truncate(self.session.timeline, "half"), refusal="")
        self.changes.prepare(self.session.snapshot, plan)
        return heard.said[0]


@pytest.fixture
def desk(qapp):
    return Desk()


def test_preparing_asks_the_source_and_writes_nothing(desk):
    preview = desk.preview()
    assert preview.change.expected == desk.session.snapshot.files
    assert desk.times == [77]
    assert desk.store.asked == []


def test_a_refused_plan_has_no_change(desk):
    heard = Heard(desk.changes.previewed)
    plan = replace(plan_truncate(desk.session.timeline, "half"), refusal="no")
    desk.changes.prepare(desk.session.snapshot, plan)
    assert heard.said[0].change is None
    desk.changes.commit(heard.said[0])
    assert desk.store.asked == []


def test_a_commit_reloads_and_tells_what_was_done(desk):
    done, readings = Heard(desk.changes.committed), len(desk.disk.reads)
    preview = desk.preview()
    desk.store.entries = (entry(1, can_undo=True),)
    desk.changes.commit(preview, consent_open=True)
    assert desk.store.asked == [(Action.COMMIT, preview.plan.title, True)]
    assert len(desk.disk.reads) == readings + 1
    assert done.said[0].title == "keep half"
    assert desk.changes.history.undo.id == "e1"
    assert [(n.sentence, n.action) for n in desk.notices.standing] == [("Done: keep half.", "edit.undo")]


def test_a_refusal_reloads_and_tells_what_somebody_else_did(desk):
    preview = desk.preview()
    desk.store.refuse = RefusedError("The task has changed.", hint="Look again.")
    desk.disk.put(snapshot(10, 5, range_now=Range(2, 3)))
    refused = Heard(desk.changes.refused)
    desk.changes.commit(preview)
    assert refused.said[0].error.sentence == "The task has changed."
    sentence = desk.notices.standing[-1].sentence
    for words in ("2 messages added", "1 request added", "deleted range none → 2–3", "api_conversation_history.json"):
        assert words in sentence
    assert desk.session.snapshot.range_now == Range(2, 3)


def test_a_refusal_without_a_change_says_only_why(desk):
    preview = desk.preview()
    desk.store.refuse = RefusedError("The disk is full.", hint="Make room.")
    desk.changes.commit(preview)
    assert [n.sentence for n in desk.notices.standing] == ["The disk is full."]


def test_undo_and_redo_go_to_the_store_with_the_reasons(qapp):
    desk = Desk(snapshot(8, 4, looks_open=("A lock file is there.",)))
    desk.store.entries = (entry(1, can_undo=True), entry(2, EntryState.UNDONE, can_redo=True))
    desk.changes.refresh_history()
    desk.changes.undo(consent_open=True)
    desk.changes.redo()
    assert desk.store.asked == [
        (Action.UNDO, str(FOLDER), True, ("A lock file is there.",)),
        (Action.REDO, str(FOLDER), False, ("A lock file is there.",)),
    ]


def test_nothing_to_undo_asks_nobody(desk):
    desk.changes.undo()
    assert desk.store.asked == []
    assert desk.changes.history.undo_reason == "Nothing was changed in this task yet."


def test_history_follows_the_task(desk):
    desk.store.entries = (entry(1, can_undo=True),)
    heard = Heard(desk.changes.history_changed)
    desk.changes.refresh_history()
    desk.session.close_task()
    assert [len(history.entries) for history in heard.said] == [1, 0]


def test_undo_is_the_newest_done_and_redo_the_oldest_undone():
    history = History(
        (
            entry(1, can_undo=True),
            entry(2, can_undo=True),
            entry(3, EntryState.UNDONE, can_redo=True),
            entry(4, EntryState.UNDONE),
        )
    )
    assert (history.undo.id, history.redo.id) == ("e2", "e3")


def test_reasons_are_those_of_the_newest_entry():
    history = History((entry(1, undo_reason="old"), entry(2, undo_reason="The backup was removed.")))
    assert history.undo_reason == "The backup was removed."


def test_what_recovery_found_is_told(desk):
    desk.store.recovered = (
        Recovered(RecoveredKind.REVERTED, FOLDER, "e1", "An interrupted write was taken back."),
        Recovered(RecoveredKind.WAITING, FOLDER, "e2", "The disk is read-only.", "Make it writable."),
    )
    desk.changes.recover()
    assert [(str(n.severity), n.sentence) for n in desk.notices.standing] == [
        ("info", "An interrupted write was taken back."),
        ("warning", "The disk is read-only."),
    ]


def test_no_difference_is_no_sentence():
    assert what_changed(snapshot(), snapshot()) == ()


def test_one_of_a_kind_is_singular():
    said = what_changed(snapshot(4, 2), snapshot(3, 2))
    assert said[0] == "1 message removed"
