"""Counting in the background: visible first, only what is new, stopped when the task changes."""

import pytest

from ctxviewer.engine.plans import plan_truncate
from ctxviewer.engine.timeline import Timeline
from ctxviewer.services import counting as module
from ctxviewer.services.counting import Counting
from ctxviewer.services.runner import Runner
from ctxviewer.services.session import SnapshotChange
from helpers.snapshots import Heard, HeldExecutor, inline_runner, snapshot


class WordCounter:
    """Counts words, and remembers what it was asked."""

    name, exact, reason = "words", True, ""

    def __init__(self):
        self.asked = []

    def count(self, text):
        self.asked.append(text)
        return len(text.split())


@pytest.fixture
def counter(monkeypatch):
    made = WordCounter()
    monkeypatch.setattr("ctxviewer.tokens.load_counter", lambda _encoding: made)
    return made


def change(new, old=None, *, grown=False):
    return SnapshotChange(new, Timeline(new), old, same_task=old is not None, grown=grown)


def test_every_message_is_counted_and_told(qapp, counter):
    counting = Counting(inline_runner())
    heard = Heard(counting.counts_changed)
    counting.follow(change(snapshot(5)))
    assert counting.table.complete
    assert [counting.table.message(number) for number in range(5)] == [4] * 5
    assert heard.said[0].missing == (0, 1, 2, 3, 4)
    assert "o200k_base" in counting.sentence


def test_growth_counts_only_what_is_new(qapp, counter):
    counting = Counting(inline_runner())
    old, new = snapshot(4), snapshot(6, texts={})
    counting.follow(change(old))
    counter.asked.clear()
    counting.follow(change(new, old, grown=True))
    assert sorted(counter.asked) == ["words of message 4", "words of message 5"]
    assert counting.table.complete


def test_a_change_in_the_middle_counts_all_again(qapp, counter):
    counting = Counting(inline_runner())
    old = snapshot(4)
    counting.follow(change(old))
    counting.follow(change(snapshot(4, texts={1: "one two three"}), old))
    assert counting.table.message(1) == 3


def test_visible_messages_come_first(qapp, counter, monkeypatch):
    monkeypatch.setattr(module, "SLICE", 2)
    held = HeldExecutor()
    counting = Counting(Runner(read=held))
    counting.follow(change(snapshot(8)))
    counting.prefer(5)
    held.run_all()
    order = [int(text.rsplit(" ", 1)[1]) for text in counter.asked if text.startswith("words of")]
    assert order == [5, 6, 7, 0, 1, 2, 3, 4]


def test_another_task_stops_the_count_before(qapp, counter):
    held = HeldExecutor()
    counting = Counting(Runner(read=held))
    counting.follow(change(snapshot(8)))
    counting.follow(change(snapshot(3)))
    held.run_all()
    assert len(counting.table) == 3
    assert len([text for text in counter.asked if text.startswith("words of")]) == 3


def test_texts_of_a_plan_are_counted_for_its_sums(qapp, counter):
    counting = Counting(inline_runner())
    reading = snapshot(8, 4)
    counting.follow(change(reading))
    plan = plan_truncate(Timeline(reading), "half")
    counting.count_plan(plan)
    assert all(counting.table.update(update.text) is not None for update in plan.added_updates)
    assert counting.sums(plan.after).sent < counting.sums(plan.before).sent + 200


def test_no_task_is_no_table(qapp, counter):
    counting = Counting(inline_runner())
    counting.follow(change(snapshot(2)))
    counting.forget()
    assert counting.table is None
    assert counting.sums(snapshot and Timeline(snapshot(2)).projection(None)) is None


def test_counts_are_kept_between_runs(qapp, counter, tmp_path):
    long = {0: "many words " * 20}
    Counting(inline_runner(), tmp_path).follow(change(snapshot(1, texts=long)))
    counter.asked.clear()
    later = Counting(inline_runner(), tmp_path)
    later.follow(change(snapshot(1, texts=long)))
    assert counter.asked == []
    assert later.table.message(0) == 40
