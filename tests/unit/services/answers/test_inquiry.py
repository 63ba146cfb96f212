"""One question in the background: asked while somebody looks, the newest counts, the old answer stays until then."""

import pytest
from PySide6.QtCore import QObject, Signal

from ctxviewer.domain.errors import CtxError
from ctxviewer.services.answers.inquiry import Inquiry
from ctxviewer.services.runner import InlineExecutor, Runner
from helpers.snapshots import Heard, HeldExecutor


class Moves(QObject):
    moved = Signal(object)


class Square(Inquiry):
    def __init__(self, runner, moves):
        super().__init__(runner, (moves.moved,), "Squaring")
        self.number = None
        self.worked = []

    def question(self):
        return self.number

    def work(self, question, token):
        self.worked.append(question)
        token.check()
        if question < 0:
            raise CtxError("There is no such number.")
        return question * question


class Desk:
    def __init__(self, executor):
        self.executor = executor
        self.runner = Runner(read=executor, change=InlineExecutor())
        self.moves = Moves()
        self.square = Square(self.runner, self.moves)
        self.heard = Heard(self.square.changed)

    def move(self, number, *, at_once=True):
        self.square.number = number
        self.moves.moved.emit(number)
        if at_once and number is not None:
            self.square.refresh()


@pytest.fixture
def inline(qapp):
    return Desk(InlineExecutor())


@pytest.fixture
def held(qapp):
    return Desk(HeldExecutor())


def test_nothing_is_worked_on_while_nobody_looks(inline):
    inline.move(3)
    assert inline.square.worked == []
    inline.square.watch(True)
    assert inline.square.answer.value == 9
    inline.square.watch(False)
    inline.move(4)
    assert inline.square.worked == [3]
    inline.square.watch(True)
    assert inline.square.answer.value == 16


def test_the_same_question_is_not_asked_twice(inline):
    inline.square.watch(True)
    inline.move(3)
    inline.move(3)
    inline.square.watch(False)
    inline.square.watch(True)
    assert inline.square.worked == [3]


def test_fast_steps_are_one_question(inline, qtbot):
    inline.square.watch(True)
    for number in (1, 2, 3, 4):
        inline.move(number, at_once=False)
    assert inline.square.pending
    qtbot.waitUntil(lambda: not inline.square.pending)
    assert inline.square.worked == [4]


def test_an_answer_that_comes_late_is_dropped(held):
    held.square.watch(True)
    held.move(3)
    first = held.executor.held.pop()
    held.move(5)
    first()
    assert held.square.answer.value is None
    held.executor.run_all()
    assert [answer.value for answer in held.heard.said] == [25]


def test_the_answer_before_stays_until_the_next_is_there(held, qtbot):
    held.square.watch(True)
    held.move(2)
    held.executor.run_all()
    held.move(3)
    assert held.square.answer.value == 4
    qtbot.waitUntil(lambda: held.square.answer.working)
    assert held.square.answer.value == 4
    held.executor.run_all()
    assert (held.square.answer.value, held.square.answer.working) == (9, False)


def test_going_back_to_the_answered_question_needs_no_work(held, qtbot):
    held.square.watch(True)
    held.move(2)
    held.executor.run_all()
    held.move(3)
    qtbot.waitUntil(lambda: held.square.answer.working)
    held.move(2)
    assert (held.square.answer.value, held.square.answer.working) == (4, False)
    held.executor.run_all()
    assert held.square.worked == [2]


def test_a_question_that_cannot_be_answered_says_why(inline):
    inline.square.watch(True)
    inline.move(2)
    inline.move(-1)
    assert inline.square.answer.value is None
    assert inline.square.answer.error.sentence == "There is no such number."
    inline.move(3)
    assert (inline.square.answer.value, inline.square.answer.error) == (9, None)


def test_without_a_question_there_is_no_answer_at_once(inline):
    inline.square.watch(True)
    inline.move(2)
    inline.move(None)
    assert inline.square.answer.value is None
    assert not inline.square.pending


def test_closing_cancels(held):
    held.square.watch(True)
    held.move(2)
    held.square.close()
    held.executor.run_all()
    assert held.heard.said == []
    assert held.square.worked == []
