"""What is said in full about a message and a request."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.projection import Standing
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import Request, RequestState, Usage
from ctxviewer.domain.snapshot import ModelFact, Snapshot, WindowSource
from ctxviewer.domain.view import TextMode
from ctxviewer.engine.explain import explain
from ctxviewer.engine.timeline import Timeline
from ctxviewer.models.details import indented, message_details, request_details
from ctxviewer.models.happenings import Force
from helpers.talk import message, task

UPDATES = '[[1,[0,[[0,[[900,"text",["old notice"],[]],[1000,"text",["new notice"],[]]]]]]]]'


def request(number, *, total=50_000, state=RequestState.DONE, reported=True):
    usage = Usage(10, 40, 1_000, total - 1_050, 0.5) if reported else Usage()
    return Request(number, number, 1_000 + number, usage, reported, state, 2 * number - 1, None, "m-1", "prov", "")


def make_timeline(count=8, **changes):
    messages = PlainLog([message("ua"[number % 2], number) for number in range(count)])
    facts = {
        "updates_text": UPDATES,
        "range_now": Range(2, 3),
        "requests": (request(0), request(1), request(2, reported=False, state=RequestState.RUNNING)),
        "model": ModelFact("m-1", "prov", 200_000, WindowSource.TABLE),
        **changes,
    }
    return Timeline(Snapshot(task(), 1, messages, **facts))


def details(number, **changes):
    timeline = make_timeline(**changes)
    return message_details(timeline, timeline.projection(None), number, 1_204)


def test_a_rewritten_message():
    found = details(1)
    assert found.title == "Message 1 · assistant · text"
    assert (found.standing, found.standing_words) == (Standing.SENT, "sent")
    assert found.tokens_words == "1,204 tokens estimated"
    assert found.changed
    assert [(row.update.text, row.label, row.force) for row in found.updates] == [
        ("old notice", "truncation notice", Force.REPLACED),
        ("new notice", "truncation notice", Force.IN_FORCE),
    ]
    assert found.body(TextMode.AS_SENT).text() == "new notice"
    assert found.body(TextMode.AS_STORED).text() == "words of message 1"
    assert "words of message 1" in found.body(TextMode.DIFFERENCE).text()


def test_a_message_that_is_not_sent():
    found = details(3)
    assert found.standing is Standing.NOT_SENT
    assert found.standing_words == "not sent"
    assert not found.changed
    assert found.updates == ()


def test_json_is_that_of_the_file():
    found = details(4)
    assert json.loads(found.json_text()) == message("u", 4)
    assert found.raw == PlainLog([message("u", 4)]).raw(0)


def test_there_is_no_message_beyond_the_end():
    for number in (-1, 8):
        with pytest.raises(IndexError):
            details(number)


def test_a_later_message_names_the_request():
    timeline = make_timeline()
    found = message_details(timeline, timeline.projection(0), 7)
    assert found.standing_words == "later than request 1"
    assert found.tokens_words == ""


def test_a_request_in_full():
    timeline = make_timeline()
    found = request_details(timeline, 1, explain(timeline, 1), timeline.projection(1))
    assert found.title == "Request 2 of 3"
    figures = [(figure.name, figure.value, figure.source) for figure in found.figures]
    assert figures[:6] == [
        ("total", "50,000", "reported"),
        ("input", "10", "reported"),
        ("cache read", "48,950", "reported"),
        ("cache write", "1,000", "reported"),
        ("output", "40", "reported"),
        ("cost", "$0.5000", "reported"),
    ]
    assert ("window", "200,000", "from the model table") in figures
    assert ("limit", "160,000", "by the agent's rules, from the window") in figures
    assert ("compared", "50,000", "reported by request 1") in figures
    assert any("below the limit" in sentence for sentence in found.sentences)
    assert not found.pending
    assert found.facts.startswith("m-1 · prov · ")


def test_before_the_decision_is_worked_out():
    timeline = make_timeline()
    found = request_details(timeline, 1, None)
    assert found.pending
    assert found.sentences == ()
    assert ("window", "200,000") in [(figure.name, figure.value) for figure in found.figures]


def test_a_running_request_without_numbers():
    timeline = make_timeline()
    found = request_details(timeline, 2, explain(timeline, 2))
    assert found.title == "Request 3 of 3 · running"
    assert found.figures[0].source == "no numbers reported"


def test_the_next_request():
    timeline = make_timeline()
    found = request_details(timeline, None, explain(timeline, None))
    assert found.title == "Ahead: the next request, after 3"
    assert any("below the limit" in sentence for sentence in found.sentences)
    assert request_details(make_timeline(requests=()), None, None).title == "Ahead: the first request"


def test_doubts_are_told_once_and_as_sentences():
    timeline = make_timeline(count=3)
    shown = timeline.projection(2)
    found = request_details(timeline, 2, explain(timeline, 2), shown)
    assert shown.doubts
    assert len(found.doubts) == len(set(found.doubts))
    assert all(doubt[0].isupper() and doubt.endswith(".") for doubt in found.doubts)


def test_there_is_no_request_beyond_the_end():
    with pytest.raises(IndexError):
        request_details(make_timeline(), 3, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.booleans())
def test_indenting_adds_only_white_space(value, spaced):
    text = json.dumps(value, ensure_ascii=False, separators=None if spaced else (",", ":"))
    shown = indented(text)
    assert json.loads(shown) == value
    assert indented(shown) == shown


def test_indenting_keeps_what_a_parser_would_change():
    text = '{"a":1e400,"a":12345678901234567890.10,"b":"\\ud83d \\u00e9"}'
    assert indented(text) == '{\n  "a": 1e400,\n  "a": 12345678901234567890.10,\n  "b": "\\ud83d \\u00e9"\n}'


@pytest.mark.parametrize(
    ("text", "shown"), [("[]", "[]"), ('{"a":{}}', '{\n  "a": {}\n}'), ('"open [1, 2', '"open [1, 2')]
)
def test_indenting_odd_ends(text, shown):
    assert indented(text) == shown
