"""When a message was sent, and in which form, equals looking at every request one by one."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.projection import BlockChange, Standing
from ctxviewer.engine import spans
from ctxviewer.engine.presence import Presence
from helpers.past_tasks import pasts

runs = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=5)


def numbers(some) -> set[int]:
    return {number for first, last in some for number in range(first, last + 1)}


@given(runs, runs)
def test_runs_behave_like_sets_of_numbers(some, others):
    assert numbers(spans.merged(some)) == numbers(some)
    assert numbers(spans.minus(some, others)) == numbers(some) - numbers(others)
    joined = spans.merged(some)
    assert spans.length(joined) == len(numbers(some))
    assert all(spans.covers(joined, number) == (number in numbers(some)) for number in range(22))
    assert all(before[1] + 1 < after[0] for before, after in pairwise(joined))
    assert numbers(spans.clipped(joined, 4, 9)) == numbers(some) & set(range(4, 10))


def columns(timeline):
    return [*range(len(timeline.requests)), None]


@settings(max_examples=300, deadline=None)
@given(pasts())
def test_spans_forms_and_blocks_are_those_of_every_request(timeline):
    presence = Presence(timeline)
    for column, number in enumerate(columns(timeline)):
        projection = timeline.projection(number)
        for message in range(len(timeline.snapshot.messages)):
            sent = projection.standing(message) is Standing.SENT
            assert sent == spans.covers(presence.spans(message), column) == presence.is_sent(message, column)
            form = presence.form_at(message, column)
            assert (form is not None) == sent
            if form is not None:
                assert presence.blocks(form) == timeline.blocks(projection, message)
                assert sum(spans.covers(other.spans, column) for other in presence.forms(message)) == 1


@settings(max_examples=200, deadline=None)
@given(pasts())
def test_versions_are_the_texts_that_were_sent(timeline):
    presence = Presence(timeline)
    for message in range(len(timeline.snapshot.messages)):
        expected: dict = {}
        for column, number in enumerate(columns(timeline)):
            projection = timeline.projection(number)
            if projection.standing(message) is not Standing.SENT:
                continue
            for block in timeline.blocks(projection, message):
                if block.change is not BlockChange.REMOVED and block.stored is not None:
                    update = block.update if block.change is BlockChange.REWRITTEN else None
                    key = (block.stored.index, None if update is None else update.ordinal)
                    expected.setdefault(key, set()).add(column)
        found = {
            (version.block, None if version.update is None else version.update.ordinal): numbers(version.spans)
            for version in presence.versions(message)
        }
        assert found == expected
