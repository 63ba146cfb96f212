"""A real window on a real screen: mouse and keyboard from outside, the disk as witness.

Needs Xvfb and xdotool (the set-up installs them where it may); says so when they are missing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.working_agent import WorkingAgent

PROJECT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not (sys.platform.startswith("linux") and shutil.which("Xvfb") and shutil.which("xdotool")),
    reason="Xvfb and xdotool are not installed",
)


@pytest.fixture(scope="module")
def screen() -> Iterator[dict[str, str]]:
    """The environment of a screen of its own."""
    reader, writer = os.pipe()
    # without -noreset it starts anew whenever its last client leaves, such as xdotool, and refuses the next one meanwhile
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1400x900x24", "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(command, pass_fds=(writer,), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as number:
        display = f":{number.readline().strip()}"
    kept = {name: value for name, value in os.environ.items() if name not in {"QT_QPA_PLATFORM", "WAYLAND_DISPLAY"}}
    yield {**kept, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    server.terminate()
    server.wait(60)


PATIENCE_S = 120.0
"""Until something that does not happen is a failure; never waited for when all is well."""
EFFECT_S = 3.0
"""Until something is done once more that has had no effect."""


def found_within(seconds: float, look: Callable[[], object]) -> object:
    """What `look` finds, asked again until it is something or time is up."""
    end = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


POINTER_ROOT = 1
"""The X server's name for: no window has the focus."""


class Hands:
    """What a person does, through xdotool."""

    def __init__(self, environment: dict[str, str], running: subprocess.Popen[str]) -> None:
        self.environment = environment
        self._running = running

    def do(self, *words: object) -> str:
        command = ["xdotool", *(str(word) for word in words)]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False).stdout.strip()

    def wait_for(self, look: Callable[[], object], *, doing: Callable[[], object] | None = None) -> object:
        """What `look` finds, while the program runs. `doing` is done, and again each time that it has no effect.

        A person looks before doing something twice: a window may not listen yet, or be busy with the first time.
        """
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            assert self._running.poll() is None, f"the program has ended: {self._running.communicate()[1]}"
            if doing is not None:
                doing()
            if found := found_within(EFFECT_S, look):
                return found
        shown = [self.do("getwindowname", window) for window in self.do("search", "--onlyvisible", ".").splitlines()]
        raise AssertionError(f"it did not happen in time; windows: {shown}, focus: {self.do('getwindowfocus', '-f')}")

    def windows(self, name: str) -> list[str]:
        """The visible windows whose title holds `name`."""
        return self.do("search", "--onlyvisible", "--name", name).splitlines()

    def window(self, name: str) -> str:
        """The newest visible window whose title holds `name`."""
        return self.wait_for(lambda: self.windows(name))[-1]

    def press(self, window: str, *keys: str) -> None:
        self.do("windowfocus", POINTER_ROOT)  # a focus that came before the window listened has to come once more
        self.do("windowfocus", "--sync", window)
        for key in keys:
            self.do("key", key)
            time.sleep(0.1)

    def dialog(self, window: str, keys: str, name: str) -> str:
        """The dialog that keys open."""
        return self.wait_for(lambda: self.windows(name), doing=lambda: self.press(window, keys))[-1]

    def click_from_corner(self, window: str, right: int, bottom: int) -> None:
        """A click so many pixels left of and above the lower right corner; the window may be gone."""
        shape = dict(line.split("=") for line in self.do("getwindowgeometry", "--shell", window).splitlines())
        if shape:
            self.click(window, int(shape["WIDTH"]) - right, int(shape["HEIGHT"]) - bottom)

    def click(self, window: str, x: int, y: int) -> None:
        self.do("mousemove", "--window", window, x, y, "click", 1)


@pytest.fixture
def agent(tmp_path) -> WorkingAgent:
    made = WorkingAgent(tmp_path / "root")
    for number in range(8):
        made.turn(f"turn {number}", read="a.py" if number % 2 == 0 else "", body="word " * 200)
    made.write()
    for path in made.root.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return made


@pytest.fixture
def program(screen, agent, tmp_path) -> Iterator[Hands]:
    home = tmp_path / "home"
    home.mkdir()
    environment = {
        **screen,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "CTXVIEWER_DATA_DIR": str(tmp_path / "own"),
    }
    command = [sys.executable, "-m", "ctxviewer", str(agent.directory)]
    running = subprocess.Popen(command, env=environment, cwd=PROJECT, stderr=subprocess.PIPE, text=True)
    yield Hands(environment, running)
    running.terminate()
    _, errors = running.communicate(timeout=600)
    assert "Traceback" not in errors, errors


def test_truncate_and_undo_with_mouse_and_keyboard(agent, program):
    before = agent.files()
    main = program.window("story")
    program.do("windowsize", "--sync", main, 1400, 900)
    program.click(main, 600, 300)
    dialog = program.dialog(main, "ctrl+t", "Truncate to half")
    assert agent.files() == before, "nothing is written before the preview is applied"
    program.wait_for(lambda: agent.files() != before, doing=lambda: program.click_from_corner(dialog, 252, 28))
    program.wait_for(lambda: json.loads(agent.index.read_bytes())[1].get("conversationHistoryDeletedRange") == [2, 7])
    program.wait_for(lambda: agent.files() == before, doing=lambda: program.press(main, "ctrl+z"))


def test_stepping_by_keyboard_and_a_graph_click_write_nothing(agent, program):
    before = agent.files()
    main = program.window("story")
    program.do("windowsize", "--sync", main, 1400, 900)
    program.click(main, 600, 300)
    program.press(main, "Left", "Left", "Right", "Home", "End", "Escape", "ctrl+f")
    program.do("type", "turn 3")
    program.press(main, "Return", "Escape", "ctrl+3", "ctrl+1", "alt+Left")
    program.click(main, 500, 850)
    assert program.window("story") == main
    assert agent.files() == before


def test_cancel_writes_nothing(agent, program):
    before = agent.files()
    main = program.window("story")
    dialog = program.dialog(main, "ctrl+shift+o", "Optimise reads")
    program.press(dialog, "Escape")
    time.sleep(0.5)
    assert agent.files() == before
