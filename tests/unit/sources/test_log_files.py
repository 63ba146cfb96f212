"""Reading an array file again: what is equal is kept, and the outcome is that of a fresh reading."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxviewer.sources import files
from ctxviewer.sources.files import read_content, read_log


@pytest.fixture
def always_share(monkeypatch):
    monkeypatch.setattr(files, "SHARED_FROM", 0)
    monkeypatch.setattr(files, "CHUNK", 7)


def write(path, values, **layout):
    path.write_bytes(json.dumps(values, **layout).encode())
    return path


@pytest.mark.usefixtures("always_share")
class TestReadingAgain:
    def test_an_appended_item_shares_all_before(self, tmp_path):
        path = write(tmp_path / "f", [{"n": 1}, {"n": 2}])
        first = read_log(path)
        write(path, [{"n": 1}, {"n": 2}, {"n": 3}])
        again = read_log(path, first.log)
        assert (first.shared, again.shared) == (0, 2)
        assert list(again.log) == [{"n": 1}, {"n": 2}, {"n": 3}]
        assert again.log._base is first.log._base
        assert again.log.holds(path.read_bytes())

    def test_an_equal_file_is_the_same_log(self, tmp_path):
        path = write(tmp_path / "f", [{"n": 1}])
        first = read_log(path)
        write(path, [{"n": 1}])
        again = read_log(path, first.log)
        assert again.log is first.log
        assert again.shared == 1

    def test_a_changed_last_item_is_read_anew_again_and_again(self, tmp_path):
        path = write(tmp_path / "f", [{"n": 1}, {"n": 2}, {"text": ""}])
        known = read_log(path)
        for length in range(1, 6):
            write(path, [{"n": 1}, {"n": 2}, {"text": "x" * length}])
            known = read_log(path, known.log)
            assert known.shared == 2
            assert known.log[2] == {"text": "x" * length}
            assert known.log.holds(path.read_bytes())

    def test_a_shortened_file_ends_where_it_ends(self, tmp_path):
        path = write(tmp_path / "f", [{"n": 1}, {"n": 2}, {"n": 3}])
        first = read_log(path)
        write(path, [{"n": 1}])
        again = read_log(path, first.log)
        assert (list(again.log), again.shared) == ([{"n": 1}], 1)
        assert again.log.closing() == b"]"

    def test_a_cut_file_is_told_with_positions_in_the_whole_file(self, tmp_path):
        path = write(tmp_path / "f", [{"n": 1}, {"n": 2}, {"n": 3}])
        first = read_log(path)
        path.write_bytes(path.read_bytes()[:-6])
        again = read_log(path, first.log)
        assert [one.position for one in again.log.damage] == [path.stat().st_size]
        assert (len(again.log), again.shared) == (2, 2)

    def test_a_log_with_damage_is_not_built_upon(self, tmp_path):
        path = tmp_path / "f"
        path.write_bytes(b'[{"n":1},{"n":2')
        first = read_log(path)
        path.write_bytes(b'[{"n":1},{"n":2}]')
        again = read_log(path, first.log)
        assert list(again.log) == [{"n": 1}, {"n": 2}]
        assert again.log.damage == ()

    def test_a_big_changed_rest_is_read_whole(self, tmp_path, monkeypatch):
        monkeypatch.setattr(files, "TAIL_LIMIT", 10)
        path = write(tmp_path / "f", [{"n": n} for n in range(20)])
        first = read_log(path)
        write(path, [{"n": n} for n in range(40)])
        again = read_log(path, first.log)
        assert again.log._base is not first.log._base
        assert again.shared == 20
        assert len(again.log) == 40

    @settings(max_examples=200)
    @given(data=st.data())
    def test_any_chain_of_edits_reads_like_a_fresh_file(self, tmp_path_factory, data):
        path = tmp_path_factory.mktemp("edits") / "f"
        value = st.dictionaries(st.sampled_from("ab"), st.integers(0, 3) | st.text("é\ud83dx", max_size=3), max_size=2)
        layouts = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}])
        values = data.draw(st.lists(value, max_size=6))
        known = None
        for _ in range(data.draw(st.integers(1, 5))):
            text = json.dumps(values, **data.draw(layouts)).encode()
            if data.draw(st.integers(0, 5)) == 0:
                text = text[: data.draw(st.integers(0, len(text)))]
            path.write_bytes(text)
            fresh = read_log(path).log
            known = read_log(path, known)
            if not data.draw(st.booleans()):
                assert known.log.damage == fresh.damage
            assert [known.log.raw(n) for n in range(len(known.log))] == [fresh.raw(n) for n in range(len(fresh))]
            assert known.log.holds(text)
            known = known.log
            at = data.draw(st.integers(0, len(values)))
            values = [
                *values[:at],
                *data.draw(st.lists(value, max_size=3)),
                *values[at + data.draw(st.integers(0, 2)) :],
            ]


def test_shared_items_are_those_that_are_equal(tmp_path):
    path = write(tmp_path / "f", [{"n": 1}, {"n": 2}])
    first = read_log(path)
    write(path, [{"n": 1}, {"n": 3}])
    assert read_log(path, first.log).shared == 1


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    path = write(tmp_path / "f", [1])
    real, calls = os.fstat, []

    def fstat(number):
        result = real(number)
        calls.append(number)
        if len(calls) == 1:
            path.write_bytes(b"[1,2,3]")
        return result

    monkeypatch.setattr(files.os, "fstat", fstat)
    assert read_content(path).data == b"[1,2,3]"
    assert len(calls) == 3


def test_a_missing_file_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_log(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read_log(tmp_path)
