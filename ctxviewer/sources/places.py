"""Where editors and command line programs keep the data of their extensions, on each system.

Nothing here asks the running system by itself: environment, home folder and platform are handed in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_SERVERS = {
    ".vscode-server": "Code (remote)",
    ".vscode-server-insiders": "Code - Insiders (remote)",
    ".vscode-remote": "Code (remote)",
    ".cursor-server": "Cursor (remote)",
    ".windsurf-server": "Windsurf (remote)",
    ".vscodium-server": "VSCodium (remote)",
}
_REMOTE_ENDINGS = ("-server", "-server-insiders")


@dataclass(frozen=True, slots=True)
class Places:
    """A user on a machine."""

    home: Path
    environment: Mapping[str, str]
    platform: str
    """As `sys.platform`: 'linux', 'darwin', 'win32'."""

    @classmethod
    def here(cls) -> Places:
        """The user that runs this program."""
        # a home that nobody knows is no error: then there is nothing below it
        return cls(Path(os.path.expanduser("~")), os.environ, sys.platform)  # noqa: PTH111


@dataclass(frozen=True, slots=True)
class StorageFolder:
    """One `globalStorage` folder of an editor."""

    path: Path
    host: str
    """'Code', 'Cursor', 'Code (remote)' …"""


@dataclass(frozen=True, slots=True)
class Root:
    """One folder that an agent keeps its tasks in."""

    path: Path
    host: str


def storage_folders(places: Places) -> tuple[StorageFolder, ...]:
    """Every `globalStorage` that exists: of all editors of the VS Code family, whatever they are called."""
    return tuple(
        StorageFolder(folder, host)
        for user_dir, host in _user_dirs(places)
        if is_dir(folder := user_dir / "User" / "globalStorage")
    )


def _user_dirs(places: Places) -> Iterator[tuple[Path, str]]:
    for base in _app_bases(places):
        for app in _subfolders(base):
            yield app, app.name
    yield from _servers(places)
    portable = places.environment.get("VSCODE_PORTABLE")
    if portable:
        yield Path(portable) / "user-data", "portable Code"


def _app_bases(places: Places) -> Iterator[Path]:
    """Folders whose subfolders are the user dirs of applications."""
    environment, home = places.environment, places.home
    if places.platform == "darwin":
        yield home / "Library" / "Application Support"
    elif places.platform == "win32":
        yield Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        yield Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
        for app in _subfolders(home / ".var" / "app"):  # applications installed as flatpaks
            yield app / "config"


def _servers(places: Places) -> Iterator[tuple[Path, str]]:
    for folder in _subfolders(places.home):
        name = folder.name
        if name in _SERVERS or (name.startswith(".") and name.endswith(_REMOTE_ENDINGS)):
            yield folder / "data", _SERVERS.get(name, f"{name.strip('.')} (remote)")
    data_home = places.environment.get("XDG_DATA_HOME")
    yield Path(data_home or places.home / ".local" / "share") / "code-server", "code-server"


def _subfolders(folder: Path) -> tuple[Path, ...]:
    """Folders in a folder, by name; none when it does not exist or may not be listed."""
    try:
        with os.scandir(folder) as found:
            return tuple(sorted(Path(entry.path) for entry in found if is_folder(entry)))
    except OSError:
        return ()


def is_folder(entry: os.DirEntry[str]) -> bool:
    """True for a folder, or a link to one; False also for a link that leads in a circle or where nobody may look."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def subfolder(folder: Path, name: str) -> Path | None:
    """The subfolder of this name, whatever the case of its letters."""
    exact = folder / name
    if is_dir(exact):
        return exact
    return next((found for found in _subfolders(folder) if found.name.lower() == name.lower()), None)


def is_dir(path: Path) -> bool:
    """True for a folder; False also where nobody may look."""
    try:
        return path.is_dir()
    except OSError:
        return False
