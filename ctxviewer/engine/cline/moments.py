"""What each past request of a Cline task saw: how many messages, which range, which updates (formats §1.5.3)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from ctxviewer.domain.json import as_text, is_object
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Request
from ctxviewer.domain.snapshot import Snapshot, UiEntry
from ctxviewer.domain.updates import StoredUpdate, Update

STREAMED_SAYS = frozenset(
    {
        "text",
        "reasoning",
        "tool",
        "command",
        "completion_result",
        "browser_action_launch",
        "use_mcp_server",
        "use_subagents",
        "generate_explanation",
    }
)
"""`say` kinds that stem from the model's answer, so that their range is the one the request was sent with."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of a task while one request was made."""

    until: int
    """Messages 0 … until - 1 existed; the request's own user message is the last of them."""
    deleted_range: Range | None
    """In force when the request was sent."""
    streamed_ts: float
    """Time of the first entry that the answer brought; infinity when there is none."""
    doubts: tuple[str, ...]


def is_streamed(entry: UiEntry) -> bool:
    """True for an entry made by the model's answer, or at least after the request was sent."""
    if entry.type == "ask":
        return entry.kind != "api_req_failed"
    return entry.kind in STREAMED_SAYS


def role_of(snapshot: Snapshot, message: int) -> str:
    """Role of a stored message; looks at the first bytes before it decodes. '' when there is no such message."""
    if not 0 <= message < len(snapshot.messages):
        return ""
    if snapshot.messages.begins(message, b'{"role":"user"'):
        return "user"
    if snapshot.messages.begins(message, b'{"role":"assistant"'):
        return "assistant"
    value = snapshot.messages[message]
    return as_text(value.get("role")) if is_object(value) else ""


def find_moments(snapshot: Snapshot) -> tuple[Moment, ...]:
    """One Moment per request, in order."""
    requests = snapshot.requests
    return tuple(_moment(snapshot, requests, k) for k in range(len(requests)))


def _moment(snapshot: Snapshot, requests: tuple[Request, ...], k: int) -> Moment:
    request = requests[k]
    doubts: list[str] = []
    stored = len(snapshot.messages)
    if request.last_message is None:
        until = min(stored, 2 * k + 1)
        doubts.append("the entry does not say which message it belongs to; counted two messages a request")
    else:
        until = request.last_message + 2
    if snapshot.has_messages:
        if until > stored:
            doubts.append(f"its own message {until - 1} is not in the stored history")
            until = stored
        elif until >= 1 and role_of(snapshot, until - 1) != "user":
            doubts.append(f"message {until - 1}, which should be the request's own, is not the user's")
        elif until < stored and role_of(snapshot, until) != "assistant":
            doubts.append(f"message {until}, which should be the answer, is not the assistant's")
    if request.ui_index < 0:
        doubts.append("ui_messages.json is missing: the range and the updates of past requests are not recorded")
        return Moment(max(0, until), _clipped(snapshot.range_now, until), float("inf"), tuple(doubts))
    following = requests[k + 1].ui_index if k + 1 < len(requests) else len(snapshot.ui)
    for entry in snapshot.ui[request.ui_index + 1 : following]:
        if is_streamed(entry):
            return Moment(max(0, until), entry.deleted_range, entry.ts, tuple(doubts))
    if k + 1 < len(requests):
        doubts.append("nothing was streamed: the range is that of the next request's start")
        return Moment(max(0, until), requests[k + 1].range_before, requests[k + 1].ts, tuple(doubts))
    return Moment(max(0, until), snapshot.range_now, float("inf"), tuple(doubts))


def _clipped(deleted: Range | None, until: int) -> Range | None:
    """A range of later times cannot have been in force while it reaches beyond the messages of then."""
    return deleted if deleted is not None and deleted.end < until else None


def _time(update: StoredUpdate) -> float:
    return update.timestamp if update.timestamp is not None else 0


class UpdatesByTime:
    """All updates of a task, asked for those in force at a request. A mapping is made once per distinct set."""

    def __init__(self, updates: tuple[StoredUpdate, ...]) -> None:
        self._ordered = sorted(updates, key=_time)
        self._times = [_time(update) for update in self._ordered]
        self._cache: dict[tuple[int, int, int], dict[tuple[int, int], Update]] = {}

    def at(self, request_ts: float, streamed_ts: float) -> dict[tuple[int, int], Update]:
        """Updates before the request, plus those made inside it before the answer came.

        An update with exactly the request's time belongs to the next request (strict on both sides).
        """
        before = self._first_at_or_after(request_ts)
        inside = bisect_right(self._times, request_ts)
        end = max(inside, self._first_at_or_after(streamed_ts))
        return self._mapping(before, inside, end)

    def before(self, previous_ts: float, request_ts: float) -> tuple[StoredUpdate, ...]:
        """What existed when the request at `request_ts` began: all before it but those with the previous one's time.

        An update with exactly the previous request's time was made for this very request.
        """
        first, second = self._first_at_or_after(previous_ts), bisect_right(self._times, previous_ts)
        end = max(second, self._first_at_or_after(request_ts))
        return (*self._ordered[:first], *self._ordered[second:end])

    def between(self, after: float, upto: float) -> tuple[Update, ...]:
        """Updates with after < time ≤ upto, oldest first."""
        stored = self._ordered[bisect_right(self._times, after) : bisect_right(self._times, upto)]
        return tuple(update for update in stored if isinstance(update, Update))

    def _first_at_or_after(self, when: float) -> int:
        low = bisect_right(self._times, when)
        while low > 0 and self._times[low - 1] == when:
            low -= 1
        return low

    def _mapping(self, before: int, inside: int, end: int) -> dict[tuple[int, int], Update]:
        key = (before, inside, end) if end > inside else (before, 0, 0)
        known = self._cache.get(key)
        if known is None:
            newest: dict[tuple[int, int], StoredUpdate] = {}
            for update in (*self._ordered[:before], *self._ordered[inside:end]):
                place = (update.message, update.block)
                held = newest.get(place)
                if held is None or held.ordinal <= update.ordinal:
                    newest[place] = update
            known = {place: update for place, update in newest.items() if isinstance(update, Update)}
            self._cache[key] = known
        return known
