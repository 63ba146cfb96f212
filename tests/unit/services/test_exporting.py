"""Exports go where the user says, never into a task, masked unless told otherwise, and can be stopped."""

import json
import zipfile
from dataclasses import replace

import pytest

from ctxviewer.domain.errors import RefusedError
from ctxviewer.services.exporting import Exporting, Format, Order
from ctxviewer.sources import registry
from helpers.asking import Bench, WordCounter
from helpers.snapshots import Heard
from helpers.working_agent import WorkingAgent

HUSH = "ghp_" + "abcdefghijklmnopqrstuvwxyz" + "0123456789"


@pytest.fixture(autouse=True)
def words_are_tokens(monkeypatch):
    monkeypatch.setattr("ctxviewer.tokens.load_counter", lambda _encoding: WordCounter())


@pytest.fixture
def agent(tmp_path):
    made = WorkingAgent(tmp_path / "root")
    for number in range(8):
        made.turn(f"step {number} with {HUSH}", read="src/a.py", body=f"line {number % 3}\n" * 40, tokens=9_000)
    made.deleted = [2, 5]
    made.turn("after the cut", tokens=4_000)
    made.write()
    return made


class Desk:
    def __init__(self, agent, *, held=False):
        self.snapshot = registry.read(agent.ref)
        self.bench = Bench(self.snapshot, held=held)
        self.bench.session.open_task(self.snapshot.task)
        self.bench.run()
        bench = self.bench
        self.exporting = Exporting(bench.runner, bench.session, bench.knowledge, bench.counting)
        self.done, self.failed = Heard(self.exporting.finished), Heard(self.exporting.failed)
        self.progress = Heard(self.exporting.progressed)

    def write(self, form, target, **more):
        self.exporting.start(Order(form, target, **more))
        self.bench.run()
        return target


@pytest.fixture
def desk(qapp, agent):
    return Desk(agent)


@pytest.mark.parametrize("form", [Format.HTML, Format.MARKDOWN, Format.JSON])
@pytest.mark.parametrize("request_", [None, 3])
def test_texts_are_written_and_masked(desk, tmp_path, form, request_):
    target = desk.write(form, tmp_path / "out", request=request_)
    text = target.read_text("utf-8")
    assert "step 2" in text
    assert HUSH not in text
    assert "masked: " in text
    exported = desk.done.said[0]
    assert exported.size == target.stat().st_size
    assert "masked: GitHub token" in exported.sentence
    assert exported.sentence.startswith(f"Wrote {exported.size:,} bytes to out.")


def test_secrets_stay_only_if_the_user_says_so(desk, tmp_path):
    target = desk.write(Format.MARKDOWN, tmp_path / "out.md", mask=False)
    assert HUSH in target.read_text("utf-8")
    assert "not looked for" in desk.done.said[0].masked


def test_usage_has_a_row_a_request_with_what_was_counted(desk, tmp_path):
    target = desk.write(Format.USAGE, tmp_path / "usage.csv")
    head, *rows = target.read_text("utf-8").splitlines()
    assert len(rows) == desk.bench.session.request_count
    assert rows[0].split(",")[head.split(",").index("estimated")].isdigit()


def test_a_bug_report_opens_as_a_task_with_the_same_event(desk, tmp_path):
    target = desk.write(Format.BUNDLE, tmp_path / "bug.zip", event=len(desk.bench.session.timeline.events) - 1)
    assert "Every word was replaced" in desk.done.said[0].sentence
    with zipfile.ZipFile(target) as archive:
        archive.extractall(tmp_path / "opened")
    assert HUSH not in "".join(path.read_text("utf-8") for path in (tmp_path / "opened").rglob("*.json"))
    from ctxviewer.engine.timeline import Timeline

    opened = Timeline(registry.read(registry.open_path(tmp_path / "opened")[0]))
    wanted = desk.bench.session.timeline.events[-1]
    assert [(event.kind, event.range_after) for event in opened.events][-1] == (wanted.kind, wanted.range_after)


def test_a_picture_is_written_as_it_is(desk, tmp_path):
    target = desk.write(Format.GRAPH, tmp_path / "graph.png", picture=b"\x89PNG picture")
    assert target.read_bytes() == b"\x89PNG picture"
    assert desk.done.said[0].sentence == "Wrote 12 bytes to graph.png."


@pytest.mark.parametrize("place", ["own", "other"])
def test_nothing_goes_into_the_folder_of_a_task(desk, agent, place):
    folder = agent.directory if place == "own" else agent.directory.parent / "17"
    folder.mkdir(exist_ok=True)
    before = sorted(path.name for path in folder.iterdir())
    for form in Format:
        desk.write(form, folder / f"out.{form}", event=0)
    assert len(desk.failed.said) == len(Format)
    assert all(isinstance(error, RefusedError) for error in desk.failed.said)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_file_that_exists_is_kept_unless_the_user_agreed(desk, tmp_path):
    target = tmp_path / "out.json"
    target.write_text("mine")
    desk.write(Format.JSON, target)
    assert target.read_text() == "mine"
    assert "exists already" in desk.failed.said[0].sentence
    desk.write(Format.JSON, target, replace=True)
    assert json.loads(target.read_text("utf-8"))["messages_as_sent"]


def test_stopping_leaves_nothing_behind(qapp, agent, tmp_path):
    desk = Desk(agent, held=True)
    desk.exporting.start(Order(Format.HTML, tmp_path / "out.html"))
    assert desk.exporting.working
    desk.exporting.cancel()
    desk.bench.run()
    assert not desk.exporting.working
    assert list(tmp_path.glob("*out.html*")) == []
    assert desk.done.said == desk.failed.said == []


def test_without_a_task_nothing_is_exported(desk, tmp_path):
    desk.bench.session.close_task()
    desk.write(Format.HTML, tmp_path / "out.html")
    assert desk.failed.said[0].sentence == "There is no task to export."


def test_a_task_without_messages_still_has_its_usage(qapp, agent, tmp_path):
    desk = Desk(agent)
    desk.bench.show(replace(desk.snapshot, has_messages=False, files=()))
    desk.write(Format.HTML, tmp_path / "out.html")
    assert "missing" in desk.failed.said[0].sentence
    assert (tmp_path / "out.html").exists() is False
    assert desk.write(Format.USAGE, tmp_path / "out.csv").exists()
