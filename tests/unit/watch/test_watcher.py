"""The watcher on real directories: what it tells, how soon, and that it is silent when nothing happened."""

from __future__ import annotations

import errno
import os
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchdog.observers import Observer

from ctxviewer.sources.watch import EventKind, Watcher, WatchEvent, WatchLimit
from ctxviewer.sources.watch.targets import RootTarget, TaskTarget
from ctxviewer.sources.watch.watcher import Pace

API = "api_conversation_history.json"
NEVER = 3600.0
PATIENCE = 60.0
"""Seconds until a missing event is a failure; never waited for when all is well."""
ONLY_EVENTS = Pace(task_sweep=NEVER, roots_sweep=NEVER)
ONLY_SWEEP = Pace(task_sweep=0.05, roots_sweep=0.05)


class Ear:
    """Hears a watcher, and lets a test wait for what it says."""

    def __init__(self, look: Callable[[], object] = lambda: None) -> None:
        self.events: list[WatchEvent] = []
        self.limits: list[WatchLimit] = []
        self.times: list[float] = []
        self.looks: list[object] = []
        """What `look` saw at each event."""
        self._look = look
        self._heard = threading.Condition()
        self._read = 0

    def __call__(self, event: WatchEvent) -> None:
        with self._heard:
            self.events.append(event)
            self.times.append(time.perf_counter())
            self.looks.append(self._look())
            self._heard.notify_all()

    def told(self, limit: WatchLimit) -> None:
        with self._heard:
            self.limits.append(limit)
            self._heard.notify_all()

    def next(self, kind: EventKind, path: Path) -> float:
        """Wait for this event among those not yet read, and read up to it. Returns when it came."""
        with self._heard:
            wanted = WatchEvent(kind, path)
            assert self._heard.wait_for(lambda: wanted in self.events[self._read :], PATIENCE), (wanted, self.events)
            self._read = self.events.index(wanted, self._read) + 1
            return self.times[self._read - 1]

    def wait_for(self, fact: Callable[[], bool]) -> None:
        with self._heard:
            assert self._heard.wait_for(fact, PATIENCE), self.events

    def nothing_new(self, seconds: float = 0.3) -> None:
        """No event comes for a while. The only place where a test has to let time pass."""
        with self._heard:
            before = list(self.events)
            assert not self._heard.wait_for(lambda: len(self.events) > len(before), seconds), self.events[len(before) :]

    def falls_silent(self, most: int, seconds: float = 0.3) -> None:
        """No event comes for a while, after at most so many that are still under way."""
        with self._heard:
            before = len(self.events)
            while self._heard.wait_for(self._more_than(len(self.events)), seconds):
                assert len(self.events) - before <= most, self.events[before:]

    def _more_than(self, count: int) -> Callable[[], bool]:
        return lambda: len(self.events) > count


class Bench:
    """A root with one task, and watchers that are closed at the end."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.task = root / "tasks" / "1764500000000"
        self.index = root / "state" / "taskHistory.json"
        self.task.mkdir(parents=True)
        self.index.parent.mkdir()
        self.index.write_text("[]")
        (self.task / API).write_text("[]")
        self.open: list[Watcher] = []

    def watcher(self, ear: Ear, pace: Pace = ONLY_EVENTS, **more: object) -> Watcher:
        watcher = Watcher(ear, told=ear.told, pace=pace, **more)  # type: ignore[arg-type]
        self.open.append(watcher)
        return watcher

    def follow_task(self, pace: Pace = ONLY_EVENTS, **more: object) -> Ear:
        """A watcher on the task that has told its first event."""
        ear = Ear(lambda: (self.task / API).read_text() if (self.task / API).exists() else None)
        self.watcher(ear, pace, **more).watch_task(self.task, [self.task / API, self.index])
        ear.next(EventKind.TASK_TOUCHED, self.task)
        return ear

    def follow_root(self, pace: Pace = ONLY_EVENTS, **more: object) -> Ear:
        """A watcher on the root that is known to hear."""
        ear = Ear()
        watcher = self.watcher(ear, pace, **more)
        watcher.watch_roots([self.root])
        watcher.watch_task(self.task, [])  # its first event comes when the directories are watched
        ear.next(EventKind.TASK_TOUCHED, self.task)
        watcher.watch_task(None)
        return ear

    def save(self, name: str = API, text: str = "[]") -> None:
        """As the agent does: a temporary file, renamed over the target."""
        temp = self.task / f"{name}.tmp.{time.time_ns()}.x.json"
        temp.write_text(text)
        temp.replace(self.task / name)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "root")
    yield bench
    for watcher in bench.open:
        watcher.close()


class Looks:
    """Which targets a watcher has looked at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._targets: list[TaskTarget | RootTarget] = []
        self._new = threading.Condition()
        for kind in (TaskTarget, RootTarget):
            monkeypatch.setattr(kind, "look", self._noted(kind.look))

    def _noted(self, look: Callable[..., object]) -> Callable[..., object]:
        def noted(target: TaskTarget | RootTarget) -> object:
            found = look(target)
            with self._new:
                self._targets.append(target)
                self._new.notify_all()
            return found

        return noted

    def wait_for(self, fact: Callable[[TaskTarget | RootTarget], bool]) -> None:
        """Until a look at such a target was taken. What happens from here on is new to the watcher."""
        with self._new:
            assert self._new.wait_for(lambda: any(fact(target) for target in self._targets), PATIENCE)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(monkeypatch)


def test_a_rename_over_a_file_is_told_once(bench: Bench) -> None:
    ear = bench.follow_task()
    bench.save(text='[{"role":"user"}]')
    ear.next(EventKind.TASK_TOUCHED, bench.task)
    ear.nothing_new()


def test_writing_in_place_a_new_file_and_a_removal_are_told(bench: Bench) -> None:
    ear = bench.follow_task()
    (bench.task / API).write_text("[1]")
    ear.next(EventKind.TASK_TOUCHED, bench.task)
    (bench.task / "context_history.json").write_text("[]")
    ear.next(EventKind.TASK_TOUCHED, bench.task)
    (bench.task / "context_history.json").unlink()
    ear.next(EventKind.TASK_TOUCHED, bench.task)


def test_the_index_counts_for_the_task_though_it_lies_elsewhere(bench: Bench) -> None:
    ear = bench.follow_task()
    bench.index.write_text('[{"id":"1764500000000"}]')
    ear.next(EventKind.TASK_TOUCHED, bench.task)
    (bench.index.parent / "other.json").write_text("{}")
    ear.nothing_new()


def test_reading_and_helper_files_are_silent(bench: Bench) -> None:
    ear = bench.follow_task(Pace(task_sweep=0.05, roots_sweep=0.05))
    for _ in range(3):
        (bench.task / API).read_bytes()
        list(bench.task.iterdir())
    (bench.task / f"{API}.tmp.123.abc.json").write_text("[]")
    (bench.task / f".{API}.ctxviewer-1-a.tmp").write_text("[]")
    (bench.task / ".hidden").write_text("")
    ear.nothing_new()


def test_a_storm_of_writes_becomes_few_events_but_is_not_held_back_for_ever(bench: Bench) -> None:
    longest = 0.3
    ear = bench.follow_task(Pace(quiet=NEVER, longest=longest, task_sweep=NEVER, roots_sweep=NEVER))
    start = time.perf_counter()
    writes = 0
    while len(ear.events) < 3 and time.perf_counter() - start < PATIENCE:
        bench.save(text=f"[{writes}]")
        writes += 1
        time.sleep(0.01)
    assert len(ear.events) >= 3, "a storm without a pause must still be told"
    assert ear.times[2] - start >= 2 * longest, "each event stands for all writes of a while"
    bench.save(text="[3]")
    ear.wait_for(lambda: ear.looks[-1] == "[3]")


def test_the_last_write_of_a_storm_is_told_after_it(bench: Bench) -> None:
    ear = bench.follow_task(Pace(quiet=0.2, longest=NEVER, task_sweep=NEVER, roots_sweep=NEVER))
    for number in range(200):
        bench.save(text=f"[{number}]")
    ear.wait_for(lambda: ear.looks[-1] == "[199]")
    assert len(ear.events) < 100


def test_the_directory_goes_and_comes_back(bench: Bench) -> None:
    ear = bench.follow_task()
    away = bench.root / "away"
    bench.task.rename(away)
    ear.next(EventKind.TASK_GONE, bench.task)
    away.rename(bench.task)
    ear.next(EventKind.TASK_BACK, bench.task)
    bench.save(text="[2]")
    ear.next(EventKind.TASK_TOUCHED, bench.task)


def test_a_directory_deleted_and_made_again_is_still_followed(bench: Bench) -> None:
    ear = bench.follow_task()
    shutil.rmtree(bench.task)
    ear.next(EventKind.TASK_GONE, bench.task)
    bench.task.mkdir()
    ear.next(EventKind.TASK_BACK, bench.task)
    bench.save(text="[3]")
    ear.next(EventKind.TASK_TOUCHED, bench.task)


def test_a_directory_swapped_for_another_is_still_followed(bench: Bench) -> None:
    ear = bench.follow_task()
    other = bench.root / "tasks" / "new"
    other.mkdir()
    (other / API).write_text("[7]")
    bench.task.rename(bench.root / "old")
    other.rename(bench.task)
    ear.wait_for(lambda: len(ear.events) > 1)
    ear.falls_silent(3)
    bench.save(text="[8]")
    ear.wait_for(lambda: ear.looks[-1] == "[8]")


def test_new_and_removed_tasks_and_the_index_touch_the_root(bench: Bench) -> None:
    ear = bench.follow_root()
    (bench.root / "tasks" / "1764600000000").mkdir()
    ear.next(EventKind.ROOTS_TOUCHED, bench.root)
    shutil.rmtree(bench.root / "tasks" / "1764600000000")
    ear.next(EventKind.ROOTS_TOUCHED, bench.root)
    bench.index.write_text('[{"id":"1"}]')
    ear.next(EventKind.ROOTS_TOUCHED, bench.root)


def test_the_first_files_of_a_new_task_touch_the_root_again_and_later_ones_do_not(bench: Bench) -> None:
    ear = bench.follow_root()
    new = bench.root / "tasks" / "1764600000000"
    new.mkdir()
    ear.next(EventKind.ROOTS_TOUCHED, bench.root)
    (new / API).write_text("[]")
    ear.next(EventKind.ROOTS_TOUCHED, bench.root)
    (new / API).write_text("[1]")
    ear.nothing_new()


def test_files_of_old_tasks_do_not_touch_the_root(bench: Bench) -> None:
    ear = bench.follow_root()
    bench.save(text="[4]")
    (bench.root / "cache.json").write_text("{}")
    ear.nothing_new()


def test_the_sweep_alone_follows_task_and_roots_and_says_why(bench: Bench) -> None:
    def no_more() -> Observer:
        raise OSError(errno.EMFILE, "Too many open files")

    ear = Ear()
    watcher = bench.watcher(ear, ONLY_SWEEP, make_observer=no_more)
    watcher.watch_roots([bench.root])
    watcher.watch_task(bench.task, [bench.task / API, bench.index])
    ear.next(EventKind.TASK_TOUCHED, bench.task)
    ear.wait_for(lambda: bool(ear.limits))
    ear.nothing_new(0.2)
    bench.save(text="[5, 5]")
    ear.next(EventKind.TASK_TOUCHED, bench.task)
    bench.index.write_text('[{"id":"1764500000000"}]')
    ear.next(EventKind.ROOTS_TOUCHED, bench.root)
    bench.task.rename(bench.root / "away")
    ear.next(EventKind.TASK_GONE, bench.task)
    (bench.root / "away").rename(bench.task)
    ear.next(EventKind.TASK_BACK, bench.task)
    (limit,) = ear.limits
    assert limit.sentence.startswith("The system gives out no more change notifications.")
    assert "max_user_instances" in limit.hint


def test_a_folder_that_cannot_be_watched_is_swept_and_told_once(bench: Bench) -> None:
    class Full(Observer):  # type: ignore[misc]
        def schedule(self, *_args: object, **_more: object) -> None:
            raise OSError(errno.ENOSPC, "inotify watch limit reached")

    ear = bench.follow_task(ONLY_SWEEP, make_observer=Full)
    bench.save(text="[6, 6]")
    ear.next(EventKind.TASK_TOUCHED, bench.task)
    assert [limit.sentence for limit in ear.limits] == [
        "The system watches no more folders. Changes are noticed by looking every few seconds instead of at once."
    ]


def test_a_lost_root_is_told_and_followed_again_when_it_returns(bench: Bench) -> None:
    ear = bench.follow_root(Pace(task_sweep=NEVER, roots_sweep=0.05))
    away = bench.root.with_name("unmounted")
    bench.root.rename(away)
    ear.next(EventKind.ROOTS_TOUCHED, bench.root)
    ear.falls_silent(1)
    away.rename(bench.root)
    ear.next(EventKind.ROOTS_TOUCHED, bench.root)
    ear.falls_silent(1)
    (bench.root / "tasks" / "1764700000000").mkdir()
    ear.next(EventKind.ROOTS_TOUCHED, bench.root)


def test_the_open_task_returns_with_its_root(bench: Bench) -> None:
    ear = bench.follow_task(Pace(task_sweep=0.05, roots_sweep=NEVER))
    away = bench.root.with_name("unmounted")
    bench.root.rename(away)
    ear.next(EventKind.TASK_GONE, bench.task)
    away.rename(bench.root)
    ear.next(EventKind.TASK_BACK, bench.task)
    bench.save(text="[9]")
    ear.next(EventKind.TASK_TOUCHED, bench.task)


def test_a_root_that_is_not_there_yet_is_noticed(bench: Bench, looks: Looks) -> None:
    ear = Ear()
    later = bench.root.with_name("later")
    bench.watcher(ear, ONLY_SWEEP).watch_roots([later])
    looks.wait_for(lambda target: target == RootTarget(later))
    ear.nothing_new(0.2)
    (later / "tasks").mkdir(parents=True)
    ear.next(EventKind.ROOTS_TOUCHED, later)


def test_a_root_behind_a_symbolic_link_is_followed_under_the_name_given(bench: Bench) -> None:
    link = bench.root.with_name("link")
    link.symlink_to(bench.root, target_is_directory=True)
    ear = Ear()
    task = link / "tasks" / bench.task.name
    watcher = bench.watcher(ear)
    watcher.watch_roots([link])
    watcher.watch_task(task, [task / API])
    ear.next(EventKind.TASK_TOUCHED, task)
    bench.save(text="[10]")
    ear.next(EventKind.TASK_TOUCHED, task)
    (bench.root / "tasks" / "1764800000000").mkdir()
    ear.next(EventKind.ROOTS_TOUCHED, link)


def test_a_file_behind_a_symbolic_link_is_found_by_the_sweep(bench: Bench) -> None:
    real = bench.root.with_name("elsewhere.json")
    (bench.task / API).rename(real)
    (bench.task / API).symlink_to(real)
    ear = bench.follow_task(ONLY_SWEEP)
    real.write_text("[1, 2, 3]")
    ear.next(EventKind.TASK_TOUCHED, bench.task)


def test_another_task_takes_over_and_the_old_one_is_silent(bench: Bench) -> None:
    second = bench.root / "tasks" / "1764900000000"
    second.mkdir()
    ear = bench.follow_task()
    bench.open[0].watch_task(second, [])
    ear.next(EventKind.TASK_TOUCHED, second)
    bench.save(text="[11]")
    ear.nothing_new()
    (second / API).write_text("[]")
    ear.next(EventKind.TASK_TOUCHED, second)


def test_the_same_task_with_more_files_is_not_touched_by_that(bench: Bench, looks: Looks) -> None:
    ear = bench.follow_task(ONLY_SWEEP)
    more = bench.root / "settings.json"
    bench.open[0].watch_task(bench.task, [bench.task / API, bench.index, more])
    looks.wait_for(lambda target: isinstance(target, TaskTarget) and more in target.others)
    ear.nothing_new()
    more.write_text("{}")
    ear.next(EventKind.TASK_TOUCHED, bench.task)


def test_a_task_without_a_directory_is_gone_and_told_when_it_appears(bench: Bench) -> None:
    """It was read a moment ago: whoever watches it must hear that it went before the first look."""
    ear = Ear()
    missing = bench.root / "tasks" / "1765000000000"
    bench.watcher(ear, ONLY_SWEEP).watch_task(missing, [])
    ear.next(EventKind.TASK_GONE, missing)
    ear.nothing_new(0.2)
    missing.mkdir()
    ear.next(EventKind.TASK_BACK, missing)


def test_close_ends_every_thread_at_once(bench: Bench) -> None:
    before = set(threading.enumerate())
    ear = bench.follow_task()
    bench.open[0].watch_roots([bench.root])
    assert set(threading.enumerate()) - before
    bench.save(text="[12]")
    start = time.perf_counter()
    bench.open[0].close()
    assert time.perf_counter() - start < PATIENCE
    assert set(threading.enumerate()) - before == set()
    count = len(ear.events)
    bench.save(text="[13]")
    bench.open[0].close()
    assert len(ear.events) == count


def test_close_from_the_callback_does_not_wait_for_itself(bench: Bench) -> None:
    ended = threading.Event()

    def shut(_event: WatchEvent) -> None:
        watcher.close()
        ended.set()

    watcher = Watcher(shut, pace=ONLY_EVENTS)
    watcher.watch_task(bench.task, [])
    assert ended.wait(PATIENCE)
    watcher._thread.join(PATIENCE)
    assert not watcher._thread.is_alive()


def test_ten_thousand_tasks_cost_nothing_to_watch(bench: Bench) -> None:
    for number in range(10_000):
        (bench.root / "tasks" / str(number)).mkdir()
    threads = threading.active_count()
    ear = bench.follow_root()
    assert threading.active_count() - threads < 12
    assert set(bench.open[0]._folders._watched) <= {bench.root, bench.root / "tasks", bench.index.parent, bench.task}
    (bench.root / "tasks" / "new").mkdir()
    ear.next(EventKind.ROOTS_TOUCHED, bench.root)


def test_a_rename_is_told_within_a_fraction_of_the_bar(bench: Bench) -> None:
    ear = bench.follow_task(Pace(task_sweep=NEVER, roots_sweep=NEVER))
    waits = []
    for number in range(40):
        bench.save(text=f"[{number}]")
        start = time.perf_counter()
        waits.append(ear.next(EventKind.TASK_TOUCHED, bench.task) - start)
    waits.sort()
    print(f"rename to event: median {statistics.median(waits) * 1e3:.1f} ms, p95 {waits[37] * 1e3:.1f} ms")  # noqa: T201
    assert waits[10] < 0.25, "a quarter of them: what a busy machine adds to the others is not ours"


def test_names_that_nobody_waits_for() -> None:
    from ctxviewer.sources.watch.folders import ignored

    assert ignored(f"{API}.tmp.1764.ab.json")
    assert ignored(f".{API}.ctxviewer-1-a.tmp")
    assert ignored(".DS_Store")
    assert not ignored(API)
    assert not ignored(os.fsdecode(b"\xff.json"))
