"""The display timeline as text, for a task whose messages are gone."""

import json

from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.snapshot import UiEntry
from ctxviewer.models import leftovers as module
from ctxviewer.models.leftovers import leftovers
from helpers.snapshots import snapshot


def timeline(*items):
    """A snapshot that has these timeline entries and nothing else."""
    entries = tuple(
        UiEntry(
            number,
            1_700_000_000_000,
            "say",
            item.get("say", "text") if isinstance(item, dict) else "",
            None,
            None,
            "",
            partial=isinstance(item, dict) and item.get("partial", False),
            model_id="",
            provider_id="",
        )
        for number, item in enumerate(items)
    )
    return snapshot(0, 0, ui=entries, ui_items=PlainLog(items))


def test_every_entry_stands_with_its_kind_and_text():
    text = leftovers(timeline({"text": "first\nsecond"}, {"say": "tool", "text": "{}", "partial": True})).text
    first, second = text.split("\n\n")
    assert first.startswith("── entry 0 · ")
    assert first.endswith(" · say text\nfirst\nsecond")
    assert second.endswith("say tool · not finished\n{}")


def test_of_a_request_only_its_words():
    body = json.dumps({"request": "do it", "tokensIn": 5})
    shown = leftovers(timeline({"say": "api_req_started", "text": body}, {"say": "api_req_started", "text": "{cut"}))
    assert "do it" in shown.text
    assert "tokensIn" not in shown.text
    assert shown.text.endswith("{cut")


def test_odd_entries_and_characters_are_text():
    text = leftovers(timeline(7, None, {"text": 5}, {"text": "a\x1b[31m\u202e\ud800"})).text
    assert text.count("── entry") == 4
    assert "[ESC]" in text
    assert "[U+202E]" in text
    text.encode()


def test_what_is_left_out_is_told(monkeypatch):
    long = leftovers(timeline({"text": "x" * 20_500}))
    assert long.text.endswith("… 500 more characters in the file")
    monkeypatch.setattr(module, "LIMIT", 1_000)
    many = leftovers(timeline(*({"text": "y" * 400} for _ in range(9))))
    assert many.text.endswith(f"… {9 - many.shown} more in the file")
    assert (many.shown, many.entries) == (3, 9)
