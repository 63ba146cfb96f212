"""Resources are found in a checkout and in a wheel, and a typo never passes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ctxviewer import resources


def test_finds_files_and_folders():
    assert resources.path("themes").is_dir()
    assert resources.path("themes", "dark.toml").is_file()
    assert resources.read_text("themes", "dark.toml").startswith("#")
    assert resources.read_bytes("themes", "dark.toml")[:1] == b"#"


@pytest.mark.parametrize("parts", [("themes", "drak.toml"), ("theme",), ("themes", "dark.toml", "x")])
def test_a_typo_raises_and_names_it(parts):
    with pytest.raises(FileNotFoundError, match="/".join(parts).replace(".", r"\.")):
        resources.path(*parts)


def _installed(tmp_path: Path, *, with_resources: bool) -> subprocess.CompletedProcess[str]:
    package = tmp_path / "ctxviewer"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copy(resources.__file__, package / "resources.py")
    if with_resources:
        (package / "_resources").mkdir()
        (package / "_resources" / "here.txt").write_text("wheel\n")
    code = "from ctxviewer import resources; print(resources.read_text('here.txt').strip())"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(tmp_path)},
    )


def test_prefers_the_wheels_own_folder(tmp_path):
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "here.txt").write_text("checkout\n")
    assert _installed(tmp_path, with_resources=True).stdout.strip() == "wheel"


def test_an_installation_without_resources_says_so(tmp_path):
    result = _installed(tmp_path, with_resources=False)
    assert result.returncode == 1
    assert "installed without its resources" in result.stderr
