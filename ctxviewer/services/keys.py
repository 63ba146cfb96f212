"""The key of the model that writes summaries: in the system's keyring, or only in memory. Never in a file of ours."""

from __future__ import annotations

import importlib
import logging
import threading
from typing import Protocol, cast

_log = logging.getLogger(__name__)

SERVICE = "ctxviewer"


FILE_BACKENDS = "keyrings.alt."
"""Module names of backends that write files of their own, some in the clear. A key never goes there."""

_NOT_INSTALLED = "The package keyring is not installed (ctxviewer[model])"
_UNUSABLE = "The system's keyring cannot be used"


class Keyring(Protocol):
    """What is used of a backend of the package `keyring`."""

    def get_password(self, service: str, name: str, /) -> str | None:
        """The password, None when there is none."""
        ...

    def set_password(self, service: str, name: str, password: str, /) -> None:
        """Keep a password."""
        ...

    def delete_password(self, service: str, name: str, /) -> None:
        """Forget a password."""
        ...


class Keys:
    """One key for each address. Any thread may ask; the keyring may take its time, and ask the user to unlock it."""

    def __init__(self, keyring: Keyring | None = None) -> None:
        """`keyring` None = the system's, if the package is installed and finds one."""
        self._lock = threading.Lock()
        self._why = _NOT_INSTALLED
        self._given = keyring
        self._looked = keyring is not None
        self._held: dict[str, str] = {}
        """Keys for which there is no keyring, until the program ends."""

    def get(self, address: str) -> str:
        """The key for an address, '' when there is none."""
        with self._lock:
            if address in self._held:
                return self._held[address]
            keyring = self._keyring()
            if keyring is None:
                return ""
            try:
                return keyring.get_password(SERVICE, address) or ""
            except Exception as error:  # noqa: BLE001 - backends raise what they like; without a key the service says so
                _log.info("the keyring gives no key: %s", type(error).__name__)
                return ""

    def set(self, address: str, key: str) -> str:
        """Keep a key, '' forgets it. Returns a sentence when it could only be kept until the program ends, else ''."""
        with self._lock:
            self._held.pop(address, None)
            keyring = self._keyring()
            why = self._why
            if keyring is not None:
                try:
                    if key:
                        keyring.set_password(SERVICE, address, key)
                    elif keyring.get_password(SERVICE, address) is not None:
                        keyring.delete_password(SERVICE, address)
                except Exception as error:  # noqa: BLE001 - as above
                    _log.info("the keyring takes no key: %s", type(error).__name__)
                    why = _UNUSABLE
                else:
                    return ""
            if not key:
                return ""
            self._held[address] = key
            return f"{why}: the key is kept until ctxviewer is closed, and in no file."

    def _keyring(self) -> Keyring | None:
        if not self._looked:
            self._looked = True
            try:
                package = importlib.import_module("keyring")
            except ImportError:
                return None
            self._why = _UNUSABLE
            try:
                self._given = _safe(package.get_keyring())
            except Exception as error:  # noqa: BLE001 - as above
                _log.info("there is no keyring: %s", type(error).__name__)
        return self._given


def _safe(backend: object) -> Keyring | None:
    """The backend, or the first of those behind it, that writes no file of its own; None = there is none."""
    for each in getattr(backend, "backends", None) or (backend,):
        if not type(each).__module__.startswith(FILE_BACKENDS):
            return cast("Keyring", each)
    return None
