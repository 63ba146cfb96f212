"""Whether a task keeps to rules, and the requests that break them. For a check that runs without people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Severity
from ctxviewer.engine.contents import FileKind
from ctxviewer.engine.doctor import diagnose
from ctxviewer.engine.events import RANGE_KINDS, EventKind
from ctxviewer.engine.facts import TextQuestion, held_in, track
from ctxviewer.engine.past import Past
from ctxviewer.engine.rules import Rule, RuleKind
from ctxviewer.engine.spans import clipped, merged, minus
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, percent, plural, request_name

NEEDS_MESSAGES = frozenset(
    {RuleKind.CONTAINS, RuleKind.CONTAINS_FROM, RuleKind.NEVER_CONTAINS, RuleKind.NO_DUPLICATE_FILES}
)
"""Rules that cannot be checked without the API history."""
MOST_NAMED = 8
"""Runs of requests that a sentence lists."""


@dataclass(frozen=True, slots=True)
class Breach:
    """One request (or the task as a whole) that breaks a rule."""

    request: int | None
    """None where it is not a matter of one request."""
    sentence: str
    message: int | None = None
    """A stored message to look at, None if there is none."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule on one task."""

    rule: Rule
    breaches: tuple[Breach, ...]
    checked: int
    """Requests that it was checked on."""
    sentence: str
    """What was found."""

    @property
    def holds(self) -> bool:
        """True when nothing breaks the rule."""
        return not self.breaches


def _never() -> None:
    return None


def check_rules(
    past: Past, rules: Iterable[Rule], *, window: float | None = None, check: Callable[[], None] = _never
) -> tuple[Verdict, ...]:
    """Every rule, in order. `window` in tokens replaces the model's; `check` is called now and then and may raise.

    A task without requests breaks every rule about requests: nothing was checked. CtxError for a rule that needs the
    API history where there is none.
    """
    return tuple(_Checking(past, rule, window, check).verdict() for rule in rules)


@dataclass(frozen=True, slots=True)
class _Checking:
    """One rule at work."""

    past: Past
    rule: Rule
    window: float | None
    check: Callable[[], None]

    @property
    def timeline(self) -> Timeline:
        return self.past.timeline

    def verdict(self) -> Verdict:
        rule, count = self.rule, len(self.timeline.requests)
        if rule.kind is RuleKind.NO_FINDING:
            return self._told(tuple(self._findings()), count)
        if not count:
            nothing = Breach(None, "The task has no request, so there was nothing to check.")
            return Verdict(rule, (nothing,), 0, nothing.sentence)
        if rule.kind in NEEDS_MESSAGES and not self.timeline.snapshot.has_messages:
            raise CtxError(
                f"The rule {rule.source} cannot be checked: the API history is missing or unreadable.",
                hint="Without it, what was sent is not known.",
            )
        first = int(rule.number) - 1 if rule.kind is RuleKind.CONTAINS_FROM else 0
        checked = max(0, count - first)
        match rule.kind:
            case RuleKind.CONTAINS | RuleKind.CONTAINS_FROM:
                breaches = tuple(self._missing(first))
            case RuleKind.NEVER_CONTAINS:
                breaches = tuple(self._present())
            case RuleKind.NO_DUPLICATE_FILES:
                breaches = tuple(self._twice())
            case RuleKind.USAGE_BELOW:
                breaches = tuple(self._usage())
                checked = sum(request.usage_reported for request in self.timeline.requests)
            case RuleKind.NO_TRUNCATION | RuleKind.NO_TRUNCATION_BEFORE:
                breaches = tuple(self._cut())
            case _:
                breaches = tuple(self._beyond())
        return self._told(breaches, checked)

    def _told(self, breaches: tuple[Breach, ...], checked: int) -> Verdict:
        if not breaches:
            on = plural(checked, "request")
            sentence = "Holds." if self.rule.kind is RuleKind.NO_FINDING else f"Holds for {on}."
            if not checked and self.rule.kind is RuleKind.CONTAINS_FROM:
                sentence = f"The task has fewer than {grouped(self.rule.number)} requests, so nothing was checked."
            return Verdict(self.rule, (), checked, sentence)
        numbers = sorted({breach.request for breach in breaches if breach.request is not None})
        if not numbers:
            return Verdict(self.rule, breaches, checked, breaches[0].sentence)
        runs = merged((number, number) for number in numbers)
        named = ", ".join(_run(first + 1, last + 1) for first, last in runs[:MOST_NAMED])
        more = " …" if len(runs) > MOST_NAMED else ""
        noun = "request" if len(numbers) == 1 else f"{len(numbers):,} requests:"
        return Verdict(self.rule, breaches, checked, f"Broken by {noun} {named}{more}.")

    def _missing(self, first: int) -> Iterator[Breach]:
        last = len(self.timeline.requests) - 1
        fact = track(self.past, TextQuestion(self.rule.text), self.check)
        partly = clipped(fact.partly, first, last)
        reasons = {turn.request: turn for turn in fact.turns}
        for start, end in minus([(first, last)] if first <= last else [], fact.spans):
            turn = reasons.get(start)
            why = f" {turn.sentence}" if turn is not None else ""
            message = turn.message if turn is not None else None
            for request in range(start, end + 1):
                part = " Only a part of it is sent." if any(a <= request <= b for a, b in partly) else ""
                yield Breach(
                    request, f"{request_name(request).capitalize()} does not send the text.{part}{why}", message
                )

    def _present(self) -> Iterator[Breach]:
        fact = track(self.past, TextQuestion(self.rule.text), self.check)
        for start, end in clipped(fact.spans, 0, len(self.timeline.requests) - 1):
            for request in range(start, end + 1):
                carrier = next(
                    (one for one in fact.carriers if any(a <= request <= b for a, b in one.spans)), fact.carriers[0]
                )
                words = f"{request_name(request).capitalize()} sends the text in message {carrier.message}."
                yield Breach(request, words, carrier.message)

    def _twice(self) -> Iterator[Breach]:
        presence = self.past.presence(self.check)
        for path, places in self.past.contents(self.check).files.items():
            copies = [place for place in places if place.kind is not FileKind.WRITTEN]
            if len(copies) < 2:
                continue
            self.check()
            changes: dict[int, int] = {}
            held = [(place, held_in(presence, place)) for place in copies]
            for _, spans in held:
                for start, end in spans:
                    changes[start] = changes.get(start, 0) + 1
                    changes[end + 1] = changes.get(end + 1, 0) - 1
            for request, count in _counts(changes, presence.now):
                if count > 1:
                    where = [place.message for place, spans in held if any(a <= request <= b for a, b in spans)]
                    listed = ", ".join(str(number) for number in where)
                    words = f"{request_name(request).capitalize()} sends {path} {count} times (message {listed})."
                    yield Breach(request, words, where[-1])

    def _usage(self) -> Iterator[Breach]:
        window = self.window if self.window is not None else self.timeline.snapshot.model.window
        limit = self.rule.number * window if self.rule.is_share else self.rule.number
        for request in self.timeline.requests:
            total = request.usage.total
            if request.usage_reported and total >= limit:
                share = f", {percent(total / window)} of the window of {grouped(window)}"
                words = f"{request_name(request.number).capitalize()} reported {grouped(total)} tokens{share}."
                yield Breach(request.number, words)

    def _cut(self) -> Iterator[Breach]:
        before = self.rule.number - 1 if self.rule.kind is RuleKind.NO_TRUNCATION_BEFORE else float("inf")
        for event in self.timeline.events:
            grown = event.kind in RANGE_KINDS and event.kind is not EventKind.ROLLBACK
            if grown and event.range_after is not None and not event.range_after.is_empty:
                if event.request is not None and event.request < before:
                    yield Breach(event.request, event.sentence + ".", event.range_after.end)
                elif event.request is None and before > len(self.timeline.requests):
                    yield Breach(None, event.sentence + ".", event.range_after.end)

    def _beyond(self) -> Iterator[Breach]:
        for request, moment in zip(self.timeline.requests, self.timeline.moments, strict=True):
            deleted = moment.deleted_range
            if deleted is not None and not deleted.is_empty and deleted.end > self.rule.number:
                words = f"{request_name(request.number).capitalize()} leaves out messages {deleted}."
                yield Breach(request.number, words, deleted.end)

    def _findings(self) -> Iterator[Breach]:
        order = [Severity.INFO, Severity.WARNING, Severity.ERROR]
        wanted = self.rule.text
        for finding in diagnose(self.timeline, self.check):
            severe = wanted in set(Severity) and order.index(finding.severity) >= order.index(Severity(wanted))
            if severe or finding.code == wanted:
                words = f"{str(finding.severity).capitalize()} {finding.code}: {finding.sentence}"
                yield Breach(finding.request, words, finding.message)


def _run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}\N{EN DASH}{last}"


def _counts(changes: dict[int, int], end: int) -> Iterator[tuple[int, int]]:
    """(number, count) of every number below `end`, from the numbers at which the count changes."""
    count = 0
    for number in range(end):
        count += changes.get(number, 0)
        yield number, count
