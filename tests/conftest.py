"""Options of the test run, the platform that Qt is loaded with, and patience with slow machines."""

from __future__ import annotations

import os

import hypothesis
import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before anything loads Qt

# examples are small: a slow one says something about the machine, not about the code
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--vectors",
        metavar="DIR",
        default=None,
        help="run the parity tests on the recorded cases in DIR (or DIR/cline, DIR/sage) instead of the bundled ones",
    )
