"""The sample tasks: made anew they are the same bytes, and each still tells its story."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ctxviewer import resources
from ctxviewer.domain.ranges import parse_range
from ctxviewer.engine.cline.notices import DUPLICATE_FILE_READ, FIRST_USER_MESSAGE
from ctxviewer.engine.cline.project import project
from ctxviewer.engine.cline.updates import ContextHistory

PROJECT = Path(__file__).resolve().parents[3]
LOGIN, IMPORTER, NIGHTLY, VITE = "1770537600000", "1749024000000", "1769241600000", "1762430400000"
RULE = "do not touch SESSION_TTL"


def _files(root: Path) -> dict[str, bytes]:
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def _load(task: str, name: str):
    return json.loads(resources.read_bytes("samples", "tasks", task, name))


def _history(task: str) -> ContextHistory:
    return ContextHistory.parse(resources.read_text("samples", "tasks", task, "context_history.json"))


@pytest.fixture(scope="module")
def index() -> dict[str, dict]:
    return {item["id"]: item for item in json.loads(resources.read_bytes("samples", "state", "taskHistory.json"))}


def test_made_anew_the_samples_are_the_same_bytes(tmp_path):
    script = PROJECT / "scripts" / "make_samples.py"
    subprocess.run([sys.executable, str(script), "--output", str(tmp_path / "again")], check=True)
    made, kept = _files(tmp_path / "again"), _files(resources.path("samples"))
    assert made.keys() == kept.keys()
    assert [name for name, data in made.items() if data != kept[name]] == []


def test_samples_are_small_and_invented():
    kept = _files(resources.path("samples"))
    assert sum(map(len, kept.values())) < 600_000
    words = b"".join(kept.values())
    for trace in (b"/home/", b"@gmail", b"sk-", b"api_key"):
        assert trace not in words


def test_index_lists_every_task_with_its_range_and_size(index):
    assert set(index) == {folder.name for folder in resources.path("samples", "tasks").iterdir()}
    assert index[LOGIN]["conversationHistoryDeletedRange"] == [2, 17]
    assert index[NIGHTLY]["conversationHistoryDeletedRange"] == [2, 25]
    assert "conversationHistoryDeletedRange" not in index[IMPORTER]
    for task, item in index.items():
        folder = resources.path("samples", "tasks", task)
        assert item["size"] == sum(file.stat().st_size for file in folder.iterdir())
    assert max(index, key=lambda task: index[task]["ts"]) == LOGIN, "the newest is shown first"


def test_login_the_rule_is_stored_but_no_longer_sent(index):
    messages = _load(LOGIN, "api_conversation_history.json")
    assert 30 <= len(messages) <= 60
    (holding,) = [number for number, message in enumerate(messages) if RULE in json.dumps(message)]
    assert 2 <= holding <= 17
    sent = project(messages, _range(index[LOGIN]), _history(LOGIN)).messages
    assert RULE not in json.dumps(sent)
    assert "Why did you forget that?" in json.dumps(sent)
    assert sum(DUPLICATE_FILE_READ in json.dumps(message) for message in sent) == 1, "one older read is still replaced"


def test_login_was_cut_because_the_reported_total_reached_the_limit():
    entries = _load(LOGIN, "ui_messages.json")
    ranges = [entry.get("conversationHistoryDeletedRange") for entry in entries]
    first = next(number for number, value in enumerate(ranges) if value)
    requests = [json.loads(entry["text"]) for entry in entries[:first] if entry.get("say") == "api_req_started"]
    *_, before, cut = [
        sum(request[name] for name in ("tokensIn", "tokensOut", "cacheWrites", "cacheReads")) for request in requests
    ]
    assert 37_000 <= before < 64_000
    assert cut < before - 5_000


def test_importer_was_saved_by_replacing_older_reads(index):
    messages = _load(IMPORTER, "api_conversation_history.json")
    history = _history(IMPORTER)
    reads = [update for update in history.updates() if update.edit_type == 2]
    assert len(reads) == 5
    assert len({update.timestamp for update in reads}) == 1
    sent = project(messages, None, history).messages
    assert len(sent) == len(messages)
    assert len(json.dumps(sent)) < 0.7 * len(json.dumps(messages))


def test_nightly_goes_on_from_the_summary(index):
    messages = _load(NIGHTLY, "api_conversation_history.json")
    sent = project(messages, _range(index[NIGHTLY]), _history(NIGHTLY))
    assert FIRST_USER_MESSAGE in json.dumps(sent.messages[0])
    assert "report.plan:<day>" in json.dumps(sent.messages[3])
    assert "result missing" in json.dumps(sent.messages[2]), "the call in message 1 lost its result"


def test_vite_is_damaged_as_a_crash_leaves_it():
    with pytest.raises(json.JSONDecodeError, match="Unterminated string"):
        _load(VITE, "ui_messages.json")
    with pytest.raises(json.JSONDecodeError):
        _load(VITE, "context_history.json")
    raw = resources.read_bytes("samples", "tasks", VITE, "api_conversation_history.json")
    assert b"\\ud83d" in raw
    assert len(json.loads(raw)) == 28
    assert [file.name for file in resources.path("samples", "tasks", VITE).glob("*.tmp.*")]


def _range(item: dict):
    return parse_range(item["conversationHistoryDeletedRange"])
