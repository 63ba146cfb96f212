"""sage.md §10: boundaries, and the time they carry."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxviewer.engine.sage.boundary import active_part, is_boundary, last_boundary, make_boundary, utc_text
from ctxviewer.engine.sage.message import Role, SageMessage
from helpers.sage_talk import talk


def test_a_boundary_carries_its_summary_twice() -> None:
    made = make_boundary("the gist", time="2026-01-02T03:04:05.000Z", compact_id="id")
    assert made.role is Role.ASSISTANT
    assert made.content == "[Previous conversation summary]\n\nthe gist\n\n[End of summary]"
    assert made.metadata == {
        "compact_boundary": True,
        "compact_summary": "the gist",
        "compact_timestamp": "2026-01-02T03:04:05.000Z",
        "compact_id": "id",
    }
    assert is_boundary(made)


@pytest.mark.parametrize(("summary", "size"), [("", 51), ("摘要🙂", 61), ("a\nb", 54)])
def test_its_size_is_51_bytes_and_the_summary(summary: str, size: int) -> None:
    assert len(make_boundary(summary, time="t", compact_id="i").content.encode()) == size


@pytest.mark.parametrize("role", list(Role))
def test_any_role_is_recognised(role: Role) -> None:
    assert is_boundary(SageMessage(role, "", metadata={"compact_boundary": True}))


@pytest.mark.parametrize("value", ["true", 1, 1.0, 0, None, [], [True], {}, False])
def test_only_the_boolean_true_is(value: Any) -> None:
    assert not is_boundary(SageMessage(Role.ASSISTANT, "", metadata={"compact_boundary": value}))


def test_other_keys_do_not_make_a_boundary() -> None:
    assert not is_boundary(SageMessage(Role.ASSISTANT, "", metadata={"compact_summary": "x", "compact_id": "y"}))
    assert not is_boundary(SageMessage(Role.ASSISTANT, "[Previous conversation summary]"))


@pytest.mark.parametrize(
    ("text", "last", "active"),
    [("", None, 0), ("u:a a:b", None, 2), ("u:a B:x a:b", 1, 1), ("u:a B:x", 1, 0), ("B:x u:a B:y u:b u:c", 2, 2)],
)
def test_the_active_part_follows_the_last_boundary(text: str, last: int | None, active: int) -> None:
    messages = talk(text)
    assert last_boundary(messages) == last
    part = active_part(messages)
    assert [id(message) for message in part] == [id(message) for message in messages[len(messages) - active :]]


def test_times() -> None:
    assert utc_text(0) == "1970-01-01T00:00:00.000Z"
    assert utc_text(1_796_000_000_123) == "2026-11-30T00:53:20.123Z"
    assert utc_text(951_782_400_000) == "2000-02-29T00:00:00.000Z"
    assert utc_text(-1) == "1969-12-31T23:59:59.999Z"


@given(st.integers(-60_000_000_000_000, 250_000_000_000_000))
def test_times_agree_with_the_calendar(milliseconds: int) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    assert utc_text(milliseconds) == moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
