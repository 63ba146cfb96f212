"""Exports: every text comes back as it was, no planted secret gets out, disguised texts keep what rules look at."""

from __future__ import annotations

import json
import random
import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.exports.bundle_files import entry_for_bundle, message_for_bundle
from ctxviewer.exports.data import request_export
from ctxviewer.exports.disguise import Disguise
from ctxviewer.exports.document import make_document
from ctxviewer.exports.html import escaped, to_html
from ctxviewer.exports.markdown import fenced, to_markdown
from ctxviewer.exports.secrets import Mask, find_secrets
from helpers.secret_shapes import SHAPES
from helpers.small_task import small_task, user

any_text = st.text(st.characters(exclude_categories=()), max_size=60)
nasty = st.lists(
    st.one_of(
        any_text,
        st.sampled_from(
            [
                "</div>",
                "<script>",
                "&amp;",
                "&#13;",
                "\r\n",
                "\x00",
                "```",
                "~~~~",
                "\n```\n",
                "-->",
                "]]>",
                "\ud83d",
                "<task>",
                "[read_file for 'a/b.py'] Result:\n",
                '<file_content path="x.py">',
                "</file_content>",
                "\u2028",
            ]
        ),
    ),
    max_size=6,
).map("".join)


class _Texts(HTMLParser):
    """The text of every element with the class `shown`; a replaced character is read from its title."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.texts, self.open, self.odd = [], False, False

    def handle_starttag(self, _tag, attrs):
        facts = dict(attrs)
        if "shown" in facts.get("class", ""):
            self.texts.append("")
            self.open = True
        elif facts.get("class") == "odd" and self.open:
            self.texts[-1] += chr(int(facts["title"].replace("U+", "0x"), 0))
            self.odd = True

    def handle_endtag(self, tag):
        if tag == "span":
            self.odd = False
        elif tag == "div":
            self.open = False

    def handle_data(self, data):
        if self.open and not self.odd:
            self.texts[-1] += data


@settings(max_examples=100)
@given(nasty)
def test_html_gives_back_every_text(text):
    parser = _Texts()
    parser.feed(f'<div class="text shown">{escaped(text)}</div>')
    parser.close()
    assert parser.texts == [text]
    escaped(text).encode("utf-8")


@settings(max_examples=20)
@given(st.lists(nasty.filter(bool), min_size=1, max_size=3))
def test_a_page_and_a_markdown_file_hold_every_text(texts):
    task = small_task([user(*texts)])
    mask = Mask()
    page = "".join(to_html(make_document(task, None, mask)))
    parser = _Texts()
    parser.feed(page)
    parser.close()
    wanted = [text for text in texts if not find_secrets(text)]
    assert [text for text in parser.texts if text in wanted] == wanted or mask.count
    markdown = "".join(to_markdown(make_document(task, None, Mask())))
    for text in wanted:
        assert fenced(text) in markdown
        fence = fenced(text).split("text\n", 1)[0]
        assert not re.search(rf"^ {{0,3}}{fence}", text, re.MULTILINE)


contexts = st.text(st.sampled_from("abc XYZ019\n\t.,:;-_/()[]{}<>'\"=+*&%$#@!é中"), max_size=30)


@settings(max_examples=133)
@given(st.sampled_from(sorted(SHAPES)), st.integers(0, 10_000), contexts, contexts)
def test_a_planted_secret_never_gets_out(kind, seed, before, after):
    text, secret = SHAPES[kind](random.Random(seed))
    whole = f"{before}\n{text}\n{after}"
    masked = Mask().text(whole)
    assert secret not in masked
    assert Mask().json({"a": [whole]})["a"][0] == masked
    disguised = Disguise(b"key").text(whole)
    assert secret not in disguised
    task = small_task([user(whole)])
    everything = [
        "".join(to_html(make_document(task, None, Mask()))),
        "".join(to_markdown(make_document(task, None, Mask()))),
        json.dumps(request_export(task, None, Mask()), ensure_ascii=False),
    ]
    shown = secret if "\n" not in secret else secret.split("\n")[1]
    assert [export for export in everything if shown in export] == []


@settings(max_examples=100)
@given(st.lists(nasty, min_size=1, max_size=4))
def test_disguised_texts_keep_lengths_lines_and_identity(texts):
    disguise = Disguise(b"key")
    shown = [disguise.text(text) for text in texts]
    for text, other in zip(texts, shown, strict=True):
        assert len(other.encode("utf-16-le", "surrogatepass")) == len(text.encode("utf-16-le", "surrogatepass"))
        assert [len(line) for line in text.split("\n")] == [len(line) for line in other.split("\n")]
        assert re.findall(r"[^\w\s]", text) == re.findall(r"[^\w\s]", other) or find_secrets(text)
    for one, first in zip(texts, shown, strict=True):
        for two, second in zip(texts, shown, strict=True):
            assert (one == two) == (first == second) or find_secrets(one) or find_secrets(two)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(allow_nan=False, allow_infinity=False), any_text),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(any_text, st.sampled_from(["type", "text", "content", "source", "input", "say", "ts"])),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=8,
)
blocks = st.one_of(
    json_values,
    st.fixed_dictionaries({"type": st.sampled_from(["text", "image", "tool_use", "tool_result", "thinking", "document", "odd"])},
                          optional={"text": json_values, "content": json_values, "source": json_values, "input": json_values, "name": json_values}),
)  # fmt: skip


@settings(max_examples=100)
@given(
    st.one_of(json_values, st.fixed_dictionaries({"role": st.just("user"), "content": st.lists(blocks, max_size=3)})),
    st.booleans(),
)
def test_any_message_and_entry_can_go_into_a_bundle(value, unseen):
    made = message_for_bundle(value, Disguise(b"k"), unseen=unseen)
    json.dumps(made)
    json.dumps(entry_for_bundle(value, Disguise(b"k")))
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        assert len(made["content"]) == len(value["content"])
