"""Text as it is shown: symbols for what would not show, pieces that can be laid out, differences that cannot blow up."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxviewer.domain.message import parse_message
from ctxviewer.domain.projection import BlockChange, Cut, Projection, SentBlock
from ctxviewer.domain.view import TextMode
from ctxviewer.engine import line_difference as difference_module
from ctxviewer.engine.line_difference import Side, line_difference
from ctxviewer.models.body import NOT_ALIGNED, call_title, heading_of, make_body, preview_of
from ctxviewer.models.facts import words_of
from ctxviewer.models.numbers import byte_size, counted, grouped, short_tokens
from ctxviewer.models.segments import PIECE, PREVIEW_LINES, Body, Section, Style, join_texts
from ctxviewer.models.stretches import stretches_of
from ctxviewer.models.visible import LINE_BREAK, for_clipboard, make_visible, one_line
from helpers.talk import talk
from helpers.work import Work

NASTY = "ab \n\r\t\x00\x1b\x7f\x85\xad\u202e\u2066\u2028\ufeff\ufffc\ud83d\udc00é中😀\U000e0041"
texts = st.text(alphabet=NASTY, max_size=60)


def utf16(text):
    return len(text.encode("utf-16-le")) // 2


# -- visible symbols


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\ttext", "plain\ttext"),
        ("a\nb", f"a{LINE_BREAK}b"),
        ("a\n", "a"),
        ("a\n\n", f"a{LINE_BREAK}"),
        ("nul\x00", "nul[NUL]"),
        ("\x1b[31mred\x1b[0m", "[ESC][31mred[ESC][0m"),
        ("abc\u202edef\u202c", "abc[U+202E]def[U+202C]"),
        ("a\u2028b", "a[U+2028]b"),
        ("\ud83dx", "[U+D83D]x"),
        ("x\r\ny\r\n", f"x{LINE_BREAK}y"),
        ("10 %\r20 %", "10 %[CR]20 %"),
        ("\ufeff{}", "[U+FEFF]{}"),
        ("\x7f\x9b", "[DEL][U+009B]"),
        ("hidden\U000e0041", "hidden[U+E0041]"),
        ("👩‍💻 ﷽ नमस्ते", "👩‍💻 ﷽ नमस्ते"),
    ],
)
def test_every_character_that_would_not_show_gets_a_symbol(raw, shown):
    visible = make_visible(raw)
    assert visible.text == shown
    assert visible.length == utf16(shown)
    assert visible.raw_length == len(raw)


def test_a_difference_shows_carriage_returns():
    assert make_visible("a\r\nb\r\n", reveal_returns=True).text == f"a[CR]{LINE_BREAK}b[CR]"


@pytest.mark.parametrize(
    ("stored", "sent", "shown"),
    [
        ("a\r\nb\r\n", "a notice\n", False),
        ("a\r\nb\r\n", "a\nb\n", True),
        ("a\nb\r\nc\n", "a\nb\nc\n", True),
        ("a\r\nb", "a\r\nc", False),
    ],
)
def test_returns_at_the_ends_of_lines_are_shown_where_lines_differ_in_nothing_else(stored, sent, shown):
    old, new = (
        parse_message(0, {"role": "user", "content": [{"type": "text", "text": one}]}) for one in (stored, sent)
    )
    block = SentBlock(BlockChange.REWRITTEN, new.blocks[0], old.blocks[0], None, "a rule")
    sections = make_body((block,), TextMode.DIFFERENCE).sections
    assert any(section.returns for section in sections) is shown
    assert not any(section.returns for section in sections if section.style is Style.PLAIN)


def test_symbols_are_marked_in_utf16_units():
    assert make_visible("😀\x00x\u202e").marks == ((2, 5), (8, 8))


@given(texts, st.booleans())
@example("a\r\n", False)
@example("\r", True)
def test_positions_map_there_and_back(raw, reveal):
    visible = make_visible(raw, reveal_returns=reveal)
    assert visible.length == utf16(visible.text)
    places = [visible.to_shown(index) for index in range(len(raw) + 1)]
    assert places == sorted(places)
    assert places[0] == 0
    assert places[-1] == visible.length
    for index, place in enumerate(places):
        back = visible.to_raw(place)
        assert visible.to_shown(back) == place
        skipped = raw[min(back, index) : max(back, index)]
        assert set(skipped) <= {"\r", "\n"}, "only what takes no room may be skipped"
    for place in range(visible.length + 1):
        assert 0 <= visible.to_raw(place) <= len(raw)


@given(texts)
def test_nothing_that_acts_is_shown(raw):
    shown = make_visible(raw).text
    assert not set(shown) & set("\x00\x1b\x7f\x85\r\u202e\u2066\ufeff\ufffc\ud83d\n")
    shown.encode("utf-8")


def test_the_clipboard_gets_the_raw_text_without_lone_surrogates():
    assert for_clipboard("a\x00\r\n\u202e\ud83d😀") == "a\x00\r\n\u202e\ufffd😀"


def test_one_line():
    assert one_line("  a\n\tb \x1b c", 50) == "a b [ESC] c"
    assert one_line("word " * 100, 20) == "word word word word …"


# -- pieces


@given(st.text(alphabet="ab \n😀\u0301é", max_size=300), st.integers(1, 40))
def test_pieces_are_the_text(text, times):
    part = Section(text * times)
    assert "".join(part.piece(index) for index in range(part.pieces)) == text * times
    assert all(0 < len(part.piece(index)) <= PIECE for index in range(part.pieces))
    for offset in range(0, len(part.text), 97):
        index = part.piece_at(offset)
        assert part.cuts[index] <= offset < part.cuts[index + 1]


def test_pieces_end_behind_newlines_and_never_inside_crlf():
    part = Section("line of text\r\n" * 2_000)
    assert part.is_long
    assert all(part.piece(index).endswith("\r\n") for index in range(part.pieces))
    assert part.piece(0).count("\n") == PREVIEW_LINES
    assert part.hidden_amount == "2,000 lines"


def test_a_line_without_end_is_cut_where_it_hurts_least():
    words = Section("word " * 3_000)
    assert all(words.piece(index).endswith(" ") for index in range(words.pieces))
    accents = Section("e\u0301" * 5_000)
    assert all(accents.piece(index).startswith("e") for index in range(accents.pieces))
    assert accents.hidden_amount == "10,000 characters"


def test_what_is_hardly_longer_than_a_preview_is_shown_whole():
    assert not Section("x\n" * (PREVIEW_LINES + 4)).is_long
    assert Section("x\n" * (PREVIEW_LINES + 5)).is_long
    assert not Section("").is_long
    assert Section("").pieces == 0


def test_twenty_megabytes_are_cut_quickly():
    with Work() as work:
        part = Section("some line of text that is here\n" * 650_000)
        assert part.pieces > 4_000
    assert work.seconds < 1


def test_texts_are_joined_on_lines_of_their_own():
    assert join_texts(["a", "", "b\n", "c", "\n", "d"]) == "a\nb\nc\n\nd"
    assert Body((Section("a"), Section("b"))).text() == "a\nb"


# -- differences

line = st.sampled_from(["a\n", "b\n", "c\n", "\n", "d\r\n", "a"])
many_lines = st.lists(line, max_size=30).map("".join)


@given(many_lines, many_lines)
def test_a_difference_holds_both_texts(old, new):
    difference = line_difference(old, new)
    assert "".join(run.text for run in difference.runs if run.side is not Side.NEW) == old
    assert "".join(run.text for run in difference.runs if run.side is not Side.OLD) == new
    assert difference.aligned
    sides = [run.side for run in difference.runs]
    assert all(one is not other for one, other in pairwise(sides))


@given(st.lists(st.integers(0, 10_000), unique=True, max_size=60), st.data())
def test_lines_that_stayed_are_found(numbers, data):
    old = [f"line {number}\n" for number in numbers]
    kept = data.draw(st.lists(st.booleans(), min_size=len(old), max_size=len(old)))
    new = [text for text, keep in zip(old, kept, strict=True) if keep]
    runs = line_difference("".join(old), "".join(new)).runs
    assert "".join(run.text for run in runs if run.side is Side.BOTH) == "".join(new)
    assert all(run.side is not Side.NEW for run in runs)


def test_a_long_difference_is_found_exactly():
    old = [f"line {number}\n" if number % 3 else "\n" for number in range(9_000)]
    new = [*old[:4_000], "inserted\n", *old[4_000:8_000], *old[8_001:]]
    runs = [run for run in line_difference("".join(old), "".join(new)).runs if run.side is not Side.BOTH]
    assert [(run.side, run.text) for run in runs] == [(Side.NEW, "inserted\n"), (Side.OLD, "line 8000\n")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\n" * 60_000, "b\na\n" * 60_000),
        (
            "".join(chr(97 + i * i % 7) + "\n" for i in range(200_000)),
            "".join(chr(97 + i % 5) + "\n" for i in range(200_000)),
        ),
        ("x" * 3_000_000, "y" * 3_000_000),
    ],
)
def test_hard_texts_take_bounded_time(old, new):
    with Work() as work:
        difference = line_difference(old, new)
    assert work.seconds < 4
    assert "".join(run.text for run in difference.runs if run.side is not Side.NEW) == old


def test_beyond_the_cap_the_middle_is_replaced_and_it_says_so(monkeypatch):
    monkeypatch.setattr(difference_module, "MOST_CHARACTERS", 20)
    difference = line_difference("head\n" + "old\n" * 9 + "tail\n", "head\n" + "new\n" * 9 + "tail\n")
    assert [run.side for run in difference.runs] == [Side.BOTH, Side.OLD, Side.NEW, Side.BOTH]
    assert not difference.aligned
    assert line_difference("head\n", "head\n" + "new\n" * 99).aligned, "an insertion needs no aligning"


# -- bodies


def sent(index, value):
    block = parse_message(index, {"role": "user", "content": [value]}).blocks[0]
    return SentBlock(BlockChange.SAME, block, block)


def test_a_picture_is_shown_as_words():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4_000}}
    assert make_body((sent(0, image),), TextMode.AS_SENT).text() == "[image/png, 3 kB – not shown]"
    linked = {"type": "image", "source": {"type": "url", "url": "https://example.org/x.png"}}
    assert make_body((sent(0, linked),), TextMode.AS_SENT).text() == "[image, https://example.org/x.png – not shown]"
    bare = make_body((sent(0, {"type": "image"}),), TextMode.AS_SENT)
    assert bare.text() == "[image without a source]"


def test_headings_say_what_a_block_is():
    call = {"type": "tool_use", "id": "1", "name": "read_file", "input": {"limit": 3, "path": "src/a.py"}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "x", "is_error": True}
    odd = {"type": "redacted_thinking", "data": "…"}
    headings = [
        heading_of(sent(0, value).sent) for value in (call, result, odd, {"type": "thinking", "thinking": "hm"}, 7)
    ]
    assert headings == [
        "call read_file src/a.py", "tool result, an error", "redacted_thinking, shown as JSON", "thinking", "int, shown as JSON",
    ]  # fmt: skip
    assert call_title(sent(0, {"type": "tool_use", "name": "", "input": []}).sent) == "without a name"
    assert preview_of((sent(0, call),), 80) == "[read_file src/a.py]"


def test_what_is_left_out_stays_in_its_place_marked():
    stored = sent(0, {"type": "text", "text": "gone"}).stored
    removed = SentBlock(BlockChange.REMOVED, None, stored, None, "unknown result dropped")
    added = SentBlock(
        BlockChange.ADDED, sent(0, {"type": "text", "text": "made up"}).sent, None, None, "missing result added"
    )
    body = make_body((added, removed), TextMode.AS_SENT)
    assert [(part.style, part.note) for part in body.sections] == [
        (Style.REPAIRED, "repaired: missing result added"),
        (Style.REMOVED, "repaired: unknown result dropped"),
    ]
    assert make_body((added, removed), TextMode.AS_STORED).text() == "gone"
    styles = [part.style for part in make_body((added, removed), TextMode.DIFFERENCE).sections]
    assert styles == [Style.ADDED_LINES, Style.DELETED_LINES]
    assert words_of("user", (added, removed)).repaired == "repaired: missing result added +1 more"


def test_a_difference_that_was_not_aligned_says_so(monkeypatch):
    monkeypatch.setattr(difference_module, "MOST_CHARACTERS", 10)
    made = talk("u a!", texts={1: "some\nold\nwords\n"})
    assert make_body(made.blocks(made.shown, 1), TextMode.DIFFERENCE).remark == NOT_ALIGNED


# -- lines of stretches


def stretches(**facts):
    projection = Projection(**{"stored": 60, "until": 60, "deleted_range": None, "resume": 2, **facts})
    return [s.sentence for s in stretches_of(projection, 60, lambda first, last: 1_000 * (last - first + 1))]


def test_one_line_for_each_truncation():
    assert stretches(resume=40, cuts=(Cut(2, 25, 30), Cut(26, 39, 44)), request=47) == [
        "2–25 not sent since request 31 · 24 messages · 24.0k",
        "26–39 not sent since request 45 · 14 messages · 14.0k",
    ]


def test_a_cut_of_a_plan_has_no_request():
    assert stretches(resume=4, cuts=(Cut(2, 3, None),)) == ["2–3 not sent · 2 messages · 2.0k"]


def test_later_messages_have_a_line():
    assert stretches(until=33, request=30) == ["33–59 later than request 31 · 27 messages · 27.0k"]
    assert stretches(until=59) == ["59 removed by this plan · 1 message · 1.0k"]


def test_what_is_hidden_is_always_under_a_line():
    assert stretches(resume=10, request=4) == ["2–9 not sent in request 5 · 8 messages · 8.0k"]
    assert stretches(resume=10, cuts=(Cut(4, 6, 1),), request=4) == [
        "2–3 not sent in request 5 · 2 messages · 2.0k",
        "4–6 not sent since request 2 · 3 messages · 3.0k",
        "7–9 not sent in request 5 · 3 messages · 3.0k",
    ]


def test_numbers():
    assert [short_tokens(n) for n in (0, 7, 84, 1_234, 99_949, 168_412, 999_600)] == [
        "0", "<0.1k", "0.1k", "1.2k", "99.9k", "168k", "1.0M",
    ]  # fmt: skip
    assert (grouped(1e308), grouped(float("inf")), grouped(-1e18)) == ("1e+308", "inf", "-1e+18")
    assert (grouped(1234567), counted(1, "message"), counted(2_000, "message")) == (
        "1,234,567",
        "1 message",
        "2,000 messages",
    )
    assert [byte_size(n) for n in (1, 999, 12_345, 3_400_000)] == ["1 byte", "999 bytes", "12 kB", "3.4 MB"]
