"""The README of the strategies shows how to add one: its example is run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

from ctxviewer.engine import strategies
from ctxviewer.engine.matrix import Choice, matrix
from ctxviewer.engine.replay import replay
from ctxviewer.engine.state import state_at
from ctxviewer.engine.strategies.base import Strategy
from helpers.cline_talk import alternating
from helpers.lab import lab_task

README = (Path(strategies.__file__).parent / "README.md").read_text("utf-8")


def example() -> Strategy:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {"__name__": "example"}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102 - the page's own example
    return names["TAIL"]


def test_the_example_runs_everywhere():
    timeline = lab_task(alternating(40), [9_000] * 20)
    choice = Choice(example(), {"share": 0.05})
    (row,) = matrix(state_at(timeline, None), [choice], window=2_000).rows
    assert row.messages_lost > 0
    assert row.tokens_kept <= 100
    (replayed,) = replay(timeline, [choice], window=2_000)
    assert replayed.events
    assert replayed.lost[0].messages.start == 2


def test_every_file_of_the_folder_is_in_the_table():
    folder = Path(strategies.__file__).parent
    for file in folder.glob("*.py"):
        family = f"{file.stem.split('_')[0]}_*.py"
        assert f"`{file.name}`" in README or f"`{family}`" in README
