"""sage.md §14 and §15: conversations of any shape as Sage's list, and back in the picture."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ctxviewer.engine.sage.auto_compact import AutoCompact, Compacted
from ctxviewer.engine.sage.config import AutoCompactConfig
from ctxviewer.engine.sage.convert import Converted, convert
from ctxviewer.engine.sage.picture import draw, draw_removed
from helpers.sage_talk import makers

TEXTS = st.text(max_size=60)
AUTO_CONFIGS = st.builds(AutoCompactConfig, preserve_recent_count=st.integers(0, 8))
BLOCKS: st.SearchStrategy[Any] = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
    st.builds(
        lambda name: {"type": "tool_use", "id": name, "name": f"tool {name}", "input": {}}, st.sampled_from("abc")
    ),
    st.builds(
        lambda name, content: {"type": "tool_result", "tool_use_id": name, "content": content},
        st.sampled_from("abcd"),
        TEXTS | st.lists(st.builds(lambda text: {"type": "text", "text": text}, TEXTS), max_size=2),
    ),
    st.sampled_from([{"type": "image"}, {"type": "thinking", "thinking": "t"}, {}, None, 5, "text", {"type": "text"}]),
)
STORED: st.SearchStrategy[list[Any]] = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["user", "user", "assistant", "assistant", "system", "tool", "developer", None]),
        TEXTS | st.lists(BLOCKS, max_size=5) | st.none(),
    )
    | st.sampled_from([None, 5, "x", [], {}]),
    max_size=12,
)


def block_count(value: Any) -> int:
    content = value.get("content") if isinstance(value, dict) else None
    return len(content) if isinstance(content, list) else 0


def converted(stored: list[Any]) -> Converted:
    made = convert(stored)
    assert len(made.messages) == len(made.origins)
    return made


@given(STORED)
def test_every_stored_block_is_in_exactly_one_origin(stored: list[Any]) -> None:
    made = converted(stored)
    found: Counter[tuple[int, int]] = Counter()
    wholes: Counter[int] = Counter()
    order = []
    for origin in made.origins:
        assert origin is not None
        assert origin.message is not None
        order.append(origin.message)
        found.update((origin.message, block) for block in origin.blocks)
        wholes.update([origin.message] if origin.whole else [])
        assert origin.whole != bool(origin.blocks)
    assert order == sorted(order)
    assert found == Counter(
        (number, block) for number, value in enumerate(stored) for block in range(block_count(value))
    )
    assert wholes == Counter(number for number, value in enumerate(stored) if not block_count(value))


@given(STORED, st.text(max_size=3) | st.none())
def test_nothing_removed_shows_everything_and_everything_removed_hides_everything(
    stored: list[Any], prompt: str | None
) -> None:
    made = convert(stored, system_prompt=prompt)
    every = range(len(made.messages))
    nothing, everything = draw_removed(made, []), draw_removed(made, every)
    assert (nothing.hidden_messages, nothing.hidden_blocks, nothing.rows, nothing.split) == (frozenset(), {}, (), ())
    assert everything.hidden_messages == set(range(len(stored)))
    assert (everything.hidden_blocks, everything.rows, everything.split) == ({}, (), ())
    assert draw(made, [None]).hidden_messages == everything.hidden_messages


@given(STORED, st.data())
def test_a_block_is_hidden_when_its_sage_message_is_gone(stored: list[Any], data: st.DataObject) -> None:
    made = converted(stored)
    removed = data.draw(st.sets(st.integers(0, len(made.messages) - 1))) if made.messages else set()
    picture = draw_removed(made, removed)
    for number, origin in enumerate(made.origins):
        assert origin is not None
        assert origin.message is not None
        for block in origin.blocks:
            assert picture.shows(origin.message, block) is (number not in removed)
        if origin.whole:
            assert picture.shows(origin.message) is (number not in removed)
    for pair in picture.split:
        assert pair.call_message is not None
        assert pair.result_message is not None
        shown = picture.shows(pair.call_message, pair.call_block), picture.shows(pair.result_message, pair.result_block)
        assert shown == ((False, True) if pair.hidden == "call" else (True, False))


@given(STORED, AUTO_CONFIGS)
def test_rows_stand_before_what_follows_them(stored: list[Any], config: AutoCompactConfig) -> None:
    made = converted(stored)
    result = AutoCompact(config, **makers()).force_compact(made.messages)
    if not isinstance(result, Compacted):
        return
    picture = draw(made, result.numbers)
    (row,) = picture.rows
    assert result.messages[row.number] is result.boundary
    after = list(result.numbers)[row.number + 1 :]
    first = made.origins[after[0]] if after and after[0] is not None else None
    assert row.before == (first.message if first else None)
    assert not any(picture.shows(number) for number in range(len(stored)) if _all_gone(made, number, result.compacted))


def _all_gone(made: Converted, stored: int, removed: tuple[int, ...]) -> bool:
    return all(number in removed for number, origin in enumerate(made.origins) if origin and origin.message == stored)


@given(STORED, st.data())
def test_repair_blocks_are_never_drawn(stored: list[Any], data: st.DataObject) -> None:
    blocks = [
        data.draw(st.lists(st.none() | st.integers(0, 9), min_size=count, max_size=count)) if count else None
        for count in map(block_count, stored)
    ]
    made = convert(stored, blocks=blocks)
    removed = data.draw(st.sets(st.integers(0, len(made.messages) - 1))) if made.messages else set()
    picture = draw_removed(made, removed)
    for message, hidden in picture.hidden_blocks.items():
        assert set(hidden) <= {block for block in blocks[message] or () if block is not None}
        assert message not in picture.hidden_messages
    repairs = {number for number, origin in enumerate(made.origins) if origin and origin.is_repair}
    whole = draw_removed(made, set(range(len(made.messages))) - repairs)
    only_repairs = {number for number, parts in made.parts.items() if set(parts) <= repairs}
    assert whole.hidden_messages == set(range(len(stored))) - only_repairs
