"""Nothing of the machine that made it stands in the project: no registry, no path, no secret."""

import os
import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
COMMON = {"/", "/home", "/Users", "/opt", "/srv", "/tmp", "/usr", "/usr/src", "/var/tmp"}  # noqa: S108 - only names
LEFT_OUT = {"build", "dist", "__pycache__"}

# The patterns do not match themselves.
REGISTRY = re.compile(
    rb"index[-]url|find[-]links|trusted[-]host|\"resolved[\"]:|python[h]osted|registry[.]npmjs|/api[/]pypi|/simple[/]",
    re.IGNORECASE,
)
SECRET = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE[ ]KEY|\b(ghp|gho|github_pat)_[A-Za-z0-9]{20,}|\bsk-(ant-)?[A-Za-z0-9]{24,}|\bAKIA[0-9A-Z]{16}\b"
)
UNFINISHED = re.compile(rb"#\s*(TO[D]O|FIX[M]E)\b(?!\",)")  # a text of a format may be called so


def tracked() -> list[Path]:
    """Files under version control; without it (a source archive), all but what is made by tools."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return [PROJECT / os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
    return [
        file
        for file in PROJECT.rglob("*")
        if file.is_file()
        and not any(
            p.startswith(".") or p in LEFT_OUT or p.endswith(".egg-info") for p in file.relative_to(PROJECT).parts
        )
    ]


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    return {file.relative_to(PROJECT).as_posix(): file.read_bytes() for file in tracked() if file.is_file()}


def places(contents: dict[str, bytes], pattern: re.Pattern[bytes]) -> list[str]:
    found = []
    for name, data in contents.items():
        if match := pattern.search(data):
            found.append(f"{name}: {match[0][:60]!r} on line {data.count(10, 0, match.start()) + 1}")
    return found


def test_painters_end_also_when_an_error_passes_by():
    """As `with QPainter(…)`; one that lives on in a traceback paints on what Qt has taken away."""
    opened = re.compile(r"QPainter\(")
    for file in (PROJECT / "ctxviewer").rglob("*.py"):
        for line in file.read_text("utf-8").splitlines():
            assert not opened.search(line) or line.lstrip().startswith("with QPainter("), f"{file.name}: {line.strip()}"


def test_no_registry_is_named(contents):
    assert places(contents, REGISTRY) == []


def test_no_path_of_this_machine_is_named(contents):
    here = {str(PROJECT), str(PROJECT.parent), str(Path.home())} - COMMON
    pattern = re.compile(b"|".join(re.escape(os.fsencode(path)) + rb"/" for path in sorted(here)))
    assert places(contents, pattern) == []


def test_no_secret_is_inside(contents):
    assert places(contents, SECRET) == []


def test_no_file_is_larger_than_two_megabytes(contents):
    assert [name for name, data in contents.items() if len(data) > 2_000_000] == []


def test_nothing_is_left_unfinished(contents):
    code = {name: data for name, data in contents.items() if name.endswith(".py")}
    assert places(code, UNFINISHED) == []


def test_no_lock_file_is_committed(contents):
    assert [name for name in contents if name.endswith(("uv.lock", "poetry.lock", "Pipfile.lock"))] == []
