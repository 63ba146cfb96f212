"""Every place where an agent may keep tasks, on every system, without asking the running one."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path

import pytest

from ctxviewer.domain.errors import CtxError, UnreadableTaskError
from ctxviewer.domain.snapshot import Agent
from ctxviewer.sources import discover, registry
from ctxviewer.sources.discover import find_tasks, known_roots, look_around
from ctxviewer.sources.places import Places
from helpers.cline_disk import DATA, SHARED, Disk, turns

EXTENSION = "saoudrizwan.claude-dev"


def places(home, platform="linux", **environment):
    return Places(home, environment, platform)


def task(root, task_id="1747000000000"):
    disk = Disk(root, task_id)
    disk.api(turns(2))
    return disk


def hosts(where):
    return {root.host: root.path for root in known_roots(where)}


@pytest.mark.parametrize("app", ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Trae", "Some New Fork"])
@pytest.mark.parametrize(
    ("platform", "base"),
    [
        ("linux", ".config"),
        ("darwin", "Library/Application Support"),
        ("win32", "AppData/Roaming"),
        ("linux", ".var/app/com.example.App/config"),
    ],
)
def test_editors_on_each_system(tmp_path, app, platform, base):
    root = tmp_path / base / app / "User" / "globalStorage" / EXTENSION
    task(root)
    assert hosts(places(tmp_path, platform)) == {app: root}


@pytest.mark.parametrize(
    ("folder", "host"),
    [
        (".vscode-server/data", "Code (remote)"),
        (".vscode-server-insiders/data", "Code - Insiders (remote)"),
        (".vscode-remote/data", "Code (remote)"),
        (".cursor-server/data", "Cursor (remote)"),
        (".windsurf-server/data", "Windsurf (remote)"),
        (".vscodium-server/data", "VSCodium (remote)"),
        (".newfork-server/data", "newfork-server (remote)"),
        (".local/share/code-server", "code-server"),
    ],
)
def test_remote_hosts(tmp_path, folder, host):
    root = tmp_path / folder / "User" / "globalStorage" / EXTENSION
    task(root)
    assert hosts(places(tmp_path)) == {host: root}


def test_the_environment_moves_folders(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    config = tmp_path / "config" / "Code" / "User" / "globalStorage" / EXTENSION
    data = tmp_path / "data" / "code-server" / "User" / "globalStorage" / EXTENSION
    portable = tmp_path / "portable" / "user-data" / "User" / "globalStorage" / EXTENSION
    roaming = tmp_path / "roaming" / "Cursor" / "User" / "globalStorage" / EXTENSION
    alone = tmp_path / "cline" / "data"
    for root in (config, data, portable, roaming, alone):
        task(root)
    linux = {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "VSCODE_PORTABLE": str(tmp_path / "portable"),
        "CLINE_DIR": str(tmp_path / "cline"),
    }
    assert hosts(places(home, **linux)) == {
        "Code": config,
        "code-server": data,
        "portable Code": portable,
        "standalone": alone,
    }
    assert hosts(places(home, "win32", APPDATA=str(tmp_path / "roaming"))) == {"Cursor": roaming}


def test_the_standalone_program(tmp_path):
    task(tmp_path / ".cline" / "data")
    assert hosts(places(tmp_path)) == {"standalone": tmp_path / ".cline" / "data"}


def test_settings_without_tasks_are_no_root(tmp_path):
    (tmp_path / ".cline" / "data").mkdir(parents=True)
    (tmp_path / ".cline" / "data" / "globalState.json").write_text("{}")
    assert known_roots(places(tmp_path)) == ()


def test_the_extension_folder_in_other_letters(tmp_path):
    root = tmp_path / ".config" / "Code" / "User" / "globalStorage" / "SaoudRizwan.claude-dev"
    task(root)
    assert hosts(places(tmp_path)) == {"Code": root}


def test_nothing_anywhere(tmp_path):
    assert find_tasks(places=places(tmp_path / "no home")) == ()


def test_tasks_of_all_roots_newest_first_with_their_hosts(tmp_path):
    task(tmp_path / ".config" / "Code" / "User" / "globalStorage" / EXTENSION, "1747000000001")
    task(tmp_path / ".cline" / "data", "1747000000003")
    extra = task(tmp_path / "extra", "1747000000002")
    for folder, moment in ((tmp_path / ".cline", 3), (extra.root, 2)):
        for path in folder.rglob("api*.json"):
            os.utime(path, (1_747_000_000 + moment, 1_747_000_000 + moment))
    found = look_around([extra.root], places=places(tmp_path))
    assert [(ref.task_id, ref.host) for ref in found.tasks] == [
        ("1747000000003", "standalone"),
        ("1747000000002", ""),
        ("1747000000001", "Code"),
    ]
    assert {root.path for root in found.roots} == {
        tmp_path / ".config" / "Code" / "User" / "globalStorage" / EXTENSION,
        tmp_path / ".cline" / "data",
        extra.root,
    }
    assert found.findings == ()


def test_a_folder_given_twice_or_known_anyway_counts_once(tmp_path):
    disk = task(tmp_path / ".cline" / "data")
    link = tmp_path / "link"
    link.symlink_to(disk.root)
    found = look_around([disk.root, str(disk.dir), link], places=places(tmp_path))
    assert len(found.tasks) == 1
    assert len(found.roots) == 1


def test_what_cannot_be_read_is_told_and_the_rest_is_there(tmp_path, monkeypatch):
    good = task(tmp_path / ".cline" / "data")
    bad = task(tmp_path / ".config" / "Code" / "User" / "globalStorage" / EXTENSION)
    adapter = registry.AGENTS[0]

    def list_root(root, host):
        if root == bad.root:
            raise UnreadableTaskError("no rights", hint="ask", place=str(root))
        return adapter.list_root(root, host)

    monkeypatch.setattr(registry, "AGENTS", (dataclasses.replace(adapter, list_root=list_root),))
    found = discover.look_around([tmp_path / "gone"], places=places(tmp_path))
    assert [ref.directory for ref in found.tasks] == [good.dir]
    assert [(one.code, one.file) for one in found.findings] == [
        ("root-unreadable", str(bad.root)),
        ("root-unreadable", str(tmp_path / "gone")),
    ]


def test_one_row_for_each_agent():
    assert [adapter.agent for adapter in registry.AGENTS] == list(Agent)


class TestOpenPath:
    @pytest.fixture
    def root(self, tmp_path):
        shutil.copytree(DATA / "cline", tmp_path / "cline")
        return tmp_path / "cline"

    def ids(self, path):
        return sorted(ref.task_id for ref in registry.open_path(path))

    def test_a_task_a_file_in_it_and_a_relative_path(self, root, monkeypatch):
        folder = root / "tasks" / "1747237824899"
        for path in (folder, folder / "ui_messages.json", str(folder / "task_metadata.json")):
            (ref,) = registry.open_path(path)
            assert (ref.directory, ref.root, ref.in_index) == (folder, root, True)
        monkeypatch.chdir(folder)
        assert self.ids(".") == ["1747237824899"]

    def test_a_root_its_tasks_its_index_and_folders_above(self, root):
        everything = sorted(path.name for path in (root / "tasks").iterdir())
        assert len(everything) == 5
        for path in (root, root / "tasks", root / "state" / "taskHistory.json", root.parent):
            assert self.ids(path) == everything

    def test_tasks_of_several_roots_below_a_folder(self, tmp_path):
        first = task(tmp_path / "a" / "b" / "one", "1747000000001")
        second = task(tmp_path / "two", "1747000000002")
        assert self.ids(tmp_path) == [first.task_id, second.task_id]

    def test_loose_task_folders(self, tmp_path):
        for name in ("1747000000001", "1747000000002"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "api_conversation_history.json").write_text("[]")
        assert self.ids(tmp_path) == ["1747000000001", "1747000000002"]

    def test_an_editors_folder_and_the_folder_of_the_standalone_program(self, tmp_path):
        task(tmp_path / "Code" / "User" / "globalStorage" / EXTENSION)
        alone = task(tmp_path / ".cline" / "data", "1747000000009")
        assert self.ids(tmp_path / "Code") == ["1747000000000"]
        assert self.ids(tmp_path / ".cline") == [alone.task_id]

    def test_a_cut_or_empty_file_in_a_folder_with_a_number_is_a_task(self, tmp_path):
        folder = tmp_path / "1747000000001"
        folder.mkdir()
        (folder / "ui_messages.json").touch()
        assert self.ids(folder) == ["1747000000001"]

    def test_links_that_lead_in_circles_end(self, tmp_path):
        disk = task(tmp_path / "root")
        (tmp_path / "circle").symlink_to(tmp_path)
        assert self.ids(tmp_path) == [disk.task_id]

    @pytest.mark.parametrize(
        ("files", "words"),
        [
            ({}, "No task was found"),
            ({"notes.txt": "hi"}, "No task was found"),
            ({"ui_messages.json": "no_comeback = {\n"}, "ui_messages.json in it was not written by Cline"),
            ({"api_conversation_history.json": "{}"}, "was not written by Cline"),
            ({"rollout-1.jsonl": "{}"}, "looks like a Codex session"),
            ({"a.messages.json": "{}", "a.json": "{}"}, "looks like a session of Cline 4.1 or later"),
            ({"session-1.json": "{}"}, "looks like a Gemini session"),
            ({"opencode.db": ""}, "looks like a database of Kilo Code or opencode"),
            ({"x.jsonl": ""}, "looks like a transcript of another agent"),
            ({"history_item.json": "{}", "api_conversation_history.json": "[]"}, "Roo Code or Kilo Code"),
        ],
    )
    def test_foreign_folders_are_refused_with_the_reason(self, tmp_path, files, words):
        folder = tmp_path / "folder"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_text(content)
        with pytest.raises(CtxError) as caught:
            registry.open_path(folder)
        assert words in caught.value.sentence
        assert caught.value.hint
        assert caught.value.place == str(folder)

    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("ui_messages.json", "no_comeback = {\n", "was not written by Cline"),
            ("taskHistory.json", '[{"register":"x","gap1":0}]', "not Cline's list of tasks"),
            ("taskHistory.json", "x", "not Cline's list of tasks"),
            ("taskHistory.json", "[]", "lists no task"),
            ("photo.png", "x", "not a file of a task"),
            ("rollout-1.jsonl", "{}", "looks like a Codex session"),
        ],
    )
    def test_foreign_files_are_refused_with_the_reason(self, tmp_path, name, content, words):
        (tmp_path / name).write_text(content)
        with pytest.raises(CtxError) as caught:
            registry.open_path(tmp_path / name)
        assert words in caught.value.sentence

    def test_what_is_not_there(self, tmp_path):
        with pytest.raises(CtxError, match="There is no file or folder"):
            registry.open_path(tmp_path / "none")

    def test_a_root_without_tasks(self, tmp_path):
        (tmp_path / "state").mkdir()
        (tmp_path / "state" / "taskHistory.json").write_text("[]")
        with pytest.raises(CtxError, match="without tasks"):
            registry.open_path(tmp_path)

    def test_a_search_that_is_too_wide_says_so(self, tmp_path, monkeypatch):
        monkeypatch.setattr(registry, "MOST_FOLDERS", 3)
        for name in "abcdef":
            (tmp_path / name).mkdir()
        with pytest.raises(CtxError) as caught:
            registry.open_path(tmp_path)
        assert "Only 3 folders were searched" in caught.value.hint

    def test_a_search_that_found_something_and_was_not_ended_says_so(self, tmp_path, monkeypatch):
        task(tmp_path / "a")
        monkeypatch.setattr(registry, "MOST_FOLDERS", 3)
        for name in "bcdef":
            (tmp_path / name).mkdir()
        said = []
        assert registry.open_path(tmp_path, said.append)
        (finding,) = said
        assert (finding.code, finding.file) == ("search-too-wide", str(tmp_path))
        assert "the first 3 were" in finding.sentence
        looked = discover.look_around([tmp_path], places=places(tmp_path / "home"))
        assert finding in looked.findings
        said.clear()
        monkeypatch.setattr(registry, "MOST_FOLDERS", 4_000)
        assert registry.open_path(tmp_path, said.append)
        assert said == []

    def test_a_folder_without_rights(self, tmp_path, monkeypatch):
        def listdir(path):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("ctxviewer.sources.cline.layout.os.listdir", listdir)
        with pytest.raises(CtxError, match="Permission denied"):
            registry.open_path(tmp_path)

    @pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded tasks are not beside the project")
    def test_recorded_foreign_files(self):
        assert len(registry.open_path(SHARED)) == 17
        for name in (
            "foreign",
            "foreign/shop/taskHistory.json",
            "foreign/game/ui_messages.json",
            "foreign/game",
            "codex",
        ):
            with pytest.raises(CtxError):
                registry.open_path(SHARED / name)
        for name in ("roo", "claude-code", "cline-sdk", "sage"):
            with pytest.raises(CtxError, match="does not read"):
                registry.open_path(Path(SHARED) / name)
