"""Finding tasks: usual places, folders by hand, what is running."""

from pathlib import Path

import pytest

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.services.discovery import Discovery
from ctxviewer.services.notices import Notices
from ctxviewer.services.paths import exists, is_dir
from ctxviewer.services.runner import Runner
from ctxviewer.services.settings import EXTRA_ROOTS, Settings
from ctxviewer.sources.discover import Found
from ctxviewer.sources.places import Root
from helpers.snapshots import Heard, HeldExecutor, inline_runner, ref


class Machine:
    """What lies on the disk."""

    def __init__(self, *usual):
        self.usual, self.folders, self.findings, self.looked = list(usual), {}, (), []
        self.said = ()

    def look_around(self, extra):
        self.looked.append(tuple(str(path) for path in extra))
        more = [task for path in extra for task in self.folders.get(str(path), ())]
        return Found(tuple(self.usual + more), (Root(Path("/usual"), "Code"),), self.findings)

    def open_path(self, path, tell):
        if str(path) not in self.folders:
            raise CtxError(f"No task was found in {path}.", hint="Choose another.")
        for finding in self.said:
            tell(finding)
        return self.folders[str(path)]


@pytest.fixture
def settings(qapp, tmp_path):
    return Settings(tmp_path / "settings.ini")


def make(machine, settings, runner=None):
    notices = Notices()
    return Discovery(runner or inline_runner(), notices, settings, machine.look_around, machine.open_path), notices


def test_tasks_come_newest_first(settings):
    discovery, _ = make(Machine(ref("a", updated=1), ref("b", updated=3), ref("c", updated=2)), settings)
    heard = Heard(discovery.tasks_changed)
    discovery.refresh()
    discovery.refresh()
    assert [[task.task_id for task in tasks] for tasks in heard.said] == [["b", "c", "a"]]


def test_a_folder_by_hand_is_shown_told_and_kept(settings, tmp_path):
    machine = Machine(ref("a", updated=1))
    machine.folders[str(tmp_path)] = (ref("given", updated=9),)
    discovery, _ = make(machine, settings)
    found = Heard(discovery.found)
    discovery.refresh()
    discovery.open_path(tmp_path)
    assert [task.task_id for task in discovery.tasks] == ["given", "a"]
    assert [[task.task_id for task in tasks] for tasks in found.said] == [["given"]]
    discovery.refresh()
    assert machine.looked[-1] == (str(tmp_path),)
    assert settings.get(EXTRA_ROOTS) == ()


def test_a_remembered_folder_is_looked_at_in_the_next_run(settings, tmp_path):
    machine = Machine()
    machine.folders[str(tmp_path)] = (ref("given"),)
    make(machine, settings)[0].open_path(tmp_path, remember=True)
    later, _ = make(machine, Settings(settings.file))
    later.refresh()
    assert [task.task_id for task in later.tasks] == ["given"]
    later.forget_folder(str(tmp_path))
    assert later.tasks == ()


def test_a_file_is_not_remembered(settings, tmp_path):
    file = tmp_path / "ui_messages.json"
    file.touch()
    machine = Machine()
    machine.folders[str(file)] = (ref("given"),)
    make(machine, settings)[0].open_path(file, remember=True)
    assert settings.get(EXTRA_ROOTS) == ()


def test_a_folder_without_tasks_is_a_notice(settings):
    discovery, notices = make(Machine(), settings)
    discovery.open_path(Path("/empty"))
    assert [(n.sentence, n.hint) for n in notices.standing] == [("No task was found in /empty.", "Choose another.")]


def test_a_folder_that_was_not_searched_to_the_end_is_told_at_once_and_with_every_look(settings, tmp_path):
    machine = Machine()
    machine.folders[str(tmp_path)] = (ref("given"),)
    machine.said = (Finding("search-too-wide", Severity.WARNING, "Too wide.", str(tmp_path), advice="Nearer."),)
    discovery, notices = make(machine, settings)
    discovery.open_path(tmp_path)
    assert [(n.sentence, n.hint) for n in notices.standing] == [("Too wide.", "Nearer.")]
    machine.findings = machine.said
    discovery.refresh()
    assert [n.sentence for n in notices.standing] == ["Too wide."]
    machine.findings = ()
    discovery.refresh()
    assert notices.standing == ()


def test_roots_that_cannot_be_read_are_told_and_taken_back(settings):
    machine = Machine()
    machine.findings = (Finding("root-unreadable", Severity.WARNING, "/locked cannot be read.", "/locked"),)
    discovery, notices = make(machine, settings)
    discovery.refresh()
    assert [n.sentence for n in notices.standing] == ["/locked cannot be read."]
    machine.findings = ()
    discovery.refresh()
    assert notices.standing == ()


def test_wishes_during_a_search_become_one_more(settings):
    held, machine = HeldExecutor(), Machine()
    discovery, _ = make(machine, settings, Runner(read=held))
    states = Heard(discovery.searching_changed)
    for _ in range(4):
        discovery.refresh()
    held.run_all()
    assert len(machine.looked) == 2
    assert states.said == [True, False, True, False]


def test_a_task_that_was_updated_is_running_for_a_while(settings, qtbot, monkeypatch):
    monkeypatch.setattr("ctxviewer.services.discovery.LIVE_MS", 30)
    machine = Machine(ref("a", updated=1))
    discovery, _ = make(machine, settings)
    discovery.refresh()
    assert discovery.live == frozenset()
    machine.usual = [ref("a", updated=2)]
    heard = Heard(discovery.live_changed)
    discovery.refresh()
    assert heard.said == [frozenset({str(ref("a").directory)})]
    qtbot.waitUntil(lambda: len(heard.said) == 2)
    assert heard.said[1] == frozenset()


def test_empty_roots_are_watched_too(settings):
    discovery, _ = make(Machine(), settings)
    discovery.refresh()
    assert discovery.roots == (Path("/usual"),)


def test_a_directory_that_no_system_can_have_is_gone(settings, tmp_path):
    """An index may name a task by thousands of digits."""
    machine = Machine()
    machine.folders[str(tmp_path)] = (ref("given", directory=tmp_path / ("9" * 5_000)),)
    discovery, _ = make(machine, settings)
    discovery.open_path(tmp_path)
    assert [task.task_id for task in discovery.tasks] == ["given"]
    machine.folders.clear()
    discovery.refresh()
    assert not discovery.searching
    assert discovery.tasks == ()
    for strange in ("\0", "9" * 5_000, "\ud800"):
        assert not exists(tmp_path / strange)
        assert not is_dir(tmp_path / strange)
    assert is_dir(tmp_path)
    assert exists(tmp_path)
