"""Options of the test run, the platform that Qt is loaded with, and patience with slow machines."""

from __future__ import annotations

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

# examples are small: a slow one says something about the machine, not about the code
hypothesis.settings.register_profile("patient", deadline=None, derandomize=True)
# `HYPOTHESIS_PROFILE=searching make test` looks at other examples each time; the default run is the same everywhere
hypothesis.settings.register_profile("searching", deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "patient"))


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
