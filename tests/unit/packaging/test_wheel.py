"""The wheel holds all that the program needs, and nothing else."""

import re
import subprocess
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def names(tmp_path_factory) -> dict[str, zipfile.ZipInfo]:
    folder = tmp_path_factory.mktemp("wheel")
    (path,) = WheelBuilder(str(PROJECT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(path) as wheel:
        entry = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
        (folder / "entry_points.txt").write_bytes(wheel.read(entry))
        found = {info.filename: info for info in wheel.infolist()}
        found["entry points"] = zipfile.ZipInfo(str(folder / "entry_points.txt"))
        return found


def test_every_resource_is_inside(names):
    for file in (PROJECT / "resources").rglob("*"):
        if file.is_file():
            inside = f"ctxviewer/_resources/{file.relative_to(PROJECT / 'resources').as_posix()}"
            assert inside in names, inside
            assert names[inside].file_size == file.stat().st_size


def test_every_module_is_inside_and_typed(names):
    for file in (PROJECT / "ctxviewer").rglob("*.py"):
        assert file.relative_to(PROJECT).as_posix() in names
    assert "ctxviewer/py.typed" in names


def test_tests_and_tools_are_not_inside(names):
    roots = {name.split("/", 1)[0] for name in names if "/" in name and not name.startswith("/")}
    assert {
        root for root in roots if not re.fullmatch(r"ctxviewer(-[\d.]+(\.dev\d+)?\.(dist-info|data))?", root)
    } == set()
    assert not [name for name in names if "__pycache__" in name]


def test_licence_and_the_command_are_inside(names):
    assert [name for name in names if re.search(r"dist-info/licenses/LICENSE$", name)]
    entries = ConfigParser()
    entries.read(names["entry points"].filename)
    assert entries["console_scripts"]["ctxviewer"] == "ctxviewer.__main__:main"


def test_desktop_entry_and_icon_go_where_desktops_look(names):
    assert [name for name in names if name.endswith(".data/data/share/applications/ctxviewer.desktop")]
    assert [name for name in names if name.endswith(".data/data/share/icons/hicolor/scalable/apps/ctxviewer.svg")]
    entry = ConfigParser(interpolation=None)
    entry.optionxform = str
    entry.read(PROJECT / "resources" / "desktop" / "ctxviewer.desktop", encoding="utf-8")
    values = entry["Desktop Entry"]
    assert (values["Type"], values["Exec"], values["Icon"]) == ("Application", "ctxviewer %F", "ctxviewer")
    assert all(values[key].endswith(";") for key in ("Categories", "Keywords"))


@pytest.mark.parametrize(
    "script", sorted([*(PROJECT / "scripts").glob("*.sh"), PROJECT / ".ci" / "run"]), ids=lambda p: p.name
)
def test_scripts_are_valid_and_executable(script):
    subprocess.run(["bash", "-n", str(script)], check=True)
    assert script.stat().st_mode & 0o111
    assert "set -euo pipefail" in script.read_text("utf-8")


def test_ci_installs_first_and_runs_the_tests_last():
    text = (PROJECT / ".ci" / "run").read_text("utf-8")
    steps = re.findall(r"^(?:make --no-print-directory (\w+)|(scripts/setup\.sh))", text, re.MULTILINE)
    assert [made or script for made, script in steps] == ["scripts/setup.sh", "lint", "wheel", "test"]


@pytest.mark.parametrize("target", ["demo", "test", "lint", "bench", "setup", "screenshots"])
def test_make_targets_exist_and_set_up_first(target):
    rules = re.findall(rf"^{target}:(.*?)##", (PROJECT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert len(rules) == 1
    assert target == "setup" or "setup" in rules[0]
