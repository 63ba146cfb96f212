"""Verdicts of assertions as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ctxviewer.domain.json import JsonObject
from ctxviewer.engine.assertions import Verdict
from ctxviewer.exports.report import one_line
from ctxviewer.exports.values import request_number

MOST = 5
"""Breaches that are told one by one on a terminal."""


def verdict_json(verdict: Verdict) -> JsonObject:
    """One rule with every breach."""
    return {
        "rule": verdict.rule.source,
        "name": verdict.rule.name,
        "place": verdict.rule.place,
        "holds": verdict.holds,
        "checked": verdict.checked,
        "sentence": verdict.sentence,
        "breaches": [
            {"request": request_number(breach.request), "message": breach.message, "sentence": breach.sentence}
            for breach in verdict.breaches
        ],
    }


def verdict_lines(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Every rule, and the first breaches of those that do not hold."""
    for verdict in verdicts:
        mark = "holds " if verdict.holds else "BROKEN"
        yield f"  {mark}  {one_line(verdict.rule.title, 80)}: {verdict.sentence}"
        for breach in verdict.breaches[:MOST]:
            if breach.sentence != verdict.sentence:
                yield f"            {one_line(breach.sentence, 200)}"
        if len(verdict.breaches) > MOST:
            yield f"            … {len(verdict.breaches) - MOST} more"
