"""Names of exported files and the words of their formats."""

import pytest

from ctxviewer.models.export_choices import FORMATS, event_words, file_name
from ctxviewer.services.exporting import OF_A_REQUEST, PICTURES, SUFFIXES, Format
from helpers.usage import event

WORDS = {words.key: words for words in FORMATS}


@pytest.mark.parametrize(
    ("key", "request_", "name"),
    [
        ("html", 30, "17-x-request-31.html"),
        ("html", None, "17-x.html"),
        ("csv", 30, "17-x-usage.csv"),
        ("graph", None, "17-x-graph.png"),
        ("bundle", None, "17-x-event-3.zip"),
    ],
)
def test_file_names(key, request_, name):
    assert file_name("17/x", WORDS[key], request_, 2) == name


def test_a_task_without_a_usable_name():
    assert file_name("..", WORDS["html"], None, None) == "task.html"


def test_the_dialog_and_the_service_mean_the_same_formats():
    assert [words.key for words in FORMATS] == [str(form) for form in Format]
    for words in FORMATS:
        form = Format(words.key)
        assert words.suffix == SUFFIXES[form]
        assert words.of_a_request is (form in OF_A_REQUEST)
        assert words.has_texts is (form not in PICTURES)


def test_events_are_named_by_their_request():
    assert event_words(event("truncate", 30)).startswith("request 31: ")
    assert event_words(event("truncate", None)).startswith("now: ")
