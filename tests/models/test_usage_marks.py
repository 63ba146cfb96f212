"""Marks above the graph: where they stand and how they share the pixels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctxviewer.domain.request import CheckpointKind
from ctxviewer.models.marks import EMPTY_LANE, Lane, Mark, checkpoint_lane, event_lane, group_sentence, groups
from helpers.usage import checkpoint, event


def test_events_stand_over_the_request_they_first_hold_for():
    lane = event_lane((event("truncate", 30), event("optimize", 17), event("rollback", None)), 48)
    assert lane.at.tolist() == [17.5, 30.5, 48.5]
    assert lane.kinds.tolist() == [Mark.OPTIMIZE, Mark.TRUNCATE, Mark.ROLLBACK]


def test_both_ways_to_condense_and_to_truncate_share_a_mark():
    kinds = event_lane([event(kind, 0) for kind in ("condense", "summarize", "truncate", "forced truncate")], 1).kinds
    assert sorted(kinds.tolist()) == [Mark.CONDENSE, Mark.CONDENSE, Mark.TRUNCATE, Mark.TRUNCATE]


def test_checkpoints_stand_behind_their_request_and_plain_messages_are_not_drawn():
    points = (checkpoint(None), checkpoint(4), checkpoint(5, kind=CheckpointKind.MESSAGE))
    assert checkpoint_lane(points).at.tolist() == [0, 5]


def test_a_grown_list_of_checkpoints_equals_a_fresh_one():
    points = tuple(checkpoint(number, f"point {number}") for number in range(50))
    grown = checkpoint_lane(points, checkpoint_lane(points[:30]))
    assert grown.at.tolist() == checkpoint_lane(points).at.tolist()
    assert grown.sentences == checkpoint_lane(points).sentences
    other = tuple(checkpoint(number) for number in range(40, 60))
    assert checkpoint_lane(other, grown).at.tolist() == [float(n + 1) for n in range(40, 60)]
    backwards = (*points, checkpoint(3))
    assert checkpoint_lane(backwards, grown).at.tolist() == sorted(checkpoint_lane(backwards).at.tolist())


def test_two_kinds_at_one_request_stand_side_by_side_strongest_first():
    lane = event_lane((event("optimize", 10), event("truncate", 10)), 20)
    (group,) = groups(lane, 0, 50, 1_000, 15)
    assert group.shown == (Mark.TRUNCATE, Mark.OPTIMIZE)
    assert group.x == 525
    assert group.left == 510


def test_without_room_the_strongest_is_shown_and_the_words_tell_all():
    lane = event_lane((event("optimize", 10, "first"), event("truncate", 10, "second"), event("optimize", 11)), 20)
    one, two = groups(lane, 0, 16, 320, 15)
    assert one.shown == (Mark.TRUNCATE,)
    assert two.shown == (Mark.OPTIMIZE,)
    assert group_sentence(lane, one) == "first\nsecond"


def test_a_large_group_is_counted():
    lane = event_lane([event("optimize", 0, f"event {n}") for n in range(9)] + [event("truncate", 0, "cut")], 1)
    (group,) = groups(lane, 0, 100, 100, 15)
    words = group_sentence(lane, group, 3).split("\n")
    assert words[0] == "1 truncated, 9 optimised:"
    assert words[-1] == "…"
    assert len(words) == 5


@given(st.lists(st.floats(0, 1_000), max_size=300), st.floats(0, 900), st.floats(0.01, 80), st.integers(50, 1_500))
def test_glyphs_never_overlap_and_no_visible_mark_is_lost(positions, origin, scale, width):
    at = np.sort(np.array(positions, dtype=np.float64))
    kinds = np.array([1 << (n % 5) for n in range(len(at))], dtype=np.int64)
    lane = Lane(at, kinds, tuple(str(n) for n in range(len(at))))
    found = groups(lane, origin, scale, width, 15)
    free = -np.inf
    for group in found:
        assert group.shown
        assert group.left >= free - 1e-6
        free = group.left + 15 * len(group.shown)
        assert {int(kind) for kind in group.shown} <= set(kinds[group.first : group.end].tolist())
        assert max(group.shown) == kinds[group.first : group.end].max()
        assert group.reach[0] <= group.x <= group.reach[1]
    covered = {place for group in found for place in range(group.first, group.end)}
    x = (at - origin) * scale
    assert {place for place in range(len(at)) if 0 <= x[place] <= width} <= covered
    assert sum(group.end - group.first for group in found) == len(covered)


def test_nothing_to_draw():
    assert groups(EMPTY_LANE, 0, 1, 100, 15) == ()
    assert groups(event_lane((event("truncate", 500),), 600), 0, 1, 100, 15) == ()
