"""Everything of the lab, made and closed in one place."""

from __future__ import annotations

from PySide6.QtCore import QObject

from ctxviewer.services.keys import Keys
from ctxviewer.services.lab.choosing import Choosing
from ctxviewer.services.lab.comparing import SideBySide
from ctxviewer.services.lab.planning import Summariser
from ctxviewer.services.lab.replaying import Replaying
from ctxviewer.services.lab.shelf import Shelf
from ctxviewer.services.lab.stepping import Stepping
from ctxviewer.services.lab.summaries import Summaries
from ctxviewer.services.runner import Runner
from ctxviewer.services.session import Session
from ctxviewer.services.settings import Settings


class Lab(QObject):
    """What is chosen, the stepper, the comparison, replays, and the model that may write summaries."""

    def __init__(
        self, runner: Runner, session: Session, settings: Settings, keys: Keys, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.shelf = Shelf()
        self.choosing = Choosing(settings, session, self)
        self.summaries = Summaries(settings, keys, self)
        self.stepping = Stepping(runner, session, self.choosing, self.shelf, self)
        self.comparing = SideBySide(runner, session, self.choosing, self.shelf, self)
        self.replaying = Replaying(runner, session, self.choosing, self.shelf, self)
        self._model: Summariser = self.summaries.model
        self.summaries.changed.connect(self._follow_summaries)

    @property
    def pending(self) -> bool:
        """True while somebody waits for a plan, a comparison or a replay."""
        return self.stepping.planning.pending or self.comparing.pending or self.replaying.state.working

    def close(self) -> None:
        """Work on nothing any more."""
        self.stepping.close()
        self.comparing.close()
        self.replaying.close()
        self.shelf.forget()

    def _follow_summaries(self) -> None:
        self.stepping.set_summariser(self._model if self.summaries.wanted else None)
