"""What Cline really did, request by request, against what its rules would do: agreements, differences, likely causes.

Every comparison starts from the recorded state, so that one difference does not make all later ones differ. Where the
messages of then are missing, ranges are compared by how many there were; what replacing reads saved is then not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.log import Prefix
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.prepare import Decision
from ctxviewer.engine.cline.truncation import Keep, next_range, resume_index
from ctxviewer.engine.cline.updates import ContextHistory
from ctxviewer.engine.cline.window import Api, WindowInfo, window_info
from ctxviewer.engine.events import RANGE_KINDS, Event, EventKind
from ctxviewer.engine.explain import optimization_sentence
from ctxviewer.engine.stand_ins import StandIns
from ctxviewer.engine.strategies.base import Check, check_window
from ctxviewer.engine.strategies.cline_memory import ClineMemory, KnownFacts
from ctxviewer.engine.strategies.facts import Facts
from ctxviewer.engine.timeline import Timeline, history_of
from ctxviewer.engine.words import grouped, plural, request_name, span

KNOWN_WINDOWS = (64_000, 128_000, 200_000, 400_000, 1_000_000, 1_048_576)
"""Windows that are tried where the rules with the given one do something else than what is recorded."""


_MOST_AN_ENTRY: Final = 2
"""A request adds a message of the user and an answer, and at least one entry to the timeline. More are not believed."""


class Cause(StrEnum):
    """Why the folder shows what it shows."""

    RULES = "by the rules"
    REMOVED_REQUEST = "a request that was removed when the task was resumed"
    RETRY = "retry after the provider refused the request"
    CONDENSE = "manual condense"
    SUMMARY = "auto-condense"
    ROLLBACK = "rollback"
    OTHER_WINDOW = "another window"
    OTHER_VERSION = "another version"
    UNKNOWN = "unknown"


class Subject(StrEnum):
    """What is compared."""

    RANGE = "range"
    """A change of the deleted range that is recorded."""
    READS = "file reads"
    """Older copies replaced, or by the rules to be replaced."""
    NO_CUT = "no cut"
    """The rules would cut, and no change of the range is recorded."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One thing that was done, or should have been, and why."""

    subject: Subject
    request: int | None
    """The first request that it is in force for; None = none since."""
    cause: Cause
    sentence: str
    """With its numbers."""
    before: Range | None
    recorded: Range | None
    """The deleted range afterwards, as recorded."""
    by_rules: Range | None
    """The same by the rules, from the recorded state before."""
    length: int
    """So many messages existed."""
    ui_index: int = -1
    """The timeline entry that shows a change of the range first; -1 if none does."""

    @property
    def agrees(self) -> bool:
        """The folder shows what the rules do at this request."""
        return self.cause is Cause.RULES

    @property
    def explained(self) -> bool:
        """A cause is named."""
        return self.cause is not Cause.UNKNOWN


@dataclass(frozen=True, slots=True)
class ReplayCheck:
    """The whole comparison."""

    window: WindowInfo
    compared: int
    """Requests with a reported total before them."""
    steps: tuple[Checked, ...]
    """Everything that was done or should have been, in order."""

    @property
    def range_steps(self) -> tuple[Checked, ...]:
        """The recorded changes of the range."""
        return tuple(step for step in self.steps if step.subject is Subject.RANGE)

    @property
    def first_difference(self) -> Checked | None:
        """The first step that the rules alone do not explain; None when folder and rules agree."""
        return next((step for step in self.steps if not step.agrees), None)

    @property
    def unexplained(self) -> tuple[Checked, ...]:
        """Steps without a cause."""
        return tuple(step for step in self.steps if not step.explained)

    @property
    def verdict(self) -> str:
        """The outcome in one sentence."""
        first = self.first_difference
        agreeing = sum(step.agrees for step in self.steps)
        count = f"{agreeing} of {plural(len(self.steps), 'step')} are as the rules do them"
        if not self.steps:
            return f"Nothing was done to the context, and by the rules nothing had to be ({self.compared} requests)."
        if first is None:
            return f"The folder shows what the rules do: {count}."
        return f"{count}. The first that is not: {first.sentence} Likely cause: {first.cause}."


def replay_check(
    timeline: Timeline, window: float | None = None, *, facts: Facts | None = None, check: Check | None = None
) -> ReplayCheck:
    """Compare every request of a task with the rules for a window (None = the task's).

    SettingsError for a window that cannot be used. `check` is called for every request and every 64 messages.
    """
    info = check_window(window, timeline.snapshot.model)
    known = facts if facts is not None and facts.timeline is timeline else Facts(timeline)
    stop = check if check is not None else _never
    if not timeline.snapshot.has_timeline:
        return ReplayCheck(info, 0, ())
    known.read(len(timeline.snapshot.messages), stop)
    return _Check(timeline, known, info, stop).run()


def _never() -> None:
    return None


class _Check:
    """One run."""

    def __init__(self, timeline: Timeline, facts: Facts, window: WindowInfo, check: Callable[[], None]) -> None:
        self.timeline = timeline
        self.stored = len(timeline.snapshot.messages)
        self.facts: KnownFacts = facts
        self.window = window
        self._check = check
        self._events: dict[int, list[Event]] = {}
        last = len(timeline.requests)
        for event in timeline.events:
            if event.kind in RANGE_KINDS:
                self._events.setdefault(last if event.request is None else event.request, []).append(event)
        self._reads: dict[float, set[tuple[int, int]]] = {}
        for update in timeline.updates:
            if update.edit_type in {2, 3, 4} and update.timestamp is not None:
                self._reads.setdefault(update.timestamp, set()).add((update.message, update.block))
        self.until = tuple(
            moment.until if request.last_message is None else max(0, request.last_message + 2)
            for request, moment in zip(timeline.requests, timeline.moments, strict=True)
        )
        """So many messages existed when each request was sent, whether they are stored or not."""
        lengths = (event.length for events in self._events.values() for event in events)
        needed = max((*lengths, *self.until), default=0)
        if needed > self.stored:
            most = _MOST_AN_ENTRY * (len(timeline.snapshot.ui) + 1)
            self.facts = StandIns(facts, min(needed, most))

    def run(self) -> ReplayCheck:
        steps: list[Checked] = []
        requests = self.timeline.requests
        for number in range(len(requests) + 1):
            self._check()
            steps.extend(self._request(number))
        compared = sum(request.usage_reported for request in requests[:-1])
        return ReplayCheck(self.window, compared, tuple(steps))

    def _request(self, number: int) -> list[Checked]:
        """What happened between the request before `number` and its own answer. The last number has no request yet."""
        events = self._events.get(number, [])
        requests = self.timeline.requests
        previous = requests[number - 1] if number else None
        total = previous.usage.total if previous is not None and previous.usage_reported else None
        over = total is not None and total >= self.window.limit
        replaced = self._reads.get(previous.ts, set()) if previous is not None else set()
        if not events and not over and not replaced:
            return []
        moment = _Moment(self, number, total if over else None, total)
        steps = [moment.judge(event) for event in events]
        if number < len(requests):
            if not events and over:
                steps.extend(moment.missing_cut(replaced))
            steps.extend(moment.reads(replaced))
        return steps


class _Moment:
    """One request with everything that is recorded before its answer."""

    def __init__(self, run: _Check, number: int, over: float | None, total: float | None) -> None:
        self._run = run
        self._number = number
        self._over = over
        """The total of the request before, where it reaches the limit."""
        self._total = total
        self._memory: ClineMemory | None = None
        self._expected: set[tuple[int, int]] = set()
        """Places that the rules replace at this request."""
        self._failure = ""

    @property
    def _timeline(self) -> Timeline:
        return self._run.timeline

    @property
    def _stamp(self) -> int | None:
        return self._timeline.requests[self._number - 1].ts if self._number else None

    @property
    def _until(self) -> int:
        """So many messages existed when the request was sent."""
        return min(self._run.until[self._number], len(self._run.facts.messages))

    def judge(self, event: Event) -> Checked:
        """Why the range changed."""
        length = min(event.length, len(self._run.facts.messages))
        memory = self._remember(event.range_before, length)
        history, deleted = memory.history, memory.deleted
        decision = self._decide(memory)
        first = decision
        attempts = 1
        while decision is not None and memory.deleted != event.range_after and attempts <= self._removed_before(event):
            decision = self._decide(memory)
            attempts += 1
        if attempts > 1 and memory.deleted != event.range_after:
            decision, attempts = first, 1
        expected = memory.deleted if decision is not None else event.range_before
        if attempts > 1 and first is not None and decision is not None:
            cause, words = Cause.REMOVED_REQUEST, self._repeated_words(first, decision)
        else:
            cause, words = self._cause(event, decision, expected, length)
        keeps = cause in {Cause.RULES, Cause.REMOVED_REQUEST} or (cause is Cause.RETRY and decision is not None)
        memory.follow(event.range_after, memory.history if keeps else history)
        request = self._number if event.request is not None else None
        return Checked(
            Subject.RANGE, request, cause, words, deleted, event.range_after, expected, length, event.ui_index
        )

    def missing_cut(self, replaced: set[tuple[int, int]]) -> Iterator[Checked]:
        """The rules would cut, but the range did not change."""
        request = self._timeline.requests[self._number]
        until = self._until
        if until > self._run.stored and (replaced or self._no_updates()):
            return  # it may have saved enough
        memory = self._remember(request.range_before, until)
        decision = self._decide(memory)
        if self._failure:
            words = f"{self._reported()} The rules fail on this history: {self._failure}"
            yield self._missing(Cause.UNKNOWN, words, request.range_before, None, until)
        elif decision is not None and decision.range_after != decision.range_before:
            words = f"{self._reported()} By the rules the range would become {span(decision.range_after)}; it stayed."
            cause = (
                Cause.OTHER_WINDOW if resume_index(decision.range_after) > resume_index(request.range_before) else None
            )
            if cause is not None:
                yield self._missing(cause, words, request.range_before, decision.range_after, until)

    def reads(self, replaced: set[tuple[int, int]]) -> Iterator[Checked]:
        """The copies of files that were replaced against those that the rules replace."""
        if not replaced and not self._expected:
            return
        memory = self._memory
        before = memory.deleted if memory is not None else None
        until = memory.until if memory is not None else self._until
        count = plural(len(replaced), "block")
        cause = Cause.RULES
        words = f"{count.capitalize()} with older copies of files replaced, as the rules do."
        if self._over is None:
            cause = Cause.OTHER_WINDOW
            words = f"{self._reported()} Yet older copies of files were replaced in {count}."
        elif until > self._run.stored:
            words = (
                f"{count.capitalize()} with older copies of files replaced, as the rules do at the limit; {_MISSING} "
                "which ones they replace."
            )
        elif replaced != self._expected:
            cause = Cause.OTHER_VERSION
            words = f"The rules replace older copies of files in {plural(len(self._expected), 'block')}; " + (
                "context_history.json is missing." if self._no_updates() else f"recorded are {len(replaced)}."
            )
        yield Checked(Subject.READS, self._number, cause, words, before, before, before, until)

    def _no_updates(self) -> bool:
        return self._timeline.snapshot.updates_text is None

    def _missing(self, cause: Cause, words: str, before: Range | None, by_rules: Range | None, until: int) -> Checked:
        return Checked(Subject.NO_CUT, self._number, cause, words, before, before, by_rules, until)

    def _remember(self, deleted: Range | None, until: int) -> ClineMemory:
        if self._memory is None:
            count = len(self._timeline.requests)
            history = self._timeline.history_before(self._number) if self._number < count else self._last_history()
            self._memory = ClineMemory.at(self._run.facts, deleted, history, until)
        self._memory.grow(until)
        return self._memory

    def _last_history(self) -> ContextHistory:
        """The updates before those that carry the last request's time or a later one."""
        stamp = self._stamp
        return history_of(
            update for update in self._timeline.updates if stamp is None or (update.timestamp or 0) < stamp
        )

    def _decide(self, memory: ClineMemory) -> Decision | None:
        """The rules' decision, taken over; None below the limit and where the rules fail."""
        if self._over is None:
            return None
        try:
            decision = memory.decide(self._run.window, self._over, self._stamp)
        except BrokenInputError as err:
            self._failure = err.sentence
            return None
        if decision.optimization is not None:
            self._expected.update((read.message, read.block) for read in decision.optimization.replaced)
        return decision

    def _cause(self, event: Event, decision: Decision | None, expected: Range | None, length: int) -> tuple[Cause, str]:
        direct = _DIRECT.get(event.kind)
        if direct is not None:
            return direct, f"{event.sentence}."
        if decision is not None and expected == event.range_after:
            mode = "half" if decision.keep is Keep.HALF else "a quarter kept"
            rule = f"{self._reported()} By the rules ({mode} of {length - resume_index(event.range_before)}) the range "
            rule += f"becomes {span(expected)}, as recorded"
            if length > self._run.stored:
                rule += f"; {_MISSING} what replacing older copies of files saved before"
            if self._is_removed(event):
                words = f"{rule}; the request that did it was removed when the task was resumed."
                return Cause.REMOVED_REQUEST, words
            return Cause.RULES, f"{rule}."
        if self._is_forced(event, expected, length):
            return Cause.RETRY, self._forced_words(event, decision is not None)
        if event.range_after is not None and event.range_after.start == 1:
            return Cause.OTHER_VERSION, f"{event.sentence}. Ranges that start at 1 are of versions before 3.10."
        limit = self._other_limit(event, length)
        if limit:
            return Cause.OTHER_WINDOW, f"{event.sentence}. {self._reported()} {limit}"
        return Cause.UNKNOWN, f"{event.sentence}. {self._reported()} No rule gives this range."

    def _removed_before(self, event: Event) -> int:
        """How often the task was resumed since the last request that is still there: each may hide a removed one."""
        entries = self._timeline.snapshot.ui
        start = self._timeline.requests[self._number - 1].ui_index + 1 if self._number else 0
        end = event.ui_index if event.ui_index >= 0 else len(entries)
        return sum(entry.kind in {"resume_task", "resume_completed_task"} for entry in entries[start:end])

    def _repeated_words(self, first: Decision, decision: Decision) -> str:
        """The decision was made several times at one total, and only the last one's request is still there."""
        saved = f" ({optimization_sentence(first.optimization).rstrip('.')})" if first.optimization is not None else ""
        return (
            f"{self._reported()} A request that was removed when the task was resumed had managed the context{saved}. "
            f"At the same total the decision was made again, which gives {span(decision.range_after)}, as recorded."
        )

    def _is_removed(self, event: Event) -> bool:
        """The change is recorded before its request started, so another one made it."""
        requests = self._timeline.requests
        return self._number == len(requests) or event.ui_index < requests[self._number].ui_index

    def _is_forced(self, event: Event, expected: Range | None, length: int) -> bool:
        """A quarter is kept, from the recorded range or from what the rules had just made of it."""
        if Keep.QUARTER in self._modes(event, length):
            return True
        messages = self._run.facts.messages
        return next_range(Prefix(messages, length), expected, Keep.QUARTER) == event.range_after

    def _forced_words(self, event: Event, over: bool) -> str:
        shown = (
            "the timeline shows the failed request"
            if event.kind is EventKind.FORCED_TRUNCATE
            else ("the request was repeated at once and left no entry")
        )
        own = " after the rules' own cut" if over else ""
        return (
            f"{self._reported()} The range became {span(event.range_after)}{own}: a quarter is kept whatever the total "
            f"when the provider says that the request is too long; {shown}."
        )

    def _modes(self, event: Event, length: int) -> set[Keep]:
        """The modes that give the recorded range from the one before."""
        if length <= self._run.stored:
            return {Keep(word) for word in event.keep.split(" or ") if word}
        messages = Prefix(self._run.facts.messages, length)
        return {keep for keep in Keep if next_range(messages, event.range_before, keep) == event.range_after}

    def _other_limit(self, event: Event, length: int) -> str:
        """Which other limits would lead to the recorded range, in words; '' when none does."""
        if self._total is None or not self._modes(event, length) & {Keep.HALF, Keep.QUARTER}:
            return ""
        low, high = self._total / 2, self._total
        model = self._timeline.snapshot.model
        fitting = [
            grouped(window)
            for window in KNOWN_WINDOWS
            if low <= window_info(Api(context_window=window, model_id=model.model_id)).limit <= high
        ]
        known = f" such as that of a window of {' or '.join(fitting)}" if fitting else ""
        return f"Any limit from {grouped(low)} to {grouped(high)} gives this range{known}."

    def _reported(self) -> str:
        if self._total is None or not self._number:
            return "No total was reported before."
        side = "at or above" if self._total >= self._run.window.limit else "below"
        return (
            f"{request_name(self._number - 1).capitalize()} reported {grouped(self._total)} tokens, {side} the limit "
            f"of {grouped(self._run.window.limit)}."
        )


_MISSING: Final = "the messages of then are missing, so it is not known"

_DIRECT = {
    EventKind.CONDENSE: Cause.CONDENSE,
    EventKind.SUMMARIZE: Cause.SUMMARY,
    EventKind.ROLLBACK: Cause.ROLLBACK,
}
