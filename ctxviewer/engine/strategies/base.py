"""One notion of strategy: rules that take a task at a request, with settings, and yield a plan of steps.

A strategy is a value in a table (`strategies/__init__.py`). Its `make` gets a checked `Job` and returns the plan; its
`start` returns the rules with a memory, for a replay over the whole task. Nothing here knows a single rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.plan import Effects, Plan, PlanKind, Step
from ctxviewer.domain.snapshot import ModelFact
from ctxviewer.engine.cline.window import WindowInfo, window_info
from ctxviewer.engine.explain import api_of
from ctxviewer.engine.sage.message import ModelCall
from ctxviewer.engine.state import State
from ctxviewer.engine.strategies.carried import Carried
from ctxviewer.engine.strategies.facts import Facts
from ctxviewer.engine.words import grouped

Value: TypeAlias = bool | int | float | str | None
Values: TypeAlias = Mapping[str, Value]
Check: TypeAlias = Callable[[], None]
"""Called every 64 messages of a long pass; raises CancelledWorkError to stop it."""

NOTHING_SET: Values = MappingProxyType({})
LARGEST_WINDOW = 10**12
NO_MESSAGES = "The API history is missing or unreadable, so there is nothing to try the rules on."
WHAT_IF = "These rules are looked at only: nothing of them can be written to the task."


class SettingsError(CtxError):
    """A setting, a window or a strategy's name that cannot be used. Nothing was done."""


class SettingKind(StrEnum):
    """What a setting holds, and so how it is entered."""

    WHOLE = "whole number"
    SHARE = "share"
    """A fraction: 0.75 for 75 %."""
    SWITCH = "switch"
    CHOICE = "choice"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a strategy."""

    name: str
    kind: SettingKind
    default: Value
    """None = taken from the task; `meaning` says what."""
    meaning: str
    low: float | None = None
    high: float | None = None
    """Bounds, both allowed values."""
    choices: tuple[str, ...] = ()

    def check(self, value: Value) -> Value:
        """The value as the rules take it. SettingsError, with the allowed values, for anything else."""
        if value is None and self.default is None:
            return None
        fitting: Value = None
        match self.kind:
            case SettingKind.SWITCH:
                fitting = value if isinstance(value, bool) else None
            case SettingKind.TEXT:
                fitting = value if isinstance(value, str) else None
            case SettingKind.CHOICE:
                fitting = value if isinstance(value, str) and value in self.choices else None
            case SettingKind.WHOLE | SettingKind.SHARE:
                fitting = self._number(value)
        if fitting is None:
            raise SettingsError(f"{self.name} cannot be {value!r}: {self.allowed}.", hint=self.meaning)
        return fitting

    def read(self, text: str) -> Value:
        """The value that a text stands for, checked. An empty text is the default; '75 %' is a share of 0.75."""
        words = text.strip()
        match self.kind:
            case SettingKind.TEXT:
                return self.check(text)
            case SettingKind.CHOICE:
                return self.check(words or self.default)
            case SettingKind.SWITCH:
                return self.check(_SWITCHES.get(words.lower(), words) if words else self.default)
            case SettingKind.WHOLE | SettingKind.SHARE:
                return self.check(_number_of(words) if words else self.default)

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        match self.kind:
            case SettingKind.SWITCH:
                return "allowed are on and off"
            case SettingKind.CHOICE:
                return f"allowed are {', '.join(self.choices)}"
            case SettingKind.TEXT:
                return "a text is needed"
            case SettingKind.WHOLE | SettingKind.SHARE:
                kind = "a whole number" if self.kind is SettingKind.WHOLE else "a number"
                low = "" if self.low is None else f" from {grouped(self.low)}"
                high = "" if self.high is None else f" up to {grouped(self.high)}"
                return f"{kind}{low}{high} is needed"

    def _number(self, value: Value) -> Value:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            return None
        if self.kind is SettingKind.WHOLE:
            if isinstance(value, float) and not value.is_integer():
                return None
            value = int(value)
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            return None
        return value


_SWITCHES: Mapping[str, bool] = MappingProxyType(
    {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}
)


def _number_of(words: str) -> Value:
    """'12,000', '12k', '0.75', '75%'; the text itself when it is no number."""
    plain = words.replace(",", "").replace("_", "").lower()
    for sign, factor in (("%", 0.01), ("k", 1_000), ("m", 1_000_000)):
        if plain.endswith(sign):
            plain, scale = plain.removesuffix(sign).strip(), factor
            break
    else:
        scale = 1
    try:
        number = float(plain) * scale
    except ValueError:
        return words
    return int(number) if number.is_integer() else number


def check_window(window: float | None, model: ModelFact) -> WindowInfo:
    """The window in use and the agent's limit for it; None = the task's. SettingsError when it is no window."""
    if window is not None and (
        isinstance(window, bool) or not math.isfinite(window) or not 1 <= window <= LARGEST_WINDOW
    ):
        raise SettingsError(
            f"A window of {window} tokens cannot be used.", hint="Give a whole number from 1 up, such as 200000."
        )
    return window_info(api_of(model, window))


def _never() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a strategy, checked: everything its rules may look at."""

    state: State
    """Holds its messages decoded."""
    facts: Facts
    values: Values
    """A checked value for each of the strategy's settings; None where the task decides."""
    window: WindowInfo
    check: Check = _never
    model: ModelCall | None = None
    """Summarises; raises CtxError when it cannot. None = summaries without a model."""

    def number(self, name: str) -> float | None:
        """A numeric setting; None where the task decides."""
        value = self.values[name]
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def switch(self, name: str) -> bool:
        """A switch."""
        return self.values[name] is True

    def text(self, name: str) -> str:
        """A choice or a text."""
        value = self.values[name]
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A row of the table."""

    key: str
    """As typed on a command line: 'half', 'sage-prune'."""
    agent: str
    """Whose rules: 'Cline', 'Sage'."""
    name: str
    meaning: str
    """One line."""
    source: str
    """Where the rules come from."""
    make: Callable[[Job], Plan]
    start: Callable[[Job], Carried]
    """The rules with a memory, for a replay. Of `job.state` only the task counts: a replay starts with nothing."""
    settings: tuple[Setting, ...] = ()
    can_apply: bool = False
    """True when a plan from the present state can be written to the task's files."""

    def values(self, given: Values = NOTHING_SET) -> Values:
        """A checked value for every setting. SettingsError for unknown names and values out of range."""
        known = {setting.name: setting for setting in self.settings}
        unknown = [name for name in given if name not in known]
        if unknown:
            have = f"it has {', '.join(known)}" if known else "it has none"
            raise SettingsError(f"{self.name} has no setting {unknown[0]!r}; {have}.")
        return {name: setting.check(given.get(name, setting.default)) for name, setting in known.items()}

    def read_values(self, texts: Mapping[str, str]) -> Values:
        """The same from texts, as a person types them."""
        known = {setting.name: setting for setting in self.settings}
        return self.values({name: known[name].read(text) if name in known else text for name, text in texts.items()})

    def job(
        self,
        state: State,
        given: Values = NOTHING_SET,
        *,
        window: float | None = None,
        facts: Facts | None = None,
        check: Check = _never,
        model: ModelCall | None = None,
    ) -> Job:
        """Everything checked, messages read. `facts`: of the same timeline, where known. SettingsError as `values`."""
        values = self.values(given)
        info = check_window(window, state.timeline.snapshot.model)
        known = facts if facts is not None and facts.timeline is state.timeline else Facts(state.timeline)
        known.read(state.until, check)
        return Job(replace(state, decoded=known.messages), known, values, info, check, model)

    def plan(
        self,
        state: State,
        given: Values = NOTHING_SET,
        *,
        window: float | None = None,
        facts: Facts | None = None,
        check: Check = _never,
        model: ModelCall | None = None,
    ) -> Plan:
        """The plan from this state. It always has at least one step, which may say why nothing is done.

        `window` in tokens replaces the task's. Share `facts` between the strategies of one task. Raises SettingsError,
        whatever `check` and `model` raise, and BrokenInputError where damaged messages stop the rules; nothing else.
        """
        job = self.job(state, given, window=window, facts=facts, check=check, model=model)
        snapshot = state.timeline.snapshot
        if not snapshot.has_messages:
            return start_plan(job, self.name, refused=NO_MESSAGES, steps=(Step(NO_MESSAGES, job.state.projection),))
        if state.until == 0:
            words = "There is no message yet."
            return start_plan(job, self.name, refused=words, steps=(Step(words, job.state.projection),))
        plan = self.make(job)
        settings = {"strategy": self.key, "window": job.window.window, **job.values}
        return replace(plan, settings={**plan.settings, **settings})


def start_plan(job: Job, title: str, *, refused: str = WHAT_IF, steps: tuple[Step, ...] = ()) -> Plan:
    """A plan that changes nothing, to build on. It cannot be applied."""
    snapshot, now = job.state.timeline.snapshot, job.state.projection
    return Plan(
        kind=PlanKind.STRATEGY,
        title=title,
        task_id=snapshot.task.task_id,
        generation=snapshot.generation,
        before=now,
        after=now,
        steps=steps,
        effects=Effects(),
        refusal=refused,
    )
