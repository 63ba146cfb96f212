"""Open, step, truncate, optimise, undo, redo, an outside write, roll back, restart: in any order.

The disk must be what a plain model of the task says after every step; nothing else in the folder may change.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ctxviewer.domain.errors import RefusedError
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import CheckpointKind
from ctxviewer.engine.plans import plan_optimize, plan_rollback, plan_rollback_to_message, plan_truncate
from ctxviewer.engine.timeline import Timeline
from ctxviewer.sources import registry
from ctxviewer.sources.store.store import Store
from helpers.rolled_back import that_hold
from helpers.working_agent import NOTICE, WorkingAgent

BODIES = ["alpha\n" * 40, "beta\n" * 60]
FILES = ["a.py", "b.py", "c.py"]


def next_end(count: int, deleted: list[int] | None, keep: str) -> int:
    """The end of the next range on alternating messages, worked out anew."""
    first = deleted[1] + 1 if deleted else 2
    rest = count - first
    removed = {"half": rest // 4 * 2, "quarter": rest * 3 // 8 * 2}[keep]
    end = first + removed - 1
    return end if end % 2 == 1 else end - 1


class Story(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.agent = WorkingAgent(self.folder / "root")
        self.store = Store(self.folder / "own", clock=lambda: 1_700_009_999)
        self.generation = 0
        self.done: list[tuple[dict, dict]] = []
        """(files before, files after) of every change that can be undone."""
        self.undone: list[tuple[dict, dict]] = []

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize(turns=st.integers(2, 7))
    def begin(self, turns: int) -> None:
        for number in range(turns):
            self.agent.turn(f"turn {number}", read=FILES[number % 2], body=BODIES[0])
        self.agent.write()
        self.expected = self.agent.files()

    def open(self) -> Timeline:
        self.generation += 1
        return Timeline(registry.read(self.agent.ref, generation=self.generation))

    def apply(self, timeline: Timeline, plan) -> bool:
        """Commit; False when the plan is refused or writes nothing."""
        if plan.refusal:
            with pytest.raises(RefusedError):
                registry.change_for(timeline.snapshot, plan, 1_700_009_999_000)
            return False
        change = registry.change_for(timeline.snapshot, plan, 1_700_009_999_000)
        before = self.agent.files()
        self.store.commit(change, consent_open=True)
        self.agent.load()
        self.expected = self.agent.files()
        self.done.append((before, self.expected))
        self.undone.clear()
        return True

    @rule(read=st.sampled_from(FILES), body=st.sampled_from(BODIES))
    def agent_goes_on(self, read: str, body: str) -> None:
        self.agent.turn(f"turn at {self.agent.now}", read=read, body=body)
        self.agent.write()
        self.expected = self.agent.files()
        self.done.clear()
        self.undone.clear()

    @rule(keep=st.sampled_from(["half", "quarter"]))
    def truncate(self, keep: str) -> None:
        before = self.agent.deleted
        messages = list(self.agent.messages)
        had_notice = self.agent.updates is not None and "[[1,[" in self.agent.updates
        end = next_end(len(messages), before, keep)
        timeline = self.open()
        if not self.apply(timeline, plan_truncate(timeline, keep)):
            assert end < (before[1] + 1 if before else 2)
            return
        assert self.agent.deleted == [2, end]
        assert self.agent.messages == messages
        assert had_notice or json.dumps(NOTICE) in (self.agent.updates or "")
        sent = self.open().sent(None)
        assert len(sent) == len(messages) - (end - 1)
        assert sent[1]["content"][0]["text"] == NOTICE

    @rule()
    def optimize(self) -> None:
        messages, deleted = list(self.agent.messages), self.agent.deleted
        timeline = self.open()
        if self.apply(timeline, plan_optimize(timeline)):
            assert (self.agent.messages, self.agent.deleted) == (messages, deleted)
            newest: dict[str, int] = {}
            for number, message in enumerate(messages):
                text = message["content"][0]["text"]
                if text.startswith("[read_file for "):
                    newest[text.split("'")[1]] = number
            sent = self.open()
            for number in newest.values():
                assert sent.blocks(sent.projection(None), number)[0].sent.text == messages[number]["content"][0]["text"]

    @rule(data=st.data())
    def roll_back_to_a_checkpoint(self, data: st.DataObject) -> None:
        timeline = self.open()
        points = [p for p in timeline.snapshot.checkpoints if p.kind is CheckpointKind.CHECKPOINT]
        if not points:
            return
        point = data.draw(st.sampled_from(points))
        messages, ui = list(self.agent.messages), list(self.agent.ui)
        if self.apply(timeline, plan_rollback(timeline, point)):
            assert self.agent.messages == messages[: point.last_message + 2]
            assert self.agent.ui[:-1] == ui[: point.ui_index + 1]
            assert self.agent.ui[-1]["say"] == "deleted_api_reqs"
            assert self.agent.deleted == (list(point.deleted_range) if point.deleted_range else None)
            self.exactly_those_updates_that_hold(timeline, point.ts)

    @rule(data=st.data())
    def roll_back_to_a_message(self, data: st.DataObject) -> None:
        timeline = self.open()
        number = data.draw(st.integers(0, len(self.agent.messages) - 1))
        messages = list(self.agent.messages)
        plan = plan_rollback_to_message(timeline, number)
        if self.apply(timeline, plan):
            assert self.agent.messages == messages[: number + 1]
            self.exactly_those_updates_that_hold(timeline, plan.settings["ts"])

    def exactly_those_updates_that_hold(self, before: Timeline, point_ts: float) -> None:
        """What the agent finds now is what it had before, but for what does not hold any more."""
        kept = {(update.message, update.timestamp) for update in self.open().updates}
        assert kept == that_hold(before.updates, self.agent.messages, point_ts, self.agent.deleted)

    @precondition(lambda self: self.done)
    @rule()
    def undo(self) -> None:
        before, after = self.done.pop()
        assert self.agent.files() == after
        self.store.undo(self.agent.directory, consent_open=True)
        self.agent.load()
        assert self.agent.files() == before
        self.expected = before
        self.undone.append((before, after))

    @precondition(lambda self: self.undone)
    @rule()
    def redo(self) -> None:
        before, after = self.undone.pop()
        self.store.redo(self.agent.directory, consent_open=True)
        self.agent.load()
        assert self.agent.files() == after
        self.expected = after
        self.done.append((before, after))

    @rule()
    def the_agent_writes_after_the_preview(self) -> None:
        timeline = self.open()
        plan = plan_truncate(timeline, "half")
        if plan.refusal:
            return
        change = registry.change_for(timeline.snapshot, plan, 1)
        self.agent_goes_on(FILES[2], BODIES[1])
        with pytest.raises(RefusedError):
            self.store.commit(change, consent_open=True)

    @precondition(lambda self: not self.done)
    @rule()
    def undo_after_the_agent_went_on(self) -> None:
        """Refused, unless all that the change wrote were updates and the agent wrote none since."""
        before = self.agent.files()
        try:
            self.store.undo(self.agent.directory, consent_open=True)
        except RefusedError:
            assert self.agent.files() == before
            return
        self.agent.load()
        self.expected = self.agent.files()
        assert {name for name in before if before[name] != self.expected[name]} == {"context_history.json"}
        self.undone.clear()

    @rule()
    def restart(self) -> None:
        self.store = Store(self.folder / "own", clock=lambda: 1_700_009_999)
        assert self.store.recover() == ()

    @rule(data=st.data())
    def look_at_requests(self, data: st.DataObject) -> None:
        timeline = self.open()
        if not timeline.requests:
            return
        number = data.draw(st.integers(0, len(timeline.requests) - 1))
        assert len(timeline.sent(number)) == timeline.projection(number).sent_count

    @invariant()
    def the_disk_is_what_the_model_says(self) -> None:
        if hasattr(self, "expected"):
            assert self.agent.files() == self.expected
            names = {path.name for path in self.agent.directory.iterdir()}
            assert names <= {"api_conversation_history.json", "ui_messages.json", "context_history.json"}
            others = [item for item in json.loads(self.agent.index.read_bytes()) if item["id"] != self.agent.task_id]
            assert others == [{"id": "1", "ts": 5, "task": "another", "tokensIn": 1, "tokensOut": 2, "totalCost": 0.5}]

    @invariant()
    def a_range_is_even_and_inside(self) -> None:
        if hasattr(self, "expected") and self.agent.deleted is not None:
            deleted = Range(*self.agent.deleted)
            assert deleted.start == 2
            assert deleted.end % 2 == 1
            assert deleted.end < len(self.agent.messages)


Story.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a story is read as it happened; shrinking it takes minutes
)
TestStoryOnDisk = Story.TestCase
