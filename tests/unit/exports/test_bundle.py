"""A bug report shows the same event, and no word of the task."""

import json
import random
import re
import zipfile
from pathlib import Path

import pytest

from ctxviewer import resources
from ctxviewer.domain.errors import CtxError, RefusedError
from ctxviewer.engine.events import EventKind
from ctxviewer.engine.explain import explain
from ctxviewer.engine.timeline import Timeline
from ctxviewer.exports.bundle import likeness, make_bundle
from ctxviewer.exports.files import write_bundle, write_export
from ctxviewer.exports.secrets import Mask
from ctxviewer.sources import registry
from helpers.cline_disk import SHARED, Disk, ask, assistant, say, started, user
from helpers.past_tasks import Step, past
from helpers.secret_shapes import SHAPES

DATA = Path(__file__).parents[2] / "data" / "tasks" / "cline"
ROOTS = [resources.path("samples"), DATA, *([SHARED / "cline"] if SHARED.is_dir() else [])]


def tasks():
    seen = set()
    for root in ROOTS:
        for ref in registry.open_path(root):
            if ref.task_id not in seen:
                seen.add(ref.task_id)
                yield pytest.param(ref, id=ref.task_id)


def opened(bundle, folder):
    """The bundle, written and read like any other task."""
    write_bundle(folder, bundle, outside=Path("/nowhere"))
    return Timeline(registry.read(next(ref for ref in registry.open_path(folder) if ref.task_id == bundle.task_id)))


def numbers(timeline, number, window=None):
    """What an explanation says in numbers, without the words of a provider's error."""
    found = explain(timeline, number, window)
    facts = (found.compared, found.compared_request, found.window, found.limit, found.saved_share)
    told = [
        re.findall(r"\d[\d,.]*", one)
        for one in found.sentences
        if "refused the request" not in one and "failed:" not in one
    ]
    return facts, told, len(found.doubts)


@pytest.mark.parametrize("ref", list(tasks()))
def test_the_bundle_of_every_event_shows_the_same_event(ref, tmp_path):
    original = Timeline(registry.read(ref))
    events = original.events
    if not events:
        with pytest.raises(CtxError, match="no event 1"):
            make_bundle(original, 0, b"k", Mask())
        return
    for number in {0, len(events) - 1, *range(0, len(events), 3)}:
        event = events[number]
        bundle = make_bundle(original, number, b"k", Mask())
        assert bundle.complete
        again = opened(bundle, tmp_path / str(number))
        (same,) = [one for one in again.events if likeness(one) == likeness(event)]
        assert same.sentence == event.sentence
        assert [len(update.text) for update in same.updates] == [len(update.text) for update in event.updates]
        if event.request is None:
            continue
        shown, recorded = again.projection(event.request), original.projection(event.request)
        assert (shown.until, shown.resume, sorted(shown.updates), shown.repairs) == (
            recorded.until, recorded.resume, sorted(recorded.updates), recorded.repairs,
        )  # fmt: skip
        window = original.snapshot.model.window
        assert numbers(again, event.request, window) == numbers(original, event.request, window)
        assert len(again.requests) <= event.request + 2


WORDS = [f"zq{left}{right}xv" for left in "bcdfghjklm" for right in "aeiouy"]


@pytest.fixture
def leaky(tmp_path):
    """A task with a telling word, used once, in every place that holds text."""
    words = iter(WORDS)

    def word():
        return next(words)

    disk = Disk(tmp_path / "task")
    secret = SHAPES["Anthropic key"](random.Random(1))[0]
    body = f"{word()} {secret} " + "filler " * 400
    disk.api(
        [
            user(
                f"<task>\n{word()} in {word()}.py\n</task>", f"<environment_details>\n{word()}\n</environment_details>"
            ),
            {**assistant(word()), "modelInfo": {"modelId": "m", "providerId": "p", "owner": word()}, "extra": word()},
            user(f"[read_file for 'src/{word()}.py'] Result:\n{body}", f"[{word()} for '{word()}'] Result:"),
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": word(), "signature": word()},
                    {"type": "tool_use", "id": "t1", "name": word(), "input": {"path": word(), word(): [word()]}},
                    {"type": "strange", "field": word()},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": word()}]},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": word() * 4}},
                    {"type": "image", "source": {"type": "url", "url": f"https://{word()}.test/{word()}"}},
                    {"type": "document", "title": word(), "source": {"type": "text", "data": word()}},
                ],
            },
            assistant(f"<write_to_file><path>{word()}</path><content>{word()}</content></write_to_file>"),
            user(f"later {word()}"),
        ]
    )
    deleted = [2, 3]
    disk.ui(
        [
            say(1_000, "task", word(), last=-1),
            started(2_000, last=-1, request=word()),
            say(3_000, "text", word(), last=0, reasoning=word(), images=[word()], files=[word()]),
            say(3_500, "tool", json.dumps({"tool": "readFile", "path": word(), "content": word()}), last=1),
            started(
                4_000, last=1, streamingFailedMessage=f"context {word()} exceeded", cancelReason="streaming_failed"
            ),
            ask(4_500, "api_req_failed", f"400 {word()}", last=2),
            say(5_000, "text", word(), last=2),
            started(6_000, last=3, deleted=deleted),
            say(7_000, "text", word(), last=4, deleted=deleted, lastCheckpointHash="abcdef0123"),
            say(8_000, "user_feedback", word(), last=5, deleted=deleted),
            started(9_000, last=5, deleted=deleted, request=word()),
        ]
    )
    disk.updates(
        [
            [1, [0, [[0, [[4_600, "text", [f"[NOTE] {word()}"], []]]]]]],
            [2, [4, [[0, [[100, "text", [word()], [[word()], [word()]]]]]]]],
        ]
    )
    disk.write("task_metadata.json", {"files_in_context": [{"path": word()}], "environment_history": [{"host_name": word()}],
                                      "model_usage": [{"ts": 1, "model_id": "m", "model_provider_id": "p", "mode": "act", "who": word()}]})  # fmt: skip
    disk.index(
        disk.item(task=word(), cwdOnTaskInitialization=f"/home/{word()}", conversationHistoryDeletedRange=deleted)
    )
    return Timeline(disk.read())


def test_no_word_of_the_task_gets_into_any_file(leaky, tmp_path):
    assert {event.kind for event in leaky.events} >= {EventKind.OPTIMIZE, EventKind.FORCED_TRUNCATE}
    for number in range(len(leaky.events)):
        mask = Mask()
        bundle = make_bundle(leaky, number, b"key", mask)
        assert bundle.complete
        everything = b"\n".join(file.content for file in bundle.files).decode()
        assert [word for word in WORDS if word in everything.lower()] == []
        assert "sk-ant" not in everything
        assert mask.count
        assert likeness(leaky.events[number]) in {
            likeness(one) for one in opened(bundle, tmp_path / str(number)).events
        }


def test_what_came_after_the_event_is_cut_off(leaky):
    first = make_bundle(leaky, 0, b"key", Mask())
    messages = json.loads(
        next(file.content for file in first.files if file.name.endswith("api_conversation_history.json"))
    )
    assert len(messages) < 7
    assert first.shown.messages == (len(messages), 7)


def test_the_texts_of_the_bundle_say_what_it_shows():
    task = Timeline(registry.read(registry.open_path(resources.path("samples", "tasks", "1770537600000"))[0]))
    bundle = make_bundle(task, 1, b"key", Mask())
    files = {file.name: file.content.decode() for file in bundle.files}
    assert set(files) == {
        "README.md", "event.json", "state/taskHistory.json",
        *(f"tasks/1770537600000/{name}" for name in ("api_conversation_history.json", "ui_messages.json", "context_history.json", "task_metadata.json")),
    }  # fmt: skip
    assert "Truncated (half): messages 2–17 are no longer sent" in files["README.md"]
    assert "--request 18" in files["README.md"]
    assert "37,217" in files["README.md"]
    facts = json.loads(files["event.json"])
    assert (facts["event"]["range_after"], facts["why"]["compared"]) == ([2, 17], 37_217)
    assert bundle.size == sum(len(file.content) for file in bundle.files)


def readme(timeline):
    return next(
        file.content.decode() for file in make_bundle(timeline, 0, b"key", Mask()).files if "README" in file.name
    )


@pytest.mark.parametrize(("model", "told"), [("m", False), ("", False), ("other", True)])
def test_a_task_that_went_on_with_another_model_says_with_which_window_to_look(model, told):
    talk = [(user, assistant)[number % 2](f"words {number}") for number in range(12)]
    text = readme(past(talk, [Step(9, total=161_000), Step(11, cut=(2, 5), model=model)]))
    assert ("The task went on with another model." in text) is told
    assert ("`--window 200000`" in text) is told
    assert "set by hand" not in text
    assert "missing already" not in text


def test_equal_keys_give_equal_bundles_and_archives(leaky, tmp_path):
    one, other = (make_bundle(leaky, 0, b"key", Mask()) for _ in range(2))
    assert one.files == other.files
    assert make_bundle(leaky, 0, b"else", Mask()).files != one.files
    for name in ("a.zip", "b.zip"):
        write_bundle(tmp_path / name, one, outside=Path("/nowhere"))
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            file.name: file.content for file in one.files
        }


def test_nothing_is_written_into_a_task_or_over_a_file(leaky, tmp_path):
    bundle = make_bundle(leaky, 0, b"key", Mask())
    task = Path(leaky.snapshot.task.directory)
    full = tmp_path / "full"
    full.mkdir()
    (full / "x").write_text("x", encoding="utf-8")
    for path, words in (
        (task / "out", "inside"),
        (task / "out.zip", "inside"),
        (task, "inside"),
        (full, "no empty folder"),
        (full / "x", "no empty folder"),
        (tmp_path / "none" / "out", "no folder"),
    ):
        with pytest.raises(RefusedError, match=words):
            write_bundle(path, bundle, outside=task)
    for path, words in ((task / "a.html", "inside"), (full, "is a folder"), (full / "x", "exists already")):
        with pytest.raises(RefusedError, match=words):
            write_export(path, ["text"], outside=task)
    assert write_export(full / "x", ["new \ud83d"], outside=task, replace=True) == 10
    assert (full / "x").read_bytes() == b"new \\ud83d"
    assert sorted(one.name for one in full.iterdir()) == ["x"]


def test_a_failed_write_leaves_what_was_there(leaky, tmp_path):
    path = tmp_path / "x.html"
    path.write_text("old", encoding="utf-8")

    def broken():
        yield "part"
        raise CtxError("stop")

    with pytest.raises(CtxError, match="stop"):
        write_export(path, broken(), outside=Path("/nowhere"), replace=True)
    assert path.read_text(encoding="utf-8") == "old"
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".x")] == []
