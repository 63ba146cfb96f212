"""Why a request looks as it does: the decision in plain words, each with its numbers, and what does not fit."""

from __future__ import annotations

from dataclasses import dataclass

from ctxviewer.domain.ranges import Range
from ctxviewer.domain.snapshot import ModelFact
from ctxviewer.engine.ahead import look_ahead
from ctxviewer.engine.cline.prepare import Decision, Verdict
from ctxviewer.engine.cline.window import Api, Provider, WindowInfo, window_info
from ctxviewer.engine.difference import RowKind, difference_of, summary
from ctxviewer.engine.events import Event, EventKind
from ctxviewer.engine.past_decisions import compare, compare_forced, decision_of, repeated
from ctxviewer.engine.reasons import (
    asks_for_summary,
    decision_sentences,
    ending,
    keep_of,
    limit_words,
    optimization_sentence,
    reason_of,
    replaced_words,
)
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, plural, request_name

__all__ = [
    "Explanation",
    "api_of",
    "decision_sentences",
    "explain",
    "explain_event",
    "limit_words",
    "optimization_sentence",
    "replaced_words",
]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer to 'why', for one request or for the next one."""

    request: int | None
    sentences: tuple[str, ...]
    """What was decided and why, in order."""
    window: float
    """Tokens."""
    limit: float
    """From this total on the context is managed; may be a fraction."""
    window_source: str
    compared: float | None = None
    """The previous request's reported total, which was compared with the limit."""
    compared_request: int | None = None
    saved_share: float | None = None
    """Share of the characters that replacing older reads saved, by the rules; None when it was not tried."""
    doubts: tuple[str, ...] = ()
    """Where the recorded data does not fit the rules, or the picture is approximate."""
    decision: Decision | None = None
    """The full decision by the rules, when the limit was reached."""
    events: tuple[Event, ...] = ()
    """What changed the context for this request, in order."""
    changes: tuple[str, ...] = ()
    """What else this request sends that the one before did not, and the other way round."""
    keep: str = ""
    """How much the cut keeps: 'half', 'quarter', 'lastTwo', 'none', or several joined by ' or '; '' without a cut."""
    range_before: Range | None = None
    """The deleted range that the request started from; for the next request, the one in force."""
    range_after: Range | None = None
    """As recorded; for the next request, by the rules."""
    saved_characters: float | None = None
    """What replacing older reads saved, in UTF-16 units, of `total_characters`; None when it was not tried."""
    total_characters: float | None = None
    growth: float | None = None
    """Only ahead: tokens that each of the last three requests added, on average."""
    expected: float | None = None
    """Only ahead: the total of a next request of that size."""


def api_of(model: ModelFact, window: float | None = None) -> Api:
    """The model handler as the rules see it; `window` overrides the model's."""
    provider = Provider.OPENAI if model.provider_id == "openai" else Provider.OTHER
    return Api(provider, model.model_id, window if window is not None else model.window)


def explain(timeline: Timeline, number: int | None, window: float | None = None) -> Explanation:
    """Why request `number` was sent as it was; None = what the next request will meet.

    `window` in tokens replaces the model's. When the limit was reached this decodes the history: not for the GUI
    thread. IndexError for a request that does not exist.
    """
    model = timeline.snapshot.model
    info = window_info(api_of(model, window))
    source = "chosen for this view" if window is not None else str(model.window_source)
    if number is None:
        return _ahead(timeline, info, source)
    if not 0 <= number < len(timeline.requests):
        raise IndexError(f"there is no request {number + 1}; the task has {len(timeline.requests)}")
    return _Answer(timeline, number, info, source).give()


def explain_event(timeline: Timeline, event: Event, window: float | None = None) -> Explanation:
    """Why an event came about: the explanation of the request that it is first in force for.

    For an event that no request has followed yet, what is known of it, and what the next request will meet.
    """
    if event.request is not None:
        return explain(timeline, event.request, window)
    found = explain(timeline, None, window)
    reason = reason_of(timeline, event)
    return Explanation(
        None,
        (*reason.sentences, "No request has been made since.", *found.sentences),
        found.window,
        found.limit,
        found.window_source,
        found.compared,
        found.compared_request,
        doubts=(*reason.doubts, *found.doubts),
        decision=found.decision,
        events=(event,),
        keep=keep_of(event, reason.keep),
        range_before=event.range_before,
        range_after=event.range_after,
        growth=found.growth,
        expected=found.expected,
    )


def _ahead(timeline: Timeline, info: WindowInfo, source: str) -> Explanation:
    found = look_ahead(timeline, info, source)
    decision = found.decision
    saved, total = _characters(decision)
    now = timeline.snapshot.range_now
    return Explanation(
        None,
        found.sentences,
        info.window,
        info.limit,
        source,
        found.total,
        found.request,
        _share(decision),
        found.doubts,
        decision,
        keep=str(decision.keep) if decision is not None and decision.verdict is Verdict.TRUNCATED else "",
        range_before=now,
        range_after=now if decision is None else decision.range_after,
        saved_characters=saved,
        total_characters=total,
        growth=found.growth,
        expected=found.expected,
    )


MANAGED = frozenset({EventKind.TRUNCATE, EventKind.OPTIMIZE})
"""Events that the limit decides; the others come from the user, the model or the provider."""


class _Answer:
    """The explanation of one past request in the making."""

    def __init__(self, timeline: Timeline, number: int, info: WindowInfo, source: str) -> None:
        self._timeline, self._number = timeline, number
        self._info, self._source = info, source
        self._request = timeline.requests[number]
        self._moment = timeline.moments[number]
        self._events = tuple(event for event in timeline.events if event.request == number)
        self._sentences: list[str] = []
        self._doubts: list[str] = list(self._moment.doubts)
        self._decision: Decision | None = None
        self._first: Decision | None = None
        """The decision of an earlier attempt, where it was made again."""

    def give(self) -> Explanation:
        """Work it out."""
        compared = self._compare()
        self._sentences.extend(ending(self._request))
        self._other_model()
        # An attempt that was made again has replaced the files already, and saved what there was to save.
        counted = self._first if self._first is not None and _share(self._decision) is None else self._decision
        saved, total = _characters(counted)
        return Explanation(
            self._number,
            tuple(dict.fromkeys(self._sentences)),
            self._info.window,
            self._info.limit,
            self._source,
            compared,
            None if compared is None else self._number - 1,
            _share(counted),
            tuple(dict.fromkeys(self._doubts)),
            self._decision,
            self._events,
            self._changes(),
            self._keep(),
            self._request.range_before,
            self._moment.deleted_range,
            saved,
            total,
        )

    def _compare(self) -> float | None:
        """The sentences up to the resulting range; gives the total that was compared."""
        number = self._number
        before = [event for event in self._events if event.kind not in MANAGED and not self._is_inside(event)]
        for event in before:
            self._tell(event)
        if number == 0:
            self._sentences.append("The first request: there is no earlier total to compare with the limit.")
            self._tell_rest(before)
            return None
        previous = self._timeline.requests[number - 1]
        name = request_name(number - 1).capitalize()
        if not previous.usage_reported:
            self._sentences.append(f"{name} reported no tokens, so nothing was compared.")
            self._tell_rest(before)
            return None
        total = previous.usage.total
        limit = limit_words(self._info, self._source)
        if total < self._info.limit:
            verdict = "nothing had to be done" if not self._events else "by the limit nothing had to be done"
            self._sentences.append(f"{name} reported {grouped(total)} tokens, below the limit of {limit}: {verdict}.")
            self._tell_rest(before)
            self._below()
            return total
        self._sentences.append(f"{name} reported {grouped(total)} tokens, at or above the limit of {limit}.")
        if any(event.kind is EventKind.SUMMARIZE for event in before):
            self._sentences.append("Right after a summary nothing is compared.")
            self._tell_rest(before)
        elif asks_for_summary(self._timeline, number):
            self._sentences.append(
                "Auto-condense is on: nothing is cut; the request itself asks the model to summarise the conversation."
            )
            self._tell_rest(before)
        else:
            self._decide(total, before)
        return total

    def _is_inside(self, event: Event) -> bool:
        """Whether an event came while the request was being tried, so after its own decision."""
        return event.kind is EventKind.FORCED_TRUNCATE and event.ui_index > self._request.ui_index >= 0

    def _tell(self, event: Event) -> None:
        reason = reason_of(self._timeline, event)
        self._sentences.extend(reason.sentences)
        self._doubts.extend(reason.doubts)

    def _tell_rest(self, told: list[Event]) -> None:
        for event in self._events:
            if event not in told:
                self._tell(event)

    def _below(self) -> None:
        """What to say of a cut or an optimisation that the limit did not ask for."""
        for event in self._events:
            if event.kind is EventKind.TRUNCATE and event.keep.startswith("quarter"):
                self._sentences.append(
                    "A cut that keeps a quarter, at a total below the limit, is what follows when the provider "
                    "refuses a request as too large."
                )
            elif event.kind in MANAGED and self._timeline.snapshot.has_timeline:
                self._doubts.append(
                    "By the rules nothing would have been done at this total. Likely the window was another one, "
                    "or a request in between was removed when the task was resumed."
                )

    def _decide(self, total: float, told: list[Event]) -> None:
        """The stages of the decision by the rules, and how they fit what is recorded."""
        timeline, number, doubts = self._timeline, self._number, self._doubts
        decision = decision_of(timeline, number, self._info, total, doubts)
        if decision is None:
            self._tell_rest(told)
            return
        for event in self._events:
            if event.kind is EventKind.TRUNCATE and event.ui_index < self._request.ui_index:
                self._sentences.append(
                    f"Before it, in an attempt that is not in the timeline any more: {event.sentence}."
                )
        repeat = repeated(timeline, number, self._info, decision)
        self._sentences.extend(decision_sentences(decision, self._moment.until))
        if repeat is not None:
            self._sentences.append(
                "That was an earlier attempt, removed when the task was resumed. At the same total the decision was "
                "made once more."
            )
            self._sentences.extend(decision_sentences(repeat, self._moment.until))
            self._first, decision = decision, repeat
        self._decision = decision
        forced = [event for event in self._events if self._is_inside(event)]
        for event in forced:
            self._sentences.extend(reason_of(timeline, event).sentences)
        attempts = repeat is not None or self._request.range_before != timeline.moments[number - 1].deleted_range
        if not forced:
            compare(timeline, number, decision, self._events, doubts, several=attempts)
        else:
            compare_forced(timeline, number, decision, len(forced), doubts)

    def _keep(self) -> str:
        """Of the last cut of this request."""
        cuts = [event for event in self._events if event.keep]
        if not cuts:
            return ""
        managed = self._decision.keep if self._decision is not None else None
        return keep_of(cuts[-1], managed if cuts[-1].kind in MANAGED else reason_of(self._timeline, cuts[-1]).keep)

    def _other_model(self) -> None:
        known, used = self._timeline.snapshot.model.model_id, self._request.model_id
        if known and used and known != used:
            self._sentences.append(f"The request was made with {used}; the window is that of {known}.")

    def _changes(self) -> tuple[str, ...]:
        """What changed from the request before."""
        if self._number == 0 or not self._timeline.snapshot.has_messages:
            return ()
        found = difference_of(self._timeline, self._number - 1, self._number)
        rewritten = [row for row in found.rows if row.kind in {RowKind.REWRITTEN, RowKind.REPAIRED}]
        details = tuple(f"Message {row.first}: {row.sentence}" for row in rewritten[:MOST_CHANGES])
        more = (
            (f"And {plural(len(rewritten) - MOST_CHANGES, 'more message')}.",) if len(rewritten) > MOST_CHANGES else ()
        )
        return (*summary(found), *details, *more)


MOST_CHANGES = 6
"""Messages that were sent in other words are named up to so many."""


def _characters(decision: Decision | None) -> tuple[float | None, float | None]:
    """Saved and total characters of a decision's optimisation."""
    counted = decision.optimization.characters if decision is not None and decision.optimization is not None else None
    if counted is None:
        return None, None
    saved, total = (
        float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
        for value in (counted.saved, counted.total)
    )
    return saved, total


def _share(decision: Decision | None) -> float | None:
    if decision is None or decision.optimization is None or decision.optimization.characters is None:
        return None
    return decision.optimization.characters.share
