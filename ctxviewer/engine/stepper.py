"""Walking through a plan step by step, and stopping where a chosen message or file is about to go.

A stepper is a value: every move gives another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ctxviewer.domain.plan import Plan, Step
from ctxviewer.domain.projection import Projection, Standing
from ctxviewer.engine.cline.file_reads import ReadPlace
from ctxviewer.engine.strategies.facts import Facts, still_there

Touched = tuple[tuple[int, int | None], ...]


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Stop before the step that takes this away: a message, or the last copy of a file that is sent."""

    title: str
    """'message 14', 'file src/a.py'."""
    message: int | None = None
    path: str = ""
    places: tuple[ReadPlace, ...] = ()
    """Of a file: everywhere its content stands."""

    def concerns(self, step: Step) -> bool:
        """Whether the step touches it at all."""
        own = {place.message for place in self.places} if self.message is None else {self.message}
        return any(message in own for message, _ in step.touched)

    def goes(self, before: Projection, step: Step) -> bool:
        """Whether the step, from `before`, takes it away."""
        return self._is_there(before) and not self._is_there(step.after)

    def _is_there(self, projection: Projection) -> bool:
        if self.message is not None:
            return projection.standing(self.message) is Standing.SENT
        return any(
            projection.standing(place.message) is Standing.SENT
            and (place.message, place.block) not in projection.gone_blocks
            and still_there(place, projection.updates.get((place.message, place.block)))
            for place in self.places
        )


def break_at_message(message: int) -> Breakpoint:
    """Stop before stored message `message` is sent no more."""
    return Breakpoint(f"message {message}", message=message)


def break_at_file(facts: Facts, path: str, until: int) -> Breakpoint:
    """Stop before the last copy of a file, among the messages before `until`, is sent no more."""
    places = tuple(place for found, place in facts.paths(until) if found == path)
    return Breakpoint(f"file {path}", path=path, places=places)


def files_in(facts: Facts, until: int) -> tuple[str, ...]:
    """Paths of the files whose content stands in the messages before `until`, in order of first sight."""
    return tuple(dict.fromkeys(path for path, _ in facts.paths(until)))


@dataclass(frozen=True, slots=True)
class Stepper:
    """A place in a plan: `position` steps are done."""

    plan: Plan
    position: int = 0
    """0 = before the first step, the number of steps = at the end."""
    breakpoints: tuple[Breakpoint, ...] = ()
    stopped_by: Breakpoint | None = None
    """The breakpoint that ended the last run; None after any other move."""

    @property
    def length(self) -> int:
        """How many steps there are."""
        return len(self.plan.steps)

    @property
    def at_start(self) -> bool:
        """No step is done."""
        return self.position == 0

    @property
    def at_end(self) -> bool:
        """All steps are done."""
        return self.position >= self.length

    @property
    def done(self) -> Step | None:
        """The step that was done last."""
        return self.plan.steps[self.position - 1] if self.position else None

    @property
    def following(self) -> Step | None:
        """The step that comes next."""
        return None if self.at_end else self.plan.steps[self.position]

    @property
    def projection(self) -> Projection:
        """What is sent at this place. It may be made anew each time: ask once for a redraw."""
        done = self.done
        return self.plan.before if done is None else done.after

    @property
    def sentence(self) -> str:
        """What the last step did; before the first one, what is about to be walked through."""
        done = self.done
        return self.plan.title if done is None else done.sentence

    @property
    def touched(self) -> Touched:
        """What the last step changed: (message, block or None for the whole message)."""
        done = self.done
        return () if done is None else done.touched

    def to(self, position: int) -> Stepper:
        """At another place; places outside the plan are moved to its ends."""
        return replace(self, position=max(0, min(position, self.length)), stopped_by=None)

    def step(self) -> Stepper:
        """One step on, breakpoint or not; at the end the same place."""
        return self.to(self.position + 1)

    def back(self) -> Stepper:
        """One step back."""
        return self.to(self.position - 1)

    def reset(self) -> Stepper:
        """Before the first step."""
        return self.to(0)

    def run(self) -> Stepper:
        """On to the end, or to right before the next step that takes a breakpoint's message or file away.

        Standing right before such a step, that step is done first: running again goes on.
        """
        for position in range(self.position, self.length):
            hit = self._hit(position)
            if hit is not None and not (position == self.position and self.stopped_by is not None):
                return replace(self, position=position, stopped_by=hit)
        return self.to(self.length)

    def with_breakpoints(self, *breakpoints: Breakpoint) -> Stepper:
        """The same place with other breakpoints."""
        return replace(self, breakpoints=breakpoints, stopped_by=None)

    def hits(self) -> Iterator[tuple[int, Breakpoint]]:
        """Every step, by number from 0, that takes a breakpoint's message or file away."""
        for position in range(self.length):
            hit = self._hit(position)
            if hit is not None:
                yield position, hit

    def _hit(self, position: int) -> Breakpoint | None:
        if not self.breakpoints:
            return None
        before = self.plan.before if position == 0 else None
        step = self.plan.steps[position]
        for point in self.breakpoints:
            if not point.concerns(step):
                continue
            if before is None:
                before = self.plan.steps[position - 1].after
            if point.goes(before, step):
                return point
        return None
