"""The difference of two requests equals comparing what both sent, message by message."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.projection import Standing
from ctxviewer.engine.composition import compose
from ctxviewer.engine.difference import RowKind, difference, difference_of, summary, text_changes
from ctxviewer.engine.line_difference import Side
from ctxviewer.engine.past import Past
from ctxviewer.engine.weights import difference_tokens, file_changes, row_tokens
from ctxviewer.tokens import TokenTable, count_message, count_updates
from ctxviewer.tokens.counter import CharacterEstimator
from helpers.past_tasks import pasts


def columns(timeline):
    return [*range(len(timeline.requests)), None]


def raws(timeline, projection, message):
    return [block.sent.raw for block in timeline.blocks(projection, message) if block.sent is not None]


def expected_kind(timeline, before, after, message):
    old, new = (one.standing(message) is Standing.SENT for one in (before, after))
    if old and new:
        same = raws(timeline, before, message) == raws(timeline, after, message)
        return {RowKind.SAME} if same else {RowKind.REWRITTEN, RowKind.REPAIRED}
    if new:
        return {RowKind.ENTERED} if message >= before.until else {RowKind.RETURNED}
    return {RowKind.LEFT} if old else {RowKind.NEITHER}


@settings(max_examples=100, deadline=None)
@given(pasts(), st.data())
def test_rows_are_those_of_a_comparison_message_by_message(timeline, data):
    if data.draw(st.booleans()):
        timeline._pairs = None  # as for long histories, whose repairs are looked for later
    numbers = st.sampled_from(columns(timeline))
    before, after = (timeline.projection(data.draw(numbers)) for _ in range(2))
    found = difference(timeline, before, after)
    kinds = [kind for row in found.rows for kind in [row.kind] * row.count]
    assert [row.first for row in found.rows[1:]] == [row.last + 1 for row in found.rows[:-1]]
    assert len(kinds) == max(before.until, after.until)
    for message, kind in enumerate(kinds):
        assert kind in expected_kind(timeline, before, after, message)
    assert all(row.sentence for row in found.changes)
    assert bool(summary(found)) == bool(found.changes)


@settings(max_examples=33, deadline=None)
@given(pasts())
def test_a_request_does_not_differ_from_itself(timeline):
    for number in columns(timeline):
        found = difference_of(timeline, number, number)
        assert found.is_empty
        assert found.changes == ()
        assert summary(found) == ()


@settings(max_examples=66, deadline=None)
@given(pasts(), st.data())
def test_texts_of_both_sides_are_what_was_sent(timeline, data):
    numbers = st.sampled_from(columns(timeline))
    found = difference_of(timeline, data.draw(numbers), data.draw(numbers))
    for row in found.changes:
        for message in range(row.first, row.last + 1):
            for text in text_changes(timeline, found, message):
                assert text.before != text.after
                assert (row.kind is RowKind.LEFT) <= (text.after is None)
                assert (row.kind in {RowKind.ENTERED, RowKind.RETURNED}) <= (text.before is None)
                runs = text.lines().runs
                assert "".join(run.text for run in runs if run.side is not Side.NEW) == (text.before or "")
                assert "".join(run.text for run in runs if run.side is not Side.OLD) == (text.after or "")


def counts_of(timeline):
    counter = CharacterEstimator("a test")
    count = len(timeline.snapshot.messages)
    table = TokenTable(count).with_messages({n: count_message(counter, timeline.message(n)) for n in range(count)})
    return table.with_updates(count_updates(counter, timeline.updates))


@settings(max_examples=66, deadline=None)
@given(pasts(), st.data())
def test_tokens_of_a_difference_are_those_of_both_requests(timeline, data):
    past, counts = Past(timeline), counts_of(timeline)
    numbers = st.sampled_from(columns(timeline))
    found = difference_of(timeline, data.draw(numbers), data.draw(numbers))
    by_category = {one.category: one for one in difference_tokens(past, found, counts)}
    for side, projection in (("before", found.before), ("after", found.after)):
        made = compose(past.anatomy(), projection, counts)
        assert sum(getattr(one, side) for one in by_category.values()) == made.counted
        for branch in made.categories:
            assert branch.tokens == (getattr(by_category[branch.category], side) if branch.tokens else 0)
    for row in found.rows:
        old, new = row_tokens(found, row, counts)
        if row.kind in {RowKind.SAME, RowKind.NEITHER}:
            assert old == new
        if row.kind in {RowKind.ENTERED, RowKind.RETURNED}:
            assert old == 0
        if row.kind is RowKind.LEFT:
            assert new == 0


@settings(max_examples=66, deadline=None)
@given(pasts(), st.data())
def test_files_that_left_and_entered(timeline, data):
    past = Past(timeline)
    numbers = st.sampled_from(columns(timeline))
    found = difference_of(timeline, data.draw(numbers), data.draw(numbers))
    changes = file_changes(past, found)
    for path, places in past.contents().files.items():
        before, after = (any(past.holds(one, place) for place in places) for one in (found.before, found.after))
        assert (path in changes.left) == (before and not after)
        assert (path in changes.entered) == (after and not before)
