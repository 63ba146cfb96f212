"""Find in the task: in slices, counted, with steps that wrap, over everything that is shown or folded away."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxviewer.domain.projection import Cut
from ctxviewer.domain.view import TextMode
from ctxviewer.views.conversation import finder as finder_module
from ctxviewer.views.conversation.matching import BadPatternError, Query, make_matcher, stretches
from helpers.conversation import bench, check_layout
from helpers.work import Work

# -- matching in one text

texts = st.text(alphabet="abAB é😀\n\ud83d", max_size=60)


def all_first(matcher, text):
    found, at = [], 0
    while (hit := matcher.first(text, at)) is not None:
        found.append(hit)
        at = hit[1]
    return found


def all_last(matcher, text):
    found, at = [], len(text)
    while (hit := matcher.last(text, at)) is not None:
        found.append(hit)
        at = hit[0]
    return found[::-1]


@given(
    texts,
    st.sampled_from(["ab", "A", "é", "😀", "b\n", "[ab]+", "a.", "^a", "b$", "\\w+"]),
    st.booleans(),
    st.booleans(),
)
def test_hits_are_those_of_pythons_re(text, words, case, regex):
    if regex and words == "b\n":
        return
    flags = re.MULTILINE | (0 if case else re.IGNORECASE)
    pattern = re.compile(words if regex else re.escape(words), flags)
    expected = [match.span() for match in pattern.finditer(text)]
    matcher = make_matcher(Query(words, case, regex))
    assert all_first(matcher, text) == expected
    assert all_last(matcher, text) == expected
    assert sum(matcher.counts(text)) == len(expected)
    assert list(matcher.spans(text, 0, len(text))) == expected
    middle = len(text) // 2
    touching = [(low, high) for low, high in expected if low < middle + 3 and high > middle]
    assert list(matcher.spans(text, middle, middle + 3)) == touching


def test_a_pattern_sees_whole_lines_of_a_long_text():
    text = "some line with a word\n" * 9_000
    parts = list(stretches(text))
    assert len(parts) > 4
    assert "".join(text[low:high] for low, high in parts) == text
    assert all(text[high - 1] == "\n" for _, high in parts)
    matcher = make_matcher(Query("^some.*word$", regex=True))
    assert sum(matcher.counts(text)) == 9_000
    assert matcher.first(text, 100_000) == (100_012, 100_033)
    assert matcher.last(text, 100_000) == (99_990, 100_011)


def test_a_pattern_that_would_take_for_ever_gives_up():
    matcher = make_matcher(Query("(a+)+$", regex=True))
    with Work() as work:
        assert sum(matcher.counts("a" * 200 + "b")) == 0
    assert work.seconds < 2
    assert matcher.gave_up == 1


def test_a_bad_pattern_says_where():
    with pytest.raises(BadPatternError, match="missing closing parenthesis, at character 3"):
        make_matcher(Query("(ab", regex=True))


# -- finding in the conversation


def wait(qtbot, shown):
    qtbot.waitUntil(lambda: shown.view.find_state.complete)
    shown.paint()
    return shown.view.find_state


def hit_text(shown):
    hit = shown.view._finder.hit
    return shown.model.body(hit.row).sections[hit.section].text[hit.start : hit.end]


def test_all_messages_are_looked_through(qtbot):
    shown = bench(qtbot, "u a", repeat=50, texts={7: "here a needle, there a Needle", 60: "needle"})
    shown.view.find("needle")
    state = wait(qtbot, shown)
    assert (state.total, state.messages, state.current, state.share) == (3, 2, 1, 1.0)
    assert shown.view.current_message == 7
    assert 7 in shown.items()
    check_layout(shown.sheet)


def test_steps_wrap_and_say_so(qtbot):
    shown = bench(qtbot, "u a", repeat=20, texts={3: "needle needle", 30: "a needle"})
    shown.view.find("needle")
    wait(qtbot, shown)
    seen = []
    for backwards in (False, False, False, True, True):
        shown.view.find_next(backwards=backwards)
        state = wait(qtbot, shown)
        hit = shown.view._finder.hit
        seen.append((hit.row, hit.start, state.current, state.wrapped))
    assert seen == [(3, 7, 2, False), (30, 2, 3, False), (3, 0, 1, True), (30, 2, 3, True), (3, 7, 2, False)]


def test_the_same_query_again_goes_on(qtbot):
    shown = bench(qtbot, "u a u", texts={0: "x", 1: "x x"})
    shown.view.find("x")
    wait(qtbot, shown)
    shown.view.find("x")
    assert shown.view._finder.hit[:3] == (1, 0, 0)
    shown.view.find("x", backwards=True)
    assert shown.view._finder.hit[:3] == (0, 0, 0)


def test_it_starts_at_the_current_message(qtbot):
    shown = bench(qtbot, "u a", repeat=10)
    shown.view.set_current_message(12)
    shown.view.find("message")
    wait(qtbot, shown)
    assert shown.view._finder.hit.row == 12
    shown.view.find("words", backwards=True)
    wait(qtbot, shown)
    assert shown.view._finder.hit[:3] == (12, 0, 0)
    shown.view.clear_find()
    shown.view.set_current_message(9)
    shown.view.find("words of message 5", backwards=True)
    wait(qtbot, shown)
    assert (shown.view._finder.hit.row, shown.view.find_state.wrapped) == (5, False)


def test_case_and_patterns(qtbot):
    shown = bench(qtbot, "u a u", texts={0: "Word word", 1: "w0rd", 2: "x"})
    for options, total in (({}, 2), ({"case_sensitive": True}, 1)):
        shown.view.find("word", **options)
        assert wait(qtbot, shown).total == total
    shown.view.find(r"w[o0]rd\b", regex=True)
    assert wait(qtbot, shown).total == 3
    shown.view.find("w(", regex=True)
    state = wait(qtbot, shown)
    assert "not complete" in state.problem
    assert state.total == 0


def test_nothing_found(qtbot):
    shown = bench(qtbot, "u a u")
    before = shown.items()
    shown.view.find("absent")
    state = wait(qtbot, shown)
    assert (state.total, state.current, state.complete) == (0, None, True)
    assert shown.items() == before
    shown.view.find_next()
    wait(qtbot, shown)
    assert shown.view._finder.hit is None
    shown.view.find("")
    assert shown.view.find_state.query is None


def test_a_hit_is_uncovered_whatever_hides_it(qtbot):
    long = "x\n" * 500 + "needle\n" + "x\n" * 500
    shown = bench(qtbot, "u a [u a u a u a u a] u a", texts={5: long}, height=300)
    shown.view.set_compact(True)
    assert shown.sheet.geometry.is_folded(5)
    shown.view.find("needle")
    wait(qtbot, shown)
    assert not shown.sheet.geometry.is_folded(5)
    assert shown.sheet.openness.expanded(5) == {0}
    element = shown.sheet.row_layout(5).element_of(0, 1_000)
    placed = shown.sheet.find(5, element)
    y = (
        placed.y
        + shown.sheet.piece(5, element).place_of(
            1_000 - shown.model.body(5).sections[0].cuts[shown.sheet.row_layout(5).elements[element].piece]
        )[1]
    )
    assert shown.sheet.metrics.lead <= y < shown.sheet.height
    check_layout(shown.sheet)


def test_what_is_found_follows_the_text_that_is_shown(qtbot):
    shown = bench(qtbot, "u a! u", texts={1: "old needle", 2: "needle"})
    shown.view.find("needle")
    assert wait(qtbot, shown).total == 1
    shown.model.set_text_mode(TextMode.AS_STORED)
    assert wait(qtbot, shown).total == 2
    shown.model.set_row_mode(1, TextMode.AS_SENT)
    assert wait(qtbot, shown).total == 1


def test_new_messages_are_looked_through_too(qtbot):
    shown = bench(qtbot, "u a", texts={0: "needle"})
    shown.view.find("needle")
    assert wait(qtbot, shown).total == 1
    grown = shown.talk.grown("another needle")
    shown.model.set_timeline(grown, same_task=True, grown=True)
    shown.show(grown.shown)
    assert wait(qtbot, shown).total == 2
    short = replace(grown.snapshot, messages=shown.talk.snapshot.messages)
    shown.model.set_timeline(replace(grown, snapshot=short), same_task=True, grown=True)
    shown.show(shown.talk.shown)
    assert wait(qtbot, shown).total == 1


def test_stepping_through_requests_does_not_lose_the_hit(qtbot):
    shown = bench(qtbot, "u a u a u a u a", texts={6: "needle"})
    shown.view.find("needle")
    wait(qtbot, shown)
    shown.show(replace(shown.talk.shown, resume=4, cuts=(Cut(2, 3, 1),), request=2))
    assert wait(qtbot, shown).total == 1
    assert shown.view._finder.hit.row == 6
    shown.show(replace(shown.talk.shown, resume=7, cuts=(Cut(2, 6, 1),), request=3))
    assert (wait(qtbot, shown).total, shown.view._finder.hit.row) == (1, 6), "not sent, but still there"


def test_another_task_ends_the_search(qtbot):
    shown = bench(qtbot, "u a")
    shown.view.find("words")
    wait(qtbot, shown)
    shown.model.set_timeline(None)
    assert shown.view.find_state.query is None


def test_looking_for_much_leaves_room_for_events(qtbot, monkeypatch):
    monkeypatch.setattr(finder_module, "TELL_SECONDS", 0)
    monkeypatch.setattr(finder_module, "SLICE_SECONDS", 0.0005)  # few messages a slice, on the fastest machine too
    shown = bench(qtbot, "u a", repeat=400, texts=dict.fromkeys(range(800), "some words to look at\n" * 200))
    told = []
    shown.view.find_progressed.connect(told.append)
    shown.view.find("absent")
    wait(qtbot, shown)
    assert len(told) > 3, "it came in slices"
    shares = [state.share for state in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_hits_are_highlighted_where_they_are_shown(qtbot):
    shown = bench(qtbot, "u a", texts={0: "a needle 😀 and a needle", 1: "x"})
    plain = shown.view.grab().toImage()
    shown.view.find("needle")
    wait(qtbot, shown)
    marked = shown.view.grab().toImage()
    assert marked != plain
    theme = shown.view._brush
    colors = {marked.pixelColor(x, y).name() for x in range(0, 600, 1) for y in range(24, 60)}
    assert theme.found.background().color().name() in colors
    assert theme.found_now.background().color().name() in colors
    assert hit_text(shown) == "needle"
    shown.view.clear_find()
    shown.paint()
    assert shown.view.grab().toImage() != marked


def test_escape_ends_the_search(qtbot):
    shown = bench(qtbot, "u a")
    shown.view.find("words")
    wait(qtbot, shown)
    assert shown.view.escape()
    assert shown.view.find_state.query is None
    assert not shown.view.escape()
