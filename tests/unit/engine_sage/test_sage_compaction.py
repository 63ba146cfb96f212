"""sage.md §11: when a compaction is due, what it does, what it counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxviewer.engine.sage.auto_compact import AutoCompact, Compacted, CompactStats, Skipped, compact, partition
from ctxviewer.engine.sage.config import AutoCompactConfig
from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR, TokenEstimator
from ctxviewer.engine.sage.ledger import CostLedger
from ctxviewer.engine.sage.message import SageMessage
from ctxviewer.engine.sage.session import SageSession
from helpers.sage_talk import Maker, StubModel, makers, spell, talk

HALF_OF_100 = AutoCompactConfig(max_context_tokens=100, compact_threshold_ratio=0.5, preserve_recent_count=2)
LONG = "u:36*q a:36*r u:36*q a:36*r u:36*q a:36*r"


def auto(config: AutoCompactConfig = HALF_OF_100, model: StubModel | None = None) -> AutoCompact:
    return AutoCompact(config, model=model, **makers())


def done(result: Compacted | Skipped) -> Compacted:
    assert isinstance(result, Compacted)
    return result


@pytest.mark.parametrize(("length", "due"), [(68, False), (72, True), (76, True)])
def test_due_from_the_threshold_on(length: int, due: bool) -> None:
    messages = talk(f"s: u:{length}*a a: u:")
    assert auto().needs_compaction(messages) is due
    assert isinstance(auto().check_and_compact(messages), Compacted) is due


def test_a_compaction_in_numbers() -> None:
    messages = talk(f"s:sys {LONG}")
    result = done(auto(model=StubModel("<summary> gist </summary>")).check_and_compact(messages))
    assert spell(result.messages) == "s B u a"
    assert result.numbers == (0, None, 5, 6)
    assert result.compacted == (1, 2, 3, 4)
    assert (result.partition.hoisted, list(result.partition.recent), result.partition.start) == ((0,), [5, 6], 0)
    assert (result.tokens_before, result.tokens_after, result.tokens_saved) == (111, 65, 46)
    assert (result.summary, result.compact_id, result.time) == ("gist", "id 1", "time 1")
    assert result.boundary.metadata["compact_id"] == "id 1"
    assert result.boundary.metadata["compact_timestamp"] == "time 1"
    assert result.messages[1] is result.boundary
    assert all(
        result.messages[place] is messages[number] for place, number in enumerate(result.numbers) if number is not None
    )


def test_system_messages_are_hoisted_in_order_and_stay_in_the_tail() -> None:
    result = done(auto().force_compact(talk("u:1 s:a u:2 s:b t:3 e:4 s:c u:5")))
    assert result.numbers == (1, 3, None, 6, 7)
    assert result.compacted == (0, 2, 4, 5)


def test_the_parts_never_reach_into_the_prefix() -> None:
    parts = partition(talk("u:1 B:mark u:2 a:3"), 5, 2)
    assert (parts.start, parts.hoisted, parts.compacted, list(parts.recent)) == (2, (), (), [2, 3])


def test_tool_and_error_messages_are_compacted() -> None:
    assert done(auto().force_compact(talk("t:1 e:2 u:3 a:4"))).compacted == (0, 1)


def test_the_prefix_stays_and_collects() -> None:
    messages = talk("s:sys u:old B:mark u:1 a:2 u:3 a:4")
    result = done(auto().force_compact(messages))
    assert result.numbers == (0, 1, 2, None, 5, 6)
    assert result.changed_from == 3
    again = done(auto().force_compact([*result.messages, *talk("u:5 a:6")]))
    assert spell(again.messages) == "s u B B B u a"
    assert again.compacted == (4, 5)


def test_only_the_active_part_counts_towards_the_trigger() -> None:
    assert not auto().needs_compaction(talk("u:4000*x B:mark u:1"))
    assert auto().active_tokens(talk("u:4000*x B:mark u:1")) == 9
    assert auto().active_tokens(talk("u:1 B:mark")) == 0


@pytest.mark.parametrize("text", ["", "u:400*a a:400*b", "s:400*a s:400*b s:c", "s:400*a u:400*b a:c", "u:400*b B:x"])
def test_nothing_to_compact_is_skipped_without_asking(text: str) -> None:
    model, time, new_id = StubModel("x"), Maker("time"), Maker("id")
    machine = AutoCompact(HALF_OF_100, now=time, new_id=new_id, model=model)
    messages = talk(text)
    result = machine.force_compact(messages)
    assert isinstance(result, Skipped)
    assert result.messages is messages
    assert (len(model.prompts), time.calls, new_id.calls) == (0, 0, 0)
    assert machine.stats == CompactStats(0, 0, 1)


def test_recent_zero_keeps_none() -> None:
    result = done(auto(replace(HALF_OF_100, preserve_recent_count=0)).force_compact(talk("s:x u:1 a:2")))
    assert result.numbers == (0, None)
    assert list(result.partition.recent) == []


def test_disabled_checks_skip_and_force_works() -> None:
    machine = auto(replace(HALF_OF_100, enabled=False))
    messages = talk(LONG)
    assert not machine.needs_compaction(messages)
    assert isinstance(machine.check_and_compact(messages), Skipped)
    assert isinstance(machine.force_compact(messages), Compacted)
    assert (machine.stats.compact_count, machine.stats.skipped_count) == (1, 1)


def test_a_failing_model_changes_nothing() -> None:
    error = RuntimeError("offline")
    machine = auto(model=StubModel(error))
    messages = talk(LONG)
    before = list(messages)
    for act in (machine.check_and_compact, machine.force_compact):
        with pytest.raises(RuntimeError) as caught:
            act(messages)
        assert caught.value is error
    assert machine.stats == CompactStats()
    assert messages == before


def test_a_failing_model_leaves_a_session_as_it_was() -> None:
    session = SageSession()
    session.extend(talk(LONG))
    with pytest.raises(RuntimeError):
        session.check(auto(model=StubModel(RuntimeError("offline"))))
    assert (session.numbers, len(session.ledger)) == ([0, 1, 2, 3, 4, 5], 6)


def test_savings_stop_at_zero_and_are_summed() -> None:
    machine = auto(model=StubModel("long " * 80))
    grown = done(machine.force_compact(talk("u:a a:b u:c")))
    assert grown.tokens_after > grown.tokens_before
    assert (grown.tokens_saved, machine.stats.tokens_saved) == (0, 0)
    shrunk = auto(model=StubModel("gist"))
    shrunk.force_compact(talk(LONG))
    shrunk.force_compact(talk(LONG))
    assert shrunk.stats == CompactStats(compact_count=2, tokens_saved=92, skipped_count=0)


def test_the_default_estimator_counts_whatever_the_provider() -> None:
    config = AutoCompactConfig.for_provider("anthropic", "claude-opus")
    assert auto(config).active_tokens(talk("u:abcd")) == 9


def test_the_model_sees_the_compacted_messages_only() -> None:
    model = StubModel("gist")
    auto(model=model).force_compact(talk("s:rules u:first a:second u:third a:fourth"))
    (prompt,) = model.prompts
    assert "USER:\nfirst\n\nASSISTANT:\nsecond" in prompt
    assert not any(word in prompt for word in ("rules", "third", "fourth"))


def test_the_summary_of_a_model_is_extracted_and_trimmed() -> None:
    result = done(
        auto(model=StubModel("<analysis>x</analysis>\n<summary>\n gist\n</summary>")).force_compact(talk(LONG))
    )
    assert result.boundary.content == "[Previous conversation summary]\n\ngist\n\n[End of summary]"


def test_known_costs_give_the_same_result_without_estimating() -> None:
    class NoEstimates(TokenEstimator):
        def message(self, message: SageMessage) -> int:
            assert message.metadata, "an unchanged message was estimated again"
            return DEFAULT_ESTIMATOR.message(message)

    messages = talk(f"s:sys {LONG}")
    estimator = NoEstimates()
    ledger = CostLedger(messages, DEFAULT_ESTIMATOR.each(messages), estimator=estimator)
    result = done(compact(messages, 2, model=StubModel("gist"), estimator=estimator, ledger=ledger, **makers()))
    assert (result.tokens_before, result.tokens_after) == (111, 65)


def test_a_session_carries_numbers_through_compactions() -> None:
    machine, session = auto(model=StubModel("gist")), SageSession()
    session.extend(talk(f"s:sys {LONG}"))
    session.check(machine)
    session.extend(talk(LONG))
    session.check(machine)
    assert session.numbers == [0, None, None, 11, 12]
    assert spell(session.messages) == "s B B u a"
    assert session.ledger.costs() == list(DEFAULT_ESTIMATOR.each(session.messages))
    assert machine.stats == CompactStats(2, 46 + 80, 0)
    session.check(machine)
    assert machine.stats.skipped_count == 1
