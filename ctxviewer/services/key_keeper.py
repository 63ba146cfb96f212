"""Keeps and looks up the key of a model off the GUI thread: the keyring may ask the user to unlock it first."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from ctxviewer.services.keys import Keys
from ctxviewer.services.runner import CancelToken, Runner


class KeyKeeper(QObject):
    """Never hands a key out: it only says whether there is one."""

    told = Signal(object)  # str: what is known now, a sentence

    def __init__(self, runner: Runner, keys: Keys, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner, self._keys = runner, keys

    def look(self, address: str) -> None:
        """Is there a key for this address? `told` follows."""
        keys = self._keys

        def work(_token: CancelToken) -> str:
            return "A key is kept for this address." if keys.get(address) else "No key is kept for this address."

        self._runner.read(work, done=self._tell)

    def keep(self, address: str, key: str) -> None:
        """Keep a key for this address, '' forgets it; `told` follows."""
        keys = self._keys

        def work(_token: CancelToken) -> str:
            told = keys.set(address, key)
            if told:
                return told
            return "The key is kept in the system's keyring." if key else "No key is kept for this address."

        self._runner.read(work, done=self._tell, title="Asking the keyring")

    def _tell(self, sentence: str) -> None:
        self.told.emit(sentence)
