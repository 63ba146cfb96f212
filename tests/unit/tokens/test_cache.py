"""The cache gives the counter's own numbers, stays bounded, and survives any file it finds."""

import threading

import pytest

from ctxviewer.tokens.cache import SHORTEST, CachedCounter, CountCache, load_counts, save_counts, text_digest
from ctxviewer.tokens.counter import CharacterEstimator


class Recording:
    name, exact, reason = "recording", True, ""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        self.asked.append(text)
        return len(text)


LONG = "the same text again and again, long enough to be worth a digest " * 2


def test_the_same_text_is_counted_once():
    inner = Recording()
    counter = CachedCounter(inner)
    assert [counter.count(LONG), counter.count(LONG[:] + ""), counter.count(LONG)] == [len(LONG)] * 3
    assert inner.asked == [LONG]


def test_short_texts_are_not_remembered():
    counter = CachedCounter(Recording())
    counter.count("x" * (SHORTEST - 1))
    assert len(counter.cache) == 0
    counter.count("x" * SHORTEST)
    assert len(counter.cache) == 1


def test_the_least_recently_used_is_dropped_first():
    cache = CountCache(limit=2)
    one, two, three = (text_digest(word) for word in ("one", "two", "three"))
    cache.put(one, 1)
    cache.put(two, 2)
    assert cache.get(one) == 1
    cache.put(three, 3)
    assert (cache.get(one), cache.get(two), cache.get(three), len(cache)) == (1, None, 3, 2)


def test_it_tells_what_the_counter_inside_tells():
    counter = CachedCounter(CharacterEstimator("because"))
    assert (counter.name, counter.exact, counter.reason) == ("a quarter of the bytes", False, "because")


def test_lone_surrogates_have_a_digest_of_their_own():
    assert text_digest("a\ud83d") != text_digest("a\ud83e")


def test_saved_counts_come_back(tmp_path):
    cache = CountCache()
    cache.put(text_digest("a"), 7)
    cache.put(text_digest("b"), 123_456)
    save_counts(cache, tmp_path / "deep", "o200k_base")
    again = CountCache()
    assert load_counts(again, tmp_path / "deep", "o200k_base") == 2
    assert again.held() == cache.held()
    assert [file.name for file in (tmp_path / "deep").iterdir()] == ["token-counts-o200k_base.bin"]


def test_the_file_holds_no_text(tmp_path):
    counter = CachedCounter(Recording())
    counter.count(LONG)
    save_counts(counter.cache, tmp_path, "o200k_base")
    assert b"again" not in (tmp_path / "token-counts-o200k_base.bin").read_bytes()


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign", "other encoding"])
def test_a_damaged_file_is_ignored_and_replaced(tmp_path, damage: str):
    cache = CountCache()
    cache.put(text_digest("a"), 7)
    save_counts(cache, tmp_path, "o200k_base")
    file = tmp_path / "token-counts-o200k_base.bin"
    data = file.read_bytes()
    made = {
        "cut": data[:-3],
        "flipped": data[:-1] + bytes([data[-1] ^ 1]),
        "empty": b"",
        "foreign": b"{}" * 100,
        "other encoding": data,
    }[damage]
    name = "cl100k_base" if damage == "other encoding" else "o200k_base"
    (tmp_path / f"token-counts-{name}.bin").write_bytes(made)
    again = CountCache()
    assert load_counts(again, tmp_path, name) == 0
    assert len(again) == 0
    save_counts(cache, tmp_path, name)
    assert load_counts(again, tmp_path, name) == 1


def test_a_missing_file_is_no_matter(tmp_path):
    assert load_counts(CountCache(), tmp_path / "nowhere", "o200k_base") == 0


def test_several_threads_get_the_same_numbers():
    counter, texts, wrong = CachedCounter(Recording(), CountCache(limit=50)), [LONG + str(i) for i in range(200)], []

    def work() -> None:
        wrong.extend(text for text in texts if counter.count(text) != len(text))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(counter.cache) == 50
