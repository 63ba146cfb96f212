"""The answer that a live task is writing, counted from a file that grows; the clock is the test's."""

import json
from dataclasses import replace

import pytest

from ctxviewer.models.status import stream_words
from ctxviewer.services.notices import Notices
from ctxviewer.services.session import Session
from ctxviewer.services.sources import read
from ctxviewer.services.streaming import SHOWN_S, STALE_S, Streaming
from helpers.snapshots import Heard, inline_runner
from helpers.working_agent import WorkingAgent


class Live:
    """A task that is open while its agent writes."""

    def __init__(self, root):
        self.agent, self.provider = WorkingAgent(root), ""
        self.agent.turn("first", tokens=1_000)
        self.agent.write()
        self.runner = inline_runner()
        self.session = Session(self.runner, Notices(), self.read)
        self.now = 0.0
        self.streaming = Streaming(self.session, lambda: self.now)
        self.heard = Heard(self.streaming.changed)

    def read(self, *words, **more):
        """The task, made with a model of `provider` where that is set."""
        found = read(*words, **more)
        return found if not self.provider else replace(found, model=replace(found.model, provider_id=self.provider))

    def open(self):
        self.session.open_task(self.agent.ref)

    def ask(self):
        """A request starts."""
        self.agent.entry("api_req_started", json.dumps({"request": "go on"}))
        self.started = self.agent.now / 1_000
        self.agent.messages.append({"role": "user", "content": [{"type": "text", "text": "go on"}]})
        self.look(0.1)

    def say(self, text, after, kind="text", first=None):
        """The answer stands so far, so many seconds after the request."""
        last = self.agent.ui[-1]
        if last.get("partial") and last.get("say") == kind:
            last["text"] = text
        else:
            if last.get("partial"):
                last["partial"] = False
            self.agent.entry(kind, text, partial=True)
            self.agent.ui[-1]["ts"] = round((self.started + (after if first is None else first)) * 1_000)
        self.look(after)

    def end(self, after):
        """The answer is complete."""
        self.agent.ui[-1]["partial"] = False
        started = next(entry for entry in reversed(self.agent.ui) if entry.get("say") == "api_req_started")
        started["text"] = json.dumps({"request": "go on", "tokensIn": 5, "tokensOut": 5, "cost": 0.1})
        self.look(after)

    def look(self, after):
        self.now = self.started + after
        self.agent.write()
        self.session.reload()

    @property
    def words(self):
        stream = self.streaming.current
        return "" if stream is None else stream_words(stream.request, stream.reading, finished=stream.finished)


@pytest.fixture
def live(qapp, tmp_path):
    made = Live(tmp_path)
    yield made
    made.streaming.close()
    made.session.close()


def test_an_answer_is_counted_while_the_file_grows(live):
    live.open()
    live.ask()
    assert live.words == "answer to request 2: 0 tokens so far, estimated · waiting for 0 s"
    live.say("12345678", 2.0, first=1.5)
    assert live.words == "answer to request 2: 2 tokens so far, estimated · 1 per second · first after 1.5 s"
    live.say("12345678" + "x" * 400, 4.0)
    assert live.words == "answer to request 2: 102 tokens so far, estimated · 26 per second · first after 1.5 s"
    live.end(5.1)
    assert live.words == "answer to request 2: 102 tokens, estimated · in 5.1 s · 20 per second · first after 1.5 s"
    assert [stream.finished for stream in live.heard.said] == [False, False, False, True]


def test_the_estimate_is_that_of_the_tasks_provider(live):
    live.provider = "Google"
    live.open()
    live.ask()
    live.say("x" * 90, 1.0)
    assert live.streaming.current.reading.output_tokens == 20


def test_thoughts_count_and_what_the_agent_makes_of_an_answer_does_not(live):
    live.open()
    live.ask()
    live.say("think" * 4, 1.0, kind="reasoning")
    live.say("word" * 4, 2.0)
    live.agent.entry("tool", json.dumps({"tool": "readFile", "content": "x" * 4_000}), partial=True)
    live.look(3.0)
    assert live.streaming.current.reading.output_tokens == 5 + 4


def test_an_answer_that_is_written_anew_counts_what_is_new(live):
    live.open()
    live.ask()
    live.say("one two three", 1.0)
    live.say("one 2", 2.0)
    assert live.streaming.current.reading.output_tokens == 4 + 1


def test_a_task_opened_in_the_middle_of_an_answer_is_live_once_it_grows(live):
    live.session.open_task(live.agent.ref)
    live.ask()
    live.session.close_task()
    live.say("x" * 40, 1.0)
    live.open()
    assert live.streaming.current is None, "nobody knows yet whether anybody writes"
    live.say("x" * 80, 2.0)
    assert live.words == "answer to request 2: 20 tokens so far, estimated · 10 per second · first after 1.0 s"


def test_what_a_dead_agent_left_is_no_stream(live):
    live.agent.entry("api_req_started", json.dumps({"request": "go on"}))
    live.agent.entry("text", "half of an ans", partial=True)
    live.agent.write()
    live.now = live.agent.now / 1_000 + 86_400
    live.open()
    live.session.reload()
    assert live.heard.said == []


def test_time_goes_on_between_readings_and_a_stalled_answer_is_shown_no_more(live):
    live.open()
    live.ask()
    live.say("x" * 400, 2.0)
    live.now += 2.0
    live.streaming.refresh()
    assert live.words.startswith("answer to request 2: 100 tokens so far, estimated · 25 per second")
    live.now += STALE_S
    live.streaming.refresh()
    assert live.streaming.current is None


def test_a_finished_answer_is_shown_for_a_moment_and_the_next_one_takes_its_place(live):
    live.open()
    live.ask()
    live.say("x" * 40, 1.0)
    live.end(2.0)
    live.now += SHOWN_S + 1
    live.streaming.refresh()
    assert live.words == ""
    live.agent.messages.append({"role": "assistant", "content": [{"type": "text", "text": "x" * 40}]})
    live.ask()
    assert live.words.startswith("answer to request 3: 0 tokens so far")


def test_another_task_shows_nothing_of_this_one(live):
    live.open()
    live.ask()
    live.say("x" * 40, 1.0)
    live.session.close_task()
    assert live.heard.said[-1] is None
