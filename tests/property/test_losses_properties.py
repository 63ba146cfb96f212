"""What a loss report lists was sent once and is not sent now; what it does not list is either sent or never was."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.projection import BlockChange, RepairKind, Standing
from ctxviewer.engine.contents import holds
from ctxviewer.engine.losses import LossKind, find_losses
from ctxviewer.engine.past import Past
from helpers.past_tasks import pasts


def columns(timeline):
    return [*range(len(timeline.requests)), None]


def holds_any(timeline, number, places):
    projection = timeline.projection(number)
    return any(
        place.message < projection.until
        and projection.standing(place.message) is Standing.SENT
        and holds(place, timeline.blocks(projection, place.message))
        for place in places
    )


@settings(max_examples=100, deadline=None)
@given(pasts(), st.data())
def test_lost_files_are_those_that_were_sent_before_and_are_not_now(timeline, data):
    past = Past(timeline)
    number = data.draw(st.sampled_from(columns(timeline)))
    earlier = columns(timeline)[: columns(timeline).index(number)]
    report = find_losses(past, number)
    lost = {loss.title: loss for loss in report.of(LossKind.FILE)}
    until = timeline.projection(number).until
    for path, places in past.contents().files.items():
        known = [place for place in places if place.message < until]
        senders = [one for one in earlier if holds_any(timeline, one, known)]
        gone = bool(senders) and not holds_any(timeline, number, known)
        assert (path in lost) == gone
        if gone:
            assert lost[path].request == senders[-1]
            assert lost[path].file.read_again == sum(
                1 for one in senders if one - 1 not in senders and one != senders[0]
            )
    assert [loss.score for loss in report.losses] == sorted((loss.score for loss in report.losses), reverse=True)


@settings(max_examples=100, deadline=None)
@given(pasts(), st.data())
def test_lost_words_and_results_are_not_in_what_is_sent(timeline, data):
    past = Past(timeline)
    number = data.draw(st.sampled_from(columns(timeline)))
    projection = timeline.projection(number)
    for loss in find_losses(past, number).losses:
        assert loss.reasons
        assert loss.why
        blocks = timeline.blocks(projection, loss.message)
        here = next((one for one in blocks if one.stored is not None and one.stored.index == loss.block), None)
        sent = projection.standing(loss.message) is Standing.SENT
        if loss.kind is LossKind.RESULT:
            assert here is not None
            assert sent
            assert here.change is BlockChange.REMOVED
        elif loss.kind is not LossKind.FILE:
            assert not sent or here is None or here.change in {BlockChange.REMOVED, BlockChange.REWRITTEN}
    removed = {RepairKind.STRIPPED, RepairKind.DROPPED, RepairKind.WORDS_LOST}
    repaired = {repair.message for repair in projection.repairs if repair.kind in removed}
    assert {loss.message for loss in find_losses(past, number).of(LossKind.RESULT)} <= repaired
