"""The model that writes summaries, if the user has entered one and wants it used. Without one there is no network."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from ctxviewer.engine.sage.message import ModelCall
from ctxviewer.services.keys import Keys
from ctxviewer.services.model_endpoint import Endpoint, ask, problem_of
from ctxviewer.services.runner import CancelToken
from ctxviewer.services.settings import MODEL_NAME, MODEL_URL, Settings


class Summaries(QObject):
    """Whether a model is asked, and how. Off at every start."""

    changed = Signal()

    def __init__(self, settings: Settings, keys: Keys, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings, self._keys = settings, keys
        self._wanted = False
        settings.changed.connect(self._follow)

    @property
    def available(self) -> bool:
        """True once an address and a model's name are entered."""
        return not problem_of(self._settings.get(MODEL_URL), self._settings.get(MODEL_NAME))

    @property
    def wanted(self) -> bool:
        """True while the lab's strategies ask the model."""
        return self._wanted and self.available

    @property
    def name(self) -> str:
        """'qwen at localhost', '' without one."""
        if not self.available:
            return ""
        host = self._settings.get(MODEL_URL).split("//", 1)[-1].split("/", 1)[0]
        return f"{self._settings.get(MODEL_NAME).strip()} at {host}"

    def set_wanted(self, wanted: bool) -> None:
        """Ask the model from now on, or no longer."""
        if wanted != self._wanted:
            self._wanted = wanted
            self.changed.emit()

    def model(self, token: CancelToken) -> ModelCall:
        """The model for one job. Asking it may raise EndpointError or CancelledWorkError."""
        url, name = self._settings.get(MODEL_URL), self._settings.get(MODEL_NAME)

        def call(prompt: str) -> str:
            endpoint = Endpoint(url, name, self._keys.get(url.strip()))

            def tell(characters: int) -> None:
                token.report(characters, 0)

            return ask(endpoint, prompt, check=token.check, progress=tell)

        return call

    def _follow(self, field: object) -> None:
        if field in {MODEL_URL, MODEL_NAME}:
            self.changed.emit()
