"""Made-up Cline conversations and stored updates for properties."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.updates import EMPTY, ContextHistory
from helpers.cline_talk import a, call, edit, header, mention, read, result, text, u

paths = st.sampled_from(["a", "src/b.py", "$&", "$$", "é/😀", ""])
bodies = st.sampled_from(["", "x", "long " * 90, "é😀" * 40, "$`", "</file_content>", "\ud83d"])
mentions = st.lists(st.builds(mention, paths, bodies), min_size=1, max_size=3).map(" and ".join)
words = st.one_of(
    st.builds(read, paths, bodies),
    st.builds(edit, paths, bodies),
    mentions,
    paths.map(header),
    st.sampled_from(["", "words", "[execute_command for 'ls'] Result:\nx", "\u2028"]),
)
tool_ids = st.sampled_from(["t1", "t2", "t3"])
user_blocks = st.one_of(
    words, words, st.builds(lambda i, w: result(i, [text(w)]), tool_ids, words), st.builds(result, tool_ids, words)
)
assistant_blocks = st.one_of(st.sampled_from(["ok", ""]), tool_ids.map(call))
users = st.lists(user_blocks, max_size=3).map(lambda blocks: u(*blocks))
assistants = st.lists(assistant_blocks, max_size=3).map(lambda blocks: a(*blocks))


@st.composite
def conversations(draw: st.DrawFn, min_size: int = 0, max_size: int = 14) -> list:
    """User and assistant in turn, the user first."""
    return [draw((users, assistants)[number % 2]) for number in range(draw(st.integers(min_size, max_size)))]


@st.composite
def histories(draw: st.DrawFn) -> ContextHistory:
    """Updates as the engine itself makes them, on any message and block."""
    history = EMPTY
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from([0, 2, 3, 4]))
        some = draw(st.lists(paths, max_size=2))
        metadata = [some, [*some, *draw(st.lists(paths, max_size=2))]] if kind == 4 else []
        history = history.with_update(
            draw(st.integers(0, 15)), draw(st.integers(0, 3)), draw(st.integers(0, 9)), draw(words), kind, metadata
        )
    return history


odd_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(), st.text(max_size=4), st.just("text")
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=12,
)
json_texts = odd_values.map(lambda value: json.dumps(value, allow_nan=False, default=str) if _finite(value) else "[]")


def _finite(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


odd_update = st.tuples(
    st.one_of(st.none(), st.integers(-5, 20)),
    st.sampled_from(["text", "other"]),
    st.lists(words, max_size=1),
    odd_values,
).map(list)
odd_history_texts = (
    st.lists(
        st.tuples(
            st.one_of(st.integers(-2, 15), st.sampled_from(["1", None, True, 1.5])),
            st.tuples(
                st.one_of(st.integers(0, 4), odd_values),
                st.lists(
                    st.tuples(
                        st.one_of(st.integers(0, 3), st.just("0")),
                        st.one_of(st.lists(odd_update, max_size=4), odd_values),
                    ),
                    max_size=2,
                ),
            ),
        ),
        max_size=4,
    )
    .filter(_finite)
    .map(json.dumps)
)

even_ends = st.integers(0, 6).map(lambda half: Range(2, 1 + 2 * half))
"""Ends on an assistant message of a conversation in turns."""
ranges = st.one_of(st.none(), even_ends, st.builds(Range, st.just(2), st.integers(-3, 16)))
