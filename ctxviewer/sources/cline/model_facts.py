"""The model of a task and its context window, with where the number comes from. Cline stores the window nowhere."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from ctxviewer import resources
from ctxviewer.domain.snapshot import ModelFact, WindowSource
from ctxviewer.sources.cline.history import Model
from ctxviewer.sources.rawlog import RawLog

DEFAULT_WINDOW = 128_000
LOOK_BACK = 60
"""So many of the last messages are searched for the window that Cline tells the model."""

PLAUSIBLE = range(1_000, 100_000_001)
"""Tokens that a window may have; any other number there is not the agent's: a conversation may say anything."""

_NUMBER = rb"[0-9]{1,9}(?:,[0-9]{3}){0,3}(?:\.[0-9]{1,6})?"
_HINT = re.compile(
    rb"# Context Window Usage\\n[0-9.,]+ ?[KM]? / (" + _NUMBER + rb")([KM]?) tokens used \(", re.IGNORECASE
)
_UNITS = {b"": 1, b"K": 1_000, b"M": 1_000_000}
_VENDOR = re.compile(r"^(?:(?:us|eu|apac|global|us-gov|jp|au|ca)\.)?[a-z0-9-]+\.(?=[a-z])")


@dataclass(frozen=True, slots=True)
class TableRow:
    """One pattern of resources/models.toml."""

    match: str
    """Shell pattern on the plain id."""
    provider: str
    """Only for this provider; '' for any."""
    window: int
    """Tokens."""
    family: str
    source: str
    """Where the number comes from, in words."""


@cache
def table() -> tuple[TableRow, ...]:
    """The rows of resources/models.toml, in order; the first that matches counts."""
    data = tomllib.loads(resources.read_text("models.toml"))
    return tuple(
        TableRow(match, family.get("provider", ""), window, family["name"], family["source"])
        for family in data["family"]
        for match, window in family["windows"]
    )


def plain_id(model_id: str) -> str:
    """A model's id as the table spells it: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' -> 'claude-sonnet-4-5-…'."""
    name = model_id.strip().lower().rsplit("/", 1)[-1].replace("@", "-")
    name = _VENDOR.sub("", name)
    return re.sub(r"(?<=\d)[.p](?=\d)", "-", name)


def window_from_table(model: Model) -> int | None:
    """The window of a known model, in tokens."""
    name, provider = plain_id(model.model_id), model.provider_id.lower()
    if not name:
        return None
    for row in table():
        if (not row.provider or row.provider == provider) and fnmatchcase(name, row.match):
            return row.window
    return None


def window_from_details(messages: RawLog) -> int | None:
    """The window that the newest environment details of the task name, in tokens: '48,213 / 200K tokens used'."""
    for number in range(len(messages) - 1, max(-1, len(messages) - 1 - LOOK_BACK), -1):
        for amount, unit in reversed(_HINT.findall(messages.view(number))):
            window = round(float(amount.replace(b",", b"")) * _UNITS[unit.upper()])
            if window in PLAUSIBLE:
                return window
    return None


def model_fact(candidates: Iterable[Model], messages: RawLog | None, window_override: int | None) -> ModelFact:
    """The first candidate that has a name, and its window.

    What the user set counts first, then what the task itself says, then the table, then 128,000 as the agent assumes.
    """
    model = next((candidate for candidate in candidates if candidate.model_id), Model())
    if window_override is not None:
        return ModelFact(model.model_id, model.provider_id, window_override, WindowSource.OVERRIDE)
    if messages is not None and (told := window_from_details(messages)) is not None:
        return ModelFact(model.model_id, model.provider_id, told, WindowSource.DETAILS)
    if (listed := window_from_table(model)) is not None:
        return ModelFact(model.model_id, model.provider_id, listed, WindowSource.TABLE)
    return ModelFact(model.model_id, model.provider_id, DEFAULT_WINDOW, WindowSource.DEFAULT)
