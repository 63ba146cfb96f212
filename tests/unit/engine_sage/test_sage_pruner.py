"""sage.md §8: pruning, with and without known costs."""

from __future__ import annotations

import pytest

from ctxviewer.engine.sage.config import ContextConfig
from ctxviewer.engine.sage.estimator import TokenEstimator
from ctxviewer.engine.sage.ledger import CostLedger
from ctxviewer.engine.sage.pruner import MessagePruner, PruneCut, prune_cut
from helpers.sage_talk import spell, talk

FIVE = talk("s:sys. u:aaaa a:bbbb u:cccc a:dddd")


def pruner(recent: int, *, protect: bool = True) -> MessagePruner:
    return MessagePruner(ContextConfig(preserve_recent_count=recent, preserve_system_messages=protect))


def test_equal_to_the_target_means_stop() -> None:
    assert pruner(1).prune(FIVE, 45).messages is FIVE
    one = pruner(1).prune(FIVE, 44)
    assert (list(one.removed_numbers), one.tokens_saved, one.tokens_after) == ([1], 9, 36)


def test_a_cut_that_takes_nothing_ends_nowhere() -> None:
    assert prune_cut(CostLedger(FIVE), 45, ContextConfig(preserve_recent_count=1)) == PruneCut(0, 0, 45, 0)


def test_kept_and_removed_are_the_input_objects_in_order() -> None:
    result = pruner(1).prune(FIVE, 20)
    assert [id(message) for message in result.messages] == [id(FIVE[0]), id(FIVE[4])]
    assert [id(message) for message in result.removed] == [id(message) for message in FIVE[1:4]]
    assert (list(result.numbers), list(result.removed_numbers)) == ([0, 4], [1, 2, 3])
    assert (result.removed_count, result.tokens_before, result.tokens_saved, result.tokens_after) == (3, 45, 27, 18)


def test_strictly_oldest_first() -> None:
    messages = talk("u:8*a a:400*b u:400*c a:d")
    assert list(pruner(1).prune(messages, 130).removed_numbers) == [0, 1]


def test_system_messages_keep_their_place_in_mid_conversation() -> None:
    messages = talk("u:aaaa s:mid. a:bbbb u:cccc")
    result = pruner(1).prune(messages, 0)
    assert (spell(result.messages), list(result.removed_numbers)) == ("s u", [0, 2])


def test_system_messages_in_the_tail_save_older_others() -> None:
    assert pruner(2).prune(talk("u:aaaa a:bbbb s:s1 s:s2"), 0).removed_count == 0
    assert list(pruner(1).prune(talk("u:aaaa a:bbbb s:s1 s:s2"), 0).numbers) == [1, 2, 3]


def test_recent_zero_leaves_only_protected_ones() -> None:
    assert spell(pruner(0).prune(FIVE, 0).messages) == "s"
    assert pruner(0, protect=False).prune(FIVE, 0).messages == []


def test_without_protection_system_messages_go_first() -> None:
    result = pruner(2, protect=False).prune(FIVE, 0)
    assert list(result.removed_numbers) == [0, 1, 2]


def test_boundaries_and_tool_pairs_are_ordinary() -> None:
    messages = talk("B:old u:aaaa a:call t:result u:x")
    assert list(pruner(1).prune(messages, 20).removed_numbers) == [0, 1, 2]
    assert list(pruner(2).prune(messages, 40).removed_numbers) == [0]


def test_fewer_than_recent_and_empty() -> None:
    assert pruner(10).prune(FIVE, 0).messages is FIVE
    empty = pruner(0).prune([], 0)
    assert (empty.messages, empty.removed_count, empty.tokens_saved, empty.tokens_before) == ([], 0, 0, 0)


def test_the_given_list_is_not_changed() -> None:
    messages = talk("u:aaaa a:bbbb u:cccc")
    before = list(messages)
    pruner(0).prune(messages, 0)
    assert messages == before


def test_known_costs_are_used_instead_of_estimates() -> None:
    ledger = CostLedger(FIVE, [1, 100, 1, 1, 1])
    result = pruner(1).prune(FIVE, 4, ledger=ledger)
    assert list(result.removed_numbers) == [1]
    assert (result.tokens_before, result.tokens_saved) == (104, 100)


def test_messages_that_cost_nothing_are_not_removed_needlessly() -> None:
    ledger = CostLedger(FIVE, [0, 5, 0, 0, 5])
    assert prune_cut(ledger, 5, ContextConfig(preserve_recent_count=0)) == PruneCut(1, 2, 10, 5)
    assert prune_cut(ledger, 10, ContextConfig(preserve_recent_count=0)).removed_count == 0


def test_a_ledger_answers_for_any_beginning() -> None:
    ledger = CostLedger(FIVE)
    config = ContextConfig(preserve_recent_count=1)
    assert prune_cut(ledger, 0, config, 3) == PruneCut(1, 2, 27, 9)
    assert prune_cut(ledger, 0, config, 1) == PruneCut(0, 0, 9, 0)
    assert pruner(1).prune(FIVE[:3], 0, ledger=ledger).tokens_after == 18
    assert prune_cut(ledger, 0, config).tokens_after == 18


def test_a_foreign_ledger_is_refused() -> None:
    with pytest.raises(ValueError, match="ledger"):
        pruner(1).prune(FIVE, 0, ledger=CostLedger(FIVE[:2]))
    with pytest.raises(ValueError, match="ledger"):
        pruner(1).prune(FIVE, 0, ledger=CostLedger(FIVE, estimator=TokenEstimator.for_provider("google")))


def test_a_ledger_forgets_and_grows() -> None:
    messages = talk("s:x u:xxxxx B:y s:z a:w")
    ledger = CostLedger(messages)
    assert (len(ledger), ledger.total(), ledger.costs()) == (5, 46, [9, 10, 9, 9, 9])
    assert (ledger.last_boundary(), ledger.active_start(), ledger.active_tokens()) == (2, 3, 18)
    assert (ledger.last_boundary(2), ledger.active_tokens(2), ledger.active_tokens(3)) == (None, 19, 0)
    assert (ledger.cost(1), ledger.total(1, 3), ledger.costs(1, 3)) == (10, 19, [10, 9])
    ledger.truncate(2)
    assert (len(ledger), ledger.costs(), ledger.last_boundary()) == (2, [9, 10], None)
    ledger.extend(messages[2:])
    assert ledger.costs() == CostLedger(messages).costs()
    config = ContextConfig(preserve_recent_count=0)
    assert prune_cut(ledger, 0, config) == prune_cut(CostLedger(messages), 0, config) == PruneCut(3, 5, 46, 28)


def test_costs_must_be_as_many_as_messages() -> None:
    with pytest.raises(ValueError, match="shorter"):
        CostLedger(FIVE, [1, 2])
