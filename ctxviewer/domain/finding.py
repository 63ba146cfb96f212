"""What is wrong or odd in a task, told so that a person can act on it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """INFO: odd but harmless. WARNING: something is missing or approximate. ERROR: a part cannot be shown."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact about a task's files."""

    code: str
    """Stable, lower case with dashes: 'api-missing', 'range-beyond-end'."""
    severity: Severity
    sentence: str
    """What is the matter, naming the file."""
    file: str = ""
    place: str = ""
    """Where in the file: 'byte 1572864', 'item 17', 'message 12 block 0'."""
    advice: str = ""
    """What it means and what to do."""
    message: int | None = None
    """The stored message it concerns, so that a row can jump."""
    request: int | None = None
