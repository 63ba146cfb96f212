"""The small language of assertions about a task, and its TOML form. See docs/cli.md for the rules in words.

contains "Never touch the migrations"       contains-from 12 "ACT MODE"      never-contains "BEGIN RSA"
no-duplicate-files                          usage-below 80%                  usage-below 150k
no-truncation-before 20                     no-truncation                    range-within 40
no-finding warning                          no-finding update-shifted
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Severity


class RuleKind(StrEnum):
    """What a rule asserts; the value is its word in the language."""

    CONTAINS = "contains"
    CONTAINS_FROM = "contains-from"
    NEVER_CONTAINS = "never-contains"
    NO_DUPLICATE_FILES = "no-duplicate-files"
    USAGE_BELOW = "usage-below"
    NO_TRUNCATION = "no-truncation"
    NO_TRUNCATION_BEFORE = "no-truncation-before"
    RANGE_WITHIN = "range-within"
    NO_FINDING = "no-finding"


USE = {
    RuleKind.CONTAINS: 'contains "TEXT"',
    RuleKind.CONTAINS_FROM: 'contains-from N "TEXT"',
    RuleKind.NEVER_CONTAINS: 'never-contains "TEXT"',
    RuleKind.NO_DUPLICATE_FILES: "no-duplicate-files",
    RuleKind.USAGE_BELOW: "usage-below 80% or usage-below TOKENS",
    RuleKind.NO_TRUNCATION: "no-truncation",
    RuleKind.NO_TRUNCATION_BEFORE: "no-truncation-before N",
    RuleKind.RANGE_WITHIN: "range-within MESSAGE",
    RuleKind.NO_FINDING: "no-finding info|warning|error or no-finding CODE",
}
"""How each rule is written."""


class RuleError(CtxError):
    """A rule that cannot be understood; `place` says where it stands."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One assertion."""

    kind: RuleKind
    source: str
    """As it was written."""
    text: str = ""
    """CONTAINS…: the words. NO_FINDING: a severity or a code."""
    number: float = 0
    """CONTAINS_FROM, NO_TRUNCATION_BEFORE: a request, from 1. RANGE_WITHIN: a message, from 0. USAGE_BELOW: tokens, or
    the share of the window."""
    is_share: bool = False
    """USAGE_BELOW: `number` is a share of the window (0.8), not tokens."""
    name: str = ""
    """What its author calls it, '' for none."""
    place: str = ""
    """Where it stands: '--rule 2', 'rules.toml, rule 3'."""

    @property
    def title(self) -> str:
        """Its name, else as it was written."""
        return self.name or self.source


_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\S+)', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)(%|k|m)?", re.IGNORECASE)
_CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
_TAKES = {
    RuleKind.CONTAINS: ("text",),
    RuleKind.CONTAINS_FROM: ("request", "text"),
    RuleKind.NEVER_CONTAINS: ("text",),
    RuleKind.NO_DUPLICATE_FILES: (),
    RuleKind.USAGE_BELOW: ("amount",),
    RuleKind.NO_TRUNCATION: (),
    RuleKind.NO_TRUNCATION_BEFORE: ("request",),
    RuleKind.RANGE_WITHIN: ("message",),
    RuleKind.NO_FINDING: ("finding",),
}


def parse_rule(source: str, place: str = "", name: str = "") -> Rule:
    """One rule. RuleError names the place and the word that is wrong."""
    words = [(found[1], found.start(1)) for found in _TOKEN.finditer(source)]
    if not words:
        raise RuleError("A rule is empty.", hint=f"Such as: {USE[RuleKind.CONTAINS]}", place=place)
    first = words[0][0]
    if first not in set(RuleKind):
        known = ", ".join(RuleKind)
        raise RuleError(f"There is no rule {_shown(first)}.", hint=f"Rules are {known}.", place=_at(place, 0))
    kind = RuleKind(first)
    takes, given = _TAKES[kind], words[1:]
    if len(given) != len(takes):
        wrong = given[len(takes)][1] if len(given) > len(takes) else len(source)
        what = "says too much" if len(given) > len(takes) else "says too little"
        raise RuleError(f"The rule {kind} {what}.", hint=f"It is written: {USE[kind]}", place=_at(place, wrong))
    facts: dict[str, str | float | bool] = {}
    for argument, (word, column) in zip(takes, given, strict=True):
        facts.update(_argument(kind, argument, word, _at(place, column)))
    return Rule(
        kind,
        source.strip(),
        str(facts.get("text", "")),
        float(facts.get("number", 0)),
        bool(facts.get("is_share")),
        name,
        place,
    )


def parse_rules(text: str, file: str) -> tuple[Rule, ...]:
    """The rules of a TOML file: a list `rules` of texts, and tables `[[rule]]` with `rule` and, optionally, `name`.

    `file` is its name, for errors. RuleError for a file that is no such thing, or that holds none.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as err:
        raise RuleError(f"The file of rules is no TOML: {err}.", place=file) from err
    unknown = sorted(set(data) - {"rules", "rule"})
    if unknown:
        raise RuleError(f"The file of rules has an unknown key: {unknown[0]}.", hint=_FORM, place=file)
    listed, tables = data.get("rules", []), data.get("rule", [])
    if not isinstance(listed, list) or not isinstance(tables, list):
        raise RuleError("`rules` must be a list, and [[rule]] a table in double brackets.", hint=_FORM, place=file)
    rules: list[Rule] = []
    for number, source in enumerate(listed, 1):
        place = f"{file}, rules {number}"
        if not isinstance(source, str):
            raise RuleError("A rule in the list is no text.", hint=_FORM, place=place)
        rules.append(parse_rule(source, place))
    for number, table in enumerate(tables, 1):
        rules.append(_from_table(table, f"{file}, [[rule]] {number}"))
    if not rules:
        raise RuleError("The file holds no rule.", hint=_FORM, place=file)
    return tuple(rules)


_FORM = "rules = ['contains \"TEXT\"', 'usage-below 80%'], or [[rule]] with rule = '…' and name = '…'."


def _from_table(table: object, place: str) -> Rule:
    if not isinstance(table, dict) or not isinstance(table.get("rule"), str):
        raise RuleError("A [[rule]] has no `rule` with a text.", hint=_FORM, place=place)
    unknown = sorted(set(table) - {"rule", "name"})
    if unknown:
        raise RuleError(f"A [[rule]] has an unknown key: {unknown[0]}.", hint=_FORM, place=place)
    name = table.get("name", "")
    if not isinstance(name, str):
        raise RuleError("The name of a rule is no text.", place=place)
    return parse_rule(table["rule"], place, name)


def _argument(kind: RuleKind, argument: str, word: str, place: str) -> Iterable[tuple[str, str | float | bool]]:
    hint = f"It is written: {USE[kind]}"
    match argument:
        case "text":
            if not (len(word) >= 2 and word.startswith('"') and word.endswith('"')):
                raise RuleError(f"The text of {kind} stands in double quotes.", hint=hint, place=place)
            text = re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), word[1:-1], flags=re.DOTALL)
            if not text.strip():
                raise RuleError(f"The text of {kind} is empty.", hint=hint, place=place)
            return [("text", text)]
        case "request" | "message":
            least = 1 if argument == "request" else 0
            if not word.isascii() or not word.isdigit() or int(word) < least:
                counted = f"a number of a {argument}, from {least}"
                raise RuleError(f"{_shown(word)} is not {counted}.", hint=hint, place=place)
            return [("number", int(word))]
        case "amount":
            found = _AMOUNT.fullmatch(word)
            if found is None or float(found[1]) <= 0:
                raise RuleError(f"{_shown(word)} is neither a share nor a number of tokens.", hint=hint, place=place)
            factor = {"%": 0.01, "k": 1e3, "m": 1e6}.get((found[2] or "").lower(), 1)
            return [("number", float(found[1]) * factor), ("is_share", found[2] == "%")]
        case _:
            if word not in set(Severity) and not _CODE.fullmatch(word):
                raise RuleError(f"{_shown(word)} is neither a severity nor a code.", hint=hint, place=place)
            return [("text", word)]


def _at(place: str, column: int) -> str:
    where = f"column {column + 1}"
    return f"{place}, {where}" if place else where


def _shown(word: str) -> str:
    return word if len(word) <= 40 else word[:40] + "…"
