"""The difference of what is shown to a reference: rows at once, tokens and files when known, texts on demand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QObject, Signal

from ctxviewer.domain.plan import Plan
from ctxviewer.services.answers.inquiry import Inquiry
from ctxviewer.services.answers.knowledge import Insight, Knowledge
from ctxviewer.services.counting import Counting
from ctxviewer.services.runner import CancelToken, Runner
from ctxviewer.services.session import Session, SnapshotChange

if TYPE_CHECKING:  # numpy loads with these; at run time jobs load them, off the GUI thread
    from ctxviewer.engine.difference import BlockText, RequestDifference
    from ctxviewer.engine.line_difference import Difference
    from ctxviewer.engine.weights import CategoryTokens, FileChanges
    from ctxviewer.tokens import TokenTable


class Against(StrEnum):
    """What is compared with what is shown."""

    BEFORE = "the request before"
    """Of a what-if: the state that it starts from."""
    FIRST = "the first request"
    NOW = "the present state"
    MARKED = "the marked request"


@dataclass(frozen=True, slots=True)
class Reference:
    """The other side of the comparison."""

    against: Against = Against.BEFORE
    request: int | None = None
    """Number of the marked request, from 0."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What is compared with what."""

    insight: Insight
    before: int | None
    """Request number, None = the present state."""
    after: int | None
    plan: Plan | None
    """The what-if that is looked at takes the place of `after`."""
    plan_is_before: bool = False
    """True where the what-if's own starting point is the reference."""


@dataclass(frozen=True, slots=True)
class Sums:
    """Tokens and files of a difference."""

    found: RequestDifference
    rows: tuple[tuple[int, int] | None, ...]
    """Estimated tokens of each row, before and after; None where they are not counted."""
    categories: tuple[CategoryTokens, ...]
    files: FileChanges


class Comparing(Inquiry[Sides, "RequestDifference"]):
    """Rows of the difference; follows stepping."""

    reference_changed = Signal(object)  # Reference

    def __init__(self, runner: Runner, session: Session, knowledge: Knowledge, parent: QObject | None = None) -> None:
        depends = (session.task_changed, session.snapshot_changed, session.request_changed, session.plan_changed)
        super().__init__(runner, depends, "Comparing two requests", parent)
        self.reference_changed.connect(self._note)
        self._session, self._knowledge = session, knowledge
        self._reference = Reference()
        session.task_changed.connect(self._reset)
        session.snapshot_changed.connect(self._keep_inside)

    @property
    def reference(self) -> Reference:
        """What is compared with."""
        return self._reference

    def set_reference(self, reference: Reference) -> None:
        """Compare with something else."""
        if reference != self._reference:
            self._reference = reference
            self.reference_changed.emit(reference)

    def mark(self, request: int) -> None:
        """Make a request the reference."""
        self.set_reference(Reference(Against.MARKED, request))

    def question(self) -> Sides | None:
        """The two sides as they are now; None also where there is nothing to compare with."""
        session, insight = self._session, self._knowledge.insight
        if insight is None or session.snapshot is None or not session.snapshot.has_messages:
            return None
        plan, shown, count = session.plan, session.request, session.request_count
        against, marked = self._reference.against, self._reference.request
        if against is Against.NOW:
            return Sides(insight, None, shown, plan)
        if against is Against.MARKED and marked is not None and marked < count:
            return Sides(insight, marked, shown, plan)
        if against is Against.BEFORE and plan is not None:
            return Sides(insight, None, shown, plan, plan_is_before=True)
        if not count:
            return None
        if against is Against.FIRST:
            return Sides(insight, 0, shown, plan)
        position = count if shown is None else shown
        return Sides(insight, position - 1, shown, plan) if position > 0 else None

    def work(self, question: Sides, token: CancelToken) -> RequestDifference:
        """The rows."""
        from ctxviewer.engine.difference import difference  # noqa: PLC0415 - as above

        timeline, plan = question.insight.timeline, question.plan
        timeline.find_repairs(token.check)
        after = plan.after if plan is not None else timeline.projection(question.after)
        before = plan.before if plan is not None and question.plan_is_before else timeline.projection(question.before)
        return difference(timeline, before, after, token.check)

    def _reset(self, _task: object) -> None:
        self.set_reference(Reference())

    def _keep_inside(self, change: SnapshotChange) -> None:
        marked = self._reference.request
        if marked is not None and marked >= len(change.timeline.requests):
            self.set_reference(Reference())


@dataclass(frozen=True, slots=True)
class SumsQuestion:
    """A difference whose tokens and files are wanted."""

    insight: Insight
    found: RequestDifference
    table: TokenTable


class ComparingSums(Inquiry[SumsQuestion, Sums]):
    """Tokens and files of the newest difference, once everything is counted."""

    def __init__(
        self,
        runner: Runner,
        knowledge: Knowledge,
        comparing: Comparing,
        counting: Counting,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(runner, (comparing.changed, counting.counts_changed), "Weighing the difference", parent)
        self._knowledge, self._comparing, self._counting = knowledge, comparing, counting

    def question(self) -> SumsQuestion | None:
        """The newest difference; None while messages are being counted."""
        insight, found, table = self._knowledge.insight, self._comparing.answer.value, self._counting.table
        if insight is None or found is None or table is None or not table.complete:
            return None
        return SumsQuestion(insight, found, table)

    def work(self, question: SumsQuestion, token: CancelToken) -> Sums:
        """The first one for a task reads the whole history."""
        from ctxviewer.engine.weights import difference_tokens, file_changes, row_tokens  # noqa: PLC0415 - as above

        past, found, table = question.insight.past(), question.found, question.table
        rows = tuple(row_tokens(found, row, table) for row in found.rows)
        with question.insight.anatomy_lock:
            categories = difference_tokens(past, found, table, token.check)
        return Sums(found, rows, categories, file_changes(past, found, token.check))


@dataclass(frozen=True, slots=True)
class TextsQuestion:
    """A message of a difference whose texts are wanted."""

    insight: Insight
    found: RequestDifference
    message: int


Texts: TypeAlias = "tuple[tuple[BlockText, Difference], ...]"


class ComparingTexts(Inquiry[TextsQuestion, Texts]):
    """The blocks of one message that differ, with both texts by lines; asked for message by message."""

    def __init__(
        self, runner: Runner, knowledge: Knowledge, comparing: Comparing, parent: QObject | None = None
    ) -> None:
        super().__init__(runner, (comparing.changed,), "Comparing texts", parent)
        self._knowledge, self._comparing = knowledge, comparing
        self._message: int | None = None

    @property
    def message(self) -> int | None:
        """The message that is looked at."""
        return self._message

    def show(self, message: int | None) -> None:
        """Look at the texts of a message, or of none."""
        if message != self._message:
            self._message = message
            self.refresh()

    def question(self) -> TextsQuestion | None:
        """The message in the newest difference."""
        insight, found = self._knowledge.insight, self._comparing.answer.value
        if insight is None or found is None or self._message is None:
            return None
        return TextsQuestion(insight, found, self._message)

    def work(self, question: TextsQuestion, token: CancelToken) -> Texts:
        """Both texts of each block that differs, and their difference by lines."""
        from ctxviewer.engine.difference import text_changes  # noqa: PLC0415 - as above

        token.check()
        texts = text_changes(question.insight.timeline, question.found, question.message)
        return tuple((text, text.lines()) for text in texts)
