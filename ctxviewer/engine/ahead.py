"""What the next request will meet: how far it is from the limit, and what the agent would then do."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.request import Request
from ctxviewer.engine.cline.prepare import Decision, decide
from ctxviewer.engine.cline.window import WindowInfo
from ctxviewer.engine.reasons import decision_sentences, limit_words
from ctxviewer.engine.state import state_now
from ctxviewer.engine.timeline import Timeline
from ctxviewer.engine.words import grouped, percent, plural, request_name

LOOKED_AT: Final = 3
"""So many of the last requests say how fast the context grows."""
NUMBERS: Final = ("none", "one", "two", "three")


@dataclass(frozen=True, slots=True)
class Forecast:
    """A look at the next request."""

    sentences: tuple[str, ...]
    total: float | None = None
    """What the last request with numbers reported."""
    request: int | None = None
    """That request."""
    growth: float | None = None
    """Tokens that each of the last requests added, on average; None where none added any."""
    expected: float | None = None
    """`total` and one more request of that size."""
    decision: Decision | None = None
    """What the rules would do, if the limit is reached already."""
    doubts: tuple[str, ...] = ()


def look_ahead(timeline: Timeline, info: WindowInfo, source: str) -> Forecast:
    """The forecast by the reported totals. When the limit is reached this decodes the history."""
    limit = limit_words(info, source)
    reported = [request for request in timeline.requests if request.usage_reported]
    model = timeline.snapshot.model.model_id
    name = f"With {model} the" if model else "The"
    if not reported:
        return Forecast((f"{name} limit is {limit}. No request has reported its size yet.",))
    last = reported[-1]
    total = last.usage.total
    share = percent(total / info.window) if info.window else "all"
    used = (
        f"{name} limit is {limit}. {request_name(last.number).capitalize()} used {grouped(total)} tokens, "
        f"{share} of the window"
    )
    sentences = [f"{used}." if total >= info.limit else f"{used}, {grouped(info.limit - total)} below the limit."]
    if total >= info.limit:
        sentences.append("That is at or above the limit: before the next request the agent will make room.")
        decision, doubts = _decision(timeline, info, sentences)
        return Forecast(tuple(sentences), total, last.number, decision=decision, doubts=doubts)
    growth = _growth(reported)
    if growth is None:
        sentences.append("The last requests did not grow.")
        return Forecast(tuple(sentences), total, last.number)
    expected = total + growth
    steps = min(LOOKED_AT, len(reported) - 1)
    size = f"A next request of the size of the last {NUMBERS[steps]}"
    more = f"{grouped(round(growth))} tokens more"
    if expected >= info.limit:
        sentences.append(
            f"{size} ({more}) would cross the limit with {grouped(round(expected))} tokens; room is made before the "
            "one after it."
        )
    else:
        rounds = int((info.limit - total) // growth) + 1
        sentences.append(
            f"{size} ({more}) would not cross it: {grouped(round(expected))} tokens. At that pace the limit is reached "
            f"after {plural(rounds, 'more request')}."
        )
    return Forecast(tuple(sentences), total, last.number, growth, expected)


def _growth(reported: list[Request]) -> float | None:
    """What each of the last requests added to the one before, on average; steps down (a cut) are left out."""
    recent = [request.usage.total for request in reported[-LOOKED_AT - 1 :]]
    steps = [later - earlier for earlier, later in pairwise(recent) if later > earlier]
    return sum(steps) / len(steps) if steps else None


def _decision(timeline: Timeline, info: WindowInfo, sentences: list[str]) -> tuple[Decision | None, tuple[str, ...]]:
    """What the rules would do now; adds its sentences."""
    state = state_now(timeline)
    if not timeline.snapshot.has_messages:
        return None, ("The API history is missing, so what the agent would do cannot be worked out.",)
    try:
        decision = decide(
            state.messages, info, state.deleted_range, state.history, total=state.total, timestamp=state.timestamp
        )
    except BrokenInputError as err:
        return None, (f"The rules fail on this history: {err.sentence}",)
    sentences.extend(decision_sentences(decision, state.until))
    return decision, ()
