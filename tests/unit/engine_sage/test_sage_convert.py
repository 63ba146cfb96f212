"""sage.md §14: Cline's conversations as Sage messages, and Sage's lists back in the picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from ctxviewer.engine.sage.auto_compact import Compacted, compact
from ctxviewer.engine.sage.boundary import is_boundary
from ctxviewer.engine.sage.config import ContextConfig
from ctxviewer.engine.sage.convert import CallPair, Converter, Origin, convert
from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR
from ctxviewer.engine.sage.message import Role, SageMessage, ToolCall
from ctxviewer.engine.sage.picture import Half, MadeRow, Picture, SplitPair, compose, draw, draw_removed
from ctxviewer.engine.sage.pruner import MessagePruner
from helpers.sage_talk import StubModel, makers


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def use(tool_id: str, name: str = "read_file", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": tool_id, "name": name, "input": {}, **more}


def answer(tool_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": tool_id, "content": content, **more}


def user(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks), **more}


def assistant(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), **more}


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
THINKING = {"type": "thinking", "thinking": "hmm", "signature": "s"}

EXAMPLE: list[Any] = [
    {"role": "user", "content": "fix the login form"},
    assistant(text("Looking."), use("t1"), use("t2")),
    user(answer("t1", "AAAA"), answer("t2", [text("BB"), IMAGE]), text("note")),
    assistant(text("Done.")),
]


def test_the_worked_example_forth() -> None:
    made = convert(EXAMPLE)
    calls = (ToolCall("t1", "read_file"), ToolCall("t2", "read_file"))
    assert list(made.messages) == [
        SageMessage(Role.USER, "fix the login form"),
        SageMessage(Role.ASSISTANT, "Looking.", calls),
        SageMessage(Role.TOOL, "AAAA", tool_call_id="t1", name="read_file"),
        SageMessage(Role.TOOL, "BB", tool_call_id="t2", name="read_file"),
        SageMessage(Role.USER, "note"),
        SageMessage(Role.ASSISTANT, "Done."),
    ]
    assert list(made.origins) == [
        Origin(0, whole=True),
        Origin(1, (0, 1, 2)),
        Origin(2, (0,)),
        Origin(2, (1,)),
        Origin(2, (2,)),
        Origin(3, (0,)),
    ]
    assert DEFAULT_ESTIMATOR.each(made.messages) == (13, 10, 9, 9, 9, 10)
    assert DEFAULT_ESTIMATOR.conversation(made.messages) == 60


def test_the_worked_example_back() -> None:
    made = convert(EXAMPLE)
    pruned = MessagePruner(ContextConfig(preserve_recent_count=3)).prune(made.messages, 30)
    assert (list(pruned.removed_numbers), pruned.tokens_after) == ([0, 1, 2], 28)
    picture = draw(made, pruned.numbers)
    assert picture == Picture(
        hidden_messages=frozenset({0, 1}),
        hidden_blocks={2: (0,)},
        rows=(),
        split=(SplitPair("t2", Half.CALL, 1, 2, 2, 1),),
    )
    assert picture == draw_removed(made, [0, 1, 2])
    shown = [
        (message, block)
        for message, block in ((0, None), (1, 2), (2, None), (2, 0), (2, 1), (3, 0))
        if picture.shows(message, block)
    ]
    assert shown == [(2, None), (2, 1), (3, 0)]


def test_string_content_and_empty_lists_are_whole() -> None:
    made = convert([{"role": "assistant", "content": "x"}, user(), assistant()])
    assert [(message.role, message.content, message.tool_calls) for message in made.messages] == [
        (Role.ASSISTANT, "x", None),
        (Role.USER, "", None),
        (Role.ASSISTANT, "", None),
    ]
    assert list(made.origins) == [Origin(number, whole=True) for number in range(3)]


def test_texts_are_joined_by_one_newline_without_empty_ones() -> None:
    made = convert(
        [
            assistant(
                text("a"), text(""), THINKING, text("b\n"), {"type": "text"}, {"type": "text", "text": 5}, text("c")
            )
        ]
    )
    assert made.messages[0].content == "a\nb\n\nc"
    assert made.origins[0] == Origin(0, tuple(range(7)))


def test_calls_keep_arguments_and_call_id() -> None:
    made = convert([assistant(use("t", "grep", input={"q": "x"}, call_id="k"), {"type": "tool_use", "input": "cut {"})])
    assert made.messages[0].tool_calls == (ToolCall("t", "grep", {"q": "x"}, "k"), ToolCall("", "", {}))


def test_results_come_before_everything_else() -> None:
    made = convert(
        [user(text("before"), answer("t9", "R"), IMAGE, answer("t9", [text("S"), text("T")]), text("after"))]
    )
    assert [(message.role, message.content) for message in made.messages] == [
        (Role.TOOL, "R"),
        (Role.TOOL, "S\nT"),
        (Role.USER, "before\nafter"),
    ]
    assert list(made.origins) == [Origin(0, (1,)), Origin(0, (3,)), Origin(0, (0, 2, 4))]
    assert made.messages[0].name is None


def test_an_image_alone_is_an_empty_user_message() -> None:
    made = convert([user(answer("t", "R"), IMAGE)])
    assert [(message.role, message.content) for message in made.messages] == [(Role.TOOL, "R"), (Role.USER, "")]
    assert made.origins[1] == Origin(0, (1,))


@pytest.mark.parametrize("content", [None, 5, {}, [], [IMAGE], ["text"], [{"type": "text", "text": None}]])
def test_results_without_text(content: Any) -> None:
    assert convert([user(answer("t", content))]).messages[0].content == ""


def test_blocks_on_the_wrong_side_add_no_text_and_stay_in_the_origin() -> None:
    made = convert([assistant(answer("t", "R"), text("a")), user(use("t"), text("b"), 7, None, "c")])
    assert [(message.role, message.content, message.tool_calls) for message in made.messages] == [
        (Role.ASSISTANT, "a", None),
        (Role.USER, "b", None),
    ]
    assert list(made.origins) == [Origin(0, (0, 1)), Origin(1, (0, 1, 2, 3, 4))]
    assert made.pairs == ()


def test_stored_system_messages_keep_their_role() -> None:
    made = convert(
        [{"role": "system", "content": "s"}, {"role": "system", "content": [text("t"), answer("x", "R"), use("y")]}]
    )
    assert [(message.role, message.content, message.tool_calls) for message in made.messages] == [
        (Role.SYSTEM, "s", None),
        (Role.SYSTEM, "t", None),
    ]
    assert list(made.origins) == [Origin(0, whole=True), Origin(1, (0, 1, 2))]


def test_a_system_prompt_goes_first_without_origin() -> None:
    made = convert(EXAMPLE, system_prompt="be kind")
    assert made.messages[0] == SageMessage(Role.SYSTEM, "be kind")
    assert made.origins[0] is None
    assert made.origins[1] == Origin(0, whole=True)
    assert draw(made, [0]).hidden_messages == {0, 1, 2, 3}
    assert convert([], system_prompt="").messages[0].content == ""
    assert convert([]).messages == ()


def test_is_error_and_metadata() -> None:
    mark = {"compact_boundary": True}
    made = convert(
        [
            user(answer("t", "R", is_error=True), answer("u", "S", is_error=False), text("x"), metadata=mark),
            user(answer("t", "R", is_error=True), metadata=mark),
            assistant(text("x"), metadata=[1]),
        ]
    )
    assert [message.metadata for message in made.messages] == [
        {"is_error": True},
        {"is_error": False},
        mark,
        {"compact_boundary": True, "is_error": True},
        {},
    ]
    assert [is_boundary(message) for message in made.messages] == [False, False, True, True, False]


def test_the_name_is_that_of_the_latest_call_before() -> None:
    made = convert(
        [
            assistant(use("t", "first")),
            assistant(use("t", "second")),
            user(answer("t", "")),
            assistant(use("t", "third")),
        ]
    )
    assert made.messages[2].name == "second"
    assert made.pairs == (CallPair("t", 1, 0, 2),)


def test_results_without_an_id_belong_to_no_call() -> None:
    made = convert([assistant({"type": "tool_use", "name": "x"}), user({"type": "tool_result", "content": "R"})])
    assert (made.messages[1].tool_call_id, made.messages[1].name, made.pairs) == (None, None, ())


@pytest.mark.parametrize(
    "value", [None, 5, "text", [], {}, {"role": 3}, {"role": "user", "content": None}, {"content": {"a": 1}}]
)
def test_damaged_messages_keep_their_place(value: Any) -> None:
    made = convert([value])
    assert list(made.messages) == [SageMessage(Role.USER, "")]
    assert list(made.origins) == [Origin(0, whole=True)]


def test_unknown_roles_are_read_as_the_users() -> None:
    made = convert([{"role": "developer", "content": [answer("t", "R"), text("x")]}])
    assert [message.role for message in made.messages] == [Role.TOOL, Role.USER]


def test_stored_numbers_may_be_given() -> None:
    history = [EXAMPLE[0], EXAMPLE[1], user(answer("t1", "result missing"), answer("t2", "B"), text("kept"))]
    made = convert(history, numbers=[0, 1, 8], blocks=[None, None, [None, 4, 5]])
    assert list(made.origins)[2:] == [Origin(8, ()), Origin(8, (4,)), Origin(8, (5,))]
    assert [origin.is_repair for origin in made.origins if origin] == [False, False, True, False, False]


def test_repairs_do_not_count() -> None:
    made = convert(
        [EXAMPLE[1], user(answer("t1", "made up"), answer("t2", "B"))], numbers=[1, 8], blocks=[None, [None, 1]]
    )
    assert draw_removed(made, [1]).hidden_messages == frozenset()
    assert draw_removed(made, [1]).hidden_blocks == {}
    assert draw_removed(made, [2]).hidden_messages == {8}
    assert draw_removed(made, [1, 2]).hidden_messages == {8}


def test_where_only_repairs_are_left_they_decide() -> None:
    made = convert([user(answer("t1", "made up"), answer("t2", "made up"))], numbers=[4], blocks=[[None, None]])
    assert draw_removed(made, [0, 1]).hidden_messages == {4}
    assert draw_removed(made, [0]) == Picture(frozenset(), {}, (), ())


def test_a_message_that_is_not_stored_is_not_drawn() -> None:
    made = convert([user(text("made up")), assistant(text("x"))], numbers=[None, 0])
    assert list(made.origins) == [Origin(None, (0,)), Origin(0, (0,))]
    assert draw_removed(made, [0]).hidden_messages == frozenset()
    assert draw(made, [None, 0, 1]).rows == (MadeRow(0, 0),)


def test_a_message_that_is_sent_twice_is_hidden_when_both_are_gone() -> None:
    made = convert([EXAMPLE[1], EXAMPLE[1]], numbers=[1, 1])
    assert draw_removed(made, [0]) == Picture(frozenset(), {}, (), ())
    assert draw_removed(made, [0, 1]).hidden_messages == {1}


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="block numbers"):
        convert([user(text("a"))], blocks=[[0, 1]])
    with pytest.raises(ValueError, match="zip"):
        convert(EXAMPLE, numbers=[0, 1])
    with pytest.raises(ValueError, match="zip"):
        convert(EXAMPLE, blocks=[None])


def test_rows_stand_before_the_next_stored_message() -> None:
    made = convert(EXAMPLE, system_prompt="p")
    assert draw(made, [None, 0, 4, 5, 6]).rows == (MadeRow(0, 2),)
    assert draw(made, [0, None, None, 6]).rows == (MadeRow(1, 3), MadeRow(2, 3))
    assert draw(made, [0, None]).rows == (MadeRow(1, None),)
    assert draw(made, [None, 1, 2, None]).rows == (MadeRow(0, 0), MadeRow(3, None))


def test_both_halves_of_a_pair_can_be_hidden_alone() -> None:
    made = convert(EXAMPLE)
    assert draw_removed(made, [1]).split == (
        SplitPair("t1", Half.CALL, 1, 1, 2, 0),
        SplitPair("t2", Half.CALL, 1, 2, 2, 1),
    )
    assert draw_removed(made, [3]).split == (SplitPair("t2", Half.RESULT, 1, 2, 2, 1),)
    assert draw_removed(made, [1, 2, 3]).split == ()
    assert draw_removed(made, []).split == ()


def test_a_pair_with_a_made_up_result_has_no_block_for_it() -> None:
    made = convert(
        [assistant(use("t")), user(answer("t", "made up"), text("x"))], numbers=[1, 2], blocks=[[3], [None, 0]]
    )
    assert draw_removed(made, [0]).split == (SplitPair("t", Half.CALL, 1, 3, 2, None),)


def test_hoisted_messages_stay_where_they_are_stored() -> None:
    history = [*EXAMPLE, {"role": "system", "content": "late"}, user(text("more")), assistant(text("end"))]
    made = convert(history)
    result = compact(made.messages, 1, model=StubModel("gist"), **makers())
    assert isinstance(result, Compacted)
    assert result.numbers == (6, None, 8)
    picture = draw(made, result.numbers)
    assert picture.hidden_messages == {0, 1, 2, 3, 5}
    assert picture.rows == (MadeRow(1, 6),)


def test_numbers_of_a_second_list_are_composed() -> None:
    assert compose([0, None, 5, 6], [1, None, 3]) == [None, None, 6]


class Lazy(Sequence[Any]):
    """A history that decodes a message when it is asked for, and counts how often."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self.decoded = [0] * len(values)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, number: Any) -> Any:
        value = self.values[number]
        self.decoded[number] += 1
        return value

    def __iter__(self) -> Iterator[Any]:
        return (self[number] for number in range(len(self)))


@pytest.mark.parametrize("blocks", [None, [None] * 4])
def test_each_message_is_decoded_once(blocks: Any) -> None:
    history = Lazy(EXAMPLE)
    assert convert(history, blocks=blocks) == convert(EXAMPLE)
    assert history.decoded == [1, 1, 1, 1]


def test_a_growing_history_is_converted_piece_by_piece() -> None:
    converter = Converter("p")
    added = [converter.add(value, number) for number, value in enumerate(EXAMPLE)]
    assert [len(messages) for messages in added] == [1, 1, 3, 1]
    early = converter.result()
    assert early == convert(EXAMPLE, system_prompt="p")
    converter.add(user(answer("t1", "again")), 4)
    assert len(early.messages) == 7
    assert converter.result().pairs[-1] == CallPair("t1", 2, 1, 7)


def test_the_input_is_not_changed() -> None:
    before = repr(EXAMPLE)
    convert(EXAMPLE)
    assert repr(EXAMPLE) == before
