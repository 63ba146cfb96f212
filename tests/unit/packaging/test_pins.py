"""Dependencies: the versions that crash are shut out for every Python, and what is installed is allowed."""

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PROJECT = Path(__file__).resolve().parents[3]
DATA = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))
REQUIREMENTS = [Requirement(text) for text in DATA["project"]["dependencies"]]


def allowed(name: str, candidate: str, python: str) -> bool:
    """Whether all requirements on `name` that count for this Python allow the version; there must be at least one."""
    here = [
        requirement
        for requirement in REQUIREMENTS
        if requirement.name == name
        and (not requirement.marker or requirement.marker.evaluate({"python_version": python}))
    ]
    assert here, f"nothing is required of {name} for Python {python}"
    return all(candidate in requirement.specifier for requirement in here)


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize(
    ("candidate", "below_312", "from_312"),
    [
        ("6.7.3", False, False),
        ("6.8.3", True, True),
        ("6.10.3", True, True),
        ("6.11.0", False, False),
        ("6.11.1", False, False),
        ("6.11.3", True, True),
        ("6.12.0", False, False),
        ("6.12.1", False, True),
        ("6.13.0", False, True),
    ],
)
def test_versions_of_qt_that_lose_references_or_crash_are_shut_out(python, candidate, below_312, from_312):
    assert allowed("PySide6-Essentials", candidate, python) is (below_312 if python == "3.11" else from_312)


def test_python_3_11_is_the_oldest():
    assert DATA["project"]["requires-python"] == ">=3.11"
    assert DATA["tool"]["ruff"]["target-version"] == "py311"
    assert DATA["tool"]["mypy"]["python_version"] == "3.11"


def test_every_dependency_has_a_lower_bound():
    for requirement in REQUIREMENTS:
        assert any(bound.operator == ">=" for bound in requirement.specifier), requirement


@pytest.mark.parametrize("requirement", [r for r in REQUIREMENTS if not r.marker or r.marker.evaluate()], ids=str)
def test_what_is_installed_is_allowed(requirement):
    assert version(requirement.name) in requirement.specifier


def test_the_full_qt_package_is_not_needed():
    assert "pyside6" not in {requirement.name.lower() for requirement in REQUIREMENTS}
