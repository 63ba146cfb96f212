"""Keys lie in the system's keyring, or in memory where there is none; never in a file."""

import sys
from types import ModuleType

import pytest

from ctxviewer.services.keys import Keys

URL = "http://localhost:11434/v1"


class FakeKeyring:
    def __init__(self, broken=False):
        self.kept = {}
        self.broken = broken

    def _check(self):
        if self.broken:
            raise RuntimeError("locked")

    def get_password(self, service, name):
        self._check()
        return self.kept.get((service, name))

    def set_password(self, service, name, password):
        self._check()
        self.kept[service, name] = password

    def delete_password(self, service, name):
        self._check()
        del self.kept[service, name]


def test_a_key_goes_into_the_keyring_and_out_again():
    keyring = FakeKeyring()
    keys = Keys(keyring)
    assert keys.get(URL) == ""
    assert keys.set(URL, "secret") == ""
    assert keyring.kept == {("ctxviewer", URL): "secret"}
    assert Keys(keyring).get(URL) == "secret"
    assert keys.get("http://other/v1") == ""
    assert keys.set(URL, "") == ""
    assert keyring.kept == {}
    assert keys.set(URL, "") == "", "forgetting nothing is no error"


def test_where_the_keyring_fails_the_key_is_kept_in_memory_and_that_is_told():
    keys = Keys(FakeKeyring(broken=True))
    assert keys.set(URL, "secret") == (
        "The system's keyring cannot be used: the key is kept until ctxviewer is closed, and in no file."
    )
    assert keys.get(URL) == "secret"
    assert Keys(FakeKeyring(broken=True)).get(URL) == ""
    assert keys.set(URL, "") == ""
    assert keys.get(URL) == ""


def test_without_the_package_the_key_is_kept_in_memory(monkeypatch):
    monkeypatch.setitem(sys.modules, "keyring", None)
    keys = Keys()
    assert "not installed (ctxviewer[model])" in keys.set(URL, "secret")
    assert keys.get(URL) == "secret"


def test_the_systems_keyring_is_found_when_it_is_first_needed(monkeypatch):
    module = ModuleType("keyring")
    fake = FakeKeyring()
    for name in ("get_password", "set_password", "delete_password"):
        setattr(module, name, getattr(fake, name))
    keys = Keys()
    monkeypatch.setitem(sys.modules, "keyring", module)
    assert keys.set(URL, "secret") == ""
    assert fake.kept == {("ctxviewer", URL): "secret"}


@pytest.mark.parametrize("key", ["", "new"])
def test_a_key_that_was_kept_in_memory_gives_way(key):
    keyring = FakeKeyring(broken=True)
    keys = Keys(keyring)
    keys.set(URL, "old")
    keyring.broken = False
    keys.set(URL, key)
    assert keys.get(URL) == key
