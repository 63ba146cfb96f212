"""Finds the files that ship with the program: in a wheel under `ctxviewer/_resources`, in a checkout in `resources/`.

Nothing here guesses: a name that does not exist is a mistake in our own code and raises at once.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def root() -> Path:
    """The folder that holds all resources. Raises FileNotFoundError when the installation has lost it."""
    package = Path(__file__).resolve().parent
    candidates = (package / "_resources", package.parent / "resources")
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"ctxviewer is installed without its resources; looked for {candidates[0]}")


def path(*parts: str) -> Path:
    """The path of a resource (file or folder), `path("themes", "dark.toml")`. Raises FileNotFoundError on a typo."""
    found = root().joinpath(*parts)
    if not found.exists():
        raise FileNotFoundError(f"no such resource: {'/'.join(parts)} (in {root()})")
    return found


def read_bytes(*parts: str) -> bytes:
    """The content of a resource file."""
    return path(*parts).read_bytes()


def read_text(*parts: str) -> str:
    """The content of a resource file as UTF-8 text, line ends as `\\n`."""
    return path(*parts).read_text(encoding="utf-8")
