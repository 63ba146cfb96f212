"""Files of recorded cases: found in any folder under any name, and known by what they hold."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

BUNDLED = Path(__file__).parents[1] / "data" / "vectors"
CLINE, SAGE = "op", "profile"
"""The key that only files with cases of this kind have."""


class NoVectorsError(pytest.Collector.CollectError):
    """Cases that cannot be read; pytest shows the sentence alone."""


def read_json(path: Path) -> object:
    """The value in a file, plain or compressed."""
    opener = {".xz": lzma.open, ".gz": gzip.open}.get(path.suffix, open)
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            return json.load(file)
    except (OSError, EOFError, ValueError, lzma.LZMAError) as err:
        raise NoVectorsError(f"--vectors: {path} cannot be read: {err}") from err


def vector_files(where: Path) -> Iterator[tuple[Path, dict]]:
    """All files with recorded cases under a folder, in order of their paths."""
    if not where.is_dir():
        raise NoVectorsError(f"--vectors: no such folder: {where}")
    for path in sorted(where.rglob("*.json*")):
        if path.is_file() and path.suffix in {".json", ".xz", ".gz"}:
            document = read_json(path)
            if isinstance(document, dict) and isinstance(document.get("cases"), list):
                yield path, document


def cases_under(option: str | None, kind: str) -> Iterator[tuple[Path, dict, dict]]:
    """Each case of one kind, with its file and what the file holds: of `--vectors DIR`, else the bundled ones.

    None of this kind is fine as long as there are others.
    """
    where = BUNDLED if option is None else Path(option)
    found = False
    for path, document in vector_files(where):
        found = True
        if kind in document:
            for case in document["cases"]:
                yield path, document, case
    if not found:
        raise NoVectorsError(f"--vectors: no recorded cases under {where}")
