"""Draws the pictures of the README from the sample tasks, off the screen, so that they stay true."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before Qt is loaded

from ctxviewer import app, resources
from ctxviewer.domain.view import TextMode
from ctxviewer.engine.facts import FileQuestion, TextQuestion
from ctxviewer.engine.plans import plan_truncate
from ctxviewer.sources.discover import Found
from ctxviewer.sources.samples import fresh_samples
from ctxviewer.views import theme

PROJECT = Path(__file__).resolve().parents[1]
LOGIN, IMPORTER, VITE = "1770537600000", "1749024000000", "1762430400000"
SIZE = (1440, 900)


@dataclass(frozen=True)
class Picture:
    """One picture: which sample, where in it, and what else is done before it is taken."""

    name: str
    task: str
    request: int | None = None
    """From 1; None = live."""
    message: int | None = None
    prepare: Callable[[app.Desk], None] = lambda _desk: None
    look: str = "light"


def _difference(desk: app.Desk) -> None:
    desk.session.set_text_mode(TextMode.DIFFERENCE)


def _what_if(desk: app.Desk) -> None:
    remake = partial(plan_truncate, keep="half")
    desk.session.preview(remake(desk.session.timeline), remake)


def _lab(desk: app.Desk) -> None:
    """Sage's pruning, half way; over the bars what two strategies would have sent all the time."""
    lab = desk.lab
    if lab is None:
        raise SystemExit("the lab is not there yet")
    desk.window.show_panel("lab")
    lab.choosing.set_strategy("sage-prune")
    for setting in lab.choosing.strategy.settings:
        if setting.name == "always":
            lab.choosing.set_value(setting, value=True)
    lab.choosing.set_window("16000")
    lab.replaying.run(("half", "sage-prune"))
    lab.stepping.go_to(9)


def _facts(desk: app.Desk) -> None:
    """The instruction that was lost, followed through all requests."""
    desk.window.show_panel("facts")
    desk.answers.tracking.track(FileQuestion("harbor/auth/service.py"))
    desk.answers.tracking.track(TextQuestion("do not touch SESSION_TTL"))


def _findings(desk: app.Desk) -> None:
    desk.window.show_panel("findings")


PICTURES = (
    Picture("window", LOGIN, 18, 1),
    Picture("difference", IMPORTER, 17, 20, _difference),
    Picture("what-if", LOGIN, None, 34, _what_if),
    Picture("facts", LOGIN, 18, 8, _facts),
    Picture("lab", LOGIN, prepare=_lab),
    Picture("damage", VITE, None, 12, _findings),
    Picture("dark", LOGIN, 18, 1, look="dark"),
)


def main() -> None:
    """Draw all of them into docs/screenshots."""
    folder = PROJECT / "docs" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    for picture in PICTURES:
        with tempfile.TemporaryDirectory() as own:
            draw(picture, Path(own), folder / f"{picture.name}.png")
        print(f"docs/screenshots/{picture.name}.png")


def draw(picture: Picture, own: Path, out: Path) -> None:
    """Open the sample in a fresh window, go to the place, save the picture."""
    application = app.make_application()
    samples = fresh_samples(own)
    desk = app.Desk(app.Start(own), look=lambda _paths: Found((), (), ()))
    theme.current().set_choice(theme.Choice(picture.look))
    desk.window.resize(*SIZE)
    desk.show()
    _settle(application, desk)
    desk.handlers.open_path(samples)
    _settle(application, desk)
    desk.handlers.open_path(samples / "tasks" / picture.task)
    _settle(application, desk)
    desk.session.select_request(None if picture.request is None else picture.request - 1)
    desk.session.select_message(picture.message)
    picture.prepare(desk)
    _settle(application, desk)
    if not desk.window.grab().save(str(out), "PNG"):
        raise SystemExit(f"{out} cannot be written")
    desk.window.close()
    desk.close()


def _settle(application: app.QApplication, desk: app.Desk, quiet_s: float = 0.7) -> None:
    """Process events until nothing has been worked on for so long."""
    since = time.monotonic()
    while time.monotonic() - since < quiet_s:
        application.processEvents()
        if (
            desk.runner.jobs
            or desk.discovery.searching
            or desk.answers.pending
            or (desk.lab is not None and desk.lab.pending)
        ):
            since = time.monotonic()
        time.sleep(0.005)


if __name__ == "__main__":
    if not resources.path("samples").is_dir():
        raise SystemExit("the samples are missing: run `make samples`")
    main()
