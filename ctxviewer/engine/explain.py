"""Why a request looks as it does: the decision in plain words, each with its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.log import Prefix
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Request, RequestState
from ctxviewer.domain.snapshot import ModelFact
from ctxviewer.engine.cline.optimize import ENOUGH, Optimization
from ctxviewer.engine.cline.prepare import Decision, Verdict, decide
from ctxviewer.engine.cline.truncation import Keep, resume_index
from ctxviewer.engine.cline.window import Api, Provider, WindowInfo, window_info
from ctxviewer.engine.events import Event, EventKind
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, percent, plural, request_name, span


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
    request = timeline.requests[number]
    moment = timeline.moments[number]
    sentences: list[str] = []
    doubts = list(moment.doubts)
    events = tuple(event for event in timeline.events if event.request == number)
    if number == 0:
        sentences.append("The first request: there is no earlier total to compare with the limit.")
        sentences.extend(event.sentence + "." for event in events)
        return Explanation(0, (*sentences, *_ending(request)), info.window, info.limit, source, doubts=tuple(doubts))
    previous = timeline.requests[number - 1]
    total = previous.usage.total
    if not previous.usage_reported:
        sentences.append(f"{request_name(number - 1).capitalize()} reported no tokens, so nothing was compared.")
        sentences.extend(event.sentence + "." for event in events)
        ending = _ending(request)
        return Explanation(number, (*sentences, *ending), info.window, info.limit, source, doubts=tuple(doubts))
    decision: Decision | None = None
    if total >= info.limit:
        sentences.append(
            f"{request_name(number - 1).capitalize()} reported {grouped(total)} tokens, at or above the limit of "
            f"{limit_words(info)}."
        )
        decision = _decision(timeline, number, info, total, doubts)
        if decision is not None:
            repeat = _repeat(timeline, number, info, decision)
            sentences.extend(decision_sentences(decision, moment.until))
            if repeat is not None:
                sentences.append(
                    "That was an earlier attempt, removed when the task was resumed. At the same total the decision "
                    "was made once more."
                )
                sentences.extend(decision_sentences(repeat, moment.until))
                decision = repeat
            attempts = repeat is not None or request.range_before != timeline.moments[number - 1].deleted_range
            _compare(timeline, number, decision, events, doubts, several=attempts)
    else:
        sentences.append(
            f"{request_name(number - 1).capitalize()} reported {grouped(total)} tokens, below the limit of "
            f"{limit_words(info)}: nothing had to be done."
        )
        for event in events:
            sentences.append(event.sentence + ".")
            if event.kind is EventKind.TRUNCATE and event.keep.startswith("quarter"):
                sentences.append(
                    "A cut that keeps a quarter, at a total below the limit, is what follows when the provider "
                    "refuses a request as too large."
                )
            elif event.kind in {EventKind.TRUNCATE, EventKind.OPTIMIZE} and timeline.snapshot.has_timeline:
                doubts.append(
                    "By the rules nothing would have been done at this total. Likely the window was another one, "
                    "or a request in between was removed when the task was resumed."
                )
    return Explanation(
        number,
        (*sentences, *_ending(request)),
        info.window,
        info.limit,
        source,
        total,
        number - 1,
        _share(decision),
        tuple(dict.fromkeys(doubts)),
        decision,
    )


def limit_words(info: WindowInfo) -> str:
    """'160,000 (window 200,000 − 40,000)'."""
    reserve = info.window - info.limit
    return f"{grouped(info.limit)} (window {grouped(info.window)} − {grouped(reserve)})"


def decision_sentences(decision: Decision, length: int) -> list[str]:
    """The stages of a decision on a history of `length` messages, one sentence each."""
    sentences = []
    if decision.optimization is not None:
        sentences.append(optimization_sentence(decision.optimization))
    if decision.verdict is Verdict.TRUNCATED and decision.range_after is not None:
        sentences.append(_cut_sentence(decision, length))
        if decision.notice_added:
            sentences.append("The truncation notice was put on message 1.")
    return sentences


def optimization_sentence(optimization: Optimization) -> str:
    """What replacing older reads did, with the savings and the verdict."""
    if not optimization.changed:
        return "No file is in the conversation twice, so there was nothing to replace and a cut was needed."
    words = replaced_words(optimization)
    if optimization.characters is None:
        return f"{words}."
    verdict = (
        f"less than {percent(ENOUGH)}, so a cut was needed as well"
        if optimization.need_to_truncate
        else f"at least {percent(ENOUGH)}, so no cut was needed"
    )
    return f"{words}, {verdict}."


def replaced_words(optimization: Optimization) -> str:
    """'7 older copies of 2 files replaced: saved 12 % (4,000 of 33,000 characters)'."""
    files = len({read.path for read in optimization.replaced})
    copies = plural(len(optimization.replaced), "older copy", "older copies")
    characters = optimization.characters
    if characters is None:
        return f"{copies} of {plural(files, 'file')} replaced"
    saved = characters.saved if isinstance(characters.saved, (int, float)) else 0
    total = characters.total if isinstance(characters.total, (int, float)) else 0
    return (
        f"{copies} of {plural(files, 'file')} replaced: saved {percent(characters.share)} ({grouped(saved)} of "
        f"{grouped(total)} characters)"
    )


def _cut_sentence(decision: Decision, length: int) -> str:
    after = decision.range_after
    rest = length - resume_index(decision.range_before)
    if decision.keep is Keep.QUARTER:
        why = "half of the total is still above the limit, so three quarters of the rest go"
    else:
        why = "half of the total is not above the limit, so half of the rest goes"
    if after is None or after.is_empty:
        return (
            f"{why.capitalize()}; with {plural(rest, 'message')} left there was nothing to take (range {span(after)})."
        )
    fresh = Range(resume_index(decision.range_before), after.end)
    return f"{why.capitalize()}: messages {fresh} ({fresh.length} of {rest})."


def _share(decision: Decision | None) -> float | None:
    if decision is None or decision.optimization is None or decision.optimization.characters is None:
        return None
    return decision.optimization.characters.share


def _decision(timeline: Timeline, number: int, info: WindowInfo, total: float, doubts: list[str]) -> Decision | None:
    snapshot = timeline.snapshot
    if not snapshot.has_messages:
        doubts.append("The API history is missing, so the decision cannot be worked out.")
        return None
    moment = timeline.moments[number]
    try:
        return decide(
            Prefix(snapshot.messages, moment.until),
            info,
            timeline.requests[number].range_before,
            timeline.history_before(number),
            total=total,
            timestamp=timeline.requests[number - 1].ts,
        )
    except BrokenInputError as err:
        doubts.append(f"The rules fail on this history: {err.sentence}")
        return None


def _repeat(timeline: Timeline, number: int, info: WindowInfo, first: Decision) -> Decision | None:
    """The decision made again on top of `first`, if only that leads to the recorded range; None if not.

    When a task is resumed, a request that was in flight is deleted from the timeline, but what its management did
    stays; the next request meets the same total and decides anew.
    """
    recorded = timeline.moments[number].deleted_range
    if recorded == first.range_after:
        return None
    messages = Prefix(timeline.snapshot.messages, timeline.moments[number].until)
    try:
        again = decide(
            messages, info, first.range_after, first.history_after, total=first.total, timestamp=first.timestamp
        )
    except BrokenInputError:
        return None
    return again if again.range_after == recorded else None


def _compare(
    timeline: Timeline,
    number: int,
    decision: Decision,
    events: tuple[Event, ...],
    doubts: list[str],
    *,
    several: bool,
) -> None:
    """Add what does not fit the rules. With several attempts at one request, updates of all of them share a time."""
    recorded = timeline.moments[number].deleted_range
    if recorded != decision.range_after:
        what = ", ".join(event.sentence for event in events) or "no event"
        doubts.append(
            f"By the rules the range would be {span(decision.range_after)}; recorded is {span(recorded)} ({what}). "
            "Likely another window or version, a request that was repeated, or a condense in between."
        )
    stamp = timeline.requests[number - 1].ts
    by_rules = {update.message for update in decision.history_after.updates() if update.timestamp == stamp}
    stored = {update.message for update in timeline.updates if update.timestamp == stamp}
    if by_rules != stored and recorded == decision.range_after and not several:
        doubts.append(
            f"By the rules {plural(len(by_rules), 'message')} would carry an update made now; "
            f"recorded are {len(stored)}."
        )


def _ending(request: Request) -> tuple[str, ...]:
    if request.state is RequestState.RUNNING:
        return ("The request is still running, or was left unfinished.",)
    if request.state in {RequestState.CANCELLED, RequestState.FAILED}:
        words = "was cancelled" if request.state is RequestState.CANCELLED else "failed"
        return (f"The request {words}: {request.failure}." if request.failure else f"The request {words}.",)
    return ()


def _ahead(timeline: Timeline, info: WindowInfo, source: str) -> Explanation:
    """What the next request will meet."""
    reported = [request for request in timeline.requests if request.usage_reported]
    if not reported:
        sentence = f"No request has reported its size yet; the limit is {limit_words(info)}."
        return Explanation(None, (sentence,), info.window, info.limit, source)
    last = reported[-1]
    total = last.usage.total
    name = request_name(last.number).capitalize()
    sentences: list[str] = []
    if total >= info.limit:
        sentences.append(
            f"{name} reported {grouped(total)} tokens, at or above the limit of {limit_words(info)}: "
            "the next request will first be optimised or cut."
        )
    else:
        sentences.append(
            f"{name} reported {grouped(total)} tokens, {grouped(info.limit - total)} below the limit of "
            f"{limit_words(info)}."
        )
        growth = _growth(reported)
        if growth > 0:
            rounds = int((info.limit - total) // growth) + 1
            sentences.append(
                f"The last requests grew by {grouped(round(growth))} tokens each; at that pace the limit is reached "
                f"after {plural(rounds, 'more request')}."
            )
    return Explanation(None, tuple(sentences), info.window, info.limit, source, total, last.number)


def _growth(reported: list[Request]) -> float:
    recent = [request.usage.total for request in reported[-4:]]
    steps = [later - earlier for earlier, later in pairwise(recent) if later > earlier]
    return sum(steps) / len(steps) if steps else 0
