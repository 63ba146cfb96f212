"""HTML, Markdown, JSON and CSV: what they show, that nothing in them is active, and that secrets are masked."""

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from ctxviewer.domain.errors import UnreadableTaskError
from ctxviewer.domain.request import Usage
from ctxviewer.engine.timeline import Timeline
from ctxviewer.exports.data import COLUMNS, cell, request_export, task_export, usage_csv
from ctxviewer.exports.document import MessageText, Stretch, make_document
from ctxviewer.exports.html import escaped, to_html
from ctxviewer.exports.markdown import fenced, inline, to_markdown
from ctxviewer.exports.secrets import Mask
from helpers.small_task import assistant, call, half, picture, result, small_task, text, user

PASSWORD = "hunter" + "2!"
EVIL = "<script>alert('x')</script> & <img src=x onerror=alert(1)> \"quoted\" ```fence``` ]]> \r\n end"
MESSAGES = [
    user("<task>do it</task>"),
    assistant(call("1", "read_file", path="a.py")),
    user(result("1", EVIL)),
    assistant("left out"),
    user(result("9", "orphan"), "[read_file for 'a.py'] Result:\n" + EVIL, picture("QUJD" * 100)),
    assistant(f'password = "{PASSWORD}"'),
    user("later"),
]
UPDATES = [[1, [0, [[0, [[1, "text", ["unused"], []]]]]]], [4, [2, [[0, [[1, "text", ["short now"], []]]]]]]]


@pytest.fixture
def task():
    return small_task(MESSAGES, [1_000, 2_000, Usage(1, 2, 3, 4)], ranges={2: half(3)}, updates=UPDATES)


class Page(HTMLParser):
    """Tags, attributes and the texts of elements with class `shown` or `stored`."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts, self._open = [], [], [], None

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend((tag, name, value) for name, value in attrs)
        classes = dict(attrs).get("class", "").split()
        if {"shown", "stored"} & set(classes):
            self.texts.append("")
            self._open = tag

    def handle_endtag(self, tag):
        if tag == self._open:
            self._open = None

    def handle_data(self, data):
        if self._open:
            self.texts[-1] += data


def page(document):
    parsed = Page()
    parsed.feed("".join(to_html(document)))
    return parsed


def test_html_shows_every_message_with_its_marks(task):
    html = "".join(to_html(make_document(task, None, Mask())))
    assert "Messages 2–3 are not sent since request 3 (2 messages)" in html
    assert html.count('<article class="message notsent"') == 2
    assert html.count('class="block rewritten"') == 1
    assert html.count('class="block removed"') == 1
    assert html.count('class="block repaired"') == 1
    assert "[image/png, 300 bytes, left out]" in html
    assert "prefers-color-scheme: dark" in html
    assert "repeating-linear-gradient(45deg" in html


class Folds(HTMLParser):
    """For every message how many foldings it stands in; those that are closed again are counted down."""

    def __init__(self, html):
        super().__init__()
        self.depth, self.of_messages = 0, []
        self.feed(html)

    def handle_starttag(self, tag, _attrs):
        self.depth += tag == "details"
        if tag == "article":
            self.of_messages.append(self.depth)

    def handle_endtag(self, tag):
        self.depth -= tag == "details"


def test_html_folds_exactly_the_messages_of_a_stretch(task):
    now = Folds("".join(to_html(make_document(task, None, Mask()))))
    assert (now.of_messages, now.depth) == ([0, 0, 1, 1, 0, 0, 0], 0)
    later = Folds("".join(to_html(make_document(task, 1, Mask(), whole=True))))
    assert (later.of_messages, later.depth) == ([0, 0, 0, 1, 1, 1, 1], 0)
    both = Folds("".join(to_html(make_document(task, 2, Mask(), whole=True))))
    assert (both.of_messages, both.depth) == ([0, 0, 1, 1, 0, 1, 1], 0)


def test_html_holds_nothing_active_and_loads_nothing(task):
    parsed = page(make_document(task, None, Mask()))
    allowed = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "dl", "dt", "dd", "ul", "li", "table",
               "tr", "th", "td", "span", "article", "div", "b", "small", "details", "summary", "footer"}  # fmt: skip
    assert set(parsed.tags) <= allowed
    names = {name for _, name, _ in parsed.attributes}
    assert names <= {"lang", "charset", "http-equiv", "content", "name", "class", "id", "style", "open", "title"}
    assert ("meta", "content", "default-src 'none'; style-src 'unsafe-inline'") in parsed.attributes
    styles = [value for _, name, value in parsed.attributes if name == "style"]
    assert all(re.fullmatch(r"width:\d+(\.\d+)?px", value) for value in styles)


def test_html_texts_come_back_as_they_were(task):
    texts = page(make_document(task, 1, Mask())).texts
    assert EVIL in texts
    assert "short now" in page(make_document(task, 2, Mask())).texts


def test_at_a_request_later_messages_are_left_out_and_a_task_has_all(task):
    assert [item.number for item in make_document(task, 1, Mask()).messages() if isinstance(item, MessageText)] == [
        0,
        1,
        2,
    ]
    whole = make_document(task, 1, Mask(), whole=True)
    later = [item for item in whole.messages() if isinstance(item, Stretch)]
    assert [(str(item.standing), item.first, item.last) for item in later] == [("later", 3, 6)]
    assert len([item for item in whole.messages() if isinstance(item, MessageText)]) == 7


def test_markdown_shows_the_same_with_fences_that_hold(task):
    markdown = "".join(to_markdown(make_document(task, None, Mask())))
    assert "> **Messages 2–3 are not sent since request 3 (2 messages)**" in markdown
    assert "### 2 user (not sent)" in markdown
    assert "**rewritten**" in markdown
    assert "````text\n" + EVIL + "\n````" in markdown
    assert "**made up by a repair**" in markdown
    assert inline("# *a* [b](c)\n- `d`") == "\\# \\*a\\* \\[b\\](c) - \\`d\\`"
    assert (inline("- a"), inline("1. a"), inline("a - b")) == ("\\- a", "1\\. a", "a - b")
    assert fenced("a") == "```text\na\n```\n"


@pytest.mark.parametrize("number", [None, 2])
def test_secrets_are_masked_everywhere_unless_kept(task, number):
    task = Timeline(replace(task.snapshot, task=replace(task.snapshot.task, title=f'my password = "{PASSWORD}"')))

    def exports(**how):
        yield "".join(to_html(make_document(task, number, Mask(**how))))
        yield "".join(to_markdown(make_document(task, number, Mask(**how)))).replace("\\", "")
        yield json.dumps(task_export(task, Mask(**how)))
        yield json.dumps(request_export(task, number, Mask(**how)))

    assert all(PASSWORD not in export for export in exports())
    assert all("masked: assigned secret 1" in export for export in exports())
    assert all(PASSWORD in export for export in exports(keep=True))


def test_the_count_of_maskings_stands_in_every_export(task):
    mask = Mask()
    exported = task_export(task, mask)
    assert exported["masked"] == {
        "kept": False,
        "count": 1,
        "kinds": [{"kind": "assigned secret", "count": 1, "different": 1}],
    }
    html = "".join(to_html(make_document(task, None, Mask())))
    assert "1 place masked: assigned secret 1×." in html


def test_json_of_a_request_is_what_was_sent(task):
    exported = request_export(task, 1, Mask())
    assert exported["sent"] == task.sent(1)
    assert exported["request"] == 2
    blocks = task_export(task, Mask())["messages_as_sent"][4]["blocks"]
    assert [(block["change"], block["title"]) for block in blocks] == [
        ("added", "result of 1"), ("rewritten", "text"), ("same", "image/png"), ("removed", "result of 9"),
    ]  # fmt: skip
    assert (blocks[1]["text"], blocks[1]["stored"]) == ("short now", "[read_file for 'a.py'] Result:\n" + EVIL)


def test_usage_as_csv(task):
    rows = list(csv.DictReader(io.StringIO(usage_csv(task, Mask(), estimated=(5, 6, 7)))))
    assert tuple(rows[0]) == COLUMNS
    assert [(row["request"], row["total"], row["share"], row["sent"], row["not_sent"], row["range_end"]) for row in rows] == [
        ("1", "1000", "0.01", "1", "0", ""), ("2", "2000", "0.02", "3", "0", ""), ("3", "10", "0.0001", "3", "2", "3"),
    ]  # fmt: skip
    assert [rows[2][name] for name in ("input", "cache_read", "cache_write", "output")] == ["1", "4", "3", "2"]
    assert (rows[2]["events"], rows[2]["estimated"], rows[0]["time"]) == ("truncate", "7", "1970-01-01T00:00:01.000Z")
    unknown = list(csv.DictReader(io.StringIO(usage_csv(small_task(MESSAGES[:1], [None]), Mask()))))
    assert (unknown[0]["input"], unknown[0]["total"], unknown[0]["share"]) == ("", "", "")


@pytest.mark.parametrize(
    ("value", "shown"),
    [("=1+1", "'=1+1"), ("@x", "'@x"), ("-1", "'-1"), ("ok", "ok"), (1.0, "1"), (0.5, "0.5"), (None, "")],
)
def test_no_cell_is_a_formula(value, shown):
    assert cell(value) == shown


def test_odd_characters_survive_a_browser():
    assert escaped("a\rb\x00c\ud83dd") == (
        'a&#13;b<span class="odd" title="U+0000">\ufffd</span>c<span class="odd" title="U+D83D">\ufffd</span>d'
    )
    assert "".join(to_html(make_document(small_task([user("\ud83d")]), None, Mask()))).encode("utf-8")


def test_questions_that_cannot_be_answered(task):
    with pytest.raises(IndexError, match="there is no request 10"):
        make_document(task, 9, Mask())
    lost = Timeline(replace(task.snapshot, has_messages=False))
    with pytest.raises(UnreadableTaskError, match="no messages"):
        make_document(lost, None, Mask())
    assert usage_csv(lost, Mask()).startswith("request,ts,time")
    assert text("x")
