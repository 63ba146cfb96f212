"""The watcher's events on the GUI thread, and what they lead to."""

import threading
from pathlib import Path

import pytest

from ctxviewer.services.discovery import Discovery
from ctxviewer.services.following import Following
from ctxviewer.services.notices import Notices
from ctxviewer.services.session import Session
from ctxviewer.services.settings import Settings
from ctxviewer.services.watchbridge import WatchBridge
from ctxviewer.sources.discover import Found
from ctxviewer.sources.places import Root
from ctxviewer.sources.watch import EventKind, WatchEvent, WatchLimit
from helpers.snapshots import FakeDisk, Heard, inline_runner, ref, snapshot

FOLDER = Path(ref().directory)


class FakeWatcher:
    def __init__(self, callback, told):
        self.callback, self.told, self.roots, self.tasks, self.closed = callback, told, [], [], False

    def watch_roots(self, paths):
        self.roots.append(tuple(paths))

    def watch_task(self, directory, _files):
        self.tasks.append(directory)

    def close(self):
        self.closed = True


class Desk:
    def __init__(self, tmp_path):
        self.made = []
        self.disk, self.notices = FakeDisk(snapshot()), Notices()
        self.found = Found((ref(),), (Root(Path("/r"), "Code"),), ())
        runner = inline_runner()
        self.bridge = WatchBridge(self.make)
        self.session = Session(runner, self.notices, self.disk)
        self.discovery = Discovery(
            runner, self.notices, Settings(tmp_path / "s.ini"), lambda _extra: self.found, lambda _path: ()
        )
        self.following = Following(self.bridge, self.session, self.discovery, self.notices)

    def make(self, callback, told):
        self.made.append(FakeWatcher(callback, told))
        return self.made[0]

    def tell(self, kind, path=FOLDER):
        self.made[0].callback(WatchEvent(kind, path))


@pytest.fixture
def desk(qapp, tmp_path):
    made = Desk(tmp_path)
    made.session.open_task(ref())
    return made


def test_no_watcher_starts_before_something_is_watched(qapp, tmp_path):
    assert Desk(tmp_path).made == []


def test_the_open_task_is_watched_once(desk):
    desk.disk.put(snapshot(6, 3))
    desk.session.reload()
    assert desk.made[0].tasks == [FOLDER]
    desk.session.close_task()
    assert desk.made[0].tasks == [FOLDER, None]


def test_a_touch_reads_the_open_task_again(desk):
    desk.disk.put(snapshot(6, 3))
    desk.tell(EventKind.TASK_TOUCHED)
    assert len(desk.session.snapshot.messages) == 6
    assert desk.discovery.live == frozenset({str(FOLDER)})


def test_a_touch_without_a_change_is_silent_and_does_not_loop(desk):
    heard, reads = Heard(desk.session.snapshot_changed), len(desk.disk.reads)
    desk.tell(EventKind.TASK_TOUCHED)
    assert heard.said == []
    assert len(desk.disk.reads) == reads + 1
    assert desk.discovery.live == frozenset()


def test_a_touch_of_another_task_reads_nothing(desk):
    reads = len(desk.disk.reads)
    desk.tell(EventKind.TASK_TOUCHED, Path("/other"))
    assert len(desk.disk.reads) == reads


def test_a_lost_folder_is_told_and_its_return_too(desk):
    desk.tell(EventKind.TASK_GONE)
    assert "is gone" in desk.notices.standing[-1].sentence
    assert len(desk.session.snapshot.messages) == 4
    desk.disk.put(snapshot(6, 3))
    desk.tell(EventKind.TASK_BACK)
    assert len(desk.session.snapshot.messages) == 6
    assert not any("is gone" in notice.sentence for notice in desk.notices.standing)


def test_a_reading_that_ends_after_the_folder_went_does_not_hide_that(desk):
    desk.tell(EventKind.TASK_GONE)
    desk.disk.put(snapshot(6, 3))
    desk.session.reload()
    assert len(desk.session.snapshot.messages) == 6
    assert any("is gone" in notice.sentence for notice in desk.notices.standing)


def test_touched_roots_lead_to_another_search(desk, qtbot, monkeypatch):
    desk.discovery.refresh()
    assert desk.made[0].roots == [(Path("/r"),)]
    desk.found = Found((ref(), ref("t2")), (Root(Path("/r"), "Code"),), ())
    with qtbot.waitSignal(desk.discovery.tasks_changed):
        desk.tell(EventKind.ROOTS_TOUCHED, Path("/r"))
    assert len(desk.discovery.tasks) == 2
    assert desk.made[0].roots == [(Path("/r"),)]


def test_events_of_another_thread_arrive_on_the_gui_thread(desk, qtbot):
    threads = []
    desk.bridge.task_touched.connect(lambda _path: threads.append(threading.current_thread()))
    worker = threading.Thread(target=desk.tell, args=(EventKind.TASK_TOUCHED,))
    worker.start()
    worker.join()
    qtbot.waitUntil(lambda: bool(threads))
    assert threads == [threading.main_thread()]


def test_limits_of_the_watcher_are_told(desk):
    desk.made[0].told(WatchLimit("Changes are noticed late.", "Raise the limit."))
    assert [(n.sentence, n.hint) for n in desk.notices.standing] == [("Changes are noticed late.", "Raise the limit.")]


def test_closing_ends_the_watcher_and_nothing_is_passed_on(desk):
    heard = Heard(desk.bridge.task_touched)
    desk.bridge.close()
    assert desk.made[0].closed
    desk.tell(EventKind.TASK_TOUCHED)
    assert heard.said == []
