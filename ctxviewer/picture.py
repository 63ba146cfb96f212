"""A picture of the window without a screen: opened, left alone until it is quiet, and saved."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QPixmap

from ctxviewer import app
from ctxviewer.views import theme

QUIET_S = 0.6
"""A picture is taken when nothing has been worked on for so long."""


@dataclass(frozen=True, slots=True)
class Shot:
    """What a picture of the window should show."""

    out: Path
    size: tuple[int, int] = (1280, 800)
    """Pixels."""
    request: int | None = None
    """Number of a request from 0; None = live."""
    message: int | None = None
    look: str = ""
    """A theme by its name in the settings, '' = as set."""


def _save_picture(picture: QPixmap, out: Path) -> str:
    """'' when it was written, else the reason."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")
    try:
        out.write_bytes(data.data())
    except OSError as error:
        return f"{out} cannot be written: {error.strerror}."
    return ""


def take_picture(start: app.Start, shot: Shot, *, patience_s: float = 120.0) -> str:
    """Draw the window into a PNG. Returns '' when that worked, else the reason. Needs Qt, but no screen."""
    application = app.make_application()
    sys.setswitchinterval(app.SWITCH_INTERVAL)
    desk = app.Desk(start)
    if shot.look:
        theme.current().set_choice(theme.Choice(shot.look))
    desk.window.resize(*shot.size)
    desk.show()
    deadline = time.monotonic() + patience_s
    wanted = start.demo or bool(start.paths)
    placed = False
    quiet_since = 0.0
    reason = ""
    while time.monotonic() < deadline:
        application.processEvents()
        if not placed and (desk.session.snapshot is not None or not wanted):
            placed = True
            desk.session.select_request(shot.request)
            desk.session.select_message(shot.message)
        busy = bool(desk.runner.jobs) or desk.discovery.searching or desk.explaining.pending or desk.counting.waiting
        busy = busy or desk.answers.pending or (desk.lab is not None and desk.lab.pending)
        if desk.session.failure is not None or (not placed and not busy and desk.notices.standing):
            break
        now = time.monotonic()
        quiet_since = now if busy or not placed or not quiet_since else quiet_since
        if now - quiet_since > QUIET_S:
            break
        time.sleep(0.005)
    if wanted and desk.session.snapshot is None:
        failure = desk.session.failure
        told = [notice.sentence for notice in desk.notices.standing]
        reason = failure.sentence if failure is not None else told[-1] if told else "The task was not read in time."
    else:
        reason = _save_picture(desk.window.grab(), shot.out)
    desk.window.close()
    desk.close()
    return reason
