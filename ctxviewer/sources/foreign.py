"""Formats of other agents, recognised by name only, so that a refusal can say what a file is."""

from __future__ import annotations

import os
import re
from pathlib import Path

_MANIFEST = re.compile(r".+\.messages\.json")


def name_of_format(path: Path) -> str:
    """What a file or folder looks like, in words; '' when it is nothing that is known."""
    if path.is_file():
        return _of_file(path.name)
    try:
        names = sorted(os.listdir(path))  # noqa: PTH208 - names only
    except OSError:
        return ""
    if "history_item.json" in names:
        return "a task of Roo Code or Kilo Code"
    return next((found for name in names if (found := _of_file(name))), "")


def _of_file(name: str) -> str:
    if _MANIFEST.fullmatch(name):
        return "a session of Cline 4.1 or later"
    if name.startswith("rollout-") and name.endswith(".jsonl"):
        return "a Codex session"
    if name.endswith(".jsonl"):
        return "a transcript of another agent"
    if name.startswith("session-") and name.endswith((".json", ".jsonl")):
        return "a Gemini session"
    if name.endswith(".db") and name.startswith(("kilo", "opencode")):
        return "a database of Kilo Code or opencode"
    return ""
