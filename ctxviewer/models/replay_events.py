"""What strategies did in a replay, and what the check of the recorded decisions found, as lists of sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ctxviewer.engine.replay import Replay
from ctxviewer.engine.replay_check import Cause, Checked, ReplayCheck
from ctxviewer.engine.strategies import Value
from ctxviewer.engine.strategies.carried import Action, ActionKind
from ctxviewer.models.listing import Listing, RowWords, joined
from ctxviewer.models.numbers import counted, grouped
from ctxviewer.models.visible import one_line

TITLE: Final = 200
_ICONS: Final = {
    ActionKind.OPTIMIZE: ("optimize", "rewritten"),
    ActionKind.TRUNCATE: ("truncate", "event"),
    ActionKind.PRUNE: ("truncate", "event"),
    ActionKind.SUMMARIZE: ("condense", "event"),
    ActionKind.COMPACT: ("condense", "event"),
    ActionKind.NOTHING: ("warning", "warning"),
}


def run_name(run: Replay) -> str:
    """'Cline: half'."""
    chosen = ", ".join(f"{name} {_words(value)}" for name, value in run.choice.values.items())
    return f"{run.choice.strategy.agent}: {run.choice.strategy.name}" + (f" ({chosen})" if chosen else "")


def _words(value: Value) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return grouped(value) if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else f"{value}"


@dataclass(frozen=True, slots=True)
class ReplayEvent:
    """One thing that a strategy did."""

    place: int
    """Number of the run among those that are shown."""
    run: Replay
    request: int
    action: Action


class ReplayEvents(Listing[ReplayEvent]):
    """Events of all runs by request, and within one request by run."""

    def set_runs(self, runs: tuple[Replay, ...]) -> None:
        """Show these runs."""
        found = [
            ReplayEvent(place, run, number, action) for place, run in enumerate(runs) for number, action in run.events
        ]
        found.sort(key=lambda event: (event.request, event.place))
        self.set_items(found)

    def words(self, item: ReplayEvent) -> RowWords:
        """What was done; when, by which rules, and what was lost."""
        action = item.action
        icon, tone = _ICONS[action.kind]
        lost = sum(run.length for run in action.lost)
        losses = counted(lost, "message") + " lost" if lost else ""
        blocks = counted(len(action.lost_blocks), "block") + " lost" if action.lost_blocks else ""
        detail = joined(f"request {item.request + 1:,}", run_name(item.run), losses, blocks)
        tip = f"{action.sentence}\nA click or Enter shows what request {item.request + 1:,} would have sent."
        return RowWords(one_line(action.sentence, TITLE), detail, icon, tone, tip)


def run_sentence(run: Replay) -> str:
    """A run in one sentence: what it did, its largest request, what did not fit; or why nothing could be run."""
    if run.failure and not run.rows:
        return f"{run_name(run)}: {run.failure}"
    events = [action for _, action in run.events if action.kind is not ActionKind.NOTHING]
    stuck = len(run.events) - len(events)
    parts = [
        f"{counted(len(events), 'event')}",
        f"largest request {grouped(run.peak)}",
        f"{grouped(run.total_tokens)} tokens in all",
    ]
    if run.over_window:
        parts.append(f"{counted(run.over_window, 'request')} above the window")
    if stuck:
        parts.append(f"{grouped(stuck)} × nothing left to free")
    words = f"{run_name(run)}: {', '.join(parts)}, estimated."
    return f"{words} {run.failure}" if run.failure else words


class CheckModel(Listing[Checked]):
    """What the folder shows was done, against the rules; differences stand out."""

    def set_check(self, check: ReplayCheck | None) -> None:
        """Show the steps of a check."""
        self.set_items(check.steps if check is not None else ())

    def words(self, item: Checked) -> RowWords:
        """The sentence; when, and why."""
        icon, tone = ("apply", "muted") if item.agrees else ("difference", "warning")
        if item.cause is Cause.UNKNOWN:
            icon, tone = "help", "error"
        when = f"request {item.request + 1:,}" if item.request is not None else "no request since"
        detail = joined(when, str(item.subject), str(item.cause))
        return RowWords(one_line(item.sentence, TITLE), detail, icon, tone, item.sentence)
