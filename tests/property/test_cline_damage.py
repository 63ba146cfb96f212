"""Damaged data never raises anything but BrokenInputError, and is never changed.

The recorded cases are damaged at random: parts replaced by odd values or by other parts, removed, doubled.
"""

from __future__ import annotations

import copy
import json
import random

import pytest

from ctxviewer.domain.errors import BrokenInputError
from helpers.cline_vectors import RUNNERS, Case, Story, load_cases

ODD = [
    None, 0, 1, -1, 2.5, 4, 2**53 + 1, "", "x", "text", "user", "tool_result", True, False, [], {}, [[]], [None],
    {"type": "text"}, {"type": "text", "text": None}, {"length": 2, "0": ["a"], "1": ["a"]}, {"toString": 1}, "\ud83d",
]  # fmt: skip
TEXTS = [
    "{",
    "null",
    "[]",
    '"s"',
    '{"tokensIn":"9","tokensOut":[1]}',
    '{"tokensIn":1e400}',
    "\ufeff{}",
    '{"tokensIn":{"toString":1}}',
]
DAMAGED = ("messages", "ui_messages", "task_metadata")
LARGEST = 20_000


def places(value: object) -> list[tuple]:
    """Each container with a key of it, outside first."""
    found: list[tuple] = []
    waiting = [value]
    while waiting:
        here = waiting.pop()
        keys = range(len(here)) if isinstance(here, list) else here if isinstance(here, dict) else ()
        for key in keys:
            found.append((here, key))
            waiting.append(here[key])
    return found


def damage(value: object, rnd: random.Random) -> None:
    """Damage one place of the value."""
    found = places(value)
    if not found:
        return
    here, key = rnd.choice(found)
    other, other_key = rnd.choice(found)
    match rnd.randrange(5):
        case 0:
            del here[key]
        case 1 if isinstance(here, list):
            here.insert(key, copy.deepcopy(here[key]))
        case 2:
            here[key] = copy.deepcopy(other[other_key])
        case _:
            here[key] = copy.deepcopy(rnd.choice(ODD))


def damaged(given: dict, rnd: random.Random) -> dict:
    given = copy.deepcopy(given)
    parts = [given[name] for name in DAMAGED if isinstance(given.get(name), (list, dict))]
    parts += [step["append"] for step in given.get("rounds", ())]
    parts += [step["messages"] for step in given.get("steps", ()) if step["op"] == "append"]
    for _ in range(rnd.choice((1, 1, 2, 4))):
        if parts:
            damage(rnd.choice(parts), rnd)
    history = given.get("context_history")
    if isinstance(history, str) and history.startswith("[") and rnd.random() < 0.6:
        try:
            value = json.loads(history)
        except ValueError:
            return given
        damage(value, rnd)
        given["context_history"] = json.dumps(value)
    for entry in given.get("ui_messages") or ():
        if isinstance(entry, dict) and "text" in entry and rnd.random() < 0.2:
            entry["text"] = rnd.choice(TEXTS)
    return given


def small_cases() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in load_cases():
        given = case.body.get("input") or case.body
        if len(json.dumps(given)) < LARGEST:
            found.setdefault(case.op, []).append(case)
    return found


CASES = small_cases()


@pytest.mark.parametrize("op", sorted(CASES))
def test_damage_is_named_and_left_alone(op: str) -> None:
    rnd = random.Random(op)
    named = 0
    for _ in range(120):
        case = rnd.choice(CASES[op])
        given = damaged(case.body["input"] if "input" in case.body else {"steps": case.body["steps"]}, rnd)
        before = json.dumps(given)
        try:
            if op == "sequences":
                story = Story()
                for step in given["steps"]:
                    story.step(step)
            else:
                RUNNERS[op](given)
        except BrokenInputError:
            named += 1
        assert json.dumps(given) == before
    assert named < 120
