"""Promise 5: what is drawn as sent is exactly what the engine sends, on any history, damaged ones included."""

from __future__ import annotations

from dataclasses import replace
from json import dumps
from pathlib import PurePath

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.projection import BlockChange, Standing
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.snapshot import Agent, Snapshot, TaskRef
from ctxviewer.engine.cline.project import project
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.timeline import Timeline
from helpers.snapshots import snapshot

REF = TaskRef(Agent.CLINE, "1", PurePath("t"), PurePath(), "", "", 0, 0, 0, in_index=True)

words = st.sampled_from(["", "a", "b\nc", "[read_file for 'f.py'] Result:", "🙂"])
ids = st.sampled_from(["t1", "t2", "t3", ""])
text_block = st.builds(lambda text: {"type": "text", "text": text}, words)
use_block = st.builds(lambda id_: {"type": "tool_use", "id": id_, "name": "n", "input": {}}, ids)
result_block = st.builds(
    lambda id_, content: {"type": "tool_result", "tool_use_id": id_, "content": content},
    ids,
    st.one_of(words, st.lists(text_block, max_size=2)),
)
odd_block = st.sampled_from(
    [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}}, {}]
)
blocks = st.lists(st.one_of(text_block, use_block, result_block, odd_block), max_size=4)
contents = st.one_of(blocks, blocks, blocks, words)


@st.composite
def conversations(draw: st.DrawFn) -> list:
    count = draw(st.integers(0, 9))
    roles = [
        draw(st.sampled_from(["user", "assistant"])) if draw(st.integers(0, 9)) == 0 else None for _ in range(count)
    ]
    return [
        {"role": role or ("user" if n % 2 == 0 else "assistant"), "content": draw(contents)}
        for n, role in enumerate(roles)
    ]


@st.composite
def histories(draw: st.DrawFn) -> ContextHistory:
    history = ContextHistory()
    for _ in range(draw(st.integers(0, 4))):
        message, block = draw(st.integers(0, 9)), draw(st.integers(0, 3))
        text = draw(st.sampled_from(["NEW", "OTHER"]))
        history = history.with_update(message, block, draw(st.integers(1, 5)), text, 2, [])
    return history


ranges = st.one_of(
    st.none(),
    st.builds(Range, st.just(2), st.integers(1, 11)),
    st.builds(Range, st.just(2), st.integers(1, 11)),
    st.builds(Range, st.just(2), st.integers(-12, -2)),
)


def snapshot_of(messages: list, history: ContextHistory, deleted: Range | None) -> Snapshot:
    return Snapshot(REF, 1, messages=PlainLog(messages), updates_text=history.dump(), range_now=deleted)


@settings(max_examples=400, deadline=None)
@given(conversations(), histories(), ranges)
def test_blocks_of_every_message_are_those_of_the_engine(messages, history, deleted):
    timeline = Timeline(snapshot_of(messages, history, deleted))
    projection = timeline.projection(None)
    try:
        sent = project(messages, deleted, history)
    except BrokenInputError:
        return
    assert timeline.sent(None) == sent.messages
    shown = [n for n in range(len(messages)) if projection.standing(n) is Standing.SENT]
    assert sorted([*shown, *projection.repeated]) == sorted(sent.stored)
    for position, number in enumerate(sent.stored):
        if number in projection.repeated:
            continue
        drawn = [
            block.sent.raw for block in timeline.blocks(projection, number) if block.change is not BlockChange.REMOVED
        ]
        content = sent.messages[position]["content"]
        assert drawn == (content if isinstance(content, list) else [content])


def test_an_update_of_another_kind_hides_the_older_ones_in_the_picture_too():
    messages = [{"role": role, "content": [{"type": "text", "text": role}]} for role in ("user", "assistant")]
    text = '[[0,[2,[[0,[[1,"text",["old"],[]],[2,"image",["new"],[]]]]]]]]'
    timeline = Timeline(Snapshot(REF, 1, messages=PlainLog(messages), updates_text=text))
    projection = timeline.projection(None)
    assert timeline.sent(None) == messages
    assert [block.sent.raw for block in timeline.blocks(projection, 0)] == messages[0]["content"]
    assert timeline.history_at(projection) is timeline.history


@settings(max_examples=300, deadline=None)
@given(conversations(), histories(), ranges)
def test_repairs_are_those_of_the_engine(messages, history, deleted):
    timeline = Timeline(snapshot_of(messages, history, deleted))
    projection = timeline.projection(None)
    try:
        sent = project(messages, deleted, history)
    except BrokenInputError:
        return
    expected = [repair for position in sorted(sent.repairs) for repair in sent.repairs[position]]
    twice = set(projection.repeated)  # the second time it is sent a message stands behind another neighbour
    assert [repair for repair in projection.repairs if repair.message not in twice] == [
        repair for repair in expected if repair.message not in twice
    ]


@settings(max_examples=200, deadline=None)
@given(conversations(), histories(), ranges)
def test_removed_and_kept_blocks_together_are_the_stored_ones(messages, history, deleted):
    timeline = Timeline(snapshot_of(messages, history, deleted))
    projection = timeline.projection(None)
    for number in range(len(messages)):
        stored = [block.stored.index for block in timeline.blocks(projection, number) if block.stored is not None]
        assert sorted(stored) == list(range(len(timeline.message(number).blocks)))


@settings(max_examples=200, deadline=None)
@given(conversations(), st.integers(-12, 1))
def test_a_range_below_one_sends_messages_twice(messages, end):
    timeline = Timeline(snapshot_of(messages, ContextHistory(), Range(2, end)))
    projection = timeline.projection(None)
    try:
        sent = project(messages, Range(2, end), ContextHistory())
    except BrokenInputError:
        return
    if len(messages) > 1:
        drawn = [n for n in range(len(messages)) if projection.standing(n) is Standing.SENT]
        assert sorted([*drawn, *projection.repeated]) == sorted(sent.stored)
        assert projection.exact is not bool(projection.repeated)


@settings(max_examples=150, deadline=None)
@given(conversations(), conversations(), histories(), ranges)
def test_a_timeline_that_takes_over_from_the_one_before_is_the_same_as_a_fresh_one(first, more, history, deleted):
    class Shared(PlainLog):
        def shared_with(self, earlier):
            return min(len(first), len(earlier))

    before = Timeline(snapshot_of(first, history, deleted))
    grown = replace(snapshot_of([*first, *more], history, deleted), messages=Shared([*first, *more]))
    taken, fresh = Timeline(grown, before), Timeline(grown)
    assert taken.projection(None) == fresh.projection(None)
    assert taken.updates == fresh.updates


changes = st.builds(
    lambda time, kind, texts: [time, kind, texts, []],
    st.sampled_from([None, "x", 500, 1_500, 2_500]),
    st.sampled_from(["text", "text", "text", "image"]),
    st.sampled_from([["NEW"], ["OTHER"], ["THIRD"], []]).filter(bool),
)
odd_changes = st.one_of(changes, changes, changes, st.sampled_from([5, [], "x", None, [1_500], [500, "text"]]))


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.tuples(st.integers(0, 6), st.integers(0, 1)), st.lists(odd_changes, max_size=4), max_size=3))
def test_past_requests_take_odd_updates_as_the_rules_do(stored):
    """Of each block the updates of then, in stored order, odd ones among them: the rules look at the last one only."""

    def history(until):
        entries = {}
        for (message, block), listed in stored.items():
            then = [change for change in listed if _time(change) < until]
            if then:
                entries.setdefault(message, [message, [2, []]])[1][1].append([block, then])
        return ContextHistory.parse(dumps(list(entries.values())))

    whole = snapshot(7, 3)
    timeline = Timeline(replace(whole, updates_text=history(float("inf")).dump()))
    for number, asked in enumerate(timeline.requests):
        following = timeline.requests[number + 1].ts if number + 1 < len(timeline.requests) else float("inf")
        until = asked.last_message + 2
        try:
            expected = project(list(whole.messages)[:until], None, history(following)).messages
        except BrokenInputError:  # null instead of an update: the agent stops there
            continue
        projection = timeline.projection(number)
        assert timeline.sent(number) == expected
        for position, message in enumerate(expected):
            assert [block.sent.raw for block in timeline.blocks(projection, position)] == message["content"]


def _time(change):
    time = change[0] if isinstance(change, list) and change else None
    return time if isinstance(time, int) else 0
