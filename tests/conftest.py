"""Options of the test run, the platform that Qt is loaded with, and patience with slow machines."""

from __future__ import annotations

import functools
import gc
import os
from pathlib import Path

import hypothesis
import pytest

# Temporary folders of tests lie in memory where that is possible: many tests sync files, and a disk is ten times slower.
MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a private folder in it
if os.access(MEMORY, os.W_OK):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before anything loads Qt

# examples are small: slow ones say something about the machine, not about the code
hypothesis.settings.register_profile(
    "patient", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
# `HYPOTHESIS_PROFILE=searching make test` looks at other examples each time; the default run is the same everywhere
hypothesis.settings.register_profile("searching", deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "patient"))

PATIENCE_MS = 60_000
"""Until something that does not happen is a failure; never waited for when all is well."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--vectors",
        metavar="DIR",
        default=None,
        help="run the parity tests on the recorded cases in DIR (or DIR/cline, DIR/sage) instead of the bundled ones",
    )


def pytest_collection_finish() -> None:
    """Thousands of collected cases are no garbage: tests that look for leaks need not walk over them each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def qtbot(qtbot):
    """pytest-qt's, which waits for a machine that has much else to do as well."""
    for name in ("waitUntil", "waitSignal", "waitSignals"):
        setattr(qtbot, name, functools.partial(getattr(qtbot, name), timeout=PATIENCE_MS))
    return qtbot
