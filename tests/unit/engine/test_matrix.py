"""The matrix: what each strategy keeps and loses, against counts made by hand; sorting, texts, cancelling."""

from __future__ import annotations

import csv
import io

import pytest

from ctxviewer.domain.errors import CancelledWorkError, CtxError
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.matrix import COLUMNS, Choice, all_choices, as_csv, as_markdown, column_of, matrix
from ctxviewer.engine.state import state_at
from ctxviewer.engine.strategies import STRATEGIES, Facts, SettingsError, strategy
from helpers.cline_talk import a, alternating, call, mention, pairs, read, result, text, u
from helpers.lab import lab_state, lab_task
from helpers.sage_talk import StubModel

BODY = "x" * 360
TALK = pairs(
    read("a.py", BODY), u("[ask] Result:\n<feedback>use b</feedback>"), read("b.py", BODY), read("a.py", BODY), "t", "t"
)


def row_of(state, key, values=None, **more):
    (row,) = matrix(state, [Choice(strategy(key), values or {})], **more).rows
    return row


def test_a_cut_by_hand():
    state = lab_state(TALK, [9_000] * 7)
    row = row_of(state, "half")
    assert row.lost == (Range(2, 7),)
    assert (row.messages_kept, row.messages_lost, row.blocks_lost) == (8, 6, 7)
    assert row.files_lost == ("b.py",)
    assert row.instructions_lost == (4,)
    assert row.first_pair_lost == ()
    assert row.repairs == 0
    assert row.can_apply


def test_tokens_by_hand():
    talk = [u("x" * 36), a("y" * 36), u("z" * 36), a("y" * 36), u("x" * 36), a("y" * 36), u("x" * 36)]
    found = matrix(lab_state(talk, [1_000]), [Choice(strategy("none"))])
    assert found.tokens_before == 7 * (9 + 8)
    assert found.overhead == 1_000 - 2 * 17
    (row,) = found.rows
    kept = row.plan.after
    assert kept.sent_count == 3
    notice = -(-len(kept.updates[1, 0].text) // 4)
    assert row.tokens_kept == 3 * 8 + 9 + notice + 9
    assert row.total == row.tokens_kept + found.overhead
    assert row.fits
    assert row.below_limit


def test_a_message_that_is_kept_in_part_counts_and_loses_in_part():
    talk = [u("x" * 360), a("go", call("t1")), u(result("t1", "y" * 360), "w" * 36), a("z" * 360), u("end")]
    row = row_of(lab_state(talk), "sage-prune", {"recent": 3, "threshold": 0}, window=300)
    assert row.plan.after.gone_blocks == {(2, 0)}
    assert row.tokens_kept == (8 + 9) + (8 + 90) + (8 + 1)
    assert (row.messages_lost, row.blocks_lost, row.messages_kept) == (2, 4, 3)


def test_a_file_in_a_block_that_goes_is_lost_though_its_message_stays():
    held = result("t1", [text(read("c.py", BODY))])
    talk = [u("x" * 360), a("go", call("t1")), u(held, "words"), a("z" * 360), u("end")]
    row = row_of(lab_state(talk), "sage-prune", {"recent": 3, "threshold": 0}, window=300)
    assert row.files_lost == ("c.py",)
    assert Range(2, 2) not in row.lost


def test_what_does_not_fit():
    found = matrix(lab_state(alternating(4), [30_000]), window=9_000)
    assert not any(row.fits or row.below_limit for row in found.rows)


def test_the_cached_prefix():
    state = lab_state(TALK, [5] * 8)
    facts = Facts(state.timeline)
    previous = sum(facts[n].tokens for n in range(14))
    same = row_of(state, "decide", facts=facts)
    assert same.cached_share == pytest.approx(1)
    cut = row_of(state, "half", facts=facts)
    assert cut.cached_share == pytest.approx((facts[0].tokens + 0) / previous, abs=0.02)
    pruned = row_of(state, "sage-prune", {"always": True, "recent": 2, "threshold": 0}, window=200, facts=facts)
    assert pruned.cached_share == 0
    assert row_of(lab_state(TALK), "half").cached_share is None


def test_an_optimisation_loses_blocks_but_no_file():
    row = row_of(lab_state(TALK, [5] * 7), "optimise")
    assert (row.messages_lost, row.blocks_lost) == (0, 1)
    assert row.files_lost == ()
    assert row.tokens_saved > 0
    assert row.cached_share < 1


def test_a_mention_is_a_copy_of_its_own():
    talk = pairs(f"{mention('a.py')} {mention('b.py')}", mention("a.py"), "c")
    row = row_of(lab_state(talk, [5] * 4), "optimise")
    assert row.files_lost == ()
    assert row.plan.after.updates
    cut = row_of(lab_state(talk, [5] * 4), "lastTwo")
    assert set(cut.files_lost) == {"a.py", "b.py"}


def test_losing_the_task_itself_is_counted():
    row = row_of(lab_state(TALK), "sage-prune", {"always": True, "recent": 2, "threshold": 0}, window=200)
    assert row.first_pair_lost == (0, 1)
    assert not row.can_apply


def test_repairs_are_counted():
    talk = [u("task"), a("go", call("t0")), u(result("t0")), a("go", call("t1")), u("no result"), a("ok"), u("end")]
    assert row_of(lab_state(talk), "decide").repairs == 1


def test_a_failing_row_says_why_and_the_others_stand():
    class AwayError(CtxError):
        pass

    choices = [
        Choice(strategy("half")),
        Choice(strategy("sage-summarize"), {"always": True, "recent": 0, "threshold": 0}),
    ]
    found = matrix(lab_state(TALK, [5] * 7), choices, window=100, model=StubModel(AwayError("the model is away")))
    assert [row.problem for row in found.rows] == ["", "the model is away"]
    assert found.sorted_by("kept", descending=True)[-1].problem
    wrong = matrix(lab_state(TALK), [Choice(strategy("half"), {"x": 1})])
    assert "no setting 'x'" in wrong.rows[0].problem
    assert column_of("kept").text(wrong.rows[0]) == "–"


def test_a_window_that_cannot_be_used_is_no_matrix():
    with pytest.raises(SettingsError):
        matrix(lab_state(TALK), window=-1)


def test_sorting_and_different_columns():
    found = matrix(lab_state(TALK, [9_000] * 7))
    kept = [row.tokens_kept for row in found.sorted_by("kept")]
    assert kept == sorted(kept)
    assert [row.tokens_kept for row in found.sorted_by("kept", descending=True)] == kept[::-1]
    keys = {column.key for column in found.different_columns()}
    assert {"strategy", "kept", "messages"} <= keys
    assert "repairs" not in keys
    with pytest.raises(KeyError):
        found.sorted_by("none such")


def test_texts():
    found = matrix(lab_state(TALK, [9_000] * 7))
    markdown = as_markdown(found).splitlines()
    assert markdown[0].startswith("Before the next request: ")
    assert markdown[2].count("|") == len(COLUMNS) + 1
    words_left_numbers_right = [column.key not in {"strategy", "note"} for column in COLUMNS]
    assert [cell.strip() == "---:" for cell in markdown[3].strip("|").split("|")] == words_left_numbers_right
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert [row["strategy"] for row in rows] == [row.name for row in found.rows]
    assert [int(row["kept"]) for row in rows] == [row.tokens_kept for row in found.rows]
    assert rows[0]["fits"] == "yes"
    one = as_csv(found, found.rows[:1], [column_of("kept")])
    assert one == f"kept\n{found.rows[0].tokens_kept}\n"


def test_one_message_is_one_message():
    assert "estimated tokens in 1 message, window" in as_markdown(matrix(lab_state([u("task")])))


def test_markdown_cannot_be_broken_by_a_text():
    choice = Choice(strategy("sage-compact"), {"override": "a|b\nc"})
    found = matrix(lab_state(TALK), [choice])
    assert "a\\|b c" in as_markdown(found)


def test_it_can_be_cancelled():
    asked = []

    def check():
        asked.append(1)
        if len(asked) > 3:
            raise CancelledWorkError("stopped")

    with pytest.raises(CancelledWorkError):
        matrix(lab_state(alternating(400), [5] * 100), check=check)
    assert len(asked) == 4


def test_facts_of_another_task_are_not_used():
    state = lab_state(TALK)
    strange = Facts(lab_task(alternating(30)))
    assert matrix(state, facts=strange).tokens_before == matrix(state).tokens_before


def test_better_counts_are_used_where_they_are_known():
    class Costs:
        def block(self, number, _block):
            return 1_000 if number == 2 else None

        def update(self, _text):
            return None

    state = lab_state(alternating(6))
    plain, better = Facts(state.timeline), Facts(state.timeline, Costs())
    assert better[2].tokens == 1_008
    difference = matrix(state, facts=better).tokens_before - matrix(state, facts=plain).tokens_before
    assert difference == 1_008 - plain[2].tokens


def test_every_strategy_is_a_row_by_default():
    found = matrix(state_at(lab_task(TALK, [9_000] * 7), 3))
    assert [row.choice.strategy for row in found.rows] == list(STRATEGIES) == [c.strategy for c in all_choices()]
    assert found.request == 3
    assert found.until == 7
