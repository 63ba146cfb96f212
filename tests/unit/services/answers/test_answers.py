"""What the inquiries ask of the engine: the right request, the right reference, and only when it makes sense."""

import gc
import weakref
from dataclasses import replace

import pytest

from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.difference import RowKind
from ctxviewer.engine.facts import FileQuestion, MessageQuestion, TextQuestion
from ctxviewer.engine.plans import plan_truncate
from ctxviewer.services.answers.comparing import Against, Reference
from ctxviewer.services.answers.tracking import MOST
from ctxviewer.tokens import TokenTable
from helpers.asking import Bench, WordCounter, story
from helpers.snapshots import Heard


@pytest.fixture(autouse=True)
def words_are_tokens(monkeypatch):
    monkeypatch.setattr("ctxviewer.tokens.load_counter", lambda _encoding: WordCounter())


@pytest.fixture
def task():
    return story()


@pytest.fixture
def bench(qapp, task):
    return Bench(task).open(task)


# -- comparing


def sides(bench):
    question = bench.comparing.question()
    return None if question is None else (question.before, question.after)


def test_the_reference_is_the_request_before_and_follows_stepping(bench):
    assert sides(bench) == (7, None)
    bench.session.select_request(5)
    assert sides(bench) == (4, 5)
    bench.session.select_request(0)
    assert sides(bench) is None


def test_a_marked_request_stays_the_reference(bench):
    bench.comparing.mark(2)
    bench.session.select_request(6)
    assert sides(bench) == (2, 6)
    bench.comparing.set_reference(Reference(Against.FIRST))
    assert sides(bench) == (0, 6)
    bench.comparing.set_reference(Reference(Against.NOW))
    assert sides(bench) == (None, 6)


def test_a_what_if_is_compared_with_what_it_starts_from(bench):
    plan = plan_truncate(bench.session.timeline, "half")
    bench.session.preview(plan)
    bench.comparing.watch(True)
    found = bench.comparing.answer.value
    assert (found.before, found.after) == (plan.before, plan.after)
    assert found.count(RowKind.LEFT) > 0


def test_another_task_forgets_the_mark(bench, task):
    bench.comparing.mark(2)
    other = replace(task, task=replace(task.task, directory=task.task.directory / "other"))
    bench.disk.put(other)
    bench.session.open_task(other.task)
    assert bench.comparing.reference == Reference()


def test_rows_sums_and_texts_of_the_request_that_cut(bench):
    bench.comparing.watch(True)
    bench.sums.watch(True)
    bench.texts.watch(True)
    bench.session.select_request(5)
    bench.comparing.refresh()
    bench.sums.refresh()
    found, sums = bench.comparing.answer.value, bench.sums.answer.value
    assert [(row.kind, row.first, row.last) for row in found.changes] == [
        (RowKind.REWRITTEN, 1, 1),
        (RowKind.LEFT, 2, 5),
        (RowKind.ENTERED, 9, 10),
    ]
    assert sums.found is found
    left = sums.rows[[row.kind for row in found.rows].index(RowKind.LEFT)]
    assert left[0] > 60
    assert left[1] == 0
    assert sums.files.left == ("src/a.py",)
    bench.texts.show(1)
    assert [(text.before, text.after) for text, _ in bench.texts.answer.value] == [
        ("I will use port 8080.", "a notice")
    ]


# -- losses, findings, tokens


def test_losses_follow_the_request(bench):
    bench.losing.watch(True)
    bench.session.select_request(4)
    bench.losing.refresh()
    assert bench.losing.answer.value.losses == ()
    bench.session.select_request(5)
    bench.losing.refresh()
    assert "src/a.py" in [loss.title for loss in bench.losing.answer.value.losses]


def test_findings_are_those_of_the_rules_too(bench):
    bench.diagnosing.watch(True)
    assert bench.diagnosing.answer.value.timeline is bench.session.timeline


def test_tokens_wait_until_everything_is_counted(qapp, task):
    bench = Bench(task, held=True)
    bench.session.open_task(task.task)
    bench.executor.held.pop(0)()
    assert bench.weighing.question() is None
    assert bench.weighing.counted_share == 0
    bench.run()
    assert bench.weighing.counted_share == 1
    assert bench.weighing.question().request is None


def test_what_a_request_is_made_of_adds_up(bench):
    bench.weighing.watch(True)
    bench.session.select_request(3)
    bench.weighing.refresh()
    weighed = bench.weighing.answer.value
    assert weighed.composition.request == 3
    assert weighed.composition.counted == bench.counting.sums(bench.session.timeline.projection(3)).sent
    assert len(weighed.reconciled) == 8
    assert weighed.fit is weighed.calibration.fits[0]


def test_costs_are_asked_only_where_something_was_changed(bench):
    bench.costing.watch(True)
    assert bench.costing.question() is None
    bench.session.select_request(5)
    bench.costing.refresh()
    cost = bench.costing.answer.value
    assert cost.request == 5
    assert cost.cost.lost > 0
    assert "built-in price table" in cost.cost.sentence


def test_a_price_table_that_cannot_be_read_is_told(bench, tmp_path):
    bench.costing.watch(True)
    bench.prices = str(tmp_path / "none.toml")
    bench.session.select_request(5)
    bench.costing.refresh()
    assert "cannot be read" in bench.costing.answer.error.sentence


# -- facts


def test_a_fact_is_pinned_with_its_answer(bench):
    heard = Heard(bench.tracking.added)
    bench.tracking.track(TextQuestion("port 8080"))
    fact = heard.said[0]
    assert (fact.place, fact.fact.first, fact.fact.last) == (0, 1, 4)
    assert bench.tracking.facts == (fact,)


def test_pinning_the_same_again_only_shows_it(bench):
    heard = Heard(bench.tracking.added)
    bench.tracking.track(FileQuestion("src/a.py"))
    bench.tracking.track(FileQuestion("src/a.py"))
    assert len(bench.tracking.facts) == 1
    assert heard.said[0] is heard.said[1]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (TextQuestion("  "), "nothing to look for"),
        (TextQuestion("(", regex=True), "cannot be understood"),
        (FileQuestion("nowhere.py"), "never stood"),
        (MessageQuestion(99), "no message 99"),
    ],
)
def test_a_bad_question_is_refused_in_a_sentence(bench, question, words):
    heard = Heard(bench.tracking.refused)
    bench.tracking.track(question)
    assert words in heard.said[0].sentence
    assert isinstance(heard.said[0], CtxError)
    assert bench.tracking.facts == ()


def test_facts_asked_for_while_another_is_looked_for_wait_for_their_turn(qapp, task):
    bench = Bench(task, held=True).open(task)
    refused = Heard(bench.tracking.refused)
    for question in (
        TextQuestion("port 8080"),
        TextQuestion("  "),
        FileQuestion("src/a.py"),
        TextQuestion("port 8080"),
    ):
        bench.tracking.track(question)
    assert bench.tracking.pending
    bench.run()
    assert [one.question for one in bench.tracking.facts] == [TextQuestion("port 8080"), FileQuestion("src/a.py")]
    assert len(refused.said) == 1
    assert not bench.tracking.pending


def test_removed_places_are_used_again_and_there_are_not_too_many(bench):
    for number in range(MOST):
        bench.tracking.track(MessageQuestion(number))
    bench.tracking.remove(2)
    bench.tracking.track(MessageQuestion(9))
    assert [(one.place, one.question.message) for one in bench.tracking.facts][-1] == (2, 9)
    heard = Heard(bench.tracking.refused)
    bench.tracking.track(MessageQuestion(10))
    assert "6 facts" in heard.said[0].sentence
    bench.tracking.clear()
    assert bench.tracking.facts == ()


def test_facts_follow_a_task_that_grows(bench):
    bench.tracking.track(TextQuestion("step 3"))
    before = bench.tracking.facts[0].fact
    bench.show(story(more=1))
    after = bench.tracking.facts[0]
    assert (before.requests, after.fact.requests) == (8, 9)
    assert not after.working


@pytest.mark.parametrize("asked", [False, True])
def test_earlier_readings_are_not_held_by_what_is_known(bench, asked):
    if asked:
        bench.knowledge.insight.past().anatomy()
    blocks = bench.knowledge.insight.known.blocks if asked else None
    old = weakref.ref(bench.session.timeline)
    for more in range(1, 4):
        bench.show(story(more=more))
    gc.collect()
    assert old() is None
    past = bench.knowledge.insight.past()
    assert past.known.blocks is blocks
    assert past.anatomy().read.messages[:16] == (blocks.messages if asked else past.anatomy().read.messages[:16])


def test_a_message_that_is_gone_keeps_its_fact_and_says_why(bench):
    bench.tracking.track(MessageQuestion(15))
    bench.show(story(rounds=6))
    fact = bench.tracking.facts[0]
    assert fact.fact is None
    assert "no message 15" in fact.error.sentence


def test_each_task_has_its_own_facts(bench, task):
    bench.tracking.track(TextQuestion("port 8080"))
    other = replace(task, task=replace(task.task, directory=task.task.directory / "other"))
    bench.disk.put(other)
    bench.session.open_task(other.task)
    assert bench.tracking.facts == ()
    bench.session.open_task(task.task)
    assert [one.question for one in bench.tracking.facts] == [TextQuestion("port 8080")]
    assert bench.tracking.facts[0].fact.first == 1


def test_what_is_asked_in_a_task_is_not_answered_in_the_next(qapp, task):
    other = replace(task, task=replace(task.task, directory=task.task.directory / "other"))
    bench = Bench(task, other, held=True).open(task)
    bench.run()
    bench.tracking.track(TextQuestion("port 8080"))
    bench.tracking.track(TextQuestion("step 3"))
    bench.session.open_task(other.task)
    assert not bench.tracking.pending
    bench.run()
    assert bench.tracking.facts == ()
    bench.session.open_task(task.task)
    bench.run()
    assert bench.tracking.facts == ()


def test_the_fit_is_made_once_for_a_table_of_counts(bench, task):
    insight = bench.knowledge.insight
    tables = [TokenTable(len(task.messages)) for _ in range(2)]
    first, again, other = (insight.calibration(table, lambda: None) for table in (tables[0], *tables))
    assert first is again
    assert first is not other


def test_paths_for_the_field(bench):
    bench.tracking.find_paths()
    assert bench.tracking.paths == ("src/a.py",)


def test_what_is_known_of_messages_is_carried_on(bench):
    first = bench.knowledge.insight.past().contents().messages[3]
    bench.show(story(more=1))
    assert len(bench.knowledge.insight.past().contents()) == 18
    assert bench.knowledge.insight.past().contents().messages[3] is first
