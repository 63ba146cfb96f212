"""Counts of what is sent: block by block, part by part, and counted anew from the message list, they are one number."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.message import parse_message
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.engine.anatomy import Anatomy
from ctxviewer.engine.change_cost import CostMeter
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.composition import compose
from ctxviewer.engine.timeline import Timeline
from ctxviewer.tokens import count_message
from ctxviewer.tokens.calibration import Point, calibrate
from helpers.small_task import TASK, Words, counted

texts = st.sampled_from(
    [
        "one two three",
        "<environment_details>\nnow\n</environment_details>",
        "[read_file for 'f.py'] Result:",
        "[read_file for 'f.py'] Result:\n" + "line of f " * 30,
        "[execute_command for 'ls'] Result:\n" + "line of output " * 30,
        'see <file_content path="g.py">' + "line of g " * 30 + "</file_content> and more",
        "<read_file><path>f.py</path></read_file> I read",
        "🙂",
    ]
)
text_block = st.builds(lambda words: {"type": "text", "text": words}, texts)
picture = st.just({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}})
user_blocks = st.lists(st.one_of(text_block, text_block, picture), min_size=1, max_size=4)


@st.composite
def talks(draw: st.DrawFn) -> list:
    """A healthy conversation: calls are mostly answered, once each, by results with or without a list inside."""
    messages, open_calls = [], []
    for number in range(draw(st.integers(2, 10))):
        if number % 2 == 0:
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": name,
                    "content": draw(st.one_of(texts, st.lists(text_block, min_size=1, max_size=2))),
                }
                for name in open_calls
                if draw(st.integers(0, 4))
            ]
            messages.append({"role": "user", "content": [*results, *draw(user_blocks)]})
        else:
            open_calls = [f"t{number}{place}" for place in range(draw(st.integers(0, 2)))]
            calls = [
                {"type": "tool_use", "id": name, "name": "read_file", "input": {"path": "f.py"}} for name in open_calls
            ]
            messages.append(
                {"role": "assistant", "content": [*draw(st.lists(text_block, min_size=1, max_size=2)), *calls]}
            )
    return messages


@st.composite
def updates(draw: st.DrawFn) -> ContextHistory:
    history = ContextHistory()
    for _ in range(draw(st.integers(0, 4))):
        message, block = draw(st.integers(0, 9)), draw(st.integers(0, 3))
        history = history.with_update(
            message, block, draw(st.integers(1, 5)), draw(texts), draw(st.sampled_from([0, 2, 3, 4])), []
        )
    return history


ranges = st.one_of(st.none(), st.builds(Range, st.just(2), st.integers(1, 9)))


def timeline_of(messages, history, deleted):
    return Timeline(Snapshot(TASK, 1, messages=PlainLog(messages), updates_text=history.dump(), range_now=deleted))


@settings(max_examples=400)
@given(talks(), updates(), ranges)
def test_sums_parts_and_a_recount_agree(messages, history, deleted):
    timeline = timeline_of(messages, history, deleted)
    table, projection = counted(timeline), timeline.projection(None)
    sums = table.sums(projection)
    again = [count_message(Words(), parse_message(0, value)) for value in timeline.sent(None)]
    assert sums.sent == sum(block.tokens for blocks in again for block in blocks)
    assert sums.pictures == sum(block.pictures for blocks in again for block in blocks)
    assert sums.sent == sum(table.message_as_sent(number, projection) for number in range(len(messages)))

    made = compose(Anatomy(timeline), projection, table)
    assert (made.counted, made.pictures, made.unknown) == (sums.sent, sums.pictures, ())
    assert sum(branch.tokens for branch in made.categories) == sums.sent
    assert sum(row.tokens for row in made.by_message()) == sums.sent
    for branch in made.categories:
        assert not branch.children or sum(child.tokens for child in branch.children) == branch.tokens
    for repeat in made.repeats:
        assert 0 <= repeat.spare <= repeat.tokens <= sums.sent
        assert len(repeat.places) >= 2
    assert made.spare <= sums.sent


@settings(max_examples=200)
@given(talks(), updates(), ranges)
def test_the_pieces_of_a_block_are_its_text(messages, history, deleted):
    timeline = timeline_of(messages, history, deleted)
    anatomy = Anatomy(timeline)
    for number in range(len(messages)):
        lengths = [sum(piece.length for piece in block.pieces) for block in anatomy.message(number)]
        assert lengths == [len(block.text) for block in timeline.message(number).blocks]


@settings(max_examples=150)
@given(talks(), updates(), ranges)
def test_a_change_never_keeps_more_of_the_cache_than_there_is(messages, history, deleted):
    timeline = timeline_of(messages, history, deleted)
    meter = CostMeter(timeline, counted(timeline))
    plain, now = timeline.project(None, {}, len(messages)), timeline.projection(None)
    cost = meter._measure(plain, plain, now)
    assert 0 <= cost.kept <= cost.cached == cost.sent_without
    assert 0 <= cost.share <= 1
    if now.updates == {} and not now.hidden and not now.repeated:
        assert cost.lost == 0


@settings(max_examples=200)
@given(
    st.lists(
        st.builds(
            Point,
            st.just(0),
            st.integers(0, 200_000),
            st.integers(0, 5),
            st.one_of(st.none(), st.floats(1, 1e6)),
            st.sampled_from(["a", "b"]),
            st.sampled_from(["", "", "", "it failed"]),
        ),
        max_size=30,
    )
)
def test_any_numbers_give_a_fit_that_makes_sense(found):
    calibration = calibrate(found)
    assert len(calibration.residuals) == len(found)
    for fit in calibration.fits:
        assert 0 < fit.slope <= 3
        assert fit.system >= 0
        assert fit.per_picture >= 0
        assert fit.typical_error >= 0
        assert fit.sentence
