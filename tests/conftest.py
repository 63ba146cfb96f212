"""Options of the test run, and the platform that Qt is loaded with."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before anything loads Qt


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--vectors",
        metavar="DIR",
        default=None,
        help="run the parity tests on the recorded cases in DIR (or DIR/cline, DIR/sage) instead of the bundled ones",
    )
