"""Every row has a handler; handlers ask the services and the front, and nobody else."""

from functools import partial
from pathlib import Path

import pytest

from ctxviewer.actions.catalogue import CATALOGUE
from ctxviewer.actions.handlers import Handlers
from ctxviewer.services.changes import Changes
from ctxviewer.services.discovery import Discovery
from ctxviewer.services.notices import Notices
from ctxviewer.services.session import Session
from ctxviewer.services.settings import SCALE, THEME, Settings
from ctxviewer.sources.discover import Found
from helpers.snapshots import FakeDisk, inline_runner, ref, snapshot


class Front:
    """Notes what it is asked."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return partial(self._note, name)

    def _note(self, name, *what, **how):
        self.asked.append((name, *what, *how.values()))
        return False


class Desk:
    def __init__(self, tmp_path):
        self.front, self.notices = Front(), Notices()
        self.settings = Settings(tmp_path / "s.ini")
        runner = inline_runner()
        self.session = Session(runner, self.notices, FakeDisk(snapshot(8, 4)))
        self.changes = Changes(runner, self.session, self.notices, NoStore(), None)
        self.discovery = Discovery(
            runner, self.notices, self.settings, lambda _extra: Found((), (), ()), self.open_path
        )
        self.opened = {}
        self.handlers = Handlers(
            session=self.session,
            runner=runner,
            changes=self.changes,
            discovery=self.discovery,
            settings=self.settings,
            notices=self.notices,
            samples=lambda: Path("/samples"),
        )

    def open_path(self, path, _tell):
        return self.opened[str(path)]


class NoStore:
    def history(self, _task_dir):
        return ()


@pytest.fixture
def desk(qapp, tmp_path):
    made = Desk(tmp_path)
    made.handlers.attach(made.front)
    made.session.open_task(ref())
    return made


def test_every_row_has_a_handler_and_every_handler_a_row(desk):
    assert desk.handlers.ids == {spec.id for spec in CATALOGUE}


def test_what_is_triggered_before_the_front_is_there_runs_when_it_is(qapp, tmp_path):
    desk = Desk(tmp_path)
    desk.handlers.run("task.open")
    assert desk.front.asked == []
    desk.handlers.attach(desk.front)
    assert [name for name, *_ in desk.front.asked] == ["ask_folder"]


def test_plans_are_previewed_and_shown(desk):
    for action, title in (
        ("act.truncate-half", "Truncate to half"),
        ("act.truncate-last-two", "Truncate"),
        ("act.optimize", "Optimi"),
        ("act.decide", "agent"),
    ):
        desk.front.asked.clear()
        desk.handlers.run(action)
        assert title in desk.session.plan.title
        assert desk.front.asked == [("show_plan", desk.session.plan)]


def test_rolling_back_to_a_message_wants_a_message(desk):
    desk.handlers.run("act.rollback-message")
    assert [notice.sentence for notice in desk.notices.standing] == ["No message is chosen."]
    desk.session.select_message(3)
    desk.handlers.run("act.rollback-message")
    assert "message 3" in desk.session.plan.title


def test_escape_first_closes_then_drops_the_what_if_then_goes_live(desk):
    desk.session.select_request(1)
    desk.handlers.run("act.truncate-half")
    desk.handlers.run("request.live")
    assert (desk.session.plan, desk.session.request) == (None, 1)
    desk.handlers.run("request.live")
    assert desk.session.live


def test_zoom_goes_in_steps_and_stops_at_the_ends(desk):
    for _ in range(20):
        desk.handlers.run("view.zoom-in")
    assert desk.settings.get(SCALE) == 160
    desk.handlers.run("view.zoom-out")
    assert desk.settings.get(SCALE) == 150
    desk.handlers.run("view.zoom-reset")
    assert desk.settings.get(SCALE) == 100


def test_themes_are_settings(desk):
    desk.handlers.run("view.theme-contrast")
    assert desk.settings.get(THEME) == "high-contrast"


def test_a_folder_opens_its_newest_usable_task(desk):
    desk.opened["/f"] = (ref("broken", updated=9, problem="lost"), ref("t1", updated=1), ref("old", updated=0))
    desk.session.close_task()
    desk.handlers.open_path(Path("/f"))
    assert desk.session.task.task_id == "t1"


def test_samples_are_opened_from_their_copy(desk):
    desk.opened["/samples"] = (ref("t1"),)
    desk.session.close_task()
    desk.handlers.run("task.samples")
    assert desk.session.task.task_id == "t1"


def test_diagnostics_have_paths_and_counts_and_no_words_of_the_task(desk):
    desk.handlers.run("help.diagnostics")
    (name, text), *_ = [asked for asked in desk.front.asked if asked[0] == "copy_text"]
    assert name == "copy_text"
    assert "messages 8, entries 0, requests 4" in text
    assert "PySide6-Essentials 6." in text
    assert "words of message" not in text
    assert "task t1" not in text
