"""Files whose numbers nobody can have counted: every pane still shows something, and nothing stops the window."""

from __future__ import annotations

import json
import shutil

import pytest

from ctxviewer import resources
from ctxviewer.domain.view import TextMode

LOGIN = "1770537600000"
PANELS = ("details", "difference", "losses", "tokens", "lab", "events", "checkpoints", "findings")
VALUES = (1e308, -1e308, 10**400, -(2**63), 0.5, "9" * 5_000, None, [], {"a": 1})


def in_usage(value, entries, _item):
    for entry in entries:
        if entry.get("say") == "api_req_started":
            payload = json.loads(entry["text"])
            entry["text"] = json.dumps({key: value if key != "request" else words for key, words in payload.items()})


def in_times(value, entries, _item):
    for entry in entries:
        entry["ts"] = value


def in_numbers(value, entries, _item):
    for entry in entries:
        entry.update(dict.fromkeys(("conversationHistoryIndex", "conversationHistoryDeletedRange"), value))


def in_index(value, _entries, item):
    item.update({key: value for key in item if key != "id"})


def in_names(value, _entries, item):
    item["id"] = value


@pytest.mark.parametrize("put", [in_usage, in_times, in_numbers, in_index, in_names])
def test_a_task_of_absurd_values_can_be_looked_at(make_desk, tmp_path, qapp, put):
    desk = make_desk()
    for number, value in enumerate(VALUES):
        root = tmp_path / str(number)
        folder = root / "tasks" / LOGIN
        shutil.copytree(resources.path("samples", "tasks", LOGIN), folder)
        (root / "state").mkdir()
        index = json.loads(resources.path("samples", "state", "taskHistory.json").read_text("utf-8"))
        item = next(one for one in index if one["id"] == LOGIN)
        timeline = folder / "ui_messages.json"
        entries = json.loads(timeline.read_text("utf-8"))
        put(value, entries, item)
        timeline.write_text(json.dumps(entries), "utf-8")
        (root / "state" / "taskHistory.json").write_text(json.dumps([item]), "utf-8")
        desk.handlers.open_path(root)
        desk.handlers.open_path(folder)
        qapp.processEvents()
        assert desk.session.snapshot.task.directory == folder
        requests = len(desk.session.timeline.requests)
        assert requests > 10
        for place, panel in enumerate(PANELS):
            desk.session.select_request((None, 0, requests - 1)[place % 3])
            desk.session.select_message(place)
            desk.session.set_text_mode(tuple(TextMode)[place % len(TextMode)])
            desk.window.show_panel(panel)
            qapp.processEvents()
        desk.actions.actions["act.decide"].trigger()
        qapp.processEvents()
        assert not desk.window.grab().isNull()
        desk.discovery.refresh()
        assert not desk.discovery.searching
