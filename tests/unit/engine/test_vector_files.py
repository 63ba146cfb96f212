"""`--vectors DIR`: recorded cases are found whatever their files are called, and damage is named."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from helpers.cline_vectors import load_cases
from helpers.vector_files import BUNDLED, SAGE, NoVectorsError, cases_under, read_json, vector_files


def sage_cases(where: Path) -> list[dict]:
    return [case for _, _, case in cases_under(str(where), SAGE)]


def test_files_are_known_by_what_they_hold(tmp_path: Path) -> None:
    calls = read_json(BUNDLED / "cline" / "get_next_truncation_range.json.xz")
    (tmp_path / "hidden one.json").write_text(json.dumps(calls), encoding="utf-8")
    (tmp_path / "deeper" / "x").mkdir(parents=True)
    shutil.copy(BUNDLED / "sage" / "doc_prune.json", tmp_path / "deeper" / "x" / "0.json")
    with gzip.open(tmp_path / "deeper" / "more.json.gz", "wt", encoding="utf-8") as file:
        json.dump({**calls, "cases": calls["cases"][:2]}, file)
    (tmp_path / "notices.json").write_text("{}", encoding="utf-8")
    (tmp_path / "README.md").write_text("{", encoding="utf-8")
    found = list(load_cases(str(tmp_path)))
    assert len(found) == len(calls["cases"]) + 2
    assert {case.op for case in found} == {"get_next_truncation_range"}
    assert {case["kind"] for case in sage_cases(tmp_path)} == {"prune"}


def test_one_kind_alone_is_enough(tmp_path: Path) -> None:
    shutil.copytree(BUNDLED / "sage", tmp_path / "any name")
    assert list(load_cases(str(tmp_path))) == []
    assert sage_cases(tmp_path)


def test_a_folder_without_cases_is_no_success(tmp_path: Path) -> None:
    for where in (tmp_path, tmp_path / "none"):
        with pytest.raises(NoVectorsError, match=f"^--vectors: no .*{where}$"):
            list(load_cases(str(where)))
        with pytest.raises(NoVectorsError):
            sage_cases(where)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.json", b'{"op": "sequences", "cases": [{'),
        ("cut.json.xz", b"\xfd7zXZ\x00\x00"),
        ("no.json.gz", b"{}"),
        ("latin.json", b'"\xe9"'),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(NoVectorsError, match=f"{name} cannot be read"):
        list(vector_files(tmp_path))


def test_an_unknown_call_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"op": "other", "cases": [{"id": "1"}]}', encoding="utf-8")
    with pytest.raises(NoVectorsError, match=r"a\.json .*'other'"):
        list(load_cases(str(tmp_path)))
