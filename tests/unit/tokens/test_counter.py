"""Counters: exact without a network, never a panic, and honest when the vocabulary cannot be used."""

import socket
import subprocess
import sys

import pytest
import tiktoken_ext.openai_public as published

from ctxviewer import resources
from ctxviewer.tokens import vocabulary
from ctxviewer.tokens.counter import CharacterEstimator, EncodingCounter, load_counter
from ctxviewer.tokens.vocabulary import VocabularyError, encoding_facts, parse_ranks, unpack

KNOWN = [("", 0), ("hello world", 2), ("result missing", 2), ("<|endoftext|>", 7), ("你好，世界", 3)]


@pytest.fixture
def _no_network(monkeypatch: pytest.MonkeyPatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a network call")

    for name in ("socket", "create_connection", "getaddrinfo", "gethostbyname"):
        monkeypatch.setattr(socket, name, refuse)


@pytest.mark.usefixtures("_no_network")
@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_loads_and_counts_with_sockets_blocked(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    made = load_counter(name)
    assert (made.name, made.exact, made.reason) == (name, True, "")
    assert made.count("hello world") == 2
    assert list(tmp_path.iterdir()) == [], "tiktoken's own cache is not used"


@pytest.mark.parametrize(("text", "tokens"), KNOWN)
def test_known_counts(o200k, text: str, tokens: int):
    assert o200k.count(text) == tokens


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_definition_is_the_published_one(name: str, monkeypatch: pytest.MonkeyPatch):
    wanted = {}

    def loader(address: str, expected_hash: str):
        wanted["sha256"] = expected_hash
        return {}

    monkeypatch.setattr(published, "load_tiktoken_bpe", loader)
    definition = getattr(published, name)()
    facts = encoding_facts(name)
    assert facts.pattern == definition["pat_str"]
    assert facts.special == definition["special_tokens"]
    assert facts.sha256 == wanted["sha256"]
    data = unpack(facts, resources.read_bytes("tokens", facts.file))
    assert len(parse_ranks(data)) == facts.ranks


@pytest.mark.parametrize("unit", [" ", "\t", "\u3000", "\n"])
def test_a_million_and_more_blanks_are_counted_without_a_panic(o200k, unit: str):
    assert 0 < o200k.count(unit * 1_100_000) < 1_100_000


def test_a_long_run_of_one_letter_is_counted_within_the_bound_of_a_token_a_cut(o200k):
    text = "a" * 300_000
    whole = len(o200k.encoding.encode_ordinary(text))
    assert abs(o200k.count(text) - whole) <= 3


@pytest.mark.parametrize("text", ["\ud83d", "a\ud83db", "\x00\x01\x02", "\u202eabc", "\x1b[31mred"])
def test_odd_characters_are_counted(o200k, text: str):
    assert o200k.count(text) >= 1
    assert CharacterEstimator("").count(text) >= 1


def test_a_damaged_vocabulary_is_refused_and_characters_are_counted_instead(monkeypatch: pytest.MonkeyPatch):
    good = resources.read_bytes("tokens", "o200k_base.tiktoken.xz")
    cases = {
        "cut": good[:1000],
        "no xz": b"nonsense",
        "another file": resources.read_bytes("tokens", "cl100k_base.tiktoken.xz"),
    }
    for label, data in cases.items():
        monkeypatch.setattr(vocabulary.resources, "read_bytes", lambda *_, data=data: data)
        made = load_counter("o200k_base")
        assert not made.exact, label
        assert "o200k_base.tiktoken.xz" in made.reason
        assert "exact counts unavailable" in made.reason.lower()
        assert made.count("four") == 1


def test_a_vocabulary_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch):
    def gone(*parts: str) -> bytes:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(vocabulary.resources, "read_bytes", gone)
    assert "cannot be read" in load_counter("o200k_base").reason
    monkeypatch.setattr(vocabulary.resources, "read_text", gone)
    assert "list of bundled encodings" in load_counter("o200k_base").reason


def test_a_name_that_is_not_bundled_is_told():
    made = load_counter("p50k_base")
    assert not made.exact
    assert "p50k_base" in made.reason


def test_a_missing_tokenizer_package_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    made = load_counter("o200k_base")
    assert not made.exact
    assert "tiktoken" in made.reason


def test_a_line_that_is_no_rank_is_refused():
    with pytest.raises(VocabularyError, match="no token and rank"):
        parse_ranks(b"IQ== 0\nIg== x\n")
    with pytest.raises(VocabularyError, match="no token and rank"):
        parse_ranks(b"not base64! 0\n")


class PanicException(BaseException):
    """Named like the class that the Rust core raises."""


class _Breaking:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def encode_ordinary(self, _text: str) -> list[int]:
        raise self.error


def test_a_panic_of_the_core_becomes_an_estimate_of_the_piece():
    assert EncodingCounter("x", _Breaking(PanicException("boom"))).count("12345678") == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_other_errors_are_not_swallowed(error: BaseException):
    with pytest.raises(type(error)):
        EncodingCounter("x", _Breaking(error)).count("12345678")


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("中文字", 3), ("🙂", 1)])
def test_estimate_is_a_quarter_of_the_bytes_rounded_up(text: str, tokens: int):
    assert CharacterEstimator("why").count(text) == tokens


def test_importing_the_room_loads_no_tokenizer():
    code = "import sys, ctxviewer.tokens; assert 'tiktoken' not in sys.modules and 'PySide6' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
