"""The strip of a fact equals searching what every request sent, one by one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.message import parse_block, parse_message
from ctxviewer.domain.projection import BlockChange, Standing
from ctxviewer.engine.block_texts import block_texts
from ctxviewer.engine.contents import Contents, holds
from ctxviewer.engine.facts import (
    BadQuestionError,
    FileQuestion,
    MessageQuestion,
    Sending,
    TextQuestion,
    longest_part,
    track,
)
from ctxviewer.engine.past import Past
from ctxviewer.engine.search import matcher_of, required_literal, telling_part
from ctxviewer.engine.timeline import Timeline
from helpers.past_tasks import pasts

needles = st.sampled_from(
    ["x", "NEW", "words", "long ", "ok", "Result", "result missing", "path", "é", "😀", "$&", "[read_file for", "</"]
)
questions = st.one_of(
    st.builds(TextQuestion, needles),
    st.builds(lambda text: TextQuestion(text.upper(), ignore_case=True), needles),
    st.builds(lambda text: TextQuestion(re.escape(text), regex=True), needles),
    st.sampled_from(["w.rds", "^x", "(?:NEW|ok)$", "[lx]ong"]).map(lambda text: TextQuestion(text, regex=True)),
)


def columns(timeline):
    return [*range(len(timeline.requests)), None]


def texts_of_blocks(timeline, number):
    projection = timeline.projection(number)
    for message in range(len(timeline.snapshot.messages)):
        if projection.standing(message) is Standing.SENT:
            for block in timeline.blocks(projection, message):
                if block.change is not BlockChange.REMOVED:
                    yield from block_texts(block.sent)


def texts_of_sent(timeline, number):
    for message in timeline.sent(number):
        for block in parse_message(0, message).blocks:
            yield from block_texts(block)


@given(st.text("aAbBßİ中 \n", max_size=60), st.text("aAbBßs中", min_size=1, max_size=3), st.booleans(), st.booleans())
def test_all_hits_follow_the_first_one(text, words, regex, ignore_case):
    matcher = matcher_of(TextQuestion(words, regex=regex, ignore_case=ignore_case))
    hits = list(matcher.hits(text))
    assert next(iter(hits), None) == matcher.find(text)
    assert all(start < end for start, end in hits)
    assert all(end <= start for (_, end), (start, _) in pairwise(hits))
    rest = hits[-1][1] if hits else 0
    assert matcher.find(text[rest:]) is None


@settings(max_examples=133, deadline=None)
@given(pasts(), questions)
def test_the_strip_is_a_search_of_every_request(timeline, question):
    fact = track(Past(timeline), question)
    matcher = matcher_of(question)
    for number in columns(timeline):
        expected = any(matcher.find(text) for text in texts_of_blocks(timeline, number))
        assert (fact.sending(number) is Sending.WHOLE) == expected
        projection = timeline.projection(number)
        below = projection.deleted_range is not None and projection.deleted_range.end < 0
        if projection.repeated or below or projection.first_pair == 1:
            continue  # told as a doubt: the reference sends messages twice, or slices from the end
        try:
            sent = list(texts_of_sent(timeline, number))
        except BrokenInputError:
            continue
        assert any(matcher.find(text) for text in sent) == expected


@settings(max_examples=66, deadline=None)
@given(pasts(), questions)
def test_first_last_turns_and_carriers_belong_to_the_strip(timeline, question):
    fact = track(Past(timeline), question)
    states = [fact.sending(number) for number in columns(timeline)]
    past = states[:-1]
    whole = [number for number, state in enumerate(past) if state is Sending.WHOLE]
    assert (fact.first, fact.last) == ((whole[0], whole[-1]) if whole else (None, None))
    assert fact.sent_in == len(whole)
    assert fact.sent_now == (states[-1] is Sending.WHOLE)
    order = [Sending.ABSENT, *states]
    changes = [column for column in range(len(states)) if order[column] is not order[column + 1]]
    assert [len(timeline.requests) if turn.request is None else turn.request for turn in fact.turns] == changes
    assert all(turn.sentence for turn in fact.turns)
    carried = {
        column for carrier in fact.carriers for first, last in carrier.spans for column in range(first, last + 1)
    }
    assert carried == {column for column, state in enumerate(states) if state is Sending.WHOLE}


@settings(max_examples=66, deadline=None)
@given(pasts())
def test_files_and_messages_are_sent_when_their_blocks_are(timeline):
    past = Past(timeline)
    contents = past.contents()
    for path, places in contents.files.items():
        if not path.strip():
            continue
        fact = track(past, FileQuestion(path))
        for number in columns(timeline):
            projection = timeline.projection(number)
            held = any(
                projection.standing(place.message) is Standing.SENT
                and holds(place, timeline.blocks(projection, place.message))
                for place in places
            )
            assert (fact.sending(number) is Sending.WHOLE) == held
            assert any(past.holds(projection, place) for place in places) == held
    for message in range(len(timeline.snapshot.messages)):
        fact = track(past, MessageQuestion(message))
        for number in columns(timeline):
            projection = timeline.projection(number)
            if projection.standing(message) is not Standing.SENT:
                assert fact.sending(number) is Sending.ABSENT
            elif all(
                block.change in {BlockChange.SAME, BlockChange.MOVED, BlockChange.ADDED}
                for block in timeline.blocks(projection, message)
            ):
                assert fact.sending(number) is Sending.WHOLE
            else:
                assert fact.sending(number) is not Sending.WHOLE


@settings(max_examples=33, deadline=None)
@given(pasts(), st.integers(0, 12))
def test_contents_of_a_grown_history_are_those_of_a_new_reading(timeline, kept):
    messages = timeline.snapshot.messages
    kept = min(kept, len(messages))
    known = Contents(messages)
    assert Contents(messages, known=known, kept=kept).messages == known.messages


@settings(max_examples=33, deadline=None)
@given(pasts(), st.integers(0, 12))
def test_a_past_that_takes_over_from_an_earlier_reading_knows_the_same_and_reads_only_the_rest(timeline, kept):
    messages = timeline.snapshot.messages
    kept = min(kept, len(messages))
    earlier = Past(Timeline(replace(timeline.snapshot, messages=PlainLog(messages[:kept]))))
    earlier.contents()
    earlier.anatomy()
    whole = Past(timeline)
    rest = Rest(messages, kept)
    grown = Past(Timeline(replace(timeline.snapshot, messages=messages)), Past(timeline, earlier.known).known)
    grown.timeline.snapshot = replace(timeline.snapshot, messages=rest)
    assert grown.contents().messages == whole.contents().messages
    assert grown.anatomy().read == whole.anatomy().read
    assert (grown.known.contents, grown.known.blocks) == (grown.contents(), grown.anatomy().read)


class Rest(PlainLog):
    """A history whose first messages nobody may look at."""

    def __init__(self, items, first):
        super().__init__(items)
        self.first = first

    def __getitem__(self, index):
        assert index >= self.first
        return super().__getitem__(index)


values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=6)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=8,
)
some_blocks = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, st.text(max_size=12)),
    st.builds(lambda value: {"type": "tool_use", "id": "t", "name": "n", "input": value}, values),
    st.builds(lambda value: {"type": "tool_result", "tool_use_id": "t", "content": value}, values),
    values,
)


@settings(max_examples=200, deadline=None)
@given(some_blocks, st.data(), st.booleans(), st.sampled_from([None, 1]), st.booleans())
def test_no_message_that_holds_the_words_is_passed_over(block, data, ascii_only, indent, folded):
    texts = [text for text in block_texts(parse_block(0, block)) if text.strip()]
    if not texts:
        return
    text = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(text) - 1))
    words = text[start : start + data.draw(st.integers(1, 8))]
    if not words.strip():
        return
    raw = json.dumps({"role": "user", "content": [block]}, ensure_ascii=ascii_only, indent=indent)
    data_ = raw.encode("utf-8", "surrogatepass")
    assert matcher_of(TextQuestion(words, ignore_case=folded)).may_hold(data_)
    assert matcher_of(TextQuestion(words.swapcase(), ignore_case=True)).may_hold(data_) or (
        words.swapcase().casefold() not in text.casefold()
    )


def test_other_messages_are_passed_over():
    matcher = matcher_of(TextQuestion('say "SESSION_TTL" loudly'))
    assert not matcher.may_hold(b'{"role":"user","content":"something else"}')
    assert telling_part('say "SESSION_TTL" loudly') == "SESSION_TTL"
    assert telling_part("true: 12") == ""


@given(st.text("ab\n", max_size=30), st.text("ab\n", max_size=60))
def test_a_part_stands_in_both(words, text):
    part = longest_part(words, text)
    assert part in words
    assert part in text
    assert part != words or not words


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (TextQuestion(" "), "nothing to look for"),
        (TextQuestion("a(b", regex=True), "position 2"),
        (TextQuestion("a*", regex=True), "empty text"),
        (TextQuestion("(a+)+b", regex=True), "repeats a repetition at position 1"),
        (FileQuestion(""), "nothing to look for"),
        (FileQuestion("no/such.py"), "never stood in the conversation"),
        (MessageQuestion(99), "no message 99"),
        (MessageQuestion(0, 7), "no block 7"),
    ],
)
def test_bad_questions_are_told_in_a_sentence(question, sentence):
    from helpers.past_tasks import Step, past

    with pytest.raises(BadQuestionError) as caught:
        track(Past(past(["u task", "a ok"], [Step(1)])), question)
    assert sentence in caught.value.sentence


def test_letters_that_other_characters_fold_to_are_all_known():
    import sys

    from ctxviewer.engine.search import FOLDED_TO

    folded = {letter for code in range(128, sys.maxunicode + 1) for letter in chr(code).casefold() if letter.isascii()}
    assert folded == set(FOLDED_TO)


PATTERNS = [
    r"run \d+7\b", r"module_\d+\.py", "abc?d", "ab+c", "a{2,3}bc", "a{0}bc", "(foo|bar)baz", "x|yz", r"\(call\)x*", "[abc]def[^x]",
    "(?i)abc", "(?:ab)c", r"a\bb|c", "{abc}", "ab{x}cd", "[]a]bc", "[^]]bc", "(?P<n>x)y+?z", "ab*c", r"\x41bc", r"a\.?b",
    "(a(b)?c)?de", "(?=ab)abc", "a(?!b)c", "^ab$", "a.c", "[a-c]{2,}de?f", r"\\d", r"a\db",
]  # fmt: skip


@settings(max_examples=133, deadline=None)
@given(st.sampled_from(PATTERNS), st.data(), st.booleans())
def test_a_hit_of_a_pattern_holds_what_is_required(pattern, data, ignore_case):
    text = data.draw(st.from_regex(re.compile(pattern, re.MULTILINE | (re.IGNORECASE if ignore_case else 0))))
    hit = re.compile(pattern, re.MULTILINE | (re.IGNORECASE if ignore_case else 0)).search(text)
    assert hit is not None
    if not ignore_case:
        assert required_literal(pattern) in hit[0]
    raw = json.dumps({"content": text}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert matcher_of(TextQuestion(pattern, regex=True, ignore_case=ignore_case)).may_hold(raw)


def test_required_parts_of_patterns():
    found = {
        pattern: required_literal(pattern)
        for pattern in (r"run \d+7\b", "ab+c", "a{2,3}bc", "x|y", "(foo|bar)baz", r"\(call\)")
    }
    assert found == {
        r"run \d+7\b": "run ",
        "ab+c": "ab",
        "a{2,3}bc": "bc",
        "x|y": "",
        "(foo|bar)baz": "baz",
        r"\(call\)": "(call)",
    }
