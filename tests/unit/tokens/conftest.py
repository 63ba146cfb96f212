"""Loading a vocabulary takes half a second: once a run."""

import pytest

from ctxviewer.tokens.counter import TokenCounter, load_counter


@pytest.fixture(scope="session")
def o200k() -> TokenCounter:
    return load_counter("o200k_base")


@pytest.fixture(scope="session", params=["o200k_base", "cl100k_base"])
def counter(request: pytest.FixtureRequest) -> TokenCounter:
    return load_counter(request.param)
