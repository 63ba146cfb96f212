"""Where tokens go: what each block is for, sums that add up, repeats, and the system prompt as what is left."""

import pytest

from ctxviewer.domain.message import parse_message
from ctxviewer.domain.projection import Inserted, Projection
from ctxviewer.engine.anatomy import Anatomy
from ctxviewer.engine.composition import Scale, compose
from ctxviewer.engine.contents import Category
from helpers.small_task import assistant, call, counted, half, picture, result, small_task, text, user

LONG = "word " * 60
DETAILS = "<environment_details>\n# Current Time\nnow\n</environment_details>"


def composition(timeline, number=None, **more):
    table = counted(timeline)
    projection = timeline.projection(number)
    made = compose(Anatomy(timeline), projection, table, **more)
    assert (made.counted, made.pictures) == (table.sums(projection).sent, table.sums(projection).pictures)
    return made


def kinds(made):
    """(category, group, path, tool) of every part, in order."""
    return [(str(part.category), part.group, part.path, part.tool) for part in made.parts]


def test_results_spelled_out_in_text_in_both_ways_of_writing():
    made = composition(
        small_task(
            [
                user("<task>\ndo it\n</task>", DETAILS),
                assistant("I read.\n<read_file>\n<path>a.py</path>\n</read_file>"),
                user("[read_file for 'a.py'] Result:", "old form body", DETAILS),
                assistant("<execute_command><command>ls</command></execute_command>"),
                user("[execute_command for 'ls'] Result:\nnew form body", "no, wait", DETAILS),
                assistant("<write_to_file><path>b.py</path><content>x</content>"),
                user(
                    "[write_to_file for 'b.py'] Result:\nsaved\n<final_file_content path=\"b.py\">x y</final_file_content>"
                ),
            ]
        )
    )
    assert kinds(made) == [
        ("task", "", "", ""),
        ("environment details", "", "", ""),
        ("assistant", "text", "", ""),
        ("tool calls", "read_file", "a.py", "read_file"),
        ("tool results", "read_file", "a.py", "read_file"),
        ("files", "a.py", "a.py", "read_file"),
        ("environment details", "", "", ""),
        ("tool calls", "execute_command", "", "execute_command"),
        ("tool results", "execute_command", "", "execute_command"),
        ("user", "", "", ""),
        ("environment details", "", "", ""),
        ("tool calls", "write_to_file", "b.py", "write_to_file"),
        ("tool results", "write_to_file", "b.py", "write_to_file"),
        ("files", "b.py", "b.py", "write_to_file"),
    ]
    assert made.repeats == ()


def test_native_results_are_named_by_their_calls():
    made = composition(
        small_task(
            [
                user("<task>t</task>"),
                assistant(
                    call("1", "read_file", path="a.py"),
                    call("2", "search", q="x"),
                    {"type": "thinking", "thinking": "hm"},
                ),
                user(result("1", "content of a"), result("2", "found"), picture()),
                assistant({"type": "redacted_thinking", "data": "x"}),
                user(result("9", "who asked"), "[TASK RESUMPTION] go on", {"type": "strange"}),
            ]
        )
    )
    assert kinds(made) == [
        ("task", "", "", ""),
        ("tool calls", "read_file", "a.py", "read_file"),
        ("tool calls", "search", "", "search"),
        ("assistant", "thinking", "", ""),
        ("files", "a.py", "a.py", "read_file"),
        ("tool results", "search", "", "search"),
        ("images", "image/png", "", ""),
        ("assistant", "thinking", "", ""),
        ("tool results", "unknown tool", "", "unknown tool"),
        ("notices", "task resumption", "", ""),
        ("other", "strange", "", ""),
    ]


def test_the_parts_of_a_block_add_up_and_none_but_an_empty_one_is_empty():
    talk = [
        user("<task>t</task>", ""),
        assistant("<list_files><path>.</path></list_files>", "<condense>so far", "Well: <condense>x</condense>!", ""),
    ]
    anatomy = Anatomy(small_task(talk))
    assert [[piece.length for piece in block.pieces] for block in anatomy.message(0)] == [[14], [0]]
    assert [[(piece.group, piece.length) for piece in block.pieces] for block in anatomy.message(1)] == [
        [("list_files", 39)],
        [("condense", 16)],
        [("text", 6), ("condense", 22), ("text", 1)],
        [("text", 0)],
    ]


def test_without_a_report_or_a_fit_the_total_is_what_was_counted():
    made = composition(small_task([user("one two"), assistant("three")]))
    assert (made.system, made.total) == (None, made.counted)
    assert made.system_sentence == "not known: nothing was reported"


def test_a_read_that_failed_holds_no_file():
    made = composition(
        small_task([user("t"), assistant("a"), user("[read_file for 'a.py'] Result:\nfailed:\n<error>gone</error>")])
    )
    assert kinds(made)[-1] == ("tool results", "read_file", "a.py", "read_file")


def test_a_text_with_several_files_is_shared_out_by_its_characters():
    words = (
        'look at <file_content path="a.md">'
        + "a " * 100
        + '</file_content> and <file_content path="b.md">b</file_content>'
    )
    made = composition(small_task([user("<task>x</task>"), assistant("a"), user(words)]))
    assert [(part.group, part.tokens > 0) for part in made.parts if part.category is Category.FILES] == [
        ("a.md", True),
        ("b.md", True),
    ]
    block = sum(part.tokens for part in made.parts if part.message == 2)
    assert block == len(words.split())
    assert made.parts[-3].tokens > 5 * made.parts[-1].tokens


def test_tags_that_do_not_close_take_no_time_and_hold_no_file():
    words = '<file_content path="a">' * 20_000
    made = composition(small_task([user("t"), assistant("<read_file>" * 20_000), user(words)]))
    assert [str(part.category) for part in made.parts] == ["task", "tool calls", "user"]


def test_updates_turn_files_into_notices():
    mention = 'see <file_content path="m.md">' + LONG + "</file_content> please"
    cut = 'see <file_content path="m.md">[[NOTE] gone]</file_content> please'
    messages = [
        user("<task>t</task>"),
        assistant("a"),
        user("[read_file for 'a.py'] Result:\n" + LONG),
        assistant("b"),
        user(mention),
    ]
    updates = [
        [0, [0, [[0, [[1, "text", ["carry on"], []]]]]]],
        [1, [0, [[0, [[1, "text", ["a notice of five words"], []]]]]]],
        [2, [2, [[0, [[1, "text", ["[read_file for 'a.py'] Result:\n[[NOTE] see below]"], []]]]]]],
        [4, [4, [[0, [[1, "text", [cut], [["m.md"], ["m.md"]]]]]]]],
    ]
    made = composition(small_task(messages, updates=updates))
    assert [part for part in kinds(made) if part[0] == "notices"] == [
        ("notices", "task text replaced", "", ""),
        ("notices", "truncation notice", "", ""),
        ("notices", "older copies of files", "a.py", "read_file"),
        ("notices", "older copies of files", "m.md", ""),
    ]
    assert made.repeats == ()


def test_what_is_not_sent_counts_nothing_and_repairs_show_as_made_up():
    messages = [
        user("<task>t</task>"),
        assistant(call("1", "read_file", path="a")),
        user(result("1", "one two three")),
        assistant("kept out"),
        user(result("7", "orphan"), "stays"),
    ]
    made = composition(small_task(messages, ranges={2: half(3)}), 2)
    assert [(part.message, part.group, part.tokens) for part in made.parts] == [
        (0, "", 1),
        (1, "read_file", 2),
        (4, "", 1),
        (4, "made-up results", 2),
    ]


def test_the_same_file_and_the_same_output_are_repeats_and_counted_once_each():
    read, output = f"[read_file for 'a.py'] Result:\n{LONG}", f"[execute_command for 'ls'] Result:\n{LONG}again"
    messages = [user("t"), assistant("a"), user(read), assistant("b"), user(read + " newer"), assistant("c"), user(output),
                assistant("d"), user(output.replace("'ls'", "'ls -l'"), output)]  # fmt: skip
    made = composition(small_task(messages))
    assert [
        (repeat.title[:4], repeat.is_file, repeat.places, repeat.tokens, repeat.spare) for repeat in made.repeats
    ] == [
        ("word", False, ((6, 0), (8, 0), (8, 1)), 65 + 66 + 65, 65 + 66),
        ("a.py", True, ((2, 0), (4, 0)), 64 + 65, 64),
    ]
    assert made.spare == 65 + 66 + 64


def test_short_texts_and_answers_are_no_repeats():
    made = composition(small_task([user("t"), assistant(LONG), user("yes"), assistant(LONG), user("yes")]))
    assert made.repeats == ()


def test_the_system_prompt_is_what_was_reported_beyond_the_messages():
    task = small_task([user("one two three"), assistant("four"), user("five")], reported=[1_003, 1_015])
    made = composition(task, 1)
    assert (made.reported, made.system, made.total, made.system_sentence) == (
        1_015,
        1_010,
        1_015,
        "reported minus counted",
    )
    scaled = composition(task, 1, scale=Scale(slope=3.0, system=999))
    assert (scaled.system, scaled.total) == (1_000, 1_015)
    now = composition(task, None, scale=Scale(slope=3.0, system=999, sentence="by a fit"))
    assert (now.reported, now.system, now.system_sentence) == (None, 999, "by the fit")
    assert composition(task).system is None
    less = composition(small_task([user("one two three")], reported=[2]), 0)
    assert (less.system, less.system_sentence) == (0, "nothing is left: more was counted than reported")


def test_rows_by_message_file_and_tool_sum_the_same_parts():
    messages = [
        user("<task>t</task>"),
        assistant(call("1", "read_file", path="a.py")),
        user(result("1", "x " * 50), picture()),
        assistant("<replace_in_file><path>a.py</path><diff>d d d</diff></replace_in_file>"),
        user("[replace_in_file for 'a.py'] Result:\ndone"),
    ]
    made = composition(small_task(messages))
    assert sum(row.tokens for row in made.by_message()) == made.counted
    assert [row.name for row in made.by_message()] == ["0", "1", "2", "3", "4"]
    assert sum(branch.tokens for branch in made.categories) == made.counted
    for branch in made.categories:
        assert not branch.children or sum(child.tokens for child in branch.children) == branch.tokens
    (file,) = made.by_file()
    assert (file.name, file.messages) == ("a.py", (1, 2, 3, 4))
    assert {row.name for row in made.by_tool()} == {"read_file", "replace_in_file"}
    assert next(branch for branch in made.categories if branch.name == "images").pictures == 1


def test_what_a_strategy_leaves_out_or_makes_up():
    task = small_task([user("one"), assistant("two two"), user("three", "four four"), assistant("five")])
    table, anatomy = counted(task).with_updates({"a summary": 2}), Anatomy(task)
    projection = Projection(
        4,
        4,
        None,
        2,
        gone=frozenset({3}),
        gone_blocks=frozenset({(2, 0)}),
        inserted=(Inserted(2, "user", "", "a summary"),),
    )
    made = compose(anatomy, projection, table)
    assert [(part.message, part.group, part.tokens) for part in made.parts] == [
        (0, "", 1),
        (1, "text", 2),
        (2, "made-up message", 2),
        (2, "", 2),
    ]
    assert table.sums(projection).sent == made.counted == 7


def test_messages_that_are_not_counted_yet_are_named():
    task = small_task([user("one"), assistant("two")], reported=[100])
    table = counted(task).resized(2, 1)
    made = compose(Anatomy(task), task.projection(None), table, scale=Scale(system=5))
    assert (made.unknown, made.counted, made.system) == ((1,), 1, 5)


@pytest.mark.parametrize(
    "value",
    [None, 7, "text", [], {}, {"role": "user"}, {"role": "user", "content": "words"}, {"role": "user", "content": [None, 3]},
     {"role": "assistant", "content": [{"type": "tool_use"}]}, {"role": "user", "content": [{"type": "tool_result"}]}],
)  # fmt: skip
def test_damaged_messages_are_described_as_well_as_possible(value):
    made = composition(small_task([value, assistant("a"), value]))
    for number, blocks in enumerate([parse_message(0, value).blocks]):
        anatomy = Anatomy(small_task([value])).message(number)
        lengths = [sum(piece.length for piece in block.pieces) for block in anatomy]
        assert lengths == [len(block.text) for block in blocks]
    assert made.counted >= 0


def test_a_task_of_one_message_gets_no_update():
    made = composition(small_task([user("one two")], updates=[[0, [0, [[0, [[1, "text", ["x"], []]]]]]]]))
    assert kinds(made) == [("task", "", "", "")]
    assert text("x")["type"] == "text"
