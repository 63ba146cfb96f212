"""Every recorded case of Cline 4.0.10's context management comes out of the engine as recorded."""

from __future__ import annotations

import copy

import pytest

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.engine.cline import notices
from helpers.cline_vectors import RUNNERS, Case, Story, load_cases
from helpers.vector_files import BUNDLED, read_json

NOT_COMPARED = {"error", "message", "history_after"}
"""Words of the reference's errors; and its change of the given history, which this engine must not make."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        cases = list(load_cases(metafunc.config.getoption("--vectors")))
        metafunc.parametrize("case", cases, ids=[case.id for case in cases])


def test_case(case: Case) -> None:
    if case.op == "sequences":
        check_story(case)
    else:
        check_call(case)


def check_call(case: Case) -> None:
    given, expected = case.body["input"], case.body["expect"]
    untouched = copy.deepcopy(given)
    try:
        result = RUNNERS[case.op](given)
    except BrokenInputError:
        result = {"throws": True}
    assert given == untouched, "the input was changed"
    assert result.get("throws", False) is expected.get("throws", False)
    for key, value in expected.items():
        if key not in NOT_COMPARED:
            compare(key, result[key], value)


def check_story(case: Case) -> None:
    story = Story()
    stored: str | None = None
    for number, (step, expected) in enumerate(zip(case.body["steps"], case.body["expect"], strict=True)):
        untouched = copy.deepcopy(story.messages)
        before = story.messages
        result = story.step(step)
        assert before == untouched, f"step {number} changed the input"
        assert result.get("throws", False) is expected.get("throws", False), number
        for key, value in expected.items():
            if key == "state":
                stored = value.get("file", stored)
                state = {**value, "file": stored}
                state.setdefault("memory", "[]" if stored is None else stored)
                for part, recorded in state.items():
                    compare(f"step {number} {part}", result["state"][part], recorded)
            elif key not in {"error", "message"}:
                compare(f"step {number} {key}", result[key], value)


def compare(key: str, result: object, expected: object) -> None:
    if key.endswith("returned_error"):
        assert (result is None) is (expected is None), key
    elif key == "results":
        assert result == [{name: part for name, part in one.items() if name not in NOT_COMPARED} for one in expected]
    else:
        assert result == expected, key


def test_notice_texts() -> None:
    recorded = read_json(BUNDLED / "cline" / "notices.json.xz")
    assert recorded == {
        "duplicate_file_read": notices.DUPLICATE_FILE_READ,
        "context_truncation": notices.CONTEXT_TRUNCATION,
        "first_user_message": notices.FIRST_USER_MESSAGE,
    }


def test_every_kind_of_case_is_bundled() -> None:
    cases = list(load_cases())
    assert {case.op for case in cases} == {*RUNNERS, "sequences"}
    assert len(cases) > 600
