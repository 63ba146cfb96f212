"""The collector rests while a job decodes, and only then."""

import gc
import weakref

import pytest

from ctxviewer.engine.state import state_at
from ctxviewer.engine.strategies import STRATEGIES
from ctxviewer.engine.timeline import Timeline
from ctxviewer.services.collector import collector_paused
from ctxviewer.services.lab.shelf import Shelf
from ctxviewer.services.runner import CancelToken
from helpers.snapshots import snapshot


class Node:
    def __init__(self):
        self.me = self


def test_it_rests_until_the_last_job_has_ended():
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_works_again_after_a_job_that_fails():
    with pytest.raises(ValueError, match="no"), collector_paused():
        raise ValueError("no")
    assert gc.isenabled()


def test_what_was_made_meanwhile_is_collected_as_ever():
    with collector_paused():
        cyclic = Node()
        seen = weakref.ref(cyclic)
        del cyclic
        assert seen() is not None
    gc.collect()
    assert seen() is None


def test_the_lab_lets_go_of_the_facts_of_earlier_readings():
    shelf, seen = Shelf(), []
    for number in (4, 6, 8):
        task = snapshot(number, number // 2)
        with shelf.borrow(Timeline(task), CancelToken()) as facts:
            for strategy in STRATEGIES:
                strategy.plan(state_at(facts.timeline, None), facts=facts)
        seen.append(weakref.ref(facts))
        del facts, task
    gc.collect()
    assert [known() is None for known in seen] == [True, True, False]
