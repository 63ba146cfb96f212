"""List prices of models as a value, and what a usage costs by them. They are dated, and shown as a table's."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.request import Usage

MILLION = 1_000_000
KEYS = ("input", "output", "cache_write", "cache_read")


@dataclass(frozen=True, slots=True)
class Prices:
    """What one model costs, US dollars for a million tokens."""

    pattern: str
    """The shell pattern of its row."""
    input: float
    output: float
    cache_write: float
    cache_read: float
    family: str
    as_of: str
    """When the prices were looked up: '2025-09'."""
    source: str
    """Where from, in words."""
    own: bool = False
    """True for a row of the user's file."""

    def cost(self, usage: Usage) -> float:
        """Dollars of one request by these prices."""
        return (
            usage.tokens_in * self.input
            + usage.tokens_out * self.output
            + usage.cache_writes * self.cache_write
            + usage.cache_reads * self.cache_read
        ) / MILLION

    @property
    def sentence(self) -> str:
        """What to say beside the number."""
        whose = "your price table" if self.own else "the built-in price table"
        return f"by {whose}: {self.family}, as of {self.as_of}, {self.source}"


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Rows in order; the first whose pattern fits counts."""

    rows: tuple[Prices, ...] = ()

    def of(self, model_id: str) -> Prices | None:
        """The prices of a model, None if the table does not know it."""
        name = plain_name(model_id)
        if not name:
            return None
        return next((row for row in self.rows if fnmatchcase(name, row.pattern)), None)

    def before(self, other: PriceTable) -> PriceTable:
        """A table in which these rows count first."""
        return PriceTable((*self.rows, *other.rows))


def plain_name(model_id: str) -> str:
    """A model's id without vendor and route, lower case: 'anthropic/claude-sonnet-4.5:beta' → 'claude-sonnet-4-5:beta'.

    Dots between digits become dashes, so that one pattern fits both ways of writing.
    """
    name = model_id.strip().lower().rsplit("/", 1)[-1].replace("@", "-")
    while "." in name and not name.split(".", 1)[0][-1:].isdigit():
        head, tail = name.split(".", 1)
        if not head.replace("-", "").isalpha() or not tail[:1].isalpha():
            break
        name = tail  # 'us.anthropic.claude-…'
    letters = list(name)
    for place in range(1, len(letters) - 1):
        if letters[place] == "." and letters[place - 1].isdigit() and letters[place + 1].isdigit():
            letters[place] = "-"
    return "".join(letters)


def parse_prices(text: str, name: str, *, own: bool = False) -> PriceTable:
    """A table from TOML: `[[family]]` with `name`, `as_of`, `source` and `prices`, rows of pattern and four numbers.

    A row is `{match = "claude-sonnet-4*", input = 3, output = 15, cache_write = 3.75, cache_read = 0.3}`. Prices of
    the cache that are left out are those of the input. `name` is the file's, for errors. CtxError says what is wrong
    and where.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as err:
        raise CtxError(f"The price table is no TOML: {err}.", place=name) from err
    families = data.get("family")
    if not isinstance(families, list):
        raise CtxError("The price table has no [[family]].", hint="docs/cli.md shows one.", place=name)
    rows: list[Prices] = []
    for number, family in enumerate(families, 1):
        place = f"{name}, family {number}"
        if not isinstance(family, dict) or not isinstance(family.get("prices"), list):
            raise CtxError("A family of the price table has no list `prices`.", place=place)
        facts = tuple(str(family.get(key, "")) for key in ("name", "as_of", "source"))
        rows.extend(_row(row, facts, f"{place}, row {at}", own=own) for at, row in enumerate(family["prices"], 1))
    return PriceTable(tuple(rows))


def _row(row: object, facts: tuple[str, ...], place: str, *, own: bool) -> Prices:
    if not isinstance(row, dict) or not isinstance(row.get("match"), str):
        raise CtxError("A row of the price table has no `match`.", place=place)
    unknown = sorted(set(row) - {"match", *KEYS})
    if unknown:
        raise CtxError(f"A row of the price table has an unknown key: {unknown[0]}.", place=place)
    numbers: dict[str, float] = {}
    for key in KEYS:
        value = row.get(key, row.get("input") if key.startswith("cache") else None)
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value) or value < 0:
            raise CtxError(f"`{key}` of {row['match']} is no price.", hint="Dollars for a million tokens.", place=place)
        numbers[key] = float(value)
    family, as_of, source = facts
    return Prices(row["match"].lower(), **numbers, family=family, as_of=as_of, source=source, own=own)
