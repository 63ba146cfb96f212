"""Windows, limits, the yes-or-no check and the telemetry."""

from __future__ import annotations

import pytest

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.engine.cline.checks import context_telemetry, should_compact
from ctxviewer.engine.cline.window import Api, Provider, WindowInfo, compaction_threshold, window_info
from helpers.cline_talk import request


@pytest.mark.parametrize(
    ("window", "limit"),
    [
        (64_000, 37_000),
        (63_999, 63_999 * 0.8),
        (65_000, 52_000),
        (128_000, 98_000),
        (131_072, 104_857.6),
        (200_000, 160_000),
        (200_001, 160_001),
        (1_000_000, 960_000),
        (-1, -0.8),
    ],
)
def test_limits(window: int, limit: float) -> None:
    assert window_info(Api(context_window=window)) == WindowInfo(window, limit)


@pytest.mark.parametrize("window", [None, 0])
def test_an_unknown_window_is_128k(window: int | None) -> None:
    assert window_info(Api(context_window=window)) == WindowInfo(128_000, 98_000)


def test_deepseek_is_128k_behind_the_openai_handler_only() -> None:
    assert window_info(Api(Provider.OPENAI, "Some/DeepSeeK-V3", 64_000)).window == 128_000
    assert window_info(Api(Provider.OTHER, "deepseek-chat", 64_000)).window == 64_000


def test_a_fraction_counts_only_below_the_limit() -> None:
    info = WindowInfo(200_000, 160_000)
    assert compaction_threshold(info, None) == 160_000
    assert compaction_threshold(info, 0) == 160_000
    assert compaction_threshold(info, 0.75) == 150_000
    assert compaction_threshold(info, 1.5) == 160_000
    assert compaction_threshold(WindowInfo(65_000, 52_000), 0.3333) == 21_664
    assert compaction_threshold(info, -1) == -200_000


def test_the_check_says_no_on_what_it_cannot_read() -> None:
    api = Api(context_window=200_000)
    assert should_compact([request(tokensIn=160_000)], api, 0)
    assert not should_compact([request(tokensIn=159_999)], api, 0)
    assert not should_compact([request(tokensIn=160_000)], api, -1)
    assert not should_compact([request(tokensIn=160_000)], api, 1)
    assert not should_compact([None], api, 0)
    for text in ("{", "null", None, 7):
        assert not should_compact([{"text": text}], api, 0)


def test_tokens_given_as_texts_join() -> None:
    assert should_compact([request(tokensIn="9", tokensOut=8000)], Api(context_window=128_000), 0)


def test_telemetry_takes_the_last_request_but_one() -> None:
    api = Api(context_window=200_000)
    entries = [request(tokensIn=1), {**request(tokensIn=2), "type": "ask"}, {"say": "text"}, request(tokensIn=3)]
    found = context_telemetry(entries, api)
    assert found is not None
    assert (found.tokens_used, found.max_context_window) == (2, 200_000)
    assert context_telemetry(entries[-1:], api) is None
    given = context_telemetry(entries, api, 0)
    assert given is not None
    assert given.tokens_used == 1
    assert context_telemetry(entries, api, 2) is None
    with pytest.raises(BrokenInputError):
        context_telemetry([None], api)
