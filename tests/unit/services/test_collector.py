"""The collector rests while a job decodes, and only then."""

import gc
import weakref

import pytest

from ctxviewer.services.collector import collector_paused


class Node:
    def __init__(self):
        self.me = self


@pytest.fixture(autouse=True)
def _as_before():
    yield
    gc.unfreeze()
    gc.freeze()  # as the whole run has it
    gc.enable()


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


def test_values_are_given_back_and_cycles_when_the_task_is_closed():
    with collector_paused():
        plain, cyclic = {"a": [1]}, Node()
        seen = weakref.ref(cyclic)
    del plain, cyclic
    gc.collect()
    assert seen() is not None, "what was made meanwhile is not looked at"
    gc.unfreeze()
    gc.collect()
    assert seen() is None
